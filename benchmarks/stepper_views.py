"""What a reader sees of the stepper: ten programs in four windows, at the first sight and at every step.

``python -m benchmarks views`` prints a row for each window: the boxes that are wholly in sight, the share of steps with both
ends of the arrow in sight, the presses that take over 100 ms, the smallest text in the graph and the formula, the size of the
pages, and the time to open one. Needs playwright and chromium or Chrome.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import minigrad as mg
import nn
from benchmarks import report
from benchmarks.pages import OPENED, chromium, gpt
from minigrad import Tensor

WINDOWS = {"desk": (1280, 720), "large": (1920, 1080), "phone": (390, 844), "projector": (1280, 720)}
MOST_STEPS = 24  # steps of one program that are looked at
SLOW = 100  # ms
PRESSED = """() => new Promise((done) => {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  document.body.getBoundingClientRect();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
# Boxes are rectangles of at least 3 px that lie wholly in the graph's pane. The camera tells which ends the pane holds.
SEEN = """() => {
  const pane = find("graph").getBoundingClientRect();
  const whole = (r) => r.width >= 3 && r.left >= pane.left - 1 && r.right <= pane.right + 1
    && r.top >= pane.top - 1 && r.bottom <= pane.bottom + 1;
  const boxes = [...document.querySelectorAll(".box:not(.absent) .shape")].filter((one) => whole(one.getBoundingClientRect()));
  const small = view.picture ? view.picture.inSight : 0;
  const at = timeline.at(state.step);
  const needed = at === null ? 0 : at.kind === "forward" && operandsOf(at.target).length === 0 ? 1 : 2;
  const ends = view.current.filter(({ box }) => view.boxes[box] && camera.isInside(view.boxes[box].about, view.pane));
  const all = view.current.length >= Math.min(needed, 2) && ends.length === view.current.length;
  const texts = [...document.querySelectorAll("#title-section *, svg.scene text, #controls *, #place *")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true })
      && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ""))
    .map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.closest(".world") ? camera.scale : 1));
  return [boxes.length + small, all, Math.min(...texts)];
}"""


def scalars() -> Tensor:
    w, x = Tensor(0.5, requires_grad=True, name="w"), Tensor(0.8, requires_grad=True, name="x")
    loss: Tensor = (w * x + w) ** 2
    return loss


def perceptron() -> Tensor:
    rng = np.random.default_rng(0)
    sizes = ((4, 8), (8,), (8, 8), (8,), (8, 1), (1,))
    W1, b1, W2, b2, W3, b3 = (Tensor(rng.normal(size=size), requires_grad=True) for size in sizes)
    x, y = rng.normal(size=(16, 4)), rng.normal(size=(16, 1))
    h = np.tanh(x @ W1 + b1)
    h = np.tanh(h @ W2 + b2)
    error = h @ W3 + b3 - y
    loss: Tensor = (error * error).mean()
    return loss


def recurrent() -> Tensor:
    rng = np.random.default_rng(0)
    W, U, b = (Tensor(rng.normal(size=shape) / 4, requires_grad=True) for shape in ((3, 8), (8, 8), (8,)))
    h: Any = np.zeros(8)
    for x in rng.normal(size=(20, 3)):
        h = np.tanh(x @ W + h @ U + b)
    loss: Tensor = (h * h).sum()
    return loss


class Neuron:
    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.w = [Tensor(rng.normal(), requires_grad=True) for _ in range(count)]
        self.b = Tensor(0.1, requires_grad=True)

    def __call__(self, x: Any) -> Any:
        return np.tanh(sum((wi * xi for wi, xi in zip(self.w, x)), self.b))


class Layer:
    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        self.neurons = [Neuron(inputs, rng) for _ in range(outputs)]

    def __call__(self, x: Any) -> Any:
        return [neuron(x) for neuron in self.neurons]


def neurons() -> Tensor:
    rng = np.random.default_rng(0)
    layers = [Layer(2, 4, rng), Layer(4, 4, rng), Layer(4, 1, rng)]
    loss: Any = Tensor(0.0)
    for x, y in [((0.5, -1.0), 1.0), ((-0.3, 0.8), -1.0)]:
        out: Any = x
        for layer in layers:
            out = layer(out)
        loss = loss + (out[0] - y) ** 2
    result: Tensor = loss
    return result


def block() -> Tensor:
    rng = np.random.default_rng(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, rng=rng)
    loss: Tensor = (layer(rng.normal(size=(2, 5, 8)).astype(np.float32)) ** 2).mean()
    return loss


def attention() -> Tensor:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 6))
    Wq, Wk, Wv, Wo = (Tensor(rng.normal(size=(6, 6)) / 2, requires_grad=True) for _ in range(4))
    heads: list[Any] = []
    for i in range(2):
        part = slice(3 * i, 3 * i + 3)
        q, k, v = x @ Wq[:, part], x @ Wk[:, part], x @ Wv[:, part]
        scores = q @ k.T / np.sqrt(3.0)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        heads.append(e / e.sum(axis=-1, keepdims=True) @ v)
    out = np.concatenate(heads, axis=-1) @ Wo
    loss: Tensor = (out * out).mean()
    return loss


def normalised() -> Tensor:
    rng = np.random.default_rng(0)
    x = Tensor(rng.normal(size=(4, 6)), requires_grad=True)
    gain, shift = Tensor(np.ones(6), requires_grad=True), Tensor(np.zeros(6), requires_grad=True)
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    y = gain * centred / np.sqrt(variance + 1e-5) + shift
    loss: Tensor = (y**3).sum()
    return loss


def list_of_operations() -> Tensor:
    rng = np.random.default_rng(0)
    x = Tensor(0.3, requires_grad=True)
    values: list[Any] = [x]
    kinds = [np.sin, np.tanh, np.cos, np.arctan]
    for i in range(200):
        a, b = (values[int(rng.integers(max(0, len(values) - back), len(values)))] for back in (6, 30))
        values.append(kinds[int(rng.integers(4))](a) if i % 2 else a * b)
    loss: Tensor = sum(values[-5:], values[0])
    return loss


def second_derivatives() -> Tensor:
    x, w = Tensor(0.7, requires_grad=True), Tensor(1.3, requires_grad=True)
    y: Any = np.sin(w * x) * x + np.exp(-x * x)
    (slope,) = mg.autograd_grad(y, [x], create_graph=True)
    loss: Tensor = slope * slope
    return loss


PROGRAMS: list[Callable[[], Tensor]] = [
    scalars, perceptron, recurrent, neurons, block, lambda: gpt(44), attention, normalised, list_of_operations,
    second_derivatives,
]  # fmt: skip


@dataclass
class Found:
    """What was seen in one window: of each program its first sight, opening and size; of each step the rest."""

    first: list[int] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)
    both: list[bool] = field(default_factory=list)
    presses: list[float] = field(default_factory=list)
    text: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)


def look(found: Found, path: Path, window: str, browser: Any) -> None:
    """Open a page, and look at it at its first sight and at its steps."""
    width, height = WINDOWS[window]
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(path.resolve().as_uri())
    found.opened.append(page.evaluate(OPENED) / 1000)
    if window == "projector":
        page.keyboard.press("p")
    found.first.append(page.evaluate(SEEN)[0])
    count = page.evaluate("timeline.count")
    for step in range(0, count, max(1, count // MOST_STEPS)):
        page.evaluate(f"go({step})")
        found.presses.append(page.evaluate(PRESSED))
        boxes, both, text = page.evaluate(SEEN)
        found.boxes.append(boxes)
        found.both.append(both)
        found.text.append(text)
    context.close()


def table() -> str:
    """Raises FileNotFoundError: there is no browser; MissingExtraError: no playwright."""
    head = ["window", "boxes at first", "boxes, median", "both ends", f"presses > {SLOW} ms", "slowest (ms)",
            "smallest text (px)", "opens in (s)", "page (MB)"]  # fmt: skip
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        paths = [Path(folder, f"{i}.html") for i in range(len(PROGRAMS))]
        for path, program in zip(paths, PROGRAMS):
            with mg.trace():
                loss = program()
            mg.explain(loss, path)
        size = sum(path.stat().st_size for path in paths) / len(paths) / 1e6
        for window, (width, height) in WINDOWS.items():
            found = Found()
            for path in paths:
                look(found, path, window, browser)
            slow = sum(time > SLOW for time in found.presses)
            rows.append(
                [
                    f"{window} {width} x {height}",
                    f"{median(found.first):.0f}",
                    f"{median(found.boxes):.0f}",
                    f"{sum(found.both) / len(found.both):.1%} of {len(found.both)}",
                    str(slow),
                    f"{max(found.presses):.0f}",
                    f"{min(found.text):.1f}",
                    f"{median(found.opened):.2f}",
                    f"{size:.2f}",
                ]
            )
            print(rows[-1], flush=True)
    return report.grid(head, rows)
