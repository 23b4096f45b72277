"""Two programs beside each other: lines that compute the same numbers stand in one row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

CLOSE = 1e-9  # relative tolerance, because two programs may add the same numbers in another order
SAME, OTHER = " <=> ", "  |  "  # between two lines that compute the same numbers, and between others
LEAST = 24  # characters of the left column: a longer line has a row of its own where there is no room


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program, and the arrays and floats that it computes."""

    text: str
    values: list[Any] = field(default_factory=list)


def values_by_line(run: Callable[[], Any], file: str) -> dict[int, list[Any]]:
    """Return the arrays and floats that each line of a file computes while ``run`` runs, by the number of the line.

    These are the values of the names that the line assigns, or whose arrays it writes into, and the parts that it returns.
    """
    found: dict[int, list[Any]] = {}
    last: dict[FrameType, tuple[int, dict[str, Any]]] = {}

    def follow(frame: FrameType, event: str, returned: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        now = {name: np.array(value) for name, value in frame.f_locals.items() if _is_number(value)}
        if frame in last:
            line, before = last[frame]
            new = [x for name, x in now.items() if name not in before or not np.array_equal(x, before[name])]
            found.setdefault(line, []).extend(new)
        if event == "return":
            parts = returned if isinstance(returned, tuple | list) else (returned,)
            found.setdefault(frame.f_lineno, []).extend(np.array(part) for part in parts if _is_number(part))
        last[frame] = frame.f_lineno, now
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        run()
    finally:
        sys.settrace(before)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.floating | float) and np.asarray(value).dtype.kind == "f"


def beside(left: Sequence[ProgramLine], right: Sequence[ProgramLine], columns: int) -> str:
    """Return the two programs as rows of text. Neither changes the order of its lines."""
    lengths = [len(line.text) for line in left]
    room = max(LEAST, columns - max(len(line.text) for line in right) - len(SAME))
    width = max(length if length <= room else LEAST for length in lengths)
    rows: list[str] = []
    for one, mark, other in _rows(left, right):
        if len(one) > width and other:
            rows.append(one)
            one = ""
        rows.append(f"{one:{width}}{mark}{other}" if other else one)
    return "\n".join(rows)


def _rows(left: Sequence[ProgramLine], right: Sequence[ProgramLine]) -> list[tuple[str, str, str]]:
    """Return the rows: the largest number of lines that fit, in order, and the lines between them as they come."""
    rows: list[tuple[str, str, str]] = []
    at = [0, 0]

    def fill(i: int, j: int) -> None:
        ours, others = ([line.text for line in lines] for lines in (left[at[0] : i], right[at[1] : j]))
        for k in range(max(len(ours), len(others))):
            rows.append((ours[k] if k < len(ours) else "", OTHER, others[k] if k < len(others) else ""))

    for i, j in _pairs(left, right):
        fill(i, j)
        rows.append((left[i].text if i >= at[0] else "", SAME, right[j].text))
        at[:] = i + 1, j + 1
    fill(len(left), len(right))
    return rows


def _pairs(left: Sequence[ProgramLine], right: Sequence[ProgramLine]) -> list[tuple[int, int]]:
    """Return the pairs of lines that have the most numbers in common; a line on the left may be in several pairs."""

    @cache
    def best(i: int, j: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        if i == len(left) or j == len(right):
            return 0, ()
        ways = [best(i + 1, j), best(i, j + 1)]
        if meet(left[i], right[j]):
            common, pairs = best(i, j + 1)
            ways.insert(0, (common + min(len(left[i].values), len(right[j].values)), ((i, j), *pairs)))
        return max(ways, key=lambda way: way[0])

    return list(best(0, 0)[1])


def meet(one: ProgramLine, other: ProgramLine) -> bool:
    """Return whether two lines compute the same numbers: all that one of them computes are among those of the other."""
    few, many = sorted((one.values, other.values), key=len)
    return bool(few) and all(any(_same(a, b) for b in many) for a in few)


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and np.allclose(a, b, rtol=CLOSE, atol=0)
