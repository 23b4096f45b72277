"""What the losses share: checks of their arguments, weights of classes, and the mean or sum of the losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import REDUCTIONS, Array, TensorLike, all_finite, array_of, at_least_float32, is_device_array

from ._checks import as_given, as_input, beside, check_real, plain_numbers, shown


def factors_of(weight: TensorLike, like: Tensor, function: str, name: str) -> Array:
    """Return factors of losses as an array in the dtype and on the device of ``like``, to whose shape they broadcast."""
    factors = beside(plain_numbers(weight, name), array_of(like)).astype(like.dtype)
    try:
        fits = np.broadcast_shapes(factors.shape, like.shape) == like.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"{function} needs {name} of a shape that broadcasts to {like.shape}, got {factors.shape}")
    return factors


def class_weights(weight: TensorLike | None, scores: Tensor, function: str) -> Array | None:
    """Return the factor of each class, (classes,), for scores (..., classes)."""
    if weight is None:
        return None
    factors = beside(plain_numbers(weight, "weight"), array_of(scores)).astype(scores.dtype)
    if factors.shape != scores.shape[-1:]:
        raise ShapeError(f"{function} needs a weight for each of {scores.shape[-1]} classes, got shape {factors.shape}")
    return factors


def pair(
    x: TensorLike, targets: TensorLike, function: str, name: str, reduction: str = "none"
) -> tuple[Tensor, Tensor | Array]:
    """Return x as a Tensor, and the targets in its shape, in its dtype and on its device."""
    x, targets = check_real(x, function, name), as_given(targets, "targets")
    if targets.shape != x.shape:
        raise ShapeError(f"{function} needs {name} and targets of the same shape, got {x.shape} and {targets.shape}")
    if not (isinstance(targets, Tensor) and targets.requires_grad):
        targets = beside(targets, array_of(x))
    if isinstance(targets, Tensor) or targets.dtype.kind not in "biuf":
        targets = as_input(targets, x.dtype, function, "targets")
    check_reduction(reduction, function, x.size)
    return x, targets if targets.dtype == x.dtype else targets.astype(x.dtype)


def read_only(scores: Tensor, counted: Any) -> Tensor:
    """Return scores (..., classes) with 0 in the rows that do not count if a number of the scores is not finite."""
    if (
        counted is None
        or counted.shape != scores.shape[:-1]
        or (all_finite(scores) and not is_device_array(array_of(scores)))
    ):
        return scores
    found: Any = np.where(beside(counted, array_of(scores))[..., None], scores, 0.0)
    return found


def reduced(losses: Any, reduction: str, function: str, counted: Any = None, factors: Any = None) -> Tensor:
    check_reduction(reduction, function)
    if counted is not None:
        losses = np.where(beside(counted, losses.data), losses, 0.0)
    if reduction != "mean":
        return REDUCTIONS[reduction](losses)
    if factors is not None:
        count = (factors if counted is None else np.where(beside(counted, factors), factors, 0)).sum()
    else:
        count = losses.size if counted is None else counted.sum()
    check_count(count, function)
    if factors is not None:
        return losses.sum() / count
    if counted is None:
        return losses.mean()
    total = at_least_float32(losses).sum()
    mean: Tensor = total / (count.astype(total.dtype) if is_device_array(count) else int(count))
    return mean if mean.dtype == losses.dtype else mean.astype(losses.dtype)


def check_reduction(reduction: str, function: str, count: int = 1) -> None:
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise ArgumentError(f"{function} takes reduction='mean', 'sum' or 'none', got {shown(reduction)}")
    if reduction == "mean":
        check_count(count, function)


def check_count(count: Any, function: str) -> None:
    if count == 0:
        raise ArgumentError(
            f"{function} has no mean over nothing: the batch is empty, or all of it is ignored or has weight 0"
        )
