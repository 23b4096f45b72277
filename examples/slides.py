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
from slide_pictures import graphs, image, large_letters, stands_alone
from slide_texts import MINUTES, TEXT, Slide, height_of, inline, is_formula, is_text, is_words, new_idea, texts

ASKED = {  # at a stop of a page, where its lesson has no words of its own
    "value": {"en": "Which number belongs at the question mark?", "ja": "「?」に入る数はいくつですか。"},
    "edge": {"en": "Which arrow does the next step follow?", "ja": "次の一歩は、どの矢印をたどりますか。"},
}

ANSWER = {"en": ("Answer: {}.", "; "), "ja": ("答え：{}。", "、")}  # and what stands between two answers
FULL, BESIDE = 12.0, 13.5  # lines of text on a slide with a program, and beside a picture
FORMULA = 0.84  # the height of a line of a formula beside or below a graph, in lines of text
NARROW = 55  # letters of a formula with its HTML, beside which there is room


def slides(path: Path, language: str) -> list[Slide]:
    """The slides of a lesson, which is run in a folder of its own."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    made: list[Slide] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), large_letters():
        results = lesson_notebooks.run(path, language)
        outcomes = iter(results)
        # A sentence about a file of the run, or at the beginning about the time of reading, is for a reader of the text.
        files = [re.escape(file) for result in results for file in (*result["pages"], *result["pictures"])]
        for cell in lesson_notebooks.cells(path, language):
            heading = next((slide.heading for slide in reversed(made)), "")
            if cell.name is None:
                new = _results(cell.text, next(outcomes), heading, language)
            else:
                new = texts(cell.text, heading, language, files if made else [*files, MINUTES[language]])
            for slide in new:
                if not _joined(made, slide, language):
                    made.append(slide)
        made[0].parts = [slide.graph.html for slide in made if slide.graph and slide.graph.html][:1]
        _with_graph(made, language)
        _with_picture(made, language)
    return made


def _joined(made: Sequence[Slide], slide: Slide, language: str) -> bool:
    """Put what a slide has below the slide before it, if both have one heading, it fits, and no new idea begins with it.

    Texts go below texts, a program below the text before it, and a text below the output that it speaks of.
    """
    last = made[-1] if made else slide
    if last is slide or last.heading != slide.heading or slide.kind not in ("", last.kind) or last.kind == "title":
        return False
    if last.picture or slide.picture or last.graph or last.asks or slide.asks or new_idea(slide.parts):
        return False
    alone = 'class="box"' in last.parts[-1] or "<table" in "".join([*last.parts, *slide.parts])
    if alone:  # an aside, and a table
        return False
    if any("<table" in part for part in [*last.parts, *slide.parts]):  # a table is enough
        return False
    if is_formula(last.parts) or is_formula(slide.parts):  # with its sentence and its graph it is enough
        return False
    programs = [any("<pre>" in part or '"said"' in part for part in each.parts) for each in (last, slide)]
    room = FULL if any(programs) else TEXT
    if all(programs) or sum(height_of(part, language) for part in [*last.parts, *slide.parts]) > room:
        return False
    if programs[1]:
        last.shown = len(last.parts) + slide.shown
    last.parts += [part.replace(" class=lead", "") for part in slide.parts]
    return True


def _with_graph(made: list[Slide], language: str) -> None:
    """Put the graph of a page beside the program that it shows, which stands under the same heading.

    A text for which there is no room there stays on a slide of its own.
    """
    for shown in [slide for slide in made if slide.graph and slide.graph.html]:
        graph = shown.graph
        assert graph is not None
        room, share = (BESIDE, 0.4) if graph.tall else (graph.room, 1)
        for slide in [one for one in made if one.heading == shown.heading and is_formula(one.parts)]:
            formulas = "".join(part for part in slide.parts if is_formula([part]))
            text = "".join(part for part in slide.parts if not is_formula([part]))
            high = FORMULA * (formulas.count("\n") + formulas.count("<pre"))
            both = f'<div class="pair">{formulas}<div>{text}</div></div>'
            taken = max(high, height_of(text, language, 0.7))
            if graph.tall or not text or formulas.count("<pre") > 1 or max(map(len, formulas.split("\n"))) > NARROW:
                both = f"<div>{''.join(slide.parts)}</div>"
                taken = high + height_of(text, language, share)
            if taken > room and high > room:
                continue
            if taken > room:
                made.insert(made.index(slide) + is_formula(slide.parts[:1]), Slide(slide.heading, [text]))
                both = f"<div>{formulas}</div>"
            slide.parts = [f'<div class="two{" tall" * graph.tall}">{graph.html}{both}</div>']


def _with_picture(made: list[Slide], language: str) -> None:
    """Put a picture beside the texts that speak of it, before and behind it; one that has no such text stays alone.

    Of a longer text the sentences next to the picture stand beside it.
    """
    for slide in [slide for slide in made if slide.picture]:
        at = made.index(slide)
        behind = next((one for one in made[at + 1 :] if all(map(is_words, one.parts)) and not one.picture), None)
        texts = [one for one in (made[at - 1], behind) if one and one.heading == slide.heading and _is_text(one)]
        for text in texts:
            whole, before = "".join(text.parts), text is made[at - 1]
            near, rest = _near(whole, language, before)
            text.parts = [f'<div class="beside"><div>{near}</div>{slide.parts[0]}</div>']
            if rest:
                made.insert(made.index(text) + (not before), Slide(text.heading, [rest]))
        if texts:
            made.remove(slide)


def _is_text(slide: Slide) -> bool:
    return (
        not slide.kind and not slide.picture and not slide.asks and bool(slide.parts) and all(map(is_text, slide.parts))
    )


def _near(text: str, language: str, before: bool) -> tuple[str, str]:
    """The sentences that fit beside a picture, which are those at the end of a text before it, and the others."""
    sentences = re.findall(r"<p.*?</p>", text, re.DOTALL)[:: -1 if before else 1]
    count, taken = 0, 0.0
    while count < len(sentences) and (not count or taken + height_of(sentences[count], language, 0.4) <= BESIDE):
        taken += height_of(sentences[count], language, 0.4)
        count += 1
    count -= count == len(sentences) - 1 > 1  # one sentence does not stand alone
    near, rest = ("".join(part[:: -1 if before else 1]) for part in (sentences[:count], sentences[count:]))
    return near, rest


def _results(code: str, outcome: dict[str, Any], heading: str, language: str) -> Iterator[Slide]:
    """The slides of a cell of code: each page, its programs with what they print, and each picture."""
    for page in map(Path, outcome["pages"]):
        yield from _asked(page, heading, language)
    steps = outcome["steps"]
    drawn = [i for i, step in enumerate(steps) if step["pictures"]]
    spoke = [i for i, step in enumerate(steps) if step["printed"]]
    early = bool(drawn) and (not spoke or drawn[0] < spoke[0])  # the picture comes first
    pictures = [
        Slide(heading, [image(one)], picture=not stands_alone(one), asks=True) for one in map(Path, outcome["pictures"])
    ]
    if early:
        yield from pictures
    told = programs(code, [step["printed"] for step in steps]) if "LANGUAGE" not in code else []
    for piece in told:
        said = ["\n".join(lines) for lines in sheets(piece.said.rstrip().splitlines())]
        parts = [highlighted(piece.text)] if piece.text else []
        if said and (not parts or height(piece.text) + height(said[0]) <= LINES):
            parts.append(pre(said.pop(0).splitlines(), "said"))
        yield Slide(heading, parts, shown=1)
        yield from (Slide(heading, [pre(text.splitlines(), "said")]) for text in said)
    if not early:
        yield from pictures


def _asked(page: Path, heading: str, language: str) -> Iterator[Slide]:
    """The slides of a page: each question of its lesson with the graph there, and the page itself."""
    text = page.read_text(encoding="utf-8")
    (data,) = (json.loads(found) for found in re.findall(r'id="data">(.*?)</script>', text, re.DOTALL))
    stops = [stop for stop in data["lesson"]["steps"] if stop["question"]]
    asked = [(stop["at"], stop["question"]["kind"], stop["question"]["hides"]) for stop in stops]
    # Where an arrow is asked for, it is that of the step after. A choice changes the picture only if the page hides something.
    steps = [(at - (kind == "edge"), kind if kind != "choice" or hides else "") for at, kind, hides in asked]
    first, *drawn = graphs(page, [(data["turn"], ""), *steps], data["turn"])
    for stop, graph in zip(stops, drawn, strict=True):
        question = stop["question"]
        words = (question["text"] or ASKED[question["kind"]])[language]
        choices = "".join(f"<li>{inline(choice['text'][language])}</li>" for choice in question["choices"])
        html = f'<p class="lead">{inline(words)}</p>' + f"<ul>{choices}</ul>" * bool(choices)
        if graph.equation:
            full = graph.equation.replace("<mn>?</mn>", f"<mn>{graph.answer}</mn>")
            html += f'<div class="swap lead"><p class="before">{graph.equation}</p><p class="after">{full}</p></div>'
        html += f'<p class="after">{_answer(stop, graph.answer, language)}</p>'
        yield Slide(
            heading, [f'<div class="two asked{" tall" * graph.tall}"><div>{html}</div>{graph.html}</div>'], asks=True
        )
    frame = f'<iframe title="{page.stem}" data-page="{escape(text)}"></iframe>'
    yield Slide(heading, [frame], kind="page", graph=first, asks=True)


def _answer(stop: dict[str, Any], found: str, language: str) -> str:
    """What is right as a sentence, and then the reason. ``found`` is a number or an arrow that was asked for."""
    question = stop["question"]
    right = [choice for choice in question["choices"] if choice["right"]]
    answer = ANSWER[language][1].join(choice["text"][language] for choice in right) or found
    reason = right[0]["feedback"][language] if right else stop["text"][language]
    reason = re.sub(r"^(Right|正解です|正解)[.:,。：、]\s*", "", reason)
    reason = re.sub("^[a-z]{2}", lambda found: found[0].capitalize(), reason)  # a word, and no name such as w
    sentence = f"<b>{inline(ANSWER[language][0].format(answer))}</b>" if answer else ""
    return f"{sentence} {inline(reason)}".strip()


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
