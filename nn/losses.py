"""What training minimizes."""

from typing import Any

import numpy as np

import minigrad
from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor, log_softmax, primitive, sigmoid
from minigrad.internal import REDUCTIONS, check_labels, largest, to_host

from ._checks import as_input, beside, check_interval, check_real, plain


def cross_entropy(
    logits: Any, labels: Any, *, reduction: str = "mean", label_smoothing: float = 0.0, ignore_index: int | None = None
) -> Tensor:
    """``-log softmax(logits)[label]``, the mean over all labels.

    Args:
        logits: (..., classes), floating.
        labels: (...), integers in [0, classes); or (..., classes), floating: the probability t of each class, for which the
            loss is ``-sum(t * log softmax(logits))``.
        reduction: "mean", "sum" or "none" (one loss for each label).
        label_smoothing: s in [0, 1]: the label counts ``1 - s``, and all classes share s evenly. Szegedy et al. 2016,
            arXiv:1512.00567, section 7; Vaswani et al. 2017, arXiv:1706.03762, section 5.4, take 0.1.
        ignore_index: labels of this value (padding) count nothing, neither in the sum nor in what the mean divides by.

    Raises:
        OutOfRangeError: a label is negative or not below the number of classes.
        DTypeError: labels are neither integers nor floating, or logits not floating.
        ShapeError: the shapes do not fit.
        ArgumentError: the mean of no labels at all; a setting is out of its range.

    Example:
        >>> import nn
        >>> logits = [[0.0, 0.0], [9.0, -9.0]]
        >>> nn.cross_entropy(logits, [1, 1], reduction="none").numpy().round(4)  # a guess, a mistake
        array([ 0.6931, 18.    ])
        >>> round(nn.cross_entropy(logits, [1, -1], ignore_index=-1).item(), 4)  # the mean over one label
        0.6931
    """
    name = "cross_entropy"
    logits, labels = check_real(logits, name), _array(labels)
    check_interval(0, 1, label_smoothing=label_smoothing)
    if labels.dtype.kind == "f" and labels.ndim == logits.ndim:
        if ignore_index is not None:
            raise ArgumentError("ignore_index is for labels that are integers, and these are probabilities of classes")
        return _reduced(_soft_cross_entropy(logits, labels, label_smoothing), reduction, name)
    labels, counted = _without_ignored(labels, ignore_index)
    labels = beside(labels, logits.data)
    if not label_smoothing and ignore_index is None:
        if reduction == "mean":
            _check_count(labels.size, name)
        return minigrad.cross_entropy(logits, labels, reduction=reduction)
    losses = minigrad.cross_entropy(logits, labels, reduction="none")
    if label_smoothing:
        # (1 - s) (lse - z_y) + s (lse - mean z) with lse = logsumexp(z): the losses so far, and a term without exponentials,
        # in which a shift of all logits cancels: without the largest one what is left of it would be rounding
        shifted = logits - largest(logits.data)
        picked = np.take_along_axis(shifted, labels[..., None], axis=-1)[..., 0]
        losses = losses + label_smoothing * (picked - shifted.mean(axis=-1))
    return _reduced(losses, reduction, name, counted)


def negative_log_likelihood(
    log_probabilities: Any, labels: Any, *, reduction: str = "mean", ignore_index: int | None = None
) -> Tensor:
    """``-log_probabilities[label]``, the mean over all labels: cross-entropy for a model that ends in ``log_softmax``.

    Args:
        log_probabilities: (..., classes), floating.
        labels: (...), integers in [0, classes).
        reduction, ignore_index: as for :func:`cross_entropy`, and the same is raised.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> round(nn.negative_log_likelihood(np.log([[0.25, 0.75]]), [1]).item(), 4)  # -log 0.75
        0.2877
    """
    name = "negative_log_likelihood"
    log_probabilities = check_real(log_probabilities, name)
    labels, counted = _without_ignored(_array(labels), ignore_index)
    check_labels(log_probabilities, labels, reduction, name)
    labels = beside(labels, log_probabilities.data)
    picked = np.take_along_axis(log_probabilities, labels[..., None], axis=-1)[..., 0]
    return _reduced(-picked, reduction, name, counted)


def mean_squared_error(predictions: Any, targets: Any, *, reduction: str = "mean") -> Tensor:
    """``(predictions - targets)^2``, the mean over all elements.

    Args:
        predictions: floating, of any shape.
        targets: of the same shape, so that (batch, 1) against (batch,) is no silent (batch, batch).
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError, DTypeError: the two do not fit.
        ArgumentError: the mean of nothing; an unknown reduction.

    Example:
        >>> import nn
        >>> nn.mean_squared_error([1.0, 2.0], [1.0, 4.0]).item()
        2.0
    """
    predictions, targets = _pair(predictions, targets, "mean_squared_error", "predictions")
    difference = predictions - targets
    return _reduced(difference * difference, reduction, "mean_squared_error")


def binary_cross_entropy_with_logits(logits: Any, targets: Any, *, reduction: str = "mean") -> Tensor:
    """``-t log sigmoid(z) - (1 - t) log(1 - sigmoid(z))``, the mean over all elements, finite for any finite z.

    Computed as ``(1 - t) max(z, 0) + t max(-z, 0) + log(1 + exp(-|z|))``, in which no two large numbers are subtracted: in each
    precision the loss is right to 4 units in the last place, its derivative in z to 4 where t is 0 or 1.

    Args:
        logits: z, floating, of any shape.
        targets: t, of the same shape, in [0, 1]; booleans and integers will do.
        reduction: "mean", "sum" or "none".

    Raises:
        ShapeError, DTypeError: the two do not fit.
        OutOfRangeError: a target is not in [0, 1].
        ArgumentError: the mean of nothing; an unknown reduction.

    Example:
        >>> import nn
        >>> nn.binary_cross_entropy_with_logits([0.0, 500.0], [1, 0], reduction="none").numpy().round(4)
        array([  0.6931, 500.    ])
    """
    name = "binary_cross_entropy_with_logits"
    _check_unit_interval(targets, "targets", name)
    logits, targets = _pair(logits, targets, name, "logits")
    return _reduced(_element_with_logits(logits, targets), reduction, name)


# A primitive, as max(z, 0) and |z| have a kink where the loss has none. sigmoid(z) - t, too, would lose what is small.
_element_with_logits = primitive(
    lambda z, t, /: (1 - t) * np.maximum(z, 0) + t * np.maximum(-z, 0) + np.log1p(np.exp(-np.abs(z))),
    name="binary_cross_entropy_with_logits",
).vjp(z=lambda g, z, t: g * ((1 - t) * sigmoid(z) - t * sigmoid(-z)), t=lambda g, z: -g * z)


def binary_cross_entropy(probabilities: Any, targets: Any, *, reduction: str = "mean") -> Tensor:
    """``-t log(p) - (1 - t) log(1 - p)``, the mean over all elements, with no logarithm below -100.

    A model that ends in ``sigmoid`` is better served, near 0 and 1, by :func:`binary_cross_entropy_with_logits` before it.

    Args:
        probabilities: p, floating, of any shape, in [0, 1].
        targets, reduction: as there, and the same is raised.

    Example:
        >>> import nn
        >>> nn.binary_cross_entropy([0.5, 0.0], [1, 1], reduction="none").numpy().round(4)  # -log 0 counts 100
        array([  0.6931, 100.    ])
    """
    name = "binary_cross_entropy"
    _check_unit_interval(probabilities, "probabilities", name)
    _check_unit_interval(targets, "targets", name)
    probabilities, targets = _pair(probabilities, targets, name, "probabilities")
    return _reduced(_element_binary_cross_entropy(probabilities, targets), reduction, name)


def _log(p: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(p), -100)


def _log_of_rest(p: Any) -> Any:
    """``log(1 - p)``, also of a small p."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log1p(-p), -100)


# One primitive rather than a composition: 0 * log(0) and its derivative 0 / 0 would be NaN where p is 0 or 1.
_element_binary_cross_entropy = primitive(
    lambda p, t, /: -(t * _log(p) + (1 - t) * _log_of_rest(p)), name="binary_cross_entropy"
).vjp(
    p=lambda g, p, t: g * (p - t) / np.maximum(p * (1 - p), 1e-12),
    t=lambda g, p: g * (_log_of_rest(p) - _log(p)),
)


def _soft_cross_entropy(logits: Tensor, probabilities: Any, label_smoothing: float) -> Tensor:
    logits, t = _pair(logits, probabilities, "cross_entropy", "logits")
    if label_smoothing:
        t = (1 - label_smoothing) * t + label_smoothing / logits.shape[-1]
    return -(t * log_softmax(logits)).sum(axis=-1)


def _array(value: Any) -> Any:
    return value if hasattr(value, "dtype") else np.asarray(value)


def _pair(x: Any, targets: Any, function: str, name: str) -> tuple[Tensor, Tensor]:
    """Both as Tensors of one shape, in the dtype of x and where x is."""
    x, targets = check_real(x, function), _array(targets)
    if targets.shape != x.shape:
        raise ShapeError(f"{function} needs {name} and targets of one shape, got {x.shape} and {targets.shape}")
    if not (isinstance(targets, Tensor) and targets.requires_grad):
        targets = Tensor(beside(targets, x.data), copy=False)
    return x, as_input(targets, x.dtype, function)


def _without_ignored(labels: Any, ignore_index: int | None) -> tuple[Any, Any]:
    """The labels with 0 for those to ignore, and which ones count (None: all), where they are."""
    labels = plain(labels)
    if ignore_index is None:
        return labels, None
    counted = labels != ignore_index
    return np.where(counted, labels, 0), counted


def _reduced(losses: Any, reduction: str, function: str, counted: Any = None) -> Tensor:
    if reduction not in tuple(REDUCTIONS):  # it may be a list
        raise ArgumentError(f"{function} takes reduction='mean', 'sum' or 'none', got {reduction!r}")
    if counted is not None:
        losses = np.where(beside(counted, losses.data), losses, 0.0)
    if reduction != "mean":
        return REDUCTIONS[reduction](losses)
    count = losses.size if counted is None else int(to_host(counted.sum()))
    _check_count(count, function)
    return losses.sum() / count


def _check_count(count: int, function: str) -> None:
    if not count:
        raise ArgumentError(f"{function} has no mean over nothing: the batch is empty, or all of it is ignored")


def _check_unit_interval(x: Any, name: str, function: str) -> None:
    x = plain(x)
    if not x.size or x.dtype.kind == "c":
        return
    low, high = to_host(np.stack([x.min(), x.max()])).tolist()
    if not (low >= 0 and high <= 1):
        raise OutOfRangeError(f"{function} needs {name} in [0, 1], got {low:g} to {high:g}")
