"""Finds the operands of an operation in the expression of the program that called it."""

from __future__ import annotations

import ast

from ...source.expressions import element, operands
from ...source.index import Index, is_starred
from .rounds import Called


def operand(node: ast.AST, called: Called | None, operation: str, argument: str, position: int) -> ast.expr | None:
    """Return the expression of one argument. The operation must be this whole expression."""
    given = operands(node)
    if isinstance(node, ast.Call):
        if called is None or called.name != operation:
            return None
        for keyword in node.keywords:
            if keyword.arg == argument:
                return keyword.value
        given = _with_object(node, called)
        if argument.isdigit():  # one of a variable number of operands, in a list or after a text (einsum)
            return element(given, position)
    return given[position] if position < len(given) else None


def only_operand(node: ast.AST, called: Called | None, module: bool) -> ast.expr | None:
    """Return the only operand of a call that is not a literal; else None. ``module``: whether a module may be called."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    given = node.args if module and not any(map(is_starred, node.args)) else _with_object(node, called)
    found = [each for each in given if not isinstance(each, ast.Constant)]
    return found[0] if len(found) == 1 else None


def _with_object(call: ast.Call, called: Called | None) -> list[ast.expr]:
    """Return the arguments by position. For a method of a value, the value comes first."""
    of_value = isinstance(call.func, ast.Attribute) and called is not None and called.of_value
    return [call.func.value, *operands(call)] if isinstance(call.func, ast.Attribute) and of_value else operands(call)


def taker(index: Index, node: ast.AST, called: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the target that takes elements one by one, and their container: ``x`` and ``xs`` in ``for x in xs``.

    Args:
        called: the name of Python's function that is called there, if one is.
    """
    parent = index.parents.get(node)
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):  # a, b = xs
        return node, parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None
    if isinstance(node, ast.For):  # the position is the loop's in Python 3.11, the iterable's in later versions
        parent, node = node, node.iter
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
        parent, node = node.generators[0], node.generators[0].iter
    if not isinstance(node, ast.expr):
        return None, None
    whole, target = node, None
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        target = parent.target
    if isinstance(node, ast.Call):
        if not node.args or isinstance(node.func, ast.Attribute):
            return None, None
        whole = node.args[0]
        if target is not None and called == "enumerate" and isinstance(target, ast.Tuple):
            target = target.elts[-1]
        elif called not in ("sum", "list", "tuple", "reversed"):
            return None, None
    return target if isinstance(target, ast.Name) else None, whole


def targets(index: Index, node: ast.AST) -> list[ast.expr]:
    """Return the targets of an expression with several results: ``a, b = expression``."""
    parent = index.parents.get(node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, (ast.Tuple, ast.List)) or not all(isinstance(each, ast.Name) for each in target.elts):
        return []
    return target.elts
