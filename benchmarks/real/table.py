"""The table of the real works: benchmarks/results/real.md, and its rows as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.harness import AGAIN, BEFORE, OPTIONAL, REFERENCE, TOLERANCE, WRITTEN, Row
from benchmarks.real.goals import NUMBA, NUMPY, WRITTEN as GOALS, Goal

LINES = (  # of one run, in the table's order; a name that changes sizes has sizes that no library is tuned for
    *("gpt", "gpt:D=100", "gpt:B=1", "gpt:B=1:L=1024", "gpt:V=30000:B=2", "decoder"),
    *("generate", "generate_top_k", "generate_top_p"),
    *("vit", "vit_dropout", "lenet", "minilm", "fine_tuning", "encoder", "encoder_decoder"),
    *("gru", "lstm", "loop", "lstm_by_hand", "attention_by_hand", "gnn", "embedding"),
    *("jacobian", "hessian", "hessian_by_rows", "pinn", "maml"),
    *("plain_tiny", "plain_toy", "plain_small", "plain_m2"),
    *("mlp", "mlp:B=1", "vae", "moons", "m1", "formula", "tiny", "toy", "small"),
)
WRITTEN_TOO = ("m1", "tiny")  # works outside of this folder, of which there is a written program (peer_written.py)
# Nothing in these is fused
NOT_COMPILED = (
    *("jacobian", "hessian", "hessian_by_rows", "pinn", "maml", "moons", "attention_by_hand"),
    *("plain_tiny", "plain_toy", "plain_small", "plain_m2"),
)


def table(rows: Sequence[Row]) -> str:
    """A line a work: ratios beside goals."""
    header = ["work", "NumPy", "with numba", "PyTorch to itself", "before", "goal", "half way", "reached"]
    by_work = _by_work(rows)
    others = any(row.peer in OPTIONAL for row in rows)
    written = any(row.peer == WRITTEN for row in rows)
    header += ["written out", "its goal"] * written
    header += ["ms (PyTorch)", "MB above NumPy (PyTorch)", "losses, outputs differ by"] + ["others"] * others
    return report.grid(header, [_cells(work, peers, others, written) for work, peers in by_work.items()])


def _cells(work: str, peers: dict[str, Row], others: bool, written: bool) -> list[str]:
    own, fast, torch = peers["minigrad"], peers.get("minigrad_fast"), peers[REFERENCE]
    pairs = [(row, goals[work]) for row, goals in ((own, NUMPY), (fast, NUMBA)) if row is not None and work in goals]
    cells = [report.title(work), _ratio(own), _ratio(fast) if fast else "", f"{peers[AGAIN].ratio:.2f}"]
    cells += [" / ".join(f"{getattr(goal, name):.2f}" for _, goal in pairs) for name in ("before", "goal", "half_way")]
    cells.append(" / ".join(reached(row, goal) for row, goal in pairs))
    cells += _cells_written(work, peers.get(WRITTEN)) * written
    if own.error:
        cells += ["", "", ""]
    else:
        differences = [f"{d:.0e}" for d in (own.loss_difference, own.gradient_difference) if d is not None]
        cells += [f"{own.ms:.3g} ({torch.ms:.3g})", f"{own.megabytes:.0f} ({torch.megabytes:.0f})"]
        cells.append(", ".join(differences))
    there = [f"{name} {_ratio(row)}" for name, row in peers.items() if name in OPTIONAL and not row.error]
    return cells + ([", ".join(there)] if others else [])


def _cells_written(work: str, row: Row | None) -> list[str]:
    """The ratio of the program that was written, its goal, and whether that is reached."""
    if row is None:
        return ["", ""]
    return [_ratio(row), f"{GOALS[work]:.2f}: {reached(row, Goal(GOALS[work], GOALS[work]))}" if work in GOALS else ""]


def _by_work(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.work, {})[row.peer] = row
    return found


def table_before(rows: Sequence[Row]) -> str:
    """A line for each work with a goal, and each of its columns: what was, measured in the same rounds, and what is reached."""
    lines = []
    for work, peers in _by_work(rows).items():
        for peer, column, goals in (("minigrad", "NumPy", NUMPY), ("minigrad_fast", "numba", NUMBA)):
            if peer + BEFORE in peers and work in goals:
                lines.append(
                    [report.title(work), column, *_cells_before(peers[peer + BEFORE], peers[peer], goals[work].goal)]
                )
    return report.grid(["work", "", "before", "now", "of its time", "goal", "half way", "reached"], lines)


def _cells_before(old: Row, now: Row, wanted: float) -> list[str]:
    if old.error or now.error:
        return [_ratio(old), _ratio(now), *[""] * 4]
    goal, share = Goal(old.ratio, wanted), now.ratio / old.ratio
    said = reached(now, goal)
    if old.ratio <= 1 and said in ("half way", "no"):
        said = "no worse" if share <= 1 + TOLERANCE else "no"
    numbers = [f"{number:.2f}" for number in (share, wanted, goal.half_way)]
    return [_ratio(old), _ratio(now), *numbers, said]


def _ratio(row: Row) -> str:
    return row.error.replace("|", "/") if row.error else report.ratio(row)


def reached(row: Row, goal: Goal) -> str:
    """The goal, half the way, or neither; of a figure that is not valid nothing is said."""
    if row.error or row.doubt:
        return "?"
    return "goal" if row.ratio <= goal.goal else "half way" if row.ratio <= goal.half_way else "no"


def save(rows: Sequence[Row], limits: str = "", folder: Path = report.RESULTS, name: str = "real") -> None:
    """Of one run, whole: figures of other runs are not kept. ``limits`` are those on cores or threads, in words."""
    here = ", ".join(part for part in (report.machine(), limits) if part)
    for row in rows:
        row.machine = here
    folder.mkdir(exist_ok=True)
    name = re.sub(r"\W+", "_", f"{name} {limits}".strip())
    report.write(folder / f"{name}.json", [asdict(row) for row in rows])
    (folder / f"{name}.md").write_text(f"{text(rows, here)}\n", encoding="utf-8")


def text(rows: Sequence[Row], machine: str) -> str:
    rounds = " or ".join(map(str, sorted({row.rounds for row in rows if row.rounds})))  # more where measured again
    found = (
        f"{machine}; {rounds} rounds\n\n"
        'Ratios to PyTorch eager, with quartiles: below 1 minigrad is faster. A second figure is the one with numba. "Written '
        'out" is the program that mg.write_numpy writes. Half way is between what was and the goal, where what was is above 1; '
        f"elsewhere it is what was.\n\n{table(rows)}"
    )
    if any(row.peer.endswith(BEFORE) for row in rows):
        found += (
            '\n\nThe same works with the checkout of before, in the same rounds and beside the same PyTorch. ("Before" in the '
            "table above was measured on another machine, with other programs on PyTorch's side.) No worse: at most "
            f"{TOLERANCE:.0%} longer, which a machine does to a ratio.\n\n"
            f"{table_before(rows)}"
        )
    return found
