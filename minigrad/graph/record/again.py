"""Runs an operation again, in double precision, at and near the operands that a trace has recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...guards.checking import AtPoint, double, parts_along
from ...guards.differences import FIRST, ROUNDINGS, Differences, jitter, roughness
from .model import Edge, Node

NEAR = 2.0**-48  # the relative error of an operand after several roundings
ROUNDED = 2.0**-52  # the relative error of a number after one rounding
TRIES = 12  # runs with slightly different operands, which show whether a rule is stable
STEPS = (2.0**-8, -(2.0**-8), 2.0**-14, -(2.0**-14))  # steps that show whether a function gives only integers
LOST = 1e-5  # the relative change that is allowed when the cotangent is scaled
OFF_SCALE = (2.0**-400, 2.0**400)  # outside of this range, a product of three numbers may overflow or underflow


class Again(AtPoint):
    """An operation as a function of its differentiated operands."""

    def __init__(self, node: Node, operands: Sequence[Edge], differentiated: Sequence[Edge]) -> None:
        self._node = node
        self._names = getattr(node.primitive, "arguments", None) or [edge.argument for edge in operands]
        self._constants = {edge.argument: edge.value for edge in operands}
        self._moved = [edge.argument for edge in differentiated]
        super().__init__(self._run, [double(edge.value) for edge in differentiated])

    def _run(self, *values: Any) -> Any:
        given = dict(zip(self._moved, values))
        if self._node.again is not None:  # a Function
            outputs = self._node.again(self._constants | given)
        else:
            arguments = [given.get(name, self._constants.get(name)) for name in self._names]
            outputs = self._node.primitive(*arguments, **self._node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return outputs

    def is_unsteady(self) -> bool:
        """Return whether a Function, which may draw random numbers, gives another result for the same operands."""
        return self._node.again is not None and not np.array_equal(self.at([None] * len(self.values)), self.here, True)

    # Checks before a rule is called wrong

    def objections(
        self, i: int, u: Any, v: Any, exact: float, found: Differences, rng: np.random.Generator
    ) -> dict[str, float]:
        """Return further possible differences between the two derivatives, by their reason. This is slow."""
        flat, step = found.best.slope == 0, found.best.step
        # An element that does not change may be small compared with numbers inside the formula (a 1, the operand).
        inside = float(self.kind.eps) * max([1.0, *map(_largest, self.values)])
        unseen = ROUNDINGS * inside * float(np.sum(np.where(flat, abs(u), 0.0) / step))
        rough = np.maximum(found.roughness(), np.minimum(self._coarseness(i, v), inside))
        rough = np.maximum(ROUNDINGS * rough, self._looseness(rng))
        without = slope_along(v, self.pulled(np.where(flat, 0.0, u))[i])
        return {
            "flat": min(unseen, abs(exact - without)),
            "rough": float(np.sum(abs(u) * np.where(found.reliable, rough, 0.0) / step)),
            "unstable": self._instability(i, u, v, found, rng),
            "jump": math.inf if exact == 0 and self._is_whole(i, v) else 0.0,
            "infinite": math.inf if self._is_off_scale(i, u, v, exact) else 0.0,
        }

    def _coarseness(self, i: int, v: Any) -> Any:
        """Return the height of the steps if the function is a staircase."""
        return roughness(lambda t: self.along(i, v, t), FIRST)

    def _looseness(self, rng: np.random.Generator) -> Any:
        """Return the change of the result when the operands change by a rounding. It is large for ``x % 3`` at 1e30."""
        rows = [self.at([ROUNDED * jitter(value, rng) for value in self.values]) for _ in range(TRIES)]
        return np.max([abs(row - self.here) for row in rows], axis=0)

    def _instability(self, i: int, u: Any, v: Any, found: Differences, rng: np.random.Generator) -> float:
        """Return how far the rule's result changes within the step, or when all operands change by a few roundings.

        The change is large if two numbers are nearly equal, or near a singular matrix.
        """
        exact = slope_along(v, self.pulled(u)[i])
        changes = [abs(self._beside(i, u, v, NEAR, rng)[0] - exact) for _ in range(TRIES)]
        for step in np.unique(found.best.step[found.reliable]):
            part = np.where(found.best.step == step, u, 0.0)
            exact = slope_along(v, self.pulled(part)[i])
            pairs = [self._beside(i, part, v, step, rng) for _ in range(TRIES)]
            changes[0] += max(abs((one + other) / 2 - exact) for one, other in pairs)  # smooth changes cancel
        return math.inf if np.isnan(changes).any() else max(changes)

    def _beside(self, i: int, u: Any, v: Any, step: float, rng: np.random.Generator) -> list[float]:
        """Return the derivatives after a random move and its opposite: operand ``i`` by ``step``, others by ``NEAR``."""
        moves = [(step if j == i else NEAR) * jitter(value, rng) for j, value in enumerate(self.values)]
        found = []
        for sign in (1, -1):
            try:
                near = self.beside([sign * move for move in moves])
                pulled = near.pulled(u * (1 + NEAR * rng.uniform(-1, 1, u.shape)))[i]
            except (ArithmeticError, ValueError):
                return [math.nan, math.nan]
            found.append(slope_along(v, pulled))
        return found

    def _is_whole(self, i: int, v: Any) -> bool:
        """Return whether the function gives only integers, so that its derivative is 0 between jumps."""
        rows = [self.along(i, v, t) for t in STEPS]
        return all(bool((np.rint(row) == row).all()) for row in rows)

    def _is_off_scale(self, i: int, u: Any, v: Any, exact: float) -> bool:
        """Return whether numbers inside the rule may have underflowed to 0 or overflowed to infinity."""
        for factor in (2.0**60, 2.0**-60):
            scaled = slope_along(v, self.pulled(u * factor)[i])
            if 1e-280 < abs(scaled) < math.inf and abs(scaled / factor - exact) > LOST * abs(exact):
                return True
        pulled, sizes = abs(self.pulled(np.ones_like(self.here))[i]), abs(self.values[i])
        extreme = (sizes > OFF_SCALE[1]) | ((sizes > 0) & (sizes < OFF_SCALE[0]))
        return bool((extreme & ((pulled < 2.0**-1000) | ~np.isfinite(pulled))).any())


def slope_along(v: Any, pulled: Any) -> float:
    """Return the derivative along ``v``, computed from the cotangent of the operand."""
    return float(np.sum(parts_along(v, pulled)).real)


def _largest(array: Any) -> float:
    return float(abs(array[np.isfinite(array)]).max(initial=0.0))
