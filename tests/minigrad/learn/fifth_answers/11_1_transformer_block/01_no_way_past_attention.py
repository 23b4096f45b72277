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
    z = h @ W1
    a = np.maximum(z, 0)
    out = h + a @ W2
    mean = out.mean(axis=0)
    logits = mean @ C
    loss, g_logits = cross_entropy(logits, label)

    g_C = np.outer(mean, g_logits)
    g_mean = C @ g_logits
    g_out = np.ones_like(out) * g_mean / len(x)
    g_W2 = a.T @ g_out
    g_z = (g_out @ W2.T) * (z > 0)
    g_W1 = h.T @ g_z
    g_h = g_out + g_z @ W1.T
    g_q, g_k, g_v = attention_backward(x, x, x, g_h)
    g_x = g_q + g_k + g_v
    return loss, g_x, g_W1, g_W2, g_C
