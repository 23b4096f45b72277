"""minigrad with the kernels that numba compiles."""

from __future__ import annotations

from typing import Any

import minigrad
from benchmarks import peer_minigrad
from benchmarks.step import Step


def build(work: str, **options: Any) -> Step:
    minigrad.compiled_kernels()
    return peer_minigrad.build(work, **options)
