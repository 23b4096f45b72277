"""Writes an operation's keywords as JSON, so that a page can run the operation again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def keyword_data(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of an operation as JSON data. Numbers, text and None stay, and tuples become lists.

    A slice becomes ``{"slice": [start, stop, step]}``, ``...`` becomes ``{"ellipsis": true}``, and an array or a list of
    numbers becomes ``{"array": {"shape": ..., "values": ...}}``. Any other value becomes ``{"unknown": its type}``.
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
    """Return the array of a list of numbers; None for any other value."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal length
        return None
    if not array.size and isinstance(value, list):
        array = array.astype(np.intp)  # as an index, NumPy reads an empty list as integers
    return array if array.dtype.kind in "biuf" else None
