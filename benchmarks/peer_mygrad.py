"""MyGrad, with the functions of its neural networks and a plain Adam."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks import plain_model, real
from benchmarks.plain_model import Plain
from benchmarks.step import Step

mygrad: Any = import_module("mygrad")
activations: Any = import_module("mygrad.nnet.activations")
losses: Any = import_module("mygrad.nnet.losses")

XP = plain_model.namespace(
    mygrad, softmax=partial(activations.softmax, axis=-1), cross_entropy=losses.softmax_crossentropy
)


def build(work: str) -> Step:
    return real.build(work, "mygrad") if real.has(work, "mygrad") else step(plain_model.of_suite(work))


def step(plain: Plain) -> Step:
    P = {name: mygrad.tensor(array, copy=False) for name, array in plain.arrays.items()}

    def value_and_grad(batch: Any) -> tuple[float, dict[str, Any]]:
        for p in P.values():
            p.null_grad()
        loss = plain.loss(XP, P, batch)
        loss.backward()
        value = float(loss)
        del loss
        for array in plain.arrays.values():
            array.flags.writeable = True  # MyGrad has locked what its graph read
        return value, {name: p.grad for name, p in P.items()}

    return plain_model.step(plain, value_and_grad)


def pullback(f: Callable[[Any, Any], Any], x: Any, g: Any) -> Callable[[], tuple[Any, Any]]:
    """What gives ``f(XP, x)``, and the gradient of its product with ``g``."""
    leaf = mygrad.tensor(x, copy=False)

    def run() -> tuple[Any, Any]:
        leaf.null_grad()
        y = f(XP, leaf)
        y.backward(g)
        return y.data, leaf.grad

    return run
