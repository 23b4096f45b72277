"""Writes the elements of a value and of its gradient into cells, as micrograd does, for lessons on small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..record.model import Node
from ..record.numerals import number_text

MOST_NODES = 40  # nodes of a drawing with cells; in a larger one the numbers are too small to read
MOST_ELEMENTS = 12  # elements of an array whose rows are written out
MOST_COLUMNS = 6


def cells(node: Node) -> list[list[str]]:
    """Return the rows of a table with ``data`` and ``grad``: one row per output."""
    if node.kind == "constant":
        return [[f"data {numbers(node.value)}"]]
    several = isinstance(node.value, tuple)
    rows = []
    for i, (value, gradient) in enumerate(zip(node.values, node.gradients)):
        label = f"[{i}] data" if several else "data"
        word = ".grad" if node.held is not None and node.held[0] == node.gradient else "grad"
        rows.append([f"{label} {numbers(value)}", f"{word} {numbers(gradient)}"])
    return rows


def numbers(value: Any) -> str:
    """Return the text of a number, the rows of a small array, or the range of a large one; "-" for None."""
    if value is None:
        return "-"
    array = np.asarray(value)
    if array.dtype.kind not in "fciub":
        return "?"
    if array.ndim == 0:
        return number_text(array)
    if array.size <= MOST_ELEMENTS and array.ndim <= 2 and array.shape[-1] <= MOST_COLUMNS:
        rows = [array] if array.ndim == 1 else list(array)
        return "\n".join("[" + ", ".join(map(number_text, row)) + "]" for row in rows) or "[]"
    if array.dtype.kind == "c":
        return f"{array.size} numbers"
    return f"{number_text(array.min())} … {number_text(array.max())}"
