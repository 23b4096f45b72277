"""The operators and methods that a Tensor shares with ``numpy.ndarray``: one line each, through the registry."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import UnsupportedError
from .at import At
from .registry import operators, registry

R = TypeVar("R")  # what an operation gives: Tensor
Axis = int | tuple[int, ...] | None


class ArrayMethods(Generic[R]):
    """What ``t + u``, ``t > 0`` and ``t.sum(axis=0)`` do: look up the primitive of the NumPy function of that name."""

    __slots__ = ()

    _array: Any

    # Operators. Comparisons see the values and give plain arrays of booleans.

    def __add__(self, other: Any) -> R:
        return operators[np.add](self, other)

    def __radd__(self, other: Any) -> R:
        return operators[np.add](other, self)

    def __sub__(self, other: Any) -> R:
        return operators[np.subtract](self, other)

    def __rsub__(self, other: Any) -> R:
        return operators[np.subtract](other, self)

    def __mul__(self, other: Any) -> R:
        return operators[np.multiply](self, other)

    def __rmul__(self, other: Any) -> R:
        return operators[np.multiply](other, self)

    def __truediv__(self, other: Any) -> R:
        return operators[np.divide](self, other)

    def __rtruediv__(self, other: Any) -> R:
        return operators[np.divide](other, self)

    def __floordiv__(self, other: Any) -> R:
        return operators[np.floor_divide](self, other)

    def __rfloordiv__(self, other: Any) -> R:
        return operators[np.floor_divide](other, self)

    def __mod__(self, other: Any) -> R:
        return operators[np.remainder](self, other)

    def __rmod__(self, other: Any) -> R:
        return operators[np.remainder](other, self)

    def __divmod__(self, other: Any) -> tuple[R, R]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[R, R]:
        return other // self, other % self

    def __pow__(self, other: Any) -> R:
        return operators[np.power](self, other)

    def __rpow__(self, other: Any) -> R:
        return operators[np.power](other, self)

    def __matmul__(self, other: Any) -> R:
        return operators[np.matmul](self, other)

    def __rmatmul__(self, other: Any) -> R:
        return operators[np.matmul](other, self)

    def __neg__(self) -> R:
        return operators[np.negative](self)

    def __pos__(self) -> R:
        return operators[np.positive](self)

    def __abs__(self) -> R:
        return operators[np.absolute](self)

    # Those of bits, of booleans and integers alone: no derivative, and so tensors that require none.

    def __and__(self, other: Any) -> R:
        return registry[np.bitwise_and].call_numpy((self, other), {})

    def __rand__(self, other: Any) -> R:
        return registry[np.bitwise_and].call_numpy((other, self), {})

    def __or__(self, other: Any) -> R:
        return registry[np.bitwise_or].call_numpy((self, other), {})

    def __ror__(self, other: Any) -> R:
        return registry[np.bitwise_or].call_numpy((other, self), {})

    def __xor__(self, other: Any) -> R:
        return registry[np.bitwise_xor].call_numpy((self, other), {})

    def __rxor__(self, other: Any) -> R:
        return registry[np.bitwise_xor].call_numpy((other, self), {})

    def __lshift__(self, other: Any) -> R:
        return registry[np.left_shift].call_numpy((self, other), {})

    def __rlshift__(self, other: Any) -> R:
        return registry[np.left_shift].call_numpy((other, self), {})

    def __rshift__(self, other: Any) -> R:
        return registry[np.right_shift].call_numpy((self, other), {})

    def __rrshift__(self, other: Any) -> R:
        return registry[np.right_shift].call_numpy((other, self), {})

    def __invert__(self) -> R:
        return registry[np.invert].call_numpy((self,), {})

    def __eq__(self, other: Any) -> Any:
        return self._array == values_of(other)

    def __ne__(self, other: Any) -> Any:
        return self._array != values_of(other)

    def __lt__(self, other: Any) -> Any:
        return self._array < values_of(other)

    def __le__(self, other: Any) -> Any:
        return self._array <= values_of(other)

    def __gt__(self, other: Any) -> Any:
        return self._array > values_of(other)

    def __ge__(self, other: Any) -> Any:
        return self._array >= values_of(other)

    @property
    def real(self) -> R:
        """The real part."""
        return registry[np.real](self)

    @property
    def imag(self) -> R:
        """The imaginary part, zeros for real numbers."""
        return registry[np.imag](self)

    @property
    def T(self) -> R:
        """The transpose, all axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> R:
        """The matrix transpose, the last two axes swapped."""
        return self.swapaxes(-1, -2)

    @property
    def at(self) -> At[R]:
        """A new tensor that differs in some places, by ``t.at[index].set(v)``, ``.add(v)`` or ``.multiply(v)``."""
        return At(self)

    # NumPy's methods

    def sum(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.sum](self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.mean](self, axis=axis, keepdims=keepdims)

    def var(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> R:
        """``correction`` is the array API's name for ``ddof``."""
        return registry[np.var](self, axis=axis, ddof=ddof if correction is None else correction, keepdims=keepdims)

    def std(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> R:
        """``correction`` is the array API's name for ``ddof``."""
        return registry[np.std](self, axis=axis, ddof=ddof if correction is None else correction, keepdims=keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.max](self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.min](self, axis=axis, keepdims=keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.prod](self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None) -> R:
        return registry[np.cumsum](self, axis=axis)

    def cumprod(self, axis: int | None = None) -> R:
        return registry[np.cumprod](self, axis=axis)

    def round(self, decimals: int = 0) -> R:
        return registry[np.round](self, decimals=decimals)

    def conj(self) -> R:
        return operators[np.conjugate](self)

    def conjugate(self) -> R:
        return operators[np.conjugate](self)

    def any(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """Whether any value is not 0, as plain booleans."""
        return self._array.any(axis=axis, keepdims=keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """Whether no value is 0, as plain booleans."""
        return self._array.all(axis=axis, keepdims=keepdims)

    def argsort(self, axis: int | None = -1, kind: Any = None) -> Any:
        """The order that sorts the values, as a plain integer array: it has no derivative. (``np.sort(t)`` sorts.)"""
        return self._array.argsort(axis=axis, kind=kind)

    def argmax(self, axis: int | None = None) -> Any:
        """The index of the largest value, as a plain integer array: it has no derivative."""
        return self._array.argmax(axis=axis)

    def argmin(self, axis: int | None = None) -> Any:
        """The index of the smallest value, as a plain integer array: it has no derivative."""
        return self._array.argmin(axis=axis)

    def reshape(self, *shape: Any, order: str = "C") -> R:
        if order != "C":
            return np.reshape(self, _varargs(shape), order)  # type: ignore[call-overload]
        return registry[np.reshape](self, shape=_varargs(shape))

    def ravel(self, order: str = "C") -> R:
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> R:
        """As ``ravel``; tensors are not written to, so no copy is needed."""
        return self.reshape(-1, order=order)

    def transpose(self, *axes: Any) -> R:
        return registry[np.transpose](self, axes=_varargs(axes) if axes else None)

    def swapaxes(self, axis1: int, axis2: int) -> R:
        return registry[np.swapaxes](self, axis1=axis1, axis2=axis2)

    def squeeze(self, axis: Axis = None) -> R:
        return registry[np.squeeze](self, axis=axis)

    def dot(self, b: Any) -> R:
        return registry[np.dot](self, b)

    def repeat(self, repeats: Any, axis: int | None = None) -> R:
        return np.repeat(self, repeats, axis)  # type: ignore[call-overload]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> R:
        return registry[np.diagonal](self, offset=offset, axis1=axis1, axis2=axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> R:
        return registry[np.trace](self, offset, axis1, axis2)

    def copy(self) -> R:
        """The same values in memory of their own, on the tape."""
        return registry[np.copy](self)

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> R:
        if mode != "raise":
            return np.take(self, indices, axis, mode=mode)  # type: ignore[call-overload]
        return registry[np.take](self, indices, axis=axis)

    def compress(self, condition: Any, axis: int | None = None) -> R:
        return registry[np.compress](condition, self, axis)

    def choose(self, choices: Any, mode: str = "raise") -> R:
        """From each of the arrays ``choices`` the elements where this tensor, of integers, has its number."""
        return registry[np.choose](self, choices, mode=mode)

    def nonzero(self) -> Any:
        """Where the values are not 0, as plain integer arrays, one for each axis."""
        return self._array.nonzero()

    def clip(self, min: Any = None, max: Any = None) -> R:
        return registry[np.clip](self, min, max)

    def astype(self, dtype: Any) -> R:
        """The values in another dtype; the gradient comes back in this tensor's own."""
        return registry[np.astype](self, dtype=np.dtype(dtype))

    def exp(self) -> R:
        return operators[np.exp](self)

    def log(self) -> R:
        return operators[np.log](self)

    def sqrt(self) -> R:
        return operators[np.sqrt](self)

    def tanh(self) -> R:
        return operators[np.tanh](self)


def plain_array(tensor: Any, what: str, way_out: str) -> Any:
    """The array of ``tensor``, which will be kept outside of the tape.

    Raises:
        UnsupportedError: ``tensor`` requires a gradient. The message begins with ``what`` and ends with ``way_out``.
    """
    if tensor._node is not None:
        raise UnsupportedError(
            f"{what} {tensor._describe()}, which requires a gradient, would cut it off from the tape: {way_out}"
        )
    return tensor._array


def values_of(value: Any) -> Any:
    return value._array if isinstance(value, ArrayMethods) else value


def _varargs(args: tuple[Any, ...]) -> Any:
    """``f(2, 3)`` and ``f((2, 3))`` mean the same."""
    return args[0] if len(args) == 1 else args
