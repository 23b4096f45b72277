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
EXPLODING = 1e3  # it explodes if its norm is above this in any step, ...
GROWTH = 10.0  # ... or grows by more than this factor from one noted step to the next, twice in a row
RATIO = 1e-5, 1e-1  # the limits of the norm of the update divided by the norm of the parameters
PATIENCE = 10  # the noted steps in a row before a vanishing or zero gradient or a wrong ratio is flagged

SENTENCES = {  # the end of a sentence that begins with the name of a layer
    "bad_numbers": "has a NaN or an infinity in its gradient, parameters or update from step {first} on",
    "never": "never got a gradient: the loss does not depend on it",
    "dead": "has had a gradient of exactly 0 for {count} noted steps ({first} to {last}) and did not move",
    "dead_moving": "has had a gradient of exactly 0 for {count} noted steps ({first} to {last}); only momentum or weight decay "
    "moved it",
    "vanishing": "has had a gradient whose norm is below {limit} (about {value}) for {count} noted steps ({first} to {last})",
    "vanishing_share": "has had a gradient below {limit} of the largest layer's gradient (about {value} of it) for {count} "
    "noted steps ({first} to {last})",
    "exploding": "has had a gradient whose norm is above {limit}: {value} at step {step}",
    "growing": "had a gradient that grew by a factor of more than {limit} from each noted step to the next: from {low} at step "
    "{first} to {high} at step {last}",
    "unchanged": "gets a gradient but was not changed for {count} noted steps ({first} to {last}). Is it among the optimizer's "
    "parameters? Is the learning rate 0?",
    "ratio_small": "has had updates below {limit} of its norm (about {value} of it) for {count} noted steps "
    "({first} to {last})",
    "ratio_large": "has had updates above {limit} of its norm (about {value} of it) for {count} noted steps "
    "({first} to {last})",
}

DECADES = 12  # the largest range of the colours, in powers of ten; smaller norms have the last colour
BAD, NONE, ZERO = "#c62828", "#d8d8d8", "#ffffff"


class grad_flow:
    """Watch gradients during training: call ``step()`` after each ``optimizer.step()``, before the gradients are cleared.

    A step notes three Euclidean norms for every parameter p: that of its gradient as the optimizer saw it (after clipping),
    that of p, and that of its update ``p_after - p_before``. A *layer* is a module that holds parameters directly:
    "layers.0.query" holds "layers.0.query.weight" and ".bias". Its norm is the norm of all its parameters together,
    ``sqrt(sum of squares)``. A parameter outside of modules is a layer by itself.

    One copy of the parameters is kept, and at most ``most`` noted steps. When there are more, every second one is dropped,
    and from then on half as many are noted. On a device a step makes one transfer.

    Args:
        model: an object with ``named_parameters()``, or a dict from name to Tensor. Parameters added later are ignored.
        every: 1 notes each step, 2 notes every second step, and so on. The update is always that of a single step.
        most: the largest number of noted steps to keep, at least 2.

    Attributes:
        names: the names of the parameters.
        layers: a dict from the name of a layer to the indices of its parameters in ``names``.
        steps: the numbers of the noted steps, counted from 0.

    Raises:
        ArgumentError: ``model`` has a wrong type or no parameters; ``every`` or ``most`` is too small.

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

    def __init__(self, model: Any, *, every: int = 1, most: int = 500) -> None:
        if every < 1 or most < 2:
            raise ArgumentError(f"grad_flow needs every >= 1 and most >= 2, got every={every!r} and most={most!r}")
        named = _named(model)
        self.names = list(named)
        self.layers = by_layer(self.names)
        self.steps: list[int] = []
        self.bad: dict[str, int] = {}  # parameter -> the first noted step with a NaN or an infinity in one of its norms
        self._parameters = list(named.values())
        self._every, self._most = every, most
        self._count = 0  # calls of step()
        self._rows: list[Norms] = []  # (what, parameter) for each noted step
        self._before: list[Any] | None = None
        self._copy_if_next_is_noted()

    def step(self) -> None:
        """Note the step that the optimizer has just made."""
        if self._before is not None:
            row = self._measure(self._before)
            for i in np.flatnonzero(np.isinf(row).any(axis=0)):
                self.bad.setdefault(self.names[i], self._count)
            self.steps.append(self._count)
            self._rows.append(row)
            if len(self.steps) > self._most:
                self.steps, self._rows = self.steps[::2], self._rows[::2]
                self._every *= 2
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

    def norms(self, what: What = "gradient", by: Literal["layer", "parameter"] = "layer") -> dict[str, Norms]:
        """Return a dict from the name of each layer (or parameter) to its norms, one for each of ``steps``.

        NaN means that there was no gradient. Infinity means that it held a NaN or an infinity.

        Raises:
            ArgumentError: ``what`` or ``by`` has another value.
        """
        if what not in WHATS or by not in ("layer", "parameter"):
            raise ArgumentError(
                f"norms takes what='gradient', 'parameter' or 'update' and by='layer' or 'parameter', got {what!r} and {by!r}"
            )
        table = np.array([row[WHATS.index(what)] for row in self._rows]).reshape(-1, len(self.names))
        if by == "parameter":
            return {name: table[:, i] for i, name in enumerate(self.names)}
        return {layer: together(table[:, places]) for layer, places in self.layers.items()}

    def ratios(self) -> dict[str, Norms]:
        """Return a dict from each layer to ``|update| / |parameter|`` at each of ``steps``; NaN where both are 0.

        Infinity means that one of them held a NaN or an infinity, or that the parameter is 0.
        """
        updates, parameters = self.norms("update"), self.norms("parameter")
        with np.errstate(all="ignore"):
            bad = {layer: np.isinf(updates[layer] + parameters[layer]) for layer in self.layers}
            return {layer: np.where(bad[layer], np.inf, updates[layer] / parameters[layer]) for layer in self.layers}

    def requires_gradient(self, place: int) -> bool:
        """Return whether the parameter at this index of ``names`` requires a gradient. A frozen one is never flagged."""
        return self._parameters[place].requires_grad

    def trained(self, layer: str) -> bool:
        """Return whether any parameter of the layer requires a gradient."""
        return any(map(self.requires_gradient, self.layers[layer]))

    def __repr__(self) -> str:
        return f"grad_flow({len(self.names)} parameters in {len(self.layers)} layers, {len(self.steps)} steps noted)"

    def _repr_html_(self) -> str | None:
        return f"<pre>{html.escape(self.table())}</pre>" if self.steps else None

    def flags(self) -> list[Flag]:
        """Return what is wrong with the training. ``print(*flow.flags(), sep="\\n")`` shows a sentence for each flag."""
        return find_flags(self)

    def table(self) -> str:
        """Return a text with a line for each layer: its norms at the last noted step. The flags follow."""
        return _written(self)

    __str__ = table

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw heat maps (layer x step) of log10 of gradients, updates, and updates / parameters: a .svg, .png or .pdf.

        Raises:
            GraphError: no step was noted.
            ArgumentError: the suffix is not one of these.
            MissingExtraError: matplotlib is not installed.
        """
        return _draw(self, path)


def _named(model: Any) -> dict[str, Tensor]:
    named = names_in(model, "grad_flow", "model")
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise ArgumentError(f"grad_flow: {name!r} must be a Tensor, got {type(value).__name__}")
    if not named:
        raise ArgumentError(f"grad_flow: this {type(model).__name__} has no parameters")
    return {str(name): value for name, value in named.items()}


# --- what is wrong ---


@dataclass(frozen=True)
class Flag:
    """A problem of a training run. ``str(flag)`` describes it in a sentence.

    Attributes:
        kind: "vanishing", "exploding", "dead", "unchanged" or "ratio".
        name: the name of the layer, or of a parameter if only this one is "dead" or "unchanged".
        first, last: the first and the last noted step of the problem.
        words: the key of its sentence in ``SENTENCES``.
        values: the numbers in the sentence.
    """

    kind: str
    name: str
    first: int
    last: int
    words: str
    values: dict[str, str]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name} {SENTENCES[self.words].format(**self.values)}"


@np.errstate(all="ignore")  # infinite norms
def find_flags(flow: grad_flow) -> list[Flag]:
    """Return what is wrong with the layers whose parameters require a gradient, in the order of the layers.

    A layer is "dead" if it never got a gradient, or if its gradient is exactly 0. It is "unchanged" if a gradient arrives and
    its parameters still do not change. If a problem occurs several times, only its longest run of steps is flagged.
    """
    gradients, updates, parameters = flow.norms("gradient"), flow.norms("update"), flow.norms("parameter")
    layers = [layer for layer in flow.layers if flow.trained(layer)]
    if not layers or not flow.steps:
        return []
    largest = np.max([np.where(np.isfinite(gradients[layer]), gradients[layer], 0) for layer in layers], axis=0)
    each = flow.norms("gradient", "parameter"), flow.norms("update", "parameter")
    found = []
    for layer in layers:
        look = _Look(flow.steps, layer)
        places = flow.layers[layer]
        look.for_bad_numbers([flow.bad[flow.names[i]] for i in places if flow.names[i] in flow.bad])
        if not look.for_dead(layer, gradients[layer], updates[layer]):
            for name in (flow.names[i] for i in places if flow.requires_gradient(i)):
                look.for_dead(name, each[0][name], each[1][name])
        look.for_gradients(gradients[layer], largest)
        look.for_updates(gradients[layer], updates[layer], parameters[layer])
        found += look.found
    return found


class _Look:
    """The search at one layer. A norm of NaN means "no gradient", and every comparison with it is False."""

    def __init__(self, steps: list[int], layer: str) -> None:
        self.steps, self.layer = steps, layer
        self.found: list[Flag] = []

    def for_bad_numbers(self, first: list[int]) -> None:
        if first:
            step = min(first)
            flag = Flag("exploding", self.layer, step, self.steps[-1], "bad_numbers", {"first": str(step)})
            self.found.append(flag)

    def for_dead(self, name: str, g: Norms, u: Norms) -> bool:
        if np.isnan(g).all():
            self.found.append(Flag("dead", name, self.steps[0], self.steps[-1], "never", {}))
            return True
        start, stop = _longest(~(g > 0))
        still = not u[start:stop].any()
        return self.run("dead", "dead" if still else "dead_moving", ~(g > 0), name=name)

    def for_gradients(self, g: Norms, largest: Norms) -> None:
        self.run("vanishing", "vanishing", (g > 0) & (g < VANISHING), g, limit=VANISHING)
        share = g / np.where(largest > 0, largest, np.inf)
        small = (g >= VANISHING) & (share < SHARE)
        self.run("vanishing", "vanishing_share", small, share, limit=SHARE)
        above = np.isfinite(g) & (g > EXPLODING)
        if above.any():
            most = int(np.argmax(np.where(above, g, 0)))
            values = {"limit": f"{EXPLODING:g}", "value": _number(g[most]), "step": str(self.steps[most])}
            places = np.flatnonzero(above)
            first, last = self.steps[places[0]], self.steps[places[-1]]
            self.found.append(Flag("exploding", self.layer, first, last, "exploding", values))
        grows = np.isfinite(g[1:]) & (g[:-1] > 0) & (g[1:] > GROWTH * g[:-1])
        start, stop = _longest(grows)
        if stop - start >= 2:
            values = {"limit": f"{GROWTH:g}", "low": _number(g[start]), "high": _number(g[stop])}
            self.add("exploding", "growing", start, stop + 1, self.layer, values)

    def for_updates(self, g: Norms, u: Norms, p: Norms) -> None:
        self.run("unchanged", "unchanged", (u == 0) & (g > 0))
        ratio = np.divide(u, p, out=np.full_like(u, np.nan), where=(u > 0) & (p > 0) & np.isfinite(u) & np.isfinite(p))
        low, high = RATIO
        self.run("ratio", "ratio_small", ratio < low, ratio, limit=low)
        self.run("ratio", "ratio_large", ratio > high, ratio, limit=high)

    def run(
        self,
        kind: str,
        words: str,
        mask: Mask,
        shown: Norms | None = None,
        *,
        limit: float = 0,
        name: str | None = None,
    ) -> bool:
        """Flag the longest run of ``mask`` if it is long enough. The sentence shows the median of ``shown`` as ``value``."""
        start, stop = _longest(mask)
        if stop - start < PATIENCE:
            return False
        values = {"limit": f"{limit:g}"}
        if shown is not None:
            values["value"] = _number(float(np.median(shown[start:stop])))
        self.add(kind, words, start, stop, name or self.layer, values)
        return True

    def add(self, kind: str, words: str, start: int, stop: int, name: str, values: dict[str, str]) -> None:
        first, last = self.steps[start], self.steps[stop - 1]
        values = {**values, "count": str(stop - start), "first": str(first), "last": str(last)}
        self.found.append(Flag(kind, name, first, last, words, values))


def _longest(mask: Mask) -> tuple[int, int]:
    """Return start and stop of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist()))
    return max(runs, key=lambda run: run[1] - run[0], default=(0, 0))


def _number(value: float) -> str:
    return f"{value:.3g}"


# --- the table and the picture ---


def _written(flow: grad_flow) -> str:
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
        rows.append([layer, *map(_norm_text, last)])
    title = f"step {flow.steps[-1]}, and the gradient's range over {len(flow.steps)} noted steps"
    return "\n".join([title, *aligned(rows), *map(str, flow.flags())])


def _norm_text(value: float) -> str:
    """Return a norm as text; "-" if there is none."""
    return "-" if np.isnan(value) else "nan/inf" if np.isinf(value) else "0" if value == 0 else f"{value:.2e}"


def _draw(flow: grad_flow, path: str | os.PathLike[str]) -> Path:
    if not flow.steps:
        raise GraphError(
            "no step was noted: call flow.step() after optimizer.step(), or pass on_step=flow.step to nn.fit"
        )
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
