"""Compile loops over float32 arrays with numba. The other modules of this folder run them instead of several NumPy operations.

Each loop is written in plain Python for one element or one row at a time. It is fast for three reasons. First, the processor
computes eight or sixteen elements at once if a loop has no branches and no calls. So ``exp`` is a polynomial here, and
``a if c else b`` computes both results and picks one. Second, a row is read from memory once and stays in the cache for the
loops that follow. Third, the loops release Python's global lock, so threads can share the rows.

The compiler may reorder the additions in :func:`plus`, so that it can sum sixteen elements at once. It must reorder nothing
else: it must not turn ``(x - mean) - y`` into ``x - (mean + y)``, and must not assume that there are no NaNs or
infinite numbers.
"""

import math
import zlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import register_jitable

# LLVM's names for what it may do: treat (a + b) + c as a + (b + c), treat -0 as 0, and compute a * b + c in one step.
_REORDER = {"reassoc", "nsz", "contract"}
_EXACTLY = {"contract"}
_KINDS = {"r": types.float32, "w": types.float32, "n": types.int64, "x": types.float64}
# numba's cache only checks whether the file of the loop has changed. This checksum makes it also notice changes of this file.
_VERSION = zlib.crc32(Path(__file__).read_bytes())


class CompiledLoop:
    """A loop over contiguous arrays of float32.

    ``signature`` has a word for each argument: ``r2`` is an array of two axes that the loop reads, ``w2`` is one that it
    writes, ``n`` is an integer and ``x`` is a float.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        function.__qualname__ += f"-{_VERSION}"  # the names of the cache files contain it
        self.function = function
        self.signature = signature

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The compiled function. The first use compiles it or reads it from numba's cache."""

        def argument(word: str) -> Any:
            kind = _KINDS[word[0]]
            # numba passes a writeable array as a read-only argument, too
            return types.Array(kind, int(word[1]), "C", readonly=word[0] != "w") if len(word) > 1 else kind

        arguments = tuple(argument(word) for word in self.signature.split())
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _EXACTLY}
        try:
            return numba.njit(arguments, cache=True, **options)(self.function)
        except (RuntimeError, OSError):  # no folder for the cache is writeable
            return numba.njit(arguments, **options)(self.function)


def compiled(signature: str) -> Callable[[Callable[..., Any]], CompiledLoop]:
    return lambda function: CompiledLoop(function, signature)


# --- Functions that the loops call, of float32 ----------------------------------------------------------------------

# ln 2 is the sum of two parts. The last bits of the first are zeros. Adding _ROUNDING puts the nearest integer into the lowest
# bits. Below _LOWEST, exp would be subnormal, which is slow.
_PER_LN2, _HIGH, _LOW = np.float32(1 / math.log(2)), np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUNDING, _LOWEST = np.float32(1.5 * 2.0**23), np.float32(-87.0)
_SERIES = tuple(np.float32(1 / math.factorial(k)) for k in range(7, -1, -1))
_ZERO, _ONE = np.float32(0), np.float32(1)


@register_jitable(fastmath=_EXACTLY)
def exp(x: Any) -> Any:
    """Compute ``e ** x`` for x <= 0 to nearly full precision, and 0 instead of a subnormal result.

    With n = round(x / ln 2) and r = x - n ln 2 it is 2^n e^r. The bits of n give 2^n, and a Taylor series gives e^r.
    """
    shifted = x * _PER_LN2 + _ROUNDING
    n = shifted - _ROUNDING
    r = x - n * _HIGH  # exact
    r = r - n * _LOW
    p = _ZERO
    for c in _SERIES:
        p = p * r + c
    power = np.int32(np.int32(np.float32(shifted).view(np.int32) << 23) + (127 << 23))
    p = p * np.int32(power).view(np.float32)
    return _ZERO if x < _LOWEST else p


@register_jitable(fastmath=_REORDER)
def plus(total: Any, term: Any) -> Any:
    """Return ``total + term``. The compiler may change the order of a sum of such additions."""
    return total + term


@register_jitable(fastmath=_EXACTLY)
def logistic_and_slope(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))`` without overflow, and its derivative without cancellation. With x < 0 e is exp(x)."""
    e = exp(-abs(x))
    share = _ONE / (_ONE + e)
    return (e * share if x < 0 else share), e * share * share


# The coefficients of P, the highest power first. With t = 1 / (1 + |x| / 4) the cumulative distribution function at -|x| is
# exp(-x^2/2) t P(t). The polynomial interpolates 10 Chebyshev points in |x| <= 13.2, with a relative error of 1e-8. The form
# is that of Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
_TAIL = tuple(map(np.float32, (
    0.0147429729, -0.0526992796, 0.0275947863, 0.0610279095, -0.0148980690,
    0.1017996418, 0.0666303756, 0.0967009998, 0.0993448477, 0.0997558171,
)))  # fmt: skip
_HALF, _QUARTER, _PEAK = np.float32(0.5), np.float32(0.25), np.float32(1 / math.sqrt(2 * math.pi))


@register_jitable(fastmath=_EXACTLY)
def normal(x: Any) -> Any:
    """Return the cumulative distribution function and the density of the standard normal distribution."""
    e = exp(-_HALF * x * x)
    t = _ONE / (_ONE + _QUARTER * abs(x))
    p = _ZERO
    for c in _TAIL:
        p = p * t + c
    tail = e * t * p
    return (tail if x < 0 else _ONE - tail), e * _PEAK
