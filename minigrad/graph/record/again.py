"""Runs an operation again, in double precision, at and near the operands that a trace has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...guards.judging import AtPoint, double
from .model import Edge, Node


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
