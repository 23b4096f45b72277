"""The micro works: what one operation, a chain of them and attention alone cost. Each is written once, for every library
whose tensors have operators, ``backward()``, ``.grad`` and ``.item()``.

=================== ================================================================================================
multiply            1,000 taped products of two 4 x 4 matrices, elementwise
multiply_backward   the same, and the backward pass of each
m1                  the expression of micrograd's README on two scalars, some 30 operations; forward and backward
m2                  an elementwise chain on (4096, 512): affine, GELU, sum, softmax, LayerNorm, ReLU, product, mean square
m3                  10,000 operations in a row on 16 numbers; forward and backward, and the bytes held for each operation
chain:n=100         m3 with another number of operations
attention:L=256     attention alone, 8 heads of width 32, one sequence of length L; forward and backward
=================== ================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.step import Gradients, Step

REPEATS = 1000
WORKS = ("multiply", "multiply_backward", "m1", "m2", "m3")


@dataclass(frozen=True)
class Functions:
    """A library's names for what is not an operator or a method.

    Attributes:
        leaf: a tensor of this number or array that requires a gradient.
        cotangent: this array as ``backward`` takes it.
        gelu: with tanh. softmax: over the last axis. layer_norm: of x, gain and bias, over the last axis, eps 1e-5.
        attention: of queries, keys and values, each (batch, heads, length, width).
    """

    leaf: Callable[[Any], Any]
    cotangent: Callable[[Any], Any]
    relu: Callable[[Any], Any]
    gelu: Callable[[Any], Any]
    softmax: Callable[[Any], Any]
    layer_norm: Callable[[Any, Any, Any], Any]
    attention: Callable[[Any, Any, Any], Any]


def is_micro(work: str) -> bool:
    return work.partition(":")[0] in (*WORKS, "chain", "attention")


def check(work: str) -> tuple[str, int]:
    """The name and the number of "chain:n=100".

    Raises:
        ValueError: the number is missing or none, or the work has none.
    """
    name, _, change = work.partition(":")
    if name in WORKS and change:
        raise ValueError(f"{name} has no sizes to change")
    return name, 0 if name in WORKS else int(change.partition("=")[2])


def build(work: str, f: Functions) -> Step:
    """The step of a micro work with the functions of one library."""
    name, number = check(work)
    if name == "m3":
        return _chain(f, 10_000)
    if name == "chain":
        return _chain(f, number)
    if name == "attention":
        return _attention(f, number)
    works: dict[str, Callable[[Functions], Step]] = {
        "multiply": _multiply,
        "multiply_backward": _multiply_backward,
        "m1": _scalars,
        "m2": _elementwise,
    }
    return works[name](f)


def _arrays(seed: int, *shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.RandomState(seed)
    return [random.randn(*shape).astype(np.float32) for shape in shapes]


def _forget(leaves: dict[str, Any]) -> None:
    for leaf in leaves.values():
        leaf.grad = None


def _gradients(leaves: dict[str, Any]) -> Gradients:
    return {name: np.asarray(leaf.grad.numpy()) for name, leaf in leaves.items()}


def _multiply(f: Functions) -> Step:
    x, y = map(f.leaf, _arrays(5, (4, 4), (4, 4)))

    def run(_: int) -> Any:
        for _ in range(REPEATS):
            z = x * y
        return z.sum()

    return Step(run, dict)


def _multiply_backward(f: Functions) -> Step:
    leaves = dict(zip("xy", map(f.leaf, _arrays(5, (4, 4), (4, 4)))))
    x, y = leaves.values()
    g = f.cotangent(np.ones((4, 4), np.float32))

    def run(_: int) -> Any:
        _forget(leaves)
        for _ in range(REPEATS):
            (x * y).backward(g)
        return x.grad.sum()

    return Step(run, lambda: _gradients(leaves))


def expression(a: Any, b: Any, relu: Callable[[Any], Any]) -> Any:
    """The one of micrograd's README: 24.7041 at a = -4, b = 2, with the derivatives 138.8338 and 645.5773."""
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + relu(b + a)
    d = d + 3 * d + relu(b - a)
    e = c - d
    f = e**2
    g = f / 2.0
    return g + 10.0 / f


def _scalars(f: Functions) -> Step:
    leaves: dict[str, Any] = {}

    def run(_: int) -> Any:
        leaves["a"], leaves["b"] = f.leaf(-4.0), f.leaf(2.0)
        g = expression(leaves["a"], leaves["b"], f.relu)
        g.backward()
        return g

    return Step(run, lambda: _gradients(leaves))


def elementwise_arrays() -> dict[str, Any]:
    x, s, t, g, b = _arrays(7, (4096, 512), (512,), (512,), (512,), (512,))
    arrays = {"x": x, "s": 1 + np.float32(0.1) * s, "t": np.float32(0.1) * t}
    return arrays | {"g": 1 + np.float32(0.1) * g, "b": np.float32(0.1) * b}


def _elementwise(f: Functions) -> Step:
    leaves = {name: f.leaf(array) for name, array in elementwise_arrays().items()}

    def run(_: int) -> Any:
        _forget(leaves)
        a = leaves["x"] * leaves["s"] + leaves["t"]
        r = f.gelu(a) + leaves["x"]
        q = f.layer_norm(f.softmax(r) * 512.0, leaves["g"], leaves["b"])
        loss = ((f.relu(q) * r) ** 2).mean()
        loss.backward()
        return loss

    return Step(run, lambda: _gradients(leaves))


def _chain(f: Functions, operations: int) -> Step:
    random = np.random.RandomState(8)
    x, a, b = random.rand(16), 1 - 1e-3 * random.rand(16), 1e-3 * random.rand(16)
    leaves = {name: f.leaf(array.astype(np.float32)) for name, array in zip("xab", (x, a, b))}

    def graph() -> Any:
        y = leaves["x"]
        for _ in range(operations // 2):
            y = y * leaves["a"]
            y = y + leaves["b"]
        return y.sum()

    def run(_: int) -> Any:
        _forget(leaves)
        loss = graph()
        loss.backward()
        return loss

    return Step(run, lambda: _gradients(leaves), graph, operations)


def _attention(f: Functions, length: int) -> Step:
    shape = (1, 8, length, 32)
    *inputs, g = _arrays(9, shape, shape, shape, shape)
    leaves = {name: f.leaf(array) for name, array in zip("qkv", inputs)}
    cotangent = f.cotangent(g)

    def run(_: int) -> Any:
        _forget(leaves)
        out = f.attention(*leaves.values())
        out.backward(cotangent)
        return out[0, 0, 0, 0]

    return Step(run, lambda: _gradients(leaves))
