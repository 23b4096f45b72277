"""Cross-entropy, whose forward keeps the probabilities for its backward."""

from typing import Any

import numpy as np

from ...engine.sums import ones
from ...engine.types import Array
from ...rules.neural import REDUCTIONS, check_labels, cross_entropy, largest
from ..threads import in_blocks
from .rows import Needs, as_rows, row_sums


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> tuple[Array, Array]:
    check_labels(logits, labels, reduction)
    rows, labels_of_rows = as_rows(logits), labels.reshape(-1)
    n, classes = rows.shape
    probabilities, losses = np.empty(rows.shape, rows.dtype), np.empty(n, rows.dtype)

    def some(rows: Array, p: Array, labels: Array, losses: Array) -> None:
        np.subtract(rows, largest(rows), out=p)
        picked = p[np.arange(len(p)), labels]
        np.exp(p, out=p)
        total = row_sums(p, ones(classes, p.dtype))
        p /= total[:, None]
        np.subtract(np.log(total), picked, out=losses)

    in_blocks(some, rows, probabilities, labels_of_rows, losses)
    if reduction == "mean" and n:
        return losses.dot(ones(n, rows.dtype, 1 / n)), probabilities
    return REDUCTIONS[reduction](losses.reshape(labels.shape)), probabilities


def _cross_entropy_backward(g: Any, needs: Needs, saved: Array, logits_shape: Any, labels: Any, reduction: str) -> Any:
    """softmax(logits) - one_hot(label), for each row times its cotangent."""
    d = saved.copy()
    d[np.arange(len(d)), labels.reshape(-1)] -= 1
    d *= g.reshape(-1, 1) if reduction == "none" else g * (1 / len(d) if reduction == "mean" and len(d) else 1)
    return d.reshape(logits_shape), None


cross_entropy.kernel(np.ndarray, _cross_entropy_forward, _cross_entropy_backward)
