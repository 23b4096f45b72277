"""What stands in for ``minigrad/kernels`` where that folder has been taken out: the plain rules compute, in one thread."""

from .errors import UnsupportedError


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


def _missing(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}() needs the folder minigrad/kernels, which has been taken out of this copy of minigrad: the plain rules "
        "compute the same numbers, or install minigrad anew"
    )
