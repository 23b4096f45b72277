"""The table of the real works: benchmarks/results/real.md, and its rows as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.harness import AGAIN, OPTIONAL, REFERENCE, Row
from benchmarks.real import has
from benchmarks.real.goals import NUMBA, NUMPY, Goal

LINES = (  # of one run, in the table's order; sizes changed in a name are those that nobody tunes for
    *("gpt", "gpt:D=100", "gpt:B=1", "gpt:V=30000:B=2", "generate", "generate_top_k"),
    *("vit", "vit_dropout", "minilm", "encoder", "encoder_decoder", "gru", "loop"),
    *("jacobian", "hessian", "hessian_by_rows", "plain_tiny", "plain_toy", "plain_small", "plain_m2"),
    *("mlp", "mlp:B=1", "moons", "formula", "tiny", "toy", "small"),
)
# Nothing in these is fused
NOT_COMPILED = ("jacobian", "hessian", "hessian_by_rows", "moons", "plain_tiny", "plain_toy", "plain_small", "plain_m2")


def peers_of(work: str, more: Sequence[str]) -> list[str]:
    """The optional peers take part where they have the work."""
    name = work.partition(":")[0]
    main = [REFERENCE, AGAIN, "minigrad"] + ([] if name in NOT_COMPILED else ["minigrad_fast"])
    return main + [peer for peer in more if has(work, peer)]


def table(rows: Sequence[Row]) -> str:
    """A line a work: ratios beside goals."""
    header = ["work", "NumPy", "with numba", "PyTorch to itself", "before", "goal", "half way", "reached"]
    by_work: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_work.setdefault(row.work, {})[row.peer] = row
    others = any(row.peer in OPTIONAL for row in rows)
    header += ["ms (PyTorch)", "MB above NumPy (PyTorch)", "losses, outputs differ by"] + ["others"] * others
    return report.grid(header, [_cells(work, peers, others) for work, peers in by_work.items()])


def _cells(work: str, peers: dict[str, Row], others: bool) -> list[str]:
    own, fast, torch = peers["minigrad"], peers.get("minigrad_fast"), peers[REFERENCE]
    pairs = [(row, goals[work]) for row, goals in ((own, NUMPY), (fast, NUMBA)) if row is not None and work in goals]
    cells = [report.title(work), _ratio(own), _ratio(fast) if fast else "", f"{peers[AGAIN].ratio:.2f}"]
    cells += [" / ".join(f"{getattr(goal, name):.2f}" for _, goal in pairs) for name in ("before", "goal", "half_way")]
    cells.append(" / ".join(reached(row, goal) for row, goal in pairs))
    if own.error:
        cells += ["", "", ""]
    else:
        differences = [f"{d:.0e}" for d in (own.loss_difference, own.gradient_difference) if d is not None]
        cells += [f"{own.ms:.3g} ({torch.ms:.3g})", f"{own.megabytes:.0f} ({torch.megabytes:.0f})"]
        cells.append(", ".join(differences))
    there = [f"{name} {_ratio(row)}" for name, row in peers.items() if name in OPTIONAL and not row.error]
    return cells + ([", ".join(there)] if others else [])


def _ratio(row: Row) -> str:
    return row.error.replace("|", "/") if row.error else report.ratio(row)


def reached(row: Row, goal: Goal) -> str:
    """The goal, half the way, or neither; of a figure that is not valid nothing is said."""
    if row.error or row.doubt:
        return "?"
    return "goal" if row.ratio <= goal.goal else "half way" if row.ratio <= goal.half_way else "no"


def save(rows: Sequence[Row], limits: str = "", folder: Path = report.RESULTS) -> None:
    """Of one run, whole: figures of other runs are not kept. ``limits`` are those on cores or threads, in words."""
    here = ", ".join(part for part in (report.machine(), limits) if part)
    for row in rows:
        row.machine = here
    folder.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "_", f"real {limits}".strip())
    report.write(folder / f"{name}.json", [asdict(row) for row in rows])
    (folder / f"{name}.md").write_text(f"{text(rows, here)}\n", encoding="utf-8")


def text(rows: Sequence[Row], machine: str) -> str:
    rounds = max((row.rounds for row in rows), default=0)
    return (
        f"{machine}; {rounds} rounds\n\n"
        "Ratios to PyTorch eager, with quartiles: below 1 minigrad is faster. A second figure is the one with numba. Half way "
        f"is between what was and the goal, where what was is above 1; elsewhere it is what was.\n\n{table(rows)}"
    )
