"""The backward of consecutive elementwise operations, computed on one block of rows at a time.

A *stretch* is a part of the tape, such as ``tanh(x) * exp(-x * x)``, in which row i of each cotangent depends only on rows i
of other arrays. A sweep entry by entry reads and writes whole arrays, so each array has left the cache before the next rule
reads it. This module sweeps all entries of a stretch for one block of rows, whose parts of the arrays stay in the cache. Each
core works on its own blocks. The rules are the same, called with parts of the arrays.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ..engine.observers import active, exposed, plan_made, reference_mode
from ..engine.plan import Plan
from ..engine.registry import is_elementwise
from ..engine.tape import Entry, Leaf, Sweep, sweep
from ..engine.types import Array, Node, Pull
from ..rules import reductions
from .threads import BLOCK, blocks_of, for_each

Shape = tuple[int, ...]
LARGE = 1 << 20  # elements of a cotangent; below this, blocks do not pay
_MOST = 32  # the most entries in a stretch; the kept arrays of all of them stay in memory until the last block is done
_PASSES = 16  # passes over the arrays, as an estimate of the work: about three for each entry
_RULES = reductions.__name__.rpartition(".")[0]  # minigrad.rules; a user's own rule may need the whole array
_REDUCTIONS = {getattr(reductions, name) for name in ("sum", "mean", "max", "min", "var", "std")}


def pull_by_rows(plan: Plan) -> None:
    """Make a new plan pull back large cotangents through a whole stretch, if that is faster.

    The plan then removes the cotangents inside the stretch from the running sweep, and adds the cotangents of the nodes
    before the stretch to it. It returns no contributions.
    """
    if type(plan) is not Plan or not _goes_by_rows(plan.primitive):
        return
    whole = plan.pull

    def by_rows(entry: Entry, g: Array) -> Sequence[Array]:
        sweep = next(reversed(active.sweeps), None)
        stretch = _worth_it(entry, g, sweep) if sweep is not None and sweep.pulled is entry else []
        if sweep is None or not stretch:
            return whole(entry, g)
        blocks = blocks_of(len(g), _largest(stretch), _PASSES)
        arrived = {entry: g} | {other: sweep.arrived.pop(other, None) for other in stretch[1:]}
        parents = dict.fromkeys(parent for other in stretch for parent in other.parents if parent not in arrived)
        nodes = [node for node in parents if node is not None and sweep.needs(node)]
        cotangents = _sweep_blocks(arrived, nodes, blocks, entry.shape)
        sweep.add(cotangents, cotangents.values(), entry, owned=True)
        for other in () if sweep.retain_graph else stretch:
            other.kept = None
        return ()

    plan.pull = _for_large(by_rows, plan)


def _for_large(large: Pull, plan: Plan) -> Pull:
    """Return a pull that calls ``large`` for cotangents of at least LARGE elements, and otherwise does what the plan does."""
    whole, pullbacks = plan.pull, plan.pullbacks
    first, second = (*pullbacks, None)[:2]
    # With constants, guards/inplace.py has replaced the plan's pull by one that checks them.
    if plan.constants or first is None or None in pullbacks or len(pullbacks) > 2:
        return lambda entry, g: large(entry, g) if g.size >= LARGE else whole(entry, g)
    if second is None:
        return lambda entry, g: large(entry, g) if g.size >= LARGE else (first(g, entry.kept),)
    return lambda entry, g: large(entry, g) if g.size >= LARGE else (first(g, entry.kept), second(g, entry.kept))


def _worth_it(entry: Entry, g: Array, sweep: Sweep) -> list[Entry]:
    """Return the stretch that ends with ``entry``, or an empty list if blocks are slower or observers must see each entry."""
    if type(g) is not np.ndarray or exposed or g.size <= BLOCK or reference_mode.active():
        return []
    stretch = _stretch(entry, sweep.entries, sweep.arrived, sweep.ends or ())
    return stretch if len(stretch) > 1 and _largest(stretch) <= BLOCK * len(g) else []


def _largest(stretch: list[Entry]) -> int:
    return max((math.prod(entry.shape) for entry in stretch), default=0)


def _stretch(entry: Entry, entries: list[Entry], arrived: Collection[Node], ends: Collection[Node]) -> list[Entry]:
    """Return the stretch from ``entry`` backwards. It has the row-wise entries at which a cotangent arrives.

    The first and the last entry of a stretch keep arrays. An entry that keeps none, such as a sum, only passes its cotangent
    on. Blocks would not make it faster, and would copy the cotangent for each input.
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
    """Return the kept arrays of ``entry`` that have the rows of ``shape``."""
    return [value for value in entry.kept or () if isinstance(value, np.ndarray) and _divided(value, shape)]


def _by_rows(entry: Entry, shape: Shape) -> bool:
    """Whether the backward of ``entry`` is row-wise, with as many rows as ``shape`` has."""
    primitive, keywords, nodes = entry.primitive, entry.keywords, [entry, *entry.parents]
    if entry.hooks is not None or entry.notes or not _divided(entry, shape) or type(entry.plan) is not Plan:
        return False
    if any(value is not None for value in (entry.kept or ())[len(entry.plan.names) :]):
        return False  # guards/inplace.py has stored values here and must compare them
    if any(node is not None and node.dtype.char == "e" for node in nodes):
        return False  # NumPy sums float16 in float32 and rounds once; sums of blocks would round once per block
    if not _goes_by_rows(primitive) or not all(_in_rows(array) for array in _arrays(entry, shape)):
        return False
    # The output has as many rows as the input, so a reduction that gets here is not over the first axis.
    return primitive not in _REDUCTIONS or (
        keywords.keys() <= {"axis", "keepdims", "ddof"} and bool(keywords.get("keepdims"))
    )


def _goes_by_rows(primitive: Any) -> bool:
    """Whether the primitive is elementwise or a reduction, with rules of minigrad."""
    if not primitive.rules or not all(rule.__module__.startswith(_RULES) for rule in primitive.rules.values()):
        return False
    return primitive in _REDUCTIONS or (is_elementwise(primitive) and bool(primitive.function.nout == 1))


def _in_rows(array: Array) -> bool:
    """Whether the rows of an array follow each other in memory. A block of rows of a transposed array would be scattered."""
    return all(abs(array.strides[0]) >= abs(stride) for stride in array.strides[1:])


def _divided(array: Any, shape: Shape) -> bool:
    """Whether a node or an array, which broadcasts to ``shape``, has as many rows as ``shape``."""
    return len(array.shape) == len(shape) and array.shape[0] == shape[0]


def _sweep_blocks(stretch: dict[Entry, Any], nodes: list[Node], blocks: list[slice], shape: Shape) -> dict[Node, Array]:
    """Return the cotangents of ``nodes``, which come before the stretch, in new arrays.

    ``stretch`` has the cotangent that has arrived at each of its entries, or None.
    """
    whole = {node: np.empty(node.shape, node.dtype) for node in nodes if _divided(node, shape)}

    def some(rows: slice) -> dict[Node, Array]:
        cotangents = _sweep_rows(stretch, nodes, rows, shape)
        for node, cotangent in whole.items():
            cotangent[rows] = cotangents.pop(node)
        return cotangents

    first, *others = for_each(some, blocks, _PASSES * math.prod(shape))
    return whole | {node: sum((part[node] for part in others), start=first[node]) for node in first}


def _sweep_rows(stretch: dict[Entry, Any], nodes: list[Node], rows: slice, shape: Shape) -> dict[Node, Array]:
    """Sweep these rows of the stretch on a small separate tape. Return the contributions to the cotangents of ``nodes``."""
    here: dict[Node, Any] = {node: Leaf(None, _part("_shape", node.shape, rows, shape), node.dtype) for node in nodes}
    for entry in reversed(stretch):
        parents = [here.get(parent) for parent in entry.parents]
        kept = [_part(name, value, rows, shape) for name, value in zip(entry.plan.names, entry.kept or ())]
        part = here[entry] = Entry(entry.plan, parents, kept, entry, entry.keywords)
        part.seq, part.shape = entry.seq, _part("_shape", entry.shape, rows, shape)
    seeds = {here[entry]: g[rows] for entry, g in stretch.items() if g is not None}
    results = sweep(seeds, entries=[here[entry] for entry in reversed(stretch)])
    return {node: results[here[node]] for node in nodes}


def _part(name: str, value: Any, rows: slice, shape: Shape) -> Any:
    """Return the part of a kept value that belongs to ``rows``: rows of an array, their shape, or the value itself."""
    if name.endswith("_shape"):
        return (rows.stop - rows.start, *value[1:]) if len(value) == len(shape) and value[0] == shape[0] else value
    return value[rows] if isinstance(value, np.ndarray) and _divided(value, shape) else value


plan_made.append(pull_by_rows)
