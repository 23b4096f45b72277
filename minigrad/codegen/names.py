"""Names for the values of a written program: the user's own, the rules' own words, and ``dW`` for the cotangent of ``W``."""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .._source import SourceLine, instruction, of_library
from ..engine.primitive import Primitive
from ..engine.registry import registry
from ..engine.tape import Sweep
from ..engine.tensor import Tensor
from ..rules.about import known
from ..source.index import index_of
from .statements import Method, Statement, Value, key_of, ufunc_of

# Names that the text of a program may use for something else.
RESERVED = {
    "np", "special", "base64", "check_arguments", "as_array", "step", "ARGUMENTS", "range", "reversed", "len", "map", "dict",
    "repr", "slice", "bool", "int", "float", "complex", "str", "list", "type", "isinstance", "hasattr", "zip", "ValueError",
    "TypeError",
}  # fmt: skip
RETURNED = "return"  # no name: it is a keyword


def assigned_name(frame: FrameType | None, result: str | None) -> tuple[str | None, str]:
    """Return the name that what the frame is computing gets, and the word of the operation that returns it, or "".

    The name comes from an assignment there, or where a ``return`` hands it to. ``result`` is the name of what the written
    function itself returns.
    """
    word = ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == "minigrad.codegen.running":
            return result, word
        if module.startswith(("minigrad.codegen", "minigrad.transforms")):
            frame = frame.f_back
            continue
        if module.startswith("minigrad.engine"):
            if frame.f_code is Sweep.run.__code__:
                return None, word
            if frame.f_code is Primitive.__call__.__code__:
                primitive = frame.f_locals["self"]
                if not getattr(primitive, "_numpy", True):  # a function of NumPy is the call of the statement itself
                    word = word or known(primitive).word
            frame = frame.f_back
            continue
        found = assigned_at(*instruction(frame))
        if found is not RETURNED:
            return found, word
        frame = frame.f_back
    return None, word


def variable_of(array: Any, frame: FrameType | None) -> str | None:
    """Return the name of the variable or attribute of the user's program that is an array; None if there is none."""
    while frame is not None:
        if not of_library(frame.f_globals.get("__name__", "")):
            for name, value in _variables(frame):
                if value is array or (isinstance(value, Tensor) and value._array is array):
                    return name
        frame = frame.f_back
    return None


def _variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the variables that a frame can read, and the attributes of its own variables."""
    yield from frame.f_locals.items()
    for value in frame.f_locals.values():
        if type(value).__dictoffset__ and not isinstance(value, (type, ModuleType)):  # no array on paper has a dict
            yield from object.__getattribute__(value, "__dict__").items()
    yield from frame.f_globals.items()


def assigned_at(place: SourceLine, lines: Sequence[str]) -> str | None:
    """Return the name that the expression at a place is assigned to, ``RETURNED`` if it is returned, and None otherwise."""
    index = index_of(place.file, lines)
    node = index.at(place)
    if node is None:
        return None
    return RETURNED if index.returned(node) else _name_of(index.target(node, lists=True))


def _name_of(target: ast.AST | None) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    return _name_of(target.value) if isinstance(target, ast.Subscript) else None


class GivenNames:
    """The names in one function, each given once.

    Attributes:
        of: the name of each value that has one.
    """

    def __init__(self, taken: set[str]) -> None:
        self.of: dict[Value, str] = {}
        self._taken = taken | RESERVED

    def give(self, value: Value) -> str:
        """Return the name of a value; choose a free one if it has none."""
        if value not in self.of:
            self.of[value] = self.take(self.wanted(value))
        return self.of[value]

    def is_unused(self, name: str) -> bool:
        return name not in self._taken

    def take(self, wanted: str) -> str:
        """Return ``wanted``, or with the first number that makes it a new name, and take it."""
        name = unused(wanted, self._taken.__contains__)
        self._taken.add(name)
        return name

    def wanted(self, value: Value) -> str:
        """Return what a value would be called if no other value were."""
        statement = value.statement
        of = value.cotangent_of
        if of is not None:
            names = self.of.get(of), of.name, of.statement.name if of.statement is not None else None
            base = next((name for name in names if name and name.isidentifier()), None)
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


class Constants:
    """The arrays of a program that are no arguments.

    Attributes:
        arrays: each by its name in the program.
    """

    def __init__(self, scopes: Sequence[GivenNames], variables: Sequence[tuple[Any, str]]) -> None:
        self.arrays: dict[str, Any] = {}
        self._names: dict[Any, str] = {}
        self._scopes = scopes  # the names in each function, none of which may hide a constant
        self._variables = {key_of(array): name for array, name in reversed(variables)}

    def name(self, array: Any) -> str:
        key = key_of(array)
        if key not in self._names:
            name = unused(self._variables.get(key) or _kind_of(array), self._is_taken)
            for scope in self._scopes:
                scope.take(name)
            self._names[key] = name
            self.arrays[name] = array
        return self._names[key]

    def _is_taken(self, name: str) -> bool:
        return not all(scope.is_unused(name) for scope in self._scopes)


def _kind_of(array: Any) -> str:
    """Return a word for an array that has no name."""
    if array.dtype.kind in "bui":
        return "mask" if array.dtype.kind == "b" else "integers"
    return {1: "vector", 2: "matrix"}.get(array.ndim, "array")


def unused(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return ``wanted``, or with the first number that makes it a new name."""
    wanted = wanted if wanted.isidentifier() else "u"
    wanted += "_" * keyword.iskeyword(wanted)
    name, number = wanted, 2
    while is_taken(name):
        name = f"{wanted}_{number}" if wanted[-1].isdigit() else f"{wanted}{number}"
        number += 1
    return name


def quoted(key: Any) -> str:
    """Return the text of a key of a dict, with double quotes."""
    return json.dumps(key) if isinstance(key, str) and key.isascii() else repr(key)
