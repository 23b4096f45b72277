"""DeZero, with a matrix product of batches, which it lacks, and a plain Adam."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from benchmarks import plain_model
from benchmarks.step import Step
from benchmarks.workload import BATCHES, sizes, weights_and_batches

for absent in ("matplotlib", "matplotlib.pyplot", "PIL"):  # imported with the package, used by its data sets
    sys.modules.setdefault(absent, ModuleType(absent))
vars(sys.modules["PIL"]).setdefault("Image", SimpleNamespace(BILINEAR=2, Image=object))
vars(np).setdefault("int", int)  # the name of before NumPy 1.24

dezero: Any = import_module("dezero")
F: Any = import_module("dezero.functions")


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
    rows = F.reshape(a, (-1, a.shape[-1]))
    return F.reshape(F.matmul(rows, b), (*a.shape[:-1], b.shape[-1]))


def _mean(x: Any, axis: int, keepdims: bool) -> Any:
    return F.sum(x, axis=axis, keepdims=keepdims) * np.float32(1 / x.shape[axis])


def _max(x: Any, axis: int, keepdims: bool) -> Any:
    return x.data.max(axis=axis, keepdims=keepdims)  # only shifts what softmax is taken of: no derivative needed


XP = SimpleNamespace(
    exp=F.exp, log=F.log, tanh=F.tanh, sum=F.sum, max=_max, mean=_mean, transpose=F.transpose, reshape=F.reshape,
    sqrt=lambda x: x**0.5, maximum=lambda x, _: F.relu(x),
)  # fmt: skip


def build(work: str) -> Step:
    s = sizes(work)
    arrays, drawn = weights_and_batches(work)
    batches = plain_model.prepared(s, drawn)
    P = {name: dezero.Variable(array) for name, array in arrays.items()}
    adam = plain_model.Adam(list(arrays.values()))

    def run(i: int) -> float:
        for p in P.values():
            p.cleargrad()
        softmax = lambda xp, x: F.softmax(x, axis=-1)  # noqa: E731
        loss = plain_model.loss_of(XP, s, P, batches[i % BATCHES], drawn["pe"], softmax=softmax, matmul=_product)
        loss.backward()
        adam.step([p.grad.data for p in P.values()])
        return float(loss.data)

    return Step(run, lambda: {name: p.grad.data for name, p in P.items()})
