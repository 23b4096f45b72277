"""Tell the user of values that became float64 by accident, where a float32 layer meets them."""

from __future__ import annotations

import warnings

import numpy as np

from minigrad import Tensor
from minigrad.internal import Entry, node_of, user_place, wengert_list

_told: set[tuple[str, int]] = set()  # the lines that were looked at; a look at a long tape takes time


def warn_if_promoted(x: Tensor, layer: str) -> None:
    """Warn, once for each line of the program, if an operation has made float64 of float32 values that led to ``x``."""
    place, node = user_place(), node_of(x)
    if node is None or place is None or (where := (place.source.file, place.source.line)) in _told:
        return
    _told.add(where)
    operation = _promoting(wengert_list([node]))
    if operation is None:
        return
    message = (
        f"{layer} computes in float32 and got a float64 result: before it, '{operation.primitive.name}' has combined "
        "float32 values with a float64 array or a number of NumPy, so what follows takes twice the memory and time. Write "
        "16**0.5 in place of np.sqrt(16), and np.zeros(n, np.float32) in place of np.zeros(n)."
    )
    warnings.warn_explicit(message, UserWarning, *where)


def _promoting(entries: list[Entry]) -> Entry | None:
    """Return the first operation with a float64 result of a float32 operand, unless the program asks for that dtype."""
    for entry in entries:
        single = any(parent is not None and parent.dtype == np.float32 for parent in entry.parents)
        asked = entry.primitive.name == "astype" or entry.keywords.get("dtype") is not None
        if single and entry.dtype == np.float64 and not asked:
            return entry
    return None
