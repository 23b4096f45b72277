"""Functions of nested containers of arrays and Tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tree import check_structure, map_leaves
from ..engine.tensor import Tensor


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
