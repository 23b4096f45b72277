"""More than one core for one operation: its rows in parts, a thread each.

NumPy lets go of Python's lock inside its loops, so two threads get two cores; handing work over costs some 50 us, so only
large arrays are divided. What a kernel computes must not depend on how: the parts differ with the number of threads.
"""

from __future__ import annotations

import contextvars
import itertools
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from ._blas import blas
from .errors import ArgumentError

_LARGE = 1 << 21  # elements computed, about a millisecond; below, handing over costs more than it saves
_PASSES = 8  # over each element, about
BLOCK = 1 << 15  # elements: some arrays of so many share a second-level cache
T = TypeVar("T")
_Task = tuple[contextvars.Context, Callable[[int, int], object], int, int, "SimpleQueue[BaseException | None]"]


def _cores() -> int:
    """The cores this process may use, or fewer if OMP_NUM_THREADS, which other libraries obey too, says so."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, max(int(wanted), 1)) if wanted.isdecimal() else here


class _Pool(threading.local):
    """Whether this thread is one of the workers, whose own operations are not divided again."""

    worker = False


_here = _Pool()
_tasks: SimpleQueue[_Task] = SimpleQueue()
_count = _cores()
_started = 0


def num_threads() -> int:
    """How many threads share the work of one large operation."""
    return _count


def set_num_threads(count: int) -> None:
    """Let that many threads share the work of one large operation; by default one for each core.

    NumPy's matrix products have threads of their own, which this does not change, except that inside a divided operation
    each product has one.

    Raises:
        ArgumentError: ``count`` is not a positive integer.
    """
    global _count
    if not isinstance(count, int) or count < 1:
        raise ArgumentError(f"set_num_threads takes a positive integer, got {count!r}")
    _count = count


def in_parts(function: Callable[[int, int], object], count: int, work: int) -> None:
    """Call ``function(start, stop)`` for parts that make up ``range(count)``, at the same time if it is worth it.

    Args:
        work: roughly how many elements are computed in all, intermediate ones too.
    """
    if _here.worker:
        function(0, count)
        return
    blas.one_thread()
    try:
        if (parts := min(_count, count)) < 2 or work < _LARGE:
            function(0, count)
        else:
            _divide(function, count, parts)
    finally:
        blas.as_before()


def in_blocks(function: Callable[[slice], T], count: int, elements: int) -> list[T]:
    """``function(part)`` for blocks of ``range(count)`` in which the next pass still finds in a cache what the last one left.

    The blocks are the same whatever the number of threads, and the results come in their order: sums over them are the same
    to the bit.

    Args:
        elements: how many elements an array of all ``count`` rows has.
    """
    if elements <= BLOCK:
        return [function(slice(0, count))]
    rows = max(1, BLOCK * count // elements)
    blocks = [slice(start, min(start + rows, count)) for start in range(0, count, rows)]
    results: list[Any] = [None] * len(blocks)

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):
            results[i] = function(blocks[i])

    in_parts(some, len(blocks), _PASSES * elements)
    return results


def _divide(function: Callable[[int, int], object], count: int, parts: int) -> None:
    _start(parts - 1)
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    bounds = [count * i // parts for i in range(parts + 1)]
    for start, stop in itertools.pairwise(bounds[1:]):
        _tasks.put((contextvars.copy_context(), function, start, stop, done))  # with np.errstate as it is here
    error: BaseException | None = None
    try:
        function(0, bounds[1])
    finally:  # the others write into the same arrays: wait in any case
        for _ in range(parts - 1):
            error = done.get() or error
    if error is not None:
        raise error


def _start(workers: int) -> None:
    global _started
    while _started < workers:
        _started += 1
        threading.Thread(target=_work, args=(_tasks,), daemon=True, name=f"minigrad-{_started}").start()


def _work(tasks: SimpleQueue[_Task]) -> None:
    _here.worker = True
    while True:
        context, function, start, stop, done = tasks.get()
        error: BaseException | None = None
        try:
            context.run(function, start, stop)
        except BaseException as raised:  # it is the caller's, who waits
            error = raised
        del context, function  # what they hold is not to live until the next task
        done.put(error)
        del done, error


def _forget_threads() -> Any:
    """In a forked child only the forking thread lives on."""
    global _started, _tasks
    _started, _tasks = 0, SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
