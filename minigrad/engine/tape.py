"""The tape, which records operations in the order of their execution, and the sweep, which is the backward pass over it.

An :class:`Entry` is one recorded operation. It is linked to the entries that computed its inputs. The entries that led to a
value, sorted by their sequence numbers, are its Wengert list. Reverse-mode differentiation walks this list from the end. Each
entry turns the cotangent of its output into cotangents of its inputs (a vector-Jacobian product). No function here recurses,
so a chain of 200,000 operations needs no special treatment.

References run in one direction: Tensor -> Entry -> the parents of the entry and the arrays that it keeps. An entry never
refers to a Tensor, and a :class:`Leaf` refers to its Tensor weakly. So there are no reference cycles, and reference counting
frees a graph without the garbage collector.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from threading import get_ident
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import GraphError
from . import observers
from .fitting import explained_in_rule, fit
from .observers import exposed, under_way
from .types import Array, Node, Note

NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})
next_sequence_number = itertools.count().__next__
_number = attrgetter("seq")


class Leaf:
    """The node of a Tensor that the user made, as opposed to one that an operation computed. Gradients arrive at leaves.

    ``owner`` is a weak reference to that Tensor. It is None for a leaf that a transform made for one of its inputs.
    """

    __slots__ = ("__weakref__", "dtype", "hooks", "owner", "seq", "shape")

    def __init__(self, tensor: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.owner: Callable[[], Any] | None = None if tensor is None else weakref.ref(tensor)
        self.hooks: Any = None
        self.seq = next_sequence_number()
        self.shape = shape
        self.dtype = dtype

    @property
    def tensor(self) -> Any:
        """The Tensor of this leaf, or None if it no longer exists."""
        return None if self.owner is None else self.owner()


class Entry:
    """One recorded operation.

    Attributes:
        seq: the sequence number, which counts operations in the order of execution.
        primitive, plan: the primitive, and its rules for the arguments that need a gradient. ``plan.pull(entry, g)``
            calls them all.
        parents: one node for each array argument, or None for an argument that needs no gradient.
        kept: the values that the rules will read (called residuals in the literature), or None after their release.
        shape, dtype: the shape and dtype of the output, or of the first floating output if there are several. Each
            :class:`Output` has its own.
        keywords: the keyword arguments of the operation (``axis`` ...).
        notes: the notes that observers such as ``trace()`` attached, the latest first.
        hooks: the hooks that ``register_hook`` and ``retain_grad`` made, or None.

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

    # There is no __init__: call new_entry.
    seq: float
    plan: Any  # plan.Plan
    parents: list[Node]
    kept: Sequence[Any] | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    keywords: Mapping[str, Any]
    notes: tuple[Note, ...]
    hooks: Any  # hooks.Hooks, or None

    @property
    def primitive(self) -> Any:
        return self.plan.primitive


def new_entry(
    plan: Any, parents: list[Node], kept: Sequence[Any], ans: Any, keywords: Mapping[str, Any] = NO_KEYWORDS
) -> Entry:
    """Return the entry of an operation that was just executed. Its output has the shape and dtype of ``ans``."""
    entry = Entry()  # this is a function because a call of __init__ would take a tenth of the time of a multiply
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
    """One output of an entry whose primitive has several outputs, such as ``split``."""

    __slots__ = ("dtype", "entry", "index", "shape")

    def __init__(self, entry: Entry, index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.entry = entry
        self.index = index
        self.shape = shape
        self.dtype = dtype


def entry_of(node: Node) -> Any:
    """Return the entry of an :class:`Output`. Return any other node unchanged."""
    return node.entry if type(node) is Output else node


def wengert_list(nodes: Iterable[Node], since: float = -1) -> list[Entry]:
    """Return the entries that led to any of ``nodes``, from sequence number ``since`` on, in the order of execution."""
    visited: set[Entry] = set()
    waiting = [nodes]
    while waiting:
        for node in waiting.pop():
            if type(node) is Output:
                node = node.entry
            if type(node) is Entry and node not in visited and node.seq >= since:
                visited.add(node)
                waiting.append(node.parents)
    return sorted(visited, key=_number)


def tape(tensor: Any) -> list[Entry]:
    """Return the Wengert list of ``tensor``: every recorded operation that led to it, in the order of execution.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> [entry.primitive.name for entry in mg.tape(np.sin(x * 3) + x)]
        ['multiply', 'sin', 'add']
    """
    return wengert_list([tensor._node])


@np.errstate(all="ignore")  # gradients may be infinite or NaN; NumPy warns in the forward pass only
def sweep(
    seeds: Mapping[Node, Array],
    *,
    create_graph: bool = False,
    retain_graph: bool = False,
    wanted: Iterable[Node] | None = None,
    writable: set[Node] | None = None,
    way: tuple[list[Entry], set[Node] | None] | None = None,
) -> dict[Node, Any]:
    """Carry cotangents back along the tape.

    The sweep visits each entry once, in reverse order of execution. By then all contributions to its output have arrived.

    Args:
        seeds: the nodes to start from, each with its cotangent, an array of the shape of the node.
        create_graph: record the sweep itself. The cotangents are then Tensors, and the caller must switch recording on.
        retain_graph: do not free the values that the entries keep, so that the graph can be swept again.
        wanted: the nodes whose cotangents to return. By default these are the leaves and the nodes of ``retain_grad()``.
        writable: a set to which the sweep adds each node whose cotangent has no other reference and may be changed in place.
        way: the result of :func:`to_sweep`, if the caller already has it.

    Returns:
        The cotangent of each wanted node that a seed depends on. :func:`cotangent_of` reads that of an :class:`Output`.

    Raises:
        GraphError: an earlier sweep released the values of an entry that this sweep needs (the sweep then changes nothing),
            or an observer found that a kept value was changed.
    """
    ends = None if wanted is None else {entry_of(node) for node in wanted}
    way = to_sweep(seeds, ends) if way is None else way
    now = UnderWay(way, ends, set() if writable is None else writable, create_graph, retain_graph)
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
            except Exception as error:
                raise explained_in_rule(error, entry, [g])  # noqa: B904 - it has its cause
            if not retain_graph:
                entry.kept = None
        for node, g in arrived.items():  # the cotangents of leaves, and of wanted entries where the sweep ended
            if ends is None or node in ends:
                results[node] = g if node.hooks is None else node.hooks.run(g)
    finally:
        under_way.remove(now)
    return results


def to_sweep(seeds: Iterable[Node], ends: set[Node] | None) -> tuple[list[Entry], set[Node] | None]:
    """Return the entries between ``seeds`` and ``ends``, and the set of these entries and ``ends``.

    If ``ends`` is None, all leaves are ends, and the set is None.
    """
    if ends is None:
        entries, on_the_way = wengert_list(seeds), None
    else:  # an entry older than all ends does not depend on any of them
        oldest = min((end.seq for end in ends), default=math.inf)
        entries, on_the_way = leading_to(ends, wengert_list(seeds, oldest))
    for entry in entries:
        if entry.kept is None:
            raise GraphError(
                f"backward() was called a second time through '{entry.primitive.name}', whose kept values were freed by the "
                "first, even if that failed: pass retain_graph=True to the first call, or compute the value again"
            )
    for callback in observers.before_sweep:
        callback(entries)
    return entries, on_the_way


def leading_to(wanted: set[Node], entries: list[Entry]) -> tuple[list[Entry], set[Node]]:
    """Return the entries that depend on a node of ``wanted``, and the set of these entries and ``wanted``."""
    passed, on_the_way = [], set(wanted)
    for entry in entries:
        for parent in entry.parents:
            if entry_of(parent) in on_the_way:
                passed.append(entry)
                on_the_way.add(entry)
                break
    return passed, on_the_way


def cotangent_of(node: Node, results: Mapping[Node, Any]) -> Any:
    """Return the cotangent of ``node`` from the results of a sweep, or None if no cotangent arrived there."""
    g = results.get(entry_of(node))
    return g.get(node.index) if g is not None and type(node) is Output else g


class UnderWay:
    """A running sweep, with the cotangents that have arrived so far. It alone decides which arrays are added to in place.

    ``(a + b).backward()`` passes the same array to both operands, and the rule of ``sum`` returns a read-only view. So the
    sweep never writes to an array that arrives. The first addition of two contributions allocates a new array, and later
    contributions are added to it in place. So are those to what a rule or a kernel (``Plan.fresh``) or :func:`fit` just made.

    Attributes:
        entries, on_the_way, ends: see :func:`to_sweep`.
        writable: the nodes whose arrays may be added to in place.
        out_of_place: the cotangents are Tensors, which are never changed in place.
        arrived: the cotangent of each node; for an entry with several outputs, a dict from index to cotangent.
        pulled: the entry whose rules are running or ran last.
    """

    def __init__(
        self, way: Any, ends: set[Node] | None, writable: set[Node], out_of_place: bool, retain_graph: bool
    ) -> None:
        self.entries, self.on_the_way = way
        self.ends, self.writable = ends, writable
        self.out_of_place, self.retain_graph, self.thread = out_of_place, retain_graph, get_ident()
        self.arrived: dict[Node, Any] = {}
        self.pulled: Entry | None = None

    def wants(self, node: Node) -> bool:
        """Whether a wanted cotangent depends on the cotangent of ``node``."""
        return self.on_the_way is None or entry_of(node) in self.on_the_way

    def take(self, nodes: Iterable[Node], arrays: Iterable[Array], entry: Any = None, fresh: bool = False) -> None:
        """Add a seed or a result of the rules of ``entry`` to the cotangent of each node. ``fresh`` means unshared arrays."""
        arrived, writable, on_the_way = self.arrived, self.writable, self.on_the_way
        for node, contribution in zip(nodes, arrays):
            if node is None or contribution is None or not (on_the_way is None or self.wants(node)):
                continue
            new = fresh
            if getattr(contribution, "shape", None) != node.shape or contribution.dtype is not node.dtype:
                fitted = fit(contribution, node, entry)
                new, contribution = new or fitted is not contribution, fitted
            total = arrived.get(node)
            if type(node) is Output:
                by_index = arrived.setdefault(node.entry, {})
                by_index[node.index] = by_index[node.index] + contribution if node.index in by_index else contribution
            elif total is None:
                arrived[node] = contribution
                if new and contribution.shape and not self.out_of_place:
                    writable.add(node)
            elif node in writable:
                total += contribution
            else:
                arrived[node] = total = total + contribution
                if total.shape and not self.out_of_place:  # 0-d sums may be immutable NumPy scalars
                    writable.add(node)
