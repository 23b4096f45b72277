"""What a node of the tape does with its cotangent once that is complete: hooks, and gradients kept for a computed tensor."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .tape import Output, entry_of

Function = Callable[[Any], Any]


class Hooks:
    """The hooks of a leaf or an entry, in the order of their registration.

    Attributes:
        functions: each from a cotangent to the one to go on with, beside the index of the output it is for (0 if there is
            only one).
        retained: the tensors whose ``grad`` ``backward()`` fills in although they are no leaves, with their index.
    """

    __slots__ = ("__weakref__", "_numbers", "functions", "retained")

    def __init__(self) -> None:
        self.functions: dict[int, tuple[int, Function]] = {}
        self.retained: list[tuple[int, weakref.ref[Any]]] = []
        self._numbers = itertools.count()

    def add(self, index: int, function: Function) -> Handle:
        number = next(self._numbers)
        self.functions[number] = index, function
        return Handle(self, number)

    def run(self, g: Any) -> Any:
        """The cotangent after all hooks; of an entry with several outputs a dict from index to cotangent."""
        for index, function in list(self.functions.values()):
            if not isinstance(g, dict):
                g = function(g)
            elif index in g:
                g = g | {index: function(g[index])}
        return g

    def arrivals(self, g: Any) -> Iterator[tuple[Any, Any]]:
        """The tensors that retain their gradient and are still held, each with it."""
        for index, reference in self.retained:
            tensor = reference()
            arrived = g.get(index) if isinstance(g, dict) else g
            if tensor is not None and arrived is not None:
                yield tensor, arrived


class Handle:
    """What ``register_hook`` returns."""

    def __init__(self, hooks: Hooks, number: int) -> None:
        self._hooks = weakref.ref(hooks)
        self._number = number

    def remove(self) -> None:
        """Take the hook away. Once is enough, twice does no harm."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.functions.pop(self._number, None)


def hooks_of(node: Any) -> Hooks:
    """The hooks of a node, made if it had none."""
    entry = entry_of(node)
    if entry.hooks is None:
        entry.hooks = Hooks()
    hooks: Hooks = entry.hooks
    return hooks


def output_index(node: Any) -> int:
    return node.index if type(node) is Output else 0
