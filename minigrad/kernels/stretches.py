"""The backward of elementwise operations in a row, some rows of their arrays at a time.

``tanh(x) * exp(-x * x)`` is a stretch of the tape in which the i-th row of every cotangent depends on i-th rows only. Swept
entry by entry, each rule reads and writes whole arrays, which have left the cache when the next one asks for them; swept block
by block they are still there, and each core has blocks of its own. The same rules compute the same numbers, of parts.
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..engine.kernels import reference_mode
from ..engine.plan import Plan
from ..engine.tape import Entry, Leaf, pulling_large, sweep
from ..engine.types import Array, Node
from ..rules import reductions
from .threads import BLOCK, blocks_of, in_turn

Shape = tuple[int, ...]
_PASSES = 16  # over the arrays: some three for each entry
# With keepdims: as many rows in the answer say that they are not over the first axis.
_REDUCTIONS = {getattr(reductions, name) for name in ("sum", "mean", "max", "min", "var", "std")}


def pulling_by_rows(
    entries: list[Entry], cotangents: Any, ends: Collection[Node] | None, retain_graph: bool
) -> Callable[[Entry, Array], Sequence[Array]]:
    """What a sweep along ``entries`` pulls back large cotangents with.

    Args:
        cotangents: what has arrived: what did within a stretch is taken from them, and they get what comes out of it.
        ends: the nodes that are asked for, None for all leaves: such an entry is not within a stretch.

    Returns:
        A pull that goes through as much of a stretch as lies before an entry, and leaves nothing to be taken; or, where the
        entry is not elementwise, that of its plan.
    """

    def pull(entry: Entry, g: Array) -> Sequence[Array]:
        blocks = blocks_of(len(g), g.size, _PASSES)
        fit = len(blocks) > 1 and g.size <= BLOCK * len(g)
        stretch = _stretch(entry, entries, ends or ()) if fit and not reference_mode.active() else []
        if len(stretch) < 2:
            return entry.plan.pull(entry, g)
        arrived = {entry: g} | {other: cotangents.arrived.pop(other, None) for other in stretch[1:]}
        found = _sweep_blocks(arrived, blocks, entry.shape)
        cotangents.take(found, found.values(), entry, fresh=True)
        for swept in () if retain_graph else stretch:
            swept.kept = None
        return ()

    return pull


def _stretch(entry: Entry, entries: list[Entry], ends: Collection[Node]) -> list[Entry]:
    """It and those before it up to the first that does not go by rows; or none if they keep nothing to go over."""
    stretch = [entry] if _by_rows(entry, entry.shape) else []
    before = entries[: bisect_left(entries, entry.seq, key=attrgetter("seq"))] if stretch else []
    stretch += itertools.takewhile(lambda other: other not in ends and _by_rows(other, entry.shape), reversed(before))
    return stretch if any(type(value) is np.ndarray for swept in stretch for value in swept.kept or ()) else []


def _by_rows(entry: Entry, shape: Shape) -> bool:
    """Whether row i of the cotangents of its inputs comes of rows i alone, and there are as many as ``shape`` has."""
    primitive, kept = entry.primitive, entry.kept or ()
    if entry.hooks is not None or entry.notes or not _divided(entry, shape) or type(entry.plan) is not Plan:
        return False
    if any(value is not None for value in kept[len(entry.plan.names) :]):  # _inplace.py has something to compare
        return False
    if not all(_in_rows(value) for value in kept if isinstance(value, np.ndarray)):
        return False
    if isinstance(primitive.function, np.ufunc):
        return primitive.function.nout == 1 and primitive.function.signature is None
    return primitive in _REDUCTIONS and bool(entry.keywords.get("keepdims"))


def _in_rows(array: Array) -> bool:
    """Whether its rows follow each other in memory: some rows of a transposed array are read from all over."""
    return all(abs(array.strides[0]) >= abs(stride) for stride in array.strides[1:])


def _divided(array: Any, shape: Shape) -> bool:
    """Whether a node or an array has the rows of ``shape``, which it broadcasts to."""
    return len(array.shape) == len(shape) and array.shape[0] == shape[0]


def _sweep_blocks(stretch: dict[Entry, Any], blocks: list[slice], shape: Shape) -> dict[Node, Array]:
    """What arrives at the nodes before the stretch, in new arrays, of what has arrived at each of its entries (or None)."""
    parents = dict.fromkeys(parent for entry in stretch for parent in entry.parents if parent is not None)
    nodes = [node for node in parents if node not in stretch]
    whole = {node: np.empty(node.shape, node.dtype) for node in nodes if _divided(node, shape)}

    def some(rows: slice) -> dict[Node, Array]:
        found = _sweep_rows(stretch, nodes, rows, shape)
        for node, cotangent in whole.items():
            cotangent[rows] = found.pop(node, 0)
        return found

    first, *others = in_turn(some, blocks, _PASSES * math.prod(shape))
    return whole | {node: sum((part[node] for part in others), start=first[node]) for node in first}


def _sweep_rows(stretch: dict[Entry, Any], nodes: list[Node], rows: slice, shape: Shape) -> dict[Node, Array]:
    """What the nodes get from these rows of what arrived at the entries of the stretch: swept on a small tape of its own."""
    count = rows.stop - rows.start
    here: dict[Node, Any] = {}
    for node in nodes:
        here[node] = Leaf(None, (count, *node.shape[1:]) if _divided(node, shape) else node.shape, node.dtype)
    for entry in reversed(stretch):
        part = here[entry] = object.__new__(Entry)
        part.seq, part.plan, part.keywords = entry.seq, entry.plan, entry.keywords
        part.dtype, part.notes, part.hooks = entry.dtype, (), None
        part.parents = [here.get(parent) for parent in entry.parents]
        part.shape = (count, *entry.shape[1:])
        part.kept = [_part(name, value, rows, shape) for name, value in zip(entry.plan.names, entry.kept or ())]
    seeds = {here[entry]: g[rows] for entry, g in stretch.items() if g is not None}
    found = sweep(seeds, way=([here[entry] for entry in reversed(stretch)], None))
    return {node: found[here[node]] for node in nodes if here[node] in found}


def _part(name: str, value: Any, rows: slice, shape: Shape) -> Any:
    """Of what a rule asks for: the rows of an array, the shape of these, or all of what has none."""
    if name.endswith("_shape"):
        return (rows.stop - rows.start, *value[1:]) if len(value) == len(shape) and value[0] == shape[0] else value
    return value[rows] if isinstance(value, np.ndarray) and _divided(value, shape) else value


pulling_large.append(pulling_by_rows)
