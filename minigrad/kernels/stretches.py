"""The backward of elementwise operations in a row, some rows of their arrays at a time.

``tanh(x) * exp(-x * x)`` is a stretch of the tape in which the i-th row of every cotangent depends on i-th rows only. Swept
entry by entry, each rule reads and writes whole arrays, which have left the cache when the next one asks for them; swept block
by block they are still there, and each core has blocks of its own. The same rules compute the same numbers, of parts.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..engine.kernels import reference_mode
from ..engine.observers import exposed, plan_made, sweeps_under_way
from ..engine.plan import Plan
from ..engine.registry import is_elementwise
from ..engine.tape import Entry, Leaf, UnderWay, new_entry, sweep
from ..engine.types import Array, Node, Pull
from ..rules import reductions
from .threads import BLOCK, blocks_of, for_each

Shape = tuple[int, ...]
LARGE = 1 << 20  # numbers in a cotangent
_MOST = 32  # entries, all of whose kept arrays live on until the last block
_PASSES = 16  # over the arrays: some three for each entry
_RULES = reductions.__name__.rpartition(".")[0]  # the package; a user's rule may look at all of an array
_REDUCTIONS = {getattr(reductions, name) for name in ("sum", "mean", "max", "min", "var", "std")}


def pull_by_rows(plan: Plan) -> None:
    """Let a new plan pull back large cotangents through as much of a stretch as lies before an entry, where that is worth it.

    What has arrived within the stretch is taken from the sweep, which gets what comes out of it; nothing is left to be taken.
    """
    if type(plan) is not Plan or not _goes_by_rows(plan.primitive):
        return
    whole = plan.pull

    def by_rows(entry: Entry, g: Array) -> Sequence[Array]:
        sweep = next(reversed(sweeps_under_way()), None)
        stretch = _worth_it(entry, g, sweep) if sweep is not None and sweep.pulled is entry else []
        if sweep is None or not stretch:
            return whole(entry, g)
        blocks = blocks_of(len(g), _largest(stretch), _PASSES)
        arrived = {entry: g} | {other: sweep.arrived.pop(other, None) for other in stretch[1:]}
        parents = dict.fromkeys(parent for other in stretch for parent in other.parents if parent not in arrived)
        nodes = [node for node in parents if node is not None and sweep.wants(node)]
        found = _sweep_blocks(arrived, nodes, blocks, entry.shape)
        sweep.take(found, found.values(), entry, fresh=True)
        for other in () if sweep.retain_graph else stretch:
            other.kept = None
        return ()

    plan.pull = _for_large(by_rows, plan)


def _for_large(large: Pull, plan: Plan) -> Pull:
    """``large`` for cotangents of so many numbers, and for the others the plan's own: its one or two rules without a detour."""
    whole, first, second = plan.pull, *(*plan.rules, None)[:2]
    if plan.constants or first is None or None in plan.rules or len(plan.rules) > 2:  # constants are compared first
        return lambda entry, g: large(entry, g) if g.size >= LARGE else whole(entry, g)
    if second is None:
        return lambda entry, g: large(entry, g) if g.size >= LARGE else (first(g, entry.kept),)
    return lambda entry, g: large(entry, g) if g.size >= LARGE else (first(g, entry.kept), second(g, entry.kept))


def _worth_it(entry: Entry, g: Array, sweep: UnderWay) -> list[Entry]:
    """The stretch that ends with ``entry``; none where it is not worth it."""
    if (
        type(g) is not np.ndarray or exposed or g.size <= BLOCK or reference_mode.active()
    ):  # `exposed`: to be looked at one by one
        return []
    stretch = _stretch(entry, sweep.entries, sweep.arrived, sweep.ends or ())
    return stretch if len(stretch) > 1 and _largest(stretch) <= BLOCK * len(g) else []


def _largest(stretch: list[Entry]) -> int:
    return max((math.prod(entry.shape) for entry in stretch), default=0)


def _stretch(entry: Entry, entries: list[Entry], arrived: Collection[Node], ends: Collection[Node]) -> list[Entry]:
    """From ``entry`` on backwards those that go by rows and that something arrives at; the first and the last keep arrays.

    (What keeps none, such as a sum, passes on what it got: nothing is gained, and each of its inputs would get a copy.)
    """
    stretch: list[Entry] = []
    reached: set[Node] = {entry}
    last = bisect_left(entries, entry.seq, key=attrgetter("seq")) if _arrays(entry, entry.shape) else -1
    for other in (entries[i] for i in range(last, max(last - _MOST, -1), -1)):
        asked_for = other in ends and other is not entry
        if asked_for or not (other in reached or other in arrived) or not _by_rows(other, entry.shape):
            break
        stretch.append(other)
        reached.update(other.parents)
    while stretch and not _arrays(stretch[-1], entry.shape):
        stretch.pop()
    return stretch


def _arrays(entry: Entry, shape: Shape) -> list[Array]:
    """What it keeps that has the rows of ``shape``."""
    return [value for value in entry.kept or () if isinstance(value, np.ndarray) and _divided(value, shape)]


def _by_rows(entry: Entry, shape: Shape) -> bool:
    """Whether row i of the cotangents of its inputs comes of rows i alone, and there are as many as ``shape`` has."""
    primitive, keywords, nodes = entry.primitive, entry.keywords, [entry, *entry.parents]
    if entry.hooks is not None or entry.notes or not _divided(entry, shape) or type(entry.plan) is not Plan:
        return False
    if any(
        value is not None for value in (entry.kept or ())[len(entry.plan.names) :]
    ):  # guards/inplace.py has to compare
        return False
    if any(node is not None and node.dtype.char == "e" for node in nodes):  # whose sums are of float32 up to the end
        return False
    if not _goes_by_rows(primitive) or not all(_in_rows(array) for array in _arrays(entry, shape)):
        return False
    # As many rows as before say that it is not over the first axis.
    return primitive not in _REDUCTIONS or (
        keywords.keys() <= {"axis", "keepdims", "ddof"} and bool(keywords.get("keepdims"))
    )


def _goes_by_rows(primitive: Any) -> bool:
    """Whether it is elementwise or a reduction, with rules of ours."""
    if not primitive.rules or not all(rule.__module__.startswith(_RULES) for rule in primitive.rules.values()):
        return False
    return primitive in _REDUCTIONS or (is_elementwise(primitive) and bool(primitive.function.nout == 1))


def _in_rows(array: Array) -> bool:
    """Whether its rows follow each other in memory: some rows of a transposed array are read from all over."""
    return all(abs(array.strides[0]) >= abs(stride) for stride in array.strides[1:])


def _divided(array: Any, shape: Shape) -> bool:
    """Whether a node or an array has the rows of ``shape``, which it broadcasts to."""
    return len(array.shape) == len(shape) and array.shape[0] == shape[0]


def _sweep_blocks(stretch: dict[Entry, Any], nodes: list[Node], blocks: list[slice], shape: Shape) -> dict[Node, Array]:
    """What the nodes before the stretch get, in new arrays, of what has arrived at each of its entries (or None)."""
    whole = {node: np.empty(node.shape, node.dtype) for node in nodes if _divided(node, shape)}

    def some(rows: slice) -> dict[Node, Array]:
        found = _sweep_rows(stretch, nodes, rows, shape)
        for node, cotangent in whole.items():
            cotangent[rows] = found.pop(node)
        return found

    first, *others = for_each(some, blocks, _PASSES * math.prod(shape))
    return whole | {node: sum((part[node] for part in others), start=first[node]) for node in first}


def _sweep_rows(stretch: dict[Entry, Any], nodes: list[Node], rows: slice, shape: Shape) -> dict[Node, Array]:
    """What the nodes get from these rows of what arrived at the entries of the stretch: swept on a small tape of its own."""
    here: dict[Node, Any] = {node: Leaf(None, _part("_shape", node.shape, rows, shape), node.dtype) for node in nodes}
    for entry in reversed(stretch):
        parents = [here.get(parent) for parent in entry.parents]
        kept = [_part(name, value, rows, shape) for name, value in zip(entry.plan.names, entry.kept or ())]
        part = here[entry] = new_entry(entry.plan, parents, kept, entry, entry.keywords)
        part.seq, part.shape = entry.seq, _part("_shape", entry.shape, rows, shape)
    seeds = {here[entry]: g[rows] for entry, g in stretch.items() if g is not None}
    found = sweep(seeds, way=([here[entry] for entry in reversed(stretch)], None))
    return {node: found[here[node]] for node in nodes}


def _part(name: str, value: Any, rows: slice, shape: Shape) -> Any:
    """Of what a rule asks for: the rows of an array, the shape of these, or all of what has none."""
    if name.endswith("_shape"):
        return (rows.stop - rows.start, *value[1:]) if len(value) == len(shape) and value[0] == shape[0] else value
    return value[rows] if isinstance(value, np.ndarray) and _divided(value, shape) else value


plan_made.append(pull_by_rows)
