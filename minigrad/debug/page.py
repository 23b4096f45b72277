"""The page of a debugged training: what was found, the loss and the gradients of all steps, the batch, and the stepper."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..graph.pages.explain import explain
from ..graph.pages.html import Page, check_language, page
from .river import loss_svg
from .watched import Seen, WatchedRun

ROWS, NUMBERS, ARRAYS, SIDE = 8, 12, 4, 84  # of a batch: rows, numbers of a row, arrays; pixels of a picture
WORDS = {
    "en": {
        "heading": "What minigrad debug found", "batch": "The batch of step {}", "stepper": "Step {}, one operation at a time",
        "more": "{} more rows", "hint": "Click a step to see its numbers.", "loss": "Loss",
        "river": "Size of the gradients: 10 to 90 % of the parameters (blue), the largest (orange)",
    },
    "ja": {
        "heading": "minigrad debug が見つけたこと", "batch": "ステップ {} のバッチ", "stepper": "ステップ {} を一演算ずつ",
        "more": "ほかに {} 行", "hint": "ステップをクリックすると値を表示します。", "loss": "損失",
        "river": "勾配の大きさ: パラメータの 10 ～ 90 %（青）と最大値（橙）",
    },
}  # fmt: skip
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 0 auto; padding: 0 1rem; color-scheme: light dark; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; } h3 { font-size: 1rem; margin: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.95rem; }
.curves { overflow-x: auto; } .curves svg { display: block; width: 100%; height: auto; min-width: 42rem; max-width: 70rem; }
.batch { display: flex; flex-wrap: wrap; gap: 1rem 2rem; } section { overflow-x: auto; } section svg { margin: 2px; }
td { padding: 0 0.5rem; text-align: right; white-space: nowrap; } iframe { border: 1px solid #888; }
.step:hover rect:first-of-type { fill: #8884; } .chosen rect:first-of-type { fill: #e0802066; }
"""
SCRIPT = """
const { notes } = pageData();
for (const group of document.querySelectorAll(".step")) {
  group.addEventListener("click", () => {
    for (const other of document.querySelectorAll(".step")) {
      other.classList.toggle("chosen", other.dataset.step === group.dataset.step);
    }
    document.getElementById("chosen").textContent = notes[group.dataset.step];
  });
}
"""


def debug_page(path: str | os.PathLike[str], text: str, watched: WatchedRun, seen: Seen, language: str) -> Page:
    """Write the page. ``text`` is the paragraph of the findings, and ``seen`` the look whose step it shows.

    Raises:
        ArgumentError: ``language`` is neither "en" nor "ja".
    """
    check_language(language, "debug")
    words = WORDS[language]
    with tempfile.TemporaryDirectory() as folder:
        inner = explain(seen.look.loss, Path(folder, "stepper.html"), language=language, step=seen.step, check=False)
        frame, scripts = inner.iframe(), inner.read_text(encoding="utf-8")
    watcher = watched.watcher
    body = [f"<h1>{words['heading']}</h1><pre>{escape(text)}</pre>"]
    curves = loss_svg(watcher.losses, words["loss"]) + watcher.river.svg(words["river"])
    body.append(f'<div class="curves">{curves}</div><p id="chosen" aria-live="polite">{words["hint"]}</p>')
    batch = "".join(
        _array(name, array, watcher.globals, words["more"]) for name, array in list(batch_arrays(seen))[:ARRAYS]
    )
    body += [f'<h2>{words["batch"].format(seen.step)}</h2><div class="batch">{batch}</div>'] * bool(batch)
    body.append(f"<h2>{words['stepper'].format(seen.step)}</h2>{frame}")
    saved = Page(path)
    data = {
        "notes": {step: _note(watched, step) for step in sorted({*map(int, re.findall(r'data-step="(\d+)"', curves))})}
    }
    saved.write_text(
        page(words["heading"], "\n".join(body), SCRIPT, data, STYLE, language=language, framed=scripts),
        encoding="utf-8",
    )
    return saved


def _note(watched: WatchedRun, step: int) -> str:
    """Return the sentence about a step: its loss, its largest gradient, and the line that made that parameter."""
    watcher = watched.watcher
    band = watcher.river.steps[step]
    text = f"Step {step}: loss {watcher.losses[step]:.4g}; gradients of {band.number} parameters"
    if not band.number:
        return text + "."
    tensor = next(
        (t for seen in watched.seen[-1:] for _, _, t in seen.look.leaves if t is not None and id(t) == band.key), None
    )
    name = watched.seen[-1].look.path(tensor) if tensor is not None else None
    text += f", the largest {band.most:.3g}" + f" in {name}" * (name is not None)
    line, source = watched.of_path(name), watched.source()
    return text + (f" ({Path(source.file).name}:{line}: {source.text(line)})." if line and source is not None else ".")


def batch_arrays(seen: Seen) -> Iterator[tuple[str, Any]]:
    """Yield the given arrays of several rows that enter the tape of a step, and the indices, each once with its name."""
    found: set[int] = set()
    for node in seen.graph.operations():
        given = [
            (n.label, seen.arrays.get((node.id, e.argument), e.value))
            for e, n in seen.operands(node)
            if n.kind == "constant"
        ]
        for keyword, value in node.keywords.items():
            given += [(f"{keyword} of {node.label}", part) for part in (value if isinstance(value, tuple) else [value])]
        for label, array in given:
            data = (
                isinstance(array, np.ndarray) and array.ndim and array.size > 1 and array.dtype.kind != "b"
            )  # no mask
            if data and id(array) not in found and ".constant" not in label:  # nor what a module holds
                found.add(id(array))
                yield seen.look.path(array) or label, array


def _array(name: str, array: Any, variables: Mapping[str, Any], more: str) -> str:
    """Return the HTML of an array: rows of numbers, a picture for each row that is one, text for tokens of a vocabulary."""
    return f"<section><h3>{escape(name)} {array.shape} {array.dtype}</h3>{_rows(array, variables, more)}</section>"


def _rows(array: Any, variables: Mapping[str, Any], more: str) -> str:
    rest = f"<p>{more.format(len(array) - ROWS)}</p>" * (len(array) > ROWS and array.ndim > 1)
    side = math.isqrt(math.prod(array.shape[1:]))
    square = array.shape[1:] in ((side, side), (side * side,), (1, side, side), (side, side, 1))
    if square and 6 <= side <= 32 and array.dtype.kind in "fiu":
        return "".join(_picture(row.reshape(side, side)) for row in array[:ROWS]) + rest
    vocabulary = _vocabulary(array, variables)
    if vocabulary is not None:
        rows = ["".join(vocabulary[i] for i in np.ravel(row)[:200]) for row in np.atleast_2d(array)[:ROWS]]
        return f"<pre>{escape(chr(10).join(rows))}</pre>" + rest
    flat = array.reshape(1 if array.ndim == 1 else len(array), -1)
    lines = []
    for row in flat[:ROWS]:
        cells = [
            f"<td>{value:.4g}</td>" if array.dtype.kind in "fiu" else f"<td>{escape(str(value))}</td>"
            for value in row[:NUMBERS]
        ]
        lines.append(f"<tr>{''.join(cells)}{'<td>…</td>' * (flat.shape[1] > NUMBERS)}</tr>")
    return f"<table>{''.join(lines)}</table>" + rest


def _picture(pixels: Any) -> str:
    low, high = float(pixels.min()), float(pixels.max())
    cells = []
    for y, row in enumerate(pixels):
        for x, value in enumerate(row):
            if value > low and math.isfinite(value):
                grey = round(255 * (1 - (float(value) - low) / (high - low)))
                cells.append(f'<rect x="{x}" y="{y}" width="1" height="1" fill="rgb({grey},{grey},{grey})"/>')
    back = f'<rect width="{len(pixels)}" height="{len(pixels)}" fill="#fff"/>'
    return f'<svg viewBox="0 0 {len(pixels)} {len(pixels)}" width="{SIDE}" height="{SIDE}">{back}{"".join(cells)}</svg>'


def _vocabulary(array: Any, variables: Mapping[str, Any]) -> Any:
    """Return the text or list of texts of the program that these numbers are indices of; None if no single one is."""
    if array.dtype.kind not in "iu" or array.min() < 0:
        return None
    words = ("vocab", "char", "letter", "token", "symbol", "itos", "alphabet")
    known = [
        value
        for name, value in variables.items()
        if any(word in name.lower() for word in words)
        and isinstance(value, (str, list, tuple))
        and array.max() < len(value) <= 100_000
        and all(isinstance(each, str) for each in value)
        and len(set(value)) == len(value)
    ]
    return known[0] if len(known) == 1 else None
