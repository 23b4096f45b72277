"""The guard: what must not get slower. It measures anew and compares ratios with limits, never times.

A ratio to PyTorch on the same machine in the same minute says something about the code; a time says more about the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Row

# These works take a short time, which hardly changes from turn to turn. So the code is at fault if a ratio is over its limit.
# The limits were set in November 2026 on an AMD EPYC with two cores.
REAL = {
    "gpt": 1.46,
    "vit": 1.24,
    "gru": 1.2,
    "generate": 1.28,
    "encoder_decoder": 1.15,
    "jacobian": 1.2,
    "hessian": 1.34,
    "plain_tiny": 1.46,
    "mlp": 1.04,
    "loop": 0.88,
    "moons": 0.72,
}
# minigrad's time over PyTorch's. The variants of a size have its limit: the speed is the engine's, not one benchmark's.
RATIOS = {
    "tiny": 0.75,
    "toy": 1.15,
    "small": 1.5,
    "toy_gelu": 1.15,
    "small_gelu": 1.5,
    "toy_causal": 1.15,
    "small_causal": 1.5,
    "toy_512": 1.15,
    "multiply": 0.9,
    "multiply_backward": 0.45,
    "m1": 0.7,
    "m2": 1.5,
    "m3": 0.35,
    **REAL,
}
FAST_RATIOS = {"tiny": 0.35, "toy": 0.75, "small": 1.1, "m2": 0.7}  # with the kernels that numba compiles
WORKS = ("tiny", "toy", "small", "multiply", "m1", "m2", "m3", *REAL)  # what is measured unless others are named
MEGABYTES = {"small": 330.0}  # above an interpreter with NumPy
BYTES_PER_NODE = {"m3": 700.0}
IMPORT_SHARE = 0.4  # of NumPy's own import: 30 ms where NumPy takes 75


@dataclass(frozen=True)
class Verdict:
    """One limit: what it is on, what was measured, and whether that is a reason to believe it.

    Attributes:
        doubt: why the measurement does not count; empty if it does.
    """

    what: str
    measured: float
    limit: float
    doubt: str = ""

    @property
    def over(self) -> bool:
        return not self.doubt and self.measured > self.limit

    def __str__(self) -> str:
        if self.doubt:
            return f"{self.what}: not trustworthy, {self.doubt}"
        return f"{self.what}: {self.measured:.3g}, {'OVER the' if self.over else 'within the'} limit of {self.limit:g}"


def judge(rows: Sequence[Row], imports: dict[str, Any] | None = None) -> list[Verdict]:
    """A verdict for each limit that the rows and the imports say something about."""
    verdicts = []
    for row in rows:
        limits = {"minigrad": RATIOS, "minigrad_fast": FAST_RATIOS}.get(row.peer, {})
        name = f"{row.work} with compiled kernels" if row.peer == "minigrad_fast" else row.work
        if row.error:
            if row.peer == "minigrad" or (row.peer == "minigrad_fast" and "pip install" not in row.error):
                verdicts.append(Verdict(f"{name} failed ({row.error})", math.inf, limits.get(row.work, 0.0)))
            continue
        if row.work in limits:
            verdicts.append(Verdict(f"{name}, time over PyTorch's", row.ratio, limits[row.work], row.doubt))
        if row.peer == "minigrad" and row.work in MEGABYTES:
            verdicts.append(Verdict(f"{name}, MB above NumPy", row.megabytes, MEGABYTES[row.work]))
        if row.peer == "minigrad" and row.work in BYTES_PER_NODE and row.bytes_per_node is not None:
            verdicts.append(Verdict(f"{name}, bytes a node", row.bytes_per_node, BYTES_PER_NODE[row.work]))
    if imports is not None:
        verdicts.append(Verdict("import minigrad, time over NumPy's import", imports["added_share"], IMPORT_SHARE))
        verdicts.append(Verdict("packages that import minigrad brings in beside NumPy", len(imports["foreign"]), 0))
    return verdicts


def status(verdicts: Sequence[Verdict]) -> int:
    """What the process ends with: 1 if anything is over its limit, else 2 if anything could not be measured, else 0."""
    if any(verdict.over for verdict in verdicts):
        return 1
    return 2 if any(verdict.doubt for verdict in verdicts) else 0
