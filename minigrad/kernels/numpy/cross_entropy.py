"""The kernel of cross-entropy. Its forward keeps the exponentials for the backward."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.neural import REDUCTIONS, check_labels, cross_entropy
from .rows import Needs, as_rows
from .softmax import exponentials
from .sums import ones


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> tuple[Array, Any]:
    check_labels(logits, labels, reduction)
    top, e, total = exponentials(logits)
    picked = as_rows(logits)[np.arange(len(e)), labels.reshape(-1)]
    losses = (np.log(total) - (picked[:, None] - top)).reshape(labels.shape)
    if reduction == "mean" and losses.size:
        return losses.reshape(-1).dot(ones(losses.size, losses.dtype, 1 / losses.size)), (e, total)
    return REDUCTIONS[reduction](losses), (e, total)


def _cross_entropy_backward(g: Any, needs: Needs, saved: Any, logits_shape: Any, labels: Any, reduction: str) -> Any:
    """Compute softmax(logits) - one_hot(label) for each row, times the cotangent of the row."""
    e, total = saved
    of_row = g.reshape(-1, 1) if reduction == "none" else g * (1 / len(e) if reduction == "mean" and len(e) else 1)
    d = e * (of_row / total)
    picked = np.arange(len(e)), labels.reshape(-1)
    d[picked] = (e[picked] / total[:, 0] - 1) * (of_row[:, 0] if reduction == "none" else of_row)
    return d.reshape(logits_shape), None


cross_entropy.kernel(np.ndarray, _cross_entropy_forward, _cross_entropy_backward)
