"""Flags the problems of a training run: vanishing, exploding and dead layers, and updates out of proportion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .flow_norms import Norms, NotedSteps

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
def find_flags(flow: NotedSteps) -> list[Flag]:
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
