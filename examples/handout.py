"""The exercises of one lesson as sheets to print and fill in, in English or Japanese.

    python examples/handout.py --lesson 2 --language ja     # out/handout_2_ja.html
    python examples/handout.py --lesson 2 --answers         # also the teacher's copy, out/handout_2_en_answers.html

The first page has the graph of the program with which the lesson opens: its values, slopes and gradients are blank. For each
task follows a page with its text, the program with blanks for what the learner writes, and lines to work on: with little
room there, a page of lines follows. A later file of the same lesson may contain the answer to an earlier task: the sheet
leaves that out. The last page asks for the lesson's paragraph, and has room for the last task. The answers are a file of
their own, so no print has them by mistake. Open a file in a browser and print it from there; it needs no network.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import argparse
import ast
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

import lesson_notebooks
from code_lines import WIDE, hung
from common import make_folder, run
from graph_sheet import sheet
from minigrad.learn.tasks import LANGUAGES, ORDER, Task, lessons, tasks

WORDS = {
    "en": {
        "title": "Lesson {number}: {title}",
        "name": "Name",
        "date": "Date",
        "answers": "Answers to lesson {number}",
        "given": "stands in your file (task {label})",
        "others": "Another program is right, too, if `minigrad learn check` accepts it.",
        "graph": "The first program: fill in the values from the top, {slopes}then the gradients from below, starting with "
        "{end}.{adds}",
        "slopes": "then the slope of each arrow that has a box (·), ",
        "adds": " Where a value is used more than once, a number arrives from each use: write each, and their sum.",
        "room": "Room to work",
        "explain": "In your own words",
        "licence": "From the course of minigrad. Text: CC BY 4.0, code: MIT.",
    },
    "ja": {
        "title": "レッスン{number}：{title}",
        "name": "名前",
        "date": "日付",
        "answers": "レッスン{number}の解答",
        "given": "あなたのファイルに書いてあります（課題 {label}）",
        "others": "ほかの書き方でも、`minigrad learn check` に通れば正解です。",
        "graph": "最初のプログラム：上から順に値を、{slopes}最後に下から順に勾配を書き入れましょう。{end} から始めます。{adds}",
        "slopes": "次に枠のある矢印の傾き（·）を、",
        "adds": "何度か使う値には、使った回数だけ数が届きます。一つずつ書いてから、その和を書きましょう。",
        "room": "計算・メモ",
        "explain": "自分の言葉で",
        "licence": "minigrad のコースより。文章は CC BY 4.0、コードは MIT。",
    },
}
STYLE = """
@page { size: A4; margin: 18mm 16mm; }
body { max-width: 178mm; margin: 0 auto; background: #fff; color: #000;
  font: 11pt/1.5 "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", "Noto Sans JP", "Segoe UI", Arial, sans-serif; }
h1 { font-size: 16pt; margin: 0 0 4mm; }
h2 { font-size: 13pt; margin: 9mm 0 2mm; }
h1, h2, .file, .lead { break-after: avoid; }
p { margin: 0 0 2mm; orphans: 3; widows: 3; }
pre, code { font-family: Consolas, Menlo, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace; }
pre { font-size: 9.5pt; line-height: 1.4; white-space: pre-wrap; overflow-wrap: anywhere; break-inside: avoid;
  margin: 0 0 2mm 5mm; }
code { font-size: 0.92em; }
.item { margin-left: 5mm; }
.item.first { text-indent: -4mm; }
.example { border: 0.5pt solid #888; padding: 1.5mm 3mm; margin: 3mm 0; break-inside: avoid; }
.example span { display: block; margin-left: 5mm; }
.file { margin: 3mm 0 0; font-size: 10pt; font-weight: bold; }
.code pre { margin: 0; padding: 1mm 0 1.5mm 3mm; border-left: 1.5pt solid #888; }
.long { display: block; padding-left: var(--deep); text-indent: calc(-1 * var(--deep)); }
.code pre:first-child { break-after: avoid; }
.who { display: flex; gap: 8mm; margin-bottom: 6mm; }
.who span { border-bottom: 0.5pt solid #000; flex: 1; }
pre.open { line-height: 8.2mm; }
.code .blank { display: inline-block; border-bottom: 0.7pt solid #000; height: 6mm; vertical-align: baseline; }
.sheet { min-height: 255mm; display: flex; flex-direction: column; break-after: page; }
.sheet > * { flex: none; }
.sheet > h2:first-child { margin-top: 0; }
.room { margin: 3mm 0 0; flex: 1 0 16mm; position: relative; overflow: hidden; break-inside: avoid; }
.graph + .room { flex: 1 0 0; }
.room span { font-size: 9pt; color: #555; }
.room .lines { position: absolute; inset: 5mm 0 0; overflow: hidden; }
.lines div { height: 8mm; border-bottom: 0.4pt solid #999; box-sizing: border-box; }
.graph { break-inside: avoid; display: flex; flex-wrap: wrap; gap: 4mm; }
.start code { white-space: nowrap; }
.graph svg { flex: none; margin: 0 auto; }
.graph pre { font-size: 11pt; margin: 2mm 0 0; }
section { break-inside: avoid; }
section:last-of-type { break-after: auto; }
small { font-size: 8pt; font-weight: normal; color: #444; display: block; margin: 2mm 0 0; text-align: right; }
@media screen { body { padding: 12mm 8mm; } }
"""
# A task with less than 8 lines to work on goes on on a page of lines, or has 12 lines if it is longer than a page.
# The last task goes on below the question in words.
MORE = """<script>
const rooms = [...document.querySelectorAll(".sheet:not(:has(.graph)) > .room")];
for (const room of rooms.slice(0, -2)) {
  const [sheet, lines] = [room.parentElement, room.querySelector(".lines")];
  if (lines.clientHeight >= 8 * lines.firstChild.offsetHeight) continue;
  const more = sheet.cloneNode();
  more.append(room.cloneNode(true));
  if (sheet.offsetHeight > parseFloat(getComputedStyle(sheet).minHeight) + 1) room.style.flexBasis = "102mm";
  else sheet.after(more);
}
</script>"""
BLANK = "\u2581"  # a letter of a blank: no program has it
LEAST, LONG = 14, 60  # letters of a blank, which a hand fills in, and of one on a line
ON_A_PAGE, EXPLAIN = 32, 12  # lines to write on, and those for an answer in words
COLUMNS = 84  # letters of a line of a program
PUNCTUATION = re.compile(r"[\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]")
ITEM = re.compile(r"- |・|\d\. ")
# An asterisk before a letter or a bracket multiplies; it does not end a stressed word.
STRESSED = re.compile(r"\*([^\W\d][^\s*]*)\*(?![A-Za-z0-9_(\[*])")


def page(lesson: int, language: str) -> str:
    """The handout of a lesson as HTML that needs no other file."""
    words = WORDS[language]
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == lesson)
    who = f'<div class="who">{words["name"]} <span></span> {words["date"]} <span></span></div>'
    drawn = "".join(_graph(path, language))
    explain = f"<h2>{words['explain']}</h2>\n<p>{prose(question(path, language))}</p>{_lines(EXPLAIN)}"
    more = _room(f"{_own(lesson)[-1].label} {words['room']}")  # for the last task, on the rest of the last page
    sheets = [f"{drawn}{_room(words['room'])}"] * bool(drawn)
    sheets += [*_questions(_own(lesson), language), f"{explain}{more}"]
    sheets[0] = f"{_title(lesson, language, words['title'])}{who}{sheets[0]}"
    sheets[-1] += f"<small>{words['licence']}</small>"
    parts = [f'<section class="sheet">{one}</section>' for one in sheets]
    return _document(lesson, language, words["title"], [*parts, MORE])


def answers(lesson: int, language: str) -> str:
    """The teacher's copy: the numbers of the graph and the solutions, as HTML."""
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == lesson)
    title = _title(lesson, language, WORDS[language]["answers"])
    parts = [title, *_graph(path, language, answers=True), f"<p>{prose(WORDS[language]['others'])}</p>"]
    for one in _own(lesson):
        parts.append(_heading(one, language) + code(without_texts(one.solution.read_text(encoding="utf-8"))))
    parts.append(f"<section><h2>{WORDS[language]['explain']}</h2>\n<p>{prose(question(path, language))}</p>")
    return _document(
        lesson, language, WORDS[language]["answers"], [*parts, f"{model_answer(path, language)}</section>"]
    )


def _own(lesson: int) -> list[Task]:
    return [one for one in tasks() if one.number[0] == lesson]


def _document(lesson: int, language: str, title: str, parts: list[str]) -> str:
    title = re.sub("<.*?>", "", _title(lesson, language, title))
    head = f'<!DOCTYPE html>\n<html lang="{language}">\n<meta charset="utf-8">\n<title>{title}</title>'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</html>\n"])


def _title(lesson: int, language: str, title: str) -> str:
    return f"<h1>{escape(title.format(number=lesson, title=lessons(language)[lesson]))}</h1>\n"


def _room(words: str) -> str:
    """Lines to write on, as many as the rest of the page has room for."""
    return f'<div class="room"><span>{words}</span>{_lines(ON_A_PAGE)}</div>'


def _lines(count: int) -> str:
    return f'<div class="lines">{"<div></div>" * count}</div>'


def _graph(path: Path, language: str, *, answers: bool = False) -> Iterator[str]:
    if drawn := sheet(path, answers=answers):
        program, graph = drawn
        (end,) = re.findall(r"\b(\w+) = [^\n]*\s*$", program)  # what the last line computes
        words = WORDS[language]
        slopes, adds = words["slopes"] * ("dasharray" in graph), words["adds"] * (">+</text>" in graph)
        told = words["graph"].format(end=f"`d{end}/d{end} = 1`", slopes=slopes, adds=adds)
        yield f"<p class=start>{prose(told)}</p>"
        yield f'<div class="graph"><pre>{escape(program, quote=False)}</pre>{graph}</div>'


def question(path: Path, language: str) -> str:
    """What the learner explains at the end of a lesson: the text in italics before the rule, behind which the answers stand."""
    text = next(cell.text for cell in lesson_notebooks.cells(path, language) if cell.name and "\n---\n" in cell.text)
    last = text.partition("\n---\n")[0].strip().rpartition("\n\n")[2]
    return re.findall(r"\*(\S.*\S)\*", joined(last.splitlines()))[0]


def model_answer(path: Path, language: str) -> str:
    """The lesson's answer to that question as HTML: the first paragraph behind the rule."""
    text = next(cell.text for cell in lesson_notebooks.cells(path, language) if cell.name and "\n---\n" in cell.text)
    first = text.partition("\n---\n")[2].strip().partition("\n\n")[0]
    return f"<p>{prose(joined(first.splitlines()).replace('**', ''))}</p>"


def _questions(own: list[Task], language: str) -> Iterator[str]:
    """For each task its text without the first line, which is its title, the file with blanks, and lines to work on."""
    given: dict[str, str] = {}  # by name of a function: what stands in a later file instead of the answer
    for one in own:
        _, _, body = one.words(language)["task"].strip().partition("\n")
        source = one.text(language)
        program = without_texts(blanked(without(source, given), one.solution.read_text(encoding="utf-8")))
        file = f'<p class="file">{one.file}</p>'
        yield "\n".join(
            [_heading(one, language), *text(body), file, code(program), _room(f"{one.label} {WORDS[language]['room']}")]
        )
        said = WORDS[language]["given"].format(label=one.label)
        given |= {name: said for name, node in functions(source) if is_open(node)}


def _without_docstring(source: str) -> list[str]:
    end = ast.parse(source.replace(BLANK, "_")).body[0].end_lineno
    return "".join(source.splitlines(keepends=True)[end:]).strip("\n").splitlines()


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
                formula = _dedented(lines)
                yield f"<pre>{hung(escape(formula, quote=False), formula, COLUMNS, texts=None)}</pre>"
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


def blanked(source: str, solution: str) -> str:
    """The program with the solution's lines in the place of what the learner writes, and blanks in place of its expressions."""
    found, lines = dict(functions(solution)), source.splitlines()
    for name, node in reversed(list(functions(source))):
        if is_open(node) and name in found:
            first, last = node.body[-1].lineno, node.body[-1].end_lineno
            lines[first - 1 : last] = _blanks(found[name], solution)
    return "\n".join(lines)


def _blanks(function: ast.FunctionDef, solution: str) -> list[str]:
    """The lines of a function's body with blanks for what is computed, asked or called there."""
    body = function.body[ast.get_docstring(function) is not None :]
    spans = [span for statement in body for node in ast.walk(statement) for span in _spans(node)]
    lines = solution.splitlines()
    for node in sorted(spans, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        size = max(LEAST, len(ast.unparse(node)))
        rest = lines[last].encode()[node.end_col_offset :].decode()
        lines[first : last + 1] = [lines[first].encode()[: node.col_offset].decode() + BLANK * size + rest]
        for other in range(last - first):
            lines.insert(first + 1 + other, "")  # so that the numbers of the lines stay
    return [line.partition("  #")[0] for line in lines[body[0].lineno - 1 : body[-1].end_lineno] if line.strip()]


def _spans(node: ast.AST) -> list[ast.expr]:
    """The expressions of a statement for which there is a blank."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        return list(node.value.args)  # the name of what is called is the hint
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr) and node.value:
        return [node.value]
    if isinstance(node, ast.Return) and node.value:
        return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    if isinstance(node, ast.For):
        return [node.iter]
    return [node.test] if isinstance(node, ast.If | ast.While) else []


def without_texts(source: str) -> str:
    """The program without the texts of its functions: they say again, in English, what the task says."""
    tree, lines = ast.parse(source.replace(BLANK, "_")), source.splitlines()
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in sorted(found, key=lambda node: node.lineno, reverse=True):
        if ast.get_docstring(node) and len(node.body) > 1:
            lines[node.body[0].lineno - 1 : node.body[0].end_lineno] = []
    return re.sub(r"(:\n)\n+", r"\1", "\n".join(lines))


def code(source: str) -> str:
    """A program without its docstring; a page may end where a line is empty."""
    pieces = re.split(r"\n\n+", "\n".join(_without_docstring(source)))
    html = [
        f"<pre{' class=open' * (BLANK in piece)}>{hung(escape(piece, quote=False), piece, COLUMNS)}</pre>"
        for piece in pieces
    ]
    return f'<div class="code">{re.sub(BLANK + "+", _line, "".join(html))}</div>'


def _line(blank: re.Match[str]) -> str:
    """A blank as long as its answer, on several lines if that is longer than one."""
    count = -(-len(blank[0]) // LONG)
    one = f'<span class="blank" style="width: {min(len(blank[0]), LONG)}ch"></span>'
    return f"\n{' ' * 8}".join([one] * count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lesson", type=int, choices=sorted(ORDER), required=True, help="its number")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the texts (default: en)")
    parser.add_argument("--answers", action="store_true", help="write the solutions, too, into a file of their own")
    parser.add_argument("--out", type=Path, help="the file (default: out/handout_LESSON_LANGUAGE.html)")
    args = parser.parse_args()
    out = args.out or Path(f"out/handout_{args.lesson}_{args.language}.html")
    made = {out: page(args.lesson, args.language)}
    if args.answers:
        made[out.with_stem(f"{out.stem}_answers")] = answers(args.lesson, args.language)
    make_folder(out.parent)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    run(main)
