"""The calls of modules in the statements of a program, and which of them are alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..engine.observers import Scope
from .statements import Memory, Statement, Value, key_of, leaves_of
from .turns import form_of


class Call:
    """The call of a module: the statements ``first`` to ``last`` in each of its spans, the first of which is forward."""

    def __init__(self, scope: Scope, ancestors: Sequence[Scope]) -> None:
        self.owner, self.number, self.ancestors = scope[0], id(scope), [*map(id, ancestors)]
        self.spans: dict[object, list[int]] = {}
        self.outer: dict[Value, int] = {}  # what the statements read from outside, and the position of each
        self.inner: dict[Value, int] = {}  # what they compute

    def blocks(self, statements: Sequence[Any]) -> Iterator[list[Any]]:
        for first, last in self.spans.values():
            yield [statement for statement in statements[first : last + 1] if statement is not None]

    def signature(self, statements: Sequence[Statement]) -> Any:
        """Return a key that the calls of a module share if they are alike; None if a block writes to what is not its own."""
        memories: dict[Memory, int] = {}
        written: set[Memory] = set()
        parts: list[Any] = []
        for block in self.blocks(statements):
            parts.append(len(block))
            for statement in block:
                outputs = statement.outputs
                written |= {statement.target.memory} if statement.target is not None else set()
                self.inner.update({value: len(self.inner) + i for i, value in enumerate(outputs)})
                codes = tuple([self.code(leaf) for leaf in leaves_of(statement)])
                known = tuple([None if v.depends or np.ndim(v.data) else key_of(v.data) for v in outputs])
                parts.append((form_of(statement), statement.backward, statement.several, codes, known))
                parts.append(tuple([memories.setdefault(value.memory, len(memories)) for value in outputs]))
        return None if any(value.memory in written for value in self.outer) else tuple(parts)

    def code(self, leaf: Any) -> Any:
        if type(leaf) is Value and leaf in self.inner:
            return "inner", self.inner[leaf]
        if type(leaf) is Value:
            return "outer", self.outer.setdefault(leaf, len(self.outer))
        return key_of(leaf)


def calls_of(statements: Sequence[Statement]) -> list[Call]:
    """Return the calls of modules whose blocks lie inside of those of their callers."""
    found: dict[int, Call] = {}
    for i, statement in enumerate(statements):
        for depth, scope in enumerate(statement.scopes):
            if id(scope) not in found:
                found[id(scope)] = Call(scope, statement.scopes[:depth])
            found[id(scope)].spans.setdefault(statement.sweep, [i, i])[1] = i
    spans = [(first, -last, len(c.ancestors), c) for c in found.values() for first, last in c.spans.values()]
    crossing: set[Call] = set()
    around: list[tuple[int, Call]] = []
    for first, minus, _, call in sorted(spans, key=lambda span: span[:3]):
        around = [each for each in around if each[0] >= first]
        for last, other in around:
            if -minus > last or other.number not in call.ancestors:
                crossing |= {call, other}
        around.append((-minus, call))
    return [call for call in found.values() if call not in crossing]


def sites(calls: Sequence[Call]) -> int:
    """Return about how many lines would call a function: a loop calls one module at equal distances."""
    found = 0
    for owner in {id(call.owner): None for call in calls}:
        starts = [min(first for first, _ in call.spans.values()) for call in calls if id(call.owner) == owner]
        found += len(starts) if len(starts) < 3 else len({b - a for a, b in itertools.pairwise(starts)})
    return found
