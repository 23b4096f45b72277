"""A function at a point and near it: its pullback, and finite differences with an estimate of their own error.

The derivative of ``f`` at ``x`` along a direction ``v`` is estimated for each output element from ``f(x + t v)`` at a few small
``t``. Such an estimate has three sources of error, and each is measured for each element:

* *rounding*: a result has an error of about ``eps`` times the largest number that went into it, and a small step magnifies it;
* *curvature*: over a large step the function leaves its tangent. Comparing a step with half that step measures by how much;
* *a kink*: the differences on the two sides do not converge to each other as the step shrinks.

If the error of the first step is too large, other steps are tried. Each output element keeps the estimate with the least error.
If estimates contradict each other, the contradiction counts as an error of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..device import is_device_array, to_host
from ..engine.modes import ensure_recording
from ..engine.tape import Leaf, sweep
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array

FIRST = 2.0**-8  # the first step, in units of the direction
SMALLER = [2.0**-power for power in (14, 20, 26, 32, 38)]
LARGER = [2.0**power for power in (4, 16, 28, 40, 52, 64)]
ROUNDINGS = 4  # the assumed rounding error of a result, in units of eps
REACH = 2.0**150  # a slope that differs from the typical one by a larger factor is left out: it could overflow
STRAIGHT = 2.0**-4  # the function may leave a straight line by this much within a step, relative to the slope
HIDDEN = 2.0**-12  # elements smaller than this share of the largest are also moved on their own
NEAR = 2.0**-48  # the relative error of an argument after several roundings
TRIES = 12  # runs with slightly different arguments, which show whether a rule is stable
STEPS = (2.0**-8, -(2.0**-8), 2.0**-14, -(2.0**-14))  # steps that show whether a function gives only integers


class Estimate(NamedTuple):
    """The derivative of each output element along a direction, and its error.

    Attributes:
        slope: the derivative.
        rounding: the error of the slope from the rounding of the function.
        curvature: the error of the slope from the size of the step.
        bend: the disagreement between the differences on the two sides.
        step: the step of the estimate.
        reliable: whether the function is nearly straight within the step, so that slope and error can be trusted.
    """

    slope: Array
    rounding: Array
    curvature: Array
    bend: Array
    step: Array
    reliable: Array

    @property
    def bent(self) -> Array:
        """The deviation of the function from a straight line within the step."""
        return self.curvature + self.bend

    @property
    def error(self) -> Array:
        """The error of the slope, including the full disagreement of the two sides."""
        return self.rounding + self.bent


class Differences:
    """The derivative of a function along a direction, refined step by step.

    Args:
        move: a function that maps ``t`` to ``f(x + t v)`` as one flat array.
        here: ``f(x)`` as one flat array.
        kind: the ``numpy.finfo`` of the output, with its precision and its smallest number.
    """

    def __init__(self, move: Callable[[float], Array], here: Array, kind: Any) -> None:
        self._move = move
        self._here = here
        self._eps, self._tiny = float(kind.eps), float(kind.smallest_subnormal)
        self._coarse: Array = np.zeros(here.shape)
        self.one_step = True
        self.best = self._at(FIRST)
        self.doubt: Array = np.zeros(here.shape)
        self.confirmed: Array = np.zeros(here.shape, bool)

    def count_in(self, coarse: Array) -> None:
        """Increase the estimated rounding error, because numbers as large as ``coarse`` occur inside the function."""
        self._coarse = np.maximum(self._coarse, coarse)
        least = ROUNDINGS * self._eps * coarse / FIRST
        self.best = self.best._replace(rounding=np.maximum(self.best.rounding, least))

    @property
    def error(self) -> Array:
        """The error of the best estimates. One step alone cannot tell a bend from a kink, so it leaves out the bend."""
        return self.best.rounding + self.best.curvature if self.one_step else self.best.error

    @property
    def reliable(self) -> Array:
        """Whether the estimates of each element's derivative have a known error and agree with each other."""
        return np.isfinite(self.best.curvature) if self.one_step else self.best.reliable & self.confirmed

    def errors(self, sizes: Array) -> dict[str, float]:
        """Return the error of the sum of the slopes with the weights ``sizes``, for each source of error."""
        reliable = self.reliable
        parts = {"rounding": self.best.rounding, "curvature": self.best.curvature, "doubt": self.doubt}
        if not self.one_step:
            parts["bend"] = self.best.bend
        return {name: float(np.sum(sizes * np.where(reliable, part, 0.0))) for name, part in parts.items()}

    def is_constant(self) -> bool:
        """Return whether no result has changed by a bit, not even over the largest step."""
        moved = (LARGER[-1], -LARGER[-1])
        return not self.best.slope.any() and all(np.array_equal(self._move(t), self._here) for t in moved)

    def why_unreliable(self) -> str:
        """Return "infinite" or "bend" if that makes the derivative of any element unreliable, and otherwise "curvature"."""
        best, unreliable = self.best, ~self.reliable
        infinite, bent = unreliable & ~np.isfinite(best.curvature), unreliable & (best.bend > best.curvature)
        return "infinite" if infinite.any() else "bend" if bent.any() else "curvature"

    def steps(self, coarse_first: bool) -> Iterator[bool]:
        """Try one other step per iteration, larger steps first if ``coarse_first``. Yield True after the last step."""
        steps = (*LARGER, *SMALLER) if coarse_first else SMALLER
        self.one_step = False
        before, straight = self.best, np.ones(self._here.shape, bool)
        for number, step in enumerate(steps, 1):
            found = self._at(step)
            if step > FIRST:  # the function is never straighter over a larger step than over a smaller one
                straight &= found.reliable
                found = found._replace(reliable=straight)
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
        reliable = usable & (curvature + bend <= STRAIGHT * abs(slope) + 8 * rounding)
        return Estimate(slope, rounding, curvature, bend, np.full(slope.shape, step), reliable)

    def _merge(self, other: Estimate, before: Estimate) -> None:
        """Keep the better estimate of each element.

        A smooth function is straight within every small enough step. So an estimate is rejected if the function bends within a
        smaller step by more than rounding explains, and it is doubted if a smaller step contradicts it.
        """
        best, smaller = self.best, other.step < self.best.step
        # `_at` compares the bend with the slope, so it rejects a slope of 0. A bend that shrinks with the step shows a tangent.
        shrinks = (other.step < before.step) & (16 * other.bent <= before.bent) & np.isfinite(before.bent)
        other = other._replace(reliable=other.reliable | shrinks)
        gap = abs(other.slope - best.slope)
        contradict = best.reliable & other.reliable & (gap > 3 * (other.error + best.error))
        self.doubt = np.maximum(self.doubt, np.where(contradict, gap, 0.0))
        self.confirmed = (self.confirmed | (best.reliable & other.reliable)) & ~contradict
        steep = other.rounding <= 2.0**-16 * abs(best.slope)
        visible = steep | ((best.slope == 0) & (other.bent > 2.0**10 * other.rounding))
        uneven = smaller & ~other.reliable & visible & (other.bent > 3 * best.error + 8 * other.rounding)
        reliable = best.reliable & ~uneven
        better = np.where(reliable == other.reliable, other.error < best.error, other.reliable)
        better = np.where(contradict, smaller, better)
        best = best._replace(reliable=reliable)
        self.best = Estimate(*(np.where(better, b, a) for a, b in zip(best, other)))


def direction(x: Array, rng: np.random.Generator) -> Array:
    """Return a random direction that moves each element in proportion to its size; infinity and NaN do not move.

    The elements are not round numbers, because a round step such as 3072 would leave ``x % 3`` unchanged.
    """
    drawn = rng.uniform(1, 2, x.shape)
    if x.dtype.kind == "c":
        return _sizes(x) * drawn * np.exp(1j * rng.uniform(0, 2 * math.pi, x.shape))
    return _sizes(x) * (drawn if x.size == 1 else drawn * rng.choice([-1, 1], x.shape))


def jitter(x: Array, rng: np.random.Generator) -> Array:
    """Return distinct random numbers of once to twice the sizes of the elements of ``x``, with random signs.

    None is near 0: a rule that is wrong at ``x`` alone must not be met again beside ``x``.
    """
    sizes = np.where(x == 0, _sizes(x), np.where(np.isfinite(x), abs(x), 0.0))
    return sizes * rng.uniform(1, 2, x.shape) * rng.choice((-1.0, 1.0), x.shape)


def _sizes(x: Array) -> Array:
    """Return the size of each element, rounded down to a power of two.

    A zero gets the median size of the other elements, but at most 1. Infinity and NaN get 0.
    """
    sizes = abs(x)
    known = np.isfinite(sizes) & (sizes > 0)
    typical = min(float(np.median(sizes[known])), 1.0) if known.any() else 1.0
    sizes = np.where(known, sizes, typical)
    return np.where(np.isfinite(abs(x)), np.ldexp(1.0, np.frexp(np.maximum(sizes, 2.0**-1020))[1] - 1), 0.0)


def weights(found: Differences, rng: np.random.Generator) -> Array:
    """Return weights for the output elements, so that large and small slopes count alike in a sum.

    A slope that is barely larger than its error gets a small weight. A slope that differs from the typical one by more than a
    factor of ``REACH`` gets the weight 0, because products with it could overflow.
    """
    slope, reliable = found.best.slope, found.reliable
    reliable = reliable if reliable.any() else np.isfinite(found.best.curvature)
    error = np.where(reliable, found.error, 0.0)
    significant = reliable & (abs(slope) > error)
    typical = np.median(abs(slope[significant])) if significant.any() else 1.0
    sizes = np.maximum(np.where(significant, abs(slope), typical), 2.0**20 * error)
    if slope.size == 1:
        return np.where(reliable, np.ones_like(slope), 0.0)
    turned = np.where(slope == 0, 1.0, np.conjugate(slope) / np.where(slope == 0, 1.0, abs(slope)))
    sizes = sizes / (typical if significant.any() or not reliable.any() else np.median(sizes[reliable]))
    near = (sizes > 1 / REACH) & (sizes < REACH)
    drawn = np.where(reliable & near, rng.uniform(0.5, 1.5, slope.shape) / np.where(near, sizes, 1.0), 0.0)
    return drawn * turned * np.exp(1j * rng.uniform(-1, 1, slope.shape)) if slope.dtype.kind == "c" else drawn * turned


# --- A function near a point ---


class AtPoint:
    """A function of arrays at a point, recorded from leaves of its own, and differentiated by sweeps that end at these leaves.

    Args:
        f: a function of Tensors that returns its results. Only at the point itself is it recorded.
        arguments: the arrays of each argument. All arrays of an argument move together.

    Attributes:
        output: the results of the function, as arrays.
        values: the arguments, each as one flat array.
        here: the output as one flat array.
        kind: the ``numpy.finfo`` of the least precise array of the output.
    """

    def __init__(self, f: Callable[..., list[Any]], arguments: Sequence[Sequence[Array]]) -> None:
        self._f, self._arguments = f, arguments
        self._starts = [Leaf(None, array.shape, array.dtype) for array in chain.from_iterable(arguments)]
        with ensure_recording():
            output = f(*map(make_tensor, chain.from_iterable(arguments), self._starts))
        self._ends = [t._node if isinstance(t, Tensor) else None for t in output]
        self.output = [t._array if isinstance(t, Tensor) else t for t in output]
        dtypes = [getattr(array, "dtype", np.dtype(float)) for array in self.output]
        kinds = [np.finfo(dtype) for dtype in dtypes if dtype.kind in "fc"]
        self.kind = max(kinds, key=attrgetter("eps"), default=np.finfo(np.float64))
        self.values, self.here = list(map(row, arguments)), row(self.output)
        self._coarse: Array = np.zeros(self.here.shape)

    def moved(self, moves: Sequence[Array | None]) -> list[Sequence[Array]]:
        """Return the arguments, each moved by a flat array, or unchanged for None."""
        return [part if v is None else shaped(row(part) + v, part) for part, v in zip(self._arguments, moves)]

    def at(self, moves: Sequence[Array | None]) -> Array:
        """Return the output for moved arguments, or NaN if the function raises there."""
        try:
            return row(self._f(*[make_tensor(array, None) for array in chain.from_iterable(self.moved(moves))]))
        except (ArithmeticError, ValueError):
            return np.full(self.here.shape, np.nan)

    def along(self, i: int, v: Array, t: float) -> Array:
        """Return the output for argument ``i`` moved by ``t v``."""
        return self.at([t * v if j == i else None for j in range(len(self.values))])

    def beside(self, moves: Sequence[Array | None]) -> AtPoint:
        """Return the same function at moved arguments."""
        return AtPoint(self._f, self.moved(moves))

    def slopes(self, rng: np.random.Generator, ties: bool) -> list[Slope]:
        """Return the derivative with respect to each argument, along a random direction of it.

        Numbers as large as the largest slope occur inside the function, so all differences are rounded so.
        """
        directions = [row([direction(to_host(array), rng) for array in part]) for part in self._arguments]
        found = [self.differences(i, v) for i, v in enumerate(directions)]
        for each in found:
            self._coarse = np.maximum(self._coarse, abs(each.best.slope))
        for each in found:
            each.count_in(self._coarse)
        return [Slope(self, i, v, each, rng, ties) for i, (v, each) in enumerate(zip(directions, found))]

    def differences(self, i: int, v: Array) -> Differences:
        """Return the differences along ``v`` of argument ``i``."""
        found = Differences(lambda t: self.along(i, v, t), self.here, self.kind)
        found.count_in(self._coarse)
        return found

    def pulled(self, u: Array) -> list[Array]:
        """Return the cotangents of the arguments for the cotangent ``u`` of the output, each as one flat array."""
        seeds: dict[Any, Array] = {}
        for node, g in zip(self._ends, shaped(u, self.output)):
            if node is not None:
                g = g.astype(node.dtype)
                seeds[node] = seeds[node] + g if node in seeds else g
        with ensure_recording():  # a rule may run a part of the function again
            found = sweep(seeds, retain_graph=True, wanted=self._starts)
        arrived = iter(self._starts)
        return [row([found.get(next(arrived), np.zeros_like(a)) for a in part]) for part in self._arguments]

    def cotangent(self, rng: np.random.Generator) -> list[Array]:
        """Return a random cotangent of the output, of length 1."""
        drawn = rng.standard_normal(self.here.shape) + 1j * rng.standard_normal(self.here.shape)
        return shaped(drawn / max(float(np.linalg.norm(drawn)), 1e-12), self.output)


class Slope:
    """The derivative of a function at a point along ``v`` of argument ``i``, by its rules and by differences.

    Attributes:
        u: the cotangent of the output for which both are measured. In it all slopes count alike.
        exact, numeric: the derivative by the rules, and by differences.
        size: the sum of the absolute values of what the elements of the argument add to ``exact``.
        errors: the possible differences of the two derivatives, by their reason.
        bend: the disagreement of the differences on the two sides.
        complete: whether every element of the output took part.
        along: both derivatives, for a direction and a cotangent of length 1.
    """

    def __init__(
        self, point: AtPoint, i: int, v: Array, found: Differences, rng: np.random.Generator, ties: bool
    ) -> None:
        self.point, self.i, self.v, self.found, self.rng, self.ties = point, i, v, found, rng, ties
        self.eps = float(point.kind.eps)
        self.largest = max([1.0, *map(_largest, point.values), _largest(point.here)])  # of the numbers that are known
        self.measure()

    def measure(self) -> None:
        """Measure both derivatives with the differences found so far."""
        best, reliable, u = self.found.best, self.found.reliable, weights(self.found, self.rng)
        parts = self._parts(self.point, u)
        self.u, self.exact, self.numeric = u, float(np.sum(parts).real), float(np.sum(u * best.slope).real)
        self.size, self.complete = float(np.sum(abs(parts))), bool(reliable.all())
        self.errors = self.found.errors(abs(u))
        if math.isfinite(self.exact):  # the rule is rounded too
            self.errors["rounding"] += ROUNDINGS * self.eps * self.size
        self.bend = float(np.sum(abs(u) * np.where(reliable, best.bend, 0.0)))
        lengths = _length(u), _length(self.v)
        self.along = self.exact / lengths[0] / lengths[1], self.numeric / lengths[0] / lengths[1]

    def _parts(self, point: AtPoint, u: Array) -> Array:
        """Return what each element adds to the derivative: 0 where ``v`` is 0, even if its cotangent is infinite."""
        return np.where(self.v == 0, 0.0, point.pulled(u)[self.i]) * self.v

    def __call__(self, u: Array) -> float:
        """Return the derivative from the rules for the cotangent ``u``."""
        return float(np.sum(self._parts(self.point, u)).real)

    def of_small_elements(self) -> Slope | None:
        """Return the derivative along those elements of the direction that the others may hide; None if there are none."""
        v = np.where(abs(self.v) < HIDDEN * abs(self.v).max(initial=0.0), self.v, 0.0)
        if not v.any():
            return None
        return Slope(self.point, self.i, v, self.point.differences(self.i, v), self.rng, self.ties)

    def objections(self) -> dict[str, float]:
        """Return further possible differences between the two derivatives, by their reason. This is slow."""
        u, exact, best = self.u, self.exact, self.found.best
        flat, step = best.slope == 0, best.step
        # An element that does not change may be small compared with numbers inside the formula (a 1, the argument).
        inside = self.eps * self.largest
        unseen = ROUNDINGS * inside * float(np.sum(np.where(flat, abs(u), 0.0) / step))
        return {
            "flat": min(unseen, abs(exact - self(np.where(flat, 0.0, u)))),
            "unstable": self._instability(u),
            "jump": math.inf if exact == 0 and self._is_whole() else 0.0,
        }

    def _instability(self, u: Array) -> float:
        """Return how far the rule's results near the point differ from each other.

        They differ if two numbers are nearly equal, or near a singular matrix. If a rule is wrong at this point alone, only
        its result here differs from the others.
        """
        found = self.found
        changes = self._spread(u, [self._beside(u, NEAR)[0] for _ in range(TRIES)])
        for step in np.unique(found.best.step[found.reliable]):
            part = np.where(found.best.step == step, u, 0.0)
            pairs = [self._beside(part, step) for _ in range(TRIES)]
            changes += self._spread(part, [(one + other) / 2 for one, other in pairs])  # smooth changes cancel
        return changes

    def _spread(self, u: Array, near: list[float]) -> float:
        spread = float(np.ptp([*near, self(u)] if self.ties else near))
        return math.inf if math.isnan(spread) else spread  # NaN: the function or a rule cannot be computed nearby

    def _beside(self, u: Array, step: float) -> list[float]:
        """Return the derivatives after a random move and its opposite: the argument by ``step``, others by ``NEAR``."""
        point, rng = self.point, self.rng
        moves = [(step if j == self.i else NEAR) * jitter(value, rng) for j, value in enumerate(point.values)]
        found = []
        for sign in (1, -1):
            try:
                near = point.beside([sign * move for move in moves])
                found.append(float(np.sum(self._parts(near, u * (1 + NEAR * rng.uniform(-1, 1, u.shape)))).real))
            except (ArithmeticError, ValueError):
                return [math.nan, math.nan]
        return found

    def _is_whole(self) -> bool:
        """Return whether the function gives only integers, so that its derivative is 0 between jumps."""
        rows = [self.point.along(self.i, self.v, t) for t in STEPS]
        return all(bool((np.rint(row) == row).all()) for row in rows)


def _length(v: Any) -> float:
    """Return the Euclidean norm, safe from overflow of the squares; 1 if all elements are 0."""
    largest = float(abs(v).max(initial=0.0))
    return largest * float(np.linalg.norm((v / largest).ravel())) if largest else 1.0


def _largest(array: Array) -> float:
    return float(abs(array[np.isfinite(array)]).max(initial=0.0))


def double(value: Any) -> Any:
    array = value.data if isinstance(value, Tensor) else value if hasattr(value, "dtype") else np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def row(arrays: Sequence[Any]) -> Array:
    """Return all elements of arrays as one flat array on the host."""
    plain = [array._array if isinstance(array, Tensor) else array for array in arrays]
    return np.concatenate([np.zeros(0), *map(np.ravel, map(to_host, plain))])


def shaped(row: Array, like: Sequence[Any]) -> list[Any]:
    """Split a flat array into arrays with the shapes, the kinds and the libraries of ``like``."""
    found = []
    for piece, leaf in zip(np.split(row, np.cumsum([np.size(leaf) for leaf in like], dtype=int)), like):
        array = piece.reshape(np.shape(leaf))
        array = array if np.iscomplexobj(leaf) else array.real.copy()
        found.append(np.asarray(array, like=leaf) if is_device_array(leaf) else array)
    return found
