"""Measures the norms that ``grad_flow`` notes at each step: those of gradients, parameters and updates."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...device import to_host
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from ...guards.gradients import by_layer, norm_there, together
from ..record.capture import names_in

What = Literal["gradient", "parameter", "update"]
WHATS: tuple[What, ...] = ("gradient", "parameter", "update")
Norms = NDArray[np.float64]


class NotedSteps:
    """The noted steps of a training run, without views. ``grad_flow`` describes the arguments and attributes."""

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

    def named(self) -> dict[str, Tensor]:
        """Return the parameters by name."""
        return dict(zip(self.names, self._parameters))

    def requires_gradient(self, place: int) -> bool:
        """Return whether the parameter at this index of ``names`` requires a gradient. A frozen one is never flagged."""
        return self._parameters[place].requires_grad

    def trained(self, layer: str) -> bool:
        """Return whether any parameter of the layer requires a gradient."""
        return any(map(self.requires_gradient, self.layers[layer]))

    def check_noted(self) -> None:
        """Raise a GraphError if no step was noted."""
        if not self.steps:
            raise GraphError(
                "no step was noted: call flow.step() after optimizer.step(), or pass on_step=flow.step to nn.fit"
            )


def _named(model: Any) -> dict[str, Tensor]:
    named = names_in(model, "grad_flow", "model")
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise ArgumentError(f"grad_flow: {name!r} must be a Tensor, got {type(value).__name__}")
    if not named:
        raise ArgumentError(f"grad_flow: this {type(model).__name__} has no parameters")
    return {str(name): value for name, value in named.items()}
