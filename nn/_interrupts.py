"""Defer Ctrl-C until an update or a write is complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupts:
    """A handler of Ctrl-C that defers the first one to the end of a ``with interrupts.deferred():`` block, but not a second.

    Only Python's main thread receives Ctrl-C and can change its handler. In another thread, or if the program ignores Ctrl-C,
    this class is a no-op. The program's own handler (by default, KeyboardInterrupt is raised) still runs.
    """

    def __init__(self) -> None:
        self._previous: Any = None  # the program's handler of SIGINT
        self._depth = 0
        self._seen = self._waiting = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                self._previous = previous
                try:
                    signal.signal(signal.SIGINT, self._handle)
                    return self
                except BaseException:  # Ctrl-C in this moment: there is no __exit__ without the end of __enter__
                    signal.signal(signal.SIGINT, previous)
                    raise
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if self._waiting:
            self._waiting = False
            self._previous(signal.SIGINT, None)

    def closing(self) -> None:
        """Defer the first Ctrl-C until ``__exit__`` has restored the handler; call this last in the ``with`` block."""
        self._depth += 1

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first, self._seen = not self._seen, True
        if first and self._depth:
            self._waiting = True
        else:
            self._waiting = False
            self._previous(number, frame)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._waiting and not self._depth:
                self._waiting = False
                self._previous(signal.SIGINT, None)
