"""What compiled kernels cost a process before they save it time: ``python -m benchmarks.warm_up``

The first step of a real work in a process of its own: with NumPy, with kernels that numba compiles because its cache is
empty, and with those that another process left in the cache.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from benchmarks import report

WORKS = ("gpt", "vit", "generate")
ROUNDS = 3
PROGRAM = """
import json, sys, time
from benchmarks import real
import minigrad
step = real.build(sys.argv[1], "minigrad")
times = [time.perf_counter()]
if sys.argv[2]:
    minigrad.compiled_kernels()
times.append(time.perf_counter())
for i in range(3):
    step.run(i)
    times.append(time.perf_counter())
print(json.dumps([after - before for before, after in zip(times, times[1:])]))
"""


def seconds(work: str, compiled: bool, cache: str) -> list[float]:
    """What switching on takes (the import of numba), and each of the first three steps.

    Args:
        cache: the folder in which numba keeps what it compiled.
    """
    command = [sys.executable, "-c", PROGRAM, work, "compiled" if compiled else ""]
    done = subprocess.run(
        command, env=os.environ | {"NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True
    )
    found: list[float] = json.loads(done.stdout)
    return found


def medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [statistics.median(times) for times in zip(*rounds)]


def line(work: str, rounds: int = ROUNDS) -> list[str]:
    """Of one work: switching on; the first step with NumPy, with an empty cache, with a full one; a later step of each."""
    plain, empty, full = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            plain.append(seconds(work, False, cache))
            empty.append(seconds(work, True, cache))
            full.append(seconds(work, True, cache))
    numpy, first, again = medians(plain), medians(empty), medians(full)
    numbers = (again[0], numpy[1], first[1], again[1], numpy[-1], again[-1])
    return [report.title(work), *(f"{number:.2f}" for number in numbers)]


def table(works: Sequence[str] = WORKS, rounds: int = ROUNDS) -> str:
    header = ["seconds", "switching on", "first step, NumPy", "compiled, nothing cached", "compiled, cached"]
    header += ["later step, NumPy", "compiled"]
    return f"{report.machine()}\n\n{report.grid(header, [line(work, rounds) for work in works])}"


if __name__ == "__main__":
    text = table()
    (report.RESULTS / "warm_up.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)
