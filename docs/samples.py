"""A call of each of NumPy's functions that could have a derivative, for the tables of docs/ and the tests that hold them.

A call takes NumPy's namespace, or another library's, and a matrix: ``CALLS["linalg.norm"](np, x)``. Functions that are not
listed are called with the matrix alone (ufuncs of two arguments with the matrix and the matrix plus 0.5).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

MATRIX = numpy.array([[2.1, 0.3, 0.7], [0.37, 1.6, 0.45], [0.75, 0.42, 1.2]])  # distinct numbers, positive eigenvalues

Call = Callable[[Any, Any], Any]

CALLS: dict[str, Call] = {
    "append": lambda np, x: np.append(x, x),
    "apply_along_axis": lambda np, x: np.apply_along_axis(lambda row: row * 2.0, 0, x),
    "apply_over_axes": lambda np, x: np.apply_over_axes(np.sum, x, [0]),
    "arccosh": lambda np, x: np.arccosh(x + 1),
    "array_split": lambda np, x: np.array_split(x, 2),
    "astype": lambda np, x: np.astype(x, numpy.float32),
    "average": lambda np, x: np.average(x, axis=0, weights=x[0]),
    "bincount": lambda np, x: np.bincount([0, 1, 1], weights=x[0]),
    "broadcast_arrays": lambda np, x: np.broadcast_arrays(x, x[0]),
    "broadcast_to": lambda np, x: np.broadcast_to(x, (2, 3, 3)),
    "choose": lambda np, x: np.choose(numpy.array([0, 1, 0]), [x[0], x[1]]),
    "clip": lambda np, x: np.clip(x, 0.35, 1.3),
    "column_stack": lambda np, x: np.column_stack([x, x]),
    "compress": lambda np, x: np.compress([True, False, True], x, axis=0),
    "concatenate": lambda np, x: np.concatenate([x, x]),
    "convolve": lambda np, x: np.convolve(x[0], x[1]),
    "copysign": lambda np, x: np.copysign(x, -1.0),
    "correlate": lambda np, x: np.correlate(x[0], x[1]),
    "cross": lambda np, x: np.cross(x, x[::-1]),
    "cumulative_prod": lambda np, x: np.cumulative_prod(x, axis=0),
    "cumulative_sum": lambda np, x: np.cumulative_sum(x, axis=0),
    "delete": lambda np, x: np.delete(x, 1, axis=0),
    "diff": lambda np, x: np.diff(x),
    "dot": lambda np, x: np.dot(x, x),
    "dsplit": lambda np, x: np.dsplit(x[None], 3),
    "dstack": lambda np, x: np.dstack([x, x]),
    "einsum": lambda np, x: np.einsum("ij,jk->ik", x, x),
    "expand_dims": lambda np, x: np.expand_dims(x, 0),
    "extract": lambda np, x: np.extract(numpy.eye(3), x),
    "full_like": lambda np, x: np.full_like(x, x[0, 0]),
    "geomspace": lambda np, x: np.geomspace(x[0], 3.0, 4),
    "histogram": lambda np, x: np.histogram([0.5, 1.5, 1.7], bins=[0.0, 1.0, 2.0], weights=x[0])[0],
    "hsplit": lambda np, x: np.hsplit(x, 3),
    "hstack": lambda np, x: np.hstack([x, x]),
    "inner": lambda np, x: np.inner(x, x),
    "insert": lambda np, x: np.insert(x, 1, x[0], axis=0),
    "interp": lambda np, x: np.interp(x[0], numpy.array([0.0, 1.0, 3.0]), x[1]),
    "kaiser": lambda np, x: np.kaiser(4, x[0, 0]),
    "kron": lambda np, x: np.kron(x, x),
    "ldexp": lambda np, x: np.ldexp(x, 2),
    "lib.stride_tricks.sliding_window_view": lambda np, x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=0),
    "linspace": lambda np, x: np.linspace(x[0], x[1], 4),
    "logspace": lambda np, x: np.logspace(x[0], x[1], 4),
    "matmul": lambda np, x: np.matmul(x, x),
    "matvec": lambda np, x: np.matvec(x, x[0]),
    "moveaxis": lambda np, x: np.moveaxis(x, 0, 1),
    "nanpercentile": lambda np, x: np.nanpercentile(x, 30),
    "nanquantile": lambda np, x: np.nanquantile(x, 0.3),
    "outer": lambda np, x: np.outer(x[0], x[1]),
    "pad": lambda np, x: np.pad(x, 1),
    "partition": lambda np, x: np.partition(x, 1),
    "percentile": lambda np, x: np.percentile(x, 30),
    "piecewise": lambda np, x: np.piecewise(x, [x > 1], [lambda v: v * v, 0.0]),
    "poly": lambda np, x: np.poly(x[0]),
    "polyadd": lambda np, x: np.polyadd(x[0], x[1]),
    "polyder": lambda np, x: np.polyder(x[0]),
    "polydiv": lambda np, x: np.polydiv(x[0], x[1]),
    "polyfit": lambda np, x: np.polyfit(x[0], x[1], 1),
    "polyint": lambda np, x: np.polyint(x[0]),
    "polymul": lambda np, x: np.polymul(x[0], x[1]),
    "polysub": lambda np, x: np.polysub(x[0], x[1]),
    "polyval": lambda np, x: np.polyval(x[0], x[1]),
    "quantile": lambda np, x: np.quantile(x, 0.3),
    "repeat": lambda np, x: np.repeat(x, 2),
    "reshape": lambda np, x: np.reshape(x, (9,)),
    "resize": lambda np, x: np.resize(x, (2, 2)),
    "roll": lambda np, x: np.roll(x, 1),
    "rollaxis": lambda np, x: np.rollaxis(x, 1),
    "roots": lambda np, x: np.roots(x[0]),
    "rot90": lambda np, x: np.rot90(x),
    "select": lambda np, x: np.select([numpy.eye(3, dtype=bool)], [x], 0.0),
    "split": lambda np, x: np.split(x, 3),
    "stack": lambda np, x: np.stack([x, x]),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, 1),
    "take": lambda np, x: np.take(x, [0, 2]),
    "take_along_axis": lambda np, x: np.take_along_axis(x, numpy.array([[0], [1], [2]]), axis=1),
    "tensordot": lambda np, x: np.tensordot(x, x, 1),
    "tile": lambda np, x: np.tile(x, 2),
    "trim_zeros": lambda np, x: np.trim_zeros(x[0]),
    "vander": lambda np, x: np.vander(x[0]),
    "vdot": lambda np, x: np.vdot(x, x),
    "vecdot": lambda np, x: np.vecdot(x, x),
    "vecmat": lambda np, x: np.vecmat(x[0], x),
    "vsplit": lambda np, x: np.vsplit(x, 3),
    "vstack": lambda np, x: np.vstack([x, x]),
    "where": lambda np, x: np.where(numpy.eye(3) > 0, x, 0.0),
    "fft.hfft": lambda np, x: np.fft.hfft(x),
    "fft.irfft": lambda np, x: np.fft.irfft(x),
    "linalg.cross": lambda np, x: np.linalg.cross(x, x[::-1]),
    "linalg.lstsq": lambda np, x: np.linalg.lstsq(x, x[0])[0],
    "linalg.matmul": lambda np, x: np.linalg.matmul(x, x),
    "linalg.matrix_power": lambda np, x: np.linalg.matrix_power(x, 3),
    "linalg.multi_dot": lambda np, x: np.linalg.multi_dot([x, x, x]),
    "linalg.outer": lambda np, x: np.linalg.outer(x[0], x[1]),
    "linalg.solve": lambda np, x: np.linalg.solve(x, x[0]),
    "linalg.tensordot": lambda np, x: np.linalg.tensordot(x, x, axes=1),
    "linalg.tensorinv": lambda np, x: np.linalg.tensorinv(x, ind=1),
    "linalg.tensorsolve": lambda np, x: np.linalg.tensorsolve(x, x[0]),
    "linalg.vecdot": lambda np, x: np.linalg.vecdot(x, x),
    "t[index]": lambda np, x: x[1:],
    "t.at[index].set": lambda np, x: x.at[1:].set(x[0]),
    "t.at[index].add": lambda np, x: x.at[1:].add(x[0]),
    "t.at[index].multiply": lambda np, x: x.at[1:].multiply(x[0]),
}
for _name in ("arccos", "arcsin", "arctanh"):
    CALLS[_name] = lambda np, x, name=_name: getattr(np, name)(x / 3)  # type: ignore[misc]

# Without a derivative.
_INTEGERS = numpy.array([6, 5, 4])
PLAIN_CALLS: dict[str, Call] = {
    "allclose": lambda np, x: np.allclose(x, x),
    "argpartition": lambda np, x: np.argpartition(x, 1),
    "array_equal": lambda np, x: np.array_equal(x, x),
    "array_equiv": lambda np, x: np.array_equiv(x, x),
    "bitwise_and": lambda np, x: np.bitwise_and(x.astype(int), _INTEGERS),
    "bitwise_or": lambda np, x: np.bitwise_or(x.astype(int), _INTEGERS),
    "bitwise_xor": lambda np, x: np.bitwise_xor(x.astype(int), _INTEGERS),
    "can_cast": lambda np, x: np.can_cast(x.dtype, numpy.float32),
    "digitize": lambda np, x: np.digitize(x, [0.0, 1.0]),
    "invert": lambda np, x: np.invert(x.astype(int)),
    "isclose": lambda np, x: np.isclose(x, x),
    "isin": lambda np, x: np.isin(x, [0.3]),
    "ix_": lambda np, x: np.ix_(x[0] > 1, x[:, 0]),
    "left_shift": lambda np, x: np.left_shift(x.astype(int), 1),
    "may_share_memory": lambda np, x: np.may_share_memory(x, x),
    "ravel_multi_index": lambda np, x: np.ravel_multi_index(tuple(x[:2].astype(int) % 2), (2, 2)),
    "right_shift": lambda np, x: np.right_shift(x.astype(int), 1),
    "searchsorted": lambda np, x: np.searchsorted(x[0], [0.0, 2.0]),
    "shares_memory": lambda np, x: np.shares_memory(x, x),
    "unravel_index": lambda np, x: np.unravel_index(x.astype(int) % 4, (2, 2)),
}


def find(name: str, namespace: Any = numpy) -> Any:
    """``find("linalg.norm")`` is ``np.linalg.norm``."""
    return operator.attrgetter(name)(namespace)


def call(name: str, x: Any, namespace: Any = numpy) -> Any:
    """What the function of this name makes of the matrix ``x``, which is an array or another library's."""
    if given := CALLS.get(name) or PLAIN_CALLS.get(name):
        return given(namespace, x)
    ufunc = find(name)
    two = isinstance(ufunc, numpy.ufunc) and ufunc.nin == 2
    return find(name, namespace)(x, x + 0.5) if two else find(name, namespace)(x)
