"""Hooks, which a sweep calls with the complete cotangent of a node, and ``retain_grad``, which stores it in ``grad``."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import GraphError
from .arrays import copied
from .modes import enable_grad, no_grad
from .observers import one_at_a_time
from .tape import Output, entry_of
from .types import Array, Node

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks of a leaf or of an entry (a recorded operation), in the order of their registration.

    Attributes:
        functions: maps each registration number to the index of an output (0 if there is only one) and a function. The
            function takes the cotangent of this output and returns the cotangent to use instead.
        retained: for each tensor with ``retain_grad()``, the index of its output and a weak reference to it.
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
        """Return the cotangent after all hooks. For an entry with several outputs it is a dict from index to cotangent."""
        for index, function in list(self.functions.values()):
            if not isinstance(g, dict):
                g = function(g)
            elif index in g:
                g = g | {index: function(g[index])}
        return g

    def arrivals(self, g: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the tensors that retain their gradient and still exist, each with its gradient."""
        for index, reference in self.retained:
            tensor = reference()
            arrived = g.get(index) if isinstance(g, dict) else g
            if tensor is not None and arrived is not None:
                yield tensor, arrived


class Handle:
    """The handle that ``register_hook`` returns. Its ``remove`` removes the hook."""

    def __init__(self, hooks: Hooks, number: int) -> None:
        self._hooks = weakref.ref(hooks)
        self._number = number

    def remove(self) -> None:
        """Remove the hook. A second call is a no-op."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.functions.pop(self._number, None)


def hooks_of(node: Node) -> Hooks:
    """Return the hooks of a node. Make an empty set of hooks if the node has none."""
    entry = entry_of(node)
    with one_at_a_time:
        if entry.hooks is None:
            entry.hooks = Hooks()
    hooks: Hooks = entry.hooks
    return hooks


def output_index(node: Node) -> int:
    return node.index if type(node) is Output else 0


class Hooked:
    """The methods of a Tensor that concern hooks."""

    __slots__ = ()

    def register_hook(self: Any, hook: Hook) -> Handle:
        """Call ``hook(g)`` whenever the gradient ``g`` with respect to this tensor has been computed.

        Each ``backward()``, transform or ``autograd_grad`` that reaches this tensor calls the hook once. ``g`` is then the sum
        of all contributions. If the hook returns a value other than None, this value replaces ``g``, before ``g`` is added to
        ``grad`` or passed on to the parents. Several hooks are called in the order of their registration. ``g`` is a Tensor
        that must not be changed in place. With ``create_graph`` it is on the tape, and so is a result computed from it.

        A hook on a computed tensor lives as long as its graph. A hook on a leaf lives until ``requires_grad`` is switched off.
        Call ``handle.remove()`` on the returned handle to remove it earlier. Copies and pickles of a leaf have no hooks.

        Raises:
            GraphError: this tensor requires no gradient.
            ShapeError, DTypeError: (during the sweep) the result of the hook cannot replace ``g``.
        """
        if self._node is None:
            raise GraphError(f"register_hook() on {self._describe()}, which does not require a gradient")
        return hooks_of(self._node).add(output_index(self._node), functools.partial(_call_hook, hook, self._untracked))

    def retain_grad(self: Any) -> None:
        """Make ``backward()`` fill in the ``grad`` of this tensor even if it is not a leaf. For a leaf this is a no-op.

        ``grad`` is the gradient after all hooks of this tensor, including hooks that are registered later.

        Raises:
            GraphError: this tensor requires no gradient.
        """
        if self._node is None:
            raise GraphError(f"retain_grad() on {self._describe()}, which does not require a gradient")
        if not self.is_leaf:
            retained = hooks_of(self._node).retained
            with one_at_a_time:
                if all(reference() is not self for _, reference in retained):
                    retained.append((output_index(self._node), weakref.ref(self)))


def _call_hook(hook: Hook, untracked: Callable[[Any], Any], g: Array) -> Any:
    """Call a hook and return the cotangent to use: a Tensor if create_graph is on, otherwise an array."""
    recorded = isinstance(g, Hooked)
    tensor: Any = g if recorded else untracked(read_only(g))
    with enable_grad() if recorded else no_grad():
        returned = hook(tensor)
        if returned is None:
            return g
        result: Any = tensor._cotangent(returned, "a hook's result")
    if recorded and getattr(result, "_node", None) is not None:
        return result
    array = copied(getattr(result, "_array", result))  # the hook may reuse its array before the sweep reads the result
    return untracked(array) if recorded else array


def read_only(array: Array) -> Array:
    """Return a read-only view of a NumPy array. Return an array of another library unchanged."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return array
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
