"""What training minimizes."""

from typing import Any

import numpy as np

import minigrad
from minigrad import ArgumentError, Tensor

from ._checks import beside, check_real


def cross_entropy(logits: Any, labels: Any, *, reduction: str = "mean") -> Tensor:
    """``-log softmax(logits)[label]``, the mean over all labels.

    Args:
        logits: (..., classes), floating.
        labels: (...), integers in [0, classes).
        reduction: "mean", "sum" or "none" (one loss for each label).

    Raises:
        OutOfRangeError: a label is negative or not below the number of classes.
        DTypeError: labels are no integers, or logits not floating.
        ShapeError: the shapes do not fit.
        ArgumentError: the mean of no labels at all; an unknown reduction.
    """
    logits = check_real(logits, "cross_entropy")
    labels = labels if hasattr(labels, "dtype") else np.asarray(labels)
    if reduction == "mean" and not labels.size:
        raise ArgumentError("cross_entropy has no mean over no labels: the batch is empty")
    loss: Tensor = minigrad.cross_entropy(logits, beside(labels, logits.data), reduction=reduction)
    return loss
