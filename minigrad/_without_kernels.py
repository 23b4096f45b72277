"""Replacements for ``minigrad/kernels`` if that folder was removed: the plain rules compute in one thread."""

import sys
from collections.abc import Callable

from .errors import UnsupportedError

BLOCK = sys.maxsize  # elements per block; no array is divided


def compiled_kernels(enabled: bool = True) -> None:
    """Raise, unless the call switches the kernels off."""
    if enabled:
        raise _missing("compiled_kernels")


def num_threads() -> int:
    """Return 1, because no work is divided."""
    return 1


def set_num_threads(count: int) -> None:
    """Raise, unless ``count`` is 1."""
    if count != 1:
        raise _missing("set_num_threads")


def in_parts(function: Callable[[int, int], object], count: int, work: int) -> None:
    """Call ``function`` once for the whole range."""
    function(0, count)


def compiled_adam() -> None:
    """Return None, because there is no compiled step."""


def _missing(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}() needs the folder minigrad/kernels, which has been taken out of this copy of minigrad: the plain rules "
        "compute the same numbers, or install minigrad again"
    )
