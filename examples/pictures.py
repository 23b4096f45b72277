"""The pictures of `train_classifier.py`: the course of training, and where the model looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.errors import import_extra

_SMOOTHING = 50  # steps


def _pyplot() -> Any:
    matplotlib = import_extra("matplotlib", "examples", "drawing")
    matplotlib.use("Agg")  # no window, and no display needed
    return import_extra("matplotlib.pyplot", "examples", "drawing")


def draw_losses(losses: Sequence[float], accuracies: Sequence[float], path: Path) -> None:
    """The training loss of every step with its running mean, and the validation accuracy after every epoch."""
    plt = _pyplot()
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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_attention(maps: Sequence[tuple[str, str, Any]], path: Path) -> None:
    """Attention weights of a few texts, one row a text.

    Args:
        maps: a text, a caption, and weights (panels, length, length): row = the character that looks, column = where.
    """
    plt = _pyplot()
    columns = max(len(weights) for _, _, weights in maps)
    longest = max(len(text) for text, _, _ in maps)
    side = max(2.2, 0.17 * longest + 0.8)
    figure, axes = plt.subplots(
        len(maps), columns, figsize=(side * columns, (side + 0.35) * len(maps)), squeeze=False, layout="constrained"
    )
    with plt.rc_context({"font.family": _fonts()}):
        for row, (text, caption, weights) in zip(axes, maps):
            for number, (ax, panel) in enumerate(zip(row, weights)):
                image = ax.imshow(panel, cmap="Blues", vmin=0, vmax=1)
                ax.set_xticks(range(len(text)), list(text), fontsize=8, family=_fonts())
                ax.set_yticks(range(len(text)), list(text), fontsize=8, family=_fonts())
                ax.tick_params(length=0)
                ax.set_title(caption if number == 0 else f"head {number + 1}", fontsize=9, loc="left", family=_fonts())
        figure.colorbar(image, ax=axes, shrink=0.5, label="attention weight")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _fonts() -> list[str]:
    """Matplotlib's own font, then any installed one with Chinese and Japanese characters."""
    manager = import_extra("matplotlib.font_manager", "examples", "drawing")
    wanted = ("Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic")
    installed = {font.name for font in manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in wanted if name in installed)]


def drawable(text: str) -> bool:
    """Whether the installed fonts have every character of ``text``."""
    manager = import_extra("matplotlib.font_manager", "examples", "drawing")
    ft2font = import_extra("matplotlib.ft2font", "examples", "drawing")
    paths = [manager.findfont(name) for name in _fonts()]
    known = [set(ft2font.FT2Font(path).get_charmap()) for path in paths]
    return all(any(ord(character) in characters for characters in known) for character in text)
