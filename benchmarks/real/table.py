"""The table of the real works: benchmarks/results/real.md, and its rows as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.harness import AGAIN, OPTIONAL, REFERENCE, Row
from benchmarks.real import WORKS
from benchmarks.real.goals import NUMBA, NUMPY, Goal

LINES = (  # of one run, in the table's order; sizes changed in a name are what nobody had tuned for
    *(
        "gpt",
        "gpt:D=100",
        "gpt:B=1",
        "gpt:V=30000:B=2",
        "vit",
        "vit_dropout",
        "gru",
        "generate",
        "generate_top_k",
        "minilm",
    ),
    *("encoder", "encoder_decoder", "jacobian", "hessian", "hessian_by_rows"),
    *("plain_tiny", "plain_toy", "plain_small", "plain_m2", "mlp", "mlp:B=1", "loop", "moons", "formula"),
    *("tiny", "toy", "small"),
)
NOT_COMPILED = ("jacobian", "hessian", "hessian_by_rows", "moons")  # nothing in them is fused
CHANGES = {"B": "batch", "D": "width", "V": "vocabulary", "L": "length"}


def title(work: str) -> str:
    """ "GPT, training step, width 100" """
    name, *changes = work.split(":")
    words = [WORKS[name].title if name in WORKS else report.TITLES[name]]
    for change in changes:
        size, _, number = change.partition("=")
        words.append(f"{CHANGES.get(size, size)} {int(number):,}" if number.isdigit() else f"{size} {number}")
    return ", ".join(words)


def peers_of(work: str, more: Sequence[str]) -> list[str]:
    """The optional peers take part where the work is one that they have: the steps of plain functions and of the suite."""
    main = [REFERENCE, AGAIN, "minigrad"] + ([] if work in NOT_COMPILED else ["minigrad_fast"])
    return main + [peer for peer in more if work.removeprefix("plain_") in ("tiny", "toy", "small")]


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
    goals = NUMPY.get(work), NUMBA.get(work)
    cells = [title(work), _ratio(own), _ratio(fast) if fast else "", f"{peers[AGAIN].ratio:.2f}"]
    cells += [
        _pair([goal.before if goal else None for goal in goals]),
        _pair([goal.goal if goal else None for goal in goals]),
    ]
    cells += [_pair([goal.half_way if goal else None for goal in goals]), reached([(own, goals[0]), (fast, goals[1])])]
    if own.error:
        cells += ["", "", ""]
    else:
        cells += [f"{own.ms:.3g} ({torch.ms:.3g})", f"{own.megabytes:.0f} ({torch.megabytes:.0f})"]
        cells.append(f"{own.loss_difference:.0e}, {own.gradient_difference:.0e}")
    there = [f"{name} {_ratio(row)}" for name, row in peers.items() if name in OPTIONAL and not row.error]
    return cells + ([", ".join(there)] if others else [])


def _ratio(row: Row) -> str:
    return row.error.replace("|", "/") if row.error else report.ratio(row)


def _pair(numbers: Sequence[float | None]) -> str:
    """ "1.66 / 1.47", "1.94", or nothing."""
    return " / ".join(f"{number:.2f}" for number in numbers if number is not None)


def reached(pairs: Sequence[tuple[Row | None, Goal | None]]) -> str:
    """What each figure has reached: the goal, half the way, or neither; nothing is said of a figure that is not valid."""
    words = []
    for row, goal in pairs:
        if row is None or goal is None:
            continue
        if row.error or row.doubt:
            words.append("?")
        else:
            words.append("goal" if row.ratio <= goal.goal else "half way" if row.ratio <= goal.half_way else "no")
    return " / ".join(words)


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
