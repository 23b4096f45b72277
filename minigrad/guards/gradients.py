"""Measures the gradients of a run: by parameter, by layer and by turn of a loop; and units that are dead or saturated."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..device import to_host
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..rules import einsum, elementwise, indexing, linalg, shaping
from ..rules.about import known
from ..rules.neural import relu, softmax
from .origin import ObservedRun

ONE_HOT = 0.99  # a row of a softmax counts as saturated if one weight is above this
# The operations that read the weights of a sum:
WEIGHING = {linalg.matmul, elementwise.multiply, einsum.einsum, indexing.getitem, shaping.expand_dims, shaping.reshape}


def norm(value: Any) -> float:
    """Return the Euclidean norm over all elements of an array or a Tensor as a Python number."""
    return float(norm_there(value.data if isinstance(value, Tensor) else value))


def single(value: Any) -> complex | None:
    """Return the only element of an array or a Tensor as a Python number; None if it has several."""
    array = value.data if isinstance(value, Tensor) else value
    return to_host(array).item() if array.size == 1 else None


def norm_there(array: Any) -> Any:
    """Return the norm on the array's own device, in double precision: in float32, the square of 1.9e19 overflows."""
    return np.linalg.norm(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def sum_of_squares(array: Array) -> float:
    """Return the sum in the precision of the array, which is fast; it may overflow."""
    flat = array.ravel()
    return float(np.vdot(flat, flat).real if array.dtype.kind == "c" else flat.dot(flat))


def by_layer(names: Iterable[str]) -> dict[str, list[int]]:
    """Return the places of the parameters of each layer. A layer is a module that holds parameters directly."""
    layers: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        layers[name.rpartition(".")[0] or name].append(place)
    return dict(layers)


def together(norms: Array) -> Array:
    """Return the norm of each row, (step, parameter) -> (step,). NaNs are left out; a row of NaNs gives NaN."""
    squares = np.nansum(norms * norms, axis=1)
    return np.where(np.isnan(norms).all(axis=1), np.nan, np.sqrt(squares))


class Turns(NamedTuple):
    """The runs of one call of the program, in a loop or in a stack of layers, in order of execution.

    Attributes:
        nodes: the operations.
        norms: the norms of the gradients that arrived at their results.
    """

    nodes: list[Any]
    norms: list[float]

    @property
    def ratio(self) -> float:
        """The gradient at the first turn divided by that at the last; 1 if they are not positive and finite."""
        first, last = self.norms[0], self.norms[-1]
        return first / last if 0 < first < np.inf and 0 < last < np.inf else 1.0

    @property
    def factor(self) -> float:
        """The growth of the gradient from a turn to the one before."""
        return float(self.ratio ** (1 / max(1, len(self.norms) - 1)))


class gradient_health:
    """What the gradients of a traced run are like. Each attribute is measured when it is first read.

    Args:
        run: a graph with values and cotangents. Its nodes also have a ``source``, the line that called the operation.
    """

    def __init__(self, run: ObservedRun) -> None:
        self._run = run

    @functools.cached_property
    def units(self) -> dict[int, tuple[str, float]]:
        """For the id of each activation "dead" and the share of units that are 0 for each row of the batch, or "saturated" and
        the share of elements at which it is flat (of a softmax that weighs a sum: of rows with all weight on one place)."""
        readers: dict[int, set[Any]] = defaultdict(set)
        for operands in self._run.edges_into.values():
            for edge in operands:
                readers[edge.source].add(self._run.nodes[edge.target].primitive)
        found = {node.id: _units(node.primitive, node.value, readers[node.id]) for node in self._run.nodes}
        return {number: share for number, share in found.items() if share is not None}

    @functools.cached_property
    def turns(self) -> list[Turns]:
        """The operations that the same call of the program has carried out, with the norms of their gradients."""
        places: dict[Any, list[Any]] = defaultdict(list)
        for node in self._run.nodes:
            place: Any = getattr(node, "source", None)
            if node.operation is not None and place is not None and isinstance(node.cotangent, np.ndarray):
                places[place.file, place.line, place.column, node.operation].append(node)
        return [Turns(nodes, [norm(node.cotangent) for node in nodes]) for nodes in places.values()]


def _units(primitive: Any, value: Any, readers: set[Any]) -> tuple[str, float] | None:
    if primitive is None or not isinstance(value, np.ndarray) or value.ndim < 2 or value.size < 8:
        return None
    facts = known(primitive)
    if facts.dies and (primitive is relu or value.min() == 0):  # np.maximum(x, 0), not np.maximum(x, y)
        return "dead", float((value.reshape(-1, value.shape[-1]) <= 0).all(axis=0).mean())
    if facts.flat is not None:
        return "saturated", float(facts.flat(value).mean())
    if primitive is softmax and value.shape[-1] > 2 and readers & WEIGHING and elementwise.log not in readers:
        return "saturated", float((value.max(axis=-1) > ONE_HOT).mean())
    return None
