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
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import GraphError
from . import observers
from .fitting import fit
from .messages import explained_in_rule
from .observers import active, exposed
from .types import Array, Node, Note

NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})
next_sequence_number = itertools.count().__next__
_number = attrgetter("seq")


class Leaf:
    """The node of a Tensor that the user made, as opposed to one that an operation computed. Gradients arrive at leaves.

    ``owner`` is a weak reference to that Tensor. It is None for the leaf of an input, which ``mg.grad(f)``, for one, makes.
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
        primitive, plan: the primitive, and its rules for the arguments that need a gradient (a :class:`Plan`).
            ``plan.pull(entry, g)`` calls them all.
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

    def __init__(
        self, plan: Any, parents: list[Node], kept: Sequence[Any], ans: Any, keywords: Mapping[str, Any] = NO_KEYWORDS
    ) -> None:
        """Make the entry of an operation that was just executed. Its output has the shape and dtype of ``ans``."""
        self.seq: float = next_sequence_number()  # an entry put between two has half a number
        self.plan = plan
        self.parents = parents
        self.kept: Sequence[Any] | None = kept
        self.shape: tuple[int, ...] = ans.shape
        self.dtype: np.dtype[Any] = ans.dtype
        self.keywords = keywords
        self.notes: tuple[Note, ...] = ()
        self.hooks: Any = None  # hooks.Hooks

    @property
    def primitive(self) -> Any:
        return self.plan.primitive


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


class Sweep:
    """A backward pass: it carries cotangents back along the tape.

    It visits each entry once, in reverse order of execution. By then all contributions to its output have arrived.

    ``(a + b).backward()`` passes the same array to both operands, and the rule of ``sum`` returns a read-only view. So the
    sweep writes to an array only if it is *owned*: nothing else refers to it. The sum of two contributions is owned, and so is
    an array that a rule declares as new or that :func:`fit` made. Later contributions are added to it in place.

    Args:
        seeds: the nodes to start from, each with its cotangent, an array of the shape of the node.
        create_graph: record the sweep itself. The cotangents are then Tensors, and the caller must switch recording on.
        retain_graph: do not free the values that the entries keep, so that the graph can be swept again.
        wanted: the nodes whose cotangents to return. By default these are the leaves and the nodes of ``retain_grad()``.
        entries: the result of :func:`entries_between`, if the caller already has it.

    Attributes:
        ends: the wanted entries and leaves, or None.
        needed: the entries and ``ends``, at which a cotangent is needed; None for all nodes.
        arrived: the cotangent of each node so far; for an entry with several outputs, a dict from index to cotangent.
        owned: the nodes whose cotangent is owned.
        pulled: the entry whose rules are running or ran last.

    Raises:
        GraphError: an earlier sweep released the values of an entry that this sweep needs (then nothing has changed), or an
            observer found that a kept value was changed.
    """

    def __init__(
        self,
        seeds: Mapping[Node, Array],
        *,
        create_graph: bool = False,
        retain_graph: bool = False,
        wanted: Iterable[Node] | None = None,
        entries: list[Entry] | None = None,
    ) -> None:
        self.seeds, self.create_graph, self.retain_graph = seeds, create_graph, retain_graph
        self.ends = None if wanted is None else {entry_of(node) for node in wanted}
        self.entries = entries_between(seeds, self.ends) if entries is None else entries
        self.needed = None if self.ends is None else {*self.entries, *self.ends}
        self.arrived: dict[Node, Any] = {}
        self.owned: set[Node] = set()
        self.pulled: Entry | None = None

    def run(self) -> dict[Node, Any]:
        """Return the cotangent of each wanted node that a seed depends on. See :func:`cotangent_of` for an :class:`Output`."""
        arrived, ends, results = self.arrived, self.ends, {}
        active.sweeps.append(self)  # so that a rule can ask what this sweep needs (plan.needed_parents)
        try:
            self.add(self.seeds, self.seeds.values())
            for entry in reversed(self.entries):
                if (g := arrived.pop(entry, None)) is None:
                    continue
                if entry.hooks is not None:
                    g = entry.hooks.run(g)
                if (ends is not None and entry in ends) or (entry.hooks is not None and entry.hooks.retained):
                    results[entry] = g
                self.pulled = entry
                pull = entry.plan.pull_tensors if self.create_graph else entry.plan.pull
                # for notes, arrays that were handed out, or observers of a recorded sweep
                watched = entry.notes or exposed or (self.create_graph and observers.open_contexts)
                try:
                    contributions = observers.observed(self, pull, entry, g) if watched else pull(entry, g)
                    self.add(entry.parents, contributions, entry, entry.plan.owned)
                except Exception as error:
                    raise explained_in_rule(error, entry, [g])  # noqa: B904 - it has its cause
                if not self.retain_graph:
                    entry.kept = None
            for node, g in arrived.items():  # the cotangents of leaves, and of wanted entries where the sweep ended
                if ends is None or node in ends:
                    results[node] = g if node.hooks is None else node.hooks.run(g)
        finally:
            active.sweeps.remove(self)
        return results

    def needs(self, node: Node) -> bool:
        """Whether a wanted cotangent depends on the cotangent of ``node``."""
        return self.needed is None or entry_of(node) in self.needed

    def add(self, nodes: Iterable[Node], arrays: Iterable[Any], entry: Any = None, owned: bool = False) -> None:
        """Add a seed, or a result of the rules of ``entry``, to the cotangent of each node. It may be ``owned``."""
        arrived, needed = self.arrived, self.needed
        for node, contribution in zip(nodes, arrays):
            if node is None or contribution is None or not (needed is None or self.needs(node)):
                continue
            g = contribution
            if getattr(g, "shape", None) != node.shape or g.dtype is not node.dtype:
                g = fit(contribution, node, entry)
            total = arrived.get(node)
            if type(node) is Output:
                by_index = arrived.setdefault(node.entry, {})
                by_index[node.index] = by_index[node.index] + g if node.index in by_index else g
            elif total is not None and node in self.owned:
                total += g
            else:
                arrived[node] = g if total is None else total + g
                new = owned or total is not None or g is not contribution
                if new and not self.create_graph and g.shape:  # a 0-d sum may be an immutable scalar of NumPy
                    self.owned.add(node)


@np.errstate(all="ignore")  # gradients may be infinite or NaN; NumPy warns in the forward pass only
def sweep(seeds: Mapping[Node, Array], **options: Any) -> dict[Node, Any]:
    """Run a :class:`Sweep` with these options, and return the cotangents of the wanted nodes."""
    return Sweep(seeds, **options).run()


def entries_between(seeds: Iterable[Node], ends: set[Node] | None) -> list[Entry]:
    """Return the entries that led to ``seeds``: all of them, or those that depend on ``ends``.

    Raises:
        GraphError: an earlier sweep released the values of one of them.
    """
    if ends is None:
        entries = wengert_list(seeds)
    else:  # an entry older than all ends does not depend on any of them
        entries = depending_on(ends, wengert_list(seeds, min((end.seq for end in ends), default=math.inf)))
    for entry in entries:
        if entry.kept is None:
            raise GraphError(
                f"backward() was called a second time through '{entry.primitive.name}', whose kept values were freed by the "
                "first, even if that failed: pass retain_graph=True to the first call, or compute the value again"
            )
    for callback in observers.before_sweep:
        callback(entries)
    return entries


def depending_on(nodes: Iterable[Node], entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that depend on one of ``nodes``. ``entries`` are in the order of execution."""
    found, depending = [], set(nodes)
    for entry in entries:
        if not depending.isdisjoint(map(entry_of, entry.parents)):
            found.append(entry)
            depending.add(entry)
    return found


def cotangent_of(node: Node, results: Mapping[Node, Any]) -> Any:
    """Return the cotangent of ``node`` from the results of a sweep, or None if no cotangent arrived there."""
    g = results.get(entry_of(node))
    return g.get(node.index) if g is not None and type(node) is Output else g
