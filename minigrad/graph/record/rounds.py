"""Notes the round of the program's loops in which an operation runs, and the object whose method is running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..._source import SourceLine
from ...engine.tensor import Tensor
from ...source.index import index_of
from .model import Node

MOST_PLACES = 10_000  # places whose loop variables are kept
LONGEST_KEY = 24  # characters of a text; a longer one would not be readable in a label
PLAIN = (bool, int, float, str, np.bool_, np.integer, np.floating)
OTHERS = (Tensor, np.ndarray, list, tuple, dict, set, type(None))  # values that have no short form

Round = tuple[tuple[str, Any], ...]  # the variables of the loops in one frame, outermost first, then "self"


class Owned(NamedTuple):
    """An object that is the variable of a loop, or ``self``: the name of its class, and a number of its own."""

    kind: str
    identity: int


_variables: dict[int, tuple[SourceLine, tuple[str, ...]]] = {}  # by the id of the place, which is kept alive here


def round_of(frame: FrameType, source: SourceLine, lines: Sequence[str]) -> Round:
    """Return the loop variables of a running frame, whose instruction is at ``source``, with their values."""
    known = _variables.get(id(source))
    if known is None or known[0] is not source:
        if len(_variables) >= MOST_PLACES:
            _variables.clear()
        known = _variables[id(source)] = source, _variables_at(source, lines, frame)
    names = known[1]
    if not names:
        return ()
    local, found = frame.f_locals, []
    for name in names:
        if name in local:
            value = local[name]
            kind = type(value)
            if kind is int or (value := _plain(value)) is not None:
                found.append((name, value))
    return tuple(found)


def _variables_at(source: SourceLine, lines: Sequence[str], frame: FrameType) -> tuple[str, ...]:
    """Return the names of the loop variables at a place, and "self" in a method."""
    index = index_of(source.file, lines)
    here = index.at(source)
    names = [] if here is None else [name for name in index.loop_variables(here) if name.strip("_")]
    code = frame.f_code
    return tuple(names) + ("self",) * (code.co_argcount > 0 and code.co_varnames[0] == "self")


def _plain(value: Any) -> Any:
    """Return a number or a short text as it is, and the class of an object; None for a value that has no short form."""
    if isinstance(value, PLAIN):
        if isinstance(value, str) and (len(value) > LONGEST_KEY or not value.isprintable()):
            return None
        return value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, OTHERS) else Owned(type(value).__name__, id(value))


def variables_of(node: Node, level: int = 0) -> dict[tuple[str, str], Any]:
    """Return the loop variables of an operation with their values, outermost first: by function and name.

    They are those of its frame number ``level`` (0 is the innermost) and of the frames around it.
    """
    return {(function, name): value for function, name, value in rounds_around(node, level)}


def rounds_around(node: Node, level: int = 0, outer: int | None = None) -> Iterator[tuple[str, str, Any]]:
    """Yield the rounds of the loops around an operation, outermost first: a function, its variable, and the value.

    They are those of its frames from number ``level`` (0 is the innermost) up to ``outer``, without it.
    """
    places = [] if node.source is None else [node.source, *node.callers]
    for place, values in reversed(list(zip(places, node.rounds))[level:outer]):
        yield from ((place.function, name, value) for name, value in values)


class Rounds:
    """Tells operations apart by the rounds of their loops, and by the objects whose methods ran."""

    def __init__(self, operations: Sequence[Node]) -> None:
        self._numbers: dict[Owned, int] = {}
        counts: Counter[str] = Counter()
        for node in operations:
            for values in reversed(node.rounds):
                for _, value in values:
                    if isinstance(value, Owned) and value not in self._numbers:
                        counts[value.kind] += 1
                        self._numbers[value] = counts[value.kind]

    def text(self, name: str, value: Any) -> str:
        """Return a loop variable with its value as text: ``t=3``, ``Neuron 2``."""
        return f"{value.kind} {self._numbers[value]}" if isinstance(value, Owned) else f"{name}={value!r}"

    def of(self, node: Node, level: int = 0) -> Texts:
        """Return the texts of all variables of an operation, outermost first: by function, name, and whether it is a float."""
        return {
            (function, name, isinstance(value, float)): self.text(name, value)
            for (function, name), value in variables_of(node, level).items()
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
