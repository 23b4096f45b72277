"""Cross-entropy, whose forward keeps the probabilities for its backward."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.neural import REDUCTIONS, check_labels, cross_entropy, largest
from .rows import Needs, as_rows, ones, row_sums


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> tuple[Array, Array]:
    check_labels(logits, labels, reduction)
    rows = as_rows(logits)
    n, classes = rows.shape
    probabilities = rows - largest(rows)
    picked = probabilities[np.arange(n), labels.reshape(-1)]
    np.exp(probabilities, out=probabilities)
    total = row_sums(probabilities, ones(classes, rows.dtype))
    probabilities /= total[:, None]
    losses = np.log(total)
    losses -= picked
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
