"""Loss functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad import ArgumentError, OutOfRangeError, Tensor, log_softmax
from minigrad.internal import (
    Array,
    TensorLike,
    all_finite,
    array_of,
    bce_of_logits,
    bce_of_probabilities,
    check_labels,
    is_device_array,
    minus_picked,
    squared_error,
    times,
)

from ._checks import as_given, as_number, beside, check_integer, check_real, plain
from ._losses import check_reduction, class_weights, factors_of, pair, read_only, reduced
from ._sample_weight import SampleWeights, weighted


def cross_entropy(
    logits: TensorLike,
    labels: TensorLike,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    weight: TensorLike | None = None,
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``-log softmax(logits)[label]``, by default the mean over all labels.

    Args:
        logits: (..., classes), floating.
        labels: integers (...) in [0, classes). Floating labels (..., classes) are the probability t of each class; the loss is
            then ``-sum(t * log softmax(logits))``. A t of 0 contributes 0, also where the logit is -inf.
        reduction: "mean", "sum" or "none" (one loss per label).
        label_smoothing: s in [0, 1]. The target is ``1 - s`` times the label plus s times the uniform distribution. Szegedy et
            al. 2016, arXiv:1512.00567, section 7; Vaswani et al. 2017, arXiv:1706.03762, section 5.4, take 0.1.
        ignore_index: labels of this value, such as padding, are left out of the sum and of the mean; their logits are not read.
            By default all count.
        weight: (classes,), the factor of each class. As in PyTorch, the mean is then the sum divided by the factors of the
            labels; for probabilities it is the plain mean.
        sample_weight: the factor of each example, 0 or more, of the shape of the losses or of its first axes, such as (batch,).
            The mean is then the sum divided by that of the factors, times those of the labels' classes. So 2 counts as the
            example twice, and 0 as none: of such an example nothing is read, NaN neither. ``reduction="none"`` gives the losses
            times their factors.

    Raises:
        OutOfRangeError: a label is negative or not below the number of classes.
        DTypeError: labels are neither integers nor floating, or logits are not floating.
        ShapeError: the shapes do not fit together.
        ArgumentError: the mean is over no labels, or a setting is out of its range.

    Example:
        >>> import nn
        >>> logits = [[0.0, 0.0], [9.0, -9.0]]
        >>> nn.cross_entropy(logits, [1, 1], reduction="none").numpy().round(4)  # log 2 for a guess, 18 for a mistake
        array([ 0.6931, 18.    ])
        >>> round(nn.cross_entropy(logits, [1, -1], ignore_index=-1).item(), 4)  # the mean over the first label
        0.6931
    """
    name = "cross_entropy"
    logits, labels = check_real(logits, name, "logits"), as_given(labels, "labels")
    label_smoothing = as_number(0, 1, label_smoothing=label_smoothing)
    if sample_weight is not None:
        settings: dict[str, Any] = {"ignore_index": ignore_index, "weight": weight, "label_smoothing": label_smoothing}
        return _by_sample(cross_entropy, logits, labels, sample_weight, reduction, **settings)
    factors = class_weights(weight, logits, name)
    if labels.dtype.kind == "f" and labels.ndim == logits.ndim:
        if ignore_index is not None:
            raise ArgumentError("ignore_index is for labels that are integers, and these are probabilities of classes")
        return reduced(_soft_cross_entropy(logits, labels, label_smoothing, factors), reduction, name)
    labels, counted = _without_ignored(labels, ignore_index)
    labels = beside(labels, array_of(logits))
    if not label_smoothing and ignore_index is None and factors is None:
        check_reduction(reduction, name, labels.size)
        return minigrad.cross_entropy(logits, labels, reduction=reduction)
    if label_smoothing or factors is not None:
        check_labels(logits, labels, reduction, name)
    of_labels, read = None if factors is None else factors[labels], counted
    if label_smoothing:
        losses = _smoothed(log_softmax(read_only(logits, read)), labels, label_smoothing, factors, of_labels)
        return reduced(losses, reduction, name, counted, of_labels)
    if of_labels is not None:  # the rows that count and have a weight other than 0
        read = of_labels != 0 if counted is None else beside(counted, of_labels) & (of_labels != 0)
    losses = minigrad.cross_entropy(read_only(logits, read), labels, reduction="none")
    return reduced(losses if of_labels is None else times(of_labels, losses), reduction, name, counted, of_labels)


def negative_log_likelihood(
    log_probabilities: Any,
    labels: TensorLike,
    *,
    reduction: str = "mean",
    ignore_index: int | None = None,
    weight: TensorLike | None = None,
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``-log_probabilities[label]``, by default the mean: the cross-entropy for a model that ends in ``log_softmax``.

    Args:
        log_probabilities: (..., classes), floating.
        labels: (...), integers in [0, classes).
        reduction, ignore_index, weight, sample_weight: as in :func:`cross_entropy`, which also lists the errors.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> round(nn.negative_log_likelihood(np.log([[0.25, 0.75]]), [1]).item(), 4)  # -log 0.75
        0.2877
    """
    name = "negative_log_likelihood"
    log_probabilities, labels = check_real(log_probabilities, name, "log_probabilities"), as_given(labels, "labels")
    if sample_weight is not None:
        settings: dict[str, Any] = {"ignore_index": ignore_index, "weight": weight}
        return _by_sample(negative_log_likelihood, log_probabilities, labels, sample_weight, reduction, **settings)
    labels, counted = _without_ignored(labels, ignore_index)
    check_labels(log_probabilities, labels, reduction, name)
    labels = beside(labels, array_of(log_probabilities))
    factors = class_weights(weight, log_probabilities, name)
    if counted is not None or factors is not None:
        losses, of_labels = minus_picked(log_probabilities, labels), None if factors is None else factors[labels]
        return reduced(losses if of_labels is None else times(of_labels, losses), reduction, name, counted, of_labels)
    check_reduction(reduction, name, labels.size)
    return minus_picked(log_probabilities, labels, reduction=reduction)


def mean_squared_error(
    predictions: TensorLike,
    targets: TensorLike,
    *,
    reduction: str = "mean",
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``(predictions - targets)^2``, by default the mean over all elements.

    Args:
        predictions: floating, of any shape.
        targets: of the same shape. They are not broadcast: (batch, 1) and (batch,) would give (batch, batch).
        reduction: "mean", "sum" or "none".
        sample_weight: as in :func:`cross_entropy`.

    Raises:
        ShapeError, DTypeError: the shapes differ, or predictions are not floating.
        ArgumentError: the mean is over no elements, or the reduction is unknown.

    Example:
        >>> import nn
        >>> nn.mean_squared_error([1.0, 2.0], [1.0, 4.0]).item()
        2.0
    """
    if sample_weight is not None:
        return weighted(mean_squared_error, predictions, targets, sample_weight, reduction)
    predictions, targets = pair(predictions, targets, "mean_squared_error", "predictions", reduction)
    return squared_error(predictions, targets, reduction=reduction)


def binary_cross_entropy_with_logits(
    logits: TensorLike,
    targets: TensorLike,
    *,
    reduction: str = "mean",
    weight: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``-t log sigmoid(z) - (1 - t) log(1 - sigmoid(z))``, by default the mean over all elements.

    It is computed as ``(1 - t) max(z, 0) + t max(-z, 0) + log(1 + exp(-|z|))``, which is finite for any finite z. The error of
    the loss, and of its derivative with respect to z if t is 0 or 1, is at most 4 units in the last place in each precision.

    Args:
        logits: z, floating, of any shape.
        targets: t, of the same shape, in [0, 1]; booleans, integers or floating.
        reduction: "mean", "sum" or "none".
        weight: factors of the losses, of a shape that broadcasts to theirs; the mean stays the mean over all elements.
        pos_weight: factors of ``-t log sigmoid(z)`` alone, such as the ratio of zeros to ones for each class, (classes,).
        sample_weight: as in :func:`cross_entropy`; ``weight`` and ``pos_weight`` have no part in the divisor.

    Raises:
        ShapeError, DTypeError: the shapes differ, a weight does not broadcast to them, or logits are not floating.
        OutOfRangeError: a target is not in [0, 1].
        ArgumentError: the mean is over no elements, or the reduction is unknown.

    Example:
        >>> import nn
        >>> nn.binary_cross_entropy_with_logits([0.0, 500.0], [1, 0], reduction="none").numpy().round(4)
        array([  0.6931, 500.    ])
    """
    name = "binary_cross_entropy_with_logits"
    if sample_weight is not None:
        settings: dict[str, Any] = {"weight": weight, "pos_weight": pos_weight}
        return weighted(binary_cross_entropy_with_logits, logits, targets, sample_weight, reduction, **settings)
    _check_unit_interval(targets, "targets", name)
    logits, targets = pair(logits, targets, name, "logits", reduction)
    if weight is None and pos_weight is None:
        return bce_of_logits(logits, targets, reduction=reduction)
    z: Any = logits
    if weight is not None:  # an element of weight 0 is not read
        own = factors_of(weight, logits, name, "weight")
        if not all_finite(logits) or is_device_array(array_of(logits)):
            z = np.where(own != 0, logits, 0.0)
    if pos_weight is None:
        losses = bce_of_logits(z, targets)
    else:
        factors, ones = factors_of(pos_weight, logits, name, "pos_weight"), np.ones_like(array_of(logits))
        losses = times(factors * targets, bce_of_logits(z, ones)) + times(1 - targets, bce_of_logits(z, 0 * ones))
    if weight is not None:
        losses = times(own, losses)
    return reduced(losses, reduction, name)


def binary_cross_entropy(
    probabilities: TensorLike,
    targets: TensorLike,
    *,
    reduction: str = "mean",
    sample_weight: TensorLike | None = None,
) -> Tensor:
    """Return ``-t log(p) - (1 - t) log(1 - p)``, by default the mean over all elements. Logarithms are at least -100.

    For a model that ends in ``sigmoid``, :func:`binary_cross_entropy_with_logits` of its argument is more precise near 0 and 1.

    Args:
        probabilities: p, floating, of any shape, in [0, 1].
        targets, reduction, sample_weight: as in :func:`binary_cross_entropy_with_logits`, which also lists the errors.

    Example:
        >>> import nn
        >>> nn.binary_cross_entropy([0.5, 0.0], [1, 1], reduction="none").numpy().round(4)  # -log 0 becomes 100
        array([  0.6931, 100.    ])
    """
    name = "binary_cross_entropy"
    if sample_weight is not None:
        return weighted(binary_cross_entropy, probabilities, targets, sample_weight, reduction)
    _check_unit_interval(probabilities, "probabilities", name)
    _check_unit_interval(targets, "targets", name)
    probabilities, targets = pair(probabilities, targets, name, "probabilities", reduction)
    return bce_of_probabilities(probabilities, targets, reduction=reduction)


def _soft_cross_entropy(
    logits: Tensor, probabilities: TensorLike, label_smoothing: float, factors: Array | None
) -> Tensor:
    logits, t = pair(logits, probabilities, "cross_entropy", "logits")
    if label_smoothing:
        t = (1 - label_smoothing) * t + label_smoothing / logits.shape[-1]
    found: Tensor = -times(t if factors is None else t * factors, log_softmax(logits)).sum(axis=-1)
    return found


def _smoothed(logs: Tensor, labels: Any, share: float, factors: Array | None, of_labels: Array | None) -> Tensor:
    """Return the loss of each label, of which the ``share`` goes to all classes alike; ``logs`` are their log-probabilities."""
    rest = 1 - share if of_labels is None else (1 - share) * of_labels
    own: Any = minus_picked(logs, labels)
    losses: Tensor = times(rest, own) if of_labels is not None or rest == 0 else rest * own
    return losses - share * (logs if factors is None else times(factors, logs)).mean(axis=-1)


def _by_sample(
    loss: Any, scores: Tensor, labels: Any, sample_weight: TensorLike, reduction: str, *, weight: Any, **settings: Any
) -> Tensor:
    """Return a loss of labels with a factor for each example."""
    factors = class_weights(weight, scores, loss.__name__)
    samples = SampleWeights(sample_weight, scores, scores.shape[:-1], loss.__name__)
    scores, labels = samples.read(scores), samples.read(labels)
    losses = loss(scores, labels, reduction="none", weight=weight, **settings)
    return samples.reduced(losses, reduction, _counts(labels, settings["ignore_index"], factors, losses.ndim))


def _without_ignored(labels: TensorLike, ignore_index: int | None) -> tuple[Any, Any]:
    """Return the labels, with 0 for ignored ones, and a boolean array of the labels that count (None if all do)."""
    labels = plain(labels, "labels")
    if ignore_index is None:
        return labels, None
    check_integer(ignore_index=ignore_index)
    counted = labels != ignore_index
    return np.where(counted, labels, 0), counted


def _counts(labels: TensorLike, ignore_index: int | None, factors: Array | None, ndim: int) -> Any:
    """Return how much each label counts in a mean: the factor of its class or 1, and 0 if it is ignored."""
    labels = plain(labels)
    if labels.ndim != ndim:  # probabilities of classes
        return 1.0
    labels, counted = _without_ignored(labels, ignore_index)
    counts = 1.0 if factors is None else factors[beside(labels, factors)]
    return counts if counted is None else counts * counted


def _check_unit_interval(x: Array, name: str, function: str) -> None:
    x = plain(x, name)
    if x.dtype.kind not in "bc" and x.size and not ((x.min() >= 0) & (x.max() <= 1)):
        raise OutOfRangeError(f"{function} needs {name} in [0, 1], got {float(x.min()):g} to {float(x.max()):g}")
