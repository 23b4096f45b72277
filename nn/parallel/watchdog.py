"""End the whole job with a message when one of its processes raises or hangs."""

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
    """End all processes on an uncaught error, also if the script does not run under ``python -m mpi4py``."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        print(f"rank {comm.rank} of {comm.size} stops the job:", file=sys.stderr)
        previous(kind, error, traceback)
        sys.stderr.flush()
        comm.Abort(1)

    sys.excepthook = hook


class Watchdog:
    """A thread that ends the job when one task of this process takes too long."""

    def __init__(self, comm: Any, timeout: float) -> None:
        self._comm, self._timeout = comm, timeout
        self._doing: tuple[str, float, float] | None = None  # the message, the start time, and the limit in seconds
        threading.Thread(target=self._watch, name="watchdog of the ranks", daemon=True).start()

    @contextmanager
    def limit(self, what: str, grace: float = 0.0) -> Iterator[None]:
        """End the job with the message ``what`` if the block takes longer than the timeout plus ``grace`` seconds."""
        outer, self._doing = self._doing, (what, monotonic(), self._timeout + grace)
        try:
            yield
        finally:
            self._doing = outer and (outer[0], monotonic(), outer[2])  # the outer block's time starts again

    def _watch(self) -> None:
        while True:
            sleep(min(0.2, self._timeout / 4))
            what, since, limit = self._doing or ("", monotonic(), self._timeout)
            if (seconds := monotonic() - since) > limit:
                words = f"rank {self._comm.rank} {what.format(f'{seconds:.0f} s')}"
                print(
                    f"{words} (Ranks(timeout={self._timeout:g}) is the limit). It is here:", file=sys.stderr, flush=True
                )
                faulthandler.dump_traceback(2, all_threads=True)  # 2: standard error, even if sys.stderr is replaced
                self._comm.Abort(1)
