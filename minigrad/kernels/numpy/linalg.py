"""Kernels of the 2-norm of real numbers, and of a system of equations whose derivatives are both needed."""

from typing import Any

import numpy as np

from ...engine.methods import Axis
from ...engine.types import Array
from ...rules.axes import expand
from ...rules.decompositions import solve, solve_rules
from ...rules.norms import norm


def _norm_forward(x: Array, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute the 2-norm of real numbers. NumPy's conjugates a copy, or adds all squares one after the other."""
    if not (ord is None or (ord == 2 and (x.ndim == 1 if axis is None else isinstance(axis, int)))):
        return NotImplemented
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)), None


def _norm_backward(g: Array, needs: Any, ans: Array, x: Array, axis: Axis) -> tuple[Array]:
    """Return ``g x / |x|``, and 0 where the norm is 0."""
    zero = ans == 0
    return (expand(np.where(zero, 0, g) / np.where(zero, 1, ans), x.shape, axis) * x,)


norm.kernel(np.ndarray, _norm_forward, _norm_backward)
solve.kernel(np.ndarray, lambda a, b: (np.linalg.solve(a, b), None), solve_rules, jointly=True)
