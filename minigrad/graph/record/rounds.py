"""Notes the round of the program's loops in which an operation runs, and what the program calls there."""

from __future__ import annotations

import ast
import inspect
from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..._source import SourceLine
from ...engine.primitive import Primitive
from ...engine.tensor import Tensor
from ...source.index import call_at, callee, index_of, value_of
from .model import Node

MOST_PLACES = 10_000  # places of programs that are kept
LONGEST_KEY = 24  # characters of a text; a longer one would not be readable in a label
PLAIN = (bool, int, float, str, np.bool_, np.integer, np.floating)
OTHERS = (Tensor, np.ndarray, list, tuple, dict, set, type, type(None))  # values that have no short form

OBJECT = "self"  # the name in a round for the object whose method runs

# The variables of the loops in one frame, outermost first, then the object: each with the function, its name and its value
Round = tuple[tuple[str, str, Any], ...]


class Owned(NamedTuple):
    """An object that is the variable of a loop, or ``self``: the name of its class, and a number of its own."""

    kind: str
    identity: int


class Callee(NamedTuple):
    """The function that an expression of the program calls.

    Attributes:
        name: the name of its operation, or its own name.
        compiled: whether it has no Python code, as ``sum`` and ``map``. Its value is then not that of a function it calls.
        of_value: whether it is a method of a value, ``x.sum()``, and not a function of a module or a class, ``np.sum(x)``.
    """

    name: str
    compiled: bool
    of_value: bool


class _Instruction(NamedTuple):
    """What is the same each time that an instruction of the program runs.

    Attributes:
        variables: the loop variables there, each with the name that it has in a round.
        called: the function that the program called there at the first time.
    """

    source: SourceLine
    variables: tuple[tuple[str, str], ...]
    called: Callee | None


_places: dict[int, _Instruction] = {}  # by the id of the source, which is kept alive here


def place_of(frame: FrameType, source: SourceLine, lines: Sequence[str]) -> tuple[Round, Callee | None]:
    """Return the loop variables of a running frame, whose instruction is at ``source``, with their values, and its call."""
    place = _places.get(id(source))
    if place is None or place.source is not source:
        if len(_places) >= MOST_PLACES:
            _places.clear()
        place = _places[id(source)] = _new_place(frame, source, lines)
    if not place.variables:
        return (), place.called
    local, found = frame.f_locals, []
    for shown, name in place.variables:
        if name in local:
            value = local[name]
            kind = type(value)
            if kind is int or (value := _plain(value)) is not None:
                found.append((source.function, shown, value))
    return tuple(found), place.called


def _new_place(frame: FrameType, source: SourceLine, lines: Sequence[str]) -> _Instruction:
    index, code = index_of(source.file, lines), frame.f_code
    here = index.at(source)
    names = [] if here is None else [name for name in index.loop_variables(here) if name.strip("_")]
    variables = [(name, name) for name in names]
    inside = code.co_qualname.rpartition(".")[0]
    if code.co_argcount and inside and not inside.endswith("<locals>"):  # a function of a class
        first = code.co_varnames[0]
        if any(code.co_name in vars(kind) for kind in type(frame.f_locals.get(first)).__mro__):
            variables.append((OBJECT, first))
    call = None if here is None else call_at(here)
    return _Instruction(source, tuple(variables), None if call is None else _called(call, frame))


def _called(call: ast.Call, frame: FrameType) -> Callee:
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    known: Mapping[str, Any] = ChainMap(frame.f_globals, frame.f_builtins)
    code = frame.f_code
    if isinstance(root, ast.Name) and root.id in {*code.co_varnames, *code.co_cellvars, *code.co_freevars}:
        known = frame.f_locals  # only here, because up to Python 3.12 the frame then holds their values
    function, holder = value_of(call.func, known), value_of(root, known)
    of_value = isinstance(call.func, ast.Attribute) and not isinstance(holder, (ModuleType, type))
    if of_value and isinstance(call.func, ast.Attribute):
        holder = value_of(call.func.value, known)
        of_value = holder is None or isinstance(holder, (Tensor, np.ndarray))
    made = vars(function).get("__init__") if isinstance(function, type) else None
    compiled = inspect.isbuiltin(function) or (isinstance(function, type) and not inspect.isfunction(made))
    name = function.name if isinstance(function, Primitive) else getattr(function, "__name__", callee(call))
    return Callee(str(name), compiled, of_value)


def _plain(value: Any) -> Any:
    """Return a number or a short text as it is, and the class of an object; None for a value that has no short form."""
    if isinstance(value, PLAIN):
        if isinstance(value, str) and (len(value) > LONGEST_KEY or not value.isprintable()):
            return None
        return value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, OTHERS) else Owned(type(value).__name__, id(value))


class Rounds:
    """Tells operations apart by the rounds of their loops, and by the objects whose methods ran."""

    def __init__(self, operations: Sequence[Node]) -> None:
        self._numbers: dict[Owned, int] = {}
        counts: Counter[str] = Counter()
        for node in operations:
            for values in reversed(node.rounds):
                for _, _, value in values:
                    if isinstance(value, Owned) and value not in self._numbers:
                        counts[value.kind] += 1
                        self._numbers[value] = counts[value.kind]

    def text(self, name: str, value: Any) -> str:
        """Return a loop variable with its value as text: ``t=3``, ``Neuron 2``."""
        return f"{value.kind} {self._numbers[value]}" if isinstance(value, Owned) else f"{name}={value!r}"

    def of(self, node: Node, level: int = 0) -> Texts:
        """Return the texts of the variables of an operation, outermost first: by function, name, and whether it is a float.

        They are those of its frame number ``level`` (0 is the innermost) and of the frames around it.
        """
        return {
            (function, name, isinstance(value, float)): self.text(name, value)
            for function, name, value in chain(*reversed(node.rounds[level:]))
        }


Texts = dict[tuple[str, str, bool], str]  # the variables of an operation, as Rounds.of() gives them


def told_apart(found: Sequence[Texts]) -> list[str]:
    """Return for each operation the variables that tell it apart from the others, as text."""
    chosen = apart(found)
    return [", ".join(dict.fromkeys(text for key, text in each.items() if key in chosen)) for each in found]


def apart(found: Sequence[Texts]) -> list[tuple[str, str, bool]]:
    """Return the variables that tell operations apart.

    Those of inner loops are chosen first. A float is data, not a position, so it is chosen only if no other variable is.
    """
    every = dict.fromkeys(key for each in found for key in reversed(each))
    chosen: list[tuple[str, str, bool]] = []
    kinds = 1
    for key in sorted(every, key=lambda key: key[2]):
        if kinds == len(found) or (key[2] and chosen):
            break
        if (now := len({tuple(each.get(k) for k in [*chosen, key]) for each in found})) > kinds:
            chosen, kinds = [*chosen, key], now
    return chosen
