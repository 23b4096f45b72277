"""How long the parts of a floor take: each in the ways that NumPy has on this machine, of which the fastest counts."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.floors.parts import Part

PATIENCE = 0.1  # seconds, after which the threads of OpenBLAS spin no longer


@lru_cache
def openblas() -> Any:
    """NumPy's OpenBLAS, or None."""
    root = Path(np.__file__).parent
    files = [*root.parent.glob("numpy.libs/*openblas*"), *root.glob(".dylibs/*openblas*")]
    return ctypes.CDLL(str(files[0])) if files else None


def threads_of_blas(count: int) -> None:
    if openblas() is not None:
        openblas().scipy_openblas_set_num_threads64_(count)


def kernel_of_blas() -> str:
    """The processor that OpenBLAS has chosen its loops for, "SkylakeX"."""
    if openblas() is None:
        return "unknown"
    name = openblas().scipy_openblas_get_corename64_
    name.restype = ctypes.c_char_p
    return str(name().decode())


def threads() -> int:
    """As many as there are cores, unless OMP_NUM_THREADS says fewer."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, int(wanted)) if wanted.isdecimal() else here


def ways_of(part: Part, pool: ThreadPoolExecutor | None, count: int) -> dict[str, Callable[[], object]]:
    """Each way to run a part once."""
    ways: dict[str, Callable[[], object]] = {"one thread": lambda: part.run(0, part.rows)}
    if pool is None:
        return ways
    if part.rows >= count:
        bounds = [part.rows * i // count for i in range(count + 1)]

        def divided() -> None:
            others = [pool.submit(part.run, *pair) for pair in pairwise(bounds[1:])]
            part.run(0, bounds[1])
            for other in others:
                other.result()

        ways["divided"] = divided
    if part.product:
        ways["OpenBLAS"] = ways["one thread"]
    return ways


def best(parts: Sequence[Part], seconds: float, clock: Callable[[], float], count: int) -> float:
    """Milliseconds of one step with ``count`` threads: for each part the median time of its fastest way.

    The parts run in order, so that each finds the caches as it would in a step.
    """
    pool = ThreadPoolExecutor(count - 1) if count > 1 else None
    ways = {part: ways_of(part, pool, count) for part in parts}
    taken: dict[tuple[Part, str], list[float]] = {}
    for way in ("one thread", "divided", "OpenBLAS") if pool else ("one thread",):
        threads_of_blas(count if way == "OpenBLAS" else 1)
        end, repetitions = time.monotonic() + seconds / 3, 0
        while repetitions < 3 or time.monotonic() < end:
            found = dict.fromkeys(ways, 0.0)
            for part in parts:
                run = ways[part].get(way)
                if run is not None:
                    start = clock()
                    for _ in range(part.count):
                        run()
                    found[part] += clock() - start
            for part, time_ in found.items():
                if way in ways[part] and repetitions:  # the first is for the caches
                    taken.setdefault((part, way), []).append(time_)
            repetitions += 1
        time.sleep(PATIENCE if way == "OpenBLAS" else 0)
    if pool is not None:
        pool.shutdown()
    medians = {key: statistics.median(times) for key, times in taken.items()}
    return 1e3 * sum(min(ms for (other, _), ms in medians.items() if other is part) for part in ways)
