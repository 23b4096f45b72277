"""Writes the elements of a value and of its gradient into cells, as micrograd does, for lessons on small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..record.model import Node
from ..record.numerals import number_text

MOST_ELEMENTS = 12  # elements of an array that is written out


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
    """Return the text of an array, of a large one only the elements at its ends; "-" for None."""
    if value is None:
        return "-"
    return np.array2string(
        np.asarray(value), separator=", ", threshold=MOST_ELEMENTS, edgeitems=2, formatter={"all": number_text}
    )
