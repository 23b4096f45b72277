"""The operators and methods that a Tensor shares with ``numpy.ndarray``. Most are one-line lookups in the registry."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ..device import to_host
from ..errors import ShapeError, UnsupportedError
from . import observers
from .registry import operators, registry
from .types import TensorLike

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

R = TypeVar("R")  # the result of an operation: Tensor
Axis = int | tuple[int, ...] | None


class _Operator(Protocol):
    """The type of the method of a binary operator."""

    def __get__(self, tensor: ArrayMethods[R], kind: Any = None, /) -> Callable[[TensorLike], R]: ...


def _binary(ufunc: np.ufunc) -> tuple[_Operator, _Operator]:
    """Return the two methods of an operator: for ``t + other`` and for ``other + t``."""

    def operate(self: ArrayMethods[R], other: TensorLike) -> R:
        return operators[ufunc](self, other)

    def operate_reflected(self: ArrayMethods[R], other: TensorLike) -> R:
        return operators[ufunc](other, self)

    return operate, operate_reflected


def _binary_of_bits(ufunc: np.ufunc) -> tuple[_Operator, _Operator]:
    def operate(self: ArrayMethods[R], other: TensorLike) -> R:
        return registry[ufunc].call_numpy((self, other), {})

    def operate_reflected(self: ArrayMethods[R], other: TensorLike) -> R:
        return registry[ufunc].call_numpy((other, self), {})

    return operate, operate_reflected


class ArrayMethods(Generic[R]):
    """Operators such as ``t + u`` and methods such as ``t.sum(axis=0)``. Each calls the primitive of its NumPy function."""

    __slots__ = ()

    _array: Any

    if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise the error for a missing attribute. For a name of another library, it says what to write."""
            instead = "" if name.startswith("_") else import_module("minigrad._other_names").of_tensor(name)
            if not instead or hasattr(type(self), name):  # a property whose own error is an AttributeError
                return object.__getattribute__(self, name)
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}': write {instead}", name=name, obj=self
            )

    # Attributes

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    @property
    def size(self) -> int:
        return int(self._array.size)

    def item(self) -> Any:
        """Return the value of a tensor of one element as a Python number."""
        if self.size != 1:
            raise ShapeError(f"item() needs a tensor of one element, got shape {self.shape}")
        for callback in observers.numbers_read:
            callback(self)
        return to_host(self._array).item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers."""
        for callback in observers.numbers_read:
            callback(self)
        return to_host(self._array).tolist()

    # Operators

    __add__, __radd__ = _binary(np.add)
    __sub__, __rsub__ = _binary(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder)
    __pow__, __rpow__ = _binary(np.power)
    __matmul__, __rmatmul__ = _binary(np.matmul)

    # Bit operators take booleans and integers only. They have no derivative, and their results require no gradient.

    __and__, __rand__ = _binary_of_bits(np.bitwise_and)
    __or__, __ror__ = _binary_of_bits(np.bitwise_or)
    __xor__, __rxor__ = _binary_of_bits(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary_of_bits(np.left_shift)
    __rshift__, __rrshift__ = _binary_of_bits(np.right_shift)

    def __divmod__(self, other: Any) -> tuple[R, R]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[R, R]:
        return other // self, other % self

    def __neg__(self) -> R:
        return operators[np.negative](self)

    def __pos__(self) -> R:
        return operators[np.positive](self)

    def __abs__(self) -> R:
        return operators[np.absolute](self)

    def __invert__(self) -> R:
        return registry[np.invert].call_numpy((self,), {})

    # Comparisons compare the values and return plain arrays of booleans.

    def __eq__(self, other: object) -> Any:
        return self._array == values_of(other)

    def __ne__(self, other: object) -> Any:
        return self._array != values_of(other)

    def __lt__(self, other: TensorLike) -> Any:
        return self._array < values_of(other)

    def __le__(self, other: TensorLike) -> Any:
        return self._array <= values_of(other)

    def __gt__(self, other: TensorLike) -> Any:
        return self._array > values_of(other)

    def __ge__(self, other: TensorLike) -> Any:
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
        """Pick elements to change in a copy: ``t.at[index].set(v)``, ``.add(v)`` and ``.multiply(v)`` return the copy."""
        return At(self)

    # NumPy's methods

    def sum(self, axis: Axis = None, keepdims: bool = False) -> R:
        return operators[np.sum](self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> R:
        return registry[np.mean](self, axis=axis, keepdims=keepdims)

    def var(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> R:
        """Return the variance. ``correction`` is the array API's name for ``ddof``."""
        return registry[np.var](self, axis=axis, ddof=ddof if correction is None else correction, keepdims=keepdims)

    def std(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> R:
        """Return the standard deviation. ``correction`` is the array API's name for ``ddof``."""
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

    conjugate = conj

    def any(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """Return whether any value is not 0, as a plain boolean or array of booleans."""
        return self._array.any(axis=axis, keepdims=keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> Any:
        """Return whether every value is nonzero, as a plain boolean or array of booleans."""
        return self._array.all(axis=axis, keepdims=keepdims)

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> Any:
        """Return the indices that would sort the values, as a plain integer array. It has no derivative."""
        return self._array.argsort(axis=axis, kind=kind)

    def argmax(self, axis: int | None = None) -> Any:
        """Return the index of the largest value as a plain integer array. It has no derivative."""
        return self._array.argmax(axis=axis)

    def argmin(self, axis: int | None = None) -> Any:
        """Return the index of the smallest value as a plain integer array. It has no derivative."""
        return self._array.argmin(axis=axis)

    def reshape(self, *shape: Any, order: str = "C") -> R:
        if order != "C":
            return np.reshape(self, _varargs(shape), order)  # type: ignore[call-overload]
        return registry[np.reshape](self, shape=_varargs(shape))

    def ravel(self, order: str = "C") -> R:
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> R:
        """Do the same as ``ravel``. Tensors are not changed in place, so no copy is needed."""
        return self.reshape(-1, order=order)

    def transpose(self, *axes: Any) -> R:
        return registry[np.transpose](self, axes=_varargs(axes) if axes else None)

    def swapaxes(self, axis1: int, axis2: int) -> R:
        return registry[np.swapaxes](self, axis1=axis1, axis2=axis2)

    def squeeze(self, axis: Axis = None) -> R:
        return registry[np.squeeze](self, axis=axis)

    def dot(self, b: TensorLike) -> R:
        return registry[np.dot](self, b)

    def repeat(self, repeats: TensorLike, axis: int | None = None) -> R:
        return np.repeat(self, repeats, axis)  # type: ignore[call-overload]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> R:
        return registry[np.diagonal](self, offset=offset, axis1=axis1, axis2=axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> R:
        return registry[np.trace](self, offset, axis1, axis2)

    def copy(self) -> R:
        """Return a copy. The tape records it."""
        return registry[np.copy](self)

    def take(self, indices: TensorLike, axis: int | None = None, mode: str = "raise") -> R:
        if mode != "raise":
            return np.take(self, indices, axis, mode=mode)  # type: ignore[call-overload]
        return registry[np.take](self, indices, axis=axis)

    def compress(self, condition: TensorLike, axis: int | None = None) -> R:
        return registry[np.compress](condition, self, axis)

    def choose(self, choices: Sequence[TensorLike] | TensorLike, mode: str = "raise") -> R:
        """Pick each element from one of the arrays ``choices``. This tensor holds the index of the array for each element."""
        return registry[np.choose](self, choices, mode=mode)

    def nonzero(self) -> Any:
        """Return the indices of the values that are not 0: one plain integer array for each axis."""
        return self._array.nonzero()

    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> R:
        return registry[np.clip](self, min, max)

    def astype(self, dtype: DTypeLike) -> R:
        """Convert the values to another dtype. The gradient has the dtype of this tensor."""
        return registry[np.astype](self, dtype=np.dtype(dtype))

    def exp(self) -> R:
        return operators[np.exp](self)

    def log(self) -> R:
        return operators[np.log](self)

    def sqrt(self) -> R:
        return operators[np.sqrt](self)

    def tanh(self) -> R:
        return operators[np.tanh](self)


# ``t.at[index].set(v)`` makes a new tensor with some elements replaced, because a tensor on the tape must not be changed.


class At(Generic[R]):
    """The value of ``t.at``. Index it to pick elements."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> Places[R]:
        return Places(self._tensor, index)


class Places(Generic[R]):
    """The elements of a tensor that an index picks.

    Each method returns a new tensor, which can be differentiated with respect to the old one and to ``values``. ``values`` are
    broadcast to the shape of the picked elements and converted to the dtype of the tensor.

    The index and ``values`` follow NumPy's ``a[index] = v``, ``+= v`` and ``*= v``, and raise the same errors. There is one
    exception: floats for a tensor of integers raise ``DTypeError``, because an assignment would truncate them.
    """

    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Any, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def set(self, values: TensorLike) -> R:
        """Replace the picked elements by ``values``. If the index repeats an element, the last value counts."""
        return registry[operator.setitem, "set"](self._tensor, values, self._index)

    def add(self, values: TensorLike) -> R:
        """Add ``values`` to the picked elements. If the index repeats an element, all of its values are added."""
        return registry[operator.setitem, "add"](self._tensor, values, self._index)

    def multiply(self, values: TensorLike) -> R:
        """Multiply the picked elements by ``values``. If the index repeats an element, all of its values are multiplied."""
        return registry[operator.setitem, "multiply"](self._tensor, values, self._index)


def untracked_array(tensor: Any, what: str, remedy: str) -> Any:
    """Return the array of ``tensor`` for use outside of the tape.

    Raises:
        UnsupportedError: ``tensor`` requires a gradient. The message begins with ``what`` and ends with ``remedy``.
    """
    if tensor._node is not None:
        raise UnsupportedError(
            f"{what} {tensor._describe()}, which requires a gradient, would cut it off from the tape: {remedy}"
        )
    return tensor._array


def values_of(value: Any) -> Any:
    return value._array if isinstance(value, ArrayMethods) else value


def _varargs(args: tuple[Any, ...]) -> Any:
    """Return the arguments of ``f(2, 3)`` and ``f((2, 3))`` in the same form."""
    return args[0] if len(args) == 1 else args
