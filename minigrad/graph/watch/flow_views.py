"""Shows the norms of ``grad_flow`` as a table or a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..draw.figures import figure, plain_label, save, text_width
from ..draw.looks import RAMP
from ..record.numerals import aligned
from .flow_flags import Flag
from .flow_norms import Norms, NotedSteps

DECADES = 12  # the largest range of the colours, in powers of ten; smaller norms have the last colour
BAD, NONE, ZERO = "#c62828", "#d8d8d8", "#ffffff"


def write_table(flow: NotedSteps, flags: Sequence[Flag]) -> str:
    """Return the last noted step, the range of the gradient over training, and the flags, as text."""
    if not flow.steps:
        return "no step was noted"
    gradients, parameters, updates = flow.norms("gradient"), flow.norms("parameter"), flow.norms("update")
    ratios = flow.ratios()
    rows = [["layer", "|gradient|", "least", "most", "|parameter|", "|update|", "update/parameter"]]
    for layer in flow.layers:
        g = gradients[layer]
        known = g[~np.isnan(g)]
        least, most = (known.min(), known.max()) if known.size else (np.nan, np.nan)
        last = [g[-1], least, most, parameters[layer][-1], updates[layer][-1], ratios[layer][-1]]
        rows.append([layer, *map(norm_text, last)])
    title = f"step {flow.steps[-1]}, and the gradient's range over {len(flow.steps)} noted steps"
    return "\n".join([title, *aligned(rows), *map(str, flags)])


def norm_text(value: float) -> str:
    """Return a norm as text; "-" if there is none."""
    return "-" if np.isnan(value) else "nan/inf" if np.isinf(value) else "0" if value == 0 else f"{value:.2e}"


# The picture


def draw(flow: NotedSteps, path: str | os.PathLike[str]) -> Path:
    flow.check_noted()
    labels = [plain_label(layer, 25) for layer in flow.layers]
    # The norms of the parameters hardly change, so the last map shows the update relative to them.
    tables = {"|gradient|": flow.norms(), "|update|": flow.norms("update"), "|update| / |parameter|": flow.ratios()}
    width = max(text_width(label, 8) for label in labels) + 3.9 * len(tables)
    with figure(width, max(1.2, 0.17 * len(labels)) + 1.25) as fig:
        from matplotlib.patches import Patch

        fig.set_layout_engine("constrained")
        for ax, (what, norms) in zip(fig.subplots(1, len(tables), sharey=True), tables.items()):
            image = _heat_map(ax, np.stack(list(norms.values())), flow.steps)
            fig.colorbar(image, ax=ax).ax.tick_params(labelsize=7)
            ax.set_title(f"log10 {what}", fontsize=10)
            ax.set_yticks(range(len(labels)), labels, fontsize=8)
            ax.tick_params(axis="y", length=0)
            ax.tick_params(axis="x", labelsize=8)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.set_xlabel("step", fontsize=8)
        keys = {"0": ZERO, "no gradient": NONE, "NaN or infinity": BAD}
        boxes = [Patch(facecolor=color, edgecolor="#6a6a6a", label=text) for text, color in keys.items()]
        fig.legend(handles=boxes, loc="outside lower left", ncols=len(boxes), fontsize=8, frameon=False)
        return save(fig, path)


def _heat_map(ax: Any, norms: Norms, steps: list[int]) -> Any:
    """Draw norms (layer, step) as colours, on a scale of powers of ten."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("flow", RAMP).with_extremes(bad=NONE, under=ZERO, over=BAD)
    low, high = limits(norms)
    with np.errstate(all="ignore"):
        shown = np.where(norms > 0, np.maximum(np.log10(norms), low), np.where(norms == 0, low - 1, np.nan))
    shown[np.isinf(norms)] = high + 1
    half = (steps[-1] - steps[0]) / max(1, len(steps) - 1) / 2 or 0.5
    extent = (steps[0] - half, steps[-1] + half, len(norms) - 0.5, -0.5)
    return ax.imshow(shown, cmap=colors, vmin=low, vmax=high, aspect="auto", interpolation="nearest", extent=extent)


def limits(norms: Norms) -> tuple[float, float]:
    """Return log10 of the smallest and the largest positive norm. They are made to differ, but by at most DECADES."""
    positive = norms[np.isfinite(norms) & (norms > 0)]
    if not positive.size:
        return -1.0, 0.0
    low, high = float(np.log10(positive.min())), float(np.log10(positive.max()))
    return (low - 0.5, high + 0.5) if high - low < 0.1 else (max(low, high - DECADES), high)
