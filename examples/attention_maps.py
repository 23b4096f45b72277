"""Pictures of who looks where, with the tokens as labels: for the examples that translate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import pyplot, save_figure


@dataclass(frozen=True)
class Map:
    """Attention weights (query, key) with what stands at each place.

    Attributes:
        rows: the labels of the queries: who looks.
        columns: the labels of the keys: where.
        weights: (query, key), from 0 to 1.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    weights: Any


def draw_maps(
    maps: Sequence[Map],
    path: Path,
    *,
    across: int,
    cell: float = 0.2,
    looks_from: str,
    looks_at: str,
    caption: str = "",
) -> None:
    """The maps beside each other, `across` of them in a row.

    Args:
        cell: the side of one weight, in inches.
        looks_from, looks_at: what the rows and the columns are.
    """
    plt = pyplot()
    down = -(-len(maps) // across)
    width = cell * max(len(each.columns) for each in maps) + 1
    height = cell * max(len(each.rows) for each in maps) + 1
    figure, axes = plt.subplots(
        down, across, figsize=(width * across + 0.8, height * down + 0.4), squeeze=False, layout="constrained"
    )
    image = None
    for place, ax in enumerate(axes.flat):
        if place >= len(maps):
            ax.axis("off")
            continue
        each = maps[place]
        image = ax.imshow(each.weights, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        ax.set_title(each.title, fontsize=9)
        ax.set_xticks(range(len(each.columns)), each.columns, fontsize=8)
        ax.set_yticks(range(len(each.rows)), each.rows, fontsize=8)
        ax.tick_params(length=0)
        ax.set(xlabel=looks_at, ylabel=looks_from if place % across == 0 else "")
    if image is not None:
        figure.colorbar(image, ax=axes, label="attention weight", shrink=0.6)
    if caption:
        figure.suptitle(caption, fontsize=11)
    save_figure(figure, path)
