"""Kernels of norms, of systems of equations, and of cross and Kronecker products."""

import math
from typing import Any

import numpy as np

from ...engine.methods import Axis
from ...engine.types import Array
from ...rules.axes import expand
from ...rules.decompositions import solve, solve_rules
from ...rules.linalg import cross, paired, products
from ...rules.norms import norm

LEAST = 1 << 12  # elements; the components of more are shifted faster than they are picked
_NEXT = np.array([1, 2, 0])  # the component after each of three

# --- the 2-norm of real numbers, and a system of equations whose derivatives are both needed ---


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


# --- products -------------------------------------------------------------------------------------------------------


def _cross(a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Multiply vectors of 3 components, which are contiguous or few, without NumPy's slices and checks."""
    last = axis == -1 or (axis is None and axisa == axisb == axisc == -1)
    if not last or type(b) is not np.ndarray or not a.shape[-1:] == b.shape[-1:] == (3,):
        return NotImplemented
    if a.size + b.size >= LEAST and not (a.flags.c_contiguous and b.flags.c_contiguous):
        return NotImplemented
    return _next(a * _next(b) - _next(a) * b), None


def _next(x: Array) -> Array:
    """Return the next one of three components for each, from a contiguous array."""
    if x.size < LEAST:
        return x.take(_NEXT, -1)
    ans = np.empty_like(x)
    ans.reshape(-1)[:-1] = x.reshape(-1)[1:]
    ans[..., 2] = x[..., 0]
    return ans


def _products(g: Array, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> Array:
    """Copy the longer rows, which is faster: those of ``a`` if ``b`` has as few elements."""
    n, m = math.prod(a_shape), math.prod(b_shape)
    if n < m:
        return NotImplemented
    apart, of_a, of_b = paired(g, a_shape, b_shape)
    return np.reshape(np.transpose(apart, of_b + of_a), (m, n)).swapaxes(0, 1)


cross.kernel(np.ndarray, _cross)
products.kernel(_products)
