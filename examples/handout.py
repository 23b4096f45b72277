"""The exercises of one lesson as a page to print, in English or Japanese.

    python examples/handout.py --lesson 2 --language ja --out out/handout.html
    python examples/handout.py --lesson 2 --answers                             # the teacher's copy

For each task the page has its text and the file that the learner completes, as `minigrad learn init` copies it. A later file of
the same lesson may contain the answer to an earlier task: the page leaves that out. With `--answers` the solutions of all tasks
follow on a page of their own. Open the page in a browser and print it from there; it needs no network.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare()

import argparse
import ast
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

from common import make_folder, run
from minigrad.learn.tasks import LANGUAGES, ORDER, Task, lessons, tasks

WORDS = {
    "en": {
        "title": "Lesson {number}: {title}",
        "name": "Name",
        "date": "Date",
        "answers": "Answers to lesson {number}",
        "given": "stands in your file (task {label})",
        "others": "Another program is right, too, if `minigrad learn check` accepts it.",
        "licence": "From the course of minigrad. Text: CC BY 4.0, code: MIT.",
    },
    "ja": {
        "title": "レッスン{number}：{title}",
        "name": "名前",
        "date": "日付",
        "answers": "レッスン{number}の解答",
        "given": "あなたのファイルに書いてあります（課題 {label}）",
        "others": "ほかの書き方でも、`minigrad learn check` に通れば正解です。",
        "licence": "minigrad のコースより。文章は CC BY 4.0、コードは MIT。",
    },
}
STYLE = """
@page { size: A4; margin: 16mm; }
body { max-width: 178mm; margin: 0 auto; background: #fff; color: #000; line-height: 1.6;
  font: 10.5pt/1.6 "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", "Noto Sans JP", "Segoe UI", Arial, sans-serif; }
h1 { font-size: 15pt; margin: 0 0 4mm; }
h2 { font-size: 12pt; margin: 8mm 0 2mm; }
h1, h2, .file, .lead { break-after: avoid; }
p { margin: 0 0 2mm; orphans: 3; widows: 3; }
pre, code { font-family: Consolas, Menlo, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace; }
pre { font-size: 8pt; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; break-inside: avoid;
  margin: 0 0 2mm 5mm; }
code { font-size: 0.9em; }
.item { margin-left: 5mm; }
.item.first { text-indent: -4mm; }
.example { border: 0.5pt solid #888; padding: 1.5mm 3mm; margin: 3mm 0; break-inside: avoid; }
.example span { display: block; margin-left: 5mm; }
.file { margin: 3mm 0 0; font-size: 8.5pt; font-weight: bold; }
.code pre { margin: 0; padding: 1mm 0 1.5mm 3mm; border-left: 1.5pt solid #888; }
.code pre:first-child { break-after: avoid; }
.who { display: flex; gap: 8mm; margin-bottom: 6mm; }
.who span { border-bottom: 0.5pt solid #000; flex: 1; }
.answers { break-before: page; }
footer { margin-top: 8mm; font-size: 8pt; color: #444; }
@media screen { body { padding: 8mm; } .answers { border-top: 1pt dashed #888; margin-top: 15mm; padding-top: 8mm; } }
"""
WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")  # Japanese letters and punctuation marks
PUNCTUATION = re.compile(r"[\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]")
ITEM = re.compile(r"- |・|\d\. ")
# An asterisk before a letter or a bracket multiplies; it does not end a stressed word.
STRESSED = re.compile(r"\*([^\W\d][^\s*]*)\*(?![A-Za-z0-9_(\[*])")


def page(lesson: int, language: str, *, answers: bool = False) -> str:
    """The handout of a lesson as HTML that needs no other file."""
    words = WORDS[language]
    own = [one for one in tasks() if one.number[0] == lesson]
    title = escape(words["title"].format(number=lesson, title=lessons(language)[lesson]))
    parts = [
        f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n<title>{title}</title>',
        f"<style>{STYLE}</style>\n<h1>{title}</h1>",
        f'<div class="who">{words["name"]} <span></span> {words["date"]} <span></span></div>',
        *_questions(own, language),
    ]
    if answers:
        parts += [
            f'<section class="answers">\n<h1>{words["answers"].format(number=lesson)}</h1>',
            f"<p>{prose(words['others'])}</p>",
            *(_heading(one, language) + code(one.solution.read_text(encoding="utf-8")) for one in own),
            "</section>",
        ]
    return "\n".join([*parts, f"<footer>{words['licence']}</footer>\n</html>\n"])


def _questions(own: list[Task], language: str) -> Iterator[str]:
    """For each task its text without the first line, which is its title, and the file to complete."""
    given: dict[str, str] = {}  # by name of a function: what stands in a later file instead of the answer
    for one in own:
        _, _, body = one.words(language)["task"].strip().partition("\n")
        source = one.text(language)
        yield _heading(one, language)
        yield from text(body)
        yield f'<p class="file">{one.file}</p>'
        yield code(without(source, given))
        said = WORDS[language]["given"].format(label=one.label)
        given |= {name: said for name, node in functions(source) if is_open(node)}


def _heading(one: Task, language: str) -> str:
    return f"<h2>{one.label} {escape(one.words(language)['title'], quote=False)}</h2>"


def text(body: str) -> Iterator[str]:
    """The paragraphs of a task's text as HTML.

    Lines that are indented by four are formulas and keep their form, other lines are joined. The example stands in a box.
    """
    for block in re.split(r"\n\s*\n", body.strip("\n")):
        if block.startswith(("Example", "例")):
            first, *rest = _runs(block)
            if rest and re.search(r"[A-Za-z]$", first[-1]):  # the sentence goes on below
                first += rest.pop(0)
            indented = "".join(f"<span>{prose(line)}</span>" for lines in rest for line in lines)
            yield f'<p class="example">{prose(joined(first))}{indented}</p>'
            continue
        kind = ""
        for lines in _runs(block):
            if lines[0].startswith("    "):
                yield f"<pre>{escape(_dedented(lines), quote=False)}</pre>"
                continue
            if ITEM.match(lines[0]):
                kind = ' class="item first"'
            elif kind:
                kind = ' class="item"'
            yield f"<p{kind}>{prose(joined(lines))}</p>"


def _runs(block: str) -> Iterator[list[str]]:
    """The lines of a block, in runs of formulas or of prose; each item of a list is a run."""
    at = 0

    def key(line: str) -> tuple[bool, int]:
        nonlocal at
        at += bool(ITEM.match(line))
        return line.startswith("    "), at

    for _, lines in groupby(block.splitlines(), key):
        yield list(lines)


def _dedented(lines: list[str]) -> str:
    least = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[least:] for line in lines)


def joined(lines: list[str]) -> str:
    """The lines as one: with a space between, except where Japanese has none, as in 補正した2乗."""
    found = lines[0].strip()
    for line in map(str.strip, lines[1:]):
        ends = found[-1] + line.lstrip("0123456789")[:1]
        closed = len(WIDE.findall(ends)) == 2 or PUNCTUATION.search(ends)
        found += line if closed else f" {line}"
    return found


def prose(line: str) -> str:
    """A line as HTML, with `code` and *stress*."""
    parts = escape(line.strip(), quote=False).split("`")
    parts[::2] = [STRESSED.sub(r"<em>\1</em>", part) for part in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


def functions(source: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a program and the methods of its classes, as `Value.__add__`."""
    for node in ast.parse(source).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        before = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        yield from ((before + part.name, part) for part in inside if isinstance(part, ast.FunctionDef))


def is_open(node: ast.FunctionDef) -> bool:
    """Whether the learner is to write this function."""
    return ast.unparse(node.body[-1]) == "raise NotImplementedError"


def without(source: str, given: Mapping[str, str]) -> str:
    """The program with a comment in place of the bodies of the functions that are named."""
    lines = source.splitlines()
    for name, node in reversed(list(functions(source))):
        if name in given and not is_open(node):
            first = node.body[1 if ast.get_docstring(node) else 0]
            lines[first.lineno - 1 : node.end_lineno] = [f"{' ' * first.col_offset}...  # {given[name]}"]
    return "\n".join(lines)


def code(source: str) -> str:
    """A program without its docstring; a page may end between two definitions, and not within one."""
    end = ast.parse(source).body[0].end_lineno
    pieces = "".join(source.splitlines(keepends=True)[end:]).strip("\n").split("\n\n\n")
    return '<div class="code">' + "".join(f"<pre>{escape(piece, quote=False)}</pre>" for piece in pieces) + "</div>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lesson", type=int, choices=sorted(ORDER), required=True, help="its number")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the texts (default: en)")
    parser.add_argument("--answers", action="store_true", help="add the solutions, behind all tasks")
    parser.add_argument("--out", type=Path, default=Path("out/handout.html"), help="the file (default: %(default)s)")
    args = parser.parse_args()
    make_folder(args.out.parent)
    args.out.write_text(page(args.lesson, args.language, answers=args.answers), encoding="utf-8")
    print(args.out)


if __name__ == "__main__":
    run(main)
