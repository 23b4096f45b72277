"""Where numbers are wrong, and by how much, where that follows a rule: a row, a column, a factor, another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compare import compare, number, right_places
from .data import part_of
from .tasks import Case, sentences


def pattern(case: Case, got: Any, language: str) -> str | None:
    """A sentence on the first part that is wrong, or None where there is no rule."""
    found = compare(case, got)
    part = found.facts.get("part", []) if found else []
    try:
        have, want = (np.asarray(part_of(value, part)) for value in (got, case.expected))
        counts = want.dtype.kind in "iu"
        have, want = have.astype(float), want.astype(float)
    except (TypeError, ValueError):
        return None
    words: dict[str, str] = sentences(language)["pattern"]
    if have.shape != want.shape:
        return _of_another_shape(have, want, words)
    wrong = ~right_places(have, want, case.tolerance)
    if not wrong.any():
        return None
    if other := _elsewhere(have, want, wrong, case.tolerance, words):
        return other
    where = _where(wrong, case.inputs, words)
    if where is None:
        return None
    said = None if counts else _how_far(have[wrong], want[wrong])  # a count or a place has no factor
    if said is None:
        return None if wrong.all() else words["wrong"].format(where=where.removesuffix("で"))
    kind, value = said
    text = words[kind].format(where=where, ratio=value, offset=value)
    return text[0].upper() + text[1:]


def _of_another_shape(have: Any, want: Any, words: dict[str, str]) -> str | None:
    def right(values: Any) -> bool:
        return bool(values.shape == want.shape and np.allclose(values, want, rtol=1e-7, atol=1e-9))

    if have.size > 1 and right(have.T):
        return words["turned"]
    if have.size == want.size and right(have.reshape(want.shape)):
        return words["reshaped"].format(shape=want.shape)
    extra = have.ndim - want.ndim
    if extra >= 0 and have.size > want.size:
        summed = have.sum(axis=tuple(range(extra)))
        axes = tuple(i for i, n in enumerate(want.shape) if n == 1)
        if right(summed.sum(axis=axes, keepdims=True)):
            return words["summed"].format(shape=want.shape)
    return None


def _elsewhere(have: Any, want: Any, wrong: Any, tolerance: float, words: dict[str, str]) -> str | None:
    """The right numbers at other places: transposed, two of them swapped, or in another order."""
    if have.size < 3 and _how_far(have, want):
        return None  # of two numbers, a sign or a factor says as much
    if have.T.shape == want.shape and right_places(have.T, want, tolerance).all() and have.ndim > 1:
        return words["turned"]
    if (
        not np.isfinite(have).all()
        or not right_places(np.sort(have, axis=None), np.sort(want, axis=None), tolerance).all()
    ):
        return None
    places = [str(list(map(int, at))) for at in np.argwhere(wrong)]
    return words["exchanged"].format(*places) if len(places) == 2 else words["other_order"]


def _where(wrong: Any, inputs: dict[str, Any], words: dict[str, str]) -> str | None:
    """The places in words: all of them, one row or column, or where an input is positive or not."""
    if wrong.all():
        return words["all"]
    if wrong.ndim == 2:
        for axis, key in ((0, "column"), (1, "row")):
            lines = np.flatnonzero(wrong.any(axis=axis))
            if len(lines) == 1 and wrong.all(axis=axis)[lines[0]]:
                return words[key].format(i=lines[0])
    for name, value in inputs.items():
        if isinstance(value, np.ndarray) and value.shape == wrong.shape and wrong.size > 2:
            for key, there in (("positive", value > 0), ("negative", value <= 0)):
                if (there == wrong).all():
                    return words[key].format(name=name)
    return None


def _how_far(have: Any, want: Any) -> tuple[str, str] | None:
    with np.errstate(all="ignore"):
        ratio = have / want
    if not np.isfinite(ratio).all():
        return None
    if np.ptp(ratio) <= 1e-7 * max(1.0, float(np.max(np.abs(ratio)))):
        value = float(np.mean(ratio))
        if abs(value) < 1e-12:
            return "zero", ""
        if abs(value + 1) < 1e-7:
            return "opposite", ""
        return ("ratio", number(value)) if have.size > 1 or _round(value) else None
    offset = have - want
    if have.size > 1 and np.ptp(offset) <= 1e-7 * max(1.0, float(np.max(np.abs(offset)))):
        return "offset", number(float(np.mean(offset)))
    return None


def _round(value: float) -> bool:
    """Return whether the ratio of two single numbers is informative: an integer such as 2 or 3, or its inverse."""
    return abs(value) < 100 and any(abs(x - round(x)) < 1e-7 and 1 < abs(round(x)) <= 12 for x in (value, 1 / value))
