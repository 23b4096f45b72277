"""Nested containers of arrays: lists, tuples, namedtuples, dicts (in insertion order) and None."""

from collections.abc import Callable
from typing import Any

from .errors import ArgumentError


def leaves(tree: Any) -> list[Any]:
    """The values in ``tree`` that are no containers, in order."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves(value)]
    return [tree]


def map_leaves(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """``tree`` with each leaf replaced by ``function(leaf, ...)``, given the leaves at its place in ``others`` too."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: map_leaves(function, value, *(o[key] for o in others)) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        values = [map_leaves(function, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)
    return function(tree, *others)


def check_structure(tree: Any, other: Any, what: str) -> None:
    """Raise unless ``other`` has a leaf, or something that could be one, wherever ``tree`` has a leaf.

    Raises:
        ArgumentError: ``what``, the name of ``other``, does not fit.
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
