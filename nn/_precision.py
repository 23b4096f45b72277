"""What a training run asks about the precision it computes in."""

from __future__ import annotations

from typing import Any, Self

from minigrad import Tensor

from .optimizer import Optimizer


class Precision:
    """The dtype of the model, in all: the usual step. :class:`nn.MixedPrecision` answers each of these in another way."""

    name: str | None = None  # what ``fit(precision=...)`` was given

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def __enter__(self) -> Self:
        """The loss is computed in the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.restore_masters()

    def restore_masters(self) -> None:
        """Whatever the block has done to the parameters is undone."""

    def backward(self, loss: Tensor) -> None:
        loss.backward()

    @property
    def overflowed(self) -> bool:
        """Whether ``step()`` will be skipped, so that there is nothing to clip."""
        return False

    def step(self) -> bool:
        self._optimizer.step()
        return True

    def state_dict(self) -> dict[str, Any] | None:
        return None

    def load_state_dict(self, saved: Any) -> None:
        """There is nothing to load."""
