"""Nested containers of arrays: lists, tuples, namedtuples, dicts (in insertion order) and None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .engine.tensor import Tensor
from .errors import ArgumentError


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return ``tree`` with each leaf replaced by ``function(leaf, ...)``, which also gets the matching leaves of ``others``.

    A tree is a list, tuple, namedtuple or dict of trees, None, or a leaf, which is anything else. The result has the containers
    of ``tree``. It is named as in JAX, but a dict keeps its order here.

    Raises:
        ArgumentError: one of ``others`` is not nested like ``tree``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> parameters = {"w": np.array([1.0, 2.0]), "b": 0.5}
        >>> gradient = mg.grad(lambda p: np.sum(p["w"] ** 2) + p["b"])(parameters)
        >>> mg.tree_map(lambda p, g: p - 0.1 * g, parameters, gradient)
        {'w': array([0.8, 1.6]), 'b': np.float64(0.4)}
    """
    for i, other in enumerate(others):
        check_structure(tree, other, f"others[{i}]")
    return map_leaves(function, tree, *others)


def stop_gradient(tree: Any) -> Any:
    """Return the same values as constants: ``t.detach()`` for each Tensor of a tree, and other leaves as they are.

    So a function can hold a value constant without knowing whether it was given arrays or Tensors. It is named as in JAX.

    Example:
        >>> import minigrad as mg
        >>> mg.grad(lambda x: x * mg.stop_gradient(x))(3.0)  # as if the second factor were the constant 3
        np.float64(3.0)
    """
    return map_leaves(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, tree)


def leaves(tree: Any) -> list[Any]:
    """Return the values in ``tree`` that are not containers, in order."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves(value)]
    return [tree]


def map_leaves(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Replace each leaf of ``tree`` by ``function(leaf, ...)``; further arguments are the matching leaves of ``others``."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: map_leaves(function, value, *(o[key] for o in others)) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        values = [map_leaves(function, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)
    return function(tree, *others)


def check_structure(tree: Any, other: Any, what: str) -> None:
    """Raise unless ``other`` is nested like ``tree``; where ``tree`` has a leaf, ``other`` may have any value except None.

    Raises:
        ArgumentError: the structure differs; the message begins with ``what``, the name of ``other``.
    """
    if isinstance(tree, dict):
        fits = isinstance(other, dict) and tree.keys() == other.keys()
        pairs = [(tree[key], other[key]) for key in tree] if fits else []
    elif isinstance(tree, (list, tuple)):
        fits = isinstance(other, (list, tuple)) and len(tree) == len(other)
        pairs = list(zip(tree, other))
    else:
        fits, pairs = (tree is None) == (other is None), []
    if not fits:
        raise ArgumentError(f"{what} must be nested like {_outline(tree)}, got {_outline(other)}")
    for part, other_part in pairs:
        check_structure(part, other_part, what)


def _outline(tree: Any) -> Any:
    return map_leaves(lambda leaf: type(leaf).__name__, tree)
