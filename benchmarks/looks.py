"""What is wrong with what the stepper's pages show: those of the lessons and of six programs, at every stop and at
thirteen steps from the first to the last.

``python -m benchmarks looks`` opens each page in three windows, as a page and in projector mode, light and dark, in English and
Japanese. A row of its table is one of these looks: the names that are in or beside their own boxes, what is cut, what answers a
question too early, the smallest text, and what the browser reported. Needs playwright and chromium or Chrome.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
import nn
from benchmarks import report
from benchmarks.pages import chromium
from minigrad import Tensor
from models.gpt import GPT, GPTConfig

LESSONS = Path(__file__).parents[1] / "examples" / "lessons"
WINDOWS = {"desk": (1280, 720), "large": (1920, 1080), "phone": (390, 844)}
LOOKS = [(projector, theme, language) for projector in (False, True) for theme, language in
         (("light", "en"), ("dark", "en"), ("light", "ja"))]  # fmt: skip
SECONDS = 300  # a browser on a busy machine may take
SPREAD = 12  # steps of a page, from the first to the last, besides its stops
PROJECTED = 24  # px: the smallest text in projector mode; elsewhere it is 12
# [names, sentences about what is wrong, the smallest text in px]. A name is complete if it is the label of its box, or the
# operation in another form. Elements that the reader can scroll count as cut only where the projector shows them.
SEEN = """
const seen = () => {
  const wrong = [];
  const pane = find("graph").getBoundingClientRect();
  const rectOf = (one) => one.getBoundingClientRect();
  const common = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  const over = (a, b) => common(a, b, "left", "right") > 1 && common(a, b, "top", "bottom") > 1;
  const inside = (a, b) => a.left > b.left - 1 && a.right < b.right + 1 && a.top > b.top - 2 && a.bottom < b.bottom + 2;
  const whole = state.step === 0 && state.scene === 0;
  const boxes = view.boxes.filter(({ group }) => !group.classList.contains("absent"))
    .map((box) => ({ box, rect: rectOf(box.shape), text: box.texts.name }));
  const texts = [];
  let names = 0;
  for (const { box, rect, text } of boxes) {
    if (text.textContent === "" || getComputedStyle(text).visibility === "hidden") continue;
    names++;
    const own = rectOf(text);
    if (!inside(own, rect)) wrong.push(`the name ${text.textContent} leaves its box`);
    const said = text.textContent.replace("▸ ", "");
    const complete = [...box.names, ...(box.called ?? [])].includes(said);
    if (!complete && inside(rect, pane)) wrong.push(`the name ${text.textContent} of ${box.names[0]} is cut`);
    texts.push({ box, rect: own, name: text.textContent });
  }
  const tags = [...document.querySelectorAll(".tags .card")]
    .map((tag) => ({ rect: rectOf(tag.querySelector("text")), name: tag.textContent }));
  for (const tag of tags) {
    names++;
    if (!inside(tag.rect, pane)) wrong.push(`the name ${tag.name} leaves the pane`);
    const covered = boxes.filter(({ rect }) => over(tag.rect, rect)).map(({ box }) => box.names[0]);
    if (covered.length > 0) wrong.push(`the name ${tag.name} covers ${covered.join(", ")}`);
  }
  const all = [...texts, ...tags];
  all.forEach((a, i) => all.slice(i + 1).forEach((b) => {
    if (over(a.rect, b.rect)) wrong.push(`the names ${a.name} and ${b.name} overlap`);
  }));
  const cards = [...document.querySelectorAll(".cards .card")];
  const ends = ({ group, index }) => whole || (group.dataset.end && !cards.some((card) => Number(card.dataset.box) === index));
  for (const { box, text } of boxes.filter(({ box }) => ends(box))) {
    const says = ({ name }) => box.names.some((one) => one.startsWith(name.endsWith("…") ? name.slice(0, -1) : name));
    const named = text.textContent !== "" || tags.some(says);
    if (!named) wrong.push(`${box.names[0]} has no name`);
  }
  const scrolled = document.body.classList.contains("projector") ? ["card", "code-pane", "title-section"] : [];
  for (const id of scrolled) if (find(id).scrollHeight > find(id).clientHeight + 1) wrong.push(`${id} is cut`);
  for (const part of document.querySelectorAll("#title-section math, .equation")) {
    if (part.scrollWidth > part.clientWidth + 1) wrong.push(`the formula ${equation.text(state.step)} is cut`);
  }
  if (quiz.hides(state.step)) {
    if (!equation.text(state.step).trim().endsWith("?")) wrong.push("the formula shows what is asked");
    if (document.querySelector(".said p") !== null) wrong.push("the text answers what is asked");
  }
  const early = lesson.asks && !timeline.known(graph.end[0], state.step);
  if (early && /= .*\\d/.test(find("play-loss")?.textContent ?? "")) wrong.push("the panel shows the result too early");
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is wider than its window");
  const sizes = [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen, option, noscript")
      && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ""))
    .map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.closest(".world") ? camera.scale : 1));
  return [names, [...new Set(wrong)], Math.min(...sizes)];
};
"""
# Goes in one language and mode to steps from the first to the last, to the stops of the lesson, and to each stop once more when
# it is answered. Returns for each of these [what it is, ...what is seen].
LOOK = f"""async ([language, projector]) => {{
  const SPREAD = {SPREAD};
  {SEEN}
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  quiz.results.clear();
  lesson.chosen.clear();
  find("language").value = language;
  find("language").dispatchEvent(new Event("change"));
  if (document.body.classList.contains("projector") !== projector) toggleProjector();
  const found = [];
  const spread = [...Array(SPREAD + 1).keys()].map((i) => Math.round((i * timeline.count) / SPREAD));
  for (const step of [...new Set([...spread, ...lesson.places()])].sort((a, b) => a - b)) {{
    go(step);
    await painted();
    found.push([`step ${{step}}`, ...seen()]);
    const reveal = document.querySelector("[data-key=reveal], [data-key=reveal-choice]");
    if (reveal === null) continue;
    reveal.click();
    await painted();
    found.push([`step ${{step}}, answered`, ...seen()]);
  }}
  return found;
}}"""


def lstm_cell() -> Tensor:
    """An LSTM cell by hand: twelve leaves."""
    rng = np.random.default_rng(1)
    n, d = 3, 2
    x, h0, c0, target = (
        Tensor(value, requires_grad=True)
        for value in ([0.5, -1.0], [0.1, -0.2, 0.3], [0.4, 0.0, -0.5], [0.0, 1.0, 0.0])
    )
    Wi, Wf, Wo, Wg = (Tensor(rng.normal(size=(n, d + n)) / 2, requires_grad=True) for _ in range(4))
    bi, bf, bo, bg = (Tensor(np.zeros(n), requires_grad=True) for _ in range(4))

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    z = np.concatenate([x, h0])
    i = sigmoid(Wi @ z + bi)
    f = sigmoid(Wf @ z + bf)
    o = sigmoid(Wo @ z + bo)
    g = np.tanh(Wg @ z + bg)
    c = f * c0 + i * g
    h = o * np.tanh(c)
    loss: Tensor = np.sum((h - target) ** 2)
    return loss


def lstm_loop() -> Tensor:
    """A loop over h and c."""
    rng = np.random.default_rng(1)
    xs = rng.normal(size=(5, 2))
    W, b = Tensor(rng.normal(size=(12, 5)) / 2, requires_grad=True), Tensor(np.zeros(12), requires_grad=True)

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    h: Any = np.zeros(3)
    c: Any = np.zeros(3)
    for t in range(5):
        a = W @ np.concatenate([xs[t], h]) + b
        i, f, o, g = sigmoid(a[:3]), sigmoid(a[3:6]), sigmoid(a[6:9]), np.tanh(a[9:])
        c = f * c + i * g
        h = o * np.tanh(c)
    loss: Tensor = np.sum(h**2)
    return loss


def softmax_regression() -> Tensor:
    X = np.array([[5.1, 3.5], [4.9, 3.0], [7.0, 3.2], [6.4, 3.2], [6.3, 3.3], [5.8, 2.7]])
    y = np.array([0, 0, 1, 1, 2, 2])
    W, b = Tensor([[0.1, -0.2, 0.1], [0.3, 0.0, -0.3]], requires_grad=True), Tensor(np.zeros(3), requires_grad=True)
    logits = X @ W + b
    e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    picked = p[np.arange(6), y]
    loss: Tensor = -np.mean(np.log(picked))
    return loss


def two_layers() -> Tensor:
    """A net of two layers on six points."""
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 0.2], [0.3, 0.9], [0.9, 0.1], [-0.5, 0.4], [-0.8, -0.6], [0.2, -0.9]])
    y = np.array([[1.0], [1.0], [0.0], [0.0], [1.0], [0.0]])
    W1, b1 = Tensor(rng.normal(size=(2, 4)), requires_grad=True), Tensor(np.zeros(4), requires_grad=True)
    W2, b2 = Tensor(rng.normal(size=(4, 1)), requires_grad=True), Tensor(np.zeros(1), requires_grad=True)
    hidden = np.tanh(X @ W1 + b1)
    p = 1 / (1 + np.exp(-(hidden @ W2 + b2)))
    loss: Tensor = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    return loss


def gpt_block() -> Tensor:
    config = GPTConfig(vocab_size=12, window=6, d_model=8, num_heads=2, num_layers=1)
    model = GPT(config, rng=np.random.default_rng(0))
    logits: Any = model(np.array([[1, 4, 2, 7, 3, 9]]))
    loss: Tensor = (logits**2).mean()
    return loss


class Net(nn.Module):
    def __init__(self, rng: np.random.Generator) -> None:
        self.conv1, self.conv2 = nn.Conv2d(1, 3, 3, rng=rng), nn.Conv2d(3, 4, 3, rng=rng)
        self.pool, self.out = nn.MaxPool2d(2), nn.Affine(16, 3, rng=rng)

    def forward(self, images: Any) -> Any:
        h: Any = self.pool(np.maximum(self.conv1(images), 0))
        h = np.maximum(self.conv2(h), 0)
        return self.out(h.reshape(len(h), -1))


def cnn() -> Tensor:
    rng = np.random.default_rng(1)
    images, labels = rng.random((2, 1, 10, 10)).astype(np.float32), np.array([0, 2])
    logits = Net(rng)(images)
    loss: Tensor = nn.cross_entropy(logits, labels)
    return loss


PROGRAMS: list[Callable[[], Tensor]] = [lstm_cell, lstm_loop, softmax_regression, two_layers, gpt_block, cnn]


def pages_of_programs(folder: Path) -> Iterator[Path]:
    for program in PROGRAMS:
        with mg.trace():
            loss = program()
        loss.backward(retain_graph=True)
        yield Path(mg.explain(loss, folder / f"{program.__name__}.html"))


def pages_of_lessons(folder: Path) -> list[Path]:
    """Run the lessons of examples/lessons, and return their pages."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    here = os.getcwd()
    os.chdir(folder)
    try:
        for path in sorted(LESSONS.glob("[0-9]*.py")):
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(path))
            pyplot.close("all")
    finally:
        os.chdir(here)
    return sorted((folder / "out" / "lessons").glob("*.html"))


def least(window: str, projector: bool) -> int:
    """Return the smallest size that text may have, in px: on a phone, projector mode is for one reader."""
    return PROJECTED if projector and window != "phone" else 12


def look(page: Any, window: str, projector: bool, language: str) -> tuple[int, list[str], float]:
    """Return the names in sight, what is wrong, and the smallest text."""
    names, wrong, smallest = 0, list[str](), 1000.0
    for state, found, sentences, size in page.evaluate(LOOK, [language, projector]):
        names, smallest = names + found, min(smallest, size)
        wrong += [f"{state}: {sentence}" for sentence in sentences]
        wrong += [f"{state}: a text of {size:.1f} px"] * (size < least(window, projector) - 0.01)
    return names, wrong, smallest


def measure(page: Any, path: Path, window: str, troubles: list[str]) -> Iterator[tuple[int, list[str], float]]:
    """Open a page in a window, give it each of the LOOKS, and add what the browser reports."""
    page.set_viewport_size(dict(zip(("width", "height"), WINDOWS[window])))
    page.goto(path.resolve().as_uri())
    for projector, theme, language in LOOKS:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        names, wrong, smallest = look(page, window, projector, language)
        yield names, wrong + troubles, smallest
        troubles.clear()


def table(windows: Sequence[str] = tuple(WINDOWS), most: int | None = None) -> str:
    """Raises FileNotFoundError: there is no browser; MissingExtraError: no playwright."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [*pages_of_programs(Path(folder)), *pages_of_lessons(Path(folder))][:most]
        return table_of(paths, windows)


def table_of(paths: Sequence[Path], windows: Sequence[str]) -> str:
    """One tab of one browser shows all pages."""
    rows, sentences = list[list[str]](), list[str]()
    with chromium() as browser:
        page, troubles = browser.new_page(), list[str]()
        page.set_default_timeout(SECONDS * 1000)
        page.on(
            "console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        for window in windows:
            found = [list(measure(page, path, window, troubles)) for path in paths]
            for (projector, theme, language), seen in zip(LOOKS, zip(*found)):
                mode = "projector" if projector else "page"
                how = f"{window}, {mode}, {theme}, {language}"
                sentences += [f"{path.stem}, {how}, {one}" for path, (_, said, _) in zip(paths, seen) for one in said]
                names, wrong = sum(one[0] for one in seen), sum(len(one[1]) for one in seen)
                smallest = min(one[2] for one in seen)
                rows.append([window, mode, theme, language, f"{names:,}", f"{smallest:.0f}", str(wrong)])
                print(rows[-1], flush=True)
    head = ["window", "mode", "theme", "language", "names", "smallest text (px)", "wrong"]
    return "\n\n".join([f"{len(paths)} pages", report.grid(head, rows), "\n".join(sentences) or "Nothing is wrong."])
