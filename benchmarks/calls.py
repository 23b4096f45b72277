"""Single calls of minigrad, which two checkouts of it are compared at: each recorded, a thousand times, on a (4, 4) array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from benchmarks.micro import REPEATS
from benchmarks.step import Step

ARRAY = np.linspace(-1, 2, 16, dtype=np.float32).reshape(4, 4)
CALLS: dict[str, Callable[[Any], Any]] = {
    "np.exp(x)": np.exp,
    "x.sum(axis=0)": lambda x: x.sum(axis=0),
    "x[1:3]": lambda x: x[1:3],
    "x * constant": lambda x: x * 2.0,
    "x * array": lambda x: x * ARRAY,
    "softmax(x)": minigrad.softmax,
    "x.data": lambda x: x.data,
}


def build(work: str) -> Step:
    call = CALLS[work]
    x = minigrad.Tensor(ARRAY, requires_grad=True)

    def run(_: int) -> Any:
        for _ in range(REPEATS):
            result = call(x)
        return result.sum()

    return Step(run, dict)
