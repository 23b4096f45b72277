"""A process that raises or hangs ends the whole job, with words of its own."""

from __future__ import annotations

import faulthandler
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import TracebackType
from typing import Any


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
        self._doing: tuple[str, float, float] | None = None  # what, since when, and for how long at most
        threading.Thread(target=self._watch, name="watchdog of the ranks", daemon=True).start()

    @contextmanager
    def limit(self, what: str, grace: float = 0.0) -> Iterator[None]:
        """The block ends in time, or all end."""
        outer, self._doing = self._doing, (what, monotonic(), self._timeout + grace)
        try:
            yield
        finally:
            self._doing = outer and (outer[0], monotonic(), outer[2])  # the others have just been heard of

    def _watch(self) -> None:
        while True:
            sleep(min(0.2, self._timeout / 4))
            what, since, limit = self._doing or ("", monotonic(), self._timeout)
            if (seconds := monotonic() - since) > limit:
                words = f"rank {self._comm.rank} {what.format(f'{seconds:.0f} s')}"
                print(
                    f"{words} (Ranks(timeout={self._timeout:g}) is the limit). It is here:", file=sys.stderr, flush=True
                )
                faulthandler.dump_traceback(2, all_threads=True)  # standard error, whatever stands for it
                self._comm.Abort(1)
