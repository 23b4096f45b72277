"""Extension points, through which tools can watch the engine, and kernels compute faster. The engine imports none of them.

The engine calls its observers on seven events. For each event there is a list of functions, which are called for the events of
all threads. When an operation was recorded, the engine also calls the *contexts* that are active in the thread, such as the one
of ``with trace():``.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from types import FrameType
from typing import Any

from .types import Array, Note, Pull

plan_made: list[Callable[[Any], None]] = []  # (plan): a plan was made
handed_out: list[Callable[[Any], None]] = []  # (tensor): a caller gets the array of a tensor and may write to it
numbers_read: list[Callable[[Any], None]] = []  # (tensor): a caller gets its numbers, without the array itself
leaf_shared: list[Callable[[Any], None]] = []  # (leaf): a leaf shares its array with the code that made it
before_sweep: list[Callable[[Sequence[Any]], None]] = []  # (entries): a sweep begins; the entries are in order
before_pull: list[Callable[[Any], None]] = []  # (entry): its rules will run; only called if `exposed` is not empty
recorded: list[Callable[..., None]] = []  # (entry, arrays, answer, seconds): only called while a context is active

exposed: dict[int, Any] = {}  # by thread: an array that a graph keeps was handed out during a sweep
open_contexts: list[Any] = []  # the active contexts of all threads; reading a thread-local list would be much slower
recorders: list[Any] = []  # the contexts with a method `record`; no_grad(), for example, has none

# A lock for data that graphs of several threads may share: the hooks and the gradient of a leaf. A fork waits for the lock, so
# that it is free in the child process and no gradient is half written there.
one_at_a_time = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=one_at_a_time.acquire, after_in_parent=one_at_a_time.release, after_in_child=one_at_a_time.release
    )


class Scope(tuple[object, str]):
    """A module whose call is running, and its name.

    Attributes:
        frame: the stack frame of the call while it runs, then None.
        notes: data that observers store.
    """

    def __init__(self, _: tuple[object, str]) -> None:
        self.frame: FrameType | None = None
        self.notes: dict[object, Any] = {}


class _Active(threading.local):
    """The contexts, scopes and sweeps that are active in this thread, the innermost last.

    Attributes:
        sweeps: the running sweeps (tape.Sweep). There may be several, because a rule may start a sweep.
        contexts: recording switches and observers. In a plain training loop there are none.
        scopes: the modules whose calls are running, each with its name. Only observers read them.
        pulling: the entry whose rules a sweep with ``create_graph`` is running, and the nodes from which that sweep started.
            It is set only while a context is active.
    """

    def __init__(self) -> None:
        self.sweeps: list[Any] = []
        self.contexts: list[Any] = []
        self.scopes: list[Scope] = []
        self.pulling: tuple[Any, Iterable[Any]] | None = None

    def enter(self, context: Any) -> None:
        self.contexts.append(context)
        open_contexts.append(context)
        if hasattr(context, "record"):
            recorders.append(context)

    def leave(self, context: Any, entered_in: list[Any] | None = None) -> None:
        """Remove a context. ``entered_in`` is the ``contexts`` of the thread that entered it, if that may be another thread."""
        (self.contexts if entered_in is None else entered_in).remove(context)
        open_contexts.remove(context)
        if hasattr(context, "record"):
            recorders.remove(context)


active = _Active()


def tell_recorded(entry: Any, arrays: list[Array], answer: Any, seconds: float) -> None:
    """Call the observers of a recorded entry. ``arrays`` has its arguments, then its result and more."""
    for context in active.contexts:
        if hasattr(context, "record"):
            context.record(entry, arrays, answer, seconds)
    for callback in recorded:
        callback(entry, arrays, answer, seconds)


def tell_pulled(entry: Any) -> None:
    """Call the observers before the rules read the kept values of ``entry``."""
    for callback in before_pull:
        callback(entry)


@contextlib.contextmanager
def scope(owner: object, name: str) -> Iterator[None]:
    """Assign the operations inside the block to the module ``owner``, whose attribute path is ``name``."""
    entered = Scope((owner, name))
    entered.frame = sys._getframe(2)  # the frame of the `with` statement; frame 1 belongs to contextlib
    active.scopes.append(entered)
    try:
        yield
    finally:
        active.scopes.pop().frame = None


def attach(entry: Any, note: Note) -> None:
    """Add a note to an entry, before its earlier notes."""
    entry.notes = (note, *entry.notes)


def observed(sweep: Any, pull: Pull, entry: Any, g: Array) -> Sequence[Any]:
    """Call ``pull(entry, g)``, measure its time, and pass the result to the entry's notes. Set ``active.pulling`` meanwhile."""
    tell_pulled(entry)
    outermost = sweep.create_graph and bool(open_contexts) and active.pulling is None  # a rule may start a sweep
    if outermost:
        active.pulling = entry, sweep.seeds
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


# Faster forms

reference_modes: list[reference_mode] = []  # the active ones of all threads


class Replaceable:
    """A function with one plain formula, to which ``minigrad/kernels`` may attach a faster form of the same.

    Use it as a decorator. The faster form takes the same arguments. It returns NotImplemented to leave a case to the formula.

    Example:
        >>> import numpy as np
        >>> from minigrad.engine.observers import Replaceable
        >>> @Replaceable
        ... def total(a):
        ...     return np.sum(a)
        >>> total.kernel(lambda a: a.dot(np.ones(a.size)) if a.ndim == 1 else NotImplemented)
        >>> float(total(np.array([1.0, 2.0])))
        3.0
    """

    __name__: str

    def __init__(self, formula: Callable[..., Any]) -> None:
        functools.update_wrapper(self, formula)
        self.formula = formula
        self.faster: Callable[..., Any] | None = None

    def kernel(self, faster: Callable[..., Any]) -> None:
        """Declare a faster form."""
        self.faster = faster

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        faster = self.faster
        if faster is not None and not (reference_modes and reference_mode.active()):
            ans = faster(*args, **keywords)
            if ans is not NotImplemented:
                return ans
        return self.formula(*args, **keywords)


class reference_mode:
    """Use the plain rules, and no kernels, inside a ``with`` block. It is slower. Results agree up to rounding.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0, 3.0])
        >>> with mg.reference_mode():
        ...     plain = mg.softmax(x)
        >>> np.allclose(mg.softmax(x).numpy(), plain.numpy())
        True
    """

    def __enter__(self) -> None:
        active.enter(self)
        reference_modes.append(self)

    def __exit__(self, *_: object) -> None:
        active.leave(self)
        reference_modes.remove(self)

    @staticmethod
    def active() -> bool:
        """Whether this thread is inside such a block."""
        return bool(reference_modes) and any(isinstance(context, reference_mode) for context in active.contexts)
