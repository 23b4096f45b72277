"""The text of the user's program: its calls, the values that its names and expressions stand for, and what repeats."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._source import SourceLine
from ..source.index import FUNCTIONS, Index, callee, index_of, value_of, written_by

At = tuple[str, int]  # a line of the program: the file and the number


class Program:
    """The files of a program, with the values that its variables had at the last full look.

    Attributes:
        names: the variables.
        scopes: the function of each, by its first line.
    """

    def __init__(self, files: Mapping[str, Sequence[str]], names: Mapping[str, Any], scopes: Mapping[str, int]) -> None:
        self.files, self.names, self.scopes = files, names, scopes
        self.until = 0  # the line of the sweep, before which the program makes what it trains with
        self._values: dict[ast.AST, Any] = {}

    def index(self, file: str) -> Index:
        return index_of(file, self.files.get(file, ()))

    def text(self, at: At) -> str:
        return self.index(at[0]).text(at[1])

    def expression(self, place: SourceLine | None) -> Any:
        """Return the expression at a place; None if it cannot be found."""
        return None if place is None else self.index(place.file).at(place)

    def in_loop(self, at: At) -> bool:
        """Return whether a loop or a comprehension runs what begins on a line."""
        index = self.index(at[0])
        return any(index.loops(node) for node in index.on_line((ast.expr, ast.stmt), at[1]))

    def calls(self, *wanted: Any) -> list[tuple[Index, ast.Call]]:
        """Return the calls of these functions or methods, or of these classes or their subclasses, under any name."""
        return [(index, call) for index, call in self._calls if self.is_one(call.func, *wanted)]

    def method(self, call: ast.Call) -> tuple[Any, str]:
        """Return the object whose method a call calls, and the method; None and an empty text for another call."""
        func = call.func
        return (self.value(func.value), func.attr) if isinstance(func, ast.Attribute) else (None, "")

    @functools.cached_property
    def _calls(self) -> list[tuple[Index, ast.Call]]:
        return [(index, call) for index in map(self.index, self.files) for call in index.find(ast.Call)]

    def is_one(self, function: ast.AST, *wanted: Any) -> bool:
        """Return whether a name or an attribute stands for one of these functions, or for a class or a subclass of it."""
        value = self.value(function)
        if isinstance(value, type):
            return any(isinstance(each, type) and issubclass(value, each) for each in wanted)
        return value is not None and any(value is each for each in wanted)

    def methods(self, owner: type) -> list[tuple[Index, ast.Call]]:
        """Return the calls of any method of the objects of a class."""
        return [
            (index, call)
            for index, call in self._calls
            if isinstance(call.func, ast.Attribute) and isinstance(self.value(call.func.value), owner)
        ]

    def value(self, node: ast.AST) -> Any:
        """Return what a name or an attribute stands for; a literal number as itself; None if it is not known."""
        if node not in self._values:
            value = node.value if isinstance(node, ast.Constant) else value_of(node, self.names)
            if value is None and isinstance(node, ast.Name):
                value = getattr(builtins, node.id, None)
            if isinstance(node, ast.Call) and len(node.args) == 1:  # a number such as np.uint8(100)
                kind, held = self.value(node.func), self.value(node.args[0])
                if isinstance(kind, type) and issubclass(kind, np.number) and isinstance(held, int):
                    value = kind(held)
            self._values[node] = getattr(value, "__func__", value)
        return self._values[node]

    def array(self, index: Index, node: ast.expr) -> Any:
        """Return the array of a name or of a part of one by constants, also of a parameter that one call gives; else None."""
        match node:
            case ast.Call(func=func, args=[first, *_]) if self.value(func) is np.round or isinstance(
                self.value(func), np.ufunc
            ):
                held = self.array(index, first)
                return self.value(func)(held) if isinstance(held, np.ndarray) else None
            case ast.Subscript():
                held = self.array(index, node.value)
                key = tuple(map(_constant, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))
                try:
                    return held[key] if isinstance(held, np.ndarray) and None not in key else None
                except IndexError:
                    return None
            case ast.Name():
                own = function_around(index, node)
                given = [index.argument(own, node.id, c) for c in index.calls(own.name)] if own is not None else []
                if given and given[0] is not None and given[0] is not node:
                    return self.array(index, given[0])
        return self.value(node)

    def argument(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """Return the argument of a call by its keyword or its position."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        return call.args[position] if position is not None and position < len(call.args) else None

    def assigned(self, index: Index, name: str) -> list[tuple[int, ast.expr]]:
        """Return the line and the value of each assignment to a name."""
        return [(a.line, a.value) for a in index.assignments if name in names_of_target(a.target)]

    def repeats(self, index: Index, node: ast.AST, around: int) -> bool:
        """Return whether a node runs again in each turn of the innermost loop around a line, there or in a function called."""
        here = [n for n in index.find(ast.stmt) if n.lineno <= around <= (n.end_lineno or 0)]
        loops = [n for n in here if isinstance(n, (ast.For, ast.While))]
        caller = index.function_at(around)
        if caller is not None and not any(loop.lineno >= caller.lineno for loop in loops):  # a step in its own function
            loops += [loop for call in index.calls(caller.name) for loop in index.loops(call)]
        within: list[Any] = [loops[-1]] if loops else []
        for part in within:
            names = set()
            for each in ast.walk(part):
                if each is node:
                    return True
                names |= {callee(each)} if isinstance(each, ast.Call) else set()
            iterated = getattr(part, "iter", None)
            if iterated is not None and part is within[0] and any(each is node for each in ast.walk(iterated)):
                return False  # the loop computes what it runs over once
            within += [f for name in names for f in index.definitions(name) if f not in within]
        return False


def function_around(index: Index, node: ast.AST) -> Any:
    """Return the innermost function around a node; None outside of functions."""
    return next((each for each in index.around(node) if isinstance(each, FUNCTIONS)), None)


def _constant(node: ast.expr) -> Any:
    """Return the part of an index that is written as a number or as a slice of numbers; None for others."""
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        known = all(each is None or isinstance(each, ast.Constant) for each in ends)
        return slice(*(getattr(each, "value", None) for each in ends)) if known else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def names_of_target(target: ast.expr) -> list[str]:
    """Return the names that an assignment changes: ``a``, ``b`` in ``a, b.data[:] = ...``."""
    found = []
    for part in written_by(target):
        if isinstance(part, ast.Attribute):
            found += names_of_target(part.value) if part.attr == "data" else [part.attr]
        else:
            found.append(part.id)
    return found


def floor_divisions(node: ast.AST) -> list[int]:
    """Return the lines of the divisions by ``//`` in a part of the program."""
    return [n.lineno for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)]
