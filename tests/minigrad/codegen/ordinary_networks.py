"""Ordinary programs of neural networks: layers by hand, recurrence, convolution, generative models, inner derivatives."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import minigrad as mg
import nn

from .ordinary import integers, normal, ordinary, uniform

# --- perceptrons ------------------------------------------------------------------------------------------------------


@ordinary((), (), (), ())
def neuron(w, b, x, t):
    a = np.tanh(w * x + b)
    return (a - t) ** 2


@ordinary((4, 5), (5,), (5, 3), (3,), (7, 4), lambda r: np.eye(3)[r.integers(0, 3, size=7)], scale=0.5)
def student_mlp(W1, b1, W2, b2, X, Y):
    # layer 1
    Z1 = np.dot(X, W1) + b1
    A1 = np.maximum(0, Z1)
    # layer 2
    Z2 = np.dot(A1, W2) + b2
    expZ = np.exp(Z2 - np.max(Z2, axis=1, keepdims=True))
    A2 = expZ / np.sum(expZ, axis=1, keepdims=True)
    # cost
    m = X.shape[0]
    cost = -np.sum(Y * np.log(A2)) / m
    return cost


@ordinary([[(3, 5), (5,)], [(5, 5), (5,)], [(5, 2), (2,)]], (6, 3), (6, 2), scale=0.5)
def deep_mlp(params, x, y):
    """params is a list of (W, b)."""
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return np.mean((x @ W + b - y) ** 2)


@ordinary({"encoder": {"w": (6, 3), "b": (3,)}, "decoder": {"w": (3, 6), "b": (6,)}}, uniform(0, 1, (5, 6)), scale=0.5)
def autoencoder(p, x):
    code = mg.relu(mg.affine(x, p["encoder"]["w"], p["encoder"]["b"]))
    out = mg.sigmoid(mg.affine(code, p["decoder"]["w"], p["decoder"]["b"]))
    return -(x * np.log(out) + (1 - x) * np.log(1 - out)).sum(axis=1).mean() + 1e-2 * np.abs(code).mean()


class ResidualNetwork:
    """Blocks x + f(x), written as an object that is called."""

    def __init__(self, blocks: int, step: float) -> None:
        self.blocks = blocks
        self.step = step

    def block(self, x: Any, w_in: Any, w_out: Any) -> Any:
        return x + self.step * (mg.silu(x @ w_in) @ w_out)

    def __call__(self, w_in: Any, w_out: Any, head: Any, x: Any, labels: Any) -> Any:
        for i in range(self.blocks):
            x = self.block(x, w_in[i], w_out[i])
        return mg.cross_entropy(x @ head, labels)


ordinary((3, 4, 6), (3, 6, 4), (4, 3), (5, 4), integers(0, 3, 5), name="residual network", scale=0.5)(
    ResidualNetwork(blocks=3, step=0.5)
)


@dataclass
class HighwayParameters:
    transform: np.ndarray
    gate: np.ndarray
    gate_bias: np.ndarray


def _highway(r: np.random.Generator) -> dict[str, Any]:
    return asdict(HighwayParameters(r.normal(size=(4, 4)), r.normal(size=(4, 4)), r.normal(size=4)))


@ordinary(_highway, (3, 4))
def highway(params: dict[str, Any], x: Any) -> Any:
    candidate = np.tanh(x @ params["transform"])
    gate = 1 / (1 + np.exp(-(x @ params["gate"] + params["gate_bias"])))
    y = gate * candidate + (1 - gate) * x
    return (y**2).sum()


@ordinary((4, 3), (3, 5), (5, 4), (4, 2))
def any_depth(x, *weights):
    for w in weights:
        x = np.sin(x @ w)
    return x.sum()


@ordinary((4, 6), (6, 2), (5, 4), lambda r: r.random((5, 6)) < 0.6, normal(5, 2), scale=0.5)
def dropout_mlp(w1, w2, x, keep, y, rate=0.4):
    h = np.maximum(x @ w1, 0)
    h = h * keep / (1 - rate)
    return np.mean(np.square(h @ w2 - y))


@ordinary((4, 6), (6,), (6, 1), (9, 4), (9,), name="float32 mlp", dtype=np.float32)
def half_precision_habit(w1, b1, w2, x, y):
    """Everything in float32, with Python numbers in between."""
    h = 0.5 * (x @ w1 + b1)
    h = h * (1.0 + np.tanh(h))
    out = (h @ w2)[:, 0]
    return 0.5 * ((out - y) ** 2).sum() / len(y)


@ordinary((4, 3), [(4, 2), (4, 2), (4, 2)], (6, 4), (6, 2), scale=0.5)
def mixture_of_experts(gate_w, experts, x, y):
    g = mg.softmax(x @ gate_w)
    outs = np.stack([np.tanh(x @ e) for e in experts], axis=1)
    return (((g[:, :, None] * outs).sum(1) - y) ** 2).mean()


@ordinary((3, 2), (3, 2), (3, 2), (8, 3), (8,))
def mixture_density(w_pi, w_mu, w_sigma, x, y):
    log_pi = mg.log_softmax(x @ w_pi)
    mu, sigma = x @ w_mu, np.logaddexp(0, x @ w_sigma) + 1e-2
    log_n = -0.5 * ((y[:, None] - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    return -mg.logsumexp(log_pi + log_n, axis=1).mean()


def _moved(state: dict[str, Any], r: np.random.Generator) -> dict[str, Any]:
    return {name: value + 0.1 * r.normal(size=value.shape).astype(value.dtype) for name, value in state.items()}


_small = nn.Sequential(
    nn.Affine(4, 8, rng=np.random.default_rng(0), dtype=np.float64),
    nn.LayerNorm(8, dtype=np.float64),
    nn.Affine(8, 3, rng=np.random.default_rng(1), dtype=np.float64),
)


@ordinary(lambda r: _moved(_small.state_dict(), r), (6, 4), integers(0, 3, 6))
def module_loss(state, x, labels):
    return mg.cross_entropy(nn.functional_call(_small, state, x), labels)


_cell = nn.GRUCell(3, 4, rng=np.random.default_rng(2))


@ordinary(
    lambda r: _moved(_cell.state_dict(), r),
    lambda r: r.normal(size=(4, 2, 3)).astype(np.float32),
    lambda r: r.normal(size=(2, 4)).astype(np.float32),
)
def module_gru(state, sequence, target):
    """A cell of nn, in float32, over the axis of time."""
    h: Any = np.zeros((sequence.shape[1], 4), np.float32)
    for x in sequence:
        h = nn.functional_call(_cell, state, x, h)
    return ((h - target) ** 2).mean()


# --- normalization ------------------------------------------------------------------------------------------------------


@ordinary((5, 6), (6,), (6,), (5, 6))
def layer_norm_by_hand(x, gamma, beta, target):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    xhat = (x - mu) / np.sqrt(var + 1e-5)
    return ((gamma * xhat + beta - target) ** 2).sum()


@ordinary((8, 3), (3, 4), (4,), (4,), integers(0, 2, 8), scale=0.5)
def batch_norm_by_hand(X, W, gamma, beta, labels):
    Z = X @ W
    mean, std = np.mean(Z, axis=0), np.std(Z, axis=0)
    Z = gamma * (Z - mean) / (std + 1e-3) + beta
    A = Z * (Z > 0)
    return np.sum(A[:, 0] * labels) + np.sum(A**2) / A.size


@ordinary((2, 4, 3, 3), (4,), (4,))
def group_norm_images(x, scale, shift):
    """x: (batch, channels, height, width), two groups of channels"""
    n, c, h, w = x.shape
    g = x.reshape(n, 2, c // 2, h, w)
    g = (g - g.mean(axis=(2, 3, 4), keepdims=True)) / np.sqrt(g.var(axis=(2, 3, 4), keepdims=True) + 1e-5)
    y = g.reshape(n, c, h, w) * scale[:, None, None] + shift[:, None, None]
    return np.mean(np.cos(y))


# --- attention ------------------------------------------------------------------------------------------------------------


@ordinary((5, 4), (4, 3), (4, 3), (4, 3), (5, 3))
def attention_head(X, Wq, Wk, Wv, Y):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    S = np.exp(S - S.max(axis=-1, keepdims=True))
    A = S / S.sum(axis=-1, keepdims=True)
    return np.mean((A @ V - Y) ** 2)


@ordinary((2, 4, 6), (2, 6, 3), (2, 6, 3), (2, 6, 3), (2, 3, 6))
def multi_head_einsum(x, wq, wk, wv, wo):
    """x: (b, t, d); wq, wk, wv: (heads, d, e); wo: (heads, e, d)"""
    q = np.einsum("btd,hde->bhte", x, wq)
    k = np.einsum("btd,hde->bhte", x, wk)
    v = np.einsum("btd,hde->bhte", x, wv)
    weights = mg.softmax(np.einsum("bhqe,bhke->bhqk", q, k) / q.shape[-1] ** 0.5, axis=-1)
    out = np.einsum("bhqk,bhke,hed->bqd", weights, v, wo)
    return np.sum(out**2) / out.size


_LANGUAGE = {
    "tokens": (11, 6),
    "positions": (8, 6),
    "norm1_gain": (6,),
    "norm1_bias": (6,),
    "qkv": (6, 18),
    "out": (6, 6),
    "norm2_gain": (6,),
    "norm2_bias": (6,),
    "up": (6, 12),
    "down": (12, 6),
}


@ordinary(_LANGUAGE, integers(0, 11, (3, 7)), scale=0.5)
def causal_language_model(p: dict[str, Any], tokens: Any) -> Any:
    """One block of a GPT: embeddings, causal attention, a feed-forward layer, and the loss of the next token."""
    x = p["tokens"][tokens[:, :-1]] + p["positions"][: tokens.shape[1] - 1]
    h = mg.layer_norm(x, p["norm1_gain"], p["norm1_bias"])
    q, k, v = np.split(h @ p["qkv"], 3, axis=-1)
    t = q.shape[1]
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    future = np.triu(np.ones((t, t), dtype=bool), k=1)
    scores = np.where(future, -1e9, scores)
    x = x + mg.softmax(scores) @ v @ p["out"]
    h = mg.layer_norm(x, p["norm2_gain"], p["norm2_bias"])
    x = x + mg.gelu(h @ p["up"]) @ p["down"]
    return mg.cross_entropy(x @ p["tokens"].T, tokens[:, 1:])


@ordinary(
    (9, 4), (4,), integers(0, 9, (3, 5)), lambda r: np.arange(5) >= r.integers(2, 6, size=(3, 1)), integers(0, 4, 3)
)
def padded_attention_pooling(table, query, ids, padding, labels):
    """padding is True where a token is only filling"""
    e = table[ids]
    scores = np.where(padding, -np.inf, e @ query)
    w = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    w /= w.sum(axis=1, keepdims=True)
    sentence = (w[..., None] * e).sum(axis=1)
    return mg.cross_entropy(sentence, labels)


@ordinary((6, 4), (6, 2), (4,), (2,))
def retrieval_memory(keys, values, question, wanted, beta=2.0):
    q = question
    for _ in range(3):
        q = mg.softmax(beta * keys @ q) @ keys  # modern Hopfield updates
    answer = mg.softmax(beta * keys @ q) @ values
    return np.linalg.norm(answer - wanted)


# --- recurrence -----------------------------------------------------------------------------------------------------------


@ordinary((5, 4), (5, 5), (4, 5), (5, 1), (4, 1), integers(0, 4, 6), integers(0, 4, 6), scale=0.5)
def vanilla_rnn(Wxh, Whh, Why, bh, by, inputs, targets):
    """Characters as one-hot columns, in the style of a well-known hundred lines."""
    h = np.zeros((Whh.shape[0], 1))
    loss = 0
    for t in range(len(inputs)):
        x = np.zeros((Wxh.shape[1], 1))
        x[inputs[t]] = 1
        h = np.tanh(np.dot(Wxh, x) + np.dot(Whh, h) + bh)
        y = np.dot(Why, h) + by
        p = np.exp(y) / np.sum(np.exp(y))
        loss = loss - np.log(p[targets[t], 0])
    return loss


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


@ordinary({"W": (3, 16), "U": (4, 16), "b": (16,)}, (5, 2, 3), (2, 4), scale=0.5)
def lstm(params, xs, target):
    W, U, b = params["W"], params["U"], params["b"]
    hidden = U.shape[0]
    h = c = np.zeros((xs.shape[1], hidden))
    for x in xs:
        z = x @ W + h @ U + b
        i, f, o, g = (z[:, k * hidden : (k + 1) * hidden] for k in range(4))
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return ((h - target) ** 2).sum(axis=1).mean()


@ordinary((7, 4), (7, 4), (7, 4), (5, 3))
def gru(Wz, Wr, Wh, sequence):
    h = np.zeros(Wz.shape[1])
    states = []
    for x in sequence:
        hx = np.concatenate([h, x])
        z = mg.sigmoid(hx @ Wz)
        r = mg.sigmoid(hx @ Wr)
        n = np.tanh(np.concatenate([r * h, x]) @ Wh)
        h = (1 - z) * h + z * n
        states.append(h)
    return np.square(np.stack(states)).mean()


@ordinary((3, 4), (4, 4), (3, 6, 3), integers(2, 7, 3), scale=0.5)
def masked_sequence_model(emit, move, x, lengths):
    """Sequences of several lengths: a state stays as it is after the end of its sequence."""
    batch, steps, _ = x.shape
    h = np.zeros((batch, move.shape[0]))
    for t in range(steps):
        new = np.tanh(x[:, t] @ emit + h @ move)
        alive = (t < lengths)[:, None]
        h = np.where(alive, new, h)
    return (h * h).mean()


# --- convolution ------------------------------------------------------------------------------------------------------------


@ordinary((2, 12), (4,), (), (2, 9))
def convolution_1d(signal, kernel, bias, target):
    windows = sliding_window_view(signal, kernel.shape[0], axis=-1)
    out = np.maximum(windows @ kernel + bias, 0.0)
    return np.mean((out - target) ** 2)


@ordinary((4, 3, 3), (4,), (36, 3), (3, 8, 8), integers(0, 3, 3), scale=0.5)
def small_cnn(kernels, bias, dense, images, labels):
    # images (n, 8, 8), kernels (f, 3, 3)
    patches = sliding_window_view(images, (3, 3), axis=(1, 2))
    maps = np.einsum("nijkl,fkl->nfij", patches, kernels) + bias[:, None, None]
    maps = mg.relu(maps)
    n, f, h, w = maps.shape
    pooled = maps.reshape(n, f, h // 2, 2, w // 2, 2).max(axis=(3, 5))
    return mg.cross_entropy(pooled.reshape(n, -1) @ dense, labels)


@ordinary((6, 5), (3, 3))
def padded_conv(x: Any, k: Any) -> Any:
    padded = np.pad(x, 1)
    out = sum(
        k[i, j] * padded[i : i + x.shape[0], j : j + x.shape[1]] for i in range(k.shape[0]) for j in range(k.shape[1])
    )
    return np.sqrt(np.mean(out**2))


@ordinary((4, 6), (4, 6))
def average_pooling(image, weights):
    h, w = image.shape
    pooled = image.reshape(h // 2, 2, w // 2, 2).mean((1, 3))
    up = np.repeat(np.repeat(pooled, 2, axis=0), 2, axis=1)
    return np.sum(weights * (image - up) ** 2)


@ordinary((7, 7), (7, 7), (3, 3, 3))
def perceptual(image, reference, filters):
    """The distance between features of two images at two scales."""

    def features(picture):
        first = np.tanh(np.einsum("ijkl,fkl->fij", sliding_window_view(picture, (3, 3)), filters))
        second = first[:, ::2, ::2]
        return [first, second]

    pairs = zip(features(image), features(reference), strict=True)
    return sum(np.mean((a - b) ** 2) for a, b in pairs)


@ordinary((2, 6, 3, 3), (6, 2), (2, 6))
def squeeze_excitation(x, w1, w2):
    s = x.mean(axis=(2, 3))
    e = mg.sigmoid(mg.relu(s @ w1) @ w2)
    return np.sum((x * e[:, :, None, None]) ** 2) / x.shape[0]


# --- graphs and sets --------------------------------------------------------------------------------------------------------


def _adjacency(r: np.random.Generator) -> Any:
    upper = np.triu(r.random((6, 6)) < 0.5, 1).astype(float)
    return upper + upper.T


@ordinary(_adjacency, (6, 4), (4, 5), (5, 2), integers(0, 2, 3), lambda r: r.permutation(6)[:3], scale=0.5)
def graph_convolution(adjacency, features, w1, w2, labels, train):
    """``train`` holds the indices of the nodes whose labels are known."""
    a = adjacency + np.eye(len(adjacency))
    d = 1 / np.sqrt(a.sum(axis=1))
    a = a * d[:, None] * d
    hidden = mg.relu(a @ features @ w1)
    logits = a @ hidden @ w2
    return mg.cross_entropy(logits[train], labels)


@ordinary((6, 4), (4, 4), integers(0, 6, 10), integers(0, 6, 10), scale=0.5)
def message_passing(nodes, W, sender, receiver):
    messages = np.tanh(nodes[sender] @ W)
    total: Any = mg.Tensor(np.zeros(nodes.shape))
    total = total.at[receiver].add(messages)
    return ((nodes + total) ** 2).mean()


@ordinary((3, 6), (6, 2), (5, 3))
def deep_set(phi, rho, points):
    return np.tanh((np.tanh(points @ phi)).sum(0) @ rho).sum()


# --- generative models ------------------------------------------------------------------------------------------------------


@ordinary(
    [[(6, 5), (5,)], [(5, 2), (2,)], [(5, 2), (2,)], [(2, 6), (6,)]], uniform(0, 1, (4, 6)), normal(*(4, 2)), scale=0.5
)
def vae(params, x, eps):
    """The negative evidence lower bound with the noise given."""
    (We, be), (Wm, bm), (Ws, bs), (Wd, bd) = params
    h = np.tanh(x @ We + be)
    mean, log_var = h @ Wm + bm, h @ Ws + bs
    z = mean + np.exp(0.5 * log_var) * eps
    logits = z @ Wd + bd
    reconstruction = np.sum(np.logaddexp(0, logits) - x * logits, axis=1)
    kl = -0.5 * np.sum(1 + log_var - mean**2 - np.exp(log_var), axis=1)
    return np.mean(reconstruction + kl)


@ordinary((6, 4), [[(2, 2), (2, 2)], [(2, 2), (2, 2)], [(2, 2), (2, 2)]], scale=0.5)
def real_nvp(x, layers):
    log_det = 0.0
    for s, t in layers:
        x1, x2 = np.split(x, 2, axis=1)
        scale = np.tanh(x1 @ s)
        x2 = x2 * np.exp(scale) + x1 @ t
        log_det = log_det + scale.sum(axis=1)
        x = np.hstack([x2, x1])
    return np.mean(0.5 * (x**2).sum(axis=1) - log_det)


@ordinary((4, 2), (2, 4), (5, 2), (6, 4))
def vector_quantization(encoder, decoder, codebook, x):
    """A vector-quantized autoencoder: the gradient of the decoder goes straight through to the encoder."""
    z = x @ encoder
    d = ((z[:, None] - codebook) ** 2).sum(-1)
    code = codebook[np.argmin(d, axis=1)]
    straight = z + (code - z).detach()
    recon = ((straight @ decoder - x) ** 2).mean()
    return recon + ((code - z.detach()) ** 2).mean() + 0.25 * ((code.detach() - z) ** 2).mean()


@ordinary((4, 8), (8, 3), (5, 3), (5, 3), uniform(0.1, 0.9, 5), scale=0.5)
def diffusion_step(w, u, clean, noise, level):
    noisy = np.sqrt(1 - level)[:, None] * clean + np.sqrt(level)[:, None] * noise
    guess = np.tanh(np.column_stack([noisy, level]) @ w) @ u
    return ((guess - noise) ** 2).mean()


@ordinary((5, 4), (5, 4), (4, 4))
def gumbel_softmax(logits, gumbel, payoff):
    y = mg.softmax((logits + gumbel) / 0.7)
    return -np.einsum("ni,ij,nj->", y, payoff, y) / logits.shape[0]


# --- inner derivatives ------------------------------------------------------------------------------------------------------


@ordinary((3, 4), 0.05, (2, 2, 5, 2))
def maml(w, lr, tasks):
    """Two inner steps for each task; tasks is (tasks, 2, points, 2), with support and query points (x, y)."""

    def loss(w, xy):
        h = np.tanh(xy[:, :1] * w[0] + w[1])
        return np.mean((h @ w[2] - xy[:, 1]) ** 2)

    total = 0.0
    for task in tasks:
        fast = w
        for _ in range(2):
            fast = fast - lr * mg.grad(loss)(fast, task[0])
        total = total + loss(fast, task[1])
    return total / len(tasks)


@ordinary((4,), (9, 4), lambda r: r.choice([-1, 1], size=9), (4,))
def hessian_vector(w, X, y, v):
    def objective(w):
        return np.logaddexp(0, -y * (X @ w)).mean()

    gradient = mg.grad(objective)
    hv = mg.grad(lambda w: gradient(w) @ v)(w)
    return v @ hv + 0.5 * gradient(w) @ gradient(w)


@ordinary([(3, 5), (5, 1)], (6, 3), (6, 3), uniform(0, 1, (6, 1)), scale=0.5)
def gradient_penalty(critic: Sequence[Any], real: Any, fake: Any, mix: Any) -> Any:
    """A Wasserstein critic whose input gradient should have length one."""
    W1, W2 = critic

    def score(x: Any) -> Any:
        return (np.tanh(x @ W1) @ W2).sum()

    between = mix * real + (1 - mix) * fake
    slope = mg.grad(score)(between)
    penalty = ((np.sqrt((slope**2).sum(axis=1) + 1e-12) - 1) ** 2).mean()
    return (score(fake) - score(real)) / len(real) + 10 * penalty


@ordinary((2, 6), (6,), (6, 2), (2,), (3, 2), (4, 3, 2), scale=0.5)
def neural_ode(W1, b1, W2, b2, x0, observed):
    def f(x):
        return np.tanh(x @ W1 + b1) @ W2 + b2

    x, dt = x0, 0.1
    loss = 0.0
    for k in range(observed.shape[0]):
        k1 = f(x)
        k2 = f(x + dt / 2 * k1)
        k3 = f(x + dt / 2 * k2)
        k4 = f(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss = loss + np.sum((x - observed[k]) ** 2)
    return loss / observed.shape[0]


@ordinary((6,), (6,), (6,), (4,))
def pinn(a, w, b, points):
    """u'' + u = 0 with u(0) = 0 and u'(0) = 1, by a network of one hidden layer and two inner derivatives."""

    def u(x):
        return np.sum(a * np.tanh(w * x + b))

    du = mg.grad(u)
    ddu = mg.grad(du)
    residual = 0.0
    for x in points:
        residual = residual + (ddu(x) + u(x)) ** 2
    zero = np.array(0.0)
    return residual / len(points) + u(zero) ** 2 + (du(zero) - 1) ** 2
