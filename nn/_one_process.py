"""What a training run asks about the processes it is spread over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from minigrad import Tensor

from .data import EpochBatches
from .optimizer import Optimizer

T = TypeVar("T")


class OneProcess:
    """There is one, this one. :class:`nn.parallel.Ranks` answers each of these in another way."""

    rank = 0  # the number of this process, of ...
    size = 1  # ... so many

    def share(self, batches: EpochBatches, epoch: int) -> Iterator[tuple[Any, int | None]]:
        """This process's part of each batch of an epoch, and of how many examples it is; None: of the whole batch."""
        for batch in batches.epoch(epoch):
            yield batch, None

    def broadcast(self, *things: Any) -> None:
        """Whatever the first process has, all have."""

    def overlapping(self, loss: Tensor, optimizer: Optimizer, count: int | None) -> AbstractContextManager[None]:
        """In the block is ``loss.backward()``, the last one before ``average(optimizer, count)``."""
        return nullcontext()

    def average(self, optimizer: Optimizer, count: int | None) -> None:
        """The gradients become the mean over all processes, each weighed by its number of examples."""

    def mean(self, value: float, count: int | None) -> float:
        """The mean of a number over all processes, weighed likewise."""
        return value

    def agree(self, what: str, value: Any, way_out: str) -> None:
        """
        Raises:
            ArgumentError: processes have different ones of what should be the same.
        """

    def of_first(self, function: Callable[[], T]) -> T:
        """What ``function()`` gives in the first process, the only one that runs it."""
        return function()

    def watched(self) -> AbstractContextManager[None]:
        """In the block is work that no process should be late with."""
        return nullcontext()
