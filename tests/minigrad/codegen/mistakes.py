"""Mistakes for the writer to make: in the statements before they become text, or in the text of ``step`` itself."""

import ast
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from minigrad.codegen.record import Augmented, Check, Statement, Value

Change = Callable[[], Any]


def drop_a_check(statements: list[Statement], dice: random.Random) -> bool:
    checks = [i for i, statement in enumerate(statements) if isinstance(statement, Check)]
    if checks:
        del statements[dice.choice(checks)]
    return bool(checks)


def freeze_a_value(statements: list[Statement], dice: random.Random) -> bool:
    places = [
        (statement, i)
        for statement in statements
        for i, arg in enumerate(statement.args)
        if type(arg) is Value and arg.depends and statement.target is None and not isinstance(statement, Check)
    ]
    if places:
        statement, i = dice.choice(places)
        value: Any = statement.args[i].data
        statement.args = (*statement.args[:i], np.array(value) if np.ndim(value) else value, *statement.args[i + 1 :])
    return bool(places)


def swap_two_statements(statements: list[Statement], dice: random.Random) -> bool:
    if len(statements) < 2:
        return False
    i = dice.randrange(len(statements) - 1)
    statements[i : i + 2] = statements[i + 1], statements[i]
    return True


def forget_an_addition(statements: list[Statement], dice: random.Random) -> bool:
    additions = [i for i, statement in enumerate(statements) if isinstance(statement.call, Augmented)]
    if additions:
        del statements[dice.choice(additions)]
    return bool(additions)


# --- In the text: each yields the changes that it could make ---


def replace_a_constant(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            old: Any = node.value
            new = not old if type(old) is bool else old + 1 if type(old) is int else old * 1.25 or 1.0
            yield partial(setattr, node, "value", new)


def exchange_two_arguments(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            yield partial(node.__dict__.update, left=node.right, right=node.left)
        if isinstance(node, ast.Call):
            for i in range(len(node.args) - 1):
                exchanged = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
                yield partial(setattr, node, "args", exchanged)


def drop_a_copy(tree: ast.AST) -> Iterator[Change]:
    for put, child in _expressions(tree):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "copy":
            yield partial(put, child.func.value)


def turn_a_loop_once_less(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            last: Any = node.args[-1]
            yield partial(setattr, last, "value", last.value - 1)


def take_another_size(tree: ast.AST) -> Iterator[Change]:
    """Put ``x.shape[1]`` in place of ``len(x)``, and the other way round."""
    for put, child in _expressions(tree):
        text = ast.unparse(child)
        if isinstance(child, ast.Call) and text.startswith("len("):
            yield partial(put, ast.parse(text[4:-1] + ".shape[1]", mode="eval").body)
        elif isinstance(child, ast.Subscript) and ast.unparse(child.value).endswith(".shape"):
            yield partial(put, ast.parse(f"len({text.partition('.')[0]})", mode="eval").body)


def _expressions(tree: ast.AST) -> Iterator[tuple[Callable[[ast.expr], None], ast.expr]]:
    """Yield each expression in a tree, and a function that puts another in its place."""
    for node in ast.walk(tree):
        for name, field in ast.iter_fields(node):
            if isinstance(field, ast.expr):
                yield partial(setattr, node, name), field
            for i, item in enumerate(field if isinstance(field, list) else []):
                if isinstance(item, ast.expr):
                    yield partial(field.__setitem__, i), item


IN_STATEMENTS = [drop_a_check, freeze_a_value, swap_two_statements, forget_an_addition]
IN_TEXT = [replace_a_constant, exchange_two_arguments, drop_a_copy, turn_a_loop_once_less]
