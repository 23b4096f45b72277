"""Extension points: what may watch the engine at work, without the engine knowing it.

There are six moments at which the engine calls its observers. Five are lists of functions, called for everything that
happens in the process: a plan was made, an array of a tensor was handed out, a leaf shares its array with its maker, entries
are about to be swept, an entry is about to read what it keeps. The sixth, an entry was recorded, is told to the *contexts* that
are active in the thread, which ``with trace():`` and others enter, and to those entered for good.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from types import FrameType
from typing import Any

from .types import Array, Note, Pull

plan_made: list[Callable[[Any], None]] = []  # (plan)
handed_out: list[Callable[[Any], None]] = []  # (tensor): somebody will have its array, and may write to it
leaf_shared: list[Callable[[Any], None]] = []  # (leaf): its array is also its maker's
before_sweep: list[Callable[[Sequence[Any]], None]] = []  # (entries, in their order)
before_pull: list[Callable[[Any], None]] = []  # (entry), while something is in `exposed`
recorded: list[Callable[..., None]] = []  # (entry, arrays, answer, seconds), while something is in `in_any_thread`

under_way: list[Any] = []  # the sweeps that are walking their entries, of all threads (tape.UnderWay)
exposed: dict[int, Any] = {}  # by thread: in the middle of a sweep an array was handed out that a graph holds
in_any_thread: list[
    Any
] = []  # whatever is active anywhere: looking into a plain list is far cheaper than into a thread's own
recorders: list[Any] = []  # those of them that have a `record`: no_grad(), which all decoding runs in, has none

# Held while something changes that graphs of several threads may share: the hooks of a leaf, and its gradient. A fork waits
# for it, so that a child finds it free and every gradient whole.
one_at_a_time = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=one_at_a_time.acquire, after_in_parent=one_at_a_time.release, after_in_child=one_at_a_time.release
    )


class Scope(tuple[object, str]):
    """A module whose call is under way, and its name.

    Attributes:
        frame: that call, as long as it runs.
        notes: what an observer wants to remember of it.
    """

    def __init__(self, _: tuple[object, str]) -> None:
        self.frame: FrameType | None = None
        self.notes: dict[object, Any] = {}


class _Active(threading.local):
    """What is active in this thread, innermost last.

    ``contexts`` are recording switches and observers: empty in the hot path of a training loop. ``scopes`` are the modules
    whose call is under way, each with its name; only observers ask for them. ``pulling`` is the entry whose rules a sweep
    with ``create_graph`` is running, and the nodes that sweep started from; only known while a context is active.
    """

    def __init__(self) -> None:
        self.contexts: list[Any] = []
        self.scopes: list[Scope] = []
        self.pulling: tuple[Any, Iterable[Any]] | None = None

    def enter(self, context: Any) -> None:
        self.contexts.append(context)
        in_any_thread.append(context)
        if hasattr(context, "record"):
            recorders.append(context)

    def leave(self, context: Any, entered_in: list[Any] | None = None) -> None:
        """``entered_in``: the ``contexts`` of the thread that entered, if it may have been another one."""
        (self.contexts if entered_in is None else entered_in).remove(context)
        in_any_thread.remove(context)
        if hasattr(context, "record"):
            recorders.remove(context)


active = _Active()


def tell_recorded(entry: Any, arrays: list[Array], answer: Any, seconds: float) -> None:
    """``arrays`` begins with the arguments of the operation."""
    for context in active.contexts:
        if hasattr(context, "record"):
            context.record(entry, arrays, answer, seconds)
    for told in recorded:
        told(entry, arrays, answer, seconds)


def tell_pulled(entry: Any) -> None:
    """What ``entry`` keeps is about to be read."""
    for told in before_pull:
        told(entry)


def sweeps_under_way() -> list[Any]:
    """Those that this thread is in the middle of, the innermost last: derivative rules may themselves record and sweep."""
    thread = threading.get_ident()
    return [sweep for sweep in under_way.copy() if sweep.thread == thread]


@contextlib.contextmanager
def scope(owner: object, name: str) -> Iterator[None]:
    """Operations inside the block belong to ``owner``, which is called ``name`` (a module and its attribute path)."""
    entered = Scope((owner, name))
    entered.frame = sys._getframe(2)  # what has the "with"; contextlib is between
    active.scopes.append(entered)
    try:
        yield
    finally:
        active.scopes.pop().frame = None


def attach(entry: Any, note: Note) -> None:
    """Add a note to an entry, before those it bears."""
    entry.notes = (note, *entry.notes)


def observed(pull: Pull, entry: Any, g: Array, seeds: Iterable[Any], create_graph: bool) -> Sequence[Any]:
    """``pull(entry, g)``, timed, and told to the entry's notes; a context may ask meanwhile whose rules are running."""
    tell_pulled(entry)
    outermost = create_graph and bool(in_any_thread) and active.pulling is None  # a rule may itself sweep
    if outermost:
        active.pulling = entry, seeds
    started = perf_counter()
    try:
        contributions = pull(entry, g)
    finally:
        if outermost:
            active.pulling = None
    seconds = perf_counter() - started
    for note in entry.notes:
        note.backward(entry, g, contributions, seconds)
    return contributions
