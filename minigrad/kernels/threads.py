"""More than one core for one operation: its rows in parts, a thread each.

NumPy lets go of Python's lock inside its loops, so two threads get two cores; handing work over costs some 50 us, so only
large arrays are divided. What a kernel computes must not depend on how: the parts differ with the number of threads.
"""

from __future__ import annotations

import contextvars
import itertools
import operator
import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ArgumentError
from .blas import blas

if TYPE_CHECKING:
    from queue import SimpleQueue

_LARGE = 1 << 22  # elements computed, about two milliseconds; below, handing over costs more than it saves
BLOCK = 1 << 18  # elements: some arrays of so many share a third-level cache
# NumPy hands Python's lock over around each of its loops: with shorter blocks threads wait for one another.
_SHORT = 1 << 16
PARTS = 4  # in which work is dealt out at least: the number of threads must not change shapes, and with them last bits
B = TypeVar("B")
T = TypeVar("T")
_Task = tuple[contextvars.Context, Callable[[int, int], object], "_Part"]


def _cores() -> int:
    """The cores this process may use, or fewer if OMP_NUM_THREADS, which other libraries obey too, says so."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # then come those of nested levels
    return min(here, max(int(wanted), 1)) if wanted.isdecimal() else here


class _Here(threading.local):
    """Whether this thread is one of the workers, whose own operations are not divided again."""

    worker = False


class _Part:
    """A part of the work of a thread that waits for it."""

    def __init__(self, start: int, stop: int, answers: SimpleQueue[None]) -> None:
        self.start = start
        self.stop = stop
        self.answers = answers  # wakes the thread up
        self.asked_by: FrameType | None = None
        self.sent = self.done = False
        self.error: BaseException | None = None


_here = _Here()
_tasks: SimpleQueue[_Task] | None = None  # made when it is first needed: the import of its module takes a millisecond
_count = _cores()
_started = 0
_starting = threading.Lock()


def num_threads() -> int:
    """How many threads share the work of one large operation.

    Example:
        >>> import minigrad as mg
        >>> mg.num_threads() >= 1  # by default the cores that this process may use
        True
    """
    return _count


def set_num_threads(count: int) -> None:
    """Let that many threads share the work of one large operation; by default one for each core.

    NumPy's matrix products have threads of their own, which this does not change, except that inside a divided operation
    each product has one.

    Raises:
        ArgumentError: ``count`` is not a positive integer.

    Example:
        >>> import minigrad as mg
        >>> before = mg.num_threads()
        >>> mg.set_num_threads(1)
        >>> mg.num_threads()
        1
        >>> mg.set_num_threads(before)
    """
    global _count
    try:
        number = 0 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        number = 0
    if number < 1:
        raise ArgumentError(f"set_num_threads takes a positive integer, got {count!r}")
    _count = number


def in_parts(function: Callable[[int, int], object], count: int, work: int) -> None:
    """Call ``function(start, stop)`` for parts that make up ``range(count)``, at the same time if it is worth it.

    Args:
        work: roughly how many elements are computed in all, intermediate ones too.
    """
    if _here.worker:
        function(0, count)
        return
    try:
        blas.one_thread()
        parts = min(_count, count)
        if parts < 2 or work < _LARGE or not _start(parts - 1):
            function(0, count)
        else:
            _divide(function, count, parts)
    finally:
        blas.as_before()


def in_blocks(function: Callable[..., T], *arrays: Any, passes: float = 8) -> list[T]:
    """``function(*parts)`` for blocks of the rows of ``arrays``, in which a pass still finds in a cache what the last one left.

    The first array says how many rows make a block. The blocks are the same whatever the number of threads, and the results
    come in their order: sums over them are the same to the bit.

    Args:
        passes: over the first array, about as many as take the time of ``function``.
    """
    size = arrays[0].size
    blocks = blocks_of(len(arrays[0]), size, passes)
    if len(blocks) < 2:
        return [function(*arrays)]
    return for_each(lambda rows: function(*[array[rows] for array in arrays]), blocks, int(passes * size))


def blocks_of(count: int, size: int, passes: float) -> list[slice]:
    """The blocks of :func:`in_blocks` for ``count`` rows of ``size`` numbers in all."""
    wanted = -(-size // BLOCK)
    if size >= 2 * _SHORT and passes * size >= _LARGE:
        wanted = max(wanted, min(PARTS, size // _SHORT))
    if wanted < 2:
        return [slice(0, count)]
    rows = -(-count // wanted)
    return [slice(start, min(start + rows, count)) for start in range(0, count, rows)]


def for_each(function: Callable[[B], T], parts: Sequence[B], work: int) -> list[T]:
    """``function`` of each, at the same time if that much ``work`` is worth it; the results come in their order."""
    results: list[Any] = [None] * len(parts)

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):
            results[i] = function(parts[i])

    in_parts(some, len(parts), work)
    return results


def _divide(function: Callable[[int, int], object], count: int, parts: int) -> None:
    from queue import SimpleQueue

    tasks, answers = _tasks, SimpleQueue[None]()
    assert tasks is not None
    bounds = [count * i // parts for i in range(parts + 1)]
    others = [_Part(start, stop, answers) for start, stop in itertools.pairwise(bounds[1:])]
    errors: list[BaseException] = []
    try:
        for part in others:
            part.asked_by = sys._getframe()
            tasks.put((contextvars.copy_context(), function, part))  # with np.errstate as it is here
            part.sent = True
        function(0, bounds[1])
    except BaseException as error:
        errors.append(error)
    while not all(part.done for part in others if part.sent):  # they write into the arrays of whoever catches an error
        try:
            answers.get()
        except BaseException as interrupt:  # Ctrl-C has to wait, too
            errors.append(interrupt)
    errors += [part.error for part in others if part.error is not None]
    try:
        if errors:
            raise errors[0]
    finally:
        del errors, others  # the error holds this frame, and with it the arrays, as long as the frame holds the error


def _start(workers: int) -> bool:
    """Whether there are workers: as many, or as the system allows."""
    global _started, _tasks
    with _starting:
        if _tasks is None:
            from queue import SimpleQueue

            _tasks = SimpleQueue()
        while _started < workers:
            thread = threading.Thread(target=_work, args=(_tasks,), daemon=True, name=f"minigrad-{_started}")
            try:
                thread.start()
            except RuntimeError:  # the system has no more, or the program is ending
                break
            _started += 1
        return _started > 0


def _work(tasks: SimpleQueue[_Task]) -> None:
    _here.worker = True
    while True:
        context, function, part = tasks.get()
        asked_by, part.asked_by = part.asked_by, None  # guards/warnings.py goes on from here
        try:
            context.run(function, part.start, part.stop)
        except BaseException as error:  # it is the caller's, who waits
            part.error = error
        del context, function, asked_by  # what they hold is not to live until the next task
        part.done = True
        part.answers.put(None)
        del part


def _forget_threads() -> None:
    """In a forked child only the forking thread lives on."""
    global _started, _tasks, _starting
    _started, _tasks, _starting = 0, None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
