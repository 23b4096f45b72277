"""The pictures of slides: a lesson's own, with large letters, and the graphs of its pages, which a browser draws."""

from __future__ import annotations

import base64
import contextlib
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, BESIDE = 1120, 540, 670  # of a picture, and its width beside a text: px on a screen of 1280 x 720
ALONE_MARK = "alone"  # the description of a picture that needs the whole width
LETTER = 28  # px of the smallest letters there
GRAPH = 960, 310  # of a page whose letters have 24 pixels: the lower half of a slide
TALL = 560, 465  # of one whose graph fills less than two thirds of that in width: it stands at the right
# A card lies over a small box, so that it can be read; in a picture the two would be boxes in boxes.
ALONE = """body > :not(main), main > :not(#graph-pane), #place, .cards { display: none !important; }
.box[data-mute=covered] .label { visibility: visible !important; }
body.projector { grid-template-rows: minmax(0, 1fr) !important; }
body.projector main { grid-template: "graph" minmax(0, 1fr) / minmax(0, 1fr) !important; }"""  # the graph of a page, alone
# The equation of a step whose number is asked for, with the numbers that it is computed from. A page shows these with the
# answer, which becomes "?" again. Arrays have too many numbers for a line: their equation has names alone.
EQUATION = """() => {
  const line = document.querySelector(".equation");
  const answer = line?.querySelector(".answer")?.outerHTML ?? "";
  if (!answer.includes("?")) return ["", ""];
  const named = line.innerHTML;
  quiz.reveal();
  const shown = document.querySelector(".equation").cloneNode(true);
  const number = shown.querySelector(".answer").textContent;
  shown.querySelector(".answer").outerHTML = answer;
  const short = shown.textContent.length < 50 && shown.querySelector("mtable") === null;
  return [short ? shown.innerHTML : named, short ? number : ""];
}"""
# A box without room for a number below its name has it behind the name, and no half of a gradient.
NAMED = """(forward) => {
  window.restored = [...document.querySelectorAll("svg.scene .box .label")].map((label) => [label, label.textContent]);
  for (const box of document.querySelectorAll("svg.scene .box")) {
    const [name, value, gradient] = ["name", "value", "gradient"].map((kind) => box.querySelector(".label." + kind));
    if (forward && gradient) gradient.textContent = "";
    if (!value || !name) continue;
    if (/∂.*…/.test(value.textContent)) value.textContent = value.textContent.replace(/\\s*∂.*/, "");
    if (forward) value.textContent = value.textContent.replace(/\\s*∂.*/, "");
    const parts = box.querySelector("title").textContent.split("; ");
    const number = parts.find((part) => /^-?[\\d.]+$/.test(part));
    if (value.textContent || !number || !box.classList.contains("known")) continue;
    const was = name.textContent;
    name.textContent = `${was} = ${number}`;
    if (name.getComputedTextLength() > box.querySelector("rect.shape").width.baseVal.value - 8) name.textContent = was;
  }
}"""
RESTORED = "window.restored.forEach(([label, text]) => { label.textContent = text; })"
SPAN = """() => {
  const sides = [...document.querySelectorAll("svg.scene .box rect.shape")].map((part) => part.getBoundingClientRect());
  return (Math.max(...sides.map((one) => one.right)) - Math.min(...sides.map((one) => one.left))) / innerWidth;
}"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def large_letters() -> Iterator[None]:
    """Save each figure with letters that can be read from the back row; one of many parts also part by part."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    save = Figure.savefig

    def large(figure: Any, path: Path, **options: Any) -> None:
        parts = [
            axes for axes in figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible() and axes.axison
        ]
        options = {"dpi": 160, "bbox_inches": "tight"}
        if len(figure.axes) > 1:
            options["metadata"] = {"Description": ALONE_MARK}
        if len(parts) < 3:
            _enlarge(figure, WIDTH if len(figure.axes) > 1 else BESIDE, *figure.get_size_inches())
            save(figure, path, **options)
            return
        figure.suptitle("")  # the title of each part says enough
        share = max(axes.get_position().bounds[2:] for axes in parts)
        _enlarge(figure, WIDTH, *(figure.get_size_inches() * share))
        for i, one in enumerate(parts):
            for axes in figure.axes:
                axes.set_visible(axes is one)
            save(figure, path.with_stem(f"{path.stem}_{i:02}") if i else path, **options)

    Figure.savefig = large  # type: ignore[method-assign, assignment]
    try:
        with rc_context({"figure.constrained_layout.use": True, "figure.max_open_warning": 0}):
            yield
    finally:
        Figure.savefig = save  # type: ignore[method-assign]


def _enlarge(figure: Any, room: int, width: float, height: float) -> None:
    """Give the texts of a figure, of which a part of this size in inches fills the slide, letters of 28 pixels."""
    from matplotlib.text import Text
    from matplotlib.ticker import MaxNLocator

    size = LETTER * 72 / min(room / width, HEIGHT / height)
    for axes in figure.axes:
        axes.tick_params(labelsize=size)
        for locator in (axes.xaxis.get_major_locator(), axes.yaxis.get_major_locator()):
            if isinstance(locator, MaxNLocator):
                locator.set_params(nbins=5)
        columns = int(axes.get_position().width * figure.get_size_inches()[0] * 72 / (0.52 * size))
        axes.set_title("\n".join(textwrap.wrap(axes.get_title(), max(columns, 12))))
    for text in figure.findobj(Text):
        text.set_fontsize(max(size, text.get_fontsize()))


def stands_alone(path: Path) -> bool:
    """Whether a picture needs the whole width, as it has several parts."""
    return f"Description\0{ALONE_MARK}".encode() in path.read_bytes()


def image(path: Path) -> str:
    return f'<img alt="{path.stem}" src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'


@dataclass(frozen=True)
class Graph:
    """The picture of a step, and where a number is asked for there its equation, with a question mark, and the number."""

    html: str = ""
    equation: str = ""
    answer: str = ""
    tall: bool = False


def graphs(page: Path, steps: Sequence[int], turn: int) -> list[Graph]:
    """The graph of a page at some steps, drawn by the page itself, with the equation of a step whose number it asks for.

    The gradient with which the step ``turn`` begins is left out there: nothing has gone back yet.
    All are empty without playwright or a browser.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return [Graph()] * len(steps)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        view = browser.new_page(
            viewport={"width": GRAPH[0], "height": GRAPH[1]}, device_scale_factor=2, bypass_csp=True
        )
        view.goto(page.resolve().as_uri())
        view.add_style_tag(content=ALONE)
        view.keyboard.press("p")
        files = [page.with_name(f"{page.stem}_step{step}.png") for step in steps]
        equations = []
        _at(view, steps[0])
        tall = view.evaluate(SPAN) < 0.66
        if tall:
            view.set_viewport_size({"width": TALL[0], "height": TALL[1]})
        for step, file in zip(steps, files, strict=True):
            _at(view, step)
            view.evaluate(NAMED, step <= turn)
            view.screenshot(path=file)
            view.evaluate(RESTORED)
            equations.append(view.evaluate(EQUATION))
        browser.close()
    return [Graph(image(file), equation[0], equation[1], tall) for file, equation in zip(files, equations, strict=True)]


def _at(view: Any, step: int) -> None:
    """Go to a step of the page, and wait until the camera has come to its place."""
    view.evaluate(f"location.hash = 'step={step}'")
    view.wait_for_timeout(200)
    view.evaluate("document.getElementById('fit').click()")
    view.wait_for_timeout(900)
