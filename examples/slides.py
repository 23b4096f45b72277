"""A lesson as slides for a projector, in English or Japanese: one HTML file, which needs no network.

    python examples/slides.py --lesson 2 --language ja --out out/slides.html

A slide holds one idea: a sentence or two, a formula, a list, a program with its output, a picture, or a page of the lesson, on
which the class steps through the program. No letter is smaller than 28 px on a screen of 1280 x 720. The lesson is run for
that, which takes some seconds and needs Matplotlib; with playwright and a browser the first slide shows the program's graph.
Open the file in a browser: the arrow keys, the space bar, the buttons or a finger turn the slides, and F11 fills the screen.
What the class is to find out first appears when you go on: the output of a program, and the answers at the end.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import argparse
import ast
import base64
import contextlib
import io
import json
import keyword
import os
import re
import shutil
import tempfile
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import lesson_notebooks
from common import make_folder, run
from handout import WIDE, joined
from minigrad.learn.tasks import LANGUAGES, ORDER

WIDTH, HEIGHT, LETTER = (
    1120,
    540,
    28,
)  # of what is on a slide, and of the smallest letters: pixels on a screen of 1280 x 720
LINES, COLUMNS = 13, 64  # of a program on one slide
TEXT, LETTERS = 6.9, {"en": 56, "ja": 29}  # lines of text on one slide, and letters of a line
CELL = {"en": 20, "ja": 11}  # letters in a line of a table's cell
GRAPH = 960, 240  # of a page whose letters have 24 pixels: the lower half of a slide
END = {  # of a sentence: what follows it is another one
    "en": re.compile(r"[.!?][\"*)]{0,3}(?=\s+[\"*(`\[]{0,3}[A-Z`(\[])"),
    "ja": re.compile(r"[。！？][）)]*(?![」）)])"),
}
ASKED = {  # at a stop of a page, where its lesson has no words of its own
    "value": {"en": "Which number belongs at the question mark?", "ja": "「?」に入る数はいくつですか。"},
    "edge": {"en": "Which arrow does the next step follow?", "ja": "次の一歩は、どの矢印をたどりますか。"},
}
# A card lies over a small box, so that it can be read; in a picture the two would be boxes in boxes.
ALONE = """body > :not(main), main > :not(#graph-pane), #place, .cards { display: none !important; }
.box.covered .label { visibility: visible !important; }
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
STYLE = """
html { font-family: "Segoe UI", "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", "Noto Sans JP", Arial, sans-serif;
  --u: min(1vh, .5625vw); font-size: calc(5.2 * var(--u)); line-height: 1.45; scroll-snap-type: y mandatory; }
body { margin: 0; background: #fff; color: #16222c; }
section { box-sizing: border-box; width: 100%; height: 100vh; padding: 0 6.25vw 9vh; overflow: hidden; position: relative;
  scroll-snap-align: start; scroll-snap-stop: always; display: flex; flex-direction: column; break-after: page; }
:lang(ja) :is(h1, h2, p, li) { word-break: auto-phrase; }
h1, h2 { margin: 0; line-height: 1.25; color: #0b4a6f; flex: none; }
h1 { font-size: 1.6em; margin: 6vh 0 2vh; }
h2 { font-size: calc(4.2 * var(--u)); font-weight: 600; padding: 3vh 0 1.4vh; border-bottom: .5vh solid #f2a33a; }
.on { flex: 1; min-height: 0; display: flex; flex-direction: column; justify-content: safe center; gap: 2.6vh; }
p, ul, ol, pre, table { margin: 0; }
p.lead { font-size: 1.18em; color: #0b2f49; }
math + math { margin-left: .3em; }
li { margin: 0 0 1.6vh; }
b { color: #0b4a6f; }
pre, code { font-family: Consolas, Menlo, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace; }
code { font-size: .9em; background: #eef2f5; padding: 0 .15em; border-radius: .15em; }
pre { font-size: calc(3.9 * var(--u)); line-height: 1.3; padding: 1.6vh .4em; background: #f4f6f8; border-radius: .3em;
  white-space: pre-wrap; overflow-wrap: break-word; }
.long { display: block; padding-left: calc(var(--deep) + 4ch); text-indent: calc(-1 * var(--deep) - 4ch); }
pre.formula { font-size: 1.15em; background: none; padding: 0 0 0 1.2em; }
h2 code, td code, th code { font-size: 1em; } .two pre.formula { font-size: calc(4.4 * var(--u)); padding: 0; }
.on pre.wide { font-size: max(3.9 * var(--u), 258 / var(--columns) * var(--u)); padding: 0; }
pre.said { background: #10242f; color: #e8f4ec; position: relative; padding: 1.6vh 0 1.6vh 1.3em; }
pre.said::before { content: "→"; color: #f2a33a; position: absolute; left: .3em; }
.k { color: #8a2be2; } .s { color: #a3541b; } .c { color: #4b6d52; }
table { border-collapse: collapse; font-size: calc(4 * var(--u)); }
td, th { border-bottom: 1px solid #9ab; padding: 1vh .7em; text-align: left; vertical-align: top; }
.box { border-left: 1vh solid #f2a33a; padding: 1vh 1em; background: #fff8ec; }
img { min-height: 0; flex: 1; object-fit: contain; max-width: 100%; }
.two { flex: 1; min-height: 0; display: flex; flex-direction: column; justify-content: space-evenly; }
.two > div { display: flex; flex-direction: column; gap: 1.6vh; }
.two ul { display: flex; flex-wrap: wrap; gap: 0 1.6em; padding: 0; list-style: none; }
.two li { margin: 0; padding: 0 .6em; border: .25vh solid #9ab; border-radius: .3em; }
.much { font-size: .78em; line-height: 1.3; } .much code { font-size: 1em; }
.two img, .title img { width: 100%; height: calc(39 * var(--u)); flex: none; }
.page { padding: 0; } .page h2 { margin: 0 6.25vw; }
.page .on { position: relative; margin-bottom: 8.4vh; overflow: hidden; }
iframe { position: absolute; top: 0; left: 0; border: 0; width: 85.72%; height: 85.72%; transform: scale(1.16667);
  transform-origin: 0 0; background: #fff; }
.later { visibility: hidden; }
nav { position: absolute; right: 2vw; bottom: 1.2vh; display: flex; gap: .6em; align-items: center;
  font-size: calc(3.9 * var(--u)); color: #567; }
nav button { font: inherit; line-height: 1; padding: .2em .7em; border: 1px solid #9ab; border-radius: .3em; background: #fff;
  color: #0b4a6f; }
@media (max-aspect-ratio: 1) { html { font-size: 18px; --u: 3.6px; } section { height: auto; min-height: 60vh; } }
@media print { .later { visibility: visible; } nav button, iframe { display: none; } @page { size: 1280px 720px; margin: 0; } }
"""
# Turns the slides; on each one what comes later appears first. The pages on the slides are shown in projector mode.
SCRIPT = """
const slides = [...document.querySelectorAll("section")];
const step = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1};
const end = {Home: 0, End: slides.length - 1};
const at = () => Math.round(scrollY / innerHeight);
function go(by) {
  const hidden = slides[at()].querySelector(".later");
  if (by > 0 && hidden) hidden.classList.remove("later");
  else slides[Math.max(0, Math.min(slides.length - 1, at() + by))].scrollIntoView();
}
function turn(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in step || event.key in end)) return;
  event.preventDefault();
  if (event.key in end) slides[end[event.key]].scrollIntoView();
  else go(event.shiftKey && event.key === " " ? -1 : step[event.key]);
}
// A slide that is a little too full gets smaller letters, as the page is laid out by an estimate: a tenth at most.
function fit() {
  for (const slide of slides) {
    const on = slide.querySelector(".on");
    slide.style.cssText = "";
    const unit = Math.min(innerHeight / 100, innerWidth * .005625);
    for (let part = .98; part > .9 && on.scrollHeight > on.clientHeight; part -= .02)
      slide.style.cssText = `--u: ${part * unit}px; font-size: ${5.2 * part * unit}px`;
  }
}
fit();
addEventListener("load", fit);
addEventListener("resize", fit);
addEventListener("keydown", turn);
for (const button of document.querySelectorAll("nav button")) button.onclick = () => go(Number(button.value));
for (const frame of document.querySelectorAll("iframe")) {
  frame.onload = () => {
    const page = frame.contentWindow;
    page.document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "p", bubbles: true}));
    page.addEventListener("keydown", (event) => event.key.startsWith("Page") && turn(event));
  };
  frame.srcdoc = frame.dataset.page;
}
"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ITEM = re.compile(r"(?:- |・|(\d+)\. )")


@dataclass
class Slide:
    """The heading of a slide, and its parts as HTML. The parts after ``shown`` appear when the teacher goes on."""

    heading: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    shown: int = 99
    graph: str = ""


def slides(path: Path, language: str) -> list[Slide]:
    """The slides of a lesson, which is run in a folder of its own."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    made: list[Slide] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _large_letters():
        outcomes = iter(lesson_notebooks.run(path, language))
        for cell in lesson_notebooks.cells(path, language):
            heading = next((slide.heading for slide in reversed(made)), "")
            if cell.name is None:
                made += _results(cell.text, next(outcomes), heading, language)
            else:
                for slide in _texts(cell.text, heading, language):
                    if not _joined(made, slide, language):
                        made.append(slide)
        graph = next((slide.graph for slide in made if slide.graph), "")
        made[0].parts = [graph] * bool(graph)
        _with_graph(made)
    return made


def _joined(made: Sequence[Slide], slide: Slide, language: str) -> bool:
    """Put a short text below the short text before it, if both have one heading."""
    last = made[-1] if made else slide
    pair = (last, slide)
    alone = all(len(each.parts) == 1 and _is_text(each.parts[0]) and not each.kind for each in pair)
    if last is slide or last.heading != slide.heading or not alone or "class=box" in last.parts[0] + slide.parts[0]:
        return False
    if _height_of(last.parts[0], language) + _height_of(slide.parts[0], language) > TEXT - 2:
        return False
    last.parts[0] += slide.parts[0].replace(" class=lead", "")
    return True


def _with_graph(made: Sequence[Slide]) -> None:
    """Put the graph of a page beside the program that it shows, which stands under the same heading."""
    for shown in made:
        for slide in made:
            formula = slide.parts and 'class="formula' in slide.parts[0]
            if shown.graph and slide.heading == shown.heading and formula and len("".join(slide.parts)) < 330:
                slide.parts = [f'<div class="two"><div>{"".join(slide.parts)}</div>{shown.graph}</div>']


def _texts(text: str, heading: str, language: str) -> Iterator[Slide]:
    """The slides of a cell of text: a few sentences on each, with the formula, list or table that belongs to them."""
    answer = ""
    waiting: list[str] = []  # a formula, for the sentence that explains it, or a sentence that announces something
    for kind, lines in blocks(text):
        if kind == "heading":
            if waiting:
                yield Slide(heading, waiting, answer)
            waiting, heading = [], inline(lines[0].lstrip("# "))
            if lines[0].startswith("# "):
                yield Slide(heading, kind="title")
            continue
        if kind == "rule":
            answer = "answer"
            continue
        taken = sum(_height_of(part, language) for part in waiting)
        for piece in _pieces(kind, lines, language, TEXT - taken):
            if waiting and sum(_height_of(part, language) for part in [*waiting, piece]) > TEXT + 1.5:
                yield Slide(heading, waiting, answer)
                waiting = []
            goes_on = kind == "formula" and not (waiting and _is_text(waiting[-1]))
            waiting.append(piece)
            if not goes_on and not (_is_text(piece) and re.search("[:：](</p>)?$", piece)):
                yield Slide(heading, waiting, answer)
                waiting = []
    if waiting:
        yield Slide(heading, waiting, answer)


def _height_of(part: str, language: str) -> float:
    """The lines that a part takes on a slide."""
    texts = re.findall(r"<(?:p|li|tr).*?</(?:p|li|tr)>|[^\n]+", part, re.DOTALL)
    return sum(_lines(re.sub(r"<[^>]+>", "", text), language) for text in texts)


def _is_text(part: str) -> bool:
    return re.match("<p[ >]", part) is not None


def _pieces(kind: str, lines: Sequence[str], language: str, room: float) -> list[str]:
    """A block as HTML: in several pieces if it is too much for one slide, with the first in the room of so many lines."""
    if kind == "formula":
        return [_pre(lines, "formula")]
    if kind == "list":
        return _list(lines, language)
    if kind == "table":
        return _table(lines, language)
    text = joined([line.lstrip("> ") for line in lines] if kind == "box" else list(lines))
    groups = packed(sentences(text, language), language, room)
    if kind == "box":
        return [f'<p class="box">{inline(_together(group, language))}</p>' for group in groups]
    return [
        "".join(f"<p{' class=lead' * (i == 0)}>{inline(one)}</p>" for i, one in enumerate(group)) for group in groups
    ]


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a paragraph; one in bold letters or brackets stays whole."""
    found: list[str] = []
    ends = [0, *(match.end() for match in END[language].finditer(text)), len(text)]
    ends = [end + 2 * bool(_bold(text[:end]) and text.startswith("**", end)) for end in ends]  # with the end of bold
    for one in filter(None, (text[a:b].strip() for a, b in pairwise(ends))):
        inside = found and (_bold(found[-1]) or _depth(found[-1]) > 0 or found[-1].count("`") % 2)
        if inside:
            found[-1] = _together([found[-1], one], language)
        else:
            found.append(one)
    return found


def _bold(text: str) -> bool:
    """Whether bold letters begin and do not end. Within `code` the sign is a power."""
    return re.sub("`[^`]*`", "", text).count("**") % 2 == 1


def _depth(text: str) -> int:
    return sum(text.count(a) - text.count(b) for a, b in ("()", "（）", "「」"))


def _together(parts: Sequence[str], language: str) -> str:
    return ("" if language == "ja" else " ").join(parts)


def packed(parts: Sequence[str], language: str, room: float) -> list[list[str]]:
    """The parts in groups that fit on a slide each, of about the same length; a part that is longer is a group."""
    sizes = [_lines(part, language) for part in parts]
    groups: list[list[str]] = []
    while parts:
        count = -(-sum(sizes) // room) if room >= TEXT else 1
        most, n = min(room, max(sum(sizes) / count + 0.7, sizes[0])), 1
        while n < len(parts) and sum(sizes[: n + 1]) <= most:
            n += 1
        groups.append(list(parts[:n]))
        parts, sizes, room = parts[n:], sizes[n:], max(room, TEXT)
    return groups


def _lines(text: str, language: str) -> float:
    """The lines that a sentence takes on a slide, with the gap below it."""
    return 0.4 + -(-len(text) // LETTERS[language])


def _results(code: str, outcome: dict[str, Any], heading: str, language: str) -> Iterator[Slide]:
    """The slides of a cell of code: each page, its programs, what they print, and each picture."""
    for page in map(Path, outcome["pages"]):
        yield from _asked(page, heading, language)
    pieces = [] if "LANGUAGE" in code else list(_programs(code))
    said = ["\n".join(lines) for lines in _sheets(outcome["printed"].rstrip().splitlines())]
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        fits = last and said and _height(piece) + _height(said[0]) < LINES
        yield Slide(heading, [_code(piece), *([_pre(said.pop(0).splitlines(), "said")] if fits else [])], shown=1)
    for text in said:
        yield Slide(heading, [_pre(text.splitlines(), "said")])
    yield from (Slide(heading, [_image(Path(picture))]) for picture in outcome["pictures"])


def _asked(page: Path, heading: str, language: str) -> Iterator[Slide]:
    """The slides of a page: each question of its lesson with the graph there, and the page itself."""
    text = page.read_text(encoding="utf-8")
    (data,) = (json.loads(found) for found in re.findall(r'id="data">(.*?)</script>', text, re.DOTALL))
    stops = [stop for stop in data["lesson"]["steps"] if stop["question"]]
    # Where an arrow is asked for, it is that of the step after.
    steps = [stop["at"] - (stop["question"]["kind"] == "edge") for stop in stops]
    (first, _), *graphs = _graphs(page, [data["turn"], *steps])
    for stop, (graph, equation) in zip(stops, graphs, strict=True):
        question = stop["question"]
        asked = (question["text"] or ASKED[question["kind"]])[language]
        choices = "".join(f"<li>{inline(choice['text'][language])}</li>" for choice in question["choices"])
        right = "".join(
            f"<b>{inline(choice['text'][language])}</b> " for choice in question["choices"] if choice["right"]
        )
        html = f'<p class="lead">{inline(asked)}</p>' + f"<ul>{choices}</ul>" * bool(choices)
        html += f'<p class="lead">{equation}</p>' * (question["kind"] == "value")
        said = stop["text"] or next(choice["feedback"] for choice in question["choices"] if choice["right"])
        html += f'<p class="later">{right}{inline(said[language])}</p>'
        much = len(re.sub(r"<[^>]+>", "", html)) > 2.9 * LETTERS[language]
        yield Slide(heading, [f'<div class="two{" much" * much}"><div>{html}</div>{graph}</div>'])
    frame = f'<iframe title="{page.stem}" data-page="{escape(text)}"></iframe>'
    yield Slide(heading, [frame], kind="page", graph=first)


def _programs(code: str) -> Iterator[str]:
    """The parts of a program that are shown: definitions, and short statements that draw nothing."""
    shown: list[str] = []
    was = False  # whether the last one is a definition
    drawing: set[str] = set()  # the names of figures and their parts
    for node in ast.parse(code).body:
        text = ast.get_source_segment(code, node) or ""
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if "plt" in names or names & drawing:
            drawing |= {
                part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
            continue
        defines = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if isinstance(node, ast.Import | ast.ImportFrom) or names & {"drawn"} or "explain(" in text:
            continue
        if not defines and _height(text) > LINES:
            continue
        parts = ["\n".join(lines) for lines in _sheets(text.splitlines())] if defines else [text]
        for part in parts:
            gap = [""] * (bool(shown) and (defines or was))
            if _height("\n".join([*shown, *gap, part])) > LINES:
                yield "\n".join(shown)
                shown, gap = [], []
            shown, was = [*shown, *gap, *part.splitlines()], defines
    useful = any(line.startswith(("def ", "class ")) or "print(" in line for line in shown)
    if shown and useful:
        yield "\n".join(shown)


def _height(text: str) -> int:
    """The lines that a text takes on a slide."""
    lines = 0
    for line in text.splitlines():
        lines += 1 + -(-max(0, _columns(line) - COLUMNS) // (COLUMNS - 4 - _depth_of(line)))
    return lines


def _columns(line: str) -> int:
    """The letters of a line of a program; a Japanese one is as wide as two."""
    return len(line) + len(WIDE.findall(line))


def _depth_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def _hung(html: str, source: str) -> str:
    """A program as HTML, whose lines go on, where they are too long for the slide, four letters deeper than they begin."""
    lines = zip(html.splitlines(keepends=True), source.splitlines(), strict=True)
    return "".join(
        f'<span class="long" style="--deep: {_depth_of(line)}ch">{part}</span>'
        if _columns(line) > COLUMNS - 4
        else part
        for part, line in lines
    )


def _sheets(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines in pieces that fit on a slide each, cut before a blank line where there is one."""
    rest = list(lines)
    while rest:
        most = 1
        while most < len(rest) and _height("\n".join(rest[: most + 1])) <= LINES:
            most += 1
        blank = [i for i in range(2, most) if not rest[i].strip()]
        cut = blank[-1] if blank and most < len(rest) else most
        yield rest[:cut]
        rest = rest[cut:]
        while rest and not rest[0].strip():
            rest.pop(0)


# Pictures


@contextlib.contextmanager
def _large_letters() -> Iterator[None]:
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


def _image(path: Path) -> str:
    return f'<img alt="{path.stem}" src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'


def _graphs(page: Path, steps: Sequence[int]) -> list[tuple[str, str]]:
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
    return [(_image(file), equation) for file, equation in zip(files, equations, strict=True)]


# Markdown, as far as the lessons use it


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a text, and what each is. A list goes on as long as its lines are indented or begin an item.

    The answers stand behind a rule.
    """
    for block in re.split(r"\n[ ]*\n", text.strip("\n")):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            yield "heading", lines[:1]
            lines = lines[1:]
        if not lines:
            continue
        starts = {"    ": "formula", "|": "table", ">": "box", "---": "rule"}
        kind = next((kind for start, kind in starts.items() if lines[0].startswith(start)), "")
        yield kind or ("list" if ITEM.match(lines[0]) else "paragraph"), lines


def inline(text: str) -> str:
    """A line as HTML, with `code`, **bold**, *stress*, and the words of links."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        text = match[1].replace(" ", "\u00a0") if len(match[1]) <= 20 else match[1]  # a short one stays in its line
        codes.append(f"<code>{escape(text, quote=False)}</code>")
        return f"\0{len(codes) - 1}\0"

    text = escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(
        r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*(])|(?<=[^\x00-\x7f])\*([^\s*]+)\*", r"<em>\1\2</em>", text
    )
    return re.sub("\0(\\d+)\0", lambda match: codes[int(match[1])], text)


def _pre(lines: Sequence[str], kind: str) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[indent:] for line in lines)
    columns = max(map(_columns, text.splitlines()), default=0)
    if kind == "formula" and columns > 48:  # its letters shrink until it fits
        kind = f'formula wide" style="--columns: {columns}'
    return f'<pre class="{kind}">{_hung(escape(text, quote=False), text)}</pre>'


def _code(source: str) -> str:
    """A program, with its words, texts and comments in colours."""
    kinds = {tokenize.COMMENT: "c", tokenize.STRING: "s"}
    lines = source.splitlines(keepends=True)
    html, at = "", (1, 0)
    with contextlib.suppress(tokenize.TokenError, IndentationError):  # the rest of a piece stays as it is
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = kinds.get(token.type, "k" if keyword.iskeyword(token.string) else "")
            if kind:
                html += escape(_between(lines, at, token.start), quote=False)
                parts = escape(token.string, quote=False).split("\n")  # a text of several lines: each by itself
                html += "\n".join(f'<span class="{kind}">{part}</span>' for part in parts)
                at = token.end
    html += escape(_between(lines, at, (len(lines), len(lines[-1]))), quote=False)
    return f"<pre>{_hung(html, source)}</pre>"


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


def _list(lines: Sequence[str], language: str) -> list[str]:
    items: list[list[str]] = []
    for line in lines:
        if ITEM.match(line):
            items.append([ITEM.sub("", line, count=1)])
        else:
            items[-1].append(line)
    ordered = lines[0][0].isdigit()
    pieces, number = [], 1
    for group in packed([joined(item) for item in items], language, TEXT + 2):
        tag, start = ("ol", f' start="{number}"' * (number > 1)) if ordered else ("ul", "")
        pieces.append(f"<{tag}{start}>{''.join(f'<li>{inline(item)}</li>' for item in group)}</{tag}>")
        number += len(group)
    return pieces


def _table(lines: Sequence[str], language: str) -> list[str]:
    rows = [line.strip().strip("|").split("|") for line in lines]
    head, _, *body = rows
    html = "<tr>" + "".join(f"<th>{inline(cell.strip())}</th>" for cell in head) if any(map(str.strip, head)) else ""
    wide = CELL[language] * 3 // len(head)
    pieces: list[list[list[str]]] = [[]]
    taken = 0
    for row in body:
        size = max(1 + len(cell.strip()) // wide for cell in row)
        if pieces[-1] and taken + size > TEXT + 1:
            pieces.append([])
            taken = 0
        pieces[-1].append([inline(cell.strip()) for cell in row])
        taken += size
    return [f"<table>{html}{_rows(piece)}</table>" for piece in pieces]


def _rows(rows: list[list[str]]) -> str:
    return "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)


def page(path: Path, language: str) -> str:
    """The slides as HTML that needs no other file."""
    made = slides(path, language)
    title = re.sub(r"<[^>]+>", "", made[0].heading)
    parts = [f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n<title>{title}</title>']
    parts.append(f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>')
    for number, slide in enumerate(made, 1):
        tag = "h1" if slide.kind == "title" else "h2"
        later = [f'<div class="later">{part}</div>' for part in slide.parts[slide.shown :]]
        on = f'<div class="on">{"".join([*slide.parts[: slide.shown], *later])}</div>'
        turn = '<button value="-1">‹</button>{}<button value="1">›</button>'.format(f" {number} / {len(made)} ")
        parts.append(f'<section class="{slide.kind}"><{tag}>{slide.heading}</{tag}>{on}<nav>{turn}</nav></section>')
    return "\n".join([*parts, f"<script>{SCRIPT}</script>\n</html>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lesson", type=int, choices=sorted(ORDER), required=True, help="its number")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the texts (default: en)")
    parser.add_argument("--out", type=Path, default=Path("out/slides.html"), help="the file (default: %(default)s)")
    args = parser.parse_args()
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == args.lesson)
    text = page(path, args.language)
    make_folder(args.out.parent)
    args.out.write_text(text, encoding="utf-8")
    print(args.out)


if __name__ == "__main__":
    run(main)
