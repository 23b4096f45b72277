"""Read the parameters of functions. Importing minigrad reads hundreds, so the slow ``inspect.signature`` is a last resort."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError

_RESERVED = {"g", "ans", "i", "args", "needs", "saved"}
_UNNAMED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Parameters(NamedTuple):
    """The parameters of a function. The examples below are those of ``(x, /, y, *rest, axis=0, **more)``.

    Attributes:
        names: all names: x, y, rest, axis, more.
        positional_only: x.
        defaults: ``{"axis": 0}``.
        by_position: the parameters that a call can pass by position: x, y.
        collecting: the parameters that collect further arguments: rest, more.
    """

    names: tuple[str, ...]
    positional_only: tuple[str, ...]
    defaults: dict[str, Any]
    by_position: tuple[str, ...]
    collecting: tuple[str, ...] = ()


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Return the parameters of a function. Reading its code object is ten times as fast as ``inspect``."""
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


def new_array(rule: Any) -> Any:
    """Declare that a rule returns a new array, which nothing else refers to, so that the sweep need not copy it."""
    rule.returns_new_array = True
    return rule


# What rules call the arguments of these two ufuncs. In the rules of other two-argument ufuncs they are x and y. NumPy's own
# names, x1 and x2, are accepted too.
_UFUNCS: dict[Any, tuple[str, ...]] = {np.arctan2: ("y", "x"), np.ldexp: ("x", "exponent")}


def arrays_of(function: Callable[..., Any], name: str, named: Collection[str]) -> tuple[str, ...]:
    """Return the array arguments of a function whose signature has no ``/``, in the order of the signature.

    ``named`` holds the names that have rules. All are array arguments. A ufunc has no signature. Rules may call its arguments
    ``x1``, ``x2`` and so on. They may also call the arguments of NumPy's two-argument ufuncs ``x`` and ``y`` (``_UFUNCS`` lists
    the exceptions). The arguments of other ufuncs may have any names, and the order of ``named`` is taken as their order.

    Raises:
        ArgumentError: a name in ``named`` is not an argument, or an argument before it is not in ``named``.
    """
    if isinstance(function, np.ufunc):
        numbered = tuple(f"x{i + 1}" for i in range(function.nin))
        of_numpy = getattr(np, function.__name__, None) is function and function.nin > 1
        names = _UFUNCS.get(function, ("x", "y")) if of_numpy else tuple(named)
        for known in (numbered, names):
            if len(known) == function.nin and set(named) <= set(known):
                return known
        choices = f"{' and '.join(numbered)}{', or ' + ' and '.join(names) if of_numpy else ''}"
        raise ArgumentError(
            f"{name} has {function.nin} array argument(s): rules must name them {choices}; got {', '.join(named)}"
        )
    by_position = parameters_of(function).by_position
    if unknown := [argument for argument in named if argument not in by_position]:
        raise ArgumentError(
            f"{name} has no array argument {', '.join(unknown)}; it has {', '.join(by_position) or 'none'}"
        )
    arrays = by_position[: 1 + max((by_position.index(argument) for argument in named), default=-1)]
    if left_out := [argument for argument in arrays if argument not in named]:
        raise ArgumentError(
            f"{name}: array arguments come first, but there is no rule for {', '.join(left_out)} before {arrays[-1]}: pass "
            f"{left_out[0]}=None if it has no derivative, or move it after the array arguments"
        )
    return arrays


def check_names(arguments: Iterable[str], name: str) -> None:
    """Raise if an argument of the operation ``name`` bears a name that rules use for other values."""
    for argument in arguments:
        if argument in _RESERVED or argument.endswith("_shape"):
            raise ArgumentError(f"'{argument}' is a name that rules use for themselves; rename this argument of {name}")


def check_rule(rule: Callable[..., Any], what: str, known: set[str], skip: int) -> None:
    """Raise unless the first parameter of a rule is ``g`` and all parameters from index ``skip`` on are in ``known``."""
    names = parameters_of(rule).names
    if names[:1] != ("g",) or any(name not in known for name in names[skip:]):
        raise ArgumentError(
            f"{what} has the parameters {list(names)}: the first must be 'g', the others among {sorted(known)}"
        )


def check_order(function: Callable[..., Any], arguments: tuple[str, ...], what: str) -> None:
    """Raise if the parameters of ``function`` are ``arguments`` in another order, because it is called by position."""
    try:
        by_position = parameters_of(function).by_position
    except (TypeError, ValueError):
        return  # the function has no readable signature
    theirs = tuple(name for name in by_position if name in arguments)
    if set(theirs) == set(arguments) and theirs != arguments:
        raise ArgumentError(f"{what} takes {', '.join(theirs)}, but gets {', '.join(arguments)} in this order")


def signature_or_none(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None  # a C function without a signature; the caller then takes the one of minigrad's own function


def numpys_name(function: Any) -> str:
    """Return the name of a NumPy function as a user writes it, such as ``np.linalg.norm``."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"
