"""Tables of what was measured, in benchmarks/results/ and in docs/speed.md, each with the machine it was measured on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import AGAIN, REFERENCE, Row
from benchmarks.real import WORKS

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
ON_PAGE = (
    "gpt",
    "generate",
    "encoder_decoder",
    "gru",
    "plain_tiny",
    "tiny",
    "small",
)  # the best and the worst among them
BEGIN, END = "<!-- benchmarks: written by `python -m benchmarks table` -->", "<!-- end of benchmarks -->"

TITLES = {
    "tiny": "training step, tiny",
    "toy": "training step, toy",
    "small": "training step, small",
    "toy_gelu": "toy with GELU",
    "small_gelu": "small with GELU",
    "toy_causal": "toy, causal",
    "small_causal": "small, causal",
    "toy_512": "toy, 4 sequences of 512 tokens",
    "encoder": "encoder, 4 x 512 tokens with padding, training step",
    "multiply": "taped product of two 4 x 4 arrays",
    "multiply_backward": "product of two 4 x 4 arrays and its backward",
    "m1": "scalar expression, 30 operations (m1)",
    "m2": "elementwise chain on 4096 x 512 (m2)",
    "m3": "10,000 operations in a row (m3)",
    "gpt_10m": "GPT of 10.8 million parameters",
}
CHANGES = {"B": "batch", "D": "width", "V": "vocabulary", "L": "length"}


def title(work: str) -> str:
    """What a work is in words: "GPT, training step, width 100"."""
    name, *changes = work.split(":")
    words = [WORKS[name].title if name in WORKS else TITLES.get(name, name)]
    for change in changes:
        size, _, number = change.partition("=")
        words.append(f"{CHANGES.get(size, size)} {int(number):,}" if number.isdigit() else f"{size} {number}")
    return ", ".join(words)


def machine() -> str:
    """What the numbers were measured on."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    parts = [f"{_processor()}, {os.cpu_count()} cores", _system(), f"Python {platform.python_version()}"]
    parts.append(f"NumPy {np.__version__} ({blas['name']} {blas['version']})")
    for name, package in (("PyTorch", "torch"), ("numba", "numba"), ("CuPy", "cupy-cuda12x"), ("CuPy", "cupy-cuda13x")):
        try:
            parts.append(f"{name} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(parts)


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])


def ratio(row: Row) -> str:
    """ "0.91 (0.89-0.92)", and whether it is to be trusted."""
    low, high = row.quartiles
    return f"{row.ratio:.2f} ({low:.2f}-{high:.2f})" + (" not valid" if row.doubt else "")


def works_table(rows: Sequence[Row]) -> str:
    """Everything that was measured of the works, a line a peer."""
    header = [
        "work",
        "peer",
        "ratio to PyTorch (quartiles)",
        "ms",
        "memory above NumPy, MB",
        "losses differ by",
        "gradients differ by",
        "",
    ]
    return grid(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    peer = row.peer.replace("_", " ")
    if row.error:
        return [row.work, peer, *["-"] * 5, row.error.replace("|", "/")]
    notes = [row.doubt] if row.doubt else []
    if row.bytes_per_node is not None:
        notes.append(f"{row.bytes_per_node:.0f} bytes a node")
    differences = ["" if d is None else f"{d:.0e}" for d in (row.loss_difference, row.gradient_difference)]
    return [row.work, peer, ratio(row), f"{row.ms:.3g}", f"{row.megabytes:.0f}", *differences, "; ".join(notes)]


def page_table(rows: Sequence[Row], imports: dict[str, Any] | None) -> str:
    """What docs/speed.md shows: a line for each of a few works."""
    by_peer: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_peer.setdefault(row.work, {})[row.peer] = row
    lines = []
    for work in [name for name in ON_PAGE if name in by_peer]:
        peers = {name: row for name, row in by_peer[work].items() if not row.error}
        if "minigrad" not in peers:
            continue
        own, torch = peers["minigrad"], peers[REFERENCE]
        fast = ratio(peers["minigrad_fast"]) if "minigrad_fast" in peers else ""
        again = f"{peers[AGAIN].ratio:.2f}" if AGAIN in peers else ""
        lines.append([title(work), ratio(own), fast, again, f"{own.megabytes:.0f} ({torch.megabytes:.0f})"])
    header = [
        "",
        "ratio to PyTorch eager (quartiles)",
        "with numba",
        "noise: PyTorch run 2 / run 1",
        "peak memory beyond NumPy's own, MB (PyTorch's)",
    ]
    text = [grid(header, lines), rows[0].machine if rows else ""]
    if imports:
        text.append(import_sentence(imports))
    return "\n\n".join(part for part in text if part)


def import_sentence(imports: dict[str, Any]) -> str:
    ms = imports["ms"]
    return (
        f"`import minigrad` takes {ms['minigrad']:.0f} ms where NumPy alone takes {ms['numpy']:.0f}"
        + (f" and PyTorch {ms['torch']:.0f}" if "torch" in ms else "")
        + "."
    )


def replace_between(text: str, new: str) -> str:
    """``text`` with ``new`` between the two comments that mark the table's place.

    Raises:
        ValueError: the comments are not there, each once and in order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in before + after:
        raise ValueError(f"the table's place is not marked: write the lines\n{BEGIN}\n{END}\nwhere it is to stand")
    return f"{before}{BEGIN}\n{new}\n{END}{after}"


def write_page(file: Path = PAGE, results: Path = RESULTS) -> None:
    """Put the latest table into docs/speed.md: real works and the suite's own, of one machine."""
    rows = [row for name in ("works", "real") for row in read_rows(results / f"{name}.json")]
    rows = [row for row in rows if row.machine == rows[-1].machine]
    imports = results / "imports.json"
    known = json.loads(imports.read_text(encoding="utf-8")) if imports.exists() else None
    file.write_text(
        replace_between(file.read_text(encoding="utf-8"), page_table(rows, known)), encoding="utf-8", newline="\n"
    )


def save_works(rows: Sequence[Row], folder: Path = RESULTS, name: str = "works", device: str = "") -> None:
    """Write the rows beside those that are there of other works, if they are of the same machine."""
    here = f"{device}, {machine()}" if device else machine()
    for row in rows:
        row.machine = here
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.json"
    new = {(row.work, row.peer) for row in rows}
    kept = [row for row in read_rows(file) if (row.work, row.peer) not in new and row.machine == here]
    order = list(TITLES)
    known = sorted([*kept, *rows], key=lambda row: order.index(row.work) if row.work in order else len(order))
    write(file, [asdict(row) for row in known])
    (folder / f"{name}.md").write_text(f"{here}\n\n{works_table(known)}\n", encoding="utf-8")


def read_rows(file: Path) -> list[Row]:
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return [Row(**row | {"quartiles": tuple(row["quartiles"])}) for row in found]


def write(file: Path, what: Any) -> None:
    file.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")
