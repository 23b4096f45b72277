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
    g = p.copy()
    g[label] -= 1
    return -np.log(p[label]), g


def classifier(x, W1, W2, C, label):
    n = len(x)
    h = x + attention(x, x, x)
    z = h @ W1
    mask = z > 0
    r = z * mask
    out = h + r @ W2
    pooled = out.mean(axis=0)
    loss, gl = cross_entropy(pooled @ C, label)
    gC = np.outer(pooled, gl)
    g_out = np.ones((n, 1)) @ (C @ gl)[None] / n
    gW2 = (r * mask).T @ g_out
    gz = g_out @ W2.T
    gW1 = h.T @ gz
    gh = g_out + gz @ W1.T
    gq, gk, gv = attention_backward(x, x, x, gh)
    return loss, gh + gq + gk + gv, gW1, gW2, gC
