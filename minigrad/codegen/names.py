"""Print: the names in a program, each given once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.registry import registry
from ..rules.about import known
from .program import new_name
from .record import Method, Statement, Value, ufunc_of
from .simplify import identity


@dataclass(eq=False)
class GivenNames:
    """The names in one function, each given once.

    Attributes:
        taken: the names that mean something in the function.
        given: the name of each value that has one.
    """

    taken: set[str]
    given: dict[Value, str] = field(default_factory=dict)

    def give(self, value: Value) -> str:
        """Return the name of a value; choose a free one if it has none."""
        if value not in self.given:
            self.given[value] = self.take(self.wanted(value))
        return self.given[value]

    def take(self, wanted: str) -> str:
        """Return ``wanted``, or with the first number that makes it a new name, and take it."""
        return new_name(wanted, self.taken)

    def wanted(self, value: Value) -> str:
        """Return what a value would be called if no other value were."""
        statement = value.statement
        of = value.cotangent_of
        if of is not None:
            names = self.given.get(of), of.name, of.statement.name if of.statement is not None else None
            base = next(filter(str.isidentifier, filter(None, names)), None)
            return f"d{base}" if base else "dz"
        if value.name:
            return value.name
        assert statement is not None
        return statement.name or self._word(statement)

    def _word(self, statement: Statement) -> str:
        """Return the word of the operation that a statement calls, by default the name of the function."""
        call = statement.call
        function = getattr(np, call.__name__, call) if isinstance(call, Method) else ufunc_of(call) or call
        word = statement.word or getattr(call, "word", "")  # a written function has its own
        return word or known(registry.get(function)).word or getattr(function, "__name__", "u")


@dataclass(eq=False)
class Constants:
    """What the functions of a program read and that is no argument.

    Attributes:
        scopes: the names in each function, none of which may hide a constant.
        variables: arrays of the user's program, each with its name there.
        arrays: the arrays, each by its name in the program.
        scipy: whether the program calls ``scipy.special``.
    """

    scopes: Sequence[GivenNames]
    variables: Sequence[tuple[Any, str]]
    arrays: dict[str, Any] = field(default_factory=dict)
    scipy: bool = False
    _names: dict[Any, str] = field(default_factory=dict)

    def name(self, array: Any) -> str:
        key = identity(array)
        if key not in self._names:
            taken = set[str]().union(*[scope.taken for scope in self.scopes])
            users = (name for other, name in self.variables if identity(other) == key)
            name = new_name(next(users, "") or _kind_of(array), taken)
            for scope in self.scopes:
                scope.taken.add(name)
            self._names[key] = name
            self.arrays[name] = array
        return self._names[key]


def _kind_of(array: Any) -> str:
    """Return a word for an array that has no name."""
    if array.dtype.kind in "bui":
        return "mask" if array.dtype.kind == "b" else "integers"
    return {1: "vector", 2: "matrix"}.get(array.ndim, "array")
