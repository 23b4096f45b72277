"""Compare two modules in everything but their weights: a file of one is only good if it loads as an equal one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

import nn
from minigrad import Tensor
from minigrad.internal import to_host
from nn.module import children

Difference = tuple[str, str, str]  # the path, and what is there in the one and in the other
MISSING = type("Missing", (), {"__repr__": lambda self: "missing"})()
PARTS_ONLY = (
    nn.Parameter,
    nn.Buffer,
    nn.Module,
    np.random.Generator,
    list,
    tuple,
    dict,
    partial,
    MethodType,
    FunctionType,
)


def difference(ours: Any, theirs: Any, path: str = "", seen: set[tuple[int, int]] | None = None) -> Difference | None:
    """Return the first difference between two values, such as ``("activation", "'relu'", "'gelu'")``, or None.

    Modules are compared by their classes and attributes; functions by their code and what they refer to. Weights and buffers
    are not compared, because a file holds them. Nor is what a model has got since it was made: attributes that a new model
    lacks, and tables whose length has changed.
    """
    seen = set() if seen is None else seen
    if ours is theirs or (id(ours), id(theirs)) in seen:
        return None
    other = (path, _short(ours), _short(theirs))
    if type(ours) is not type(theirs):
        return None if _is_number(ours) and _is_number(theirs) and _same(ours, theirs) else other
    if isinstance(ours, FunctionType) and ours.__code__ != theirs.__code__:
        return other
    if isinstance(ours, PARTS_ONLY) or _is_plain(ours):
        seen.add((id(ours), id(theirs)))  # a part may lead back to the whole
        for name, a, b in _parts(ours, theirs):
            if found := difference(a, b, f"{path}.{name}" if path and name else path or name, seen):
                return found
        return None
    return None if _same(ours, theirs) else other


def _parts(ours: Any, theirs: Any) -> Iterable[tuple[str, Any, Any]]:
    """Return the parts of two values of one type, with their names."""
    if isinstance(ours, nn.Module):
        return _attributes(ours, theirs)
    if isinstance(ours, (list, tuple, dict)) or _is_plain(ours):
        a, b = (dict(vars(each).items() if _is_plain(each) else children(each)) for each in (ours, theirs))
        return ((str(name), a.get(name, MISSING), b.get(name, MISSING)) for name in a | b)
    if isinstance(ours, partial):
        return [("", getattr(ours, name), getattr(theirs, name)) for name in ("func", "args", "keywords")]
    if isinstance(ours, MethodType):
        return [("", ours.__func__, theirs.__func__), ("", ours.__self__, theirs.__self__)]
    if isinstance(ours, FunctionType):
        return [("", a, b) for a, b in zip(_referred(ours), _referred(theirs), strict=True)]
    return []


def _attributes(ours: nn.Module, theirs: nn.Module) -> Iterator[tuple[str, Any, Any]]:
    """Yield the attributes of two modules. Modes are left out, and Dropout's numbers, which predict nothing."""
    left_out = {"training", *(("key", "step") if isinstance(ours, nn.Dropout) else ())}
    for name in {**vars(theirs), **vars(ours)}:
        other = vars(theirs).get(
            name, getattr(type(theirs), name, MISSING)
        )  # an attribute may stand before the class's own
        if name not in left_out and other is not MISSING:
            yield name, vars(ours).get(name, getattr(type(ours), name, MISSING)), other


def _referred(function: FunctionType) -> list[Any]:
    """Return what a function with this code refers to."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*cells, function.__defaults__, function.__kwdefaults__]


def _is_plain(value: Any) -> bool:
    """Return whether an object is compared by its attributes: a dataclass, or one whose class does not compare objects."""
    compared = _compares(value) and not is_dataclass(value)
    return (
        hasattr(value, "__dict__") and not compared and not isinstance(value, (type, nn.Module, FunctionType, Tensor))
    )


def _compares(value: Any) -> bool:
    own: Any = type(value).__eq__
    return own is not object.__eq__


def _same(ours: Any, theirs: Any) -> bool:
    """Return whether two values without parts, which are not one object, are the same."""
    if isinstance(ours, (np.ndarray, Tensor)):
        a, b = (to_host(each.data if isinstance(each, Tensor) else each) for each in (ours, theirs))
        return a.shape != b.shape or np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc")
    if _is_number(ours) and math.isnan(ours) and math.isnan(theirs):
        return True
    if not _compares(ours):  # two functions of NumPy differ; of other objects nothing is known
        return not callable(ours)
    return bool(ours == theirs)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _short(value: Any) -> str:
    name = getattr(value, "__name__", None)
    text = name if callable(value) and isinstance(name, str) and not isinstance(value, type) else repr(value)
    text = f"a {type(value).__name__}" if isinstance(value, (nn.Module, np.ndarray, Tensor)) or "\n" in text else text
    return text if len(text) <= 60 else f"{text[:57]}..."
