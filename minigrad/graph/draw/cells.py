"""Writes the elements of a value and of its gradient into cells, as micrograd does, for lessons on small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..record.model import Node
from ..record.numerals import number_text

MOST_ELEMENTS = 12  # elements of an array that is written out
LINE_WIDTH = 75  # characters
MOST_LINES = 6  # lines of an array; one with more is written as one row


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
    """Return the text of an array, of a large one only the elements at its ends; "-" for None.

    An array of more than two axes, or of too many lines, is written as one row.
    """
    if value is None:
        return "-"
    array = np.asarray(value)
    text = _written(array) if array.ndim <= 2 else ""
    return text if text and text.count("\n") < MOST_LINES else _written(array.ravel())


def _written(array: NDArray[Any]) -> str:
    """Return the text of an array, which depends on none of the options that ``np.set_printoptions`` changes."""
    return np.array2string(
        array,
        max_line_width=LINE_WIDTH,
        separator=", ",
        threshold=MOST_ELEMENTS,
        edgeitems=2,
        formatter={"all": number_text},
        legacy=False,
    )
