"""Nested containers of arrays: lists, tuples, namedtuples, dicts (in insertion order) and None."""

from collections.abc import Callable
from typing import Any


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
