"""How much memory this process holds and has held. On Linux from /proc; elsewhere only the peak is known."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

MIB = 2**20


def peak() -> float:
    """The most memory that this process has held, in MiB."""
    held = _status("VmHWM")
    if held is not None:
        return held  # not getrusage: on Linux a child starts with its parent's peak there
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (MIB if sys.platform == "darwin" else 1024)


def resident() -> float | None:
    """What it holds now, in MiB."""
    return _status("VmRSS")


def settle() -> None:
    """Give back what is free, so that what is taken from now on shows."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        return  # not glibc


def _status(name: str) -> float | None:
    file = Path("/proc/self/status")
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024  # kB
    return None
