"""Checks derivatives against finite differences: one agrees, or is wrong, or differences cannot decide, for a reason.

``check_grads`` judges whole functions, and ``check_edges`` (with ``minigrad check``, ``explain`` and ``minigrad debug``) judges
single operations of a recorded run. ``differences.py`` measures both derivatives, and :func:`judge_all` judges them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._tree import leaves, map_leaves
from ..engine.tensor import Tensor
from ..errors import ArgumentError, MinigradError
from ..transforms.grad import check_no_step, vjp
from .differences import AtPoint, Slope, double

TOLERANCE = 1e-5  # the smallest relative difference that counts as an error
SEVERAL = 5  # a rule is wrong only if its error is this many times the possible error of the difference
TELLS = 1e-3  # the largest relative error of a difference that can confirm a rule

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


class GradientError(MinigradError, AssertionError):
    """A derivative disagrees with finite differences.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> square = mg.primitive(lambda x: x * x, name="square").vjp(x=lambda g, x: g * x)  # the 2 is missing
        >>> mg.check_grads(square, [np.array(3.0)])
        Traceback (most recent call last):
            ...
        minigrad.guards.checking.GradientError: order 1, argument 0: the derivative along a random direction is...
    """


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    *,
    rtol: float = 1e-6,
    seed: int = 0,
) -> None:
    """Compare the derivatives of ``f`` at ``args``, up to ``order``, with finite differences.

    ``f`` is called with Tensors, as ``grad`` calls it.

    Each argument in turn moves along a random direction ``v``, each element in proportion to its size. Central differences
    estimate the derivative of each output element along ``v`` and the error of the estimate. A weighted sum of the estimates,
    in which large and small elements count alike, is compared with the result of the rules. If the two disagree, other steps
    are tried. Only a disagreement beyond the error of the differences is reported, so a wrong rule may go unnoticed at a kink.
    Order 2 checks the gradient of ``f`` in the same way. Everything is computed in double precision.

    Args:
        args: arrays, or nested containers of arrays, floating or complex.
        rtol: the allowed difference. Each element of the argument adds a term to the derivative along ``v``; ``rtol`` is
            relative to the sum of the absolute values of these terms.

    Raises:
        GradientError: the derivatives disagree, and the message names the order, the argument and both numbers; or the value
            or a derivative of ``f`` is infinite or NaN.
        UnsupportedError: ``f`` returned an integer or a boolean.
        ArgumentError: ``order`` is less than 1.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([0.5, 1.0, 2.0])
        >>> mg.check_grads(lambda x: np.sin(x) * x, [x])  # first and second order are right: nothing is raised
    """
    if order < 1:
        raise ArgumentError(f"check_grads needs order >= 1, got {order}")
    rng = np.random.default_rng(seed)
    primals = tuple(map_leaves(double, arg) for arg in args)
    for level in range(1, order + 1):
        function = AtPoint(_of_arrays(f, primals), [leaves(arg) for arg in primals])
        check_no_step(function.output, "check_grads")
        if not np.isfinite(function.here).all():
            what = "the value" if level == 1 else "a derivative"
            raise GradientError(
                f"order {level}: {what} of the function is infinite or NaN at these arguments: pass others"
            )
        for i, result in enumerate(judge_all(function, rng, tolerance=rtol, ties=False)):
            if result.verdict == "wrong" or not math.isfinite(result.exact):
                raise GradientError(f"order {level}, argument {i}: the derivative {result.said(10)}")
        f, primals = _gradient(f), (*primals, function.cotangent(rng))  # the next order also moves the cotangent


def _of_arrays(f: Callable[..., Any], args: Sequence[Any]) -> Callable[..., list[Any]]:
    """Return a function of nested containers as a function of the Tensors in them."""

    def run(*tensors: Tensor) -> list[Any]:
        given = iter(tensors)
        return leaves(f(*[map_leaves(lambda _: next(given), arg) for arg in args]))

    return run


def _gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: vjp(lambda *first: leaves(f(*first)), *args[:-1])[1](args[-1])


# --- the judge ---


@np.errstate(all="ignore")  # a step may leave the domain of the function
def judge_all(
    point: AtPoint, rng: np.random.Generator, *, tolerance: float = TOLERANCE, ties: bool = True
) -> list[Comparison]:
    """Judge the derivative of a function at a point with respect to each of its arguments.

    Args:
        ties: whether a rule that is right all around the point may differ at the point itself, where operands may be equal.
    """
    if not np.isfinite(point.here).all():
        point.pulled(np.ones_like(point.here))  # raises the error of a rule that fails or returns a wrong shape
        return [unclear("infinite")] * len(point.values)
    judged = []
    for slope in point.slopes(rng, ties):
        small, result = slope.of_small_elements(), judge(slope, tolerance)
        while result.verdict != "wrong" and small is not None:
            found = judge(small, tolerance)
            result = found if found.verdict == "wrong" else result
            small = small.of_small_elements()
        judged.append(result)
    return judged


def judge(slope: Slope, tolerance: float = TOLERANCE) -> Comparison:
    """Compare a derivative by the rules with finite differences.

    The first step is enough if they agree. A rule is wrong only if all steps disagree, and if no unstable rule explains it.
    """
    result = _judge(slope, tolerance)
    if result.exact == result.numeric == 0.0 and slope.found.is_constant():
        return result._replace(verdict="agrees", reason="")
    if result.verdict != "agrees":
        hidden = slope.errors["rounding"] > TELLS * abs(slope.numeric)
        for last in slope.found.steps(coarse_first=hidden or result.reason == "rounding"):
            slope.measure()
            result = _judge(slope, tolerance, last)
            if result.verdict == "agrees":
                break
    return result


def _judge(slope: Slope, tolerance: float, last: bool = False) -> Comparison:
    """Judge the last measurement. ``last``: no other steps are left."""
    exact, numeric, errors = slope.exact, slope.numeric, slope.errors
    # What the terms of a sum that cancels may be off by counts at the end only, because another step may show more.
    allowed = tolerance * max(slope.size if last and math.isfinite(exact) else abs(exact), abs(numeric))
    tells = TELLS if last else tolerance  # before the last step, a better one may come
    verdict, reason = _verdict(slope, errors, allowed, tells, last)
    if verdict == "wrong" and last:
        errors = errors | slope.objections()
        verdict, reason = _verdict(slope, errors, allowed, tells, last)
    if not slope.found.reliable.any():
        verdict, reason = "unclear", "unreliable"
    if slope.found.one_step and verdict == "agrees" and slope.bend > abs(numeric) / 4 + 8 * errors["rounding"]:
        verdict, reason = "unclear", "bend"  # one step cannot exclude a bend
    reason = slope.found.why_unreliable() if reason == "unreliable" else reason
    own = sum(errors.values()) - errors["doubt"]  # includes the objections, if they were asked for
    scale = max(abs(exact), abs(numeric)) or 1.0
    return Comparison(*slope.along, abs(exact - numeric) / scale, own / scale, verdict, MEANT.get(reason, reason))


def _verdict(slope: Slope, errors: Mapping[str, float], allowed: float, tells: float, last: bool) -> tuple[str, str]:
    """Return the verdict, and the reason if it is unclear.

    Args:
        errors: the possible differences of the two derivatives, by their reason. Their sum decides whether the rule can be
            called wrong. The errors of the numeric derivative alone decide whether it can confirm the rule.
        allowed: the difference that counts as none.
        tells: the largest relative error of a difference that can confirm a rule.
        last: whether no other steps are left. Only then do two zeros agree, because rounding could have made them.
    """
    exact, numeric, complete = slope.exact, slope.numeric, slope.complete
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
