"""A process that raises or hangs ends the whole job, with words of its own."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import TracebackType
from typing import Any

_GRACE = 2.0  # seconds: who hangs is to speak before those who wait for it


def abort_on_error(comm: Any) -> None:
    """An error that nobody catches ends all processes, also where the script does not run under ``python -m mpi4py``."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        print(f"rank {comm.rank} of {comm.size} stops the job:", file=sys.stderr)
        previous(kind, error, traceback)
        sys.stderr.flush()
        comm.Abort(1)

    sys.excepthook = hook


class Watchdog:
    """A thread that looks how long this process has been at one thing."""

    def __init__(self, comm: Any, timeout: float) -> None:
        self._comm, self._timeout = comm, timeout
        self._doing: tuple[str, float, float] | None = None  # what, until when at most, and since when
        threading.Thread(target=self._watch, name="watchdog of the ranks", daemon=True).start()

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """In the block this process waits for the others."""
        text = f"rank {self._comm.rank} has waited {{seconds:.0f}} s for the others, {what}: one of them hangs or is late"
        with self._limited(text, self._timeout + _GRACE):
            yield

    @contextmanager
    def working(self) -> Iterator[None]:
        """In the block the others wait for this process."""
        with self._limited(f"rank {self._comm.rank} hangs: its step has taken {{seconds:.0f}} s", self._timeout):
            yield

    @contextmanager
    def _limited(self, text: str, seconds: float) -> Iterator[None]:
        outer, now = self._doing, monotonic()
        self._doing = text, now + seconds, now
        try:
            yield
        finally:
            self._doing = outer and (outer[0], monotonic() + self._timeout, monotonic())  # it has just been heard of

    def _watch(self) -> None:
        while True:
            sleep(min(0.2, self._timeout / 4))
            doing = self._doing
            if doing is not None and monotonic() > doing[1]:
                text = doing[0].format(seconds=monotonic() - doing[2])
                print(f"{text} (Ranks(timeout={self._timeout:g}) is the limit). It is here:", file=sys.stderr, flush=True)
                faulthandler.dump_traceback(sys.__stderr__, all_threads=True)
                self._comm.Abort(1)
                os._exit(1)  # where MPI itself hangs
