"""DeZero, with a matrix product of batches, which it lacks, and a plain Adam."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from benchmarks import plain_model, real
from benchmarks.plain_model import Plain
from benchmarks.step import Step

if find_spec("dezero") is None:
    raise ModuleNotFoundError("No module named 'dezero'", name="dezero")
# Imported with the package, used by its data sets alone: stood in for meanwhile, where the real ones have not been read.
_standing_in = {
    name: ModuleType(name) for name in ("matplotlib", "matplotlib.pyplot", "PIL") if name not in sys.modules
}
sys.modules.update(_standing_in)
vars(sys.modules["PIL"]).setdefault("Image", SimpleNamespace(BILINEAR=2, Image=object))
vars(np).setdefault("int", int)  # the name of before NumPy 1.24
try:
    dezero: Any = import_module("dezero")
    F: Any = import_module("dezero.functions")
finally:
    for _name in _standing_in:
        del sys.modules[_name]


class BatchedProduct(dezero.Function):  # type: ignore[misc]
    def forward(self, a: Any, b: Any) -> Any:
        return a @ b

    def backward(self, g: Any) -> Any:
        a, b = self.inputs
        last = (0, 1, 3, 2)
        return BatchedProduct()(g, F.transpose(b, last)), BatchedProduct()(F.transpose(a, last), g)


def _product(a: Any, b: Any) -> Any:
    if b.ndim == 4:
        return BatchedProduct()(a, b)
    if a.ndim == 2:
        return F.matmul(a, b)
    rows = F.reshape(a, (-1, a.shape[-1]))
    return F.reshape(F.matmul(rows, b), (*a.shape[:-1], b.shape[-1]))


def _mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    total = F.sum(x, axis=axis, keepdims=keepdims)
    return total * np.float32(total.size / x.size)


def _max(x: Any, axis: int, keepdims: bool) -> Any:
    return x.data.max(axis=axis, keepdims=keepdims)  # only shifts what softmax is taken of: no derivative needed


# Its own cross-entropy is left out: it subtracts integers, so that all gradients would be float64
XP = plain_model.namespace(
    F, matmul=_product, mean=_mean, max=_max, sqrt=lambda x: x**0.5, relu=F.relu, softmax=partial(F.softmax, axis=-1)
)


def build(work: str) -> Step:
    return real.build(work, "dezero") if real.has(work, "dezero") else step(plain_model.of_suite(work))


def step(plain: Plain) -> Step:
    P = {name: dezero.Variable(array) for name, array in plain.arrays.items()}

    def value_and_grad(batch: Any) -> tuple[float, dict[str, Any]]:
        for p in P.values():
            p.cleargrad()
        loss = plain.loss(XP, P, batch)
        loss.backward()
        return float(loss.data), {name: p.grad.data for name, p in P.items()}

    return plain_model.step(plain, value_and_grad)


def pullback(f: Callable[[Any, Any], Any], x: Any, g: Any) -> Callable[[], tuple[Any, Any]]:
    """What gives ``f(XP, x)``, and the gradient of its product with ``g``."""
    leaf = dezero.Variable(x)

    def run() -> tuple[Any, Any]:
        leaf.cleargrad()
        y = f(XP, leaf)
        y.grad = dezero.Variable(g)
        y.backward()
        return y.data, leaf.grad.data

    return run
