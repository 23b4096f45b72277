"""The table of floors: benchmarks/results/floors.md, and its numbers as JSON."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.floors.timing import kernel_of_blas, threads
from benchmarks.harness import AGAIN, FLOOR, REFERENCE
from benchmarks.real.table import LINES

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
    rounds: int = 0


def line(work: str, bursts: dict[str, list[dict[str, float]]]) -> Line:
    """``bursts`` has those of each peer, as many for each."""
    ms = {peer: [burst["ms"] for burst in found] for peer, found in bursts.items()}

    def ratio(peer: str, other: str) -> list[float]:
        return [a / b for a, b in zip(ms[peer], ms[other])]

    low, over, high = statistics.quantiles(ratio("minigrad", FLOOR), n=4)
    return Line(
        work,
        torch=statistics.median(ms[REFERENCE]),
        minigrad=statistics.median(ms["minigrad"]),
        floor=statistics.median(ms[FLOOR]),
        over_floor=over,
        quartiles=(low, high),
        floor_over_torch=statistics.median(ratio(FLOOR, REFERENCE)),
        over_torch=statistics.median(ratio("minigrad", REFERENCE)),
        noise=statistics.median(ratio(AGAIN, REFERENCE)),
        rounds=len(ms[FLOOR]),
    )


def text(lines: Sequence[Line], clock: str, limits: str = "") -> str:
    header = ["work", "PyTorch, ms", "minigrad, ms", "floor, ms", "minigrad / floor (quartiles)", "floor / PyTorch"]
    header += ["minigrad / PyTorch", "PyTorch to itself", "rounds"]
    rows = []
    for one in lines:
        low, high = one.quartiles
        numbers = [f"{ms:.3g}" for ms in (one.torch, one.minigrad, one.floor)]
        above = "**" if one.over_floor > HIGHEST else ""
        numbers.append(f"{above}{one.over_floor:.2f}{above} ({low:.2f}-{high:.2f})")
        numbers += [f"{share:.2f}" for share in (one.floor_over_torch, one.over_torch, one.noise)]
        rows.append([report.title(one.work), *numbers, str(one.rounds)])
    return f"{where(clock, limits)}\n\n{report.grid(header, rows)}"


def where(clock: str, limits: str) -> str:
    """The machine, the loops of OpenBLAS, the threads, and the clock."""
    time = "processor time" if clock == "cpu" else "elapsed time"
    count = f"{threads()} thread{'s' * (threads() > 1)}"
    parts = [report.machine(), f"OpenBLAS for {kernel_of_blas()}", count, time]
    return ", ".join([*parts, *([limits] if limits and "thread" not in limits else [])])


def save(lines: Sequence[Line], clock: str, limits: str = "", folder: Path = report.RESULTS) -> None:
    """Write the lines beside those that are there of other works, if they were measured in the same way."""
    folder.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "_", f"floors {limits}".strip())
    file = folder / f"{name}.json"
    here = where(clock, limits)
    known: dict[str, Line] = {}
    if file.exists():
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["machine"] == here:
            known = {one["work"]: Line(**one | {"quartiles": tuple(one["quartiles"])}) for one in found["lines"]}
    known |= {one.work: one for one in lines}
    ordered = sorted(known.values(), key=lambda one: LINES.index(one.work) if one.work in LINES else len(LINES))
    report.write(file, {"machine": here, "lines": [asdict(one) for one in ordered]})
    file.with_suffix(".md").write_text(f"{text(ordered, clock, limits)}\n", encoding="utf-8")
