"""HIPS autograd: ``value_and_grad`` of NumPy code, with a plain Adam."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks import plain_model, real
from benchmarks.plain_model import Plain
from benchmarks.step import Step

autograd: Any = import_module("autograd")

XP = plain_model.namespace(import_module("autograd.numpy"))


def build(work: str) -> Step:
    return real.build(work, "autograd") if real.has(work, "autograd") else step(plain_model.of_suite(work))


def step(plain: Plain) -> Step:
    value_and_grad = autograd.value_and_grad(partial(plain.loss, XP))
    return plain_model.step(plain, partial(value_and_grad, plain.arrays))


def pullback(f: Callable[[Any, Any], Any], x: Any, g: Any) -> Callable[[], tuple[Any, Any]]:
    """What gives ``f(XP, x)``, and the gradient of its product with ``g``."""
    make = autograd.make_vjp(partial(f, XP))

    def run() -> tuple[Any, Any]:
        back, y = make(x)
        return y, back(g)

    return run
