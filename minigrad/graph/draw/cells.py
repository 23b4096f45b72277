"""micrograd's cells: the numbers of a value and of its gradient, for lessons on small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..record.model import Node

MOST_NODES = 40  # a lesson; in a larger drawing nobody reads numbers
MOST_ELEMENTS = 12  # of an array that is written out
MOST_COLUMNS = 6


def cells(node: Node) -> list[list[str]]:
    """Rows of a table: ``data`` and ``grad``, for an operation with several outputs a row each."""
    if node.kind == "constant":
        return [[f"data {numbers(node.value)}"]]
    several = isinstance(node.value, tuple)
    values = node.value if several else (node.value,)
    gradients = [node.cotangent.get(i) for i in range(len(values))] if isinstance(node.cotangent, dict) else None
    rows = []
    for i, value in enumerate(values):
        gradient = gradients[i] if gradients else None if several else node.cotangent
        label = f"[{i}] data" if several else "data"
        rows.append([f"{label} {numbers(value)}", f"grad {numbers(gradient)}"])
    return rows


def numbers(value: Any) -> str:
    """A number, the rows of a small array, or the range of a large one; "-" for nothing."""
    if value is None:
        return "-"
    array = np.asarray(value)
    if array.dtype.kind not in "fciub":
        return "?"
    if array.ndim == 0:
        return _number(array[()])
    if array.size <= MOST_ELEMENTS and array.ndim <= 2 and array.shape[-1] <= MOST_COLUMNS:
        rows = [array] if array.ndim == 1 else list(array)
        return "\n".join("[" + ", ".join(map(_number, row)) + "]" for row in rows) or "[]"
    if array.dtype.kind == "c":
        return f"{array.size} numbers"
    return f"{_number(array.min())} … {_number(array.max())}"


def _number(value: Any) -> str:
    return str(value) if value.dtype.kind in "iub" else f"{value:.4g}"
