"""Task 11.1: a block of a Transformer, and a classifier on it, backward.

    h = x + attention(x)                     attention with q = k = v = x, task 10.2
    out = h + relu(h @ W1) @ W2              a feed-forward network with a way past it, task 7.1
    logits = mean(out over positions) @ C    one row, a number for each class
    loss = -log softmax(logits)[label]       task 6.3

attention_backward() and cross_entropy() are given. Walk back from the loss, line by line. Two things to mind:
every `x +` and `h +` is a second way, whose gradient is added; and in attention(x, x, x) x is used three times more.
The mean over n positions gives each position 1 / n of the gradient.

Write classifier(x, W1, W2, C, label), which returns the loss and the gradients of x, W1, W2 and C.
x: (n, d), W1: (d, k), W2: (k, d), C: (d, classes), label: a whole number.

Example: with W1 = 0 and W2 = 0 (all zeros), n = 1 and x = [[1]], C = [[0, 0]], label = 0:
    h = out = [[2]], the loss is log 2, the gradient of C is [[-1, 1]], of x [[0]]
"""

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
    r = np.maximum(z, 0)
    out = h + r @ W2
    mean = out.mean(axis=0)
    loss, g_logits = cross_entropy(mean @ C, label)

    n = x.shape[0]
    gC = np.outer(mean, g_logits)
    g_out = np.repeat((C @ g_logits)[None] / n, n, axis=0)
    gW2 = r.T @ g_out
    gz = (g_out @ W2.T) * (z > 0)
    gW1 = h.T @ gz
    gh = g_out + gz @ W1.T
    gq, gk, gv = attention_backward(x, x, x, g_out)
    gx = gh + gq + gk + gv
    return loss, gx, gW1, gW2, gC
