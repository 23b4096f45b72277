"""The table of the real works: benchmarks/results/real.md, and its rows as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.harness import AGAIN, BEFORE, FLOOR, OPTIONAL, REFERENCE, WRITTEN, Row
from benchmarks.real import WORKS

LINES = (  # of one run, in the table's order; a name that changes sizes has sizes that no library is tuned for
    *("gpt", "gpt:D=100", "gpt:B=1", "gpt:B=1:L=1024", "gpt:V=30000:B=2", "decoder"),
    *("generate", "generate_top_k", "generate_top_p"),
    *("vit", "vit_dropout", "lenet", "minilm", "fine_tuning", "encoder", "encoder_decoder"),
    *("gru", "lstm", "loop", "lstm_by_hand", "attention_by_hand", "gnn", "embedding"),
    *("jacobian", "hessian", "hessian_by_rows", "pinn", "maml"),
    *("plain_tiny", "plain_toy", "plain_small", "plain_m2"),
    *("mlp", "mlp:B=1", "vae", "moons", "m1", "formula", "tiny", "toy", "small"),
)
# Nothing in these is fused
NOT_COMPILED = (
    *("jacobian", "hessian", "hessian_by_rows", "pinn", "maml", "moons", "attention_by_hand"),
    *("plain_tiny", "plain_toy", "plain_small", "plain_m2"),
)


WRITTEN_TOO = ("m1", "tiny")  # works outside of this folder, of which there is a written program (peer_written.py)


def is_written(work: str) -> bool:
    """Whether there is a program of the work that ``mg.write_numpy`` writes."""
    return work in WRITTEN_TOO or (work in WORKS and WRITTEN in WORKS[work].others)


def table(rows: Sequence[Row]) -> str:
    """A line a work."""
    by_work = _by_work(rows)
    there = {row.peer for row in rows}
    beside = [name for name in (WRITTEN, FLOOR) if name in there]
    header = ["work", "NumPy", "with numba", "PyTorch to itself"]
    header += [{WRITTEN: "written out", FLOOR: "floor / PyTorch"}[name] for name in beside]
    header += ["minigrad / floor"] * (FLOOR in there) + ["with numba / floor"] * (FLOOR in there)
    header += ["ms (PyTorch)", "MB above NumPy (PyTorch)", "losses, outputs differ by"]
    others = bool(there & {*OPTIONAL})
    return report.grid(header + ["others"] * others, [_cells(*item, beside, others) for item in by_work.items()])


def _cells(work: str, peers: dict[str, Row], beside: Sequence[str], others: bool) -> list[str]:
    own, fast, torch = peers["minigrad"], peers.get("minigrad_fast"), peers[REFERENCE]
    cells = [report.title(work), _ratio(own), _ratio(fast), f"{peers[AGAIN].ratio:.2f}"]
    cells += [_ratio(peers.get(name)) for name in beside]
    if FLOOR in beside:
        cells += [_share(row, peers.get(FLOOR)) for row in (own, fast)]
    if own.error:
        cells += ["", "", ""]
    else:
        differences = [f"{d:.0e}" for d in (own.loss_difference, own.gradient_difference) if d is not None]
        cells += [f"{own.ms:.3g} ({torch.ms:.3g})", f"{own.megabytes:.0f} ({torch.megabytes:.0f})"]
        cells.append(", ".join(differences))
    there = [f"{name} {_ratio(row)}" for name, row in peers.items() if name in OPTIONAL and not row.error]
    return cells + ([", ".join(there)] if others else [])


def _by_work(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.work, {})[row.peer] = row
    return found


def table_before(rows: Sequence[Row]) -> str:
    """A line for each work and each of its columns: what was, measured in the same rounds, what is, and the floor."""
    lines = []
    for work, peers in _by_work(rows).items():
        floor = peers.get(FLOOR)
        for peer, column in (("minigrad", "NumPy"), ("minigrad_fast", "numba")):
            if peer + BEFORE in peers:
                old, now = peers[peer + BEFORE], peers[peer]
                ms = [f"{row.ms:.3g}" if row and row.ms else "" for row in (peers[REFERENCE], floor, old, now)]
                shares = [_share(now, old), _ratio(old), _ratio(now), _share(old, floor), _share(now, floor)]
                lines.append([report.title(work), column, *ms, *shares])
    header = ["work", "", "PyTorch, ms", "floor, ms", "before, ms", "now, ms", "now / before", "before / PyTorch"]
    return report.grid([*header, "now / PyTorch", "before / floor", "now / floor"], lines)


def _ratio(row: Row | None) -> str:
    """To PyTorch."""
    if row is None:
        return ""
    return row.error.replace("|", "/") if row.error else report.ratio(row)


def _share(row: Row | None, other: Row | None) -> str:
    """Of one peer's time to that of another."""
    return f"{row.ms / other.ms:.2f}" if row and other and row.ms and other.ms else ""


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
        'Ratios to PyTorch eager, with quartiles: below 1 minigrad is faster. "Written out" is the program that mg.write_numpy '
        "writes. A floor is the NumPy calls that a work cannot do without, where they are known.\n\n"
        f"{table(rows)}"
    )
    if any(row.peer.endswith(BEFORE) for row in rows):
        found += (
            "\n\nThe same works with the checkout of before, in the same rounds and beside the same PyTorch.\n\n"
            f"{table_before(rows)}"
        )
    return found
