"""The pictures of `train_classifier.py`: the course of training, and where the model looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def draw_attention(maps: Sequence[tuple[Sequence[str], str, Any]], path: Path) -> None:
    """Attention weights of a few texts, one row a text and one panel a head.

    Args:
        maps: the characters of a text, a caption, and weights (heads, length, length): row = who looks, column = where.
    """
    plt = pyplot()
    heads = max(len(weights) for _, _, weights in maps)
    side = max(2.2, 0.17 * max(len(characters) for characters, _, _ in maps) + 0.5)
    with plt.rc_context({"font.size": 8}):
        figure = plt.figure(figsize=(side * heads + 1, (side + 0.6) * len(maps)), layout="constrained")
        rows = np.atleast_1d(figure.subfigures(len(maps), 1))
        for row, (characters, caption, weights) in zip(rows, maps):
            row.suptitle(caption, x=0.02, ha="left", fontsize=11)
            axes = row.subplots(1, heads, squeeze=False)[0]
            labels = ["␣" if character == " " else character for character in characters]
            for head, (ax, panel) in enumerate(zip(axes, weights), start=1):
                image = ax.imshow(panel, cmap="Blues", vmin=0, vmax=weights.max())
                ax.set_title(f"head {head}", fontsize=9)
                ax.set_xticks(range(len(labels)), labels)
                ax.set_yticks(range(len(labels)), labels if head == 1 else [])
                ax.tick_params(length=0)
            axes[0].set(xlabel="looks at", ylabel="the token that starts at")
            row.colorbar(image, ax=axes, label="attention weight")
        save_figure(figure, path, dpi=110)
