"""The parameters of functions. Hundreds are read when minigrad is imported, so ``inspect.signature`` only where it has to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError

_UNNAMED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Parameters(NamedTuple):
    """Of ``(x, /, y, *rest, axis=0, **more)``: the defaults are ``{"axis": 0}``.

    Attributes:
        names: of all: x, y, rest, axis, more.
        positional_only: x.
        by_place: x, y.
        collecting: rest, more, which are no arguments themselves.
    """

    names: tuple[str, ...]
    positional_only: tuple[str, ...]
    defaults: dict[str, Any]
    by_place: tuple[str, ...]
    collecting: tuple[str, ...] = ()


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """What ``inspect.signature`` tells, read from the code itself where that is all there is to read: ten times as fast."""
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code is None or code.co_flags & _UNNAMED or vars(function).keys() & {"__wrapped__", "__signature__"}:
        given = inspect.signature(function).parameters.values()
        return Parameters(
            tuple(p.name for p in given),
            tuple(p.name for p in given if p.kind is p.POSITIONAL_ONLY),
            {p.name: p.default for p in given if p.default is not p.empty},
            tuple(p.name for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)),
            tuple(p.name for p in given if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)),
        )
    names, positional = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], code.co_argcount
    last = function.__defaults__ or ()
    defaults = dict(zip(names[positional - len(last) : positional], last))
    defaults |= function.__kwdefaults__ or {}
    return Parameters(names, names[: code.co_posonlyargcount], defaults, names[:positional])


_UFUNCS: dict[Any, tuple[str, ...]] = {
    np.arctan2: ("y", "x"),
    np.ldexp: ("x", "exponent"),
}  # the others' arguments are x and y, and all x1 and x2


def arrays_of(function: Callable[..., Any], name: str, named: Collection[str]) -> tuple[str, ...]:
    """The array arguments of a function without a ``/``, in its own order, of which rules have ``named`` some.

    A ufunc tells no names: NumPy's are ``x`` or ``x, y``, or ``x1, x2``. Another's are taken in the order of ``named``.

    Raises:
        ArgumentError: there is no such argument, or before it stands one that is not named.
    """
    if isinstance(function, np.ufunc):
        numbered = tuple(f"x{i + 1}" for i in range(function.nin))
        of_numpy = getattr(np, function.__name__, None) is function and function.nin > 1  # one is not in any order
        names = _UFUNCS.get(function, ("x", "y")) if of_numpy else tuple(named)
        for known in (numbered, names):
            if len(known) == function.nin and set(named) <= set(known):
                return known
        choices = f"{' and '.join(numbered)}{', or ' + ' and '.join(names) if of_numpy else ''}"
        raise ArgumentError(
            f"{name} has {function.nin} array argument(s), which rules name {choices}; got {', '.join(named)}"
        )
    by_place = parameters_of(function).by_place
    if unknown := [argument for argument in named if argument not in by_place]:
        raise ArgumentError(
            f"{name} has no array argument {', '.join(unknown)}; it has {', '.join(by_place) or 'none'}"
        )
    arrays = by_place[: 1 + max((by_place.index(argument) for argument in named), default=-1)]
    if left_out := [argument for argument in arrays if argument not in named]:
        raise ArgumentError(
            f"{name}: arrays come first, and {', '.join(left_out)} before {arrays[-1]} got no rule: pass "
            f"{left_out[0]}=None if it has no derivative, or move it behind the arrays"
        )
    return arrays


def check_rule(rule: Callable[..., Any], what: str, known: set[str], skip: int) -> None:
    """Raise unless the first parameter of a rule is ``g`` and those after ``skip`` are known."""
    names = parameters_of(rule).names
    if names[:1] != ("g",) or any(name not in known for name in names[skip:]):
        raise ArgumentError(
            f"{what} has the parameters {list(names)}: the first must be 'g', the others among {sorted(known)}"
        )


def check_order(function: Callable[..., Any], arguments: tuple[str, ...], what: str) -> None:
    """Raise if ``function``, which gets ``arguments`` by place, calls the same by their names in another order."""
    try:
        by_place = parameters_of(function).by_place
    except (TypeError, ValueError):
        return  # it does not tell
    theirs = tuple(name for name in by_place if name in arguments)
    if set(theirs) == set(arguments) and theirs != arguments:
        raise ArgumentError(f"{what} takes {', '.join(theirs)}, but gets {', '.join(arguments)} in this order")


def signature_or_none(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None  # a C function that does not tell: our own parameters are in NumPy's order


def numpys_name(function: Any) -> str:
    """As a user writes it: ``np.linalg.norm``."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


class Signed:
    """An object that is called as ``_told_by`` says, whose signature is read when somebody asks for it."""

    _told_by: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        if name != "__signature__":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        signature = self.__dict__[name] = inspect.signature(self._told_by)
        return signature
