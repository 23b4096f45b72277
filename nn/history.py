"""History: what happened in a training run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from minigrad import ArgumentError

Best = tuple[Literal["min", "max"], str]  # what to look for in which metric


@dataclass
class History:
    """What happened: the loss of every step, and for each epoch what ``validate`` gave ({} without one)."""

    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)

    def metric(self, name: str) -> list[float]:
        """One number an epoch, ``history.metric("accuracy")``; NaN for an epoch that has none.

        Raises:
            ArgumentError: no epoch has it.
        """
        if self.metrics and not any(name in epoch for epoch in self.metrics):
            raise ArgumentError(f"there is no metric {name!r}: the last epoch has {list(self.metrics[-1])}")
        return [epoch.get(name, math.nan) for epoch in self.metrics]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        return cls([float(loss) for loss in values["losses"]], [dict(epoch) for epoch in values["metrics"]])

    def best_epoch(self, best: Best) -> int:
        """The first epoch with the best value of a metric, ``history.best_epoch(("max", "accuracy"))``; -1 if none has one."""
        sign = 1 if best[0] == "max" else -1
        values = [sign * epoch.get(best[1], math.nan) for epoch in self.metrics]
        numbers = [value for value in values if not math.isnan(value)]
        return values.index(max(numbers)) if numbers else -1
