"""Each edge's own derivative beside a finite difference, on the numbers that its operation ran on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...checking import double
from ...device import is_device_array, to_host
from ...differences import FIRST, ROUNDINGS, Differences, direction, jitter, roughness, weights
from ...engine.primitive import Primitive
from ...engine.tensor import Tensor
from ...errors import GraphError
from ...transforms import vjp
from .model import Edge, Graph, Node

TOLERANCE = 1e-5  # a smaller relative error is none
SEVERAL = 5  # times its own error is what a difference must be off by before a rule is called wrong
TELLS = 1e-3  # the largest error of a difference, relative to the derivative, with which it can confirm a rule
STEPS = (2.0**-8, -(2.0**-8), 2.0**-14, -(2.0**-14))  # at which a function is asked whether it gives whole numbers
NEAR = 2.0**-48  # of its size: by how much an operand may be off through rounding
HIDDEN = 2.0**-12  # operands so much smaller than the largest are moved once more, by themselves

REASONS = {
    "kink": "the function has a kink or a jump there, so there may be no derivative to compare with",
    "rounding": "the derivative is too small beside the rounding of the result",
    "curvature": "differences with different steps disagree",
    "unstable": "the rule itself changes as much if the operands change by their rounding",
    "infinite": "the derivative, the result, or the function near by is infinite or NaN, or too large or small",
}
MEANT = {"bend": "kink", "jump": "kink", "doubt": "curvature", "rough": "rounding"}  # which of them an error stands for


class Comparison(NamedTuple):
    """The derivative of an operation by one operand, twice.

    Attributes:
        exact: by its rule, along directions of length 1.
        numeric: by finite differences.
        error: their difference, relative to the larger of the two.
        uncertainty: what the finite difference itself may be off by, relative to the same.
        verdict: "agrees", "unclear" or "wrong".
        reason: why it is unclear: a key of ``REASONS``; else empty.
    """

    exact: float
    numeric: float
    error: float
    uncertainty: float
    verdict: str
    reason: str = ""


def check_derivatives(graph: Graph, *, step: float = FIRST, seed: int = 0) -> None:
    """Fill in ``Edge.error``, ``verdict`` and ``reason``, as ``check_edges`` describes them.

    Raises:
        GraphError: the computation was not traced.
    """
    into = graph.edges_into()
    rng = np.random.default_rng(seed)
    found = []
    for node in graph.operations():
        if can_be_compared(node, into[node.id]):
            found += compared(node, into[node.id], graph, rng, step)
    if not found:
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    for edge, comparison in found:
        edge.error, edge.uncertainty = comparison.error, comparison.uncertainty
        edge.verdict, edge.reason = comparison.verdict, REASONS.get(comparison.reason, "")


def can_be_compared(node: Node, operands: Sequence[Edge]) -> bool:
    """Whether the operation can be carried out again."""
    return isinstance(node.primitive, Primitive) and bool(operands) and all(e.value is not None for e in operands)


def compared(
    node: Node, operands: list[Edge], graph: Graph, rng: np.random.Generator, step: float = FIRST
) -> list[tuple[Edge, Comparison]]:
    """The derivative of one operation by each of its operands, by its rule and by differences."""
    differentiated = [edge for edge in operands if graph.nodes[edge.source].kind != "constant"]
    with np.errstate(all="ignore"):
        return list(zip(differentiated, Again(node, operands, differentiated).comparisons(rng, step)))


class Again:
    """An operation that is run again, in double precision, near the operands that were written down."""

    def __init__(self, node: Node, operands: Sequence[Edge], differentiated: Sequence[Edge]) -> None:
        self._node = node
        self._names = node.primitive.arguments or [edge.argument for edge in operands]
        self._constants = {edge.argument: edge.value for edge in operands}
        self._moved = [edge.argument for edge in differentiated]
        self._values = [double(edge.value) for edge in differentiated]
        self._outputs, self._pullback = vjp(self._run, *self._values)
        self._here = _flat(self._outputs)
        kinds = [np.finfo(array.dtype) for array in _several(self._outputs)] or [np.finfo(np.float64)]
        self._kind = max(kinds, key=lambda kind: float(kind.eps))

    def comparisons(self, rng: np.random.Generator, step: float) -> Iterator[Comparison]:
        if not np.isfinite(self._here).all():
            _pulled(self._outputs, self._pullback, np.ones_like(self._here))  # a rule that raises, or gives another shape, says so
            for _ in self._values:
                yield Comparison(math.nan, math.nan, math.nan, math.inf, "unclear", "infinite")
            return
        directions = [direction(to_host(value), rng) for value in self._values]
        first = [self._differences(i, v, step) for i, v in enumerate(directions)]
        coarse = np.max([abs(one.best.slope) for one in first], axis=0) if first else None
        for i, (v, found) in enumerate(zip(directions, first)):
            found.count_in(coarse)
            result = self._compare(i, v, found, rng)
            for _ in range(2):
                v = np.where(abs(v) < HIDDEN * abs(v).max(initial=0.0), v, 0.0)
                if result.verdict == "wrong" or not v.any():
                    break
                found = self._differences(i, v, step)
                found.count_in(coarse)
                other = self._compare(i, v, found, rng)
                result = other if other.verdict == "wrong" else result
            yield result

    def _run(self, *values: Any) -> Any:
        given = dict(zip(self._moved, values))
        arguments = [given.get(name, self._constants.get(name)) for name in self._names]
        outputs = self._node.primitive(*arguments, **self._node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return outputs

    def _differences(self, i: int, v: Any, step: float) -> Differences:
        value, like = self._values[i], self._values[i]
        along = _like(v, like)

        def move(t: float) -> Any:
            try:
                return _flat(self._run(*self._values[:i], value + t * along, *self._values[i + 1 :]))
            except (ArithmeticError, ValueError):  # there the function is not defined
                return np.full(self._here.shape, np.nan)

        return Differences(move, self._here, self._kind, step)

    def _compare(self, i: int, v: Any, found: Differences, rng: np.random.Generator) -> Comparison:
        """With as many steps as it takes: a rule is called wrong only after all of them."""
        result = self._judged(i, v, found, rng)
        if result.verdict != "agrees":
            for last in found.steps(result.reason == "rounding"):
                result = self._judged(i, v, found, rng, last)
                if result.verdict == "agrees":
                    break
        return result

    def _judged(self, i: int, v: Any, found: Differences, rng: np.random.Generator, last: bool = False) -> Comparison:
        """What the rule says beside what the differences say so far."""
        u = weights(found, rng)
        pulled = _pulled(self._outputs, self._pullback, u)[i]
        exact, numeric = float(np.sum(pulled * v).real), float(np.sum(u * found.best.slope).real)
        errors = found.errors(abs(u))
        errors["rounding"] += ROUNDINGS * float(self._kind.eps) * float(np.sum(abs(pulled * v)))  # the rule is rounded too
        complete = bool(found.told.all())
        verdict, reason = judged(exact, numeric, errors, complete, last)
        if verdict == "wrong" and last:
            errors |= self._objections(i, u, v, exact, found, rng)
            verdict, reason = judged(exact, numeric, errors, complete, last)
        if not found.told.any():
            verdict, reason = "unclear", "untold"
        reason = found.why_untold() if reason == "untold" else reason
        length = math.sqrt(float(np.sum(abs(u) ** 2)) * float(np.sum(abs(v) ** 2))) or 1.0
        scale = max(abs(exact), abs(numeric)) or 1.0
        own = (errors["rounding"] + errors["curvature"] + errors.get("bend", 0.0)) / scale
        return Comparison(exact / length, numeric / length, abs(exact - numeric) / scale, own, verdict, MEANT.get(reason, reason))


    def _objections(
        self, i: int, u: Any, v: Any, exact: float, found: Differences, rng: np.random.Generator
    ) -> dict[str, float]:
        """What else the two derivatives may differ by, which takes long to find out: asked before a rule is called wrong."""
        values = [to_host(value) for value in self._values]
        along = [_like(direction(value, rng), value) for value in self._values]
        rough = roughness(lambda t: _flat(self._run(*(value + t * d for value, d in zip(self._values, along)))))
        largest = max([1.0, *(float(abs(x[np.isfinite(x)]).max(initial=0.0)) for x in values)])
        # What does not change at all may be small beside numbers inside the formula, such as a 1 or the operand.
        rough = np.where(found.best.slope == 0, np.maximum(rough, float(self._kind.eps) * largest), rough)
        return {
            "rough": ROUNDINGS * float(np.sum(abs(u) * rough / found.best.step)),
            "jump": "the function has a kink or a jump there, so there may be no derivative to compare with",
    "unstable": self._instability(i, u, v, exact, found, rng),
            "jump": math.inf if exact == 0 and self._in_whole_numbers(i, v) else 0.0,
            "infinite": math.inf if self._out_of_range(i, u, v, exact) else 0.0,
        }

    def _instability(self, i: int, u: Any, v: Any, exact: float, found: Differences, rng: np.random.Generator) -> float:
        """By how much the rule changes within the step, or if all operands change by a few roundings.

        It does so where two numbers are nearly tied, or near a singular matrix.
        """
        changes = [0.0]
        step = float(found.best.step[found.told].max(initial=NEAR))
        for turn in range(24):
            sizes = [step if turn % 2 and j == i else NEAR for j in range(len(self._values))]
            near = [x + _like(size * jitter(to_host(x), rng), x) for x, size in zip(self._values, sizes)]
            try:
                pulled = _pulled(*vjp(self._run, *near), u * (1 + NEAR * rng.uniform(-1, 1, u.shape)))[i]
                changes.append(abs(float(np.sum(pulled * v).real) - exact))
            except (ArithmeticError, ValueError):
                changes.append(math.inf)
        return max(changes)

    def _in_whole_numbers(self, i: int, v: Any) -> bool:
        """Whether the function gives nothing else, so that its derivative is 0 by right between steps that nothing shows."""
        along = _like(v, self._values[i])
        rows = [_flat(self._run(*self._values[:i], self._values[i] + t * along, *self._values[i + 1 :])) for t in STEPS]
        return all(bool((np.rint(row) == row).all()) for row in rows)

    def _out_of_range(self, i: int, u: Any, v: Any, exact: float) -> bool:
        """Whether numbers inside the rule may have become 0 or infinite for being too small or too large."""
        for factor in (2.0**60, 2.0**-60):
            scaled = float(np.sum(_pulled(self._outputs, self._pullback, u * factor)[i] * v).real)
            if not abs(scaled / factor - exact) <= TOLERANCE * abs(exact):
                return True
        pulled = abs(_pulled(self._outputs, self._pullback, u)[i])
        sizes = abs(to_host(self._values[i]))
        extreme = (sizes > 2.0**400) | ((sizes > 0) & (sizes < 2.0**-400))
        return bool((extreme & ((pulled < 2.0**-1000) | ~np.isfinite(pulled))).any())


def judged(exact: float, numeric: float, errors: Mapping[str, float], complete: bool, last: bool) -> tuple[str, str]:
    """The verdict, and why it is unclear.

    Args:
        errors: what the numeric derivative may be off by, and why. Doubt speaks against calling the rule wrong, and no more.
        complete: whether every number of the output took part.
        last: whether no other steps are left. Only then two zeros, which rounding could have made, agree.
    """
    own = errors["rounding"] + errors["curvature"] + errors.get("bend", 0.0)
    against = sum(errors.values())
    scale, off = max(abs(exact), abs(numeric)), abs(exact - numeric)
    sure = complete and own <= TELLS * (scale if math.isfinite(scale) else abs(numeric))
    if not math.isfinite(exact):
        return ("wrong", "") if sure and last else ("unclear", "infinite")
    if complete and 0 < scale and off <= TOLERANCE * scale:
        return "agrees", ""
    if off <= SEVERAL * own and (sure or (complete and last and exact == 0)):
        return "agrees", ""
    if off > max(TOLERANCE * scale, SEVERAL * against):
        return "wrong", ""
    if not complete:
        return "unclear", "untold"
    return "unclear", max((name for name in errors if name != "bend"), key=lambda name: errors[name])


def _pulled(outputs: Any, pullback: Callable[[Any], Sequence[Any]], u: Any) -> list[Any]:
    """The cotangents of the operands, on the host, from one of the outputs in a row."""
    pieces, start = [], 0
    for output in _several(outputs):
        piece = u[start : start + output.size].reshape(output.shape)
        piece = piece if output.dtype.kind == "c" else piece.real
        pieces.append(_like(piece, output))
        start += output.size
    cotangent = pieces if isinstance(outputs, (tuple, list)) else pieces[0]
    return [to_host(g.data if isinstance(g, Tensor) else g) for g in pullback(cotangent)]


def _like(array: Any, other: Any) -> Any:
    """The array where the other one is."""
    return np.asarray(array, like=other) if is_device_array(other) else array


def _several(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def _flat(outputs: Any) -> Any:
    """All numbers of the outputs in one row, on the host."""
    rows = [np.ravel(to_host(output.data if isinstance(output, Tensor) else output)) for output in _several(outputs)]
    return rows[0] if len(rows) == 1 else np.concatenate(rows) if rows else np.zeros(0)
