"""Writes an expression of the program as one line of text, and takes it apart into its operands."""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from .index import Index, is_starred

MOST_UNPARSED = 200  # characters of an expression; a longer one is cut before it is parsed
MOST_LINES = 8  # lines of an expression; a longer one is cut too


def text_of(index: Index, node: ast.AST, values: Mapping[str, Any] | None = None) -> str:
    """Return an expression as Python writes it, on one printable line. A very long one keeps only its beginning and end.

    ``values`` replace the names of loop variables inside brackets: ``hs[t - 1]`` becomes ``hs[4]``.
    """
    if isinstance(node, ast.AugAssign):
        node = node.target
    text, indexed = index.texts.get(node) or _text(index, node)
    return _unparsed(_Indices(values).visit(copy.deepcopy(node))) if values and indexed else text


def _text(index: Index, node: ast.AST) -> tuple[str, bool]:
    """Return the text of an expression, and whether values may replace names in it."""
    if not hasattr(node, "lineno"):  # it is not part of the file
        return _unparsed(node), True
    first, start, last, end = index.span(node)
    head, tail = index.lines[first - 1][start:], index.lines[last - 1][:end]
    if first == last:
        head = tail = head[: end - start]
    if len(head) > MOST_UNPARSED or last - first > MOST_LINES:
        half = MOST_UNPARSED // 2
        found = printable(" ".join(f"{head[:half]} … {tail[-half:]}".split())), False
    else:
        found = _unparsed(node), any(isinstance(part, ast.Subscript) for part in ast.walk(node))
    index.texts[node] = found
    return found


def _unparsed(node: ast.AST) -> str:
    try:
        return printable(" ".join(ast.unparse(node).split()))
    except (RecursionError, ValueError):
        return ""


class _Indices(ast.NodeTransformer):
    """Writes the values of loop variables into the indices of an expression, and adds and multiplies them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values, self.inside = values, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        self.inside, before = True, self.inside
        node.slice = self.visit(node.slice)
        self.inside = before
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id) if self.inside else None
        return ast.Constant(value) if isinstance(value, (int, str)) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        run = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}.get(type(node.op))
        pair = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
        if not (self.inside and run and len(pair) == 2 and all(type(value) is int for value in pair)):
            return node
        return ast.Constant(run(*pair))


def element(given: Sequence[ast.expr], position: int) -> ast.expr | None:
    """Return one of the operands that the program passes as a list."""
    if given and isinstance(given[0], (ast.List, ast.Tuple)):
        before = given[0].elts[: position + 1]
        return before[position] if position < len(before) and not any(map(is_starred, before)) else None
    if len(given) == 1 and isinstance(given[0], (ast.Name, ast.Attribute)):
        return ast.Subscript(given[0], ast.Constant(position), ast.Load())
    if given and isinstance(given[0], ast.Constant):
        given = given[1:]
    return given[position] if len(given) > 1 and position < len(given) else None


def printable(text: str) -> str:
    """Return a text without line breaks and without escape sequences for the terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
