"""Finite differences that know their own error.

The derivative of ``f`` at ``x`` along a direction ``v`` is estimated for each number of the output from ``f(x + t v)`` at a
few small ``t``. Three things can spoil such an estimate, and each is measured for each number:

* *rounding*: a result is known to about ``eps`` times the largest number that went into it, which a small step magnifies;
* *curvature*: a large step sees more than the tangent. Two steps, one half of the other, tell how much;
* *a kink*: the differences to the two sides do not come together as the step shrinks.

So a step is neither right nor wrong. Where the error of the first one is too large, others are tried, each number of the
output keeps the estimate with the least error, and estimates that contradict each other put all of them in doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..engine.types import Array

FIRST = 2.0**-8  # of the steps, in units of the direction
SMALLER = [2.0**-power for power in (14, 20, 26, 32, 38)]
LARGER = [2.0**power for power in (4, 16, 28, 40, 52, 64)]
ROUNDINGS = 4  # of one operation, each of which may be off by eps
REACH = 2.0**150  # by how much the slopes may differ that are compared at once
STRAIGHT = 2.0**-4  # of the slope: what the function may be bent by within a step that tells something


class Estimate(NamedTuple):
    """The derivative of each number of the output along a direction, and what it may be off by.

    Attributes:
        slope: the derivative.
        rounding: its error from the rounding of the function.
        curvature: its error from the size of the step.
        bend: by how much the differences to the two sides disagree.
        step: with which it was made.
        told: whether the function is straight within the step. Elsewhere the error, too, may be a mistake.
    """

    slope: Array
    rounding: Array
    curvature: Array
    bend: Array
    step: Array
    told: Array

    @property
    def bent(self) -> Array:
        """How far the function is from straight within the step."""
        return self.curvature + self.bend

    @property
    def error(self) -> Array:
        """The error of the slope, which counts the disagreement of the two sides in full."""
        return self.rounding + self.bent


class Differences:
    """The derivative of a function along a direction, by more and more steps.

    Args:
        move: ``f(x + t v)`` as one flat array, from ``t``.
        here: ``f(x)``, in the same way.
        kind: of the output's numbers: how they are rounded, relative to their size, and what the smallest of them is.
    """

    def __init__(self, move: Callable[[float], Array], here: Array, kind: Any, step: float = FIRST) -> None:
        self._move = move
        self._here = here
        self._eps, self._tiny = float(kind.eps), float(kind.smallest_subnormal)
        self._step = step
        self._coarse: Array = np.zeros(here.shape)
        self.one_step = True
        self.best = self._at(step)
        self.doubt: Array = np.zeros(here.shape)
        self.confirmed: Array = np.zeros(here.shape, bool)

    def count_in(self, coarse: Array) -> None:
        """Say that numbers as large as these met inside the function, so that it is rounded as they are."""
        self._coarse = coarse
        least = ROUNDINGS * self._eps * coarse / self._step
        self.best = self.best._replace(rounding=np.maximum(self.best.rounding, least))

    @property
    def error(self) -> Array:
        """The error of the best estimates; the bend counts from the second step on, as one step cannot judge it."""
        return self.best.rounding + self.best.curvature if self.one_step else self.best.error

    @property
    def told(self) -> Array:
        """For each number whether there are estimates of its derivative whose error is known, and that confirm each other."""
        return np.isfinite(self.best.curvature) if self.one_step else self.best.told & self.confirmed

    def errors(self, sizes: Array) -> dict[str, float]:
        """What the sum of the slopes, so weighted, may be off by, for each of the reasons."""
        told = self.told
        parts = {"rounding": self.best.rounding, "curvature": self.best.curvature, "doubt": self.doubt}
        if not self.one_step:
            parts["bend"] = self.best.bend
        return {name: float(np.sum(sizes * np.where(told, part, 0.0))) for name, part in parts.items()}

    def why_untold(self) -> str:
        """The reason for most of the numbers whose derivative is not known."""
        best, untold = self.best, ~self.told
        infinite, bent = untold & ~np.isfinite(best.curvature), untold & (best.bend > best.curvature)
        return "infinite" if infinite.any() else "bend" if bent.any() else "curvature"

    def steps(self, coarse_first: bool) -> Iterator[bool]:
        """Try other steps, one at each turn: first the larger ones, where rounding hides the derivative. True is the last."""
        steps = (*LARGER, *SMALLER) if coarse_first else SMALLER
        self.one_step = False
        before, straight = self.best, np.ones(self._here.shape, bool)
        for number, step in enumerate(steps, 1):
            found = self._at(step)
            if step > self._step:  # beyond where it is bent, nothing is straight
                straight &= found.told
                found = found._replace(told=straight)
            self._merge(found, before)
            before = found
            yield number == len(steps)

    def _at(self, step: float) -> Estimate:
        right, left, near_right, near_left = (self._move(t) for t in (step, -step, step / 2, -step / 2))
        far, near = (right - left) / (2 * step), (near_right - near_left) / step
        slope = (4 * near - far) / 3
        bend = abs((near_right - self._here) - (self._here - near_left)) / (step / 2)
        size = np.maximum(np.maximum(abs(self._here), abs(near_right)), np.maximum(abs(slope), self._coarse))
        rounding = ROUNDINGS * (self._eps * size + self._tiny) / step
        usable = np.isfinite(slope) & np.isfinite(bend)
        slope, rounding = np.where(usable, slope, 0.0), np.where(usable, rounding, 0.0)
        curvature, bend = np.where(usable, abs(slope - near), np.inf), np.where(usable, bend, 0.0)
        told = usable & (curvature + bend <= STRAIGHT * abs(slope) + 8 * rounding)
        return Estimate(slope, rounding, curvature, bend, np.full(slope.shape, step), told)

    def _merge(self, other: Estimate, before: Estimate) -> None:
        """Keep the better estimates, number by number.

        What is smooth is straight within every step that is small enough. So an estimate is given up if the function is bent
        within a smaller step by more than rounding explains, and doubted if a smaller step contradicts it.
        """
        best, smaller = self.best, other.step < self.best.step
        # What is bent less and less has a tangent, even if that is flat.
        shrinks = (other.step < before.step) & (16 * other.bent <= before.bent) & np.isfinite(before.bent)
        other = other._replace(told=other.told | shrinks)
        gap = abs(other.slope - best.slope)
        contradict = best.told & other.told & (gap > 3 * (other.error + best.error))
        self.doubt = np.maximum(self.doubt, np.where(contradict, gap, 0.0))
        self.confirmed = (self.confirmed | (best.told & other.told)) & ~contradict
        steep = other.rounding <= 2.0**-16 * abs(best.slope)
        visible = steep | ((best.slope == 0) & (other.bent > 2.0**10 * other.rounding))
        uneven = smaller & ~other.told & visible & (other.bent > 3 * best.error + 8 * other.rounding)
        told = best.told & ~uneven
        better = np.where(told == other.told, other.error < best.error, other.told)
        better = np.where(contradict, smaller, better)
        best = best._replace(told=told)
        self.best = Estimate(*(np.where(better, b, a) for a, b in zip(best, other)))


def direction(x: Array, rng: np.random.Generator) -> Array:
    """A random direction that moves each number in proportion to its own size; infinity and NaN stay where they are.

    Its numbers are not round. A step of 3072 would leave ``x % 3`` as it is, and rounding ``x + t v`` is counted anyway.
    """
    drawn = rng.uniform(1, 2, x.shape)
    if x.dtype.kind == "c":
        return _sizes(x) * drawn * np.exp(1j * rng.uniform(0, 2 * math.pi, x.shape))
    return _sizes(x) * (drawn if x.size == 1 else drawn * rng.choice([-1, 1], x.shape))


def roughness(move: Callable[[float], Array], step: float) -> Array:
    """How far each number of ``move(t)`` is from lying on a smooth curve, which a coarse or cancelled result does not.

    Sixth differences of what is smooth shrink with the sixth power of the step, and those of what is rough do not.
    """
    rows = [np.array([move(k * step / 2**halved) for k in range(-3, 4)]) for halved in range(5)]
    sixth = [abs(np.tensordot(np.array([1, -6, 15, -20, 15, -6, 1.0]), row, axes=1)) / math.sqrt(924) for row in rows]
    rough = [np.where((small > 0) & (16 * small < large), 0.0, large) for large, small in pairwise(sixth)]
    return np.max(rough, axis=0)


def jitter(x: Array, rng: np.random.Generator) -> Array:
    """Random numbers of the sizes of those in ``x``, no two alike."""
    return np.where(x == 0, _sizes(x), np.where(np.isfinite(x), abs(x), 0.0)) * rng.uniform(-2, 2, x.shape)


def _sizes(x: Array) -> Array:
    """Powers of two that are the size of each number.

    A zero has no size of its own: it gets that of the others of its array, at most 1. Infinity and NaN get 0.
    """
    sizes = abs(x)
    known = np.isfinite(sizes) & (sizes > 0)
    typical = min(float(np.median(sizes[known])), 1.0) if known.any() else 1.0
    sizes = np.where(known, sizes, typical)
    return np.where(np.isfinite(abs(x)), np.ldexp(1.0, np.frexp(np.maximum(sizes, 2.0**-1020))[1] - 1), 0.0)


def weights(found: Differences, rng: np.random.Generator) -> Array:
    """With which weight each number of the output is counted: so that large and small ones are seen alike.

    One whose slope is as good as lost in its own error counts little, and one whose slope is so far from the others that their
    products would leave the range of numbers not at all.
    """
    slope, told = found.best.slope, found.told
    told = told if told.any() else np.isfinite(found.best.curvature)
    error = np.where(told, found.error, 0.0)
    known = told & (abs(slope) > error)
    typical = np.median(abs(slope[known])) if known.any() else 1.0
    sizes = np.maximum(np.where(known, abs(slope), typical), 2.0**20 * error)
    if slope.size == 1:
        return np.where(told, np.ones_like(slope), 0.0)
    turned = np.where(slope == 0, 1.0, np.conjugate(slope) / np.where(slope == 0, 1.0, abs(slope)))
    sizes = sizes / (typical if known.any() or not told.any() else np.median(sizes[told]))
    near = (sizes > 1 / REACH) & (sizes < REACH)
    drawn = np.where(told & near, rng.uniform(0.5, 1.5, slope.shape) / np.where(near, sizes, 1.0), 0.0)
    return drawn * turned * np.exp(1j * rng.uniform(-1, 1, slope.shape)) if slope.dtype.kind == "c" else drawn * turned
