"""Functions of functions: ``grad`` and its kin.

A transform gives each input a fresh node on the tape, runs the function, and sweeps back to those nodes. It never touches
anybody's ``.grad``, and transforms nest: in ``grad(lambda x: x * grad(lambda y: x + y)(x))`` the inner sweep ends at the
inner node, so the two derivatives cannot be confused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._tape import Leaf, enable_grad, recording, sweep, wengert_list
from ._tree import leaves, map_leaves
from .device import as_array
from .errors import ArgumentError, DTypeError, UnsupportedError
from .tensor import Tensor, _make, registry

Argnum = int | tuple[int, ...]


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """``f(*primals)`` and its pullback, which maps a cotangent of the output to cotangents of the inputs.

    Inputs and output may be nested lists, tuples and dicts of arrays. A Tensor in gives a Tensor out, a NumPy array a
    NumPy array; but where ``f`` also depends on a tensor from outside that requires a gradient, the results stay
    connected to it and are Tensors (compute under ``no_grad()`` if that is not wanted).

    Raises:
        DTypeError: an input is not floating or complex.
    """
    outside_recording = recording()
    with enable_grad():
        inputs = map_leaves(_fresh, primals)
        output = f(*inputs)
    starts = [t._node for t in leaves(inputs)]
    ends = [t._node for t in leaves(output) if isinstance(t, Tensor) and t._node is not None]
    connected = outside_recording and _reaches_outside(primals, starts, ends)
    as_tensor = any(isinstance(leaf, Tensor) for leaf in leaves(primals))

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        create_graph = connected or any(isinstance(g, Tensor) and g.requires_grad for g in leaves(cotangent))
        seeds = _seeds(output, cotangent, create_graph)
        with enable_grad():
            found = sweep(seeds, create_graph=create_graph, retain_graph=True, wanted=starts)
        gradients = map_leaves(
            lambda t, primal: _result(found.get(t._node), t, isinstance(primal, Tensor)), inputs, primals
        )
        return tuple(gradients)

    return map_leaves(lambda t: _outcome(t, connected, as_tensor), output), pullback


def _fresh(primal: Any) -> Tensor:
    """The input as a new node on the tape, linked to where it came from if that is being recorded."""
    if isinstance(primal, Tensor) and primal.requires_grad:
        return registry[np.positive](primal)
    array = primal._data if isinstance(primal, Tensor) else as_array(primal)
    if array.dtype.kind not in "fc":
        raise DTypeError(
            f"cannot differentiate with respect to {primal!r} of dtype {array.dtype}: pass floats (3.0 rather than 3)"
        )
    return _make(array, Leaf(None, array.shape, array.dtype))


def _reaches_outside(primals: Any, starts: list[Any], ends: list[Any]) -> bool:
    """Whether the outputs also depend on something tracked that is not an input."""
    if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in leaves(primals)):
        return True
    first = min((node.seq for node in starts), default=0)
    parents = [*ends, *(parent for entry in wengert_list(ends) for parent in entry.parents)]
    others = [node for node in parents if type(node) is Leaf and node not in starts]
    # A leaf without an owner that is younger than our inputs was an input of a transform inside ``f``, over by now.
    return any(leaf.tensor is not None or (leaf.owner is None and leaf.seq < first) for leaf in others)


def _seeds(output: Any, cotangent: Any, create_graph: bool) -> dict[Any, Any]:
    seeds: dict[Any, Any] = {}

    def seed(t: Any, g: Any) -> None:
        if not isinstance(t, Tensor) or t._node is None:
            return
        g = t._cotangent(g)
        raw = g._data if isinstance(g, Tensor) else g
        value = (g if isinstance(g, Tensor) else _make(g, None)) if create_graph else raw
        seeds[t._node] = seeds[t._node] + value if t._node in seeds else value

    map_leaves(seed, output, cotangent)
    return seeds


def _result(gradient: Any, start: Tensor, as_tensor: bool) -> Any:
    """A cotangent as the kind of array its input was; zeros if the output does not depend on that input."""
    if gradient is None:
        gradient = np.zeros_like(start._data)
    if isinstance(gradient, Tensor):
        return gradient if as_tensor or gradient.requires_grad else gradient._data
    gradient = np.array(gradient) if isinstance(gradient, (np.ndarray, np.generic)) else gradient.copy()
    return _make(gradient, None) if as_tensor else gradient[()]


def _outcome(t: Any, connected: bool, as_tensor: bool) -> Any:
    if not isinstance(t, Tensor) or (connected and t.requires_grad):
        return t
    return t.detach() if as_tensor else t._data[()]


def value_and_grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns ``f(*args)`` and its gradient with respect to argument ``argnum`` (or several, a tuple).

    ``f`` must return one real number. For complex inputs the gradient is ``df/dx - i df/dy``, as in JAX.

    Raises (when called):
        UnsupportedError: ``f`` returned something other than a real scalar.
        ArgumentError: there is no argument ``argnum``.
    """

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen = (argnum,) if isinstance(argnum, int) else tuple(argnum)
        if any(not -len(args) <= i < len(args) for i in chosen):
            raise ArgumentError(
                f"argnum={argnum!r}, but the function was called with {len(args)} positional argument(s)"
            )

        def of_chosen(*values: Any) -> Any:
            complete = list(args)
            for i, value in zip(chosen, values):
                complete[i] = value
            return f(*complete, **kwargs)

        value, pullback = vjp(of_chosen, *(args[i] for i in chosen))
        shape, dtype = getattr(value, "shape", ()), getattr(value, "dtype", np.dtype(type(value)))
        if isinstance(value, (list, tuple, dict)) or shape != () or dtype.kind not in "fiub":
            raise UnsupportedError(
                f"grad needs a function that returns one real number, got {type(value).__name__} of shape {shape} and dtype "
                f"{dtype}: sum() it, or use vjp with a cotangent"
            )
        one = np.ones_like(value._data if isinstance(value, Tensor) else value)
        gradients = pullback(one)
        return value, gradients[0] if isinstance(argnum, int) else gradients

    return transformed


def grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns the gradient of ``f`` with respect to argument ``argnum``: see :func:`value_and_grad`.

    >>> float(grad(lambda x: x**3)(2.0))
    12.0
    """
    both = value_and_grad(f, argnum)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradient
