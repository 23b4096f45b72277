"""The answer of an operation: one array, or, where it has several outputs, a tuple, namedtuple or list of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .tape import Entry, Output
from .tensor import Tensor, make_tensor


def as_arrays(ans: Any) -> Any:
    """NumPy gives scalars where a result has no dimension; a Tensor holds a 0-d array."""
    if isinstance(ans, np.generic):
        return np.asarray(ans)
    if isinstance(ans, Tensor):
        raise UnsupportedError("a primitive takes plain values by keyword, got a Tensor: use t.item() or t.numpy()")
    if isinstance(ans, (tuple, list)):
        return _like(ans, [as_arrays(array) for array in ans])
    return ans


def first_floating(ans: Any) -> Any:
    """Of several outputs the first that has a derivative, or just the first; a single one itself."""
    if not isinstance(ans, (tuple, list)):
        return ans
    return next((array for array in ans if array.dtype.kind in "fc"), ans[0])


def outputs(ans: Any, entry: Entry | None) -> Any:
    """The result as a Tensor, or, of a primitive with several outputs, as a tuple, namedtuple or list of them."""
    if not isinstance(ans, (tuple, list)):
        return make_tensor(ans, entry)
    nodes = [
        Output(entry, i, a.shape, a.dtype) if entry is not None and a.dtype.kind in "fc" else None
        for i, a in enumerate(ans)
    ]
    return _like(ans, [make_tensor(array, node) for array, node in zip(ans, nodes)])


def _like(container: Any, items: list[Any]) -> Any:
    kind = type(container)
    return kind(*items) if hasattr(container, "_fields") else kind(items)
