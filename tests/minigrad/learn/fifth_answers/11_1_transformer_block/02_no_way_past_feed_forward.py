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
    n, d = x.shape
    h = x + attention(x, x, x)
    hidden = h @ W1
    act = np.where(hidden > 0, hidden, 0.0)
    out = h + act @ W2
    pooled = out.mean(axis=0)
    loss, dlogits = cross_entropy(pooled @ C, label)
    dC = pooled[:, None] * dlogits[None, :]
    dout = np.repeat((C @ dlogits)[None, :] / n, n, axis=0)
    dW2 = act.T @ dout
    dact = dout @ W2.T
    dhidden = np.where(hidden > 0, dact, 0.0)
    dW1 = h.T @ dhidden
    dh = dhidden @ W1.T
    dq, dk, dv = attention_backward(x, x, x, dh)
    dx = dh + dq + dk + dv
    return loss, dx, dW1, dW2, dC
