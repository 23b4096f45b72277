"""The pictures of slides: a lesson's own, with large letters, and the graphs of its pages, which a browser draws."""

from __future__ import annotations

import base64
import contextlib
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, LETTER = (
    1120,
    540,
    28,
)  # of what is on a slide, and of the smallest letters: px on a screen of 1280 x 720
GRAPH = 960, 240  # of a page whose letters have 24 pixels: the lower half of a slide
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
  if (!answer.includes("?")) return "";
  const named = line.innerHTML;
  quiz.reveal();
  const shown = document.querySelector(".equation").cloneNode(true);
  shown.querySelector(".answer").outerHTML = answer;
  return shown.textContent.length < 50 && shown.querySelector("mtable") === null ? shown.innerHTML : named;
}"""
UNMARKED = """if (document.querySelector(".equation .answer")?.textContent.includes("?"))
  document.querySelector("svg.scene .amount").replaceChildren();"""  # the question mark is in the equation alone
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
        if len(parts) < 3:
            _enlarge(figure, *figure.get_size_inches())
            save(figure, path, **options)
            return
        figure.suptitle("")  # the title of each part says enough
        _enlarge(figure, *(figure.get_size_inches() * max(axes.get_position().bounds[2:] for axes in parts)))
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


def _enlarge(figure: Any, width: float, height: float) -> None:
    """Give the texts of a figure, of which a part of this size in inches fills the slide, letters of 28 pixels."""
    from matplotlib.text import Text
    from matplotlib.ticker import MaxNLocator

    size = LETTER * 72 / min(WIDTH / width, HEIGHT / height)
    for axes in figure.axes:
        axes.tick_params(labelsize=size)
        for locator in (axes.xaxis.get_major_locator(), axes.yaxis.get_major_locator()):
            if isinstance(locator, MaxNLocator):
                locator.set_params(nbins=5)
        columns = int(axes.get_position().width * figure.get_size_inches()[0] * 72 / (0.52 * size))
        axes.set_title("\n".join(textwrap.wrap(axes.get_title(), max(columns, 12))))
    for text in figure.findobj(Text):
        text.set_fontsize(max(size, text.get_fontsize()))


def image(path: Path) -> str:
    return f'<img alt="{path.stem}" src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'


def graphs(page: Path, steps: Sequence[int]) -> list[tuple[str, str]]:
    """The graph of a page at some steps, drawn by the page itself, with the equation of a step whose number it asks for.

    Each is "" without playwright or a browser.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return [("", "")] * len(steps)
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
        for step, file in zip(steps, files, strict=True):
            view.evaluate(f"location.hash = 'step={step}'")
            view.wait_for_timeout(200)
            view.evaluate("document.getElementById('fit').click()")
            view.wait_for_timeout(900)  # until the camera has come to its place
            view.evaluate(UNMARKED)
            view.screenshot(path=file)
            equations.append(view.evaluate(EQUATION))
        browser.close()
    return [(image(file), equation) for file, equation in zip(files, equations, strict=True)]
