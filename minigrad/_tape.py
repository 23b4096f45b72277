"""The tape: what was computed and in which order, and the sweep that walks it backwards.

An :class:`Entry` is one operation that was carried out, linked to the entries its inputs came from. Sorted by their
sequence numbers, the entries that led to a value are its Wengert list; reverse-mode differentiation walks that list
from the end, and each entry turns the cotangent of its output into cotangents of its inputs (a vector-Jacobian
product). Nothing here recurses, so a chain of 200,000 operations is no special case.

Ownership runs one way: Tensor -> Entry -> its parents and the arrays it keeps. An entry never holds a Tensor and a
:class:`Leaf` points at its Tensor weakly, so there are no cycles and reference counting alone frees a graph.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from time import perf_counter
from types import FrameType, MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy as np

from ._half import widened
from .device import out_of_memory
from .errors import GraphError

if TYPE_CHECKING:
    from ._hooks import Hooks
    from ._plan import Plan
    from ._primitive import Primitive
    from .tensor import Tensor

NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})

P = ParamSpec("P")
R = TypeVar("R")

next_sequence_number = itertools.count().__next__


class Leaf:
    """The place on the tape of a Tensor that was given, not computed: where gradients arrive.

    A leaf without an owner is where a transform put one of its inputs.
    """

    __slots__ = ("__weakref__", "dtype", "hooks", "owner", "seq", "shape")

    def __init__(self, tensor: Tensor | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.owner: Callable[[], Tensor | None] | None = None if tensor is None else weakref.ref(tensor)
        self.hooks: Hooks | None = None
        self.seq = next_sequence_number()
        self.shape = shape
        self.dtype = dtype

    @property
    def tensor(self) -> Tensor | None:
        """The Tensor whose leaf this is, or None once nobody holds it any more."""
        return None if self.owner is None else self.owner()


class Entry:
    """One recorded operation.

    Attributes:
        seq: its number in the order of execution.
        plan: the primitive, with the rules for those inputs that need a gradient.
        parents: for each array argument the node it came from, or None if it needs no gradient.
        kept: the values the rules will read; None once released.
        shape, dtype: of the output; with several outputs of the first, each :class:`Output` having its own.
        keywords: the metadata the operation was called with (``axis`` ...).
        note: what ``with trace():`` and others wrote down about it, else None; see :func:`notes`.
        hooks: what ``register_hook`` and ``retain_grad`` asked for, else None.
    """

    __slots__ = ("dtype", "hooks", "keywords", "kept", "note", "parents", "plan", "seq", "shape")

    # No __init__: see _plan.record.
    seq: int
    plan: Plan
    parents: list[Any]
    kept: Sequence[Any] | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    keywords: Mapping[str, Any]
    note: Note | None
    hooks: Hooks | None

    @property
    def primitive(self) -> Primitive:
        return self.plan.primitive


class Output:
    """One of the outputs of an entry whose primitive has several (``split``)."""

    __slots__ = ("dtype", "entry", "index", "shape")

    def __init__(self, entry: Entry, index: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.entry = entry
        self.index = index
        self.shape = shape
        self.dtype = dtype


class Note(Protocol):
    """What a context such as ``trace()`` attaches to an entry, which may bear several.

    The sweep tells it the cotangent of the entry's output, what the rules made of it for each parent, and how long that
    took.
    """

    next: Note | None

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None: ...


def attach(entry: Entry, note: Note) -> None:
    """Add a note to an entry."""
    note.next = entry.note
    entry.note = note


def notes(entry: Entry) -> Iterator[Note]:
    """The notes of an entry, the latest first."""
    note = entry.note
    while note is not None:
        yield note
        note = note.next


class Context(Protocol):
    """What may be active in a thread: a recording switch, or something that watches the entries being made."""

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None: ...


class _Active(threading.local):
    """What is active in this thread, innermost last.

    ``contexts`` are recording switches and watchers: empty in the hot path of a training loop. ``scopes`` are the modules
    whose call is under way, each with its name; only a trace asks for them. ``pulling`` is the entry whose rules a sweep
    with ``create_graph`` is running, and the nodes that sweep started from; only known while a context is active.
    """

    def __init__(self) -> None:
        self.contexts: list[Any] = []
        self.scopes: list[tuple[object, str]] = []
        self.pulling: tuple[Entry, Iterable[Any]] | None = None

    def enter(self, context: Any) -> None:
        self.contexts.append(context)
        in_any_thread.append(context)

    def leave(self, context: Any, entered_in: list[Any] | None = None) -> None:
        """``entered_in``: the ``contexts`` of the thread that entered, if it may have been another one."""
        (self.contexts if entered_in is None else entered_in).remove(context)
        in_any_thread.remove(context)


active = _Active()
in_any_thread: list[Any] = []  # looking into a plain list is several times cheaper than into a thread's own
before_sweep: list[Callable[[Sequence[Entry]], None]] = []  # called with what is about to be swept, in order


@contextlib.contextmanager
def scope(owner: object, name: str) -> Iterator[None]:
    """Operations inside the block belong to ``owner``, which is called ``name`` (a module and its attribute path)."""
    active.scopes.append((owner, name))
    try:
        yield
    finally:
        active.scopes.pop()


def recording() -> bool:
    """Whether operations on tensors that require gradients are being put on the tape in this thread."""
    for context in reversed(active.contexts):
        if isinstance(context, set_grad) and not context.suspended:
            return context.enabled
    return True


class set_grad:
    """``set_grad(enabled)`` switches the recording of operations on or off: a context manager and a decorator.

    The switch belongs to the thread, is undone when an exception leaves the block, and does not leak out of a generator:
    while a generator or coroutine that entered the block is suspended, the block does not count. (So a generator under
    ``contextlib.contextmanager`` cannot switch it for its caller: enter ``no_grad()`` there directly.)
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._frame: FrameType | None = None
        self._entered_in: list[Any] = []
        self._blocks: list[set_grad] = []

    @property
    def suspended(self) -> bool:
        """Whether the block was entered by a generator that is waiting at a ``yield`` now."""
        return self._frame is not None and self._frame.f_back is None

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        suspendable = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        block = set_grad(self.enabled)  # one object may be entered more than once
        block._frame = frame if frame.f_code.co_flags & suspendable else None
        active.enter(block)
        block._entered_in = active.contexts
        self._blocks.append(block)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        of_this_thread = [block for block in self._blocks if block._entered_in is active.contexts]
        block = (of_this_thread or self._blocks)[-1]  # a generator may have been handed to another thread
        self._blocks.remove(block)
        active.leave(block, block._entered_in)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    return (yield from function(*args, **kwargs))

            return generator
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def async_generator(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    inner = function(*args, **kwargs)
                    step = inner.asend(None)
                    try:
                        while True:
                            value = await step
                            try:
                                step = inner.asend((yield value))
                            except GeneratorExit:
                                raise
                            except BaseException as error:
                                step = inner.athrow(error)
                    except StopAsyncIteration:
                        pass
                    finally:
                        await inner.aclose()

            return async_generator
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
                with set_grad(self.enabled):
                    return await function(*args, **kwargs)

            return coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with set_grad(self.enabled):
                return function(*args, **kwargs)

        return wrapper


class no_grad(set_grad):
    """``with no_grad():`` or ``@no_grad()``: compute without recording, as in evaluation."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad):
    """``with enable_grad():`` or ``@enable_grad()``: record again inside a ``no_grad`` block."""

    def __init__(self) -> None:
        super().__init__(True)


_by_sequence = attrgetter("seq")


def wengert_list(nodes: Iterable[Any]) -> list[Entry]:
    """The entries that led to any of ``nodes``, in the order in which they were carried out."""
    found = {entry for node in nodes if type(entry := _entry(node)) is Entry}
    waiting = list(found)
    while waiting:
        for node in waiting.pop().parents:
            if type(node) is Output:
                node = node.entry
            if type(node) is Entry and node not in found:
                found.add(node)
                waiting.append(node)
    return sorted(found, key=_by_sequence)


def tape(tensor: Tensor) -> list[Entry]:
    """The Wengert list of ``tensor``: every recorded operation that led to it, in the order of execution."""
    return wengert_list([tensor._node])


def leading_to(wanted: set[Any], entries: list[Entry]) -> tuple[list[Entry], set[Any]]:
    """The entries a cotangent passes through on its way to ``wanted``; and these together with ``wanted`` itself."""
    passed, on_the_way = [], set(wanted)
    for entry in entries:
        for parent in entry.parents:
            if _entry(parent) in on_the_way:
                passed.append(entry)
                on_the_way.add(entry)
                break
    return passed, on_the_way


@np.errstate(all="ignore")  # gradients may be infinite or NaN; the forward pass is where NumPy warns
def sweep(
    seeds: Mapping[Any, Any],
    *,
    create_graph: bool = False,
    retain_graph: bool = False,
    wanted: Iterable[Any] | None = None,
    owned: set[Any] | None = None,
) -> dict[Any, Any]:
    """Carry cotangents back along the tape.

    Each entry is visited once, in reverse order of execution, when all contributions to its output are in.

    Args:
        seeds: the nodes to start from, each with its cotangent: an array of the node's shape, or a Tensor with
            ``create_graph``, which records the sweep itself (call it with recording switched on).
        retain_graph: keep what the entries keep, so that the graph can be swept again.
        wanted: the nodes whose cotangents are asked for; by default every leaf, and what ``retain_grad()`` was called on.
        owned: gets the leaves whose cotangent is an array that nobody else holds.

    Returns:
        The cotangent of each of those that a seed depends on; for an :class:`Output` see :func:`cotangent_of`.

    Raises:
        GraphError: an entry on the way was released by an earlier sweep, and nothing has been changed then; or it keeps
            an array that was changed in place since.
    """
    ends = None if wanted is None else {_entry(node) for node in wanted}
    entries, on_the_way = _to_sweep(seeds, ends)
    cotangents = _Cotangents(seeds, create_graph, on_the_way)
    arrived = cotangents.arrived
    results: dict[Any, Any] = {}
    for entry in reversed(entries):
        g = arrived.pop(entry, None)
        if g is None:
            continue
        if entry.hooks is not None:
            g = entry.hooks.run(g)
            if entry.hooks.retained:
                results[entry] = g
        if ends is not None and entry in ends:
            results[entry] = g
        plan = entry.plan
        started = 0.0 if entry.note is None else perf_counter()
        try:
            if create_graph:
                contributions = _pull_tensors(entry, g, seeds)
            else:
                direct = None if plan.constants else plan.run  # spares a call
                contributions = plan.pull(entry, g) if direct is None else direct(g, entry.kept)
        except MemoryError as error:
            raise out_of_memory(error, f"the backward of {plan.primitive.name}", [g, *(entry.kept or ())]) from error
        if entry.note is not None:
            seconds = perf_counter() - started
            for note in notes(entry):
                note.backward(entry, g, contributions, seconds)
        cotangents.take(entry, contributions)
        if not retain_graph:
            entry.kept = None
    for node, g in arrived.items():
        if ends is None or node in ends:
            results[node] = g if node.hooks is None else node.hooks.run(g)
            if owned is not None and node.hooks is None and node in cotangents.owned:
                owned.add(node)
    return results


def _to_sweep(seeds: Iterable[Any], ends: set[Any] | None) -> tuple[list[Entry], set[Any] | None]:
    """The entries between ``seeds`` and ``ends`` (None: all leaves), and these with the ends, if they can all be swept.

    Raises:
        GraphError: as :func:`sweep`.
    """
    entries, on_the_way = wengert_list(seeds), None
    if ends is not None:
        entries, on_the_way = leading_to(ends, entries)
    for entry in entries:
        if entry.kept is None:
            raise GraphError(
                f"backward() came a second time through '{entry.primitive.name}', whose saved values were freed by the "
                "first: pass retain_graph=True to the first call, or compute the value again"
            )
    for look in before_sweep:
        look(entries)
    return entries, on_the_way


def _pull_tensors(entry: Entry, g: Any, seeds: Iterable[Any]) -> Sequence[Any]:
    """As ``Plan.pull_tensors``, so that a trace knows which entry's rules the operations come from."""
    if not in_any_thread or active.pulling is not None:  # a rule may itself sweep: the outermost counts
        return entry.plan.pull_tensors(entry, g)
    active.pulling = entry, seeds
    try:
        return entry.plan.pull_tensors(entry, g)
    finally:
        active.pulling = None


def cotangent_of(node: Any, found: Mapping[Any, Any]) -> Any:
    """The cotangent of ``node`` among the results of a sweep; None if none arrived."""
    g = found.get(_entry(node))
    return g.get(node.index) if g is not None and type(node) is Output else g


def _entry(node: Any) -> Any:
    return node.entry if type(node) is Output else node


class _Cotangents:
    """The cotangents on their way back, with the one rule about who owns an array.

    ``(a + b).backward()`` hands the same array to both operands, and ``sum`` hands out a read-only view, so an incoming
    array is never written to. The first addition of two contributions allocates; only that buffer, or an array that
    a kernel declares its own, is added into.
    """

    __slots__ = ("_on_the_way", "_out_of_place", "arrived", "owned")

    def __init__(self, seeds: Mapping[Any, Any], create_graph: bool, on_the_way: set[Any] | None) -> None:
        self.arrived: dict[Any, Any] = {}  # by node; for an entry with several outputs a dict by index
        self.owned: set[Any] = set()  # the nodes whose array may be added into
        self._out_of_place = create_graph  # Tensors are never written to
        self._on_the_way = on_the_way
        for node, cotangent in seeds.items():
            self._add(node, cotangent)

    def take(self, entry: Entry, contributions: Sequence[Any]) -> None:
        """What the rules of ``entry`` made for each parent."""
        arrived, owned, on_the_way = self.arrived, self.owned, self._on_the_way
        fresh = entry.plan.fresh and not self._out_of_place  # a kernel's arrays are its own
        for node, contribution in zip(entry.parents, contributions):
            if node is None or contribution is None or (on_the_way is not None and _entry(node) not in on_the_way):
                continue
            if contribution.shape != node.shape or contribution.dtype is not node.dtype:
                contribution = fit(contribution, node, entry)
            if node in owned:
                total = arrived[node]
                total += contribution
            elif node in arrived or type(node) is Output:
                self._add(node, contribution)
            else:
                arrived[node] = contribution
                if fresh and contribution.shape:  # 0-d results may be immutable NumPy scalars
                    owned.add(node)

    def _add(self, node: Any, contribution: Any) -> None:
        if type(node) is Output:
            slots = self.arrived.setdefault(node.entry, {})
            slots[node.index] = slots[node.index] + contribution if node.index in slots else contribution
        elif node not in self.arrived:
            self.arrived[node] = contribution
        else:
            self.arrived[node] = total = self.arrived[node] + contribution
            if not self._out_of_place and total.shape:
                self.owned.add(node)


def fit(contribution: Any, node: Any, entry: Entry) -> Any:
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


def unbroadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``array`` over the axes along which an input of ``shape`` was broadcast."""
    extra = array.ndim - len(shape)
    stretched = [extra + i for i, n in enumerate(shape) if n == 1 and array.shape[extra + i] != 1] if extra >= 0 else []
    axes = (*range(extra), *stretched)
    if axes:
        if array.dtype.char == "e":
            array = widened(array)  # in float16 a sum of ones stops at 2048
        array = array.sum(axis=axes, keepdims=True)
    return array.reshape(array.shape[extra:]) if extra > 0 else array
