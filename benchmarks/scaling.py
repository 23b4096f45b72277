"""How the cost of a training step, of a chain of operations and of attention grows, beside PyTorch: a table and a plot.

The points are measured like the works (:mod:`benchmarks.harness`), with fewer rounds: they show how costs grow, and where the
two curves cross; the works say how far apart they are.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.harness import Peer, Process, Task, take_turns, wait_until_quiet

# What grows, and the works: the toy step (see workload.py), the chain of m3, and attention alone (see micro.py)
PANELS: dict[str, tuple[str, tuple[int, ...]]] = {
    "batch": ("toy:B={}", (8, 32, 128, 512)),
    "length": ("toy:B=4:L={}", (32, 64, 128, 256, 512)),
    "width": ("toy:D={}", (32, 64, 128, 256, 512)),
    "layers": ("toy:layers={}", (1, 2, 4, 8, 16)),
    "operations in a row": ("chain:n={}", (10, 100, 1_000, 10_000, 100_000)),
    "length, attention alone": ("attention:L={}", (64, 128, 256, 512, 1024, 2048)),
}
PEERS = ("torch", "minigrad")


@dataclass
class Point:
    """One peer at one size.

    Attributes:
        ratio: of its time to PyTorch's, the median over the rounds.
        megabytes: the most memory that it held, above what it held when its library had been imported.
    """

    panel: str
    size: int
    peer: str
    ms: float
    ratio: float
    megabytes: float


def measure_point(
    panel: str,
    size: int,
    rounds: int,
    seconds: float,
    start: Callable[[Task], Peer] = Process,
    quiet: Callable[[], None] = wait_until_quiet,
) -> list[Point]:
    """Both peers at one size.

    Raises:
        SystemExit: one of them cannot do it.
    """
    work = PANELS[panel][0].format(size)
    running: dict[str, Peer] = {}
    try:
        for name in PEERS:
            running[name] = start(Task(name, work, steps=2))
        take_turns(work, running, rounds, seconds, quiet)
        for name, peer in running.items():
            if "error" in peer.about:
                raise SystemExit(f"{work}, {name}: {peer.about['error']}")
        return [_point(panel, size, name, peer, running["torch"]) for name, peer in running.items()]
    finally:
        for peer in running.values():
            peer.close()


def _point(panel: str, size: int, name: str, peer: Peer, reference: Peer) -> Point:
    ms = statistics.median(burst["ms"] for burst in peer.bursts)
    ratio = statistics.median(own["ms"] / other["ms"] for own, other in zip(peer.bursts, reference.bursts))
    megabytes = peer.bursts[-1]["peak"] - peer.about["imported"]
    return Point(panel, size, name, ms, ratio, max(megabytes, 0.1))  # the kernel counts pages roughly


def measure(panels: Sequence[str] = tuple(PANELS), rounds: int = 3, seconds: float = 0.15) -> list[Point]:
    return [
        point for panel in panels for size in PANELS[panel][1] for point in measure_point(panel, size, rounds, seconds)
    ]


def exponent(points: Sequence[Point], cost: str) -> float:
    """The power with which a cost grew between the last two sizes: 2 where twice the size costs four times as much."""
    before, last = points[-2:]
    return math.log(getattr(last, cost) / getattr(before, cost)) / math.log(last.size / before.size)


def table(points: Sequence[Point]) -> str:
    """A line a size, and how fast each cost grows at the end of each panel."""
    lines = []
    for panel in dict.fromkeys(point.panel for point in points):
        ours = [p for p in points if p.panel == panel and p.peer == "minigrad"]
        theirs = [p for p in points if p.panel == panel and p.peer == "torch"]
        for own, torch in zip(ours, theirs):
            times = [f"{own.ms:.3g}", f"{torch.ms:.3g}", f"{own.ratio:.2f}"]
            lines.append([panel, str(own.size), *times, f"{own.megabytes:.0f}", f"{torch.megabytes:.0f}"])
        if len(ours) > 1:
            powers = [f"size^{exponent(one, cost):.1f}" for cost in ("ms", "megabytes") for one in (ours, theirs)]
            lines.append([panel, "growth at the end", *powers[:2], "", *powers[2:]])
    return report.grid(["what grows", "size", "ms minigrad", "ms PyTorch", "ratio", "MB minigrad", "MB PyTorch"], lines)


def plot(points: Sequence[Point], file: Path) -> None:
    """Time above, memory below, a panel for each thing that grows; all axes logarithmic.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    from minigrad.errors import import_extra
    from minigrad.graph.draw import figures

    import_extra("matplotlib", "train", "the plot")
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(point.panel for point in points))
    figure = Figure(figsize=(2.9 * len(panels), 5.6), layout="constrained")
    axes: Any = figure.subplots(2, len(panels), sharex="col", squeeze=False)
    for column, panel in enumerate(panels):
        for row, (cost, unit) in enumerate((("ms", "ms a step"), ("megabytes", "MB above the library"))):
            _draw(axes[row][column], [p for p in points if p.panel == panel], cost)
            axes[row][0].set_ylabel(unit)
        axes[0][column].set_title(panel, fontsize="medium")
    axes[0][0].legend(frameon=False)
    figures.save(figure, file, dpi=110)


def _draw(axis: Any, points: Sequence[Point], cost: str) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    for peer, colour, mark in (("torch", "tab:orange", "s"), ("minigrad", "tab:blue", "o")):
        own = [p for p in points if p.peer == peer]
        values = [getattr(p, cost) for p in own]
        label = "PyTorch eager" if peer == "torch" else peer
        axis.loglog([p.size for p in own], values, color=colour, marker=mark, markersize=4, label=label)
    sizes = list(dict.fromkeys(p.size for p in points))
    axis.set_xticks(sizes, [f"{n // 1000}k" if n % 1000 == 0 else str(n) for n in sizes])
    costs = [getattr(p, cost) for p in points]
    axis.yaxis.set_major_locator(LogLocator(subs=(1,) if max(costs) > 100 * min(costs) else (1, 2, 5)))
    axis.yaxis.set_major_formatter("{x:g}")
    for one in (axis.xaxis, axis.yaxis):
        one.set_minor_locator(NullLocator())
    axis.tick_params(labelsize="small")
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)


def save(points: Sequence[Point], folder: Path = report.RESULTS) -> None:
    folder.mkdir(exist_ok=True)
    here = report.machine()
    report.write(folder / "scaling.json", {"machine": here, "points": [asdict(point) for point in points]})
    text = f"{here}\n\n{table(points)}\n\n![Time and memory against each size](scaling.png)\n"
    (folder / "scaling.md").write_text(text, encoding="utf-8")
    plot(points, folder / "scaling.png")
