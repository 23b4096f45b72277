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
# The window of a page, whose letters have 24 pixels, and the room of its graph on a slide: below the text, or at its right.
BELOW, RIGHT = ((960, 310), (1120, 362)), ((560, 465), (650, 520))
MARGIN, LARGEST = 8, 2  # px around a graph, and how far it is enlarged at most
ROOM, LINE = 560, 47  # px on a slide below its heading, and of a line of text
# A card lies over a small box, so that it can be read; in a picture the two would be boxes in boxes.
ALONE = """body > :not(main), main > :not(#graph-pane), #place, .cards { display: none !important; }
.box[data-mute=covered] .label { visibility: visible !important; }
body.projector { grid-template-rows: minmax(0, 1fr) !important; }
body.projector main { grid-template: "graph" minmax(0, 1fr) / minmax(0, 1fr) !important; }
body.asking .edge.now-backward .line { stroke-width: 1.3 !important; stroke-dasharray: none !important; }
body.asking .box:is(.applies, .receives) .shape { fill: var(--box) !important; stroke-width: 1.3 !important; }
body.asking .box.receives .gradient { text-decoration: none !important; }"""  # no arrow stands out where one is asked for
ASKING = "(asks) => document.body.classList.toggle('asking', asks)"
EDGE = "(step) => { const names = quiz.names(graph.steps[step - 1][1]); return `\\`${names.target} → ${names.source}\\``; }"
# The equation of a step whose number is asked for, with the numbers that it is computed from. A page shows these with the
# answer, which becomes "?" again. Arrays have too many numbers for a line: their equation has names alone.
EQUATION = """(kind) => {
  const told = (math) => {
    const rows = [...math.querySelectorAll("mtr")].map((row) => [...row.children].map((one) => one.textContent).join(", "));
    if (rows.length > 0) return rows.length > 1 && rows[0].includes(", ") ? `[[${rows.join("], [")}]]` : `[${rows.join(", ")}]`;
    return math.querySelector("mtext") ? document.querySelector(".equation .element")?.textContent ?? "" : math.textContent;
  };
  const line = document.querySelector(".equation");
  const answer = line?.querySelector(".answer")?.outerHTML ?? "";
  if (!answer.includes("?")) return ["", ""];
  const named = line.innerHTML;
  quiz.reveal(kind);
  const shown = document.querySelector(".equation").cloneNode(true);
  const number = told(shown.querySelector(".answer"));
  shown.querySelector(".answer").outerHTML = answer;
  const short = shown.textContent.length < 50 && shown.querySelector("mtable") === null;
  return [short ? shown.innerHTML : named, number];
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
    if (value.textContent || !number || name.textContent.endsWith(` = ${number}`) || !box.classList.contains("known")) continue;
    const was = name.textContent;
    name.textContent = `${was} = ${number}`;
    if (name.getComputedTextLength() > box.querySelector("rect.shape").width.baseVal.value - 8) name.textContent = was;
  }
}"""
RESTORED = "window.restored.forEach(([label, text]) => { label.textContent = text; })"
SIDES = """() => {
  const parts = [...document.querySelectorAll("svg.scene :is(.box:not(.absent) .shape, .edge .line, .tags > *)")];
  const sides = parts.map((part) => part.getBoundingClientRect());
  const ends = (kind, most) => most(...sides.map((one) => one[kind]));
  return [ends("left", Math.min), ends("top", Math.min), ends("right", Math.max), ends("bottom", Math.max)];
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
    """The picture of a step, before and after an answer, the answer, and the equation of a number that is asked for."""

    html: str = ""
    equation: str = ""
    answer: str = ""
    tall: bool = False  # whether it stands at the right of a text
    room: float = 0.0  # lines of text for which there is room above it


def graphs(page: Path, stops: Sequence[tuple[int, str]], turn: int) -> list[Graph]:
    """The graph of a page at some steps, drawn by the page itself. A stop is a step, and what is asked there, or "".

    The gradient with which the step ``turn`` begins is left out there: nothing has gone back yet.
    All are empty without playwright or a browser.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        return [Graph()] * len(stops)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        view = browser.new_page(device_scale_factor=2, bypass_csp=True, reduced_motion="reduce")
        view.goto(page.resolve().as_uri())
        view.add_style_tag(content=ALONE)
        view.keyboard.press("p")
        below, right = (_part(view, stops[0][0], *place) for place in (BELOW, RIGHT))
        (scale, clip), tall = (right, True) if right[0] > 1.1 * below[0] else (below, False)
        if not tall:
            _part(view, stops[0][0], *BELOW)
        room = (ROOM - min(scale, LETTER / 24) * clip["height"]) / LINE
        made = []
        for number, (step, kind) in enumerate(stops):
            file = page.with_name(f"{page.stem}_{number}.png")
            _at(view, step)
            view.evaluate(ASKING, kind == "edge")
            pictures = [_shot(view, file, clip, step <= turn)]
            equation, answer = view.evaluate(EQUATION, kind)
            if kind == "edge":
                answer = view.evaluate(EDGE, step + 1)
                view.evaluate(ASKING, False)
                _at(view, step + 1)
            if kind:
                pictures.append(_shot(view, file, clip, step <= turn))
            html = "".join(pictures)
            if kind:
                before, after = (f'<div class="{when}">{one}</div>' for when, one in zip(("before", "after"), pictures))
                html = f'<div class="swap">{before}{after}</div>'
            made.append(Graph(html, equation, answer.strip(" =+"), tall, room))
        browser.close()
    return made


def _part(view: Any, step: int, window: tuple[int, int], room: tuple[int, int]) -> tuple[float, dict[str, float]]:
    """How large the graph becomes on a slide in a window of this size, and where it is in that."""
    view.set_viewport_size({"width": window[0], "height": window[1]})
    _at(view, step)
    left, top, right, bottom = view.evaluate(SIDES)
    wide = max(right - left + 2 * MARGIN, room[0] / LARGEST)
    left, top = max(0.0, (left + right - wide) / 2), max(0.0, top - MARGIN)
    wide, high = min(window[0] - left, wide), min(window[1], bottom + MARGIN) - top
    return min(room[0] / wide, room[1] / high), {"x": left, "y": top, "width": wide, "height": high}


def _shot(view: Any, file: Path, clip: dict[str, float], forward: bool) -> str:
    view.evaluate(NAMED, forward)
    view.screenshot(path=file, clip=clip)
    view.evaluate(RESTORED)
    return image(file)


def _at(view: Any, step: int) -> None:
    """Go to a step of the page, and wait until the camera has come to its place."""
    view.evaluate(f"location.hash = 'step={step}'")
    view.wait_for_timeout(200)
    view.evaluate("document.getElementById('fit').click()")
    view.wait_for_timeout(400)
