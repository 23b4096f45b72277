"""A lesson as slides for a projector, in English or Japanese: one HTML file, which needs no network.

    python examples/slides.py --lesson 2 --language ja --out out/slides.html

A slide holds one paragraph of the lesson with the formula, list or table that belongs to it, or one box, or a short program
with what it prints, or one picture. The lesson is run for that, which takes some seconds and needs Matplotlib. Open the file in
a browser: the arrow keys, the space bar or a finger turn the slides, and F11 fills the screen. What is too large for the screen
is made smaller. Long programs and the interactive pages are in the lesson alone.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare()

import argparse
import base64
import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import lesson_notebooks
from common import make_folder, run
from handout import joined
from minigrad.learn.tasks import LANGUAGES, ORDER

LONGEST = 16  # lines of a program that is shown; of a longer one, and of one that draws, only the results are
LARGE = 700  # characters on a slide, up to which a formula, list or table joins the paragraph before it
STYLE = """
html { scroll-snap-type: y mandatory; font: 4.8vh/1.5 "Segoe UI", "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP",
  "Noto Sans JP", Arial, sans-serif; }
body { margin: 0; background: #fff; color: #111; }
section { box-sizing: border-box; width: 100%; height: 100vh; padding: 3vh 6vw 6vh; overflow: hidden; position: relative;
  scroll-snap-align: start; scroll-snap-stop: always; display: flex; flex-direction: column; break-after: page; }
h1, h2 { margin: 0 0 2vh; line-height: 1.3; color: #0b4a6f; }
h1 { font-size: 1.67em; margin: auto 0 3vh; }
h2 { font-size: 3.6vh; border-bottom: 0.3vh solid #0b4a6f; flex: none; }
.on { flex: 1; min-height: 0; display: flex; flex-direction: column; justify-content: safe center; }
.title .on { flex: none; margin-bottom: auto; }
p, ul, ol, pre, table { margin: 0 0 2vh; }
li { margin-bottom: 1vh; }
pre, code { font-family: Consolas, Menlo, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace; }
code { font-size: 0.9em; background: #f0f3f5; padding: 0 0.15em; }
pre { font-size: 0.7em; line-height: 1.4; padding: 1vh 1em; background: #f0f3f5; white-space: pre-wrap;
  overflow-wrap: anywhere; }
pre.said { background: #fff; border-left: 0.6vh solid #0b4a6f; }
pre code { background: none; padding: 0; font-size: 1em; }
table { border-collapse: collapse; font-size: 0.85em; }
td, th { border-bottom: 1px solid #999; padding: 0.6vh 0.7em; text-align: left; vertical-align: top; }
.box { border: 0.3vh solid #0b4a6f; padding: 2vh 1em; }
img { min-height: 0; flex: 1; object-fit: contain; max-width: 100%; }
footer { position: absolute; right: 2vw; bottom: 1.5vh; font-size: 12px; color: #555; }
@page { size: 1280px 720px; margin: 0; }
"""
# Turns the slides, and makes the letters of a slide smaller until all of it is in sight.
SCRIPT = """
const slides = [...document.querySelectorAll("section")];
const step = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1};
const end = {Home: 0, End: slides.length - 1};
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in step || event.key in end)) return;
  event.preventDefault();
  const at = Math.round(scrollY / innerHeight) + (event.shiftKey && event.key === " " ? -1 : step[event.key] ?? 0);
  const next = end[event.key] ?? Math.max(0, Math.min(slides.length - 1, at));
  slides[next].scrollIntoView();
});
function fit() {
  for (const slide of slides) {
    slide.style.fontSize = "";
    const on = slide.querySelector(".on");
    for (let percent = 100; percent > 30; percent -= 4) {
      slide.style.fontSize = percent + "%";
      if ([slide, on].every(box => box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth)) break;
    }
  }
}
addEventListener("resize", fit);
addEventListener("load", fit);
"""
ITEM = re.compile(r"(?:- |・|(\d+)\. )")


@dataclass
class Slide:
    """The heading of a slide, and its parts as HTML."""

    heading: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""

    def size(self) -> int:
        return len(re.sub(r"<[^>]+>", "", "".join(self.parts)))

    def unfinished(self) -> bool:
        """Whether the next paragraph belongs here: it explains a formula, or a colon announces it."""
        return not any(part.startswith(("<p>", "<p ")) for part in self.parts) or self.parts[-1].endswith(
            (":</p>", "：</p>")
        )


def slides(path: Path, language: str) -> list[Slide]:
    """The slides of a lesson, which is run in a folder of its own."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    made: list[Slide] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        outcomes = iter(lesson_notebooks.run(path, language))
        for cell in lesson_notebooks.cells(path, language):
            if cell.name is None:
                made += _results(cell.text, next(outcomes), made[-1].heading)
            else:
                made += _texts(cell.text, made[-1].heading if made else "")
    return made


def _texts(text: str, heading: str) -> Iterator[Slide]:
    """The slides of a cell of text: one for each paragraph, with what belongs to it."""
    slide = Slide(heading)
    for kind, lines in blocks(text):
        if kind == "heading":
            if slide.parts:
                yield slide
            heading = inline(lines[0].lstrip("# "))
            slide = Slide(heading, kind="title" if lines[0].startswith("# ") else "")
            continue
        part = PARTS[kind](lines)
        belongs = kind in ("formula", "list", "table") or slide.unfinished()
        if slide.parts and not slide.kind and not (belongs and slide.size() + len(part) < LARGE):
            yield slide
            slide = Slide(heading)
        slide.parts.append(part)
    if slide.parts:
        yield slide


def _results(code: str, outcome: dict[str, Any], heading: str) -> Iterator[Slide]:
    """The slides of a cell of code: the program if it is short, with what it prints, and each picture."""
    code = "\n".join(line for line in code.splitlines() if not line.startswith("mg.explain(")).strip("\n")
    printed = outcome["printed"].rstrip()
    short = len(code.splitlines()) <= LONGEST and not re.search("LANGUAGE|plt[.]|axes[.]", code)
    useful = short and bool(printed or re.search(r"^(def|class) ", code, re.MULTILINE))
    parts = [_pre(code.splitlines())] * useful + [_pre(printed.splitlines(), "said")] * bool(printed)
    if parts:
        yield Slide(heading, parts)
    for picture in outcome["pictures"]:
        content = base64.b64encode(Path(picture).read_bytes()).decode()
        yield Slide(heading, [f'<img alt="{Path(picture).stem}" src="data:image/png;base64,{content}">'])


# Markdown, as far as the lessons use it


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a text, and what each is. A list goes on as long as its lines are indented or begin an item."""
    for block in re.split(r"\n[ ]*\n", text.strip("\n")):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            yield "heading", lines[:1]
            lines = lines[1:]
        if not lines or lines == ["---"]:
            continue
        starts = {"    ": "formula", "|": "table", ">": "box"}
        kind = next((kind for start, kind in starts.items() if lines[0].startswith(start)), "")
        yield kind or ("list" if ITEM.match(lines[0]) else "paragraph"), lines


def inline(text: str) -> str:
    """A line as HTML, with `code`, **bold**, *stress*, and the words of links."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        codes.append(f"<code>{escape(match[1], quote=False)}</code>")
        return f"\0{len(codes) - 1}\0"

    text = escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(
        r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*(])|(?<=[^\x00-\x7f])\*([^\s*]+)\*", r"<em>\1\2</em>", text
    )
    return re.sub("\0(\\d+)\0", lambda match: codes[int(match[1])], text)


def _paragraph(lines: Sequence[str]) -> str:
    return f"<p>{inline(joined(list(lines)))}</p>"


def _box(lines: Sequence[str]) -> str:
    return f'<p class="box">{inline(joined([line.lstrip("> ") for line in lines]))}</p>'


def _pre(lines: Sequence[str], kind: str = "") -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = escape("\n".join(line[indent:] for line in lines), quote=False)
    return f'<pre class="{kind}">{text}</pre>' if kind else f"<pre>{text}</pre>"


def _list(lines: Sequence[str]) -> str:
    items: list[list[str]] = []
    for line in lines:
        if ITEM.match(line):
            items.append([ITEM.sub("", line, count=1)])
        else:
            items[-1].append(line)
    tag = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{tag}>{''.join(f'<li>{inline(joined(item))}</li>' for item in items)}</{tag}>"


def _table(lines: Sequence[str]) -> str:
    rows = [[inline(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in lines]
    head, _, *body = rows
    html = "".join(f"<th>{cell}</th>" for cell in head) if any(head) else ""
    return f"<table>{'<tr>' * bool(html)}{html}{_rows(body)}</table>"


def _rows(rows: list[list[str]]) -> str:
    return "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)


PARTS = {"paragraph": _paragraph, "box": _box, "formula": _pre, "list": _list, "table": _table}


def page(path: Path, language: str) -> str:
    """The slides as HTML that needs no other file."""
    made = slides(path, language)
    title = re.sub(r"<[^>]+>", "", made[0].heading)
    parts = [f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n<title>{title}</title>']
    parts.append(f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>')
    for number, slide in enumerate(made, 1):
        tag = "h1" if slide.kind else "h2"
        head = f"<{tag}>{slide.heading}</{tag}>"
        foot = f"<footer>{number} / {len(made)}</footer>"
        on = f'<div class="on">{"".join(slide.parts)}</div>'
        parts.append(f'<section class="{slide.kind}">{head}{on}{foot}</section>')
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
