"""A written program as data: the values it computes and the statements that compute them, in the order of execution."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._source import SourceLine
from ..engine.observers import Scope
from ..engine.types import Node


class Memory:
    """The memory of one array, which the values that are views of it share.

    Attributes:
        caller: the memory belongs to an argument or a constant, so the program must not write to it.
        writes: the numbers of the statements that write to it.
    """

    __slots__ = ("caller", "writes")

    def __init__(self, caller: bool = False) -> None:
        self.caller = caller
        self.writes: list[int] = []


class Value:
    """An array or a number that the program computes, or one of its arguments.

    Attributes:
        data: its value in the run that was written down.
        statement: the statement that computes it; None for an argument.
        index: its position among several outputs of the statement; None for the only output.
        memory: the memory that it shares with other values.
        depends: whether it depends on the arguments.
        name: the name of an argument, or the name that the user's program assigns it to.
        cotangent_of: the value whose cotangent this is.
    """

    __slots__ = ("cotangent_of", "data", "depends", "index", "memory", "name", "statement")

    def __init__(
        self, data: Any, statement: Statement | None, depends: bool, memory: Memory, index: int | None = None
    ) -> None:
        self.data = data
        self.statement = statement
        self.index = index
        self.memory = memory
        self.depends = depends
        self.name: str | None = None
        self.cotangent_of: Value | None = None


class Statement:
    """One call: ``outputs = call(*args, **keywords)``. Where an argument is a value of the program, it is a :class:`Value`.

    Attributes:
        number: its position in the order of execution.
        target: the value that the call writes to, for a statement without outputs.
        place: the line of the user's program that ran it.
        name: the name that the user's program, or the rule, assigns the result to.
        word: the word of the operation whose result it computes; "" if that has none.
        entry: the entry of the tape whose rule ran it in the backward pass; None in the forward pass.
        backward: whether it is part of the backward pass.
        scopes: the calls of modules that it is part of; in a backward pass, those whose results it goes back through.
        sweep: the backward pass, here or in the user's function, that it is part of; None in the forward pass.
    """

    __slots__ = (
        "args", "backward", "call", "entry", "keywords", "name", "number", "outputs", "place", "scopes", "several", "sweep",
        "target", "word",
    )  # fmt: skip

    def __init__(self, number: int, call: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> None:
        self.number = number
        self.call = call
        self.args = tuple(args)
        self.keywords = keywords
        self.outputs: list[Value] = []
        self.several = False
        self.target: Value | None = None
        self.place: SourceLine | None = None
        self.name: str | None = None
        self.word = ""
        self.entry: Node = None
        self.backward = False
        self.scopes: Sequence[Scope] = ()
        self.sweep: Any = None

    @property
    def values(self) -> list[Value]:
        """The values that the statement reads or writes to."""
        found = values_in((self.args, self.keywords))
        return found if self.target is None else [*found, self.target]


class Check(Statement):
    """A statement that raises unless ``args[0]`` is as it was in the run that was written down.

    Attributes:
        kind: "truth", "integer", "shape" or "dtype".
        expected: the boolean, the integer, the shape or the dtype.
    """

    __slots__ = ("expected", "kind")

    def __init__(self, number: int, kind: str, value: Value, expected: Any) -> None:
        super().__init__(number, Check, (value,), {})
        self.kind = kind
        self.expected = expected

    @property
    def sentence(self) -> str:
        """What was so in the run that was written down."""
        where = f"line {self.place.line}, {self.place.text!r}," if self.place is not None else "the program"
        found = {"truth": "was", "integer": "read", "shape": "had shape", "dtype": "had dtype"}[self.kind]
        return f"{where} {found} {self.expected}"


class Expression:
    """A number that the program computes from sizes. ``text`` is Python, and binds as tightly as ``tightness`` says."""

    def __init__(self, text: str, tightness: float) -> None:
        self.text, self.tightness = text, tightness

    def __repr__(self) -> str:
        return self.text


class Length(Expression):
    """A whole number that the program computes from sizes: ``base + plus``, such as ``len(x) - 1``."""

    def __init__(self, base: str, plus: int = 0, tightness: float = 10) -> None:
        sign = "-" if plus < 0 else "+"
        super().__init__(f"{base} {sign} {abs(plus)}" if plus else base, 5 if plus else tightness)
        self.base, self.plus, self._of_base = base, plus, tightness

    def __add__(self, other: int) -> Length:
        return Length(self.base, self.plus + other, self._of_base) if type(other) is int else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Length and other.base == self.base:
            return self.plus - other.plus
        return self + -other if type(other) is int else NotImplemented


# --- What a statement can call, besides NumPy's functions ---


class Method:
    """``x.name(...)``, where NumPy has no function that does exactly the same. ``method(name)`` makes each only once."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, array: Any, *args: Any, **keywords: Any) -> Any:
        return getattr(array, self.__name__)(*args, **keywords)


class Augmented:
    """``x += y`` and the like: the ufunc writes into its first argument. With ``part``, ``x[i] += y``."""

    __slots__ = ("__name__", "part", "ufunc")

    def __init__(self, ufunc: Any, part: bool = False) -> None:
        self.ufunc, self.part = ufunc, part
        self.__name__ = ufunc.__name__

    def __call__(self, array: Any, *args: Any) -> None:
        if self.part:
            array[args[0]] = self.ufunc(array[args[0]], args[1])
        else:
            self.ufunc(array, *args, out=array)


method = functools.lru_cache(maxsize=None)(Method)
in_place = functools.lru_cache(maxsize=None)(Augmented)


# --- Copies ---


def copies_of(statements: Sequence[Statement], results: Any, copies: dict[Any, Any]) -> tuple[list[Statement], Any]:
    """Return copies of statements and of the values that they compute, and ``results`` in terms of them: a pass may change
    these. ``copies`` gets the copy of each statement, value and memory.
    """
    for statement in statements:
        copies[statement] = copy.copy(statement)
        for value in statement.outputs:
            copies[value] = copy.copy(value)
            if not value.memory.caller and value.memory not in copies:
                memory = copies[value.memory] = Memory()
                memory.writes = [*value.memory.writes]

    def current(leaf: Any) -> Any:
        return copies.get(leaf, leaf) if type(leaf) is Value else leaf

    for statement in statements:
        made = copies[statement]
        made.args, made.keywords = replaced(current, (statement.args, statement.keywords))
        made.target, made.outputs = current(statement.target), [*map(current, statement.outputs)]
        for value in made.outputs:
            value.statement, value.cotangent_of = made, current(value.cotangent_of)
            value.memory = copies.get(value.memory, value.memory)
    return [copies[statement] for statement in statements], replaced(current, results)


# --- Values inside arguments ---


def values_in(tree: Any) -> list[Value]:
    """Return the values in the arguments of a statement, in order: in tuples, lists, dicts and slices."""
    found: list[Value] = []
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is Value:
            found.append(item)
        elif kind is dict:
            waiting += reversed(item.values())
        elif kind is slice:
            waiting += (item.step, item.stop, item.start)
        elif isinstance(item, (tuple, list)):
            waiting += reversed(item)
    return found


def replaced(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the arguments of a statement with each leaf replaced by ``function(leaf)``."""
    kind = type(tree)
    if kind is dict:
        return {key: replaced(function, item) for key, item in tree.items()}
    if kind is slice:
        return slice(replaced(function, tree.start), replaced(function, tree.stop), replaced(function, tree.step))
    if isinstance(tree, (tuple, list)):
        items = [replaced(function, item) for item in tree]
        return kind(*items) if hasattr(tree, "_fields") else kind(items)
    return function(tree)


def leaves_of(statement: Statement) -> list[Any]:
    """Return the leaves of the arguments of a statement, in the order of :func:`replaced`, and its target."""
    found: list[Any] = []
    replaced(found.append, (statement.args, statement.keywords))
    return found if statement.target is None else [*found, statement.target]


def key_of(tree: Any) -> Any:
    """Return a key that two of these share if they are the same: functions, or trees of values, constants and functions."""
    if isinstance(tree, (tuple, list)):
        return (type(tree), *map(key_of, tree))
    if isinstance(tree, dict):
        return tuple((name, key_of(item)) for name, item in sorted(tree.items()))
    if isinstance(tree, slice):
        return slice, key_of((tree.start, tree.stop, tree.step))
    if isinstance(tree, (np.ndarray, np.generic)):
        return tree.dtype.str, tree.shape, tree.tobytes()
    if callable(tree):  # np.add.reduce is a new object each time
        return (id(tree.__self__), tree.__name__) if hasattr(tree, "__self__") else id(tree)
    return id(tree) if type(tree) is Value else (type(tree), repr(tree))


def owns(value: Value) -> bool:
    """Whether a value has memory of its own, or needs none."""
    data = value.data
    return not isinstance(data, np.ndarray) or (data.base is None and data.flags.writeable) or not data.ndim


def ufunc_of(call: Any) -> Any:
    """Return the ufunc that is called, also by a method of it such as ``np.add.reduce``; None if the call is none."""
    found = getattr(call, "__self__", call)
    return found if isinstance(found, np.ufunc) else None
