"""What else stands in for a NumPy function: a composition of others, or the function itself on plain values."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, MinigradError, UnsupportedError
from .arrays import as_array
from .binding import bind_as
from .messages import own_error, short
from .registry import registry
from .signatures import Signed, numpys_name, signature_or_none
from .tensor import Tensor, make_tensor


class Composite(Signed):
    """A NumPy function that on Tensors is a composition of others; made by :func:`composite`."""

    def __init__(self, function: Callable[..., Any], composition: Callable[..., Any]) -> None:
        self.name = numpys_name(function)
        self.function = function
        self.composition = self._told_by = composition
        registry[function] = self

    def __repr__(self) -> str:
        return f"<composite {self.name}>"

    @functools.cached_property
    def numpys_signature(self) -> inspect.Signature:
        """Read at the first call, which would be late for a mistake of ours: a test calls every composite.

        Raises:
            ArgumentError: the composition has an argument that NumPy's function has not.
        """
        own: inspect.Signature = self.__signature__
        numpys = signature_or_none(self.function) or own
        unknown = own.parameters.keys() - numpys.parameters.keys()
        if unknown:
            raise ArgumentError(f"{self.name}{numpys} has no argument {', '.join(sorted(unknown))}")
        return numpys

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_numpy(args, kwargs)

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call as NumPy's protocols deliver it. Of integers and booleans alone NumPy itself computes, where it can.

        (``np.unique`` has plain indices beside its Tensor.)
        """
        if (
            self.function is not np.unique
            and all(map(_whole_numbers, args))
            and all(map(_whole_numbers, kwargs.values()))
        ):
            try:
                return _tensors(
                    self.function(*_plain(list(args)), **{name: _plain(value) for name, value in kwargs.items()})
                )
            except Exception:  # the composition says it in our words
                pass
        try:
            bound = bind_as(self.numpys_signature, args, kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error
        for name, value in bound.arguments.items():
            if name not in self.__signature__.parameters:
                raise UnsupportedError(f"{self.name} of a Tensor does not take {name}={short(value)}")
        try:
            return self.composition(*bound.args, **bound.kwargs)
        except MinigradError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise own_error(error, f"{self.name}: {str(error).rstrip('. ')}") from error


def _whole_numbers(value: Any) -> bool:
    """Whether the Tensors in an argument are integers or booleans on the host, which have no derivative."""
    if isinstance(value, (list, tuple)):
        return all(map(_whole_numbers, value))
    return not isinstance(value, Tensor) or (value._array.dtype.kind in "biu" and type(value._array) is np.ndarray)


def _tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)):  # a namedtuple takes its parts one by one
        parts = map(_tensors, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return make_tensor(as_array(value), None) if isinstance(value, (np.ndarray, np.generic)) else value


def composite(function: Callable[..., Any], composition: Callable[..., Any]) -> Composite:
    """Declare that on Tensors the NumPy function is this composition of others, which the tape records in its place.

    The composition bears NumPy's names for the arguments it takes; a call with another one (``out=``) is refused.

    Example:
        >>> flipud = composite(np.flipud, lambda m: np.flip(m, 0))
    """
    return Composite(function, composition)


class PlainFunction:
    """A NumPy function that has no derivative and sees the arrays themselves: ``np.shape``, ``np.argmax`` ..."""

    def __init__(self, function: Callable[..., Any], gives_tensor: bool) -> None:
        self.name = numpys_name(function)
        self.function = function
        self.gives_tensor = gives_tensor
        registry[function] = self

    @functools.cached_property
    def _place_of_out(self) -> int:
        """Where a call by position has what NumPy is to write into; behind every argument if nowhere."""
        signature = None if isinstance(self.function, np.ufunc) else signature_or_none(self.function)
        names = list(signature.parameters) if signature else []
        return names.index("out") if "out" in names else sys.maxsize

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call as NumPy's protocols deliver it.

        Raises:
            UnsupportedError: what would be written into is a Tensor.
        """
        out = kwargs.get("out", args[self._place_of_out] if len(args) > self._place_of_out else None)
        if any(isinstance(target, Tensor) for target in (out if isinstance(out, tuple) else (out,))):
            raise UnsupportedError(
                f"{self.name} with out=t, a Tensor: write t = ..., or out=t.data outside of differentiation"
            )
        try:
            result = self.function(*_plain(list(args)), **{name: _plain(value) for name, value in kwargs.items()})
        except TypeError as error:
            raise error if isinstance(error, MinigradError) else DTypeError(f"{self.name}: {error}") from error
        return make_tensor(as_array(result), None) if self.gives_tensor else result


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value)
    return value
