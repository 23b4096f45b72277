"""Finds the text of a function that is running or was declared: its statements, and the expression that it returns."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from operator import itemgetter
from types import CodeType
from typing import Any

from .index import index_of


def returned_expression(function: Callable[..., Any]) -> ast.expr | None:
    """Return the expression of a lambda, or of a function with only a ``return``; None if its source cannot be found."""
    body = body_of(function)
    if body is None:
        return None
    rest = [step for step in body if not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))]
    return rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Return) else None


def body_of(function: Callable[..., Any]) -> list[ast.stmt] | None:
    """Return the statements of a function, or the return of a lambda; None if its source cannot be found.

    Its text must use the same names and constants as the compiled code, because the file may have changed since.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    index = index_of(code.co_filename, linecache.getlines(code.co_filename))
    for node in index.nodes:
        alike = isinstance(node, (ast.Lambda, ast.FunctionDef)) and _is_at(node, code)
        if alike and _vocabulary(_compiled(node)) == _vocabulary(code):
            return [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    return None


def names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the names in the text of a function mean: those of its module, and those of the functions around it."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


def _is_at(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Return whether a function is at the position of the code. The columns distinguish several lambdas in a line."""
    if isinstance(node, ast.FunctionDef):
        first = (node.decorator_list[0] if node.decorator_list else node).lineno
        return (node.name, first) == (code.co_name, code.co_firstlineno)
    spans = list(filter(itemgetter(3), code.co_positions()))  # an instruction without a last column belongs to no text
    begin, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return bool(spans) and min(map(itemgetter(0, 2), spans)) == begin and max(map(itemgetter(1, 3), spans)) == end


def _compiled(node: ast.Lambda | ast.FunctionDef) -> CodeType:
    whole = ast.Expression(node) if isinstance(node, ast.Lambda) else ast.Module([node], [])
    code = compile(whole, "<rule>", "eval" if isinstance(node, ast.Lambda) else "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _vocabulary(code: CodeType) -> set[str]:
    """Return the names that the code reads (local, global or attribute) and its constants."""
    constants = {repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)}
    return constants | {*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars}
