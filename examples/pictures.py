"""A picture of the course of training: the loss of every step, and the accuracy after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from common import pyplot, save_figure

_SMOOTHING = 50  # steps


def draw_losses(losses: Sequence[float], accuracies: Sequence[float], path: Path) -> None:
    """The training loss of every step with its running mean, and the validation accuracy after every epoch."""
    plt = pyplot()
    figure, left = plt.subplots(figsize=(8, 4.5), layout="constrained")
    steps = np.arange(1, len(losses) + 1)
    left.plot(steps, losses, color="#9ecae1", linewidth=0.6, label="loss of a batch")
    width = min(_SMOOTHING, len(losses))
    mean = np.convolve(losses, np.full(width, 1 / width), mode="valid")
    left.plot(steps[width - 1 :], mean, color="#08519c", label=f"mean of {width} batches")
    left.set(xlabel="training step", ylabel="cross-entropy (nats)", ylim=(0, None))
    right = left.twinx()
    ends = np.linspace(0, len(losses), len(accuracies) + 1)[1:]
    right.plot(ends, accuracies, "o-", color="#d94801", label="validation accuracy")
    right.set(ylabel="validation accuracy", ylim=(0, 1))
    right.annotate(
        f"{accuracies[-1]:.3f}", (ends[-1], accuracies[-1]), xytext=(-8, -16), textcoords="offset points", ha="right",
        color="#d94801",
    )  # fmt: skip
    lines = [*left.get_lines(), *right.get_lines()]
    left.legend(lines, [line.get_label() for line in lines], loc="center right", frameon=False)
    save_figure(figure, path)
