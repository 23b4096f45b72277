"""Run one operation on several cores. Each thread computes a part of the rows.

NumPy releases Python's global lock inside its loops, so two threads can use two cores. Handing work to a thread takes about
50 us, so only large arrays are divided. The parts depend on the number of threads, but the result of a kernel must not.
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

_LARGE = 1 << 22  # elements of work, about two milliseconds; for less work the overhead of threads exceeds the gain
BLOCK = 1 << 18  # elements in a block; several arrays of this size fit into a third-level cache together
_SHORT = 1 << 16  # the fewest elements in a block; with shorter blocks threads often wait for Python's lock
PARTS = 4  # the least number of parts of large work; the shapes, and so the last bits, must not depend on the threads
B = TypeVar("B")
T = TypeVar("T")
_Task = tuple[contextvars.Context, Callable[[int, int], object], "_Part"]


def _cores() -> int:
    """Return the number of cores that this process may use. OMP_NUM_THREADS can reduce it, as in other libraries."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # further numbers are for nested levels
    return min(here, max(int(wanted), 1)) if wanted.isdecimal() else here


class _Here(threading.local):
    """Whether this thread is a worker. Operations inside a worker are not divided again."""

    worker = False


class _Part:
    """A part of the work, and how the thread that waits for it gets the result."""

    def __init__(self, start: int, stop: int, answers: SimpleQueue[None]) -> None:
        self.start = start
        self.stop = stop
        self.answers = answers  # an item in this queue wakes the waiting thread
        self.asked_by: FrameType | None = None
        self.sent = self.done = False
        self.error: BaseException | None = None


_here = _Here()
_tasks: SimpleQueue[_Task] | None = None  # made at the first use, because importing `queue` takes a millisecond
_count = _cores()
_started = 0
_starting = threading.Lock()


def num_threads() -> int:
    """Return the number of threads that share the work of one large operation.

    Example:
        >>> import minigrad as mg
        >>> mg.num_threads() >= 1  # the default is the number of cores that this process may use
        True
    """
    return _count


def set_num_threads(count: int) -> None:
    """Set the number of threads that share the work of one large operation. The default is one per core.

    NumPy's BLAS library has its own threads for matrix products. This setting does not change their number. There is
    one exception: while minigrad's threads share an operation, each matrix product inside it uses one thread.

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
    """Call ``function(start, stop)`` for parts that cover ``range(count)``, in parallel if there is enough work.

    Args:
        work: the approximate number of elements that are computed in total, including intermediate results.
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
    """Call ``function(*parts)`` for blocks of the rows of ``arrays`` that fit into a cache, and return the results in order.

    The first array determines the number of rows in a block. The blocks do not depend on the number of threads, so sums over
    the results are the same to the last bit.

    Args:
        passes: the approximate time of ``function``, measured in passes over the first array.
    """
    size = arrays[0].size
    blocks = blocks_of(len(arrays[0]), size, passes)
    if len(blocks) < 2:
        return [function(*arrays)]
    return for_each(lambda rows: function(*[array[rows] for array in arrays]), blocks, int(passes * size))


def blocks_of(count: int, size: int, passes: float) -> list[slice]:
    """Return the blocks of :func:`in_blocks` for ``count`` rows with ``size`` elements in total."""
    wanted = -(-size // BLOCK)
    if size >= 2 * _SHORT and passes * size >= _LARGE:
        wanted = max(wanted, min(PARTS, size // _SHORT))
    if wanted < 2:
        return [slice(0, count)]
    rows = -(-count // wanted)
    return [slice(start, min(start + rows, count)) for start in range(0, count, rows)]


def for_each(function: Callable[[B], T], parts: Sequence[B], work: int) -> list[T]:
    """Call ``function`` for each part, in parallel if there is enough ``work``, and return the results in order."""
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
            tasks.put((contextvars.copy_context(), function, part))  # the copy includes np.errstate
            part.sent = True
        function(0, bounds[1])
    except BaseException as error:
        errors.append(error)
    # Wait for all parts, even after an error or Ctrl-C: they write to arrays that the caller may use again.
    while not all(part.done for part in others if part.sent):
        try:
            answers.get()
        except BaseException as interrupt:
            errors.append(interrupt)
    errors += [part.error for part in others if part.error is not None]
    try:
        if errors:
            raise errors[0]
    finally:
        del errors, others  # breaks the reference cycle of the error and this frame, which would keep the arrays alive


def _start(workers: int) -> bool:
    """Start up to this number of workers, as far as the system allows. Return whether there is at least one worker."""
    global _started, _tasks
    with _starting:
        if _tasks is None:
            from queue import SimpleQueue

            _tasks = SimpleQueue()
        while _started < workers:
            thread = threading.Thread(target=_work, args=(_tasks,), daemon=True, name=f"minigrad-{_started}")
            try:
                thread.start()
            except RuntimeError:  # the system allows no more threads, or the program is ending
                break
            _started += 1
        return _started > 0


def _work(tasks: SimpleQueue[_Task]) -> None:
    _here.worker = True
    while True:
        context, function, part = tasks.get()
        asked_by, part.asked_by = part.asked_by, None  # guards/warnings.py reads this variable
        try:
            context.run(function, part.start, part.stop)
        except BaseException as error:  # _divide raises it in the waiting thread
            part.error = error
        del context, function, asked_by  # otherwise they would keep their arrays alive until the next task
        part.done = True
        part.answers.put(None)
        del part


def _forget_threads() -> None:
    """Reset the workers in a forked child, where only the forking thread exists."""
    global _started, _tasks, _starting
    _started, _tasks, _starting = 0, None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
