"""Products of matrices."""

import math
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError, ShapeError

# A 1-D operand is a row (left) or a column (right); leading axes are a batch, which broadcasts: the engine sums over it.


def _matmul_x(g: Array, x_shape: tuple[int, ...], y: Array) -> Array:
    """``g y^T``"""
    if y.ndim == 1:
        return np.expand_dims(g, -1) * y
    if len(x_shape) == 1:
        return np.matmul(np.expand_dims(g, -2), y.swapaxes(-1, -2))[..., 0, :]
    if y.ndim == 2 < g.ndim and g.size:  # one product over all rows instead of a batch of products
        return np.matmul(g.reshape(-1, g.shape[-1]), y.swapaxes(0, 1)).reshape(*g.shape[:-1], len(y))
    return np.matmul(g, y.swapaxes(-1, -2))


def _matmul_y(g: Array, x: Array, y_shape: tuple[int, ...]) -> Array:
    """``x^T g``"""
    if len(y_shape) == 1:
        return np.expand_dims(g, -1) * x
    if x.ndim == 1:
        return np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if len(y_shape) == 2 < x.ndim:  # here instead of a batch and its sum
        return np.matmul(x.reshape(n := math.prod(x.shape[:-1]), x.shape[-1]).swapaxes(0, 1), g.reshape(n, g.shape[-1]))
    return np.matmul(x.swapaxes(-1, -2), g)


matmul = primitive(np.matmul, also=[np.linalg.matmul]).vjp(x=_matmul_x, y=_matmul_y)

# --- contractions of any axes ---------------------------------------------------------------------------------------


def identity(n: int, like: Array) -> Array:
    """The n x n identity matrix in the dtype and library of ``like``: a plain array, also beside Tensors."""
    return np.eye(n, dtype=like.dtype, like=values_of(like))


def _paired_axes(a_ndim: int, b_ndim: int, axes: Any) -> tuple[list[int], list[int], list[int], list[int]]:
    """The axes of ``a`` and of ``b`` that are summed over, in pairs, and then the free ones of each."""
    if np.ndim(axes) == 0 and not isinstance(axes, (list, tuple)):
        axes = range(a_ndim - axes, a_ndim), range(axes)
    of_a, of_b = [[int(i) % ndim for i in np.ravel(part)] for part, ndim in zip(axes, (a_ndim, b_ndim))]
    free_a, free_b = [i for i in range(a_ndim) if i not in of_a], [i for i in range(b_ndim) if i not in of_b]
    return of_a, of_b, free_a, free_b


def _contraction_a(g: Array, a_ndim: int, b: Array, axes: Any) -> Array:
    """The cotangent of ``a``: ``g`` contracted with ``b`` over what came from ``b``, its axes in the order of ``a``'s."""
    of_a, of_b, free_a, free_b = _paired_axes(a_ndim, np.ndim(b), axes)
    order = free_a + [of_a[k] for k in np.argsort(of_b)]
    product = np.tensordot(g, b, (list(range(len(free_a), np.ndim(g))), free_b))
    return np.transpose(product, np.argsort(order).tolist())


def _contraction_b(g: Array, a: Array, b_ndim: int, axes: Any) -> Array:
    """The cotangent of ``b``, in the same way."""
    of_a, of_b, free_a, free_b = _paired_axes(np.ndim(a), b_ndim, axes)
    order = [of_b[k] for k in np.argsort(of_a)] + free_b
    product = np.tensordot(a, g, (free_a, list(range(len(free_a)))))
    return np.transpose(product, np.argsort(order).tolist())


def _dot_axes(a_ndim: int, b_ndim: int) -> Any:
    """``dot`` sums over the last axis of ``a`` and the second-to-last of ``b``, or its only one."""
    return (-1, max(-2, -b_ndim)) if a_ndim and b_ndim else 0


def _inner_axes(a_ndim: int, b_ndim: int) -> Any:
    return (-1, -1) if a_ndim and b_ndim else 0


tensordot = primitive(np.tensordot, lambda a, b, /, axes=2: np.tensordot(a, b, axes)).vjp(
    a=lambda g, a_shape, b, axes: _contraction_a(g, len(a_shape), b, axes),
    b=lambda g, a, b_shape, axes: _contraction_b(g, a, len(b_shape), axes),
)
dot = primitive(np.dot, lambda a, b, /: np.dot(a, b)).vjp(
    a=lambda g, a_shape, b: _contraction_a(g, len(a_shape), b, _dot_axes(len(a_shape), np.ndim(b))),
    b=lambda g, a, b_shape: _contraction_b(g, a, len(b_shape), _dot_axes(np.ndim(a), len(b_shape))),
)
inner = primitive(np.inner, lambda a, b, /: np.inner(a, b)).vjp(
    a=lambda g, a_shape, b: _contraction_a(g, len(a_shape), b, _inner_axes(len(a_shape), np.ndim(b))),
    b=lambda g, a, b_shape: _contraction_b(g, a, len(b_shape), _inner_axes(np.ndim(a), len(b_shape))),
)
outer = primitive(np.outer, lambda a, b, /: np.outer(a, b)).vjp(
    a=lambda g, a_shape, b: np.reshape(np.matmul(g, np.reshape(b, -1)), a_shape),
    b=lambda g, a, b_shape: np.reshape(np.matmul(np.reshape(a, -1), g), b_shape),
)
vdot = primitive(np.vdot, lambda a, b, /: np.vdot(a, b)).vjp(
    a=lambda g, a_shape, b: np.reshape(np.conjugate(g * b), a_shape),
    b=lambda g, a, b_shape: np.reshape(g * np.conjugate(a), b_shape),
)


# --- products written as other products -----------------------------------------------------------------------------


def _kron(a: Array, b: Array) -> Array:
    """Every element of ``a`` times all of ``b``: the axes interleave, those of ``a`` first."""
    ndim = max(np.ndim(a), np.ndim(b))
    rows, columns = [(1,) * (ndim - np.ndim(x)) + np.shape(x) for x in (a, b)]
    wide_a = np.reshape(a, [n for m in rows for n in (m, 1)])
    wide_b = np.reshape(b, [n for m in columns for n in (1, m)])
    return np.reshape(wide_a * wide_b, [m * n for m, n in zip(rows, columns)])


def _cross(a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """The vector product. A vector of two components has the third one 0, and two of them give only the third one."""
    if axis is not None:
        axisa = axisb = axisc = axis
    u, v = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    u, v = [[x[..., i] for i in range(x.shape[-1])] for x in (u, v)]
    third = u[0] * v[1] - u[1] * v[0]
    if len(u) == len(v) == 2:
        return third
    u, v = [*u, 0][:3], [*v, 0][:3]
    return np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], third], axis=axisc)


def _matrix_power(a: Array, n: int) -> Array:
    """Repeated squaring."""
    if n <= 0:
        return _matrix_power(np.linalg.inv(a), -n) if n else 0 * a  # a**0 is constant
    if n == 1:
        return a
    half = _matrix_power(a, n // 2)
    return half @ half @ a if n % 2 else half @ half


kron = primitive(np.kron, lambda a, b, /: np.kron(a, b)).reference(_kron)
cross = primitive(
    np.cross,
    lambda a, b, /, axisa=-1, axisb=-1, axisc=-1, axis=None: np.cross(a, b, axisa, axisb, axisc, axis),
).reference(_cross)
matrix_power = primitive(np.linalg.matrix_power, lambda a, /, n: np.linalg.matrix_power(a, n)).reference(_matrix_power)


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``sum(conj(x1) * x2)`` along ``axis``"""
    row, column = np.conjugate(np.moveaxis(x1, axis, -1)), np.moveaxis(x2, axis, -1)
    return np.matmul(np.expand_dims(row, -2), np.expand_dims(column, -1))[..., 0, 0]


def _three_vectors(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    if np.shape(x1)[axis] != 3 or np.shape(x2)[axis] != 3:
        raise ShapeError(f"np.linalg.cross takes vectors of 3, got the shapes {np.shape(x1)} and {np.shape(x2)}")
    return np.cross(x1, x2, axis=axis)


def _outer_of_vectors(x1: Any, x2: Any, /) -> Any:
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ShapeError(f"np.linalg.outer takes two 1-D arrays, got the shapes {np.shape(x1)} and {np.shape(x2)}")
    return np.outer(x1, x2)


def _multi_dot(arrays: Any) -> Any:
    """The product of all, in the order that needs the fewest multiplications; the first and the last may be vectors."""
    chain = list(arrays)
    if len(chain) < 2:
        raise ArgumentError(f"np.linalg.multi_dot takes at least two arrays, got {len(chain)}")
    first, last = np.ndim(chain[0]), np.ndim(chain[-1])
    chain[0] = np.reshape(chain[0], (1, -1)) if first == 1 else chain[0]
    chain[-1] = np.reshape(chain[-1], (-1, 1)) if last == 1 else chain[-1]
    shapes = [np.shape(a) for a in chain]
    if any(len(shape) != 2 for shape in shapes):
        raise ShapeError(f"np.linalg.multi_dot takes matrices, with a vector at either end, got the shapes {shapes}")
    split = _best_splits([shapes[0][0], *[shape[1] for shape in shapes]])

    def product(i: int, j: int) -> Array:
        return chain[i] if i == j else np.dot(product(i, split[i, j]), product(split[i, j] + 1, j))

    ans = product(0, len(chain) - 1)
    return np.reshape(ans, ans.shape[2 - first : last])


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """For each stretch i ... j of a chain of matrices, matrix i being ``sizes[i] x sizes[i + 1]``, where to part it.

    Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, chapter 15.2, Matrix-chain multiplication.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


composite(np.linalg.tensordot, lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes))
composite(np.linalg.outer, _outer_of_vectors)
composite(np.linalg.cross, _three_vectors)
composite(np.linalg.multi_dot, _multi_dot)
composite(np.linalg.vecdot, _vecdot)
composite(np.vecdot, _vecdot)
composite(np.matvec, lambda x1, x2, /: np.matmul(x1, np.expand_dims(x2, -1))[..., 0])
composite(np.vecmat, lambda x1, x2, /: np.matmul(np.expand_dims(np.conjugate(x1), -2), x2)[..., 0, :])
