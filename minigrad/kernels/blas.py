"""Control the threads of OpenBLAS, the library that computes NumPy's matrix products.

After each product the threads of OpenBLAS spin for 25 to 100 ms while they wait for the next product. They take cores from
minigrad's threads: a single product per step can block one core for the whole step. Also, for the many small products of
attention, waking these threads takes longer than they save. So each product gets one thread inside operations that minigrad
itself divides among threads.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_PREFIXES, _SUFFIXES = (
    ("scipy_openblas", "openblas"),
    ("64_", ""),
)  # of NumPy's wheels; of a system's or conda's library


class Blas:
    """Switches OpenBLAS to one thread and back. With another BLAS library its methods are no-ops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: set[int] = set()  # the threads with a running operation
        self._before = 0
        self._functions: tuple[Callable[[], int], Callable[[int], Any]] | None = None
        self._looked = False

    def one_thread(self) -> None:
        """Use one thread per product until this thread calls :meth:`as_before`."""
        if not self._looked:
            self._functions, self._looked = _openblas(), True
        if self._functions is None:
            return
        with self._lock:
            if not self._users:
                self._before = self._functions[0]()
            self._users.add(threading.get_ident())
            self._functions[1](1)

    def as_before(self) -> None:
        if self._functions is None:
            return
        with self._lock:
            if self._users == {threading.get_ident()}:
                self._functions[1](self._before)
            self._users.discard(threading.get_ident())

    def after_fork(self) -> None:
        """Restore the number of threads in a forked child, where no operation is running."""
        self._lock = threading.Lock()
        if self._users and self._functions is not None:
            self._functions[1](self._before)
        self._users.clear()


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
