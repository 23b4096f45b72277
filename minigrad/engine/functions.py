"""NumPy functions that are not primitives. On Tensors they run as a composition of others, or as NumPy's on plain arrays."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, MinigradError, UnsupportedError
from .arrays import as_array
from .binding import bind_as, flexible
from .messages import cannot_write, own_error, short
from .registry import registry
from .signatures import Signed, numpys_name, signature_or_none
from .tensor import Tensor, make_tensor

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)  # kinds that a call may name


class Composite(Signed):
    """A NumPy function that runs as a composition of others on Tensors. Use :func:`composite` to make one."""

    def __init__(self, function: Callable[..., Any], composition: Callable[..., Any]) -> None:
        self.name = numpys_name(function)
        self.function = function
        self.composition = self._signature_of = composition
        registry[function] = self

    def __repr__(self) -> str:
        return f"<composite {self.name}>"

    @functools.cached_property
    def numpys_signature(self) -> inspect.Signature:
        """The signature of NumPy's function, read at the first call.

        Raises:
            ArgumentError: the composition has an argument that NumPy's function does not have. (A test calls all composites.)
        """
        own: inspect.Signature = self.__signature__
        numpys = signature_or_none(self.function) or own
        unknown = own.parameters.keys() - numpys.parameters.keys()
        if unknown:
            raise ArgumentError(f"{self.name}{numpys} has no argument {', '.join(sorted(unknown))}")
        return flexible(numpys)

    @functools.cached_property
    def _forms(self) -> dict[tuple[Any, ...], list[Any]]:
        """The forms of earlier calls that can be passed on as they are, each with the defaults of its arguments.

        The key is the number of positional arguments and the names of the others. Binding a call to a signature takes longer
        than a small operation.
        """
        return {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_numpy(args, kwargs)

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Handle a call that NumPy's protocols pass on.

        If all Tensors are integers or booleans, NumPy's function computes the result. ``np.unique`` is an exception, because
        its indices stay plain arrays. If NumPy's function fails, the composition is called to raise our error.
        """
        if self.function is not np.unique and all(map(_integers, args)) and all(map(_integers, kwargs.values())):
            try:
                result = self.function(*_plain(list(args)), **{name: _plain(value) for name, value in kwargs.items()})
                return _tensors(result)
            except Exception:
                pass
        defaults = self._forms.get((len(args), *kwargs))
        if defaults is None or any(map(operator.is_, (*args, *kwargs.values()), defaults)):
            args, kwargs = self._bound(args, kwargs)
        try:
            return self.composition(*args, **kwargs)
        except MinigradError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise own_error(error, f"{self.name}: {str(error).rstrip('. ')}") from error

    def _bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return the arguments as the composition takes them, without those whose value is NumPy's default."""
        own, numpys = self.__signature__.parameters, self.numpys_signature.parameters
        try:
            bound = bind_as(self.numpys_signature, args, kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error
        for name, value in bound.arguments.items():
            if name not in own:
                raise UnsupportedError(f"{self.name} of a Tensor does not take {name}={short(value)}")
        names = [*list(numpys)[: len(args)], *kwargs]
        if all(name in own and own[name].kind in _BY_NAME for name in names):
            self._forms[len(args), *kwargs] = [numpys[name].default for name in names]
        return bound.args, bound.kwargs


def _integers(value: Any) -> bool:
    """Whether all Tensors in an argument are integers or booleans on the host, which have no derivative."""
    if isinstance(value, (list, tuple)):
        return all(map(_integers, value))
    return not isinstance(value, Tensor) or (value._array.dtype.kind in "biu" and type(value._array) is np.ndarray)


def _tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)):  # the constructor of a namedtuple has one argument per part
        parts = map(_tensors, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return make_tensor(as_array(value), None) if isinstance(value, (np.ndarray, np.generic)) else value


def composite(function: Callable[..., Any], composition: Callable[..., Any]) -> Composite:
    """Declare that a NumPy function runs as ``composition`` on Tensors. The tape records the functions in the composition.

    The parameters of the composition have NumPy's names. Calls with any other argument (``out=``) raise UnsupportedError.

    Example:
        >>> flipud = composite(np.flipud, lambda m: np.flip(m, 0))
    """
    return Composite(function, composition)


class PlainFunction:
    """A NumPy function without a derivative, which is called with plain arrays: ``np.shape``, ``np.argmax`` ..."""

    def __init__(self, function: Callable[..., Any], gives_tensor: bool) -> None:
        self.name = numpys_name(function)
        self.function = function
        self.gives_tensor = gives_tensor
        registry[function] = self

    @functools.cached_property
    def _position_of_out(self) -> int:
        """The position of the argument ``out``, or ``sys.maxsize`` if the function has none."""
        signature = None if isinstance(self.function, np.ufunc) else signature_or_none(self.function)
        names = list(signature.parameters) if signature else []
        return names.index("out") if "out" in names else sys.maxsize

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Handle a call that NumPy's protocols pass on.

        Raises:
            UnsupportedError: ``out`` is a Tensor.
        """
        out = kwargs.get("out", args[self._position_of_out] if len(args) > self._position_of_out else None)
        if any(isinstance(target, Tensor) for target in (out if isinstance(out, tuple) else (out,))):
            raise UnsupportedError(cannot_write(self.name))
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


def faster(ufunc: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a form of a ``ufunc`` for NumPy arrays of float32 and float64, if one has at least 256 elements.

    The ufunc itself computes the rest, and calls with keywords. The other arguments of the form may be Python numbers.
    """

    def with_form(form: Callable[..., Any]) -> Callable[..., Any]:
        def compute(*arrays: Any, **keywords: Any) -> Any:
            plain = all(type(a) in (int, float) or (type(a) is np.ndarray and a.dtype.char in "fd") for a in arrays)
            large = plain and not keywords and max(getattr(a, "size", 0) for a in arrays) >= 256
            return form(*arrays) if large else ufunc(*arrays, **keywords)

        return compute

    return with_form
