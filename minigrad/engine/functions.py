"""Calls of NumPy functions with Tensors. Their arguments are sorted as NumPy's signature allows it.

Then a :class:`~minigrad.engine.primitive.Primitive` computes and records, a :class:`Composite` runs a composition of other
functions, a :class:`PlainFunction` computes with plain arrays, and an :class:`InPlaceFunction` raises an error.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, DTypeError, MinigradError, UnsupportedError
from .arrays import as_array
from .messages import cannot_write, own_error, short
from .registry import registry
from .signatures import numpys_name, parameters_of, signature_or_none
from .tensor import Tensor, make_tensor


class _Form(NamedTuple):
    """How the arguments of a call are sorted. An index counts the positional arguments of the call, then those by name.

    Attributes:
        positions: for each of ``arguments`` its index, or None if the call omits it, and its default.
        others: the index, name and default of each other argument.
        rest: how many of the last positional arguments NumPy collects as ``*args``.
        unsupported: the names of arguments that NumPy's function has, and the callable does not.
    """

    positions: list[tuple[int | None, Any]]
    others: list[tuple[int, str, Any]]
    rest: int
    unsupported: set[str]


_AS_IT_IS = _Form([], [], 0, set())  # the form of a call with all of ``arguments`` and no others


class Bound:
    """A callable with the signature of a NumPy function.

    Attributes:
        function: the function that computes.
        name: shown in graphs and messages.
        arguments: the names of the arguments that are passed on by position. Those of a primitive are its arrays.
        parameters: the names of all arguments, including keywords.
        defaults: the default values by name.
    """

    function: Callable[..., Any]
    name: str
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]
    defaults: dict[str, Any]
    _numpy: list[Any]
    _bind_call: Callable[..., Any] | None
    _signature_of: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        if name != "__signature__":  # it is read at its first use
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        signature = self.__dict__[name] = inspect.signature(self._signature_of)
        return signature

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Handle a call that NumPy's protocols pass on."""
        if isinstance(self.function, np.ufunc):
            for name, value in kwargs.items():
                if name not in ("dtype", "casting"):
                    raise UnsupportedError(
                        f"np.{self.name} of a Tensor does not take {name}={short(value)}: use np.where"
                    )
            return self(*args, **kwargs)
        arrays, keywords = self.bind(args, kwargs)
        return self(*arrays, **keywords)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort the arguments of a call, by position or by name, into array arguments and keywords.

        Raises:
            UnsupportedError: a keyword that this primitive does not support, or a Tensor as the value of a keyword.
        """
        if self._bind_call is not None:
            try:
                arrays, keywords = self._bind_call(*args, **kwargs)
            except MinigradError:
                raise
            except TypeError as error:
                raise UnsupportedError(f"{self.name} of a Tensor: {error}") from error
        elif isinstance(self.function, np.ufunc):
            raise UnsupportedError(f"np.{self.name} takes {len(self.arguments)} array(s), got {len(args)}")
        else:
            arrays, keywords = self._sort(args, kwargs)
        for name, value in keywords.items():
            if name not in self.parameters:
                raise self._unsupported(name, value)
            if isinstance(value, Tensor):
                if value.requires_grad or value.ndim:
                    raise UnsupportedError(
                        f"{self.name} takes plain values for '{name}', got a Tensor: use t.item() or t.numpy()"
                    )
                keywords = {**keywords, name: value.item()}  # a number
        return tuple(arrays), keywords

    def _sort(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return ``arguments``, and the other arguments of a call by name, without those whose value is NumPy's default."""
        key = (len(args), *kwargs)  # a program repeats few forms of call; reading one is slow, so the result is stored
        form = self._forms.get(key) or self._forms.setdefault(key, self._form(args, kwargs))
        if form is _AS_IT_IS:
            return args, kwargs
        positions, others, rest, unsupported = form
        values = (*args, *kwargs.values())
        arrays = [default if i is None else values[i] for i, default in positions]
        keywords = {name: values[i] for i, name, default in others if values[i] is not default}
        if unsupported or rest:
            arrays += args[len(args) - rest :]
            for name in unsupported & keywords.keys():
                raise self._unsupported(name, keywords[name])
        return arrays, keywords

    @functools.cached_property
    def _forms(self) -> dict[tuple[Any, ...], _Form]:
        """The forms of earlier calls. The key is the number of positional arguments and the names of the others."""
        return {}

    def _form(self, args: Sequence[Any], kwargs: dict[str, Any]) -> _Form:
        parameters = self._numpys_signature.parameters
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            for name, value in kwargs.items():
                if name not in parameters:
                    raise self._unsupported(name, value)
        try:
            self._numpys_signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error
        named = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD][: len(args)]
        places = {name: i for i, name in enumerate(named)} | {name: len(args) + i for i, name in enumerate(kwargs)}
        if missing := [name for name in self.arguments if name not in places and name not in self.defaults]:
            raise UnsupportedError(f"{self.name}{self.__signature__} of a Tensor needs {', '.join(missing)}")
        positions = [(places.pop(name, None), self.defaults.get(name)) for name in self.arguments]
        others = [(i, name, parameters[name].default if name in parameters else self) for name, i in places.items()]
        unsupported = places.keys() & parameters.keys() - set(self.parameters)
        if named == list(self.arguments) and not kwargs:
            return _AS_IT_IS
        return _Form(positions, others, len(args) - len(named), unsupported)

    @functools.cached_property
    def _numpys_signature(self) -> inspect.Signature:
        """NumPy's signature if it can be read, with arguments that may all be passed by name.

        It is read at the first call: reading all would take a third of the import.

        Raises:
            ArgumentError: NumPy's function does not have one of ``parameters``. (A test calls all composites.)
        """
        found = [signature for function in self._numpy if (signature := signature_or_none(function))]
        own: inspect.Signature = self.__signature__
        signature = found[-1] if found else own
        if unknown := set(self.parameters) - signature.parameters.keys():
            raise ArgumentError(f"{self.name}{signature} has no argument {', '.join(sorted(unknown))}")
        by_name = [
            p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
            for p in signature.parameters.values()
        ]
        return signature.replace(parameters=by_name)

    def _unsupported(self, name: str, value: Any) -> UnsupportedError:
        return UnsupportedError(f"{self.name} of a Tensor does not take {name}={short(value)}")


class Composite(Bound):
    """A NumPy function that runs as a composition of others on Tensors. Use :func:`composite` to make one."""

    def __init__(self, function: Callable[..., Any], composition: Callable[..., Any]) -> None:
        self.name = numpys_name(function)
        self.function = function
        self._numpy = [function]
        self.composition = self._signature_of = composition
        self.parameters, _, self.defaults, by_position, collecting = parameters_of(composition)
        self.arguments = by_position if collecting else tuple([n for n in by_position if n not in self.defaults])
        registry[function] = self

    def __repr__(self) -> str:
        return f"<composite {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_numpy(args, kwargs)

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Handle a call that NumPy's protocols pass on.

        If all Tensors are integers or booleans, NumPy's function computes the result. ``np.unique`` is an exception, because
        its indices stay plain arrays. If NumPy's function fails, the composition is called to raise our error.
        """
        if self.function is not np.unique and all(map(_integers, args)) and all(map(_integers, kwargs.values())):
            try:
                return _tensors(self.function(*_plain(list(args)), **{k: _plain(value) for k, value in kwargs.items()}))
            except Exception:
                pass
        args, kwargs = self._sort(args, kwargs)
        try:
            return self.composition(*args, **kwargs)
        except MinigradError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise own_error(error, f"{self.name}: {str(error).rstrip('. ')}") from error


def _integers(value: Any) -> bool:
    """Whether all Tensors in an argument are integers or booleans on the host, which have no derivative."""
    if isinstance(value, Tensor):
        return value._array.dtype.kind in "biu" and type(value._array) is np.ndarray
    return not isinstance(value, (list, tuple)) or all(map(_integers, value))


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


class InPlaceFunction:
    """A NumPy function that writes into its argument. A call raises, because the tape may have kept the argument."""

    def __init__(self, function: Any, instead: str) -> None:
        self.instead = instead
        self.message = f"np.{function.__name__} writes into an array, which cannot be recorded: write {instead}"
        registry[function] = self

    def call_numpy(self, args: Any, kwargs: Any) -> Any:
        caller = sys._getframe(2)  # frame 1 is __array_function__
        # a function of NumPy that fills a new array: full, full_like
        if caller.f_globals.get("__name__", "").partition(".")[0] == "numpy":
            raise UnsupportedError(
                f"np.{caller.f_code.co_name} writes a Tensor into a new array, which cannot be recorded: write "
                "np.broadcast_to(t, shape), or np.full_like(u, t) of a Tensor u"
            )
        raise UnsupportedError(self.message)


# The functions without a derivative. VALUES give plain values, TENSORS give Tensors, and IN_PLACE are refused.

VALUES: tuple[Any, ...] = (
    np.shape, np.ndim, np.size, np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.signbit, np.isreal,
    np.iscomplex, np.isrealobj, np.iscomplexobj, np.allclose, np.isclose, np.array_equal, np.array_equiv, np.argmax,
    np.argmin, np.argsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted, np.any, np.all,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.result_type, np.can_cast, np.may_share_memory, np.shares_memory, np.array_repr,
    np.array_str, np.array2string, np.nanargmax, np.nanargmin, np.argpartition, np.lexsort, np.digitize,
    np.ix_, np.unravel_index, np.ravel_multi_index, np.tril_indices_from, np.triu_indices_from, np.diag_indices_from,
    np.isin,
)  # fmt: skip
TENSORS: tuple[Any, ...] = (
    np.zeros_like, np.ones_like, np.empty_like, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
    np.right_shift,
)  # fmt: skip
IN_PLACE: dict[Any, str] = {
    np.copyto: "np.where(where, src, dst)",
    np.fill_diagonal: "a.at[np.diag_indices_from(a)].set(val)",
    np.place: "arr.at[mask].set(vals)",
    np.put: "a.ravel().at[ind].set(v)",
    np.put_along_axis: "arr.at[...].set(values) with a full index",
    np.putmask: "np.where(mask, values, a)",
}


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    device: Any = None,
) -> Any:
    """Broadcast a fill value that requires a gradient, so that the result stays on the tape."""
    if not (isinstance(fill_value, Tensor) and fill_value.requires_grad):
        keywords = {"dtype": dtype, "order": order, "subok": subok, "shape": shape, "device": device}
        defaults = {"order": "K", "subok": True}  # CuPy's function lacks subok
        given = {k: v for k, v in keywords.items() if v != defaults.get(k)}
        return plain_full_like.call_numpy((a, fill_value), given)
    dtype = np.dtype(dtype or a.dtype)
    if dtype.kind not in "fc":
        raise UnsupportedError(
            f"np.full_like of dtype {dtype} would cut its fill value off from the tape: pass dtype=fill_value.dtype, "
            "or fill_value.detach()"
        )
    return np.broadcast_to(fill_value, np.shape(a) if shape is None else shape).astype(dtype)


for _function in VALUES:
    PlainFunction(_function, gives_tensor=False)
for _function in TENSORS:
    PlainFunction(_function, gives_tensor=True)
for _function, _instead in IN_PLACE.items():
    InPlaceFunction(_function, _instead)

plain_full_like = PlainFunction(np.full_like, gives_tensor=True)
full_like = composite(np.full_like, _full_like)
