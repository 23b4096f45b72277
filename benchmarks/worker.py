"""One peer in a process of its own: ``python -m benchmarks.worker TASK``, driven by the lines of its input.

TASK is a :class:`benchmarks.harness.Task` as JSON. The worker prints a report of its first steps and then, for each line
``SECONDS``, runs steps for that long and prints the median time of one. Everything printed is one JSON object a line; what a
peer cannot do is ``{"error": why}``.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import memory
from benchmarks.step import Step

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def build(task: dict[str, Any]) -> tuple[Step, dict[str, Any]]:
    """The step, and the memory before and after the peer's library was imported."""
    import numpy  # noqa: F401 - memory is counted above an interpreter with NumPy, for every peer

    bare = memory.peak()
    options = {}
    if task["device"] != "cpu":
        os.environ["CUPY_TF32"] = str(int(task["tf32"]))  # CuPy looks when it is imported
        options = {"device": task["device"], "tf32": task["tf32"]}
    if task["checkout"]:
        sys.path.insert(0, task["checkout"])  # the benchmarks stay those that are running
    peer = importlib.import_module(f"benchmarks.peer_{task['peer']}")
    if task["checkout"]:
        found = Path(sys.modules["minigrad"].__file__ or "")
        if not found.is_relative_to(task["checkout"]):
            raise ImportError(f"minigrad was to come from {task['checkout']} and is that of {found.parent}")
    imported = memory.peak()
    return peer.build(task["work"], **options), {"bare": bare, "imported": imported}


def first_steps(task: dict[str, Any], step: Step) -> dict[str, Any]:
    """Run them: the losses, and on the way the gradients of the first and what a node of a held graph takes."""
    report: dict[str, Any] = {"device": step.device}
    if step.graph is not None:
        report["bytes_per_node"] = bytes_per_node(step)
    report["losses"] = [step.loss(0)]
    if task["gradients"]:
        import numpy as np

        np.savez(task["gradients"], **step.gradients())
    report["losses"] += [step.loss(i) for i in range(1, task["steps"])]
    return report


def bytes_per_node(step: Step) -> float | None:
    """How much a forward pass whose graph is held adds to the memory of the process, for each of its operations."""
    assert step.graph is not None
    memory.settle()
    before = memory.resident()
    held = step.graph()
    after = memory.resident()
    del held
    return None if before is None or after is None else (after - before) * memory.MIB / step.nodes


def burst(
    step: Step, first: int, seconds: float, at_once: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, int]:
    """Milliseconds a step takes (the median), and the number of the next step."""
    if step.timed is not None:
        return step.timed(seconds, clock), first
    step.run(first)  # the caches were the other peer's
    step.wait()
    times: list[float] = []
    i, end = first + 1, time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = clock()
        for _ in range(at_once):
            step.run(i)
            i += 1
        step.wait()
        times.append((clock() - start) / at_once)
    return 1e3 * statistics.median(times), i


def serve(task: dict[str, Any]) -> None:
    try:
        step, report = build(task)
        report |= first_steps(task, step)
    except ModuleNotFoundError as error:
        say({"error": f"{error.name} is not installed: pip install {(error.name or '').partition('.')[0]}"})
        return
    except Exception as error:  # whatever a peer cannot do
        say({"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]})
        return
    say(report)
    i, at_once = task["steps"], 1 if task["device"] == "cpu" else 20  # a GPU is waited for once in 20 steps
    for line in sys.stdin:
        ms, i = burst(step, i, float(line), at_once, CLOCKS[task["clock"]])
        held = memory.peak() if step.device_bytes is None else report["bare"] + step.device_bytes() / memory.MIB
        say({"ms": ms, "peak": held})


def say(report: dict[str, Any]) -> None:
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
