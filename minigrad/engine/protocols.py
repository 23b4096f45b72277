"""The special methods of a Tensor for Python and NumPy: NumPy's protocols, conversions, indexing and printing."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import numpy as np

from ..device import is_device_array, to_host
from ..errors import ShapeError, UnsupportedError
from . import observers
from .arrays import NUMBERS, operand
from .messages import cannot_write
from .methods import values_of
from .registry import operators, registry
from .signatures import numpys_name
from .tape import Output

_PARTS_OF_AN_INDEX = frozenset({int, slice, list, type(None), type(Ellipsis)})


_BY_A_TRANSFORM = "If a transform such as mg.grad returned t, call it under 'with mg.no_grad():', and it returns arrays"


def asked_for(tensor: Any, frame: FrameType) -> str:
    """Return the message for code, running in ``frame``, that asks for the array of a Tensor that requires a gradient."""
    module = frame.f_globals.get("__name__", "")
    installed = "-packages" in frame.f_code.co_filename and module.partition(".")[0] not in ("numpy", "minigrad")
    library = ".".join(module.split(".")[:2]) if installed else ""
    text = (
        f"{library or 'NumPy'} asked for the plain array of {tensor._describe()}, which requires a gradient: that would cut it "
        "off from the tape. Use t.numpy() for the values"
    )
    if library:
        text += (
            f"; what {library} computes is not recorded. For a gradient write it with NumPy's functions on arrays (a sparse "
            "matrix S becomes one by S.toarray(), a table by df.to_numpy()), or declare it with minigrad.primitive"
        )
    else:
        text += (
            ", np.stack([...]) or np.concatenate([...]) to build an array from tensors, np.broadcast_to(t, shape) to fill one, "
            "and t.item() for one number"
        )
    return f"{text}. {_BY_A_TRANSFORM}"


class Protocols:
    """NumPy's two protocols, which look functions up in the registry, and Python's special methods.

    A method raises an error if its result would silently lose the gradient.
    """

    __slots__ = ()

    __array_priority__ = 1000.0

    @property
    def __pandas_priority__(self: Any) -> int:
        """Make ``df * t`` of a pandas object call ``t.__rmul__(df)``, as ``t * df`` does, if pandas cannot compute with t."""
        return 5000 if self._node is not None or not self.shape else 0

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__" and ufunc in operators:  # np.multiply(t, u) does the same as t * u
            return operators[ufunc](*inputs)
        if kwargs.get("out") is not None:
            return written_into(ufunc, method, inputs, kwargs)
        implementation = registry.get(ufunc if method == "__call__" else (ufunc, method))
        if implementation is None:
            return _without_rule(self, getattr(ufunc, method), name_of(ufunc, method), inputs, kwargs)
        return implementation.call_numpy(inputs, kwargs)

    def __array_function__(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        implementation = registry.get(function)
        if implementation is None:
            return _without_rule(self, function, numpys_name(function), args, kwargs)
        return implementation.call_numpy(args, kwargs)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._node is not None:
            raise UnsupportedError(asked_for(self, sys._getframe(1)))
        if is_device_array(self._array):
            raise UnsupportedError("a tensor on a device does not become a NumPy array by itself: use t.numpy()")
        for callback in observers.handed_out:
            callback(self)
        return np.array(self._array, dtype=dtype, copy=copy)

    def numpy(self: Any) -> np.ndarray[Any, Any]:
        """Return the values as a NumPy array, which the tape does not record. It shares the tensor's memory on the host."""
        for callback in observers.handed_out:
            callback(self)
        return to_host(self._array)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module ``numpy``, whose functions work on Tensors. The array API standard defines this method."""
        return np

    def __dlpack__(self: Any, **keywords: Any) -> Any:
        """Export the array to another library, which then shares its memory: ``torch.from_dlpack(t.detach())``."""
        if self._node is not None:
            raise UnsupportedError(
                f"another library asked for the array of {self._describe()}, which requires a gradient: that would cut it "
                "off from the tape. Pass t.detach(), which shares its memory, or t.numpy()"
            )
        for callback in observers.handed_out:
            callback(self)
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self: Any) -> Any:
        return self._array.__dlpack_device__()

    def __float__(self: Any) -> float:
        return float(self._number("float"))

    def __int__(self: Any) -> int:
        return int(self._number("int"))

    def __complex__(self: Any) -> complex:
        return complex(self._number("complex"))

    def __index__(self: Any) -> int:
        return operator.index(self._number("index"))

    def _number(self: Any, kind: str) -> Any:
        if self._node is not None:
            raise UnsupportedError(
                f"write t.item() for the number: {kind}(t) would cut {self._describe()} off from the tape, and t requires a "
                "gradient. To put t into an array, use np.stack([...]), which builds an array on the tape, or "
                "a.at[i].set(t), which replaces an item of a Tensor a. "
                f"{_BY_A_TRANSFORM}"
            )
        return self.item()

    def __bool__(self: Any) -> bool:
        if self.size != 1:
            raise ShapeError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous: use (t > 0).any() or .all()"
            )
        return bool(to_host(self._array))

    def __len__(self: Any) -> int:
        if not self.shape:
            raise UnsupportedError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self: Any) -> Iterator[Any]:
        if not self.shape:
            raise UnsupportedError("iteration over a 0-d tensor")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self: Any, value: Any) -> bool:
        return bool((self == value).any())

    def __getitem__(self: Any, index: Any) -> Any:
        return registry[operator.getitem](self, index=plain_index(index))

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        if self._node is not None:
            raise UnsupportedError(
                f"item assignment on {self._describe()}, which requires a gradient, may overwrite values that the tape saved: "
                "write t = t.at[index].set(v), .add(v) or .multiply(v), or, if t is a leaf whose old values no backward pass "
                "still needs, t.data[index] = v"
            )
        if isinstance(value, Protocols):
            tensor: Any = value
            if tensor._node is not None:
                raise UnsupportedError(
                    f"assigning {tensor._describe()}, which requires a gradient, into a tensor that requires none would cut it "
                    "off from the tape: write t = t.at[index].set(v), or build the result with np.stack or np.concatenate"
                )
            value = tensor._array
        value = operand(value)
        for callback in observers.handed_out:
            callback(self)
        self._array[plain_index(index)] = value

    def __repr__(self: Any) -> str:
        prefix = type(self).__name__ + "("
        parts = [np.array2string(to_host(self._array), separator=", ", prefix=prefix)]
        if self.dtype not in (np.float64, np.int_, np.bool_):
            parts.append(f"dtype={self.dtype}")
        if is_device_array(self._array):
            parts.append(f"device={getattr(self._array, 'device', 'unknown')}")
        if not self.is_leaf:
            entry = self._node.entry if type(self._node) is Output else self._node
            parts.append(f"op={entry.primitive.name}")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        if self.name:
            parts.append(f"name={self.name!r}")
        return prefix + ", ".join(parts) + ")"

    def __format__(self: Any, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)


def name_of(ufunc: Any, method: str = "__call__") -> str:
    """Return the name of a ufunc as a user writes it. A ufunc does not know its package, so two packages are searched."""
    packages = {"np.": np, "scipy.special.": sys.modules.get("scipy.special")}
    package = next((name for name, holder in packages.items() if getattr(holder, ufunc.__name__, None) is ufunc), "")
    return f"{package}{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")


def written_into(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Write the result of a ufunc into an array, as NumPy does for ``a -= t``, which calls ``np.subtract(a, t, out=a)``.

    Raises:
        UnsupportedError: an input requires a gradient, or ``out`` is a Tensor.
    """
    name = name_of(ufunc, method)
    for value in inputs:
        if isinstance(value, Protocols) and value._node is not None:  # type: ignore[attr-defined]
            raise UnsupportedError(
                f"{name} cannot write into an array (a -= t, or out=a), because t, "
                f"{value._describe()}, requires a gradient and would be cut off from the tape: "  # type: ignore[attr-defined]
                "write a = a - t to go on with a Tensor, or a -= t.detach() (or t.numpy()) to use only the values"
            )
    if any(isinstance(target, Protocols) for target in kwargs["out"]):
        raise UnsupportedError(cannot_write(name))
    for callback in observers.numbers_read:
        for value in inputs:
            if isinstance(value, Protocols):
                callback(value)
    plain = {key: values_of(value) for key, value in kwargs.items()}
    return getattr(ufunc, method)(*[values_of(value) for value in inputs], **plain)


def _without_rule(tensor: Any, function: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function that has no rule. Its Tensors are passed as arrays, and the arrays it returns become Tensors.

    Raises:
        UnsupportedError: a tensor requires a gradient or is on a device, or the function would write into a Tensor.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, Protocols):
            if value._node is not None or is_device_array(value._array):  # type: ignore[attr-defined]
                raise UnsupportedError(_no_rule(name))
            return value._array  # type: ignore[attr-defined]
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else value

    def tensors(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in NUMBERS:
            return tensor._untracked(np.asarray(value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(tensors, value))
        return type(value)(map(tensors, value)) if type(value) in (list, tuple) else value

    if name.endswith(".at") or isinstance(kwargs.get("out"), Protocols):
        raise UnsupportedError(_no_rule(name))
    return tensors(function(*plain(tuple(args)), **plain(kwargs)))


def _no_rule(name: str) -> str:
    if name.endswith(".at"):
        return f"{name} writes into an array, which cannot be recorded: write t = t.at[index].add(v), .multiply(v) or .set(v)"
    if name.startswith("scipy.special."):
        return (
            f"{name} has no derivative rule yet: import minigrad.scipy_special, which declares the rules of the functions "
            "that it lists, or use t.numpy() if no gradient is needed"
        )
    return (
        f"{name} has no derivative rule in minigrad and was called on a Tensor: use t.numpy() if no gradient is needed, "
        "or declare one with minigrad.primitive"
    )


def plain_index(index: Any) -> Any:
    """Replace Tensors and arrays of other libraries inside an index by NumPy arrays. An index has no derivative."""
    kind = type(index)
    if kind in _PARTS_OF_AN_INDEX or (kind is np.ndarray and index.dtype.kind in "bi"):
        return index
    if isinstance(index, Protocols):
        return index._array  # type: ignore[attr-defined]
    if isinstance(index, tuple):
        return tuple([plain_index(part) for part in index])
    return operand(index) if hasattr(index, "__array__") else index
