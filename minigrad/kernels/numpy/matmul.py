"""``x @ W`` of a batch of matrices and one matrix as one product of all rows, where NumPy makes one for each of the batch."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.linalg import matmul
from .rows import Needs, as_rows


def _matmul_forward(x: Array, y: Array, **keywords: Any) -> Any:
    if keywords or x.ndim < 3 or y.ndim != 2 or x.shape[-1] != len(y) or x.dtype != y.dtype:
        return NotImplemented
    return as_rows(x).dot(y).reshape(x.shape[:-1] + y.shape[1:]), None


def _matmul_backward(g: Array, needs: Needs, x: Array, y: Array) -> tuple[Any, ...]:
    of_rows = as_rows(g)
    return (
        of_rows.dot(y.T).reshape(x.shape) if needs[0] else None,
        as_rows(x).T.dot(of_rows) if needs[1] else None,
    )


matmul.kernel(np.ndarray, _matmul_forward, _matmul_backward)
