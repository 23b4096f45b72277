"""The factors of examples in a loss. Nothing is read of an example whose factor is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import OutOfRangeError, ShapeError, Tensor
from minigrad.internal import REDUCTIONS, TensorLike, array_of, untracked_array

from ._checks import as_given, beside, check_real, plain_numbers
from ._losses import check_count, check_reduction

REMEDY = "multiply the losses of reduction='none' yourself, or pass sample_weight.detach()"


class SampleWeights:
    """The argument ``sample_weight`` of a loss, for losses of ``shape`` that are computed from ``like``."""

    def __init__(self, given: TensorLike, like: Tensor, shape: tuple[int, ...], function: str) -> None:
        if isinstance(given, Tensor):
            given = untracked_array(given, f"sample_weight of {function},", REMEDY)
        factors = beside(plain_numbers(given, "sample_weight"), array_of(like))
        if not factors.ndim or factors.shape != shape[: factors.ndim]:
            raise ShapeError(
                f"{function} needs a sample_weight of shape {shape} or of its first axes, such as {shape[:1]}, got "
                f"{factors.shape}"
            )
        if not np.logical_and(factors >= 0, factors < np.inf).all():
            raise OutOfRangeError(f"{function} needs a sample_weight of finite numbers, 0 or more, got {factors}")
        self.function, self.shape, self.dtype = function, shape, like.dtype
        self.factors = factors.reshape(factors.shape + (1,) * (len(shape) - factors.ndim)).astype(np.float64)
        self.all = bool((factors != 0).all())

    def read(self, value: TensorLike) -> Any:
        """Return a value of shape (\\*shape, ...) with zeros for the examples whose factor is 0."""
        value = as_given(value)
        if self.all or value.shape[: len(self.shape)] != self.shape:
            return value  # what does not fit is refused by the loss itself
        used = self.factors != 0
        return np.where(used.reshape(used.shape + (1,) * (value.ndim - used.ndim)), value, 0)

    def reduced(self, losses: Any, reduction: str, counts: Any = 1.0) -> Tensor:
        """Return the losses times the factors, their sum, or their sum divided by that of the factors times ``counts``."""
        check_reduction(reduction, self.function)
        factors = self.factors
        if reduction == "mean":
            total = float((factors * np.broadcast_to(np.asarray(counts, like=factors), self.shape)).sum())
            check_count(total, self.function)
            factors = factors * (losses.size / total)
        weighted: Tensor = REDUCTIONS[reduction](losses * factors.astype(self.dtype))
        return weighted


def weighted(
    loss: Callable[..., Tensor],
    x: TensorLike,
    targets: TensorLike,
    sample_weight: TensorLike,
    reduction: str,
    *,
    rows: bool = False,
    **settings: Any,
) -> Tensor:
    """Return a loss with factors: of each element of x, or of each of its ``rows``, the vectors of the last axis."""
    name = loss.__name__
    x = check_real(x, name)
    samples = SampleWeights(sample_weight, x, x.shape[:-1] if rows else x.shape, name)
    return samples.reduced(loss(samples.read(x), samples.read(targets), reduction="none", **settings), reduction)
