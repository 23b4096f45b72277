"""Nested containers of arrays: lists, tuples, namedtuples, dicts (in insertion order) and None."""

from collections.abc import Callable
from typing import Any

from .errors import ArgumentError


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
