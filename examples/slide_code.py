"""The programs of slides: which parts of a cell are shown, cut into pieces that fit, as HTML with colours."""

from __future__ import annotations

import ast
import contextlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import code_lines
from code_lines import hung
from handout import without_texts

LINES, COLUMNS = 15, 64  # of a program on one slide


@dataclass
class Piece:
    """A part of a program that is shown, and what it prints."""

    text: str
    said: str = ""
    defines: bool = False


def programs(code: str, said: Sequence[str] = ()) -> list[Piece]:
    """A program in pieces that fit on a slide each, with what they print; ``said`` is that of each statement.

    A piece ends where something is printed, if the program does not fit as a whole.
    """
    rest, made = _statements(code, said), []
    while rest:
        most = 1
        while most < len(rest) and _fits(_together(rest[: most + 1])):
            most += 1
        prints = [i + 1 for i, one in enumerate(rest[:most]) if one.said]
        cut = prints[-1] if prints and most < len(rest) else most
        made.append(_together(rest[:cut]))
        rest = rest[cut:]
    return [one for one in made if one.said or re.search(r"^(def|class) |print\(", one.text, re.MULTILINE)]


def _fits(piece: Piece) -> bool:
    return height(piece.text) + height(piece.said) <= LINES


def _together(pieces: Sequence[Piece]) -> Piece:
    """Several pieces as one, with a blank line around definitions."""
    text, was = "", None
    for one in filter(lambda one: one.text, pieces):
        if was:
            text += "\n\n" if one.defines or was.defines else "\n"
        text, was = text + one.text, one
    return Piece(text, "".join(one.said for one in pieces))


def _statements(code: str, said: Sequence[str]) -> list[Piece]:
    """The parts of a program that are shown: definitions, and short statements that draw nothing and serve no drawing alone."""
    body = ast.parse(code).body
    drawing: set[str] = set()  # the names of figures and their parts
    shown: list[bool] = []
    for node in body:
        if draws := bool(_names(node) & (drawing | {"plt"})):
            drawing |= _names(node, ast.Store)
        imports = isinstance(node, ast.Import | ast.ImportFrom)
        text = ast.get_source_segment(code, node) or ""
        shown.append(not (draws or imports or "drawn" in _names(node) or "explain(" in text))
    made: list[Piece] = []
    for i, node in enumerate(body):
        heard = said[i] if i < len(said) else ""
        text, defines = ast.get_source_segment(code, node) or "", isinstance(node, ast.FunctionDef | ast.ClassDef)
        text = without_texts(text) if defines else text  # the lesson says the same
        if not shown[i] or (not defines and height(text) > LINES) or _serves_drawing(i, body, shown):
            made += [Piece("", heard)] * bool(heard)
            continue
        parts = ["\n".join(lines) for lines in sheets(text.splitlines())] if defines else [text]
        made += [Piece(part, "", defines and j == 0) for j, part in enumerate(parts)]
        made[-1].said = heard
        made[-1].defines = defines
    return made


def _names(node: ast.AST, use: type[ast.expr_context] = ast.expr_context) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, use)}


def _serves_drawing(i: int, body: Sequence[ast.stmt], shown: Sequence[bool]) -> bool:
    """Whether a statement gives names to values that only what is not shown uses."""
    node = body[i]
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets):
        return False
    for name in _names(node, ast.Store):
        for j in range(i + 1, len(body)):
            if name in _names(body[j], ast.Load) and shown[j] and not _sets_first(name, body[j]):
                return False
            if name in _names(body[j], ast.Store):
                break
    return any(_names(body[j], ast.Load) & _names(node, ast.Store) for j in range(i + 1, len(body)) if not shown[j])


def _sets_first(name: str, node: ast.stmt) -> bool:
    """Whether a loop gives the name its values itself."""
    return isinstance(node, ast.For) and name in _names(node.target) and name not in _names(node.iter)


def height(text: str) -> int:
    """The lines that a text takes on a slide."""
    return sum(code_lines.height(line, COLUMNS) for line in text.splitlines())


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
    columns = max(map(code_lines.columns, text.splitlines()), default=0)
    if kind == "formula" and columns > 48:  # its letters shrink until it fits
        kind = f'formula wide" style="--columns: {columns}'
    texts = False if kind == "said" else None  # what is printed has no other signs
    return f'<pre class="{kind}">{hung(escape(text, quote=False), text, COLUMNS, texts)}</pre>'


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
    return f"<pre>{hung(html, source, COLUMNS)}</pre>"


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])
