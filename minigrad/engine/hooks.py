"""What a node of the tape does with its cotangent once that is complete: hooks, and gradients kept for a computed tensor."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import GraphError
from .arrays import owned_copy
from .modes import enable_grad, no_grad
from .observers import one_at_a_time
from .tape import Output, entry_of
from .types import Array, Node

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks of a leaf or an entry, in the order of their registration.

    Attributes:
        functions: each from a cotangent to the one to go on with, beside the index of the output it is for (0 if there is
            only one).
        retained: the tensors whose ``grad`` ``backward()`` fills in although they are no leaves, with their index.
    """

    __slots__ = ("__weakref__", "_numbers", "functions", "retained")

    def __init__(self) -> None:
        self.functions: dict[int, tuple[int, Hook]] = {}
        self.retained: list[tuple[int, weakref.ref[Any]]] = []
        self._numbers = itertools.count()

    def add(self, index: int, function: Hook) -> Handle:
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


def hooks_of(node: Node) -> Hooks:
    """The hooks of a node, made if it had none."""
    entry = entry_of(node)
    with one_at_a_time:
        if entry.hooks is None:
            entry.hooks = Hooks()
    hooks: Hooks = entry.hooks
    return hooks


def output_index(node: Node) -> int:
    return node.index if type(node) is Output else 0


class Hooked:
    """What a Tensor offers of this."""

    __slots__ = ()

    def register_hook(self: Any, hook: Hook) -> Handle:
        """Call ``hook(g)`` whenever the gradient ``g`` with respect to this tensor has been computed.

        That is once in each ``backward()`` (or transform, or ``autograd_grad``) that passes by, with the sum of all
        contributions, before it is passed on or added to ``grad``. What the hook returns, unless None, takes the place of
        ``g``. Several hooks are called in the order of their registration. ``g`` is a Tensor that must not be written to;
        with ``create_graph`` it is on the tape, and so is what the hook makes of it.

        A hook lives as long as the graph, or, on a leaf, until ``requires_grad`` is switched off or the handle that is
        returned removes it: ``handle.remove()``. Copies and pickles of a leaf have none.

        Raises:
            GraphError: no gradient is required here.
            ShapeError, DTypeError: (during the sweep) the hook returned something that cannot replace ``g``.
        """
        if self._node is None:
            raise GraphError(f"register_hook() on {self._describe()}, which does not require a gradient")
        return hooks_of(self._node).add(output_index(self._node), functools.partial(_call_hook, hook, self._untracked))

    def retain_grad(self: Any) -> None:
        """Let ``backward()`` fill in ``grad`` although this tensor was computed. (A leaf's is filled in anyway.)

        It gets what the hooks registered here, earlier or later, have made of the gradient.

        Raises:
            GraphError: no gradient is required here.
        """
        if self._node is None:
            raise GraphError(f"retain_grad() on {self._describe()}, which does not require a gradient")
        if not self.is_leaf:
            retained = hooks_of(self._node).retained
            with one_at_a_time:
                if all(reference() is not self for _, reference in retained):
                    retained.append((output_index(self._node), weakref.ref(self)))


def _call_hook(hook: Hook, untracked: Callable[[Any], Any], g: Any) -> Any:
    """The cotangent after a hook: a Tensor with create_graph, else an array."""
    recorded = isinstance(g, Hooked)
    given: Any = g if recorded else untracked(read_only(g))
    with enable_grad() if recorded else no_grad():
        returned = hook(given)
        if returned is None:
            return g
        result: Any = given._cotangent(returned, "a hook's result")
    if recorded and getattr(result, "_node", None) is not None:
        return result
    array = owned_copy(getattr(result, "_array", result))  # the hook may fill its own array again before it is read
    return untracked(array) if recorded else array


def read_only(array: Array) -> Array:
    """A NumPy array that cannot be written to, on the same memory; an array of another library as it is."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return array
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
