"""What it costs to notice in-place changes of kept arrays, in several ways: ``python -m benchmarks.inplace_detection``.

Each way runs in processes of its own, in turn; a ratio to the engine without any detection is taken inside a round, and the
median over the rounds is printed. docs/in-place.md draws the conclusion.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import Tensor, _plan, tensor
from minigrad.guards import inplace as _inplace

WAYS = ("none", "none again", "as built", "fingerprints", "locks", "versions")
WORKS = ("x * y", "x * array", "x * 2.0", "(x * y).backward()", "tiny step", "toy step")


class _Version:
    number = 0


def _keep_more(add: Callable[[Any], Any], check: Callable[[Any, Any], object]) -> None:
    """Let every plan keep ``add(array)`` of each argument that it keeps, and call ``check`` with both before its rules."""
    original = _plan.Plan.__init__

    def __init__(self: Any, primitive: Any, needs: list[bool], kernel: Any) -> None:
        original(self, primitive, needs, kernel)
        arguments = primitive.arguments or tuple(f"args{i}" for i in range(len(needs)))
        positions = [arguments.index(name) for name in self.names if name in arguments]
        self.constants = [self.names.index(arguments[i]) for i in positions]
        pick = self.pick
        if len(positions) == 1:
            (only,) = positions
            self.pick = lambda values: (*pick(values), add(values[only]))
        elif positions:
            self.pick = lambda values: (*pick(values), *[add(values[i]) for i in positions])

    def check_constants(entry: Any) -> None:
        for position, added in zip(entry.plan.constants, entry.kept[len(entry.plan.names) :]):
            check(entry.kept[position], added)

    replace(_plan.Plan, "__init__", __init__)
    replace(_plan, "check_constants", check_constants)


def replace(owner: Any, name: str, by: Any) -> None:
    setattr(owner, name, by)


def _compare(array: Any, before: Any) -> None:
    if _inplace.fingerprint(array) != before:
        raise AssertionError("changed")


def _lock(array: Any) -> None:
    if isinstance(array, np.ndarray):
        array.setflags(write=False)


def _unlock(array: Any, _: Any) -> None:
    if isinstance(array, np.ndarray) and (array.base is None or array.base.flags.writeable):
        array.setflags(write=True)


def choose(way: str) -> None:
    """Change the engine to this way, before it has recorded anything. Others than "as built" are sketches: the least cost."""
    if way == "as built":
        return
    picker = _plan._picker
    replace(_plan, "_picker", lambda positions, constants=(): picker(positions))
    replace(_plan, "check_constants", lambda entry: None)
    replace(tensor, "handed_out", lambda tensor: None)
    if way == "fingerprints":  # of every argument that is kept
        _keep_more(_inplace.fingerprint, _compare)
    elif way == "locks":
        _keep_more(_lock, _unlock)
    elif way == "versions":  # a number that every array would bear
        version = _Version()
        _keep_more(lambda array: version.number, lambda array, before: version.number == before)


def measure(way: str) -> dict[str, float]:
    """Seconds for each work."""
    choose(way)
    from benchmarks.peer_minigrad import training_step

    x, y = (Tensor(a, requires_grad=True) for a in np.random.default_rng(0).standard_normal((2, 4, 4)))
    array, g = np.ones((4, 4)), np.ones((4, 4))

    def fastest(work: Callable[[], object], number: int = 2000) -> float:
        return min(timeit.repeat(work, number=number, repeat=25)) / number

    seconds = {
        "x * y": fastest(lambda: x * y),
        "x * array": fastest(lambda: x * array),
        "x * 2.0": fastest(lambda: x * 2.0),
        "(x * y).backward()": fastest(lambda: (x * y).backward(g), 500),
    }
    for size, count in (("tiny", 300), ("toy", 100)):
        step, times = training_step(size), []
        for i in range(count):
            start = time.perf_counter()
            step(i)
            times.append(time.perf_counter() - start)
        seconds[f"{size} step"] = min(times)  # the machine may have other work
    return seconds


def main(arguments: Sequence[str]) -> None:
    rounds: list[dict[str, dict[str, float]]] = []
    for i in range(int(arguments[0]) if arguments else 7):
        measured = {}
        for way in random.Random(i).sample(WAYS, len(WAYS)):
            command = [sys.executable, "-m", "benchmarks.inplace_detection", "--way", way]
            measured[way] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        rounds.append(measured)
    print("| | " + " | ".join(WORKS) + " |\n" + "|---" * (len(WORKS) + 1) + "|")
    for way in WAYS:
        cells = [way]
        for work in WORKS:
            ratio = statistics.median(r[way][work] / r["none"][work] for r in rounds)
            cells.append(
                f"{ratio:.3f}" if way != "none" else f"{1e6 * statistics.median(r[way][work] for r in rounds):.3g} us"
            )
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--way"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
