"""The gradient river: how large the gradients of a training are, step by step, as a band."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..guards.gradients import sum_of_squares

if TYPE_CHECKING:
    from ..engine.tensor import Tensor

WIDTH, HEIGHT, LEFT, TOP = 960, 200, 90, 24  # of a drawing; of the margins for its numbers and its title
COLUMNS = 450  # a longer training is drawn in groups of steps
COLORS = ("#3b7dd8", "#c25a00", "#2b8a5a", "#8a3fa0")  # of the curves of different losses


class RiverStep(NamedTuple):
    """The root mean squares of the gradients of one step, over its parameters.

    Attributes:
        low: the 10th percentile; ``high``: the 90th; ``most``: the largest.
        key: the key of the parameter with the largest; ``number``: how many parameters got a gradient.
    """

    low: float
    high: float
    most: float
    key: Hashable
    number: int


NOTHING = RiverStep(0.0, 0.0, 0.0, None, 0)


class GradientRiver:
    """The size of the gradients, step by step: a band from the 10th to the 90th percentile of the parameters, and the largest.

    The size of a parameter's gradient is the root of the mean of its squares. A notebook draws the river on a log scale.

    Attributes:
        steps: what each step had.

    Example:
        >>> river = GradientRiver()
        >>> river.add([("W", 3.0**2 + 4.0**2, 2), ("b", 0.5**2, 1)])
        >>> river.steps[0].key, round(river.steps[0].most, 3)
        ('W', 3.536)
    """

    def __init__(self) -> None:
        self.steps: list[RiverStep] = []

    def add(self, squares: Sequence[tuple[Hashable, float, int]]) -> None:
        """Add a step: for each parameter its key, the sum of the squares of its gradient, and its number of elements."""
        means = [(square / size, key) for key, square, size in squares if size]
        if not means:
            self.steps.append(NOTHING)
            return
        worst, key = max(means, key=lambda mean: _rank(mean[0]))
        ordered, last = sorted([mean for mean, _ in means]), len(means) - 1
        low, high = ordered[round(0.1 * last)], ordered[round(0.9 * last)]
        self.steps.append(RiverStep(low**0.5, high**0.5, worst**0.5, key, len(means)))

    def add_gradients(self, parameters: Iterable[tuple[str, Tensor]]) -> None:
        """Add a step from the gradients that these parameters, each with its name, have now."""
        gradients: list[tuple[str, Any]] = [(name, t._grad) for name, t in parameters if t._grad is not None]
        arrays = [(name, getattr(g, "_array", g)) for name, g in gradients]  # after create_graph=True it is a Tensor
        self.add([(name, sum_of_squares(g), g.size) for name, g in arrays])

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        """Return the steps as an array for a file: a row each, with the place of its key in ``names``, or -1."""
        places: dict[Hashable, int] = {name: i for i, name in enumerate(names)}
        rows = [(step.low, step.high, step.most, places.get(step.key, -1), step.number) for step in self.steps]
        return np.array(rows, np.float64).reshape(-1, 5)

    @classmethod
    def from_numbers(cls, numbers: np.ndarray, names: Sequence[str]) -> GradientRiver:
        """Return the river that :meth:`numbers` wrote."""
        river = cls()
        for low, high, most, place, number in numbers.tolist():
            river.steps.append(RiverStep(low, high, most, names[int(place)] if place >= 0 else None, int(number)))
        return river

    def __repr__(self) -> str:
        if not self.steps:
            return "GradientRiver(0 steps)"
        spike = max(range(len(self.steps)), key=lambda i: _rank(self.steps[i].most))
        return f"GradientRiver({len(self.steps):,} steps; largest {self.steps[spike].most:.3g} in step {spike})"

    def svg(
        self,
        title: str = "Size of the gradients: 10 to 90 % of the parameters (blue), the largest (orange)",
        mark: int | None = None,
    ) -> str:
        """Return the drawing: a column for each step, or for a group of steps, with its numbers as the title.

        ``mark`` is a step at which it draws a line.
        """
        groups = _groups(len(self.steps))
        rows = [[self.steps[i] for i in group] for group in groups]
        low = [min(step.low for step in row) for row in rows]
        high = [max((step.high for step in row), key=_rank) for row in rows]
        most = [max((step.most for step in row), key=_rank) for row in rows]
        scale = _Scale([*low, *high, *most], log=True)
        wide = (WIDTH - LEFT) / max(1, len(rows))
        parts = []
        for i, group in enumerate(groups):
            bottom, top, peak = scale.y(low[i]), scale.y(high[i]), scale.y(most[i])
            steps = f"step {group[0]}" if len(group) == 1 else f"steps {group[0]} to {group[-1]}"
            text = f"{steps}: 10 to 90 % of the parameters {low[i]:.3g} to {high[i]:.3g}, the largest {most[i]:.3g}"
            spike = max(group, key=lambda step: _rank(self.steps[step].most))
            key = self.steps[spike].key
            text += f" ({key})" if isinstance(key, str) else ""
            x = f'x="{LEFT + i * wide:.1f}" width="{wide:.2f}"'
            parts.append(
                f'<g class="step" {_data(spike, group)}><title>{escape(text)}</title>'
                f'<rect {x} y="{TOP}" height="{HEIGHT - TOP}" fill="transparent"/>'
                f'<rect {x} y="{top:.1f}" height="{max(1.0, bottom - top):.1f}" fill="#3b7dd8" fill-opacity="0.6"/>'
                f'<rect {x} y="{peak - 1:.1f}" height="2" fill="{"#d03030" if not math.isfinite(most[i]) else "#e08020"}"/></g>'
            )
        return drawing(title, scale, parts, len(self.steps), mark)

    def _repr_html_(self) -> str:
        return self.svg() if self.steps else f"<p>{self!r}</p>"


def loss_svg(
    losses: Sequence[float],
    title: str = "Loss",
    mark: int | None = None,
    lines: Sequence[str] = (),
    on_log: str = ", log scale",
) -> str:
    """Return the drawing of a loss: a line through the steps, or through the largest loss of each group of steps.

    A single step is a dot. ``mark`` is a step at which it draws a line. ``lines`` has for each step the line of the program
    that began it: the losses of different ones, such as those of two networks in turn, are curves of their own. ``on_log``
    ends the title if the scale is logarithmic: all losses are positive, and the largest is over 100 times the smallest.
    """
    groups, of = _groups(len(losses)), [*lines] or [""] * len(losses)
    kinds = list(dict.fromkeys(of))[: len(COLORS)]
    curves = {
        kind: [_largest(losses, [step for step in group if of[step] == kind]) for group in groups] for kind in kinds
    }
    values = [losses[step] for steps in curves.values() for step in steps if step is not None]
    positive = [v for v in values if math.isfinite(v) and v > 0]
    log = len(positive) == len([v for v in values if math.isfinite(v)]) and max(positive, default=1) > 100 * min(
        positive, default=1
    )
    scale, title = _Scale(values, log), title + on_log * log
    wide = (WIDTH - LEFT) / max(1, len(groups))
    parts = []
    for color, steps in zip(COLORS, curves.values()):
        at = [(LEFT + (i + 0.5) * wide, scale.y(losses[step])) for i, step in enumerate(steps) if step is not None]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{points}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>' for x, y in at if len(at) == 1]
    for i, group in enumerate(groups):
        step: int = mark if mark is not None and mark in group else _largest(losses, group)
        value, x = losses[step], LEFT + i * wide
        bad = f'<circle cx="{x + wide / 2:.1f}" cy="{TOP + 5}" r="4" fill="#d03030"/>' * (not math.isfinite(value))
        parts.append(
            f'<g class="step" {_data(step, group)}><title>step {step}: loss {value:.4g}</title><rect x="{x:.1f}" '
            f'width="{wide:.2f}" y="{TOP}" height="{HEIGHT - TOP}" fill="transparent"/>{bad}</g>'
        )
    if len(kinds) > 1:
        spans = [f'<tspan dx="14" fill="{color}">{kind}</tspan>' for color, kind in zip(COLORS, kinds)]
        parts.append(f'<text x="{LEFT + 9 * len(title)}" y="15">{"".join(spans)}</text>')
    return drawing(title, scale, parts, len(losses), mark)


def _largest(losses: Sequence[float], steps: Sequence[int]) -> Any:
    """Return the step with the largest loss; None if there is no step."""
    return max(steps, key=lambda step: _rank(losses[step]), default=None)


def drawing(title: str, scale: _Scale, parts: Sequence[str], steps: int, mark: int | None) -> str:
    """Return an SVG with a title, the numbers at the ends of its scale, and those of the first and the last step."""

    def text(x: float, y: float, words: str, anchor: str = "end") -> str:
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{escape(words)}</text>'

    inner = "".join(parts) + text(LEFT, 15, title, "start")
    inner += text(LEFT - 6, TOP + 10, f"{scale.top:.4g}") + text(LEFT - 6, HEIGHT, f"{scale.bottom:.4g}")
    inner += text(LEFT, HEIGHT + 18, "step 0", "start") + text(WIDTH, HEIGHT + 18, f"step {steps - 1:,}")
    if mark is not None:
        x = LEFT + (mark + 0.5) / max(1, steps) * (WIDTH - LEFT)
        inner += f'<path d="M{x:.1f} {TOP}V{HEIGHT}" stroke="#d03030" stroke-width="2" stroke-dasharray="5 4"/>'
        if 60 < x - LEFT < WIDTH - LEFT - 80:
            inner += text(round(x, 1), HEIGHT + 18, f"step {mark:,}", "middle")
    inner += f'<path d="M{LEFT} {TOP}V{HEIGHT}H{WIDTH}" fill="none" stroke="currentColor"/>'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT + 24}" font-family="sans-serif" font-size="14"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">{inner}</svg>'


class _Scale:
    """The heights of numbers, linear or logarithmic. What is not finite is at the top, and 0 is at the bottom.

    Attributes:
        bottom: the number at the bottom.
        top: the number at the top.
    """

    def __init__(self, values: Iterable[float], log: bool) -> None:
        known = [value for value in values if math.isfinite(value) and (value > 0 or not log)] or [1.0]
        self.bottom, self.top, self.log = min(known), max(known), log

    def y(self, value: float) -> float:
        if not math.isfinite(value):
            return TOP
        change = math.log if self.log else float
        if self.log and value <= 0:
            return HEIGHT
        low, high = change(self.bottom), change(self.top)
        share = (change(value) - low) / (high - low) if high > low else 0.5
        return HEIGHT - share * (HEIGHT - TOP)


def _groups(count: int) -> list[range]:
    """Return the steps in at most ``COLUMNS`` groups of neighbours."""
    length = max(1, math.ceil(count / COLUMNS))
    return [range(i, min(i + length, count)) for i in range(0, count, length)]


def _data(step: int, group: range) -> str:
    """Return what a page reads of a column: the step that it shows, and the first and the last of its steps."""
    return f'data-step="{step}" data-first="{group[0]}" data-last="{group[-1]}"'


def _rank(value: float) -> float:
    return value if math.isfinite(value) else math.inf
