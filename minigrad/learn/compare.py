"""What is wrong with an answer: its kind, its shape, its dtype, or its numbers and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .data import Unknown
from .tasks import AtMost, Case


@dataclass(frozen=True)
class Finding:
    """The name of a sentence in words.json, and what is filled in; "part" says where in a tuple or dict it is."""

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)


def compare(case: Case, got: Any) -> Finding | None:
    """The first thing that is wrong, or None."""
    if case.judge is not None:
        wrong = case.judge(got)
        return Finding("judged", wrong) if wrong else None
    return _compare(got, case.expected, case, "")


def _compare(got: Any, want: Any, case: Case, name: str) -> Finding | None:
    if got is None and want is not None:
        return Finding("none", {"name": name})
    if isinstance(want, AtMost):
        too_many = not isinstance(got, int) or got > want.limit
        return Finding("many", {"got": got, "limit": want.limit}) if too_many else None
    if isinstance(want, tuple | dict):
        return _compare_parts(got, want, case, name)
    if isinstance(want, str | bool | list) or want is None:
        return None if got == want else Finding("other", {"name": name, "got": repr(got), "want": repr(want)})
    return _compare_numbers(got, np.asarray(want), case.tolerance, name)


def _compare_parts(got: Any, want: Any, case: Case, name: str) -> Finding | None:
    """Tuples, and dicts by key."""
    if isinstance(want, dict):
        if not isinstance(got, dict) or got.keys() != want.keys():
            keys = ", ".join(map(repr, got)) if isinstance(got, dict) else _kind(got)
            return Finding("keys", {"name": name, "got": keys, "want": ", ".join(map(repr, want))})
        parts = [(key, f"{name}[{key!r}]") for key in want]
    else:
        names = case.names if case.names and not name else tuple(f"{name}[{i}]" for i in range(len(want)))
        alone, one = not isinstance(got, tuple | list), len(want) == 1
        if alone or len(got) != len(want):
            many = f"{len(got)}" if not alone else _kind(got) if one else f"1 ({_kind(got)})"
            return Finding("comma" if alone and one else "count", {"got": many, "want": len(want), "names": names})
        parts = list(enumerate(names))
    for place, part in parts:
        if found := _compare(got[place], want[place], case, part):
            return Finding(found.kind, {**found.facts, "part": [place, *found.facts.get("part", [])]})
    return None


def _compare_numbers(got: Any, want: np.ndarray[Any, Any], tolerance: float, name: str) -> Finding | None:
    if isinstance(got, Unknown | str | dict):
        return Finding("type", {"name": name, "got": _kind(got)})
    try:
        array = np.asarray(got)
        numbers = array.dtype.kind in "biuf"
    except ValueError:  # a list whose rows differ in length
        numbers = False
    if not numbers or (array.dtype.kind == "b") != (want.dtype.kind == "b"):
        return Finding("type", {"name": name, "got": _kind(got)})
    facts = {"name": name, "got": str(array.shape), "want": str(want.shape)}
    if array.shape != want.shape:
        return Finding("shape", facts)
    if not isinstance(got, bool | int | float) and array.dtype != want.dtype and not (
        want.dtype == np.float64 and want.ndim == 0
    ):  # fmt: skip
        return Finding("dtype", facts | {"got": str(array.dtype), "want": str(want.dtype)})
    return _compare_places(array, want, tolerance, name)


def _compare_places(
    got: np.ndarray[Any, Any], want: np.ndarray[Any, Any], tolerance: float, name: str
) -> Finding | None:
    right = right_places(got, want, tolerance)
    if right.all():
        return None
    at = tuple(map(int, np.argwhere(~right)[0]))
    facts = {"name": name, "right": int(right.sum()), "all": right.size, "at": str(list(at))}
    facts |= {"got": number(got[at]), "want": number(want[at])}
    if facts["got"] == facts["want"]:
        facts |= {"got": repr(float(got[at])), "want": repr(float(want[at]))}
    if np.isnan(got[at]):
        return Finding("nan" if got.size > 1 else "nan_scalar", facts)
    return Finding("scalar" if got.size == 1 else "places" if facts["right"] else "nowhere", facts)


def right_places(got: Any, want: Any, tolerance: float) -> Any:
    """Where numbers are equal, or near: the tolerance is relative to the largest number that is wanted."""
    size = float(np.max(np.abs(want), initial=1e-3, where=np.isfinite(want)))
    with np.errstate(all="ignore"):
        return (np.abs(got - 1.0 * want) <= tolerance * size) | (got == want) | ((got != got) & (want != want))


def number(value: Any) -> str:
    """A number as a person would write it: six digits, and no -0."""
    return f"{float(value) + 0.0:.6g}"


def _kind(value: Any) -> str:
    if isinstance(value, Unknown):
        return str(value)
    return f"array {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
