"""Works in plain NumPy functions, for libraries that take derivatives of such: the steps of the suite, of a GPT, and Adam."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.step import Step
from benchmarks.workload import Sizes, sizes, weights_and_batches


@dataclass(frozen=True)
class Plain:
    """A work without the library that does it.

    Attributes:
        arrays: the parameters by name.
        batches: what the loss is taken of, one after the other.
        loss: of the functions of a :func:`namespace`, the parameters and a batch.
        adam: whether a step of Adam follows on the gradients.
    """

    arrays: dict[str, Any]
    batches: list[Any]
    loss: Callable[[Any, dict[str, Any], Any], Any]
    adam: bool = True


# --- What a loss is written in: of NumPy's own functions, and of these ---


def matmul(_: Any, a: Any, b: Any) -> Any:
    return a @ b


def affine(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    return xp.matmul(x, weight) + bias


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


def cross_entropy(xp: Any, z: Any, labels: Any) -> Any:
    """The mean over rows of scores."""
    z = z - xp.max(z, axis=-1, keepdims=True)
    log_p = z - xp.log(xp.sum(xp.exp(z), axis=-1, keepdims=True))
    one_hot = (labels[:, None] == np.arange(z.shape[-1])).astype(np.float32)
    return xp.sum(log_p * one_hot) * np.float32(-1 / len(labels))


def namespace(module: Any, **own: Any) -> Any:
    """The functions of a library's NumPy and those above; ``own``: instead of these, those that the library brings."""
    xp = SimpleNamespace(**vars(module))
    for function in (matmul, affine, softmax, relu, gelu_tanh, layer_norm, cross_entropy):
        setattr(xp, function.__name__, partial(function, xp))
    vars(xp).update(own)
    return xp


NUMPY = namespace(np)

# --- The steps of the suite, and of a GPT ---


def of_suite(work: str) -> Plain:
    s = sizes(work)
    return gpt(s) if s.gpt else classifier(s)


def classifier(s: Sizes) -> Plain:
    arrays, drawn = weights_and_batches(s)
    order = np.tril(np.ones((s.L, s.L), bool)) if s.causal else np.ones((1, 1), bool)
    batches = []
    for tok, mask, y in zip(drawn["tok"], drawn["mask"], drawn["y"]):
        bias = np.where(mask[:, None, None, :] & order, 0, -1e9).astype(np.float32)
        share = (mask / mask.sum(1, keepdims=True)).astype(np.float32)[:, :, None]
        batches.append({"tok": tok, "bias": bias, "share": share, "y": y})

    def loss(xp: Any, P: dict[str, Any], batch: dict[str, Any]) -> Any:
        x = layers(xp, s, P, P["E"][batch["tok"]] + drawn["pe"], batch["bias"])
        return xp.cross_entropy(xp.affine(xp.sum(x * batch["share"], axis=1), P["Wc"], P["bc"]), batch["y"])

    return Plain(arrays, batches, loss)


def gpt(s: Sizes) -> Plain:
    arrays, drawn = weights_and_batches(s)
    bias = np.where(np.tril(np.ones((s.L, s.L), bool)), 0, -1e9).astype(np.float32)
    batches = [{"tok": tok, "y": y.ravel()} for tok, y in zip(drawn["tok"], drawn["y"])]

    def loss(xp: Any, P: dict[str, Any], batch: dict[str, Any]) -> Any:
        x = layers(xp, s, P, P["E"][batch["tok"]] + P["P"], bias)
        return xp.cross_entropy(xp.matmul(xp.reshape(x, (-1, s.D)), xp.transpose(P["E"])), batch["y"])

    return Plain(arrays, batches, loss)


def layers(xp: Any, s: Sizes, P: dict[str, Any], x: Any, bias: Any) -> Any:
    """The Transformer's layers and the last LayerNorm; ``bias`` is added to the scores of the attention."""
    activation = getattr(xp, s.activation, None)
    if activation is None:
        raise NotImplementedError(f"this library has no {s.activation}")

    def heads(x: Any) -> Any:
        return xp.transpose(xp.reshape(x, (s.B, s.L, s.H, s.D // s.H)), (0, 2, 1, 3))

    for n in range(s.layers):
        h = xp.layer_norm(x, P[f"g1{n}"], P[f"b1{n}"])
        q, k, v = (heads(xp.affine(h, P[f"W{name}{n}"], P[f"b{name}{n}"])) for name in "qkv")
        scores = xp.matmul(q, xp.transpose(k, (0, 1, 3, 2))) * np.float32((s.D // s.H) ** -0.5) + bias
        o = xp.transpose(xp.matmul(xp.softmax(scores), v), (0, 2, 1, 3))
        x = x + xp.affine(xp.reshape(o, (s.B, s.L, s.D)), P[f"Wo{n}"], P[f"bo{n}"])
        h = xp.layer_norm(x, P[f"g2{n}"], P[f"b2{n}"])
        h = activation(xp.affine(h, P[f"W1{n}"], P[f"c1{n}"]))
        x = x + xp.affine(h, P[f"W2{n}"], P[f"c2{n}"])
    return xp.layer_norm(x, P["gf"], P["bf"])


# --- What follows on the gradients, for libraries that bring no optimizer ---


def step(plain: Plain, value_and_grad: Callable[[Any], tuple[Any, dict[str, Any]]]) -> Step:
    """``value_and_grad`` gives the loss of a batch and the gradients by name.

    These are held until the next are there: freed before, they would go back to the system and be asked of it again in every
    step, which made steps take up to three times as long.
    """
    adam = Adam(list(plain.arrays.values()) if plain.adam else [])
    last: dict[str, Any] = {}

    def run(i: int) -> Any:
        loss, gradients = value_and_grad(plain.batches[i % len(plain.batches)])
        last.update(gradients)
        adam.step([gradients[name] for name in plain.arrays])
        return loss

    return Step(run, lambda: dict(last))


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
