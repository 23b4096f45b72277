"""No library: the calls of NumPy that a step cannot do without (:mod:`benchmarks.floors`)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.floors import timing, works
from benchmarks.step import Step


def build(work: str, **options: Any) -> Step:
    """Processor time is that of one thread."""
    parts = works.parts_of(work)

    def timed(seconds: float, clock: Callable[[], float]) -> float:
        return timing.best(parts, seconds, clock, timing.threads() if clock is time.perf_counter else 1)

    return Step(lambda _: math.nan, dict, timed=timed)
