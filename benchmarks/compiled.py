"""What each kernel gains: ``python -m benchmarks.compiled [works]`` prints a table of those that numba compiles.

``python -m benchmarks.compiled numpy [works]`` prints one of all others, with the work and the function (``benchmarks
functions``, 100,000 numbers) that gain most. Each work runs with all kernels, and with all but one, in alternating steps. A
figure is by how much the step takes longer without this kernel: the median of the pairs, in processor time of one thread, which
other programs hardly change. ``--threads 2`` measures elapsed time of two threads instead, on a machine without other programs.
"""

from __future__ import annotations

import gc
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

if __name__ == "__main__" and (two := sys.argv[1:3] == ["--threads", "2"]):
    del sys.argv[1:3]
else:
    two = False
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import numpy as np

import minigrad
import minigrad.scipy_special
import nn  # noqa: F401 - attaches the kernels of layers
from benchmarks import functions, peer_minigrad, peer_minigrad_fast, real, report
from benchmarks.functions.worker import arrays_of, in_minigrad
from benchmarks.step import Step
from minigrad.engine.observers import Replaceable
from minigrad.engine.registry import operators, primitives, when_declared
from minigrad.kernels import operators as faster_operators, stretches, switches
from minigrad.kernels.layers import optimizers

WORKS = (
    "gpt:B=4",
    "gpt:V=30000:B=2",
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
SMALLER = {name: f"{name}:B=4" for name in ("gpt", "decoder", "minilm", "fine_tuning", "small", "plain_small")}
PAIRS, SECONDS = 7, 3.0
CLOCK = time.perf_counter if two else time.process_time

Off = Callable[[], Any]
Codes = set[Any]  # code objects, of which a step that uses a kernel calls one


# --- the kernels, and how each is left out ---


def compiled() -> dict[str, Off]:
    """By the name of each kernel that numba compiles a context in which it is off."""
    minigrad.compiled_kernels()
    found: dict[str, Off] = {}
    for name in switches._replaced:
        found[name] = partial(without, primitives[name], switches._replaced[name])
    optim: Any = importlib.import_module("nn.optim")
    return found | {"adam": lambda: changed(optim, compiled_adam=lambda: None)}


def of_numpy() -> dict[str, tuple[str, Off, Codes]]:
    """By the name of each other kernel its file, a context in which it is off, and its functions."""
    found: dict[str, tuple[str, Off, Codes]] = {}
    for name, primitive in sorted(primitives.items()):
        if kernel := primitive.kernels.get(np.ndarray):
            found[name] = _kernel(kernel.forward, partial(without, primitive))
        if getattr(primitive.compute, "__module__", "").startswith("minigrad.kernels."):
            found[f"{name} (values)"] = _kernel(primitive.compute, partial(by_its_function, primitive))
    modules = [module for name, module in sys.modules.items() if name.startswith("minigrad.rules.")]
    for other in {id(value): value for module in modules for value in vars(module).values()}.values():
        if type(other) is Replaceable and other.faster:
            found[f"{other.__name__}()"] = _kernel(other.faster, partial(changed, other, faster=None))
    return found | {
        "stretches": _kernel(stretches.pull_by_rows, lambda: changed(stretches, LARGE=np.inf), stretches._sweep_blocks),
        "operators": _kernel(faster_operators.specialise, plain_operators, faster_operators._recorded),
        "large parameters": _kernel(optimizers.update_in_blocks, lambda: changed(optimizers, BLOCK=1 << 62)),
        "small parameters": _kernel(optimizers.update_in_blocks, one_by_one),
    }


def _kernel(function: Any, off: Off, used: Any = None) -> tuple[str, Off, Codes]:
    inner = [cell.cell_contents for cell in (used or function).__closure__ or ()]
    codes = {f.__code__ for f in inner if hasattr(f, "__code__")} or {(used or function).__code__}
    return function.__module__.removeprefix("minigrad.kernels.").replace(".", "/"), off, codes


@contextmanager
def changed(owner: Any, **values: Any) -> Iterator[None]:
    kept = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(owner, name, value)


@contextmanager
def without(primitive: Any, other: Any = None) -> Iterator[None]:
    """Use another kernel, or the rules."""
    kernel = primitive.kernels.pop(np.ndarray)
    if other is not None:
        primitive.kernels[np.ndarray] = other
    _declared(primitive)
    try:
        yield
    finally:
        primitive.kernels[np.ndarray] = kernel
        _declared(primitive)


@contextmanager
def by_its_function(primitive: Any) -> Iterator[None]:
    with changed(primitive, compute=primitive.function):
        _declared(primitive)
        yield
    _declared(primitive)


def _declared(primitive: Any) -> None:
    for callback in when_declared:
        callback(primitive)


@contextmanager
def plain_operators() -> Iterator[None]:
    kept = dict(operators)
    for primitive in primitives.values():
        for function in (primitive.function, getattr(primitive.function, "__wrapped__", None)):
            if function in operators:
                operators[function] = primitive
    try:
        yield
    finally:
        operators.update(kept)


@contextmanager
def one_by_one() -> Iterator[None]:
    """Update small parameters one by one: each optimizer divides its parameters anew, now and afterwards."""
    try:
        with changed(optimizers, _SMALL=-1):
            _divide_anew()
            yield
    finally:
        _divide_anew()


def _divide_anew() -> None:
    for other in gc.get_objects():
        if type(other) is optimizers.Division:
            other._made_for = []


# --- measurement ---


def gain(step: Any, off: Off, limit: float = SECONDS) -> float:
    """By how much a step takes longer without a kernel."""
    ratios: list[float] = []
    end = time.monotonic() + limit
    while len(ratios) < 3 or (len(ratios) < 9 * PAIRS and time.monotonic() < end):
        with off():
            without = seconds(step)
        ratios.append(without / seconds(step))
    return statistics.median(ratios) - 1


def seconds(step: Any) -> float:
    step.run(0)  # records the graph with the kernels that are on now
    start = CLOCK()
    step.run(1)
    return CLOCK() - start


def called(step: Any) -> Codes:
    """The functions of kernels that a step calls."""
    found: Codes = set()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code) if event == "call" else None)
    try:
        step.run(0)
    finally:
        sys.setprofile(None)
    return found


def table(works: list[str]) -> str:
    names = compiled()
    rows = []
    for work in works:
        step = peer_minigrad_fast.build(work)
        for i in range(3):
            step.run(i)
        rows.append([work, *(f"{gain(step, off):+.0%}" for off in names.values())])
        print(*rows[-1], file=sys.stderr)
    clock = "2 threads, elapsed time" if two else "1 thread, processor time"
    return f"{report.machine()}, {clock}\n\n{report.grid(['', *names], rows)}"


def single_functions() -> Iterator[tuple[str, Step]]:
    for name, work in functions.WORKS.items():
        for dtype in ("float32", "float64"):
            run = in_minigrad(work, arrays_of(work, {"n": 100_000, "dtype": dtype, "transposed": False}))
            yield f"{name}, {dtype}", Step(lambda i, run=run: [run() for _ in range(3)], dict)  # type: ignore[misc]


def steps(works: list[str]) -> Iterator[tuple[int, str, Step]]:
    """The works, and at ``functions`` each single function; the number is the column of the table."""
    for work in works or [*real.WORKS, "tiny", "toy", "small", "functions"]:
        if work == "functions":
            yield from ((1, name, step) for name, step in single_functions())
        else:
            yield 0, work, peer_minigrad.build(SMALLER.get(work, work))


def table_of_numpy(works: list[str]) -> str:
    kernels = of_numpy()
    best: dict[str, list[tuple[float, str]]] = {name: [(0.0, "")] * 2 for name in kernels}
    with np.errstate(all="ignore"):
        for column, name, step in steps(works):
            step.run(0)
            codes = called(step)
            for kernel, (_, off, own) in kernels.items():
                if own & codes:
                    found = gain(step, off, 0.3 if column else 1.0)
                    print(f"{found:+.0%} {kernel}: {name}", file=sys.stderr, flush=True)
                    best[kernel][column] = max(best[kernel][column], (found, name))
    rows = [
        [f"`{file}`", kernel, *(f"{gain:+.0%} {name}" if name else "" for gain, name in best[kernel])]
        for kernel, (file, *_) in sorted(kernels.items(), key=lambda item: item[1][0])
    ]
    header = ["file", "kernel", "the work that gains most", "the function that gains most"]
    return f"{report.machine()}, 1 thread, processor time\n\n{report.grid(header, rows)}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["numpy"]:
        minigrad.set_num_threads(1)
        print(table_of_numpy(sys.argv[2:]))
    else:
        print(table(sys.argv[1:] or list(WORKS)))
