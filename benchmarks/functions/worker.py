"""One library in a process of its own: ``python -m benchmarks.functions.worker LIBRARY [CHECKOUT]``.

For each line of its input, a :class:`benchmarks.functions.measure.Call` as JSON, it prints one line: how long the call took,
and what it computed.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.functions.floors_elementwise import FLOORS
from benchmarks.functions.work import WORKS, Work

Run = Callable[[], tuple[Any, list[Any]]]  # returns the value and the gradients


@functools.lru_cache(maxsize=1)
def _drawn(inputs: tuple[Any, ...], n: int) -> list[Any]:
    random = np.random.default_rng(0)
    return [np.asarray(make(random, n)) for make in inputs]


def arrays_of(work: Work, call: dict[str, Any]) -> list[Any]:
    """Make the inputs, the same in every process."""
    arrays = [a.astype(call["dtype"]) if a.dtype.kind == "f" else a for a in _drawn(work.inputs, call["n"])]
    if call["transposed"]:
        arrays = [np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2) if a.ndim > 1 else a for a in arrays]
    return arrays


def cotangent(y: Any) -> Any:
    """Make numbers of different sizes and signs: with equal ones, a mistake in a softmax would not show."""
    return np.asarray(np.cos(np.arange(y.size)).reshape(y.shape), y.dtype)


def in_minigrad(work: Work, arrays: list[Any]) -> Run:
    import minigrad

    # A leaf that shares its caller's array, and one of which a view was handed out by numpy(), is watched for changes: here
    # the leaves are copies, as by default, and no view is handed out.
    tensors = [minigrad.Tensor(a, requires_grad=True) if a.dtype.kind == "f" else a for a in arrays]
    leaves = [t for t in tensors if isinstance(t, minigrad.Tensor)]
    g = cotangent((work.f(*tensors).detach() + 0).numpy())

    def run() -> tuple[Any, list[Any]]:
        for leaf in leaves:
            leaf.grad = None
        y = work.f(*tensors)
        y.backward(g)
        return y, [leaf.grad for leaf in leaves]

    return run


def in_torch(work: Work, arrays: list[Any]) -> Run:
    import torch

    f = work.torch
    assert f is not None
    tensors = [torch.from_numpy(a).requires_grad_(a.dtype.kind == "f") for a in arrays]
    leaves = [t for t in tensors if t.requires_grad]
    y = f(*tensors)
    g, tracked = torch.from_numpy(cotangent(y.detach().numpy())), y.requires_grad

    def run() -> tuple[Any, list[Any]]:
        for leaf in leaves:
            leaf.grad = None
        y = f(*tensors)
        if tracked:
            y.backward(g)
        return y.detach(), [torch.zeros(1) if leaf.grad is None else leaf.grad for leaf in leaves]

    return run


def prints(run: Run) -> list[list[float]]:
    """Return three sums over the value and over each gradient, which tell other numbers and another order apart."""
    value, gradients = run()
    found = []
    for array in (value, *gradients):
        numbers = np.asarray((array.detach() + 0).numpy(), np.float64).ravel()  # of a copy: see in_minigrad
        found.append(
            [float(numbers.sum()), float(np.abs(numbers).sum()), float(numbers @ np.cos(np.arange(numbers.size)))]
        )
    return found


def microseconds(run: Callable[[], Any], seconds: float) -> float:
    """Return the lower quartile of the times of a call, of at least three. A call of more than 0.3 s is timed once."""
    start = time.perf_counter()
    run()  # the caches were another process's
    times = [time.perf_counter() - start]
    if times[0] > 0.3:
        return 1e6 * times[0]
    times.clear()
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * sorted(times)[len(times) // 4]


def answer(library: str, call: dict[str, Any]) -> dict[str, Any]:
    work = WORKS[call["work"]]
    arrays = arrays_of(work, call)
    run = (in_torch if library == "torch" else in_minigrad)(work, arrays)
    report: dict[str, Any] = {}
    if call["prints"]:
        report["prints"] = prints(run)
    report["us"] = microseconds(run, call["seconds"])
    if call["floor"] and call["work"] in FLOORS:
        report["floor"] = microseconds(FLOORS[call["work"]](*arrays), call["seconds"])
    return report


def serve(library: str, checkout: str = "") -> None:
    if checkout:
        sys.path.insert(0, checkout)  # the benchmarks stay those that are running
        import minigrad

        assert Path(minigrad.__file__).is_relative_to(checkout), minigrad.__file__
    if library != "torch":
        import minigrad.scipy_special
    with np.errstate(all="ignore"):
        for line in sys.stdin:
            try:
                report = answer(library, json.loads(line))
            except Exception as error:  # whatever a library cannot do
                report = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:200]}
            time.sleep(0.003)  # threads that wait for work by spinning are asleep when the next process is asked
            print(json.dumps(report), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
