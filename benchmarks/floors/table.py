"""The table of floors: benchmarks/results/floors.md, and its numbers as JSON."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.floors.timing import kernel_of_blas, threads
from benchmarks.harness import AGAIN, REFERENCE

FLOOR = "floor"
HIGHEST = 1.2  # of a floor; what is above is explained in benchmarks/DIARY.md


@dataclass(frozen=True)
class Line:
    """Medians over the rounds; ratios are medians of the ratios of each round."""

    work: str
    torch: float
    minigrad: float
    floor: float
    over_floor: float
    quartiles: tuple[float, float]
    floor_over_torch: float
    over_torch: float
    noise: float


def line(work: str, bursts: dict[str, list[dict[str, float]]]) -> Line:
    """``bursts`` has those of each peer, as many for each."""
    ms = {peer: [burst["ms"] for burst in found] for peer, found in bursts.items()}

    def ratio(peer: str, other: str) -> list[float]:
        return [a / b for a, b in zip(ms[peer], ms[other])]

    low, over, high = statistics.quantiles(ratio("minigrad", FLOOR), n=4)
    medians = [statistics.median(ms[peer]) for peer in (REFERENCE, "minigrad", FLOOR)]
    others = [
        statistics.median(ratio(*pair)) for pair in ((FLOOR, REFERENCE), ("minigrad", REFERENCE), (AGAIN, REFERENCE))
    ]
    return Line(work, *medians, over, (low, high), *others)


def text(lines: Sequence[Line], clock: str, limits: str = "") -> str:
    header = ["work", "PyTorch, ms", "minigrad, ms", "floor, ms", "minigrad / floor (quartiles)", "floor / PyTorch"]
    header += ["minigrad / PyTorch", "PyTorch to itself"]
    rows = []
    for one in lines:
        low, high = one.quartiles
        numbers = [f"{ms:.3g}" for ms in (one.torch, one.minigrad, one.floor)]
        above = "**" if one.over_floor > HIGHEST else ""
        numbers.append(f"{above}{one.over_floor:.2f}{above} ({low:.2f}-{high:.2f})")
        numbers += [f"{share:.2f}" for share in (one.floor_over_torch, one.over_torch, one.noise)]
        rows.append([report.title(one.work), *numbers])
    return f"{where(clock, limits)}\n\n{report.grid(header, rows)}"


def where(clock: str, limits: str) -> str:
    """The machine, the loops of OpenBLAS, the threads, and the clock."""
    time = "processor time" if clock == "cpu" else "elapsed time"
    count = f"{threads()} thread{'s' * (threads() > 1)}"
    parts = [report.machine(), f"OpenBLAS for {kernel_of_blas()}", count, time]
    return ", ".join([*parts, *([limits] if limits and "thread" not in limits else [])])


def save(lines: Sequence[Line], clock: str, limits: str = "", folder: Path = report.RESULTS) -> None:
    folder.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "_", f"floors {limits}".strip())
    found: dict[str, Any] = {"machine": where(clock, limits), "lines": [asdict(one) for one in lines]}
    report.write(folder / f"{name}.json", found)
    (folder / f"{name}.md").write_text(f"{text(lines, clock, limits)}\n", encoding="utf-8")
