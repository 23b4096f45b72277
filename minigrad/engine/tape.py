"""The tape: what was computed and in which order, and the sweep that walks it backwards.

An :class:`Entry` is one operation that was carried out, linked to the entries its inputs came from. Sorted by their
sequence numbers, the entries that led to a value are its Wengert list; reverse-mode differentiation walks that list
from the end, and each entry turns the cotangent of its output into cotangents of its inputs (a vector-Jacobian
product). Nothing here recurses, so a chain of 200,000 operations is no special case.

Ownership runs one way: Tensor -> Entry -> its parents and the arrays it keeps. An entry never holds a Tensor and a
:class:`Leaf` points at its Tensor weakly, so there are no cycles and reference counting alone frees a graph.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from threading import get_ident
from types import MappingProxyType
from typing import Any

import numpy as np

from ..device import out_of_memory
from ..errors import GraphError
from . import observers
from .observers import exposed, under_way
from .sums import unbroadcast
from .types import Array, Hooks, Node, Note, Plan

NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})
next_sequence_number = itertools.count().__next__
_number = attrgetter("seq")


class Leaf:
    """The place on the tape of a Tensor that was given, not computed: where gradients arrive.

    A leaf without an owner is where a transform put one of its inputs.
    """

    __slots__ = ("__weakref__", "dtype", "hooks", "owner", "seq", "shape")

    def __init__(self, tensor: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.owner: Callable[[], Any] | None = None if tensor is None else weakref.ref(tensor)
        self.hooks: Hooks | None = None
        self.seq = next_sequence_number()
        self.shape = shape
        self.dtype = dtype

    @property
    def tensor(self) -> Any:
        """The Tensor whose leaf this is, or None once nobody holds it any more."""
        return None if self.owner is None else self.owner()


class Entry:
    """One recorded operation.

    Attributes:
        seq: its number in the order of execution.
        plan: the primitive, with the rules for those inputs that need a gradient. (In tiny.py the sweep calls the rules;
            here ``plan.pull(entry, g)`` calls all that are needed.)
        parents: for each array argument the node it came from, or None if it needs no gradient.
        kept: the values the rules will read (the literature's residuals); None once released.
        shape, dtype: of the output; of several the first floating one, each :class:`Output` having its own.
        keywords: the metadata the operation was called with (``axis`` ...).
        notes: what observers such as ``trace()`` attached to it, the latest first.
        hooks: what ``register_hook`` and ``retain_grad`` asked for, else None.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x * x).sum()
        >>> product, total = mg.tape(y)
        >>> product.primitive.name, product.shape, total.parents == [product]
        ('multiply', (2,), True)
        >>> y.backward()
        >>> print(product.kept)  # freed
        None
    """

    __slots__ = ("dtype", "hooks", "keywords", "kept", "notes", "parents", "plan", "seq", "shape")

    # No __init__: see new_entry.
    seq: float
    plan: Plan
    parents: list[Node]
    kept: Sequence[Any] | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    keywords: Mapping[str, Any]
    notes: tuple[Note, ...]
    hooks: Hooks | None

    @property
    def primitive(self) -> Any:
        return self.plan.primitive


def new_entry(
    plan: Plan, parents: list[Node], kept: Sequence[Any], ans: Any, keywords: Mapping[str, Any] = NO_KEYWORDS
) -> Entry:
    """The entry of an operation that was carried out now; ``ans`` has the shape and the dtype of its output."""
    entry = Entry()  # a function, as calling __init__ would cost a tenth of a multiply
    entry.seq = next_sequence_number()
    entry.plan = plan
    entry.parents = parents
    entry.kept = kept
    entry.shape = ans.shape
    entry.dtype = ans.dtype
    entry.keywords = keywords
    entry.notes = ()
    entry.hooks = None
    return entry


class Output:
    """One of the outputs of an entry whose primitive has several (``split``)."""

    __slots__ = ("dtype", "entry", "index", "shape")

    def __init__(self, entry: Entry, index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.entry = entry
        self.index = index
        self.shape = shape
        self.dtype = dtype


def entry_of(node: Node) -> Any:
    """The entry of an output; any other node itself."""
    return node.entry if type(node) is Output else node


def wengert_list(nodes: Iterable[Node], since: float = -1) -> list[Entry]:
    """The entries that led to any of ``nodes``, from number ``since`` on, in the order in which they were carried out."""
    found: set[Entry] = set()
    waiting = [nodes]
    while waiting:
        for node in waiting.pop():
            if type(node) is Output:
                node = node.entry
            if type(node) is Entry and node not in found and node.seq >= since:
                found.add(node)
                waiting.append(node.parents)
    return sorted(found, key=_number)


def tape(tensor: Any) -> list[Entry]:
    """The Wengert list of ``tensor``: every recorded operation that led to it, in the order of execution.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> [entry.primitive.name for entry in mg.tape(np.sin(x * 3) + x)]
        ['multiply', 'sin', 'add']
    """
    return wengert_list([tensor._node])


@np.errstate(all="ignore")  # gradients may be infinite or NaN; the forward pass is where NumPy warns
def sweep(
    seeds: Mapping[Node, Array],
    *,
    create_graph: bool = False,
    retain_graph: bool = False,
    wanted: Iterable[Node] | None = None,
    owned: set[Node] | None = None,
    way: tuple[list[Entry], set[Node] | None] | None = None,
) -> dict[Node, Any]:
    """Carry cotangents back along the tape.

    Each entry is visited once, in reverse order of execution, when all contributions to its output are in.

    Args:
        seeds: the nodes to start from, each with its cotangent: an array of the node's shape, or a Tensor with
            ``create_graph``, which records the sweep itself (call it with recording switched on).
        retain_graph: keep what the entries keep, so that the graph can be swept again.
        wanted: the nodes whose cotangents are asked for; by default every leaf, and what ``retain_grad()`` was called on.
        owned: gets the nodes at which an array has arrived that nobody else holds.
        way: what :func:`to_sweep` found, for many sweeps along the same one.

    Returns:
        The cotangent of each of those that a seed depends on; for an :class:`Output` see :func:`cotangent_of`.

    Raises:
        GraphError: an entry on the way was released by an earlier sweep, and nothing has been changed then; or an observer
            found that what it keeps was changed.
    """
    ends = None if wanted is None else {entry_of(node) for node in wanted}
    way = to_sweep(seeds, ends) if way is None else way
    now = UnderWay(way[0], way[1], ends, set() if owned is None else owned, create_graph, retain_graph, {}, get_ident())
    now.take(seeds, seeds.values())
    arrived, results = now.arrived, {}
    under_way.append(now)
    try:
        for entry in reversed(now.entries):
            if (g := arrived.pop(entry, None)) is None:
                continue
            if entry.hooks is not None:
                g = entry.hooks.run(g)
            if (ends is not None and entry in ends) or (entry.hooks is not None and entry.hooks.retained):
                results[entry] = g
            now.pulled, pull = entry, entry.plan.pull_tensors if create_graph else entry.plan.pull
            watched = entry.notes or exposed or (create_graph and observers.in_any_thread)
            try:
                contributions = observers.observed(pull, entry, g, seeds, create_graph) if watched else pull(entry, g)
                now.take(entry.parents, contributions, entry, entry.plan.fresh)
            except MemoryError as error:
                what = f"the backward of {entry.primitive.name}"
                raise out_of_memory(error, what, [g, *(entry.kept or ())]) from error
            if not retain_graph:
                entry.kept = None
        for node, g in arrived.items():  # what is left has arrived at leaves, or where nothing behind was wanted
            if ends is None or node in ends:
                results[node] = g if node.hooks is None else node.hooks.run(g)
    finally:
        under_way.remove(now)
    return results


def to_sweep(seeds: Iterable[Node], ends: set[Node] | None) -> tuple[list[Entry], set[Node] | None]:
    """The entries between ``seeds`` and ``ends`` (None: all leaves), and these with the ends, if they can all be swept."""
    if ends is None:
        entries, on_the_way = wengert_list(seeds), None
    else:  # what is older than all of them does not depend on any
        oldest = min((end.seq for end in ends), default=math.inf)
        entries, on_the_way = leading_to(ends, wengert_list(seeds, oldest))
    for entry in entries:
        if entry.kept is None:
            raise GraphError(
                f"backward() came a second time through '{entry.primitive.name}', whose kept values were freed by the "
                "first, even if that failed: pass retain_graph=True to the first call, or compute the value again"
            )
    for told in observers.before_sweep:
        told(entries)
    return entries, on_the_way


def leading_to(wanted: set[Node], entries: list[Entry]) -> tuple[list[Entry], set[Node]]:
    """The entries a cotangent passes through on its way to ``wanted``; and these together with ``wanted`` itself."""
    passed, on_the_way = [], set(wanted)
    for entry in entries:
        for parent in entry.parents:
            if entry_of(parent) in on_the_way:
                passed.append(entry)
                on_the_way.add(entry)
                break
    return passed, on_the_way


def cotangent_of(node: Node, found: Mapping[Node, Any]) -> Any:
    """The cotangent of ``node`` among the results of a sweep; None if none arrived."""
    g = found.get(entry_of(node))
    return g.get(node.index) if g is not None and type(node) is Output else g


@dataclass(slots=True, eq=False)
class UnderWay:
    """A sweep under way: the cotangents that have arrived, and the one rule about who owns an array.

    ``(a + b).backward()`` hands the same array to both operands, and ``sum`` hands out a read-only view, so an incoming
    array is never written to. The first addition of two contributions allocates; only that buffer, or an array that
    a kernel declares its own, is added into.

    Attributes:
        entries, on_the_way, ends: as of :func:`to_sweep`; ``ends`` are the nodes that are asked for, None for all leaves.
        owned: the nodes whose array may be added into. (``out_of_place``: none, as Tensors are never written to.)
        arrived: by node; for an entry with several outputs a dict by index.
        pulled: the entry whose rules run, or ran last.
    """

    entries: list[Entry]
    on_the_way: set[Node] | None
    ends: set[Node] | None
    owned: set[Node]
    out_of_place: bool
    retain_graph: bool
    arrived: dict[Node, Any]
    thread: int
    pulled: Entry | None = None

    def wants(self, node: Node) -> bool:
        """Whether it is on the way to what is asked for."""
        return self.on_the_way is None or entry_of(node) in self.on_the_way

    def take(self, nodes: Iterable[Node], given: Iterable[Array], entry: Any = None, fresh: bool = False) -> None:
        """A contribution for each node: the seeds, or what the rules of ``entry`` made; ``fresh``: nobody else holds these."""
        arrived, owned, on_the_way = self.arrived, self.owned, self.on_the_way
        fresh = fresh and not self.out_of_place
        for node, contribution in zip(nodes, given):
            if node is None or contribution is None or not (on_the_way is None or self.wants(node)):
                continue
            if contribution.shape != node.shape or contribution.dtype is not node.dtype:
                contribution = fit(contribution, node, entry)
            total = arrived.get(node)
            if type(node) is Output:
                slots = arrived.setdefault(node.entry, {})
                slots[node.index] = slots[node.index] + contribution if node.index in slots else contribution
            elif total is None:
                arrived[node] = contribution
                if fresh and contribution.shape:
                    owned.add(node)
            elif node in owned:
                total += contribution
            else:
                arrived[node] = total = total + contribution
                if total.shape and not self.out_of_place:  # 0-d sums may be immutable NumPy scalars
                    owned.add(node)


def fit(contribution: Array, node: Node, entry: Entry) -> Array:
    """Make a contribution one of ``node``: the one place that un-broadcasts, takes real parts and casts.

    A rule may return the gradient of a *broadcast* input, of a promoted dtype, or a complex one for a real input.
    """
    if contribution.shape != node.shape:
        contribution = unbroadcast(contribution, node.shape)
        if contribution.shape != node.shape:
            raise GraphError(
                f"the derivative rule of '{entry.primitive.name}' gave a gradient of shape {contribution.shape} "
                f"for an input of shape {node.shape}"
            )
    if contribution.dtype != node.dtype:
        if contribution.dtype.kind == "c" and node.dtype.kind != "c":
            contribution = contribution.real
        contribution = contribution.astype(node.dtype)
    return contribution
