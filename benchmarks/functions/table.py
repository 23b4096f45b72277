"""The table of ``python -m benchmarks functions``."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.functions.inputs import SIZES
from benchmarks.functions.measure import Figure

EXPLAINED = (
    "minigrad's time as a ratio to PyTorch eager's, forward and backward, by number of elements. The numbers in a cell are for "
    "float32, float32 transposed, float64 and float64 transposed. *before* is the worst ratio of the other checkout above 100 "
    "elements. *of the floor* is minigrad's time as a ratio to the NumPy calls that the function cannot do without. *ms* is "
    "minigrad's longest time."
)
Rows = dict[str, list[Figure]]


def by_work(figures: Sequence[Figure]) -> Rows:
    rows: Rows = {}
    for figure in figures:
        rows.setdefault(figure.call.work, []).append(figure)
    return rows


def worst(figures: Sequence[Figure], library: str = "minigrad") -> float:
    """Return the largest ratio at more than the smallest size, or at that one if there is no other."""
    large = [f for f in figures if f.call.n > SIZES[0]] or figures
    return max((ratio for f in large if (ratio := f.ratio(library)) is not None), default=0.0)


def text(figures: Sequence[Figure], machine: str) -> str:
    """Write the table in Markdown, the slowest function first."""
    rows = by_work(figures)
    sizes = [n for n in SIZES if any(f.call.n == n for f in figures)]
    before = any("before" in f.us for f in figures)
    names = ["function", *[f"{n:,}" for n in sizes], *(["before"] if before else []), "of the floor", "ms", "note"]
    lines = [f"{machine}\n\n{EXPLAINED}\n", "| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    for work in sorted(rows, key=lambda work: -worst(rows[work])):
        lines.append("| " + " | ".join(cells(work, rows[work], sizes, before)) + " |")
    return "\n".join(lines) + "\n"


def cells(work: str, figures: Sequence[Figure], sizes: Sequence[int], before: bool) -> list[str]:
    found = [work.replace("|", r"\|")]
    found += [" ".join(written(f.ratio()) for f in figures if f.call.n == n) for n in sizes]
    if before:
        found.append(written(worst(figures, "before") or None))
    floors = [f.us["minigrad"] / f.floor for f in figures if f.floor and f.call.n > SIZES[0] and "minigrad" in f.us]
    longest = max((f.us["minigrad"] for f in figures if "minigrad" in f.us), default=None)
    faults = sorted({f.fault for f in figures if f.fault})
    return [
        *found,
        written(max(floors, default=None)),
        "" if longest is None else f"{longest / 1e3:.3g}",
        "; ".join(faults).replace("|", r"\|"),
    ]


def written(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"
