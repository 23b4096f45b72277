"""Where nn meets minigrad's kernels. Where they have been taken out, NumPy alone updates parameters, in one thread."""

import sys
from collections.abc import Callable

from minigrad import reference_mode

try:
    from minigrad.kernels.switches import compiled
    from minigrad.kernels.threads import BLOCK, in_parts
except ImportError as missing:
    if missing.name != "minigrad.kernels":
        raise
    BLOCK = sys.maxsize

    def compiled() -> bool:
        return False

    def in_parts(function: Callable[[int, int], object], count: int, work: int) -> None:
        function(0, count)


__all__ = ["BLOCK", "compiled_adam", "in_parts"]


def compiled_adam() -> Callable[..., None] | None:
    """The step of Adam that numba compiles, while ``compiled_kernels()`` is on."""
    if not compiled() or reference_mode.active():
        return None
    from minigrad.kernels.compiled.adam import adam_step

    return adam_step
