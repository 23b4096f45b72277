"""The page of a debugged training: what was found, the loss and the gradients of all steps, the batch, and the stepper."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..graph.pages.html import Page, check_language, page
from .finding import DebugFinding, sentences
from .look import FullLook
from .river import loss_svg
from .run import WatchedRun, index_arrays

ROWS, NUMBERS, ARRAYS, SIDE = 8, 12, 4, 84  # of a batch: rows, numbers of a row, arrays; pixels of a picture
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
const { steps, places, words } = pageData(), field = document.getElementById("step");
const filled = (text, values) => text.replace(/\\{(\\w+)\\}/g, (all, name) => values[name]);
function show(step) {
  const [loss, n, most, key] = steps[step];
  for (const group of document.querySelectorAll(".step")) {
    group.classList.toggle("chosen", +group.dataset.first <= step && step <= +group.dataset.last);
  }
  field.value = step;
  document.getElementById("chosen").textContent =
    filled(words.note, { step, loss, n }) + (n ? filled(words.largest, { most }) + (places[key] ?? "") : "");
}
for (const group of document.querySelectorAll(".step")) {
  group.addEventListener("click", () => show(+group.dataset.step));
}
field.addEventListener("input", () => steps[+field.value] && field.value !== "" && show(+field.value));
"""


def debug_page(
    path: str | os.PathLike[str], text: str, run: WatchedRun, findings: Sequence[DebugFinding], language: str
) -> Page:
    """Write the page. ``text`` is the paragraph of the findings; the page opens at the first one.

    Raises:
        ArgumentError: ``language`` is neither "en" nor "ja".
    """
    check_language(language, "debug")
    words, watcher = sentences(language)["page"], run.watcher
    step = findings[0].step if findings else run.last.step
    look = min(run.looks, key=lambda look: (abs(look.step - step), look.step))
    bad = watcher.origin if look.step != step and watcher.origin is not None and watcher.origin.step == step else None
    again = bad if bad is not None and bad.loss is not None else None
    said = [words["marked"].format(step)] * bool(findings)
    if look.step != step:
        said.append(words["again"].format(step) if again else words["near"].format(step, look.step))
    field = f'<input id="step" type="number" min="0" max="{watcher.steps - 1}">'
    body = [f"<h1>{words['heading']}</h1><pre>{escape(text)}</pre>" + f"<p>{words['grades']}</p>" * bool(findings)]
    body.append(f'<div class="curves">{_curves(run, words, step if findings else None)}</div><p>{" ".join(said)}</p>')
    body.append(f'<p>{words["hint"]} <label>{words["go"]} {field}</label></p><p id="chosen" aria-live="polite"></p>')
    arrays = list(batch_arrays(look))[:ARRAYS]
    batch = "".join(_array(name, array, run.names, words["more"]) for name, array in arrays)
    body += [f'<h2>{words["batch"].format(look.step)}</h2><div class="batch">{batch}</div>'] * bool(batch)
    inner = ""
    if findings:  # it takes longer than all checks together
        loss, shown = (look.loss, look.step) if again is None else (again.loss, step)
        operation = _operation(look, findings[0]) if again is None else again.operation
        frame, inner = _stepper(loss, shown, operation, language)
        body.append(f"<h2>{words['stepper'].format(shown)}</h2><p>{words['walk']}</p>{frame}")
    saved = Page(path)
    whole = page(
        words["heading"], "\n".join(body), SCRIPT, _numbers(run, words), STYLE, language=language, framed=inner
    )
    saved.write_text(whole, encoding="utf-8")
    return saved


def _curves(run: WatchedRun, words: Mapping[str, str], mark: int | None) -> str:
    """Return the drawings of the loss and of the gradients; the losses of different lines are curves of their own."""
    places = run.watcher.places
    several = len({place for place in places if place is not None}) > 1
    lines = [words["line"].format(place[1]) if place else "" for place in places] if several else ()
    return loss_svg(run.watcher.losses, words["loss"], mark, lines, words["log"]) + run.watcher.river.svg(
        words["river"], mark
    )


def _operation(look: FullLook, finding: DebugFinding) -> int:
    """Return the place on the tape of the operation that a finding is about, from 1; 0 if it has none."""
    name = finding.facts.get("operation")
    found = [(node.operation == name, i) for i, node in enumerate(look.operations, 1) if node.at in finding.places]
    return max(found, default=(False, 0))[1]


def _stepper(loss: Any, step: int, operation: int, language: str) -> tuple[str, str]:
    """Return the stepper of a step, framed, at the operation of a finding; and its text."""
    from ..graph.pages.explain import explain  # takes a tenth of a second, which a run without a page saves

    with tempfile.TemporaryDirectory() as folder:
        inner = explain(loss, Path(folder, "stepper.html"), language=language, step=step, check=False)
        frame, text = inner.iframe(), inner.read_text(encoding="utf-8")
    return frame.replace("<iframe ", f'<iframe name="#step={operation}" ', 1), text


def _numbers(run: WatchedRun, words: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page says about each step: its loss, and the parameter with the largest gradient with its line."""
    bands = run.watcher.river.steps
    keys = list(dict.fromkeys(band.key for band in bands))
    paths = {node.key[1]: run.leaf_path(run.last, node) for node in run.last.leaves if isinstance(node.key, tuple)}
    places = []
    for path in map(paths.get, keys):
        at = run.made(path)
        line = f" ({Path(at[0]).name}:{at[1]}: {run.program.text(at)})" if at else ""
        places.append(words["in"].format(name=path) + line if path else "")
    numbers = {key: i for i, key in enumerate(keys)}
    steps = [
        (f"{loss:.4g}", band.number, f"{band.most:.3g}", numbers[band.key])
        for loss, band in zip(run.watcher.losses, bands)
    ]
    return {"steps": steps, "places": places, "words": {name: words[name] for name in ("note", "largest")}}


def batch_arrays(look: FullLook) -> Iterator[tuple[str, Any]]:
    """Yield the given arrays of several rows that enter the tape of a step, and the indices, each once with its name."""
    found: set[int] = set()
    for node in look.operations:
        given = [(use.argument, use.raw) for use, source in look.operands(node) if source.kind == "constant"]
        given += [("index", array) for array in index_arrays(node)]
        for label, array in given:
            data = (
                isinstance(array, np.ndarray) and array.size > 1 and array.ndim and array.dtype.kind != "b"
            )  # no mask
            name = look.path(array) if data else None
            if data and id(array) not in found and "._" not in (name or ""):  # nor what a module holds
                found.add(id(array))
                yield name or f"{label} of {node.operation}", array


def _array(name: str, array: Any, variables: Mapping[str, Any], more: str) -> str:
    """Return the HTML of an array: rows of numbers, a picture for each row that is one, text for tokens of a vocabulary."""
    return f"<section><h3>{escape(name)} {array.shape} {array.dtype}</h3>{_rows(array, variables, more)}</section>"


def _rows(array: Any, variables: Mapping[str, Any], more: str) -> str:
    rest = f"<p>{more.format(len(array) - ROWS)}</p>" * (len(array) > ROWS)
    side = math.isqrt(math.prod(array.shape[1:]))
    square = array.shape[1:] in ((side, side), (side * side,), (1, side, side), (side, side, 1))
    if square and 6 <= side <= 32 and array.dtype.kind in "fiu":
        return "".join(_picture(row.reshape(side, side)) for row in array[:ROWS]) + rest
    vocabulary = _vocabulary(array, variables)
    if vocabulary is not None:
        rows = ["".join(vocabulary[i] for i in np.ravel(row)[:200]) for row in np.atleast_2d(array)[:ROWS]]
        return f"<pre>{escape(chr(10).join(rows))}</pre>" + rest
    flat = array.reshape(len(array), -1)  # targets stand row by row, as the inputs beside them
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
    known = [
        value
        for value in variables.values()
        if isinstance(value, (str, list, tuple))
        and array.max() < len(value) <= 100_000
        and all(isinstance(each, str) for each in value)
        and len(set(value)) == len(value) <= 2 * array.max() + 2
    ]
    return known[0] if len(known) == 1 else None
