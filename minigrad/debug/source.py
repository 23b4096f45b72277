"""Find the lines of a program that a finding names: where a value was made, and where a call stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ..source.index import FUNCTIONS, Index, callee, names_in, written_by

MOST_LINKS = 6  # assignments that are followed from a name to the value
REPEATED = (ast.For, ast.While, ast.FunctionDef, ast.ListComp, ast.GeneratorExp)


def assignments(source: Index, name: str) -> list[tuple[int, ast.expr]]:
    """Return the line and the value of each assignment to a variable or an attribute of this name."""
    return [(made.line, made.value) for made in source.assignments if name in names_of_target(made.target)]


def names_of_target(target: ast.expr) -> list[str]:
    """Return the names that an assignment changes: ``a``, ``b`` in ``a, b.data[:] = ...``."""
    found = []
    for part in written_by(target):
        if isinstance(part, ast.Attribute):
            found += names_of_target(part.value) if part.attr == "data" else [part.attr]
        else:
            found.append(part.id)
    return found


def made_at(source: Index, path: str) -> int | None:
    """Return the line at which the value of a variable was made, such as ``W1``, ``net.back`` or ``layers[0]['W']``.

    Names on the right-hand side are followed: a parameter of a function to its default or to the call, and a function of the
    program to the line that returns.
    """
    key = re.findall(r"\['(\w+)'\]", path)[-1:]  # of a dict that is written out
    for made in source.find(ast.Dict) if key else ():
        for name, value in zip(made.keys, made.values):
            if isinstance(name, ast.Constant) and name.value == key[0]:
                return (isinstance(value, ast.Name) and _follow(source, value.id, 0)) or int(value.lineno)
    words = [word for word in _words(path) if word != "self"]
    for name in reversed(words):  # the attribute itself, or else what holds it
        line = _of_attribute(source, name) if f".{name}" in path else None
        line = line or _follow(source, name, 0)
        if line is not None:
            return line
    return None


def _follow(source: Index, name: str, links: int) -> int | None:
    made = assignments(source, name)
    if not made or links > MOST_LINKS:
        return _of_parameter(source, name) if not made else None
    line, value = made[0]
    for later, other in made[1:]:  # p.data[:] = ... replaces the values that the first assignment made
        if all(read.id != name for read in names_in(other)) and ".data" in source.text(later):
            line, value = later, other
    if isinstance(value, ast.Name):  # self.rate = rate leads to the parameter
        found = _of_parameter(source, name) if value.id == name else _follow(source, value.id, links + 1)
        return found or line
    own = source.definitions(callee(value)) if isinstance(value, ast.Call) else []
    if own and isinstance(own[0], ast.FunctionDef):
        returns = [n for n in ast.walk(own[0]) if isinstance(n, ast.Return) and n.value is not None]
        if returns and isinstance(returns[-1].value, (ast.ListComp, ast.List)):
            return returns[-1].lineno
    return line


def _of_attribute(source: Index, name: str) -> int | None:
    """Return the line that gives a value to ``self.name``, if a variable has this name too."""
    made = [line for line, _ in assignments(source, name)]
    own = [line for line in made if f"self.{name}" in source.text(line)]
    return own[0] if own and own != made else None


def _of_parameter(source: Index, name: str) -> int | None:
    """Return the line of a parameter's default, or of the first call that gives it."""
    for function, place in _with_parameter(source, name):
        arguments = function.args
        if place >= len(arguments.args) - len(arguments.defaults):
            return int(function.lineno)
        owner: Any = source.parents[function]
        constructs = isinstance(owner, ast.ClassDef) and function.name == "__init__"
        calls = source.calls(owner.name if constructs else function.name)
        if calls:
            return calls[0].lineno
    return None


def _with_parameter(source: Index, name: str) -> list[tuple[Any, int]]:
    """Return the functions that have a parameter of this name, and its position."""
    found = [(function, [a.arg for a in function.args.args]) for function in source.find(FUNCTIONS)]
    return [(function, names.index(name)) for function, names in found if name in names]


def values_of(source: Index, name: str, values: Mapping[str, Any]) -> list[Any]:
    """Return the values of a variable, or those that the calls give to a parameter of this name."""
    found = [values.get(name)]
    for function, place in _with_parameter(source, name):
        given = [call.args[place] for call in source.calls(function.name) if len(call.args) > place]
        found += [values.get(getattr(argument, "id", "")) for argument in given]
    return found


def in_loop(source: Index, node: ast.AST) -> bool:
    """Return whether a node runs again and again: inside a loop, a comprehension or a function."""
    return any(isinstance(each, REPEATED) for each in source.around(node))


def generator_line(source: Index) -> int:
    """Return the line that makes a random generator inside a loop, a comprehension or a function; 0 if there is none."""
    made = [c for c in source.calls("default_rng", "seed", "RandomState") if in_loop(source, c) and c.args]
    return made[0].lineno if made else 0


def floor_divisions(node: ast.AST) -> list[int]:
    """Return the lines of the divisions by ``//`` in a part of the program."""
    return [n.lineno for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)]


def is_square(node: ast.BinOp) -> bool:
    """Return whether a part of the program is ``x * x`` or ``x ** 2``."""
    if isinstance(node.op, ast.Mult):
        return ast.dump(node.left) == ast.dump(node.right)
    return isinstance(node.op, ast.Pow) and number(node.right) == 2


def number(node: Any) -> float | None:
    """Return the value of a literal number; None for other expressions."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return float(value) if isinstance(value, (int, float)) else None


def _words(path: str) -> list[str]:
    words = "".join(c if c.isidentifier() or c.isdigit() else " " for c in path).split()
    return [word for word in words if word.isidentifier() and word != "data"]
