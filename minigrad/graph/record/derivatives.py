"""Compares the derivative along each edge with a finite difference, at the operands of the traced run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine.primitive import Primitive
from ...errors import GraphError
from ...guards.differences import FIRST, ROUNDINGS, Differences, direction, weights
from .again import Again, slope_along
from .model import Edge, Graph, Node

TOLERANCE = 1e-5  # the smallest relative difference that counts as an error
SEVERAL = 5  # a rule is wrong only if its error is this many times the possible error of the difference
TELLS = 1e-3  # the largest relative error of a difference that can confirm a rule
HIDDEN = 2.0**-12  # elements smaller than this share of the largest are also moved on their own

REASONS = {
    "kink": "the function has a kink or a jump there, so there may be no derivative to compare with",
    "rounding": "the derivative is too small compared with the rounding of the result",
    "curvature": "differences with different steps disagree",
    "unstable": "the rule's result changes by at least as much when its operands are rounded",
    "left out": "the operation was not run again, because it is not traced as a whole or raised an error",
    "unsteady": "the operation gives another result when it runs again with the same operands",
    "infinite": "the derivative, the result, or a value of the function nearby is infinite or NaN, or too large or too small",
}
MEANT = {"bend": "kink", "jump": "kink", "doubt": "curvature", "rough": "rounding", "flat": "rounding"}


class Comparison(NamedTuple):
    """The derivative of an operation with respect to one operand, from its rule and from finite differences.

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


def check_derivatives(graph: Graph, *, step: float = FIRST, seed: int = 0) -> None:
    """Fill in ``Edge.error``, ``uncertainty``, ``verdict`` and ``reason``, as ``check_edges`` describes them.

    Raises:
        GraphError: the computation was not traced.
    """
    found = comparisons(graph, step=step, seed=seed)
    if all(comparison.reason == "left out" for _, comparison in found):
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    for edge, comparison in found:
        edge.error, edge.uncertainty = comparison.error, comparison.uncertainty
        edge.verdict, edge.reason = comparison.verdict, REASONS.get(comparison.reason, "")


def comparisons(
    graph: Graph, *, step: float = FIRST, seed: int = 0, skipped: tuple[type[Exception], ...] = ()
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivatives of all operations. The verdict is "unclear" for those that cannot run again.

    Args:
        skipped: for an operation that raises one of these exceptions, the verdict is "unclear", too. Other exceptions are
            raised. A Function runs the user's code, so any of its exceptions counts.
    """
    into = graph.edges_into()
    rng = np.random.default_rng(seed)
    found = []
    for node in graph.operations():
        if can_be_compared(node, into[node.id]):
            try:
                found += compared(node, into[node.id], graph, rng, step)
                continue
            except Exception as error:
                if node.again is None and not isinstance(error, skipped):
                    raise
        unknown = Comparison(math.nan, math.nan, math.nan, math.inf, "unclear", "left out")
        found += [(edge, unknown) for edge in _differentiated(graph, into[node.id])]
    return found


def can_be_compared(node: Node, operands: Sequence[Edge]) -> bool:
    """Return whether the operation can run again."""
    again = isinstance(node.primitive, Primitive) or node.again is not None
    return again and bool(operands) and all(e.value is not None for e in operands)


def _differentiated(graph: Graph, operands: Sequence[Edge]) -> list[Edge]:
    return [edge for edge in operands if graph.nodes[edge.source].kind != "constant"]


def compared(
    node: Node, operands: list[Edge], graph: Graph, rng: np.random.Generator, step: float = FIRST
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivative of one operation with respect to each of its operands."""
    differentiated = _differentiated(graph, operands)
    with np.errstate(all="ignore"):
        again = Again(node, operands, differentiated)
        return list(zip(differentiated, _comparisons(again, rng, step)))


def _comparisons(again: Again, rng: np.random.Generator, step: float) -> Iterator[Comparison]:
    if again.is_unsteady():
        for _ in again.values:
            yield Comparison(math.nan, math.nan, math.nan, math.inf, "unclear", "unsteady")
        return
    if not np.isfinite(again.here).all():
        again.pulled(np.ones_like(again.here))  # raises the error of a rule that fails or returns a wrong shape
        for _ in again.values:
            yield Comparison(math.nan, math.nan, math.nan, math.inf, "unclear", "infinite")
        return
    directions = [direction(value, rng) for value in again.values]
    first = [again.differences(i, v, step) for i, v in enumerate(directions)]
    coarse = np.max([abs(found.best.slope) for found in first], axis=0) if first else None
    for i, (v, found) in enumerate(zip(directions, first)):
        found.count_in(coarse)
        result = _compared(again, i, v, found, rng)
        for _ in range(2):
            v = np.where(abs(v) < HIDDEN * abs(v).max(initial=0.0), v, 0.0)
            if result.verdict == "wrong" or not v.any():
                break
            small = again.differences(i, v, step)
            small.count_in(coarse)
            other = _compared(again, i, v, small, rng)
            result = other if other.verdict == "wrong" else result
        yield result


def _compared(again: Again, i: int, v: Any, found: Differences, rng: np.random.Generator) -> Comparison:
    """Compare the derivatives with respect to operand ``i``, along ``v``. A rule is wrong only if all steps disagree."""
    result = _judged(again, i, v, found, rng)
    if result.verdict != "agrees":
        for last in found.steps(result.reason == "rounding"):
            result = _judged(again, i, v, found, rng, last)
            if result.verdict == "agrees":
                break
    return result


def _judged(
    again: Again, i: int, v: Any, found: Differences, rng: np.random.Generator, last: bool = False
) -> Comparison:
    """Compare the rule with the differences found so far."""
    u = weights(found, rng)
    pulled = again.pulled(u)[i]
    exact, numeric = slope_along(v, pulled), float(np.sum(u * found.best.slope).real)
    errors = found.errors(abs(u))
    if math.isfinite(exact):  # the rule is rounded too
        errors["rounding"] += ROUNDINGS * float(again.kind.eps) * slope_along(abs(v), abs(pulled))
    complete = bool(found.reliable.all())
    verdict, reason = judged(exact, numeric, errors, complete, last)
    if verdict == "wrong" and last:
        errors |= again.objections(i, u, v, exact, found, rng)
        verdict, reason = judged(exact, numeric, errors, complete, last)
    if not found.reliable.any():
        verdict, reason = "unclear", "unreliable"
    bend = float(np.sum(abs(u) * np.where(found.reliable, found.best.bend, 0.0)))
    if found.one_step and verdict == "agrees" and bend > abs(numeric) / 4 + 8 * errors["rounding"]:
        verdict, reason = "unclear", "bend"  # one step cannot exclude a bend
    reason = found.why_unreliable() if reason == "unreliable" else reason
    own = sum(errors.values()) - errors["doubt"]  # includes the objections, if they were asked for
    lengths, scale = (_length(u), _length(v)), max(abs(exact), abs(numeric)) or 1.0
    along = [number / lengths[0] / lengths[1] for number in (exact, numeric)]
    return Comparison(along[0], along[1], abs(exact - numeric) / scale, own / scale, verdict, MEANT.get(reason, reason))


def _length(v: Any) -> float:
    """Return the Euclidean norm, safe from overflow of the squares; 1 if all elements are 0."""
    largest = float(abs(v).max(initial=0.0))
    return largest * float(np.linalg.norm((v / largest).ravel())) if largest else 1.0


def judged(exact: float, numeric: float, errors: Mapping[str, float], complete: bool, last: bool) -> tuple[str, str]:
    """Return the verdict, and the reason if it is unclear.

    Args:
        errors: the possible differences of the two derivatives, by their reason. Their sum decides whether the rule can be
            called wrong. The errors of the numeric derivative alone decide whether it can confirm the rule.
        complete: whether every element of the output took part.
        last: whether no other steps are left. Only then do two zeros agree, because rounding could have made them.
    """
    own = errors["rounding"] + errors["curvature"] + errors.get("bend", 0.0)
    scale, off = max(abs(exact), abs(numeric)), abs(exact - numeric)
    sure = complete and own <= TELLS * (scale if math.isfinite(scale) else abs(numeric))
    if not math.isfinite(exact):
        return ("wrong", "") if sure and last else ("unclear", "infinite")
    if complete and scale > 0 and off <= TOLERANCE * scale:
        return "agrees", ""
    if off <= SEVERAL * own and (sure or (complete and last and exact == 0)):
        return "agrees", ""
    beyond_doubt = sum(error * (1 if name in ("rough", "flat") else SEVERAL) for name, error in errors.items())
    if off > max(TOLERANCE * scale, beyond_doubt):
        return "wrong", ""
    if not complete:
        return "unclear", "unreliable"
    return "unclear", max((name for name in errors if name != "bend"), key=lambda name: errors[name])
