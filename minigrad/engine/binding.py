"""Sort the arguments of a call of a NumPy function into array arguments and keywords, as NumPy's signature allows them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import MinigradError, UnsupportedError
from .messages import short
from .signatures import Signed, signature_or_none
from .tensor import Tensor

# The position of each array argument in the call (None if the call omits it) and its default; then the position, name and
# default of each other argument.
_Form = tuple[list[tuple[int | None, Any]], list[tuple[int, str, Any]]]


class Bound(Signed):
    """A callable with the signature of a NumPy function.

    Attributes:
        function: the function that computes.
        name: shown in graphs and messages.
        arguments: the names of the array arguments; empty for a variadic function.
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
            return tuple(arrays), self._checked_keywords(keywords)
        if isinstance(self.function, np.ufunc):
            raise UnsupportedError(f"np.{self.name} takes {len(self.arguments)} array(s), got {len(args)}")
        form = (len(args), *kwargs)  # a program repeats few forms of call; sorting is slow, so its result is stored
        positions, others = self._forms.get(form) or self._forms.setdefault(form, self._sorted(args, kwargs))
        values = (*args, *kwargs.values())
        arrays = tuple([default if i is None else values[i] for i, default in positions])
        keywords = {name: values[i] for i, name, default in others if values[i] is not default}
        return arrays, self._checked_keywords(keywords)

    def _sorted(self, args: Sequence[Any], kwargs: dict[str, Any]) -> _Form:
        parameters = self._call_signature.parameters
        self._checked_keywords({name: value for name, value in kwargs.items() if name not in parameters})
        try:
            bind_as(self._call_signature, args, kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{self.name}{self.__signature__}: {error}") from error
        names = [*list(parameters)[: len(args)], *kwargs]
        if missing := [name for name in self.arguments if name not in names and name not in self.defaults]:
            raise UnsupportedError(f"{self.name}{self.__signature__} of a Tensor needs {', '.join(missing)}")
        arrays = [(names.index(name) if name in names else None, self.defaults.get(name)) for name in self.arguments]
        others = [(i, name) for i, name in enumerate(names) if name not in self.arguments]
        return arrays, [(i, name, parameters[name].default) for i, name in others]

    @functools.cached_property
    def _forms(self) -> dict[tuple[Any, ...], _Form]:
        """The sorted forms of earlier calls. The key is the number of positional arguments and the names of the others."""
        return {}

    @functools.cached_property
    def _call_signature(self) -> inspect.Signature:
        """NumPy's signature if it can be read. It is read at the first call: reading all would take a third of the import."""
        found = [signature for function in self._numpy if (signature := signature_or_none(function))]
        own: inspect.Signature = self.__signature__
        return flexible(found[-1] if found else own)

    def _checked_keywords(self, keywords: dict[str, Any]) -> dict[str, Any]:
        for name, value in keywords.items():
            if name not in self.parameters:
                raise UnsupportedError(f"{self.name} of a Tensor does not take {name}={short(value)}")
            if isinstance(value, Tensor):
                if value.requires_grad or value.ndim:
                    raise UnsupportedError(
                        f"{self.name} takes plain values for '{name}', got a Tensor: use t.item() or t.numpy()"
                    )
                keywords = {**keywords, name: value.item()}  # a number
        return keywords


def bind_as(signature: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    """Return the arguments of a call by name, without those whose value is the default. See :func:`flexible`."""
    bound = signature.bind(*args, **kwargs)
    for name, value in list(bound.arguments.items()):
        if value is signature.parameters[name].default:
            del bound.arguments[name]
    return bound


def flexible(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature whose positional-only arguments may be passed by name, too."""
    by_name = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=by_name)
