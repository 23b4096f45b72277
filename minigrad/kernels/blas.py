"""The threads of the library that computes NumPy's matrix products.

OpenBLAS keeps its threads spinning for 25 to 100 ms after each product, in wait for the next one: they take the cores from
ours, and one product in a step can take one core for the whole of it. For the many small products of attention, waking them
costs more than they save, too. So where minigrad divides the work itself, each product gets one thread.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_PREFIXES, _SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "")  # NumPy's wheels; what a system or conda installs


class Blas:
    """Switches it to one thread and back; without effect where NumPy has another library than OpenBLAS."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: set[int] = set()  # the threads that have an operation under way
        self._before = 0
        self._functions: tuple[Callable[[], int], Callable[[int], Any]] | None = None
        self._looked = False

    def one_thread(self) -> None:
        """Until this thread calls :meth:`as_before`."""
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
        """In a forked child no operation is under way: the threads that ran them are not there."""
        self._lock = threading.Lock()
        if self._users and self._functions is not None:
            self._functions[1](self._before)
        self._users.clear()


def _openblas() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """What reads and sets its number of threads."""
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
    """Paths of OpenBLAS: in NumPy's wheel, or among what this process has loaded."""
    root = os.path.dirname(np.__file__)  # not pathlib, which would be a tenth of the import
    for folder in (f"{root}.libs", os.path.join(root, ".dylibs")):
        try:
            found = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if "openblas" in name]
        except OSError:
            continue
        if found:
            return found
    try:
        with open("/proc/self/maps") as maps:
            return list(dict.fromkeys(line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line))
    except OSError:
        return []


blas = Blas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=blas.after_fork)
