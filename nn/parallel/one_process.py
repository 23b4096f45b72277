"""The interface between a training run and the processes it runs in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from minigrad import Tensor

from ..data import EpochBatches
from ..optimizer import Optimizer

T = TypeVar("T")


class OneProcess:
    """A run in this process alone. :class:`nn.parallel.Ranks` overrides every method for several processes."""

    rank = 0  # the number of this process, from 0
    size = 1  # the number of processes

    def share(self, batches: EpochBatches, epoch: int) -> Iterator[tuple[Any, int | None]]:
        """Yield this process's part of each batch and its number of examples, or None for a whole batch."""
        for batch in batches.epoch(epoch):
            yield batch, None

    def broadcast(self, *things: Any) -> None:
        """Give all processes the state of the first."""

    def overlapping(self, loss: Tensor, optimizer: Optimizer, count: int | None) -> AbstractContextManager[None]:
        """Wrap the last ``loss.backward()`` before ``average(optimizer, count)``, to send gradients during the backward."""
        return nullcontext()

    def average(self, optimizer: Optimizer, count: int | None) -> None:
        """Replace each gradient by its mean over all processes, weighted by their numbers of examples."""

    def mean(self, value: float, count: int | None) -> float:
        """Return the mean of a number over all processes, weighted by ``count``."""
        return value

    def agree(self, what: str, value: Any, way_out: str) -> None:
        """Raise an ArgumentError if the processes have different values."""

    def of_first(self, function: Callable[[], T]) -> T:
        """Return the result of ``function()`` in the first process, which alone runs it."""
        return function()

    def watched(self) -> AbstractContextManager[None]:
        """Limit the time that the block may take."""
        return nullcontext()
