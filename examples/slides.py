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
import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import lesson_notebooks
from common import make_folder, run
from minigrad.learn.tasks import LANGUAGES, ORDER
from slide_code import LINES, height, highlighted, pre, programs, sheets
from slide_pictures import graphs, image, large_letters
from slide_texts import LETTERS, TEXT, Slide, height_of, inline, is_text, texts

ASKED = {  # at a stop of a page, where its lesson has no words of its own
    "value": {"en": "Which number belongs at the question mark?", "ja": "「?」に入る数はいくつですか。"},
    "edge": {"en": "Which arrow does the next step follow?", "ja": "次の一歩は、どの矢印をたどりますか。"},
}


def slides(path: Path, language: str) -> list[Slide]:
    """The slides of a lesson, which is run in a folder of its own."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    made: list[Slide] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), large_letters():
        outcomes = iter(lesson_notebooks.run(path, language))
        for cell in lesson_notebooks.cells(path, language):
            heading = next((slide.heading for slide in reversed(made)), "")
            if cell.name is None:
                made += _results(cell.text, next(outcomes), heading, language)
            else:
                for slide in texts(cell.text, heading, language):
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
    alone = all(len(each.parts) == 1 and is_text(each.parts[0]) and not each.kind for each in pair)
    if last is slide or last.heading != slide.heading or not alone or "class=box" in last.parts[0] + slide.parts[0]:
        return False
    if height_of(last.parts[0], language) + height_of(slide.parts[0], language) > TEXT - 2:
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


def _results(code: str, outcome: dict[str, Any], heading: str, language: str) -> Iterator[Slide]:
    """The slides of a cell of code: each page, its programs, what they print, and each picture."""
    for page in map(Path, outcome["pages"]):
        yield from _asked(page, heading, language)
    pieces = [] if "LANGUAGE" in code else list(programs(code))
    said = ["\n".join(lines) for lines in sheets(outcome["printed"].rstrip().splitlines())]
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        fits = last and said and height(piece) + height(said[0]) < LINES
        yield Slide(heading, [highlighted(piece), *([pre(said.pop(0).splitlines(), "said")] if fits else [])], shown=1)
    for text in said:
        yield Slide(heading, [pre(text.splitlines(), "said")])
    yield from (Slide(heading, [image(Path(picture))]) for picture in outcome["pictures"])


def _asked(page: Path, heading: str, language: str) -> Iterator[Slide]:
    """The slides of a page: each question of its lesson with the graph there, and the page itself."""
    text = page.read_text(encoding="utf-8")
    (data,) = (json.loads(found) for found in re.findall(r'id="data">(.*?)</script>', text, re.DOTALL))
    stops = [stop for stop in data["lesson"]["steps"] if stop["question"]]
    # Where an arrow is asked for, it is that of the step after.
    steps = [stop["at"] - (stop["question"]["kind"] == "edge") for stop in stops]
    (first, _), *drawn = graphs(page, [data["turn"], *steps])
    for stop, (graph, equation) in zip(stops, drawn, strict=True):
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


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def page(path: Path, language: str) -> str:
    """The slides as HTML that needs no other file."""
    made = slides(path, language)
    title = re.sub(r"<[^>]+>", "", made[0].heading)
    parts = [f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n<title>{title}</title>']
    parts.append(f'<meta name="viewport" content="width=device-width">\n<style>{_beside("slides.css")}</style>')
    for number, slide in enumerate(made, 1):
        tag = "h1" if slide.kind == "title" else "h2"
        later = [f'<div class="later">{part}</div>' for part in slide.parts[slide.shown :]]
        on = f'<div class="on">{"".join([*slide.parts[: slide.shown], *later])}</div>'
        turn = '<button value="-1">‹</button>{}<button value="1">›</button>'.format(f" {number} / {len(made)} ")
        parts.append(f'<section class="{slide.kind}"><{tag}>{slide.heading}</{tag}>{on}<nav>{turn}</nav></section>')
    return "\n".join([*parts, f"<script>{_beside('slides.js')}</script>\n</html>\n"])


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
