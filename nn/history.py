"""History: the losses and metrics of a training run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from minigrad import ArgumentError
from minigrad.internal import figures

from ._checks import check_kind, shown
from ._tables import html_table

Best = tuple[Literal["min", "max"], str]  # whether the least or the greatest value of a metric is best, and its name


@dataclass
class History:
    """The loss of every step, and for each epoch the metrics that ``validate`` returned ({} without ``validate``).

    Attributes:
        river: with ``fit(..., river=True)`` the size of the gradients of every step, before they are clipped: a band from the
            10th to the 90th percentile of the parameters, and the largest with its name; else None. A notebook draws it.

    Example:
        >>> import nn
        >>> history = nn.History(losses=[0.7, 0.3, 0.2], metrics=[{"accuracy": 0.9}])
        >>> history
        History(3 steps, 1 epoch; loss 0.7 to 0.2; accuracy 0.9)
        >>> history.metric("accuracy")
        [0.9]
    """

    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    river: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_kind("a list", losses=self.losses, metrics=self.metrics)

    def metric(self, name: str) -> list[float]:
        """Return a metric's value in each epoch, ``history.metric("accuracy")``; NaN for an epoch that lacks it.

        Raises:
            ArgumentError: no epoch has this metric.
        """
        check_kind("a text", name=name)
        if self.metrics and not any(name in epoch for epoch in self.metrics):
            raise ArgumentError(f"there is no metric {name!r}: the last epoch has {list(self.metrics[-1])}")
        return [epoch.get(name, math.nan) for epoch in self.metrics]

    def __repr__(self) -> str:
        """Return one line, because there may be thousands of losses: ``History(200 steps, 20 epochs; loss 0.7 to 0.02)``."""
        parts = [f"{len(self.losses):,} step{_s(self.losses)}, {len(self.metrics):,} epoch{_s(self.metrics)}"]
        if self.losses:
            parts.append(f"loss {self.losses[0]:.4g} to {self.losses[-1]:.4g}")
        parts += [f"{name} {value:.4g}" for name, value in (self.metrics[-1] if self.metrics else {}).items()]
        return f"History({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows: one row per epoch, with its mean loss and its metrics."""
        names = self._names()
        losses = self._mean_losses()
        header = ["epoch", *(["mean loss"] if losses else []), *names]
        rows = [
            [
                str(i + 1),
                *([f"{losses[i]:.4g}"] if losses else []),
                *(f"{epoch.get(name, math.nan):.4g}" for name in names),
            ]
            for i, epoch in enumerate(self.metrics)
        ]
        table = html_table(repr(self), header, rows)
        return table if self.river is None else table + self.river._repr_html_()

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw the loss of each step, with its mean over each epoch, and beside it each metric, and return the path.

        The losses have a logarithmic scale if all are positive. ``path`` ends in .png, .svg
        or .pdf.

        Raises:
            ArgumentError: there is no loss, or the suffix of ``path`` names no format.
            MissingExtraError: matplotlib is not installed.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> import nn
            >>> with TemporaryDirectory() as folder:
            ...     nn.History([0.7, 0.3], [{"accuracy": 0.9}]).plot(f"{folder}/run.png").name
            'run.png'
        """
        check_kind("a path", path=path)
        if not self.losses:
            raise ArgumentError("there is nothing to plot: the history has no loss")
        draw, names, means = figures(), self._names(), self._mean_losses()
        draw.check_suffix(path)
        with draw.figure(3.4 * (1 + len(names)), 2.6) as fig:
            first, *rest = fig.subplots(1, 1 + len(names), squeeze=False)[0]
            first.plot(
                self.losses, ".-" if len(self.losses) < 30 else "-", color="#9db4d3", linewidth=0.8, label="each step"
            )
            if means:
                length = len(self.losses) // len(means)
                middles = [length * (i + 0.5) - 0.5 for i in range(len(means))]
                first.plot(middles, means, "o-", color="#1f4e8c", markersize=3, label="mean of an epoch")
                first.legend(fontsize=7)
            first.set_yscale("log" if min(self.losses) > 0 else "linear")
            first.set(title="loss", xlabel="step, from 0")
            for axes, name in zip(rest, names):
                axes.plot(range(1, len(self.metrics) + 1), self.metric(name), "o-", color="#1f4e8c", markersize=3)
                axes.set(title=draw.plain_label(name), xlabel="epoch, from 1")
            for axes in (first, *rest):
                axes.xaxis.get_major_locator().set_params(integer=True)
                axes.tick_params(labelsize=8, which="both")  # the logarithmic scale may label its minor ticks
            fig.tight_layout()
            saved: Path = draw.save(fig, path)
        return saved

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for epoch in self.metrics for name in epoch))

    def _mean_losses(self) -> list[float]:
        """Return the mean loss of each epoch, or [] if the steps do not divide evenly, as after a stop within an epoch."""
        epochs, steps = len(self.metrics), len(self.losses)
        if not epochs or not steps or steps % epochs:
            return []
        length = steps // epochs
        return [math.fsum(self.losses[i * length : (i + 1) * length]) / length for i in range(epochs)]

    def to_dict(self) -> dict[str, Any]:
        return {"losses": list(self.losses), "metrics": [dict(epoch) for epoch in self.metrics]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        check_kind("a dictionary", values=values)
        if missing := {"losses", "metrics"} - values.keys():
            raise ArgumentError(f"values must be what to_dict() returns, got one without {', '.join(sorted(missing))}")
        return cls([float(loss) for loss in values["losses"]], [dict(epoch) for epoch in values["metrics"]])

    def best_epoch(self, best: Best) -> int:
        """Return the index of the best epoch, as ``best`` defines it: ``("max", "accuracy")``, for example.

        If several epochs are equally good, it is the first of them. It is -1 if there are no epochs, or if the metric is NaN in
        all of them.

        Raises:
            ArgumentError: best is no such pair, or no epoch has this metric.
        """
        check_best(best)
        self.metric(best[1])
        return self._best_epoch(best)

    def _best_epoch(self, best: Best) -> int:
        """Return the index of the best epoch, or -1 also if no epoch has the metric, as in a run resumed with another."""
        sign = 1 if best[0] == "max" else -1
        values = [sign * epoch.get(best[1], math.nan) for epoch in self.metrics]
        numbers = [value for value in values if not math.isnan(value)]
        return values.index(max(numbers)) if numbers else -1


def check_best(best: Any) -> None:
    """Raise an ArgumentError unless ``best`` is a pair of "min" or "max" and a name."""
    if not isinstance(best, tuple) or len(best) != 2 or not all(isinstance(each, str) for each in best):
        raise ArgumentError(f'best must be ("min", name) or ("max", name), got {shown(best)}')
    if best[0] not in ("min", "max"):
        raise ArgumentError(f'best must be ("min", name) or ("max", name), got {best!r}')


def _s(values: list[Any]) -> str:
    return "s" * (len(values) != 1)
