"""Control the threads of OpenBLAS, the library that computes NumPy's matrix products.

After each product the threads of OpenBLAS spin for 25 to 100 ms while they wait for the next product. They take cores from
minigrad's threads: a single product per step can block one core for the whole step. Also, for the many small products of
attention, waking these threads takes longer than they save. So each product gets one thread inside operations that minigrad
itself divides among threads.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

_PREFIXES, _SUFFIXES = (
    ("scipy_openblas", "openblas"),
    ("64_", ""),
)  # of NumPy's wheels; of a system's or conda's library

_EVERY = 5.0  # seconds between two looks at the machine
_LOST = 20  # times a second that this process loses a core; on a quiet machine it is a few
_SLOWER = 10  # times as slow as with one thread: then the threads of OpenBLAS are worth a warning
_SIDE = 192  # rows of the matrices that are timed: 0.1 ms on one core


class Blas:
    """Switches OpenBLAS to one thread and back. With another BLAS library its methods are no-ops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: set[int] = set()  # the threads with a running operation
        self._before = 0
        self._functions: tuple[Callable[[], int], Callable[[int], Any]] | None = None
        self._looked = False
        self._next_look, self._lost = 0.0, 0

    def one_thread(self) -> None:
        """Use one thread per product until this thread calls :meth:`as_before`."""
        self._find()
        if self._functions is None:
            return
        with self._lock:
            if not self._users:
                self._before = self._functions[0]()
            self._users.add(threading.get_ident())
            self._functions[1](1)

    def _find(self) -> None:
        if not self._looked:
            self._functions, self._looked = _openblas(), True

    def as_before(self) -> None:
        if self._functions is None:
            return
        with self._lock:
            if self._users == {threading.get_ident()}:
                self._functions[1](self._before)
            self._users.discard(threading.get_ident())

    def look(self) -> None:
        """Warn once if OpenBLAS's threads wait for one another because other programs use the cores.

        Called once per step of training. It looks every few seconds: if this process often loses a core to others, it times a
        product with OpenBLAS's threads and with one.
        """
        now = time.monotonic()
        if now < self._next_look or self._users:
            return
        lost, self._lost = self._lost, _cores_lost()
        first, self._next_look = self._next_look == 0, now + _EVERY
        self._find()
        if first or self._lost - lost < _EVERY * _LOST or self._functions is None or self._functions[0]() < 2:
            return
        many, one = self._milliseconds(self._functions[0]()), self._milliseconds(1)
        if many > _SLOWER * one:
            self._next_look = math.inf
            warnings.warn(
                f"other programs use the cores: a matrix product takes {many:.3g} ms with OpenBLAS's "
                f"{self._functions[0]()} threads, which wait for one another, and {one:.2g} ms with one thread. "
                "Set OPENBLAS_NUM_THREADS=1 before Python starts",
                RuntimeWarning,
                stacklevel=4,  # the caller of an optimizer's step
            )

    def _milliseconds(self, threads: int) -> float:
        """Return the median time of a product."""
        assert self._functions is not None
        get, set_ = self._functions
        before, a, times = get(), np.ones((_SIDE, _SIDE), np.float32), []
        set_(threads)
        try:
            for _ in range(7):
                start = time.perf_counter()
                np.matmul(a, a)
                times.append(1e3 * (time.perf_counter() - start))
        finally:
            set_(before)
        return sorted(times)[3]

    def after_fork(self) -> None:
        """Restore the number of threads in a forked child, where no operation is running."""
        self._lock = threading.Lock()
        if self._users and self._functions is not None:
            self._functions[1](self._before)
        self._users.clear()


def _cores_lost() -> int:
    """Return how often the system has taken a core from this process, or 0 if it does not say so."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _openblas() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """Return the functions of OpenBLAS that read and set its number of threads, or None."""
    for path in _libraries():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
                set_ = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
                if get is not None and set_ is not None:
                    return get, set_
    return None


def _libraries() -> list[str]:
    """Return the paths of OpenBLAS: in NumPy's wheel, or among the libraries that this process has loaded."""
    root = os.path.dirname(np.__file__)  # pathlib would take a tenth of the import time of minigrad
    for folder in (f"{root}.libs", os.path.join(root, ".dylibs")):
        try:
            paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if "openblas" in name]
        except OSError:
            continue
        if paths:
            return paths
    try:
        with open("/proc/self/maps") as maps:
            return list(dict.fromkeys(line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line))
    except OSError:
        return []


blas = Blas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=blas.after_fork)
