"""Writes numbers and tables as text, in the same form for all views."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def number_text(value: Any, digits: int = 4) -> str:
    """Return a number as Python writes it, rounded to ``digits`` significant digits. ``-0`` is 0 and infinity is ∞."""
    value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if isinstance(value, complex):
        real, imaginary = number_text(value.real, digits), number_text(value.imag, digits)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if not isinstance(value, float):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}g}"
    return "0" if value == 0 else text


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines: the first column at the left, the others, which are numbers, at the right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join([f"{row[0]:{widths[0]}}", *(f"{word:>{width}}" for word, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]
