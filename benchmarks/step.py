"""What a peer makes of a work: the thing that is timed, and what is compared with the other peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Gradients = dict[str, Any]  # NumPy arrays, by the names that the workload gives to its parameters


def _nothing() -> None:
    pass


@dataclass
class Step:
    """One work of one peer, ready to run.

    Attributes:
        run: the i-th step; gives the loss, unread, so that a GPU need not be waited for.
        gradients: those of the last step, each (in, out) where it is a matrix of weights.
        graph: a forward pass alone; what it gives holds the graph. For the chains.
        nodes: how many operations that graph has.
        wait: until the device has done what it was asked to.
        device: the name of the GPU, or nothing.
        device_bytes: the most bytes that the GPU's pool of memory has held.
        timed: of a work that measures its parts itself: milliseconds, given the seconds to take and a clock.
    """

    run: Callable[[int], Any]
    gradients: Callable[[], Gradients]
    graph: Callable[[], Any] | None = None
    nodes: int = 0
    wait: Callable[[], None] = _nothing
    device: str = ""
    device_bytes: Callable[[], int] | None = None
    timed: Callable[[float, Callable[[], float]], float] | None = None

    def loss(self, i: int) -> float:
        """Run the i-th step and read its loss."""
        loss = self.run(i)
        return float(loss.item() if hasattr(loss, "item") else loss)
