"""The classifier and Adam in plain NumPy functions, for peers that bring neither layers nor optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.workload import Sizes


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, np.float32(0))


def gelu_tanh(xp: Any, x: Any) -> Any:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + xp.tanh(inner))


def layer_norm(xp: Any, x: Any, gain: Any, bias: Any) -> Any:
    x = x - xp.mean(x, axis=-1, keepdims=True)
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5)) * gain + bias


def prepared(s: Sizes, batches: dict[str, Any]) -> list[dict[str, Any]]:
    """Each batch as the loss takes it: ids, what is added to the scores, the mean's weights, labels as rows with a one."""
    order = np.tril(np.ones((s.L, s.L), bool)) if s.causal else np.ones((1, 1), bool)
    found = []
    for tok, mask, y in zip(batches["tok"], batches["mask"], batches["y"]):
        allowed = mask[:, None, None, :] & order
        share = (mask / mask.sum(1, keepdims=True)).astype(np.float32)[:, :, None]
        bias = np.where(allowed, 0, -1e9).astype(np.float32)
        found.append({"tok": tok, "bias": bias, "share": share, "y": np.eye(s.C, dtype=np.float32)[y]})
    return found


def loss_of(
    xp: Any,
    s: Sizes,
    P: dict[str, Any],
    batch: dict[str, Any],
    positions: Any,
    softmax: Callable[[Any, Any], Any] = softmax,
    matmul: Callable[[Any, Any], Any] = lambda a, b: a @ b,
) -> Any:
    """The mean cross-entropy of one batch; ``xp`` is the library's NumPy."""
    activation = {"relu": relu, "gelu_tanh": gelu_tanh}[s.activation]

    def heads(x: Any) -> Any:
        return xp.transpose(xp.reshape(x, (s.B, s.L, s.H, s.D // s.H)), (0, 2, 1, 3))

    def affine(x: Any, weight: str, bias: str) -> Any:
        return matmul(x, P[weight]) + P[bias]

    x = P["E"][batch["tok"]] + positions
    for n in range(s.layers):
        h = layer_norm(xp, x, P[f"g1{n}"], P[f"b1{n}"])
        q, k, v = (heads(affine(h, f"W{name}{n}", f"b{name}{n}")) for name in "qkv")
        scores = matmul(q, xp.transpose(k, (0, 1, 3, 2))) * np.float32((s.D // s.H) ** -0.5) + batch["bias"]
        o = xp.transpose(matmul(softmax(xp, scores), v), (0, 2, 1, 3))
        x = x + affine(xp.reshape(o, (s.B, s.L, s.D)), f"Wo{n}", f"bo{n}")
        h = layer_norm(xp, x, P[f"g2{n}"], P[f"b2{n}"])
        x = x + affine(activation(xp, affine(h, f"W1{n}", f"c1{n}")), f"W2{n}", f"c2{n}")
    x = layer_norm(xp, x, P["gf"], P["bf"])
    z = affine(xp.sum(x * batch["share"], axis=1), "Wc", "bc")
    z = z - xp.max(z, axis=-1, keepdims=True)
    log_p = z - xp.log(xp.sum(xp.exp(z), axis=-1, keepdims=True))
    return xp.sum(log_p * batch["y"]) * np.float32(-1 / s.B)


class Adam:
    """In place, one parameter after the other."""

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters, self.t = parameters, 0
        self.means = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]

    def step(self, gradients: Sequence[Any]) -> None:
        self.t += 1
        for p, g, (m, v) in zip(self.parameters, gradients, self.means):
            m *= 0.9
            m += 0.1 * g
            v *= 0.999
            v += 0.001 * (g * g)
            p -= 1e-3 / (1 - 0.9**self.t) * m / (np.sqrt(v / (1 - 0.999**self.t)) + 1e-8)
