"""Ctrl-C at a moment when nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupts:
    """Inside ``with interrupts.deferred():`` the first Ctrl-C waits until the block is done; a second one does not.

    Only Python's main thread gets Ctrl-C, and only there can its handling be changed: in another thread, or where Ctrl-C is
    ignored, this does nothing. What the program does on Ctrl-C (by default: raise KeyboardInterrupt) stays as it is.
    """

    def __init__(self) -> None:
        self._previous: Any = None  # what handled SIGINT before
        self._depth = 0
        self._seen = self._waiting = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                self._previous = previous
                signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if self._waiting:
            self._waiting = False
            self._previous(signal.SIGINT, None)

    def closing(self) -> None:
        """The last thing in the ``with`` block: from here on the first Ctrl-C waits until everything is put back."""
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
