"""One setting of the C library's allocator, made when minigrad is imported."""

import ctypes

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # glibc's malloc.h


def keep_freed_memory() -> None:
    """Let glibc keep the memory of freed arrays for the next ones, instead of handing it back to the system at once.

    A training step makes and frees the same arrays over and over. By default glibc returns each of more than 128 KiB, and
    the system then clears every page anew: at the toy benchmark 2,700 page faults a step, a third of its time. The peak
    of a program's memory stays what it was; after it less is given back. Nothing happens where the C library is another.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # Windows, macOS, musl
    mallopt(_M_TRIM_THRESHOLD, 1 << 30)
    mallopt(_M_TOP_PAD, 64 << 20)
    mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the most that glibc allows
