"""Products of matrices and of sequences."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.primitive import Primitive, primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from ..errors import ArgumentError, ShapeError
from .about import about
from .axes import array_of

# A 1-D operand is a row (left) or a column (right). Leading axes are batch axes; the engine sums over the broadcast ones.


@new_array
def _matmul_x(g: Array, x_shape: tuple[int, ...], y: Array) -> Array:
    """Return ``g y^T``."""
    if y.ndim == 1:
        return np.expand_dims(g, -1) * y
    if len(x_shape) == 1:
        return np.matmul(np.expand_dims(g, -2), y.swapaxes(-1, -2))[..., 0, :]
    if y.ndim == 2 < g.ndim and g.size:  # one product over all rows instead of a batch of products
        return np.matmul(g.reshape(-1, g.shape[-1]), y.swapaxes(0, 1)).reshape(*g.shape[:-1], len(y))
    return np.matmul(g, y.swapaxes(-1, -2))


@new_array
def _matmul_y(g: Array, x: Array, y_shape: tuple[int, ...]) -> Array:
    """Return ``x^T g``."""
    if len(y_shape) == 1:
        return np.matmul(np.reshape(g, -1), np.reshape(x, (g.size, y_shape[0]))) if x.ndim > 1 else g * x
    if x.ndim == 1:
        return np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if len(y_shape) == 2 < x.ndim:  # one product over all rows instead of a batch and its sum
        return np.matmul(x.reshape(n := math.prod(x.shape[:-1]), x.shape[-1]).swapaxes(0, 1), g.reshape(n, g.shape[-1]))
    return np.matmul(x.swapaxes(-1, -2), g)


matmul = primitive(np.matmul, also=[np.linalg.matmul]).vjp(x=_matmul_x, y=_matmul_y)


def _product_by_x(x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> str | None:
    """Return the formula of the derivative by x, where it is not that of two matrices."""
    if len(y_shape) == 1:
        return "g * y" if len(x_shape) == 1 else "outer(g, y)"
    return "g @ y^T, for each matrix of the stack" if len(x_shape) == 1 and len(y_shape) > 2 else None


def product_by_y(x_ndim: int, y_ndim: int) -> str | None:
    """Return the formula of the derivative of ``x @ y`` by y, where it is not that of two matrices."""
    if x_ndim == 1:
        return ("g * x", "outer(x, g)", "outer(x, g), for each matrix of the stack")[min(y_ndim, 3) - 1]
    return "x^T @ g, summed over the stack" if x_ndim > 2 >= y_ndim else None


about(
    matmul,
    word="z",
    notation="x @ y",
    multiplies=("x", "y"),
    only_overflows=True,
    formulas={"x": "g @ y^T", "y": "x^T @ g"},
    for_shapes={"x": _product_by_x, "y": lambda x_shape, y_shape: product_by_y(len(x_shape), len(y_shape))},
)

# --- contractions of any axes ---------------------------------------------------------------------------------------


def identity(n: int, like: Array) -> Array:
    """Return the n x n identity matrix in the dtype and library of ``like``, as a plain array even if ``like`` is a Tensor."""
    return np.identity(n, dtype=like.dtype, like=values_of(like))


def _paired_axes(a_ndim: int, b_ndim: int, axes: Any) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the summed axes of ``a`` and of ``b`` in pairs, then the free axes of each."""
    if not isinstance(axes, (list, tuple)) and np.ndim(axes) == 0:
        axes = range(a_ndim - axes, a_ndim), range(axes)
    pairs = zip([[part] if isinstance(part, int) else np.ravel(part) for part in axes], (a_ndim, b_ndim))
    of_a, of_b = [[int(i) % ndim for i in part] for part, ndim in pairs]
    free_a, free_b = [i for i in range(a_ndim) if i not in of_a], [i for i in range(b_ndim) if i not in of_b]
    return of_a, of_b, free_a, free_b


def contraction_a(g: Array, a_shape: tuple[int, ...], b: Array, axes: Any) -> Array:
    """Contract ``g`` with ``b`` over the free axes of ``b``, and order the axes as in ``a``: the cotangent of ``a``."""
    of_a, of_b, free_a, free_b = _paired_axes(len(a_shape), np.ndim(b), axes)
    order = free_a + [of_a[k] for k in np.argsort(of_b)]
    product = np.tensordot(g, b, (list(range(len(free_a), np.ndim(g))), free_b)) if np.ndim(g) and np.ndim(b) else g * b
    return np.transpose(product, np.argsort(order).tolist())


def contraction_b(g: Array, a: Array, b_shape: tuple[int, ...], axes: Any) -> Array:
    """Contract ``a`` with ``g`` over the free axes of ``a``, and order the axes as in ``b``: the cotangent of ``b``."""
    of_a, of_b, free_a, free_b = _paired_axes(np.ndim(a), len(b_shape), axes)
    order = [of_b[k] for k in np.argsort(of_a)] + free_b
    product = np.tensordot(a, g, (free_a, list(range(len(free_a))))) if np.ndim(a) and np.ndim(g) else a * g
    return np.transpose(product, np.argsort(order).tolist())


def _by_matmul(axes: Any, b_ndim: int) -> bool:
    """Whether a contraction is a product by a matrix or a vector, which has the rules of ``matmul``."""
    return isinstance(axes, int) and axes == 1 and b_ndim <= 2


def _product_a(g: Array, a_shape: tuple[int, ...], b: Array, axes: Any) -> Array:
    return _matmul_x(g, a_shape, b) if _by_matmul(axes, np.ndim(b)) else contraction_a(g, a_shape, b, axes)


def _product_b(g: Array, a: Array, b_shape: tuple[int, ...], axes: Any) -> Array:
    return _matmul_y(g, a, b_shape) if _by_matmul(axes, len(b_shape)) else contraction_b(g, a, b_shape, axes)


def dot_axes(a_ndim: int, b_ndim: int) -> Any:
    """Return the axes that ``dot`` sums over: the last of ``a`` and the second-to-last, or only, axis of ``b``."""
    return (1 if b_ndim <= 2 else (-1, -2)) if a_ndim and b_ndim else 0


def inner_axes(a_ndim: int, b_ndim: int) -> Any:
    return (-1, -1) if a_ndim and b_ndim else 0


def _contraction(function: Any, axes_of: Callable[[int, int], Any]) -> Primitive:
    """Declare ``dot`` or ``inner``, which sum over the axes that depend on the numbers of axes."""
    return primitive(function, lambda a, b, /: function(a, b)).vjp(
        a=new_array(lambda g, a_shape, b: _product_a(g, a_shape, b, axes_of(len(a_shape), np.ndim(b)))),
        b=new_array(lambda g, a, b_shape: _product_b(g, a, b_shape, axes_of(np.ndim(a), len(b_shape)))),
    )


tensordot = primitive(np.tensordot, lambda a, b, /, axes=2: np.tensordot(a, b, axes)).vjp(
    a=new_array(lambda g, a_shape, b, axes: _product_a(g, a_shape, b, axes)),
    b=new_array(lambda g, a, b_shape, axes: _product_b(g, a, b_shape, axes)),
)
dot, inner = _contraction(np.dot, dot_axes), _contraction(np.inner, inner_axes)
outer = primitive(np.outer, lambda a, b, /: np.outer(a, b)).vjp(
    a=lambda g, a_shape, b: np.reshape(np.matmul(g, np.reshape(b, -1)), a_shape),
    b=lambda g, a, b_shape: np.reshape(np.matmul(np.reshape(a, -1), g), b_shape),
)
vdot = primitive(np.vdot, lambda a, b, /: np.vdot(a, b)).vjp(
    a=new_array(lambda g, a_shape, b: np.reshape((g * b).conjugate(), a_shape)),
    b=new_array(lambda g, a, b_shape: np.reshape(g * a.conjugate(), b_shape)),
)


def _dot_by(argument: str, other: str) -> Callable[..., str | None]:
    """Return the function of the shapes that gives the formula of ``dot``, where it is not that of two matrices."""

    def formula(a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> str | None:
        match len(a_shape), len(b_shape):
            case (0, n) | (n, 0):
                own = len(a_shape if argument == "a" else b_shape)
                return f"g * {other}" if own == n else f"sum(g * {other})"
            case (1, 1):
                return f"g * {other}"
            case (2, 1) if argument == "a":
                return "outer(g, b)"
            case (1, 2) if argument == "b":
                return "outer(a, g)"
            case ((1 | 2), (1 | 2)):
                return None
        return f"g * {other}, summed over the axes that only {other} has"

    return formula


def _of_vectors(text: str) -> Callable[..., str | None]:
    return lambda a_shape, b_shape: text if len(a_shape) == 1 == len(b_shape) else None


about(
    dot,
    only_overflows=True,
    formulas={"a": "g @ b^T", "b": "a^T @ g"},
    for_shapes={"a": _dot_by("a", "b"), "b": _dot_by("b", "a")},
)
about(
    inner,
    formulas={"a": "g @ b", "b": "g^T @ a"},
    for_shapes={"a": _of_vectors("g * b"), "b": _of_vectors("g * a")},
)
about(outer, formulas={"a": "g @ b", "b": "a @ g"})
about(vdot, formulas={"a": "conj(g * b)", "b": "g * conj(a)"})
about(
    tensordot,
    formulas={
        "a": "g * b, summed over the axes that only b has",
        "b": "a * g, summed over the axes that only a has",
    },
)


# --- products written as other products -----------------------------------------------------------------------------


def _products(g: Array, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> Array:
    """Return the cotangent of ``kron`` as a matrix with a row for each element of ``a``, a column for each of ``b``."""
    a, b = [(1,) * (g.ndim - len(shape)) + shape for shape in (a_shape, b_shape)]
    apart = np.reshape(g, [n for pair in zip(a, b) for n in pair])  # each axis is one of a and one of b
    axes = [*range(0, 2 * g.ndim, 2), *range(1, 2 * g.ndim, 2)]
    return np.reshape(np.transpose(apart, axes), (math.prod(a_shape), math.prod(b_shape)))


def _cross_rule(g: Array, shape: tuple[int, ...], other: Array, axis: int | None, *axes: int) -> Array:
    """Return ``other x g``, the cotangent of ``a`` in ``a x other``; ``axes`` are those of ``a``, ``other`` and ``g``."""
    mine, others, of_g = axes if axis is None else (axis,) * 3
    if mine == others == of_g == -1 and shape[-1] == other.shape[-1] == 3:
        return cross(other, g)
    b = np.moveaxis(other, others, -1)
    flat = shape[mine] == b.shape[-1] == 2  # g is the third component
    g = np.pad(np.expand_dims(g, -1), [(0, 0)] * g.ndim + [(2, 0)]) if flat else np.moveaxis(g, of_g, -1)
    b = np.pad(b, [(0, 0)] * (b.ndim - 1) + [(0, 1)]) if b.shape[-1] == 2 else b
    return np.moveaxis(np.cross(b, g)[..., : shape[mine]], -1, mine % len(shape) - len(shape))


def _matrix_power(a: Array, n: int) -> Array:
    """Compute the power by repeated squaring."""
    if n <= 0:
        return _matrix_power(np.linalg.inv(a), -n) if n else 0 * a  # a**0 is constant
    if n == 1:
        return a
    half = _matrix_power(a, n // 2)
    return half @ half @ a if n % 2 else half @ half


kron = primitive(np.kron, lambda a, b, /: np.kron(a, b)).vjp(
    a=lambda g, a_shape, b: np.reshape(np.matmul(_products(g, a_shape, np.shape(b)), np.reshape(b, -1)), a_shape),
    b=lambda g, a, b_shape: np.reshape(np.matmul(np.reshape(a, -1), _products(g, np.shape(a), b_shape)), b_shape),
)
cross = primitive(
    np.cross,
    lambda a, b, /, axisa=-1, axisb=-1, axisc=-1, axis=None: np.cross(a, b, axisa, axisb, axisc, axis),
).vjp(
    a=lambda g, a_shape, b, axis, axisa, axisb, axisc: _cross_rule(g, a_shape, b, axis, axisa, axisb, axisc),
    b=lambda g, a, b_shape, axis, axisa, axisb, axisc: _cross_rule(-g, b_shape, a, axis, axisb, axisa, axisc),
)
matrix_power = primitive(np.linalg.matrix_power, lambda a, /, n: np.linalg.matrix_power(a, n)).reference(_matrix_power)
about(kron, formulas={"a": "g * b, summed over the block of each element", "b": "a * g, summed over all blocks"})
about(cross, formulas={"a": "b × g", "b": "g × a"})
about(matrix_power, formulas={"a": "(a^T)^k @ g @ (a^T)^(n - 1 - k), summed over k"})


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return ``sum(conj(x1) * x2)`` along ``axis``."""
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
    """Multiply all arrays in the order that needs the fewest multiplications; the first and the last may be vectors."""
    chain = list(arrays)
    if len(chain) < 2:
        raise ArgumentError(f"np.linalg.multi_dot takes at least two arrays, got {len(chain)}")
    first, last = np.ndim(chain[0]), np.ndim(chain[-1])
    if len(chain) == 2 and not (first and last):
        return np.dot(*chain)  # as NumPy does for numbers
    chain[0] = np.reshape(chain[0], (1, -1)) if first == 1 else chain[0]
    chain[-1] = np.reshape(chain[-1], (-1, 1)) if last == 1 else chain[-1]
    shapes = [np.shape(a) for a in chain]
    if any(len(shape) != 2 for shape in shapes):
        raise ShapeError(f"np.linalg.multi_dot takes matrices, with a vector at either end, got the shapes {shapes}")
    sizes = [shapes[0][0], *[shape[1] for shape in shapes]]

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Return how many multiplications the product of the matrices i ... j needs, and after which of them to split it.

        See Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, chapter 15.2, Matrix-chain multiplication.
        """
        costs = [(best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
        return min(costs, default=(0, i))

    def product(i: int, j: int) -> Array:
        split = best(i, j)[1]
        return chain[i] if i == j else np.dot(product(i, split), product(split + 1, j))

    ans = product(0, len(chain) - 1)
    return np.reshape(ans, ans.shape[2 - first : last])


composite(np.linalg.tensordot, lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes))
composite(np.linalg.outer, _outer_of_vectors)
composite(np.linalg.cross, _three_vectors)
composite(np.linalg.multi_dot, _multi_dot)
composite(np.linalg.vecdot, _vecdot)
composite(np.vecdot, _vecdot)
composite(np.matvec, lambda x1, x2, /: np.matmul(x1, np.expand_dims(x2, -1))[..., 0])
composite(np.vecmat, lambda x1, x2, /: np.matmul(np.expand_dims(np.conjugate(x1), -2), x2)[..., 0, :])


# --- convolution and correlation: ``c[k] = sum_i a[i] v[k - i]`` for all k, of which each mode keeps a part ---


# ``mode`` is "full", or "valid" where ``a`` is at least as long as ``v``; each derivative is one of the other kind or "valid".
convolve: Primitive = primitive(lambda a, v, /, mode="full": np.convolve(a, v, mode), name="convolve").vjp(
    a=lambda g, v, mode: convolve(g, v[::-1], mode="valid" if mode == "full" else "full"),
    v=lambda g, a, mode: convolve(g, a[::-1], mode="valid") if mode == "full" else convolve(a[::-1], g, mode="valid"),
)
about(convolve, formulas={"a": "correlate(g, v)", "v": "correlate(g, a)"})


def _convolved(a: Array, v: Array, mode: str) -> Array:
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"mode is 'full', 'same' or 'valid', got {mode!r}")
    a, v = (v, a) if len(a) < len(v) else (a, v)
    start = (len(v) - 1) // 2
    return convolve(a, v)[start : start + len(a)] if mode == "same" else convolve(a, v, mode=mode)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    return _convolved(*_sequences(a, v), mode)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = _sequences(a, v)
    if len(a) >= len(v):
        return _convolved(a, np.conjugate(v)[::-1], mode)
    return _convolved(np.conjugate(v), a[::-1], mode)[::-1]


def _sequences(a: Array, v: Array) -> tuple[Array, Array]:
    a, v = (np.reshape(x, (-1,)) if not x.ndim else x for x in (array_of(a), array_of(v)))
    if a.ndim != 1 or v.ndim != 1 or not a.shape[0] or not v.shape[0]:
        raise ShapeError(f"convolution takes two 1-D arrays that are not empty, got shapes {a.shape} and {v.shape}")
    return a, v


composite(np.convolve, _convolve)
composite(np.correlate, _correlate)
about(matmul, dot, inner, outer, tensordot, kron, cross, convolve, product=True)
