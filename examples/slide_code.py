"""The programs of slides: which parts of a cell are shown, cut into pieces that fit, as HTML with colours."""

from __future__ import annotations

import ast
import contextlib
import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from html import escape

from handout import WIDE

LINES, COLUMNS = 13, 64  # of a program on one slide


def programs(code: str) -> Iterator[str]:
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
        if not defines and height(text) > LINES:
            continue
        parts = ["\n".join(lines) for lines in sheets(text.splitlines())] if defines else [text]
        for part in parts:
            gap = [""] * (bool(shown) and (defines or was))
            if height("\n".join([*shown, *gap, part])) > LINES:
                yield "\n".join(shown)
                shown, gap = [], []
            shown, was = [*shown, *gap, *part.splitlines()], defines
    useful = any(line.startswith(("def ", "class ")) or "print(" in line for line in shown)
    if shown and useful:
        yield "\n".join(shown)


def height(text: str) -> int:
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


def sheets(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines in pieces that fit on a slide each, cut before a blank line where there is one."""
    rest = list(lines)
    while rest:
        most = 1
        while most < len(rest) and height("\n".join(rest[: most + 1])) <= LINES:
            most += 1
        blank = [i for i in range(2, most) if not rest[i].strip()]
        cut = blank[-1] if blank and most < len(rest) else most
        yield rest[:cut]
        rest = rest[cut:]
        while rest and not rest[0].strip():
            rest.pop(0)


def pre(lines: Sequence[str], kind: str) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[indent:] for line in lines)
    columns = max(map(_columns, text.splitlines()), default=0)
    if kind == "formula" and columns > 48:  # its letters shrink until it fits
        kind = f'formula wide" style="--columns: {columns}'
    return f'<pre class="{kind}">{_hung(escape(text, quote=False), text)}</pre>'


def highlighted(source: str) -> str:
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
