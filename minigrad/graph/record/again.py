"""An operation that is run again, in double precision, at and near the operands that a trace wrote down."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...device import is_device_array, to_host
from ...engine.tensor import Tensor
from ...guards.checking import double
from ...guards.differences import FIRST, ROUNDINGS, Differences, jitter, roughness
from ...transforms.grad import vjp
from .model import Edge, Node

NEAR = 2.0**-48  # of its size: by how much an operand may be off through rounding
ROUNDED = 2.0**-52  # of its size: by how much a number is off through its own rounding
TRIES = 12  # with other operands, to see whether a rule holds still
STEPS = (2.0**-8, -(2.0**-8), 2.0**-14, -(2.0**-14))  # at which a function is asked whether it gives whole numbers
LOST = 1e-5  # what a rule may change by, relatively, when all it computes with is scaled
OFF_SCALE = (2.0**-400, 2.0**400)  # what lies outside may be lost in a product of three


class Again:
    """One operation, its outputs as one row of numbers, and its rules.

    Attributes:
        values: the operands that are differentiated.
        here: the outputs.
        kind: how they are rounded, as ``numpy.finfo`` has it.
    """

    def __init__(self, node: Node, operands: Sequence[Edge], differentiated: Sequence[Edge]) -> None:
        self._node = node
        self._names = node.primitive.arguments or [edge.argument for edge in operands]
        self._constants = {edge.argument: edge.value for edge in operands}
        self._moved = [edge.argument for edge in differentiated]
        self._arrays = [double(edge.value) for edge in differentiated]
        self._outputs, self._pullback = vjp(self._run, *self._arrays)
        self.values = [to_host(array) for array in self._arrays]
        self.here = _flat(self._outputs)
        kinds = [np.finfo(array.dtype) for array in _several(self._outputs)] or [np.finfo(np.float64)]
        self.kind = max(kinds, key=lambda kind: float(kind.eps))

    def _run(self, *values: Any) -> Any:
        given = dict(zip(self._moved, values))
        arguments = [given.get(name, self._constants.get(name)) for name in self._names]
        outputs = self._node.primitive(*arguments, **self._node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return outputs

    def at(self, moves: Sequence[Any]) -> Any:
        """The outputs where the operands are moved so far, each None or an array; NaN where the function is not defined."""
        arrays = [array if v is None else array + _like(v, array) for array, v in zip(self._arrays, moves)]
        try:
            return _flat(self._run(*arrays))
        except (ArithmeticError, ValueError):
            return np.full(self.here.shape, np.nan)

    def along(self, i: int, v: Any, t: float) -> Any:
        """The outputs where operand ``i`` is moved by ``t v``."""
        return self.at([t * v if j == i else None for j in range(len(self._arrays))])

    def differences(self, i: int, v: Any, step: float) -> Differences:
        return Differences(lambda t: self.along(i, v, t), self.here, self.kind, step)

    def pulled(self, u: Any) -> list[Any]:
        """What the rules make of the cotangent ``u`` of the outputs: one array for each operand."""
        return _pulled(self._outputs, self._pullback, u)

    # What is asked before a rule is called wrong

    def objections(
        self, i: int, u: Any, v: Any, exact: float, found: Differences, rng: np.random.Generator
    ) -> dict[str, float]:
        """What else the two derivatives may be apart by, which takes long to find out, and why."""
        flat, step = found.best.slope == 0, found.best.step
        # What does not change at all may be small beside numbers inside the formula, such as a 1 or the operand.
        inside = float(self.kind.eps) * max([1.0, *map(_largest, self.values)])
        unseen = ROUNDINGS * inside * float(np.sum(np.where(flat, abs(u), 0.0) / step))
        rough = np.maximum(self._roughness(i, v, found), np.minimum(self._coarseness(i, v), inside))
        rough = np.maximum(ROUNDINGS * rough, self._looseness(rng))
        without = slope_along(v, self.pulled(np.where(flat, 0.0, u))[i])
        return {
            "flat": min(unseen, abs(exact - without)),
            "rough": float(np.sum(abs(u) * np.where(found.told, rough, 0.0) / step)),
            "unstable": self._instability(i, u, v, found, rng),
            "jump": math.inf if exact == 0 and self._is_whole(i, v) else 0.0,
            "infinite": math.inf if self._is_off_scale(i, u, v, exact) else 0.0,
        }

    def _roughness(self, i: int, v: Any, found: Differences) -> Any:
        """How rough each number is within the step that was taken for it."""
        rough = np.zeros(self.here.shape)
        for step in np.unique(found.best.step):
            rough = np.where(found.best.step == step, roughness(lambda t: self.along(i, v, t), step), rough)
        return rough

    def _coarseness(self, i: int, v: Any) -> Any:
        """How high the stairs are, if the result is one of few numbers."""
        return roughness(lambda t: self.along(i, v, t), FIRST)

    def _looseness(self, rng: np.random.Generator) -> Any:
        """By how much the result changes if the operands change by their rounding: all of it, where ``x % 3`` is of 1e30."""
        rows = [self.at([ROUNDED * jitter(value, rng) for value in self.values]) for _ in range(TRIES)]
        return np.max([abs(row - self.here) for row in rows], axis=0)

    def _instability(self, i: int, u: Any, v: Any, found: Differences, rng: np.random.Generator) -> float:
        """By how much the rule changes within the step, or if all operands change by a few roundings.

        It does so where two numbers are nearly tied, or near a singular matrix.
        """
        exact = slope_along(v, self.pulled(u)[i])
        changes = [abs(self._beside(i, u, v, NEAR, rng)[0] - exact) for _ in range(TRIES)]
        for step in np.unique(found.best.step[found.told]):
            part = np.where(found.best.step == step, u, 0.0)
            exact = slope_along(v, self.pulled(part)[i])
            pairs = [self._beside(i, part, v, step, rng) for _ in range(TRIES)]
            changes[0] += max(abs((one + other) / 2 - exact) for one, other in pairs)  # what is smooth cancels
        return math.inf if np.isnan(changes).any() else max(changes)

    def _beside(self, i: int, u: Any, v: Any, step: float, rng: np.random.Generator) -> list[float]:
        """The derivative after a random move of operand ``i`` by ``step``, the others by ``NEAR``, and after the opposite."""
        moves = [(step if j == i else NEAR) * jitter(value, rng) for j, value in enumerate(self.values)]
        found = []
        for sign in (1, -1):
            near = [array + _like(sign * move, array) for array, move in zip(self._arrays, moves)]
            try:
                pulled = _pulled(*vjp(self._run, *near), u * (1 + NEAR * rng.uniform(-1, 1, u.shape)))[i]
            except (ArithmeticError, ValueError):
                return [math.nan, math.nan]
            found.append(slope_along(v, pulled))
        return found

    def _is_whole(self, i: int, v: Any) -> bool:
        """Whether the function gives whole numbers only, so that 0 is its derivative between jumps that nothing shows."""
        rows = [self.along(i, v, t) for t in STEPS]
        return all(bool((np.rint(row) == row).all()) for row in rows)

    def _is_off_scale(self, i: int, u: Any, v: Any, exact: float) -> bool:
        """Whether numbers inside the rule may have become 0 or infinite for being too small or too large."""
        for factor in (2.0**60, 2.0**-60):
            scaled = slope_along(v, self.pulled(u * factor)[i])
            if 1e-280 < abs(scaled) < math.inf and abs(scaled / factor - exact) > LOST * abs(exact):
                return True
        pulled, sizes = abs(self.pulled(np.ones_like(self.here))[i]), abs(self.values[i])
        extreme = (sizes > OFF_SCALE[1]) | ((sizes > 0) & (sizes < OFF_SCALE[0]))
        return bool((extreme & ((pulled < 2.0**-1000) | ~np.isfinite(pulled))).any())


def slope_along(v: Any, pulled: Any) -> float:
    """The derivative along ``v``, from the cotangent of the operand; what does not move may be infinite."""
    return float(np.sum(np.where(v == 0, 0.0, pulled) * v).real)


def _largest(array: Any) -> float:
    return float(abs(array[np.isfinite(array)]).max(initial=0.0))


def _pulled(outputs: Any, pullback: Callable[[Any], Sequence[Any]], u: Any) -> list[Any]:
    """The cotangents of the operands, on the host, from one of the outputs in a row."""
    pieces, start = [], 0
    for output in _several(outputs):
        piece = u[start : start + output.size].reshape(output.shape)
        pieces.append(_like(piece if output.dtype.kind == "c" else piece.real, output))
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
