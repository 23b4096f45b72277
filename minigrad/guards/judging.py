"""Judges a derivative by finite differences: it agrees, it is wrong, or differences cannot decide, for a reason.

``check_grads`` judges whole functions, and ``check_edges`` (with ``minigrad check``, ``explain`` and ``minigrad debug``) judges
single operations of a recorded run. Both ask :func:`judge_all`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..engine.types import Array
from .differences import FIRST, ROUNDINGS, AtPoint, Differences, jitter, weights

TOLERANCE = 1e-5  # the smallest relative difference that counts as an error
SEVERAL = 5  # a rule is wrong only if its error is this many times the possible error of the difference
TELLS = 1e-3  # the largest relative error of a difference that can confirm a rule
HIDDEN = 2.0**-12  # elements smaller than this share of the largest are also moved on their own
NEAR = 2.0**-48  # the relative error of an argument after several roundings
TRIES = 12  # runs with slightly different arguments, which show whether a rule is stable
STEPS = (2.0**-8, -(2.0**-8), 2.0**-14, -(2.0**-14))  # steps that show whether a function gives only integers
NOISE = 2.0**-10  # the largest roughness, relative to the largest output element, that counts as rounding

REASONS = {
    "kink": "the function has a kink or a jump there, so there may be no derivative to compare with",
    "rounding": "the derivative is too small compared with the rounding of the result",
    "curvature": "differences with different steps disagree",
    "unstable": "the rule's result changes by at least as much when its operands are rounded",
    "left out": "the operation was not run again, because it is not traced as a whole or raised an error",
    "unsteady": "the operation gives another result when it runs again with the same operands",
    "infinite": "the derivative, the result, or a value of the function nearby is infinite or NaN",
}
MEANT = {"bend": "kink", "jump": "kink", "doubt": "curvature", "flat": "rounding"}


class Comparison(NamedTuple):
    """The derivative with respect to one argument, from its rule and from finite differences.

    Attributes:
        exact: the derivative from the rule, along a direction of length 1.
        numeric: the derivative from finite differences.
        error: their difference, relative to the larger of the two.
        uncertainty: the possible error of the finite difference, relative to the same size.
        verdict: "agrees", "unclear" or "wrong".
        reason: the reason for "unclear", as a key of ``REASONS``; else empty.
    """

    exact: float
    numeric: float
    error: float
    uncertainty: float
    verdict: str
    reason: str = ""

    def said(self, digits: int) -> str:
        """Return both numbers as the end of a sentence about the derivative."""
        numbers = f"{self.exact:.{digits}g}, and finite differences give {self.numeric:.{digits}g}"
        return f"along a random direction is {numbers}"


def unclear(reason: str) -> Comparison:
    """Return the comparison of a derivative that cannot be compared."""
    return Comparison(math.nan, math.nan, math.nan, math.inf, "unclear", reason)


@np.errstate(all="ignore")  # a step may leave the domain of the function
def judge_all(
    point: AtPoint, rng: np.random.Generator, *, step: float = FIRST, tolerance: float = TOLERANCE, ties: bool = True
) -> list[Comparison]:
    """Judge the derivative of a function at a point with respect to each of its arguments.

    Args:
        ties: whether a rule that is right all around the point may differ at the point itself, where operands may be equal.
    """
    if not np.isfinite(point.here).all():
        point.pulled(np.ones_like(point.here))  # raises the error of a rule that fails or returns a wrong shape
        return [unclear("infinite")] * len(point.values)
    judged = []
    for i, (v, found) in enumerate(point.all_differences(rng, step)):
        result = judge(RuleSlope(point, i, v, rng, ties), found, tolerance)
        while result.verdict != "wrong":
            v = np.where(abs(v) < HIDDEN * abs(v).max(initial=0.0), v, 0.0)
            if not v.any():
                break
            found = point.differences(i, v, step)
            small = judge(RuleSlope(point, i, v, rng, ties), found, tolerance)
            result = small if small.verdict == "wrong" else result
        judged.append(result)
    return judged


def judge(exact: RuleSlope, differences: Differences, tolerance: float = TOLERANCE) -> Comparison:
    """Compare a derivative by the rules with finite differences.

    The first step is enough if they agree. A rule is wrong only if all steps disagree, and if neither rounding inside the
    function nor an unstable rule explains it.
    """
    result = _judge(exact, differences, tolerance)
    zero = result.exact == result.numeric == 0.0
    if zero and differences.is_constant():
        return result._replace(verdict="agrees", reason="")
    if result.verdict != "agrees" and not zero:
        exact.count_noise(differences)
        result = _judge(exact, differences, tolerance)
    if result.verdict != "agrees":
        u = weights(differences, exact.rng)
        hidden = differences.errors(abs(u))["rounding"] > TELLS * abs(np.sum(u * differences.best.slope))
        for last in differences.steps(coarse_first=bool(hidden) or result.reason == "rounding"):
            result = _judge(exact, differences, tolerance, last)
            if result.verdict == "agrees":
                break
    return result


def _judge(exact: RuleSlope, found: Differences, tolerance: float, last: bool = False) -> Comparison:
    """Compare the rule with the differences found so far."""
    u = weights(found, exact.rng)
    parts = exact.parts(u)
    slope, numeric = float(np.sum(parts).real), float(np.sum(u * found.best.slope).real)
    errors = found.errors(abs(u))
    size = float(np.sum(abs(parts)))
    if math.isfinite(slope):  # the rule is rounded too
        errors["rounding"] += ROUNDINGS * exact.eps * size
    # What the terms of a sum that cancels may be off by counts at the end only, because another step may show more.
    allowed = tolerance * max(size if last and math.isfinite(slope) else abs(slope), abs(numeric))
    complete = bool(found.reliable.all())
    tells = TELLS if last else tolerance  # before the last step, a better one may come
    verdict, reason = _verdict(slope, numeric, allowed, tells, errors, complete, last)
    if verdict == "wrong" and last:
        errors |= exact.objections(u, slope, found)
        verdict, reason = _verdict(slope, numeric, allowed, tells, errors, complete, last)
    if not found.reliable.any():
        verdict, reason = "unclear", "unreliable"
    bend = float(np.sum(abs(u) * np.where(found.reliable, found.best.bend, 0.0)))
    if found.one_step and verdict == "agrees" and bend > abs(numeric) / 4 + 8 * errors["rounding"]:
        verdict, reason = "unclear", "bend"  # one step cannot exclude a bend
    reason = found.why_unreliable() if reason == "unreliable" else reason
    own = sum(errors.values()) - errors["doubt"]  # includes the objections, if they were asked for
    scale = max(abs(slope), abs(numeric)) or 1.0
    along = [number / _length(u) / _length(exact.v) for number in (slope, numeric)]
    return Comparison(along[0], along[1], abs(slope - numeric) / scale, own / scale, verdict, MEANT.get(reason, reason))


def _verdict(
    exact: float,
    numeric: float,
    allowed: float,
    tells: float,
    errors: Mapping[str, float],
    complete: bool,
    last: bool,
) -> tuple[str, str]:
    """Return the verdict, and the reason if it is unclear.

    Args:
        allowed: the difference that counts as none.
        tells: the largest relative error of a difference that can confirm a rule.
        errors: the possible differences of the two derivatives, by their reason. Their sum decides whether the rule can be
            called wrong. The errors of the numeric derivative alone decide whether it can confirm the rule.
        complete: whether every element of the output took part.
        last: whether no other steps are left. Only then do two zeros agree, because rounding could have made them.
    """
    own = errors["rounding"] + errors["curvature"] + errors.get("bend", 0.0)
    scale, off = max(abs(exact), abs(numeric)), abs(exact - numeric)
    sure = complete and own <= tells * (scale if math.isfinite(scale) else abs(numeric))
    if not math.isfinite(exact):
        return ("wrong", "") if sure and last else ("unclear", "infinite")
    if complete and scale > 0 and off <= allowed:
        return "agrees", ""
    if off <= SEVERAL * own and (sure or (complete and last and exact == 0)):
        return "agrees", ""
    beyond_doubt = sum(error * (1 if name == "flat" else SEVERAL) for name, error in errors.items())
    if off > max(allowed, beyond_doubt):
        return "wrong", ""
    if not complete:
        return "unclear", "unreliable"
    return "unclear", max((name for name in errors if name != "bend"), key=lambda name: errors[name])


# --- The derivative by the rules ---


class RuleSlope:
    """The derivative of a function at a point, by its rules, along ``v`` of argument ``i``, for any cotangent of the output."""

    def __init__(self, point: AtPoint, i: int, v: Array, rng: np.random.Generator, ties: bool) -> None:
        self.point, self.i, self.v, self.rng, self.ties = point, i, v, rng, ties
        self.eps = float(point.kind.eps)
        self.largest = max([1.0, *map(_largest, point.values), _largest(point.here)])  # of the numbers that are known

    def parts(self, u: Array) -> Array:
        """Return what each element adds to the derivative: 0 where ``v`` is 0, even if its cotangent is infinite."""
        return self._parts(self.point, u)

    def _parts(self, point: AtPoint, u: Array) -> Array:
        return np.where(self.v == 0, 0.0, point.pulled(u)[self.i]) * self.v

    def __call__(self, u: Array) -> float:
        """Return the derivative for the cotangent ``u``."""
        return float(np.sum(self.parts(u)).real)

    def count_noise(self, found: Differences) -> None:
        """Measure the rounding inside the function, which may be larger than that of its result."""
        rough = found.roughness()
        noise = rough <= NOISE * abs(self.point.here).max(initial=0.0)  # a rougher result: the step is too large
        found.count_in(np.where(noise, np.minimum(rough / self.eps, self.largest), 0.0))

    def objections(self, u: Array, exact: float, found: Differences) -> dict[str, float]:
        """Return further possible differences between the two derivatives, by their reason. This is slow."""
        flat, step = found.best.slope == 0, found.best.step
        # An element that does not change may be small compared with numbers inside the formula (a 1, the argument).
        inside = self.eps * self.largest
        unseen = ROUNDINGS * inside * float(np.sum(np.where(flat, abs(u), 0.0) / step))
        return {
            "flat": min(unseen, abs(exact - self(np.where(flat, 0.0, u)))),
            "unstable": self._instability(u, found),
            "jump": math.inf if exact == 0 and self._is_whole() else 0.0,
        }

    def _instability(self, u: Array, found: Differences) -> float:
        """Return how far the rule's results near the point differ from each other.

        They differ if two numbers are nearly equal, or near a singular matrix. If a rule is wrong at this point alone, only
        its result here differs from the others.
        """
        changes = self._spread(u, [self._beside(u, NEAR)[0] for _ in range(TRIES)])
        for step in np.unique(found.best.step[found.reliable]):
            part = np.where(found.best.step == step, u, 0.0)
            pairs = [self._beside(part, step) for _ in range(TRIES)]
            changes += self._spread(part, [(one + other) / 2 for one, other in pairs])  # smooth changes cancel
        return changes

    def _spread(self, u: Array, near: list[float]) -> float:
        return _known(float(np.ptp([*near, self(u)] if self.ties else near)))

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


# --- Numbers ---


def _length(v: Any) -> float:
    """Return the Euclidean norm, safe from overflow of the squares; 1 if all elements are 0."""
    largest = float(abs(v).max(initial=0.0))
    return largest * float(np.linalg.norm((v / largest).ravel())) if largest else 1.0


def _largest(array: Array) -> float:
    return float(abs(array[np.isfinite(array)]).max(initial=0.0))


def _known(error: float) -> float:
    """Return an error, or infinity if a function or a rule cannot be computed nearby."""
    return math.inf if math.isnan(error) else error
