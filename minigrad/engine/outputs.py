"""The result of an operation. It is one array, or a tuple, namedtuple or list of arrays if there are several outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .tape import Entry, Output
from .tensor import Tensor, make_tensor


def as_arrays(ans: Any) -> Any:
    """Turn NumPy scalars in the result into 0-d arrays, which Tensors need."""
    if isinstance(ans, np.generic):
        return np.asarray(ans)
    if isinstance(ans, Tensor):
        raise UnsupportedError("a primitive takes plain values by keyword, got a Tensor: use t.item() or t.numpy()")
    if isinstance(ans, (tuple, list)):
        return _like(ans, [as_arrays(array) for array in ans])
    return ans


def first_floating(ans: Any) -> Any:
    """Return the first floating output, or the first output if none is floating. Return a single output unchanged."""
    if not isinstance(ans, (tuple, list)):
        return ans
    return next((array for array in ans if array.dtype.kind in "fc"), ans[0])


def outputs(ans: Any, entry: Entry | None) -> Any:
    """Return the result as a Tensor, or as a tuple, namedtuple or list of Tensors if there are several outputs."""
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
