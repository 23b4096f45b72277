"""Losses of distances and margins: Huber, Kullback-Leibler, cosine and hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import OutOfRangeError, ShapeError, Tensor
from minigrad.internal import TensorLike, array_of, check_labels, power_of_two, times

from ._checks import as_given, as_number, beside, check_real, plain
from ._losses import pair, reduced
from ._sample_weight import weighted


def huber_loss(
    predictions: TensorLike,
    targets: TensorLike,
    *,
    delta: float = 1.0,
    reduction: str = "mean",
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``d^2 / 2`` where ``|d| < delta`` and ``delta (|d| - delta / 2)`` elsewhere, for ``d = predictions - targets``.

    Huber 1964. It is a squared error whose gradient is never larger than delta, so that outliers count less.

    Args:
        predictions: floating, of any shape.
        targets: of the same shape; they are not broadcast.
        delta: where the square turns into a line, 0 or more.
        reduction: "mean", "sum" or "none".
        sample_weight: as in :func:`cross_entropy`.

    Raises:
        ShapeError, DTypeError: the shapes differ, or predictions are not floating.
        ArgumentError: the mean is over no elements, or delta or the reduction is out of its range.

    Example:
        >>> import nn
        >>> nn.huber_loss([0.5, 10.0], [0.0, 0.0], reduction="none").tolist()
        [0.125, 9.5]
    """
    delta = as_number(0, np.inf, delta=delta)
    if sample_weight is not None:
        return weighted(huber_loss, predictions, targets, sample_weight, reduction, delta=delta)
    x, y = pair(predictions, targets, "huber_loss", "predictions", reduction)
    d = x - y
    near = np.clip(d, -delta, delta)  # near (d - near / 2) is both cases, and smooth at 0
    return reduced(near * (d - 0.5 * near), reduction, "huber_loss")


def kl_divergence(
    log_probabilities: TensorLike,
    targets: TensorLike,
    *,
    reduction: str = "mean",
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``sum(t (log t - log q))`` over the last axis, the divergence of the model's q from the probabilities t.

    Kullback and Leibler 1951. PyTorch's kl_div with ``reduction="batchmean"`` is the mean of these sums for (batch, classes). A
    t of 0 contributes 0.

    Args:
        log_probabilities: log q, (..., classes), floating, such as ``minigrad.log_softmax(logits)``.
        targets: t, of the same shape, 0 or more.
        reduction: "mean" or "sum" over all rows, or "none" (one number for each row).
        sample_weight: as in :func:`cross_entropy`.

    Raises:
        ShapeError, DTypeError: the shapes differ or have no axis, or log_probabilities are not floating.
        OutOfRangeError: a target is negative or NaN.
        ArgumentError: the mean is over no rows, or the reduction is unknown.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> round(nn.kl_divergence(np.log([[0.5, 0.5]]), [[1.0, 0.0]]).item(), 4)  # log 2
        0.6931
    """
    if sample_weight is not None:
        return weighted(kl_divergence, log_probabilities, targets, sample_weight, reduction, rows=True)
    q, t = pair(log_probabilities, targets, "kl_divergence", "log_probabilities")
    if not q.ndim:
        raise ShapeError("kl_divergence needs log_probabilities of shape (..., classes), got a number")
    values = plain(t, "targets")
    if values.size and not values.min() >= 0:
        raise OutOfRangeError(f"kl_divergence needs targets of 0 or more, got {float(values.min()):g}")
    logs = np.log(np.where(t > 0, t, 1.0))
    return reduced(times(t, logs - q).sum(axis=-1), reduction, "kl_divergence")


def cosine_loss(
    x: TensorLike,
    y: TensorLike,
    *,
    reduction: str = "mean",
    eps: float = 1e-8,
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``1 - cos(x, y)`` for the vectors of the last axis: 0 for one direction, 1 for a right angle, 2 for opposite ones.

    Args:
        x: (..., d), floating.
        y: of the same shape.
        reduction: "mean" or "sum" over all vectors, or "none" (one number for each).
        eps: the least length of a vector in the division.
        sample_weight: as in :func:`cross_entropy`.

    Raises:
        ShapeError, DTypeError: the shapes differ or have no axis, or x is not floating.
        ArgumentError: the mean is over no vectors, or eps or the reduction is out of its range.

    Example:
        >>> import nn
        >>> nn.cosine_loss([[3.0, 0.0], [3.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], reduction="none").tolist()
        [0.0, 1.0]
    """
    eps = as_number(0, np.inf, eps=eps)
    if sample_weight is not None:
        return weighted(cosine_loss, x, y, sample_weight, reduction, rows=True, eps=eps)
    x, y = pair(x, as_given(y, "y"), "cosine_loss", "x")
    if not x.ndim:
        raise ShapeError("cosine_loss needs x of shape (..., d), got a number")
    return reduced(1 - (unit(x, eps) * unit(y, eps)).sum(axis=-1), reduction, "cosine_loss")


def unit(x: Any, eps: float = 0.0) -> Any:
    """Return ``x / max(|x|, eps)`` for the vectors of the last axis, and 0 for 0. No square leaves the range of the dtype."""
    scale = power_of_two(x, eps)
    x = x / scale
    squares = (x * x).sum(axis=-1, keepdims=True)
    zero = squares == 0
    length = np.sqrt(np.where(zero, 1.0, squares))
    return np.where(zero, 0.0, x / np.maximum(length, eps / scale))


def hinge_loss(
    scores: TensorLike,
    labels: TensorLike,
    *,
    margin: float = 1.0,
    reduction: str = "mean",
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return the sum of ``max(0, margin - score of the label + score)`` over the other classes, divided by the classes.

    Crammer and Singer 2001; it is PyTorch's MultiMarginLoss. The loss is 0 if the label leads by the margin.

    Args:
        scores: (..., classes), floating.
        labels: (...), integers in [0, classes).
        margin: the lead from which on a class costs nothing, 0 or more.
        reduction: "mean", "sum" or "none" (one loss for each label).
        sample_weight: as in :func:`cross_entropy`.

    Raises:
        OutOfRangeError: a label is not in [0, classes).
        ShapeError, DTypeError: the shapes do not fit, scores are not floating, or labels are not integers.
        ArgumentError: the mean is over no labels, or margin or the reduction is out of its range.

    Example:
        >>> import nn
        >>> nn.hinge_loss([[2.0, 0.0], [0.5, 0.0]], [0, 0], reduction="none").tolist()  # the second leads by half the margin
        [0.0, 0.25]
    """
    margin = as_number(0, np.inf, margin=margin)
    if sample_weight is not None:
        return weighted(hinge_loss, scores, labels, sample_weight, reduction, rows=True, margin=margin)
    scores, labels = check_real(scores, "hinge_loss", "scores"), as_given(labels, "labels")
    check_labels(scores, labels, reduction, "hinge_loss")
    labels = beside(labels, array_of(scores))[..., None]
    others = np.arange(scores.shape[-1], like=labels) != labels
    picked: Any = np.take_along_axis(scores, labels, axis=-1)
    excess = np.maximum(margin - picked + scores, 0.0)
    return reduced(np.where(others, excess, 0.0).sum(axis=-1) / scores.shape[-1], reduction, "hinge_loss")
