"""``grad_flow`` notes the norms of gradients, parameters and updates during training, for each layer.

A flag says what is wrong with a layer: its gradient vanishes, explodes or is 0, or its updates are out of proportion. All norms
are shown as a table, or drawn as heat maps.
"""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...device import to_host
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from ...guards.gradients import by_layer, norm_there, together
from ..draw.figures import figure, plain_label, save, text_width
from ..draw.looks import RAMP
from ..record.capture import names_in
from ..record.numerals import aligned

What = Literal["gradient", "parameter", "update"]
WHATS: tuple[What, ...] = ("gradient", "parameter", "update")
Norms = NDArray[np.float64]
Mask = NDArray[np.bool_]

VANISHING = 1e-7  # a layer's gradient vanishes if its norm is below this ...
SHARE = 1e-4  # ... or below this share of the largest norm of any layer in the same step
EXPLODING = 1e3  # it explodes if its norm is above this
RATIO = 1e-5, 1e-1  # the limits of the norm of the update divided by the norm of the parameters
PATIENCE = 10  # the noted steps in a row before a flag, except that a single step is enough for an explosion

DECADES = 12  # the largest range of the colours, in powers of ten; smaller norms have the last colour
BAD, NONE, ZERO = "#c62828", "#d8d8d8", "#ffffff"

# What is wrong with a layer, in words that follow its name. A number may follow them.
BAD_NUMBERS = "has a NaN or an infinity in its gradient, parameters or update"
NEVER = "never got a gradient, because the loss does not depend on it"
NO_GRADIENT = "has a gradient of exactly 0"
SMALL_GRADIENT = f"has a gradient below {VANISHING:g}, or below {SHARE:g} of that of the largest layer"
LARGE_GRADIENT = f"has a gradient above {EXPLODING:g}"
UNCHANGED = "gets a gradient but does not change (is it among the optimizer's parameters? is the learning rate 0?)"
SMALL_UPDATE = f"has updates below {RATIO[0]:g} of its norm"
LARGE_UPDATE = f"has updates above {RATIO[1]:g} of its norm"


@dataclass(frozen=True)
class Flag:
    """A problem of a training run. ``str(flag)`` describes it in a sentence.

    Attributes:
        kind: "vanishing", "exploding", "dead", "unchanged" or "ratio".
        name: the name of the layer, or of a parameter if only this one is "dead".
        first, last: the first and the last noted step of the problem.
        words: what is wrong, in words that follow the name.
    """

    kind: str
    name: str
    first: int
    last: int
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name} {self.words}, at steps {self.first} to {self.last}"


class grad_flow:
    """Watch gradients during training: call ``step()`` after each ``optimizer.step()``, before the gradients are cleared.

    A step notes three Euclidean norms for every parameter p: that of its gradient as the optimizer saw it (after clipping),
    that of p, and that of its update ``p_after - p_before``. A *layer* is a module that holds parameters directly:
    "layers.0.query" holds "layers.0.query.weight" and ".bias". Its norm is the norm of all its parameters together,
    ``sqrt(sum of squares)``. A parameter outside of modules is a layer by itself.

    One copy of the parameters is kept, and three numbers for each parameter and noted step. On a device a step makes one
    transfer.

    Args:
        model: an object with ``named_parameters()``, or a dict from name to Tensor. Parameters added later are ignored.
        every: 1 notes each step, 2 notes every second step, and so on. The update is always that of a single step.

    Attributes:
        names: the names of the parameters.
        layers: a dict from the name of a layer to the indices of its parameters in ``names``.
        steps: the numbers of the noted steps, counted from 0.

    Raises:
        ArgumentError: ``model`` has a wrong type or no parameters; ``every`` is too small.

    Example:
        >>> import minigrad as mg
        >>> import nn
        >>> w = mg.Tensor([3.0, 4.0], requires_grad=True)
        >>> optimizer, flow = nn.SGD([w], lr=0.1), mg.grad_flow({"w": w})
        >>> for _ in range(2):  # or nn.fit(..., on_step=flow.step)
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        ...     flow.step()
        >>> print(flow.table())  # flow.plot("flow.png") draws all steps
        step 1, and the gradient's range over 2 noted steps
        layer  |gradient|     least      most  |parameter|  |update|  update/parameter
        w        8.00e+00  8.00e+00  1.00e+01     3.20e+00  8.00e-01          2.50e-01
    """

    def __init__(self, model: Any, *, every: int = 1) -> None:
        if every < 1:
            raise ArgumentError(f"grad_flow needs every >= 1, got {every!r}")
        named = _named(model)
        self.names = list(named)
        self.layers = by_layer(self.names)
        self.steps: list[int] = []
        self._parameters = list(named.values())
        self._every = every
        self._count = 0  # calls of step()
        self._rows: list[Norms] = []  # (what, parameter) for each noted step
        self._before: list[Any] | None = None
        self._copy_if_next_is_noted()

    def step(self) -> None:
        """Note the step that the optimizer has just made."""
        if self._before is not None:
            self.steps.append(self._count)
            self._rows.append(self._measure(self._before))
        self._count += 1
        self._copy_if_next_is_noted()

    def _copy_if_next_is_noted(self) -> None:
        wanted = self._count % self._every == 0
        self._before = [np.array(p.data, like=p.data) for p in self._parameters] if wanted else None

    @np.errstate(all="ignore")  # flags() reports infinities and NaNs
    def _measure(self, before: list[Any]) -> Norms:
        """Return the norms (what, parameter). They are computed in one array on the device, so one transfer is enough."""
        rows: list[list[Any]] = [[], [], []]
        missing = np.zeros((3, len(before)), bool)
        for i, (parameter, old) in enumerate(zip(self._parameters, before)):
            new, g = parameter.data, parameter.grad
            missing[0, i] = g is None
            for row, array in zip(rows, (new if g is None else g.data, new, new - old)):
                row.append(norm_there(array))
        found = np.array(to_host(np.stack([np.stack(row) for row in rows])))
        found[np.isnan(found)] = np.inf
        found[missing] = np.nan
        return found

    def norms(self, what: What = "gradient") -> dict[str, Norms]:
        """Return a dict from the name of each layer to its norms, one for each of ``steps``.

        NaN means that there was no gradient. Infinity means that it held a NaN or an infinity.

        Raises:
            ArgumentError: ``what`` has another value.
        """
        if what not in WHATS:
            raise ArgumentError(f"norms takes what='gradient', 'parameter' or 'update', got {what!r}")
        table = self._of_parameters(what)
        return {layer: together(table[:, places]) for layer, places in self.layers.items()}

    def _of_parameters(self, what: What) -> Norms:
        """Return the norms of the single parameters, (step, parameter)."""
        return np.array([row[WHATS.index(what)] for row in self._rows]).reshape(-1, len(self.names))

    def ratios(self) -> dict[str, Norms]:
        """Return a dict from each layer to ``|update| / |parameter|`` at each of ``steps``; NaN where both are 0.

        Infinity means that one of them held a NaN or an infinity, or that the parameter is 0.
        """
        updates, parameters = self.norms("update"), self.norms("parameter")
        with np.errstate(all="ignore"):
            bad = {layer: np.isinf(updates[layer] + parameters[layer]) for layer in self.layers}
            return {layer: np.where(bad[layer], np.inf, updates[layer] / parameters[layer]) for layer in self.layers}

    def __repr__(self) -> str:
        return f"grad_flow({len(self.names)} parameters in {len(self.layers)} layers, {len(self.steps)} steps noted)"

    def _repr_html_(self) -> str | None:
        return f"<pre>{html.escape(self.table())}</pre>" if self.steps else None

    @np.errstate(all="ignore")  # infinite norms
    def flags(self) -> list[Flag]:
        """Return what is wrong with the training. ``print(*flow.flags(), sep="\\n")`` shows a sentence for each flag.

        The flags are in the order of the layers. A layer is "dead" if it never got a gradient, or if its gradient is exactly
        0. It is "unchanged" if a gradient arrives and its parameters still do not change. If a problem occurs several times,
        only its longest run of steps is flagged. Parameters that require no gradient are not flagged.
        """
        trained = {
            layer: wanted
            for layer, places in self.layers.items()
            if (wanted := [i for i in places if self._parameters[i].requires_grad])
        }
        if not trained or not self.steps:
            return []
        gradients, alone = self.norms("gradient"), self._of_parameters("gradient")
        parameters, updates, ratios = self.norms("parameter"), self.norms("update"), self.ratios()
        largest = np.max([np.where(np.isfinite(gradients[layer]), gradients[layer], 0) for layer in trained], axis=0)
        found: list[Flag | None] = []
        for layer, places in trained.items():
            g, p, u, ratio = gradients[layer], parameters[layer], updates[layer], ratios[layer]
            found.append(self._flag("exploding", layer, np.isinf(g) | np.isinf(p) | np.isinf(u), BAD_NUMBERS, least=1))
            dead = self._dead(layer, g)
            found += [dead] if dead else [self._dead(self.names[i], alone[:, i]) for i in places]
            small = (g > 0) & (g < np.maximum(VANISHING, SHARE * largest))
            found.append(self._flag("vanishing", layer, small, SMALL_GRADIENT, g))
            found.append(self._flag("exploding", layer, np.isfinite(g) & (g > EXPLODING), LARGE_GRADIENT, g, least=1))
            found.append(self._flag("unchanged", layer, (u == 0) & (g > 0), UNCHANGED))
            found.append(self._flag("ratio", layer, (ratio > 0) & (ratio < RATIO[0]), SMALL_UPDATE, ratio))
            found.append(self._flag("ratio", layer, np.isfinite(ratio) & (ratio > RATIO[1]), LARGE_UPDATE, ratio))
        return [flag for flag in found if flag is not None]

    def _dead(self, name: str, g: Norms) -> Flag | None:
        never = bool(np.isnan(g).all())
        return self._flag("dead", name, ~(g > 0), NEVER if never else NO_GRADIENT, least=1 if never else PATIENCE)

    def _flag(
        self, kind: str, name: str, mask: Mask, words: str, shown: Norms | None = None, *, least: int = PATIENCE
    ) -> Flag | None:
        """Flag the longest run of ``mask`` if it has at least ``least`` steps, with the median of ``shown``."""
        start, stop = _longest(mask)
        if stop - start < least:
            return None
        about = "" if shown is None else f": about {np.median(shown[start:stop]):.3g}"
        return Flag(kind, name, self.steps[start], self.steps[stop - 1], words + about)

    def table(self) -> str:
        """Return a text with a line for each layer: its norms at the last noted step. The flags follow."""
        if not self.steps:
            return "no step was noted"
        gradients, parameters, updates = map(self.norms, WHATS)
        ratios = self.ratios()
        rows = [["layer", "|gradient|", "least", "most", "|parameter|", "|update|", "update/parameter"]]
        for layer, g in gradients.items():
            known = g[~np.isnan(g)]
            least, most = (known.min(), known.max()) if known.size else (np.nan, np.nan)
            last = [g[-1], least, most, parameters[layer][-1], updates[layer][-1], ratios[layer][-1]]
            rows.append([layer, *map(_norm_text, last)])
        title = f"step {self.steps[-1]}, and the gradient's range over {len(self.steps)} noted steps"
        return "\n".join([title, *aligned(rows), *map(str, self.flags())])

    __str__ = table

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw heat maps (layer x step) of gradients, updates, and updates / parameters: a .svg, .png or .pdf.

        Raises:
            GraphError: no step was noted.
            ArgumentError: the suffix is not one of these.
            MissingExtraError: matplotlib is not installed.
        """
        if not self.steps:
            raise GraphError(
                "no step was noted: call flow.step() after optimizer.step(), or pass on_step=flow.step to nn.fit"
            )
        labels = [plain_label(layer, 25) for layer in self.layers]
        # The norms of the parameters hardly change, so the last map shows the update relative to them.
        tables = {
            "|gradient|": self.norms(),
            "|update|": self.norms("update"),
            "|update| / |parameter|": self.ratios(),
        }
        width = max(text_width(label, 8) for label in labels) + 3.9 * len(tables)
        with figure(width, max(1.2, 0.17 * len(labels)) + 1.25) as fig:
            from matplotlib.patches import Patch

            fig.set_layout_engine("constrained")
            for ax, (what, norms) in zip(fig.subplots(1, len(tables), sharey=True), tables.items()):
                image = _heat_map(ax, np.stack(list(norms.values())), self.steps)
                fig.colorbar(image, ax=ax).ax.tick_params(labelsize=7)
                ax.set_title(what, fontsize=10)
                ax.set_yticks(range(len(labels)), labels, fontsize=8)
                ax.tick_params(axis="x", labelsize=8)
                ax.xaxis.get_major_locator().set_params(integer=True)
                ax.set_xlabel("step", fontsize=8)
            keys = {"0": ZERO, "no gradient": NONE, "NaN or infinity": BAD}
            boxes = [Patch(facecolor=color, edgecolor="#6a6a6a", label=text) for text, color in keys.items()]
            fig.legend(handles=boxes, loc="outside lower left", ncols=len(boxes), fontsize=8, frameon=False)
            return save(fig, path)


def _named(model: Any) -> dict[str, Tensor]:
    named = names_in(model, "grad_flow", "model")
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise ArgumentError(f"grad_flow: {name!r} must be a Tensor, got {type(value).__name__}")
    if not named:
        raise ArgumentError(f"grad_flow: this {type(model).__name__} has no parameters")
    return {str(name): value for name, value in named.items()}


def _longest(mask: Mask) -> tuple[int, int]:
    """Return start and stop of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist()))
    return max(runs, key=lambda run: run[1] - run[0], default=(0, 0))


def _norm_text(value: float) -> str:
    """Return a norm as text; "-" if there is none."""
    return "-" if np.isnan(value) else "nan/inf" if np.isinf(value) else "0" if value == 0 else f"{value:.2e}"


def _heat_map(ax: Any, norms: Norms, steps: list[int]) -> Any:
    """Draw norms (layer, step) as colours, on a logarithmic scale. A norm of 0 is below the scale, and an infinity above it."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    positive = norms[np.isfinite(norms) & (norms > 0)]
    high = positive.max() if positive.size else 1.0
    low = min(max(positive.min() if positive.size else 0.1, high / 10**DECADES), high / 2)  # never an empty range
    colors = LinearSegmentedColormap.from_list("flow", RAMP).with_extremes(bad=NONE, under=ZERO, over=BAD)
    shown = np.where(norms > 0, np.maximum(norms, low), np.where(norms == 0, low / 2, np.nan))
    shown[np.isinf(norms)] = 2 * high
    half = (steps[-1] - steps[0]) / max(1, len(steps) - 1) / 2 or 0.5
    extent = (steps[0] - half, steps[-1] + half, len(norms) - 0.5, -0.5)
    scale = LogNorm(low, high)
    return ax.imshow(shown, cmap=colors, norm=scale, aspect="auto", interpolation="nearest", extent=extent)
