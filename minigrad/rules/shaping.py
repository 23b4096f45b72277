"""Functions that rearrange an array without arithmetic. Their rules rearrange the cotangent back."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..device import is_device_array, zeros
from ..engine.fitting import sum_over
from ..engine.functions import composite
from ..engine.primitive import Primitive, primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from ..errors import ArgumentError, UnsupportedError
from .about import about
from .indexing import added_at, places, scatter_add

Shape = tuple[int, ...]


def _reshape_call(a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    keywords = {"shape": shape} if order == "C" else {"shape": shape, "order": _resolved(a, order)}
    return (a,), keywords if copy is None else {"copy": copy, **keywords}


def _resolved(a: Array, order: str) -> str:
    """Resolve the orders "A" and "K", which depend on the memory layout, to "C" or "F"."""
    if order in ("C", "F"):
        return order
    if order not in ("A", "K"):
        raise ArgumentError(f"order is 'C', 'F', 'A' or 'K', got {order!r}")
    flags = a._array.flags
    if order == "K" and not (flags.c_contiguous or flags.f_contiguous):
        raise UnsupportedError("order='K' of a Tensor that is not contiguous is not supported: pass order='C' or 'F'")
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def _concatenate_rule(g: Array, i: int, args: list[Array], axis: int | None) -> Array:
    """Return the slice of the cotangent that belongs to the i-th array."""
    if axis is None:
        start = sum(np.size(a) for a in args[:i])
        return g[start : start + np.size(args[i])].reshape(np.shape(args[i]))
    start = sum(np.shape(a)[axis] for a in args[:i])
    here: list[Any] = [slice(None)] * g.ndim
    here[axis] = slice(start, start + np.shape(args[i])[axis])
    return g[tuple(here)]


@new_array
def _split_rule(g: dict[int, Any], ans: Sequence[Any], axis: int) -> Any:
    """Concatenate the cotangents of the parts, with zeros for unused parts."""
    return np.concatenate([g[i] if i in g else np.zeros_like(part) for i, part in enumerate(ans)], axis=axis)


def _split(ary: Array, /, indices_or_sections: Any, axis: int = 0) -> Any:
    parts = np.split(ary, indices_or_sections, axis)
    if sum(part.shape[axis] for part in parts) != ary.shape[axis]:
        raise ArgumentError(f"split of a Tensor needs ascending indices, got {indices_or_sections}")
    return parts


def _of_sequence(arrays: Sequence[Any], axis: Any = 0, **keywords: Any) -> tuple[Sequence[Any], dict[str, Any]]:
    """Split the one sequence that NumPy passes into the separate arguments that a primitive takes."""
    return arrays, {"axis": axis, **keywords}


def _axes_after(function: Callable[..., Any], a: Any, *args: Any) -> Shape:
    """Return the new order of the axes of ``a``, read from an array whose i-th axis has length i."""
    return tuple(function(np.empty(range(np.ndim(a))), *args).shape)


def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    _axes_after(np.rot90, m, k, axes)  # raises unless there are two axes
    if k % 4 == 2:
        return np.flip(m, tuple(axes))
    turned = np.flip(m, axes[1]) if k % 4 == 1 else m
    turned = np.swapaxes(turned, *axes) if k % 2 else turned[...]
    return np.flip(turned, axes[1]) if k % 4 == 3 else turned


def _tile_call(A: Any, reps: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (A,), {"reps": tuple([int(n) for n in reps]) if np.ndim(reps) else (int(reps),)}


def _tile_rule(g: Array, A_shape: Shape, reps: Shape) -> Array:
    """Split each axis into the repetitions and the axis of ``A``, and sum over the repetitions."""
    times, shape = [(1,) * (g.ndim - len(part)) + part for part in (reps, A_shape)]
    apart = np.reshape(g, [n for pair in zip(times, shape) for n in pair])
    return np.reshape(sum_over(apart, tuple([2 * i for i, n in enumerate(times) if n != 1])), A_shape)


def _repeat_call(a: Any, repeats: Any, axis: int | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return ``repeats`` as an int or as a list with one count per element."""
    counts = np.asarray(repeats).tolist()
    return (a,), {"repeats": counts[0] if isinstance(counts, list) and len(counts) == 1 else counts, "axis": axis}


def _repeat_rule(g: Array, a_shape: Shape, repeats: Any, axis: int | None) -> Array:
    shape = (math.prod(a_shape),) if axis is None or not a_shape else a_shape
    axis = range(len(shape))[axis or 0]
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    if isinstance(repeats, int):
        total = np.sum(np.reshape(g, (*before, n, repeats, *after)), axis=axis + 1)
    else:
        index = np.repeat(np.arange(n), repeats).tolist()
        total = scatter_add(g, index=(slice(None),) * axis + (index,), shape=shape)
    return np.reshape(total, a_shape)


def _resize(a: Any, new_shape: Any) -> Any:
    shape = tuple(new_shape) if np.ndim(new_shape) else (int(new_shape),)
    if min(shape, default=0) < 0:
        raise ArgumentError(f"resize cannot make the shape {shape}")
    size = math.prod(shape)
    if not a.size:
        return np.reshape(np.zeros_like(a, shape=(size,)), shape)
    return np.reshape(np.tile(np.ravel(a), -(-size // a.size))[:size], shape)


def _at_least(shape: Callable[[Shape], Shape]) -> Callable[..., Any]:
    """Return a function that gives each array its new shape: one result for one array, and a tuple for several."""

    def reshaped(*arys: Any) -> Any:
        found = tuple([np.reshape(a, shape(np.shape(a))) for a in arys])
        return found[0] if len(arys) == 1 else found

    return reshaped


def _hstack(tup: Sequence[Any]) -> Any:
    arrays = [np.atleast_1d(a) for a in tup]
    return np.concatenate(arrays, axis=1 if arrays and np.ndim(arrays[0]) > 1 else 0)


def _column_stack(tup: Sequence[Any]) -> Any:
    return np.concatenate([np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else a for a in tup], axis=1)


def _block(arrays: Any) -> Any:
    """Join the innermost lists along the last axis, the lists around them along the axis before it, and so on."""

    def depths(item: Any) -> set[int]:
        return {1 + depth for part in item for depth in depths(part)} if isinstance(item, list) else {0}

    def join(item: Any, level: int) -> Any:
        if not level:
            return item
        parts = [join(part, level - 1) for part in item]
        ndim = max(level, *map(np.ndim, parts))
        return np.concatenate([np.reshape(a, (1,) * (ndim - np.ndim(a)) + np.shape(a)) for a in parts], axis=-level)

    if len(found := depths(arrays)) != 1:
        raise ArgumentError("block needs lists that are all nested equally deep")
    return join(arrays, found.pop())


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if np.ndim(indices_or_sections):
        return np.split(ary, indices_or_sections, axis)
    sections = int(indices_or_sections)
    if sections <= 0:
        raise ArgumentError(f"array_split needs at least 1 section, got {sections}")
    each, longer = divmod(ary.shape[axis], sections)
    return np.split(ary, [i * each + min(i, longer) for i in range(1, sections)], axis)


def _split_along(function: Callable[..., Any], axis: int) -> Any:
    """Declare vsplit, hsplit or dsplit, which split along ``axis``."""

    def split_along(ary: Any, indices_or_sections: Any) -> Any:
        if ary.ndim <= axis and not (function is np.hsplit and ary.ndim == 1):
            raise ArgumentError(f"{function.__name__} needs at least {axis + 1} axes, got shape {ary.shape}")
        return np.split(ary, indices_or_sections, min(axis, ary.ndim - 1))

    return composite(function, split_along)


def _unstack(x: Any, axis: int = 0) -> Any:
    count = x.shape[axis]
    return tuple(np.squeeze(part, axis) for part in np.split(x, count, axis)) if count else ()


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid takes indexing='xy' or 'ij', got {indexing!r}")
    order = list(range(len(xi)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    axes = [np.reshape(x, (1,) * i + (-1,) + (1,) * (len(xi) - 1 - i)) for i, x in zip(order, xi)]
    return tuple(axes) if sparse else np.broadcast_arrays(*axes)


def _from_diagonal(d: Array, shape: Shape, offset: int) -> Array:
    """Put ``d`` (..., k) on a diagonal of zero matrices (..., n, m), whose elements are m + 1 apart in the flat matrix."""
    n, m = shape[-2:]
    start = offset if offset >= 0 else -offset * m
    positions = slice(start, start + d.shape[-1] * (m + 1), m + 1)
    return np.reshape(scatter_add(d, index=(..., positions), shape=(*shape[:-2], n * m)), shape)


@new_array
def _diagonal_rule(g: Array, a_shape: Shape, offset: int, axis1: int, axis2: int) -> Array:
    ends = (axis1 % len(a_shape), axis2 % len(a_shape))
    others = [n for i, n in enumerate(a_shape) if i not in ends]
    matrices = _from_diagonal(g, (*others, a_shape[axis1], a_shape[axis2]), offset)
    return matrices if ends == (len(others), len(others) + 1) else np.moveaxis(matrices, (-2, -1), ends)


def _diag(v: Any, k: int = 0) -> Any:
    if v.ndim not in (1, 2):
        raise ArgumentError(f"diag needs 1 or 2 axes, got shape {v.shape}")
    n = v.shape[0] + abs(k)
    return np.diagonal(v, k) if v.ndim == 2 else _from_diagonal(v, (n, n), k)


def _windows_call(x: Any, window_shape: Any, axis: Any = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (x,), {"window": window_shape, "axis": axis}


def _windows_rule(g: Array, x_shape: Shape, axis: Any) -> Array:
    for i in reversed(range(len(x_shape)) if axis is None else np.ravel(axis).tolist()):
        g = overlapped(g, axis=i % len(x_shape))
    return g


def _overlapped(windows: Array, /, axis: int) -> Array:
    """Add the windows (along ``axis``), whose elements are along the last axis, where they overlap."""
    if windows.shape[axis] < windows.shape[-1]:  # the k-th elements of all windows are a window, too
        windows = windows.swapaxes(axis, -1)
    n, size = windows.shape[axis], windows.shape[-1]
    ans = zeros((*windows.shape[:axis], n + size - 1, *windows.shape[axis + 1 : -1]), windows)
    for k in range(size):
        ans[(*[slice(None)] * axis, slice(k, k + n))] += windows[..., k]
    return ans


# The forwards pass shapes and axes by position, because CuPy accepts them only so.
reshape = primitive(np.reshape, lambda a, /, shape, order="C": np.reshape(a, shape, order), bind=_reshape_call).vjp(
    a=lambda g, a_shape, order: np.reshape(g, a_shape, order)
)


def _turned(a_shape: Shape, ans: Array) -> str | None:
    """Return the formula of an operation that transposes a matrix."""
    return "g^T" if len(a_shape) == 2 and np.shape(ans) == a_shape[::-1] != a_shape else None


transpose = primitive(np.transpose, lambda a, /, axes=None: np.transpose(a, axes)).vjp(
    a=lambda g, axes: np.transpose(g, axes and sorted(range(g.ndim), key=[i % g.ndim for i in axes].__getitem__))
)
about(
    transpose,
    word="u",
    notation="a^T",
    formulas={"a": "g, with the axes in their original order"},
    for_shapes={"a": _turned},
    written={
        "a": lambda g, axes: np.transpose(
            g, None if axes is None else np.argsort([axis % g.ndim for axis in axes]).tolist()
        )
    },
)
swapaxes = primitive(np.swapaxes, lambda a, /, axis1, axis2: np.swapaxes(a, axis1, axis2)).vjp(
    a=lambda g, axis1, axis2: np.swapaxes(g, axis1, axis2)
)
about(swapaxes, word="u", notation="a^T", formulas={"a": "g, with the axes swapped back"}, for_shapes={"a": _turned})
squeeze = primitive(np.squeeze, lambda a, /, axis=None: np.squeeze(a, axis)).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
expand_dims = primitive(np.expand_dims, lambda a, /, axis: np.expand_dims(a, axis)).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
about(reshape, squeeze, expand_dims, formulas={"a": "g, in the original shape"})
broadcast_to = primitive(np.broadcast_to, lambda array, /, shape: np.broadcast_to(array, shape)).vjp(array=lambda g: g)
astype = primitive(np.astype, lambda x, /, dtype: x.astype(dtype)).vjp(x=lambda g: g)
about(broadcast_to, word="spread")
about(reshape, transpose, swapaxes, squeeze, expand_dims, broadcast_to, view=True)
about(reshape, astype, word="u")
concatenate = primitive(
    np.concatenate, lambda *arrays, axis=0: np.concatenate(arrays, axis=axis), bind=_of_sequence
).vjp_each(_concatenate_rule)
stack = primitive(np.stack, lambda *arrays, axis=0: np.stack(arrays, axis=axis), bind=_of_sequence).vjp_each(
    lambda g, i, axis: g[(slice(None),) * (axis % g.ndim) + (i,)]
)
split = primitive(np.split, _split).vjp(ary=_split_rule)


def _part(g: Array, i: int, args: list[Array], axis: int | None) -> Array:
    if axis is None:
        return np.split(g, np.cumsum([np.size(a) for a in args])[:-1])[i].reshape(np.shape(args[i]))
    return np.split(g, np.cumsum([np.shape(a)[axis] for a in args])[:-1], axis=axis)[i]


about(concatenate, formulas={"*": "g, the part of this operand"}, written={"*": _part})
about(
    stack,
    formulas={"*": "g, the part of this operand"},
    written={"*": lambda g, i, axis: np.take(g, i, axis=axis)},
)
about(split, formulas={"ary": "g, concatenated from the gradients of all parts"})

# Compositions that reshape or move axes
ravel = composite(np.ravel, lambda a, order="C": np.reshape(a, -1, order))
matrix_transpose = composite(np.matrix_transpose, lambda x: np.swapaxes(x, -1, -2))
linalg_matrix_transpose = composite(np.linalg.matrix_transpose, lambda x: np.swapaxes(x, -1, -2))
moveaxis = composite(
    np.moveaxis,
    lambda a, source, destination: np.transpose(a, _axes_after(np.moveaxis, a, source, destination)),
)
rollaxis = composite(np.rollaxis, lambda a, axis, start=0: np.transpose(a, _axes_after(np.rollaxis, a, axis, start)))
broadcast_arrays = composite(
    np.broadcast_arrays,
    lambda *args: tuple(np.broadcast_to(a, np.broadcast_shapes(*map(np.shape, args))) for a in args),
)
atleast_1d = composite(np.atleast_1d, _at_least(lambda shape: shape or (1,)))
atleast_2d = composite(np.atleast_2d, _at_least(lambda shape: (1,) * (2 - len(shape)) + shape))
atleast_3d = composite(
    np.atleast_3d, _at_least(lambda shape: ((1,) * (len(shape) < 2) + shape + (1, 1))[: max(3, len(shape))])
)
meshgrid = composite(np.meshgrid, _meshgrid)
resize = composite(np.resize, _resize)

# Joining and splitting
vstack = composite(np.vstack, lambda tup: np.concatenate([np.atleast_2d(a) for a in tup], axis=0))
hstack = composite(np.hstack, _hstack)
dstack = composite(np.dstack, lambda tup: np.concatenate([np.atleast_3d(a) for a in tup], axis=2))
column_stack = composite(np.column_stack, _column_stack)
block = composite(np.block, _block)
array_split = composite(np.array_split, _array_split)
vsplit, hsplit, dsplit = _split_along(np.vsplit, 0), _split_along(np.hsplit, 1), _split_along(np.dsplit, 2)
unstack = composite(np.unstack, _unstack)

# Turning and repeating
flip = primitive(np.flip, lambda m, /, axis=None: np.flip(m, axis)).vjp(m=lambda g, axis: np.flip(g, axis))
about(flip, formulas={"m": "g, flipped back"})
fliplr = composite(np.fliplr, lambda m: m[:, ::-1])
flipud = composite(np.flipud, lambda m: m[::-1, ...])
rot90 = composite(np.rot90, _rot90)
roll = primitive(np.roll, lambda a, /, shift, axis=None: np.roll(a, shift, axis)).vjp(
    a=new_array(
        lambda g, shift, axis: np.roll(g, -shift if is_device_array(shift) else np.negative(shift).tolist(), axis)
    )
)
about(roll, formulas={"a": "g, rolled back"})
repeat = primitive(np.repeat, lambda a, /, repeats, axis=None: np.repeat(a, repeats, axis), bind=_repeat_call).vjp(
    a=_repeat_rule
)
tile = primitive(np.tile, lambda A, /, reps: np.tile(A, reps), bind=_tile_call).vjp(A=_tile_rule)
about(
    repeat,
    formulas={"a": "g, summed over the copies"},
    written={"a": lambda g, a_shape, repeats, axis: added_at(g, np.repeat(places(a_shape), repeats, axis), a_shape)},
)
about(tile, formulas={"A": "g, summed over the copies"})
copy = primitive(np.copy, lambda a, /, order="K": np.copy(a, order)).vjp(a=lambda g: g)
sliding_window_view = primitive(
    np.lib.stride_tricks.sliding_window_view,
    lambda x, /, window, axis=None: np.lib.stride_tricks.sliding_window_view(x, window, axis),
    bind=_windows_call,
).vjp(x=_windows_rule)
overlapped = primitive(_overlapped, name="overlapped").vjp(
    windows=lambda g, windows_shape, axis: sliding_window_view(g, windows_shape[-1], axis=axis)
)
about(sliding_window_view, formulas={"x": "g, summed over the windows"})
about(overlapped, formulas={"windows": "sliding_window_view(g)"})

# Diagonals and triangles
diagonal = primitive(np.diagonal, lambda a, /, offset=0, axis1=0, axis2=1: np.diagonal(a, offset, axis1, axis2)).vjp(
    a=_diagonal_rule
)
about(
    diagonal,
    formulas={"a": "g, on the diagonal, 0 elsewhere"},
    written={
        "a": lambda g, a_shape, offset, axis1, axis2: added_at(
            g, np.diagonal(places(a_shape), offset, axis1, axis2), a_shape
        )
    },
)
tril: Primitive = primitive(np.tril, lambda m, /, k=0: np.tril(m, k)).vjp(m=new_array(lambda g, k: tril(g, k=k)))
triu: Primitive = primitive(np.triu, lambda m, /, k=0: np.triu(m, k)).vjp(m=new_array(lambda g, k: triu(g, k=k)))
about(
    *(
        reshape,
        transpose,
        swapaxes,
        squeeze,
        expand_dims,
        broadcast_to,
        astype,
        copy,
        concatenate,
        stack,
        flip,
        roll,
        repeat,
    ),
    *(sliding_window_view, diagonal, tril, triu),
    linear=True,
)
diag = composite(np.diag, _diag)
diagflat = composite(np.diagflat, lambda v, k=0: _diag(np.ravel(v), k))
trace = composite(
    np.trace,
    lambda a, offset=0, axis1=0, axis2=1, dtype=None: np.sum(
        np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype
    ),
)
linalg_diagonal = composite(np.linalg.diagonal, lambda x, offset=0: np.diagonal(x, offset, -2, -1))
linalg_trace = composite(np.linalg.trace, lambda x, offset=0, dtype=None: np.trace(x, offset, -2, -1, dtype))
