"""Task 11.1: a block of a Transformer, and a classifier on it, backward."""

import numpy as np


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def attention_backward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of q, k and v, where g is the gradient of the answers."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    g_weights = g @ v.T
    g_scores = weights * (g_weights - (g_weights * weights).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return g_scores @ k, g_scores.T @ q, weights.T @ g


def cross_entropy(logits: np.ndarray, label: int) -> tuple[float, np.ndarray]:
    """-log softmax(logits)[label] of one row of logits, and the gradient of the logits."""
    p = np.exp(logits - logits.max())
    p = p / p.sum()
    return -np.log(p[label]), p - (np.arange(len(p)) == label)  # 1 less at the label


def classifier(
    x: np.ndarray, W1: np.ndarray, W2: np.ndarray, C: np.ndarray, label: int
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The loss, and the gradients of x, W1, W2 and C."""
    h = x + attention(x, x, x)
    before = h @ W1
    after = np.maximum(before, 0)
    out = h + after @ W2
    mean = out.mean(axis=0)
    loss, g = cross_entropy(mean @ C, label)
    gC = np.outer(mean, g)
    gout = np.tile(g @ C.T, (len(x), 1)) / len(x)
    gW2 = after.T @ gout
    gbefore = (gout @ W2.T) * (before > 0)
    gW1 = h.T @ gbefore
    gh = gout + gbefore @ W1.T
    gx = gh + attention_backward(x, x, x, gh)[0]
    return loss, gx, gW1, gW2, gC
