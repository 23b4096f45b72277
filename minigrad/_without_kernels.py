"""What stands in for ``minigrad/kernels`` where that folder has been taken out: the plain rules compute, in one thread."""

import sys
from collections.abc import Callable

from .errors import UnsupportedError

BLOCK = sys.maxsize  # nothing is divided


def compiled_kernels(enabled: bool = True) -> None:
    """There are none: only switching them off does nothing."""
    if enabled:
        raise _missing("compiled_kernels")


def num_threads() -> int:
    """1: nothing is divided."""
    return 1


def set_num_threads(count: int) -> None:
    """There are none but one."""
    if count != 1:
        raise _missing("set_num_threads")


def in_parts(function: Callable[[int, int], object], count: int, work: int) -> None:
    """Call it once, for all."""
    function(0, count)


def compiled_adam() -> None:
    """There is none."""


def _missing(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}() needs the folder minigrad/kernels, which has been taken out of this copy of minigrad: the plain rules "
        "compute the same numbers, or install minigrad anew"
    )
