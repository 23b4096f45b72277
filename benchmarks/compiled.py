"""What each kernel that numba compiles gains: ``python -m benchmarks.compiled [works]`` prints a table.

Each work runs with all of them, and with all but one, in alternating steps. A figure is by how much the step takes longer
without this kernel: the median of the pairs, in processor time of one thread, which other programs hardly change.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import numpy as np

import minigrad
from benchmarks import peer_minigrad_fast, report
from minigrad.engine.registry import primitives
from minigrad.kernels import switches

WORKS = (
    "gpt:B=4",
    "encoder",
    "minilm:B=4",
    "encoder_decoder",
    "vit",
    "mlp",
    "mlp:B=1",
    "tiny",
    "toy",
    "vae",
    "embedding",
)
PAIRS, SECONDS = 7, 3.0


def kernels() -> dict[str, Callable[[], Any]]:
    """By the name of each kernel a context in which it is off."""
    minigrad.compiled_kernels()
    found: dict[str, Callable[[], Any]] = {}
    for name in switches._replaced:
        found[name] = lambda name=name: without(name)  # type: ignore[misc]
    return found | {"adam": without_adam}


@contextmanager
def without(name: str) -> Iterator[None]:
    table, numpy = primitives[name].kernels, switches._replaced[name]
    compiled = table[np.ndarray]
    if numpy is None:
        del table[np.ndarray]
    else:
        table[np.ndarray] = numpy
    try:
        yield
    finally:
        table[np.ndarray] = compiled


@contextmanager
def without_adam() -> Iterator[None]:
    optim: Any = importlib.import_module("nn.optim")
    compiled = optim.compiled_adam
    optim.compiled_adam = lambda: None
    try:
        yield
    finally:
        optim.compiled_adam = compiled


def gain(step: Any, off: Callable[[], Any]) -> float:
    """By how much a step takes longer without a kernel."""
    ratios: list[float] = []
    end = time.monotonic() + SECONDS
    while len(ratios) < 3 or (len(ratios) < 9 * PAIRS and time.monotonic() < end):
        times = []
        for context in (off, None):
            if context is None:
                times.append(seconds(step))
            else:
                with context():
                    times.append(seconds(step))
        ratios.append(times[0] / times[1])
    return statistics.median(ratios) - 1


def seconds(step: Any) -> float:
    step.run(0)  # records the graph with the kernels that are on now
    start = time.process_time()
    step.run(1)
    return time.process_time() - start


def table(works: list[str]) -> str:
    names = kernels()
    rows = []
    for work in works:
        step = peer_minigrad_fast.build(work)
        for i in range(3):
            step.run(i)
        rows.append([work, *(f"{gain(step, off):+.0%}" for off in names.values())])
        print(*rows[-1], file=sys.stderr)
    return f"{report.machine()}, 1 thread, processor time\n\n{report.grid(['', *names], rows)}"


if __name__ == "__main__":
    print(table(sys.argv[1:] or list(WORKS)))
