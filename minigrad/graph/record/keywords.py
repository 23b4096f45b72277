"""An operation's keywords as what JSON knows, so that a page can carry the operation out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def keyword_data(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of an operation: numbers, text, None and tuples (as lists), and objects that name what JSON does not have.

    A slice is ``{"slice": [start, stop, step]}``, ``...`` is ``{"ellipsis": true}``, an array, or a list of numbers, is
    ``{"array": {"shape": ..., "values": ...}}``, and anything else ``{"unknown": its type}``.
    """
    return {name: _data(value) for name, value in keywords.items()}


def _data(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return value.item()
    if isinstance(value, tuple):
        return [_data(item) for item in value]
    if isinstance(value, slice):
        return {"slice": [_data(part) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, (np.ndarray, list)):
        array = _array(value)
        if array is not None:
            return {"array": {"shape": array.shape, "values": array.ravel()}}
    return {"unknown": type(value).__name__}


def _array(value: Any) -> Any:
    """Of a list of numbers the array; None if it is something else."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal length
        return None
    if not array.size and isinstance(value, list):
        array = array.astype(np.intp)  # as an index an empty list is one of integers
    return array if array.dtype.kind in "biuf" else None
