"""Ten programs with their gradients by hand, as a careful teacher writes them on a slide.

``forward`` is the loss in plain NumPy, and works on Tensors. ``step`` computes the same loss, and its gradients with respect
to the arguments that are learned, which come first, by statements of NumPy alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ByHand:
    """A loss, and its gradients by hand.

    Attributes:
        forward: returns the loss.
        step: returns (loss, gradient of the first argument, gradient of the second, ...). The arguments after those are data.
        examples: maps a seed to the arguments of both.
    """

    forward: Callable[..., Any]
    step: Callable[..., tuple[Any, ...]]
    examples: Callable[[int], tuple[Any, ...]]


def _normals(*shapes: tuple[int, ...]) -> Callable[[int], tuple[Any, ...]]:
    def examples(seed: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(seed)
        return tuple(np.asarray(rng.normal(size=shape)) for shape in shapes)

    return examples


# --- one neuron -------------------------------------------------------------------------------------------------------


def neuron(w, b, x, t):
    y = np.tanh(w * x + b)
    return (y - t) ** 2


def neuron_step(w, b, x, t):
    y = np.tanh(w * x + b)
    loss = (y - t) ** 2

    dy = 2 * (y - t)
    dz = dy * (1 - y**2)
    dw = dz * x
    db = dz
    return loss, dw, db


# --- two layers, mean squared error -----------------------------------------------------------------------------------


def mlp(W1, b1, W2, b2, x, t):
    h = np.tanh(x @ W1 + b1)
    y = h @ W2 + b2
    return np.mean((y - t) ** 2)


def mlp_step(W1, b1, W2, b2, x, t):
    h = np.tanh(x @ W1 + b1)
    y = h @ W2 + b2
    loss = np.mean((y - t) ** 2)

    dy = 2 * (y - t) / y.size
    dW2 = h.T @ dy
    db2 = dy.sum(axis=0)
    dh = dy @ W2.T
    dz = dh * (1 - h**2)
    dW1 = x.T @ dz
    db1 = dz.sum(axis=0)
    return loss, dW1, db1, dW2, db2


# --- softmax regression -----------------------------------------------------------------------------------------------


def softmax_regression(W, b, x, t):
    """t has a one-hot row for each example."""
    z = x @ W + b
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.sum(t * np.log(p)) / len(x)


def softmax_regression_step(W, b, x, t):
    z = x @ W + b
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    loss = -np.sum(t * np.log(p)) / len(x)

    dz = (p - t) / len(x)
    dW = x.T @ dz
    db = dz.sum(axis=0)
    return loss, dW, db


def _softmax_examples(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(7, 5)), np.eye(3)[rng.integers(0, 3, size=7)]


# --- one attention head -----------------------------------------------------------------------------------------------


def attention(Wq, Wk, Wv, x, t):
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    y = a @ v
    return np.mean((y - t) ** 2)


def attention_step(Wq, Wk, Wv, x, t):
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    y = a @ v
    loss = np.mean((y - t) ** 2)

    dy = 2 * (y - t) / y.size
    dv = a.T @ dy
    da = dy @ v.T
    ds = a * (da - (da * a).sum(axis=1, keepdims=True))
    ds = ds / np.sqrt(q.shape[1])
    dq = ds @ k
    dk = ds.T @ q
    dWq = x.T @ dq
    dWk = x.T @ dk
    dWv = x.T @ dv
    return loss, dWq, dWk, dWv


# --- layer norm -------------------------------------------------------------------------------------------------------


def layer_norm(x, gamma, beta, t):
    centred = x - x.mean(axis=1, keepdims=True)
    std = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    n = centred / std
    y = gamma * n + beta
    return np.sum((y - t) ** 2)


def layer_norm_step(x, gamma, beta, t):
    centred = x - x.mean(axis=1, keepdims=True)
    std = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    n = centred / std
    y = gamma * n + beta
    loss = np.sum((y - t) ** 2)

    dy = 2 * (y - t)
    dgamma = (dy * n).sum(axis=0)
    dbeta = dy.sum(axis=0)
    dn = dy * gamma
    dcentred = (dn - n * (dn * n).mean(axis=1, keepdims=True)) / std
    dx = dcentred - dcentred.mean(axis=1, keepdims=True)
    return loss, dx, dgamma, dbeta


# --- recurrent network ------------------------------------------------------------------------------------------------


def rnn(Wx, Wh, b, xs, t):
    """xs has the axes (time, batch, features)."""
    h = np.zeros((xs.shape[1], Wh.shape[0]))
    for x in xs:
        h = np.tanh(x @ Wx + h @ Wh + b)
    return np.mean((h - t) ** 2)


def rnn_step(Wx, Wh, b, xs, t):
    h = np.zeros((xs.shape[1], Wh.shape[0]))
    hs = [h]
    for x in xs:
        h = np.tanh(x @ Wx + h @ Wh + b)
        hs.append(h)
    loss = np.mean((h - t) ** 2)

    dWx = np.zeros_like(Wx)
    dWh = np.zeros_like(Wh)
    db = np.zeros_like(b)
    dh = 2 * (h - t) / h.size
    for i in reversed(range(len(xs))):
        dz = dh * (1 - hs[i + 1] ** 2)
        dWx += xs[i].T @ dz
        dWh += hs[i].T @ dz
        db += dz.sum(axis=0)
        dh = dz @ Wh.T
    return loss, dWx, dWh, db


# --- one step of an LSTM cell -----------------------------------------------------------------------------------------


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def lstm_cell(W, U, b, x, h, c, t):
    """W holds the columns of the input gate, the forget gate, the output gate and the candidate, one after another."""
    n = h.shape[1]
    z = x @ W + h @ U + b
    i = sigmoid(z[:, :n])
    f = sigmoid(z[:, n : 2 * n])
    o = sigmoid(z[:, 2 * n : 3 * n])
    g = np.tanh(z[:, 3 * n :])
    new_c = f * c + i * g
    new_h = o * np.tanh(new_c)
    return np.mean((new_h - t) ** 2)


def lstm_cell_step(W, U, b, x, h, c, t):
    n = h.shape[1]
    z = x @ W + h @ U + b
    i = sigmoid(z[:, :n])
    f = sigmoid(z[:, n : 2 * n])
    o = sigmoid(z[:, 2 * n : 3 * n])
    g = np.tanh(z[:, 3 * n :])
    new_c = f * c + i * g
    tanh_c = np.tanh(new_c)
    new_h = o * tanh_c
    loss = np.mean((new_h - t) ** 2)

    dh = 2 * (new_h - t) / new_h.size
    do = dh * tanh_c
    dc = dh * o * (1 - tanh_c**2)
    di = dc * g
    df = dc * c
    dg = dc * i
    dzi = di * i * (1 - i)
    dzf = df * f * (1 - f)
    dzo = do * o * (1 - o)
    dzg = dg * (1 - g**2)
    dz = np.concatenate([dzi, dzf, dzo, dzg], axis=1)
    dW = x.T @ dz
    dU = h.T @ dz
    db = dz.sum(axis=0)
    return loss, dW, dU, db


# --- convolution as windows -------------------------------------------------------------------------------------------


def convolution(kernel, bias, x, t):
    """x (batch, length), kernel (width, channels), t (batch, length - width + 1, channels)"""
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[0], axis=1)
    z = windows @ kernel + bias
    y = np.maximum(z, 0)
    return np.mean((y - t) ** 2)


def convolution_step(kernel, bias, x, t):
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[0], axis=1)
    z = windows @ kernel + bias
    y = np.maximum(z, 0)
    loss = np.mean((y - t) ** 2)

    dy = 2 * (y - t) / y.size
    dz = dy * (z > 0)
    dkernel = np.einsum("nlw,nlc->wc", windows, dz)
    dbias = dz.sum(axis=(0, 1))
    return loss, dkernel, dbias


# --- variational autoencoder ------------------------------------------------------------------------------------------


def vae(We, Wm, Ws, Wd, Wo, x, noise):
    """The encoder gives the mean and the log variance of the code; the decoder gives the mean of a Gaussian."""
    h = np.tanh(x @ We)
    mean = h @ Wm
    log_var = h @ Ws
    std = np.exp(log_var / 2)
    code = mean + std * noise
    d = np.tanh(code @ Wd)
    y = d @ Wo
    reconstruction = np.sum((y - x) ** 2) / 2
    divergence = np.sum(mean**2 + std**2 - log_var - 1) / 2
    return (reconstruction + divergence) / len(x)


def vae_step(We, Wm, Ws, Wd, Wo, x, noise):
    h = np.tanh(x @ We)
    mean = h @ Wm
    log_var = h @ Ws
    std = np.exp(log_var / 2)
    code = mean + std * noise
    d = np.tanh(code @ Wd)
    y = d @ Wo
    reconstruction = np.sum((y - x) ** 2) / 2
    divergence = np.sum(mean**2 + std**2 - log_var - 1) / 2
    loss = (reconstruction + divergence) / len(x)

    dy = (y - x) / len(x)
    dWo = d.T @ dy
    dd = dy @ Wo.T
    dzd = dd * (1 - d**2)
    dWd = code.T @ dzd
    dcode = dzd @ Wd.T
    dmean = dcode + mean / len(x)
    dstd = dcode * noise + std / len(x)
    dlog_var = dstd * std / 2 - 0.5 / len(x)
    dWm = h.T @ dmean
    dWs = h.T @ dlog_var
    dh = dmean @ Wm.T + dlog_var @ Ws.T
    dzh = dh * (1 - h**2)
    dWe = x.T @ dzh
    return loss, dWe, dWm, dWs, dWd, dWo


# --- physics-informed network -----------------------------------------------------------------------------------------


def pinn(w, b, a, x, f):
    """u(x) = sum_j a_j tanh(w_j x + b_j) should solve u'' = f; the second derivative is written by hand here."""
    h = np.tanh(np.outer(x, w) + b)
    second = -2 * h * (1 - h**2)
    u_xx = (second * w**2) @ a
    return np.mean((u_xx - f) ** 2)


def pinn_step(w, b, a, x, f):
    h = np.tanh(np.outer(x, w) + b)
    second = -2 * h * (1 - h**2)
    u_xx = (second * w**2) @ a
    loss = np.mean((u_xx - f) ** 2)

    du = 2 * (u_xx - f) / len(x)
    da = (second * w**2).T @ du
    dsecond = np.outer(du, a * w**2)
    dh = dsecond * (6 * h**2 - 2)
    dz = dh * (1 - h**2)
    dw = x @ dz + 2 * w * a * (second.T @ du)
    db = dz.sum(axis=0)
    return loss, dw, db, da


BY_HAND: dict[str, ByHand] = {
    "neuron": ByHand(neuron, neuron_step, _normals((), (), (), ())),
    "mlp": ByHand(mlp, mlp_step, _normals((4, 6), (6,), (6, 2), (2,), (8, 4), (8, 2))),
    "softmax regression": ByHand(softmax_regression, softmax_regression_step, _softmax_examples),
    "attention": ByHand(attention, attention_step, _normals((4, 3), (4, 3), (4, 5), (6, 4), (6, 5))),
    "layer norm": ByHand(layer_norm, layer_norm_step, _normals((5, 6), (6,), (6,), (5, 6))),
    "rnn": ByHand(rnn, rnn_step, _normals((3, 5), (5, 5), (5,), (8, 2, 3), (2, 5))),
    "lstm cell": ByHand(lstm_cell, lstm_cell_step, _normals((3, 16), (4, 16), (16,), (2, 3), (2, 4), (2, 4), (2, 4))),
    "convolution": ByHand(convolution, convolution_step, _normals((3, 4), (4,), (2, 10), (2, 8, 4))),
    "vae": ByHand(vae, vae_step, _normals((6, 5), (5, 2), (5, 2), (2, 5), (5, 6), (4, 6), (4, 2))),
    "pinn": ByHand(pinn, pinn_step, _normals((7,), (7,), (7,), (9,), (9,))),
}
