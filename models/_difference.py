"""Compare two modules in everything but their weights: a file of one is only good if it loads as an equal one."""

from __future__ import annotations

import math
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


def difference(ours: Any, theirs: Any, path: str = "", seen: set[tuple[int, int]] | None = None) -> Difference | None:
    """Return the first difference between two values, such as ``("activation", "'relu'", "'gelu'")``, or None.

    Modules are compared by their classes and attributes; functions by their code and what they refer to. Weights and buffers
    are not compared, because a file holds them. Nor is what a model has got since it was made: attributes that a new model
    lacks, and tables whose length has changed.
    """
    seen = set() if seen is None else seen
    if ours is theirs or (id(ours), id(theirs)) in seen:
        return None
    seen.add((id(ours), id(theirs)))  # a part may lead back to the whole
    a, b = _parts(ours), _parts(theirs)
    alike = type(ours) is type(theirs) or (_is_number(ours) and _is_number(theirs))
    if not alike or getattr(ours, "__code__", None) != getattr(theirs, "__code__", None):
        return path, _short(ours), _short(theirs)
    if a is None or b is None:
        return None if _same(ours, theirs) else (path, _short(ours), _short(theirs))
    for name in {**a, **b}:
        mine, other = a.get(name, MISSING), b.get(name, MISSING)
        if isinstance(ours, nn.Module):  # an attribute may stand before the class's own
            mine, other = (getattr(type(ours), name, MISSING) if each is MISSING else each for each in (mine, other))
            if other is MISSING:
                continue
        if found := difference(mine, other, f"{path}.{name}" if path else str(name), seen):
            return found
    return None


def _parts(value: Any) -> dict[Any, Any] | None:
    """Return the parts by which a value is compared, by name, or None if it is compared as a whole."""
    if isinstance(value, (nn.Parameter, nn.Buffer, np.random.Generator)):
        return {}
    if isinstance(value, nn.Module):  # without its mode, and without Dropout's numbers, which predict nothing
        left_out = {"training", *(("key", "step") if isinstance(value, nn.Dropout) else ())}
        return {name: part for name, part in vars(value).items() if name not in left_out}
    if isinstance(value, (dict, list, tuple)):
        return dict(children(value))
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, "keywords": value.keywords}
    if isinstance(value, MethodType):
        return {"function": value.__func__, "self": value.__self__}
    if isinstance(value, FunctionType):
        cells = {f"closure.{i}": cell.cell_contents for i, cell in enumerate(value.__closure__ or ())}
        return cells | {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
    if isinstance(value, (type, Tensor)) or not hasattr(value, "__dict__"):
        return None
    return vars(value) if is_dataclass(value) or not _compares(value) else None


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
