"""Compile loops over arrays with numba. The other modules of this folder run them instead of several NumPy operations.

Each loop is written in plain Python for one element at a time. It is fast for three reasons. First, the processor computes
eight or sixteen elements at once if a loop has no branches and no calls. So ``exp`` is a polynomial here, and ``a if c else b``
computes both results and picks one. Second, an element is read from memory once. Third, the loops release Python's global
lock, so threads can share the elements.

The compiler may compute ``a * b + c`` in one step. It must reorder nothing, and must not assume that there are no NaNs or
infinite numbers.
"""

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload

_EXACTLY = {"contract"}  # LLVM's name for computing a * b + c in one step
# numba's cache only checks whether the file of the loop has changed. This checksum makes it also notice changes of this file.
_VERSION = zlib.crc32(Path(__file__).read_bytes())


class CompiledLoop(dict[Any, Callable[..., Any]]):
    """A loop over arrays, as a dict from a dtype to the compiled function.

    The first use of a dtype compiles the loop or reads it from numba's cache. ``signature`` has a word for each argument:
    ``r1`` is an array of one axis that the loop reads, ``w1`` is one that it writes, and ``x`` is a float. Arrays are
    contiguous.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        function.__qualname__ += f"-{_VERSION}"  # the names of the cache files contain it
        self.function = function
        self.signature = signature

    def __missing__(self, dtype: Any) -> Callable[..., Any]:
        real = numba.from_dtype(dtype)
        kinds = {"r": real, "w": real, "x": types.float64}

        def argument(word: str) -> Any:
            kind = kinds[word[0]]
            # numba passes a writeable array as a read-only argument, too
            return types.Array(kind, int(word[1]), "C", readonly=word[0] != "w") if len(word) > 1 else kind

        arguments = tuple(argument(word) for word in self.signature.split())
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _EXACTLY}
        try:
            made = numba.njit(arguments, cache=True, **options)(self.function)
        except (RuntimeError, OSError):  # no folder for the cache is writeable
            made = numba.njit(arguments, **options)(self.function)
        self[dtype] = made
        return made


def compiled(signature: str) -> Callable[[Callable[..., Any]], CompiledLoop]:
    return lambda function: CompiledLoop(function, signature)


# --- Functions that the loops call ----------------------------------------------------------------------------------

# For each numba type: the NumPy type, the integer type of its size, the number of fraction bits, the bits of 1.0, ln 2 as the
# sum of two parts, the degree of the polynomial of exp, and the argument below which exp returns 0.
_FORMATS: dict[Any, tuple[Any, ...]] = {
    types.float32: (np.float32, np.int32, 23, 127 << 23, 0.693359375, -2.12194440e-4, 7, -87.0),
    types.float64: (np.float64, np.int64, 52, 1023 << 52, 6.93147180369123816490e-01, 1.90821492927058770002e-10, 13, -708.0),
}  # fmt: skip


def exp(x: Any) -> Any:
    """Compute ``e ** x`` for x <= 0 to nearly full precision. Return 0 instead of a subnormal result, which would be slow."""


@overload(exp, jit_options={"fastmath": _EXACTLY})
def _exp_for(x: Any) -> Any:
    """Compute 2^n e^r with n = round(x / ln 2) and r = x - n ln 2. The bits of n give 2^n, and a Taylor series gives e^r."""
    real, integer, fraction, one, high, low, terms, lowest = _FORMATS[x]
    coefficients = tuple(real(1 / math.factorial(k)) for k in range(terms, -1, -1))
    rounding = real(1.5 * 2.0**fraction)  # adding this puts the nearest integer into the lowest bits
    per_ln2, high, low, lowest, zero = real(1 / math.log(2)), real(high), real(low), real(lowest), real(0)
    fraction, one = integer(fraction), integer(one)

    def of(x: Any) -> Any:
        shifted = x * per_ln2 + rounding
        n = shifted - rounding
        r = x - n * high  # exact, because the last bits of `high` are zeros
        r = r - n * low
        p = zero
        for c in coefficients:
            p = p * r + c
        power = integer(integer(real(shifted).view(integer) << fraction) + one)
        p = p * integer(power).view(real)
        return zero if x < lowest else p

    return of


def logistic(x: Any) -> Any:
    """Compute ``1 / (1 + exp(-x))`` without overflow, as ``e / (1 + e)`` with e = exp(x) if x is negative."""


@overload(logistic, jit_options={"fastmath": _EXACTLY})
def _logistic_for(x: Any) -> Any:
    one = _FORMATS[x][0](1)

    def of(x: Any) -> Any:
        e = exp(-abs(x))
        share = one / (one + e)
        return e * share if x < 0 else share

    return of


def logistic_and_slope(x: Any) -> Any:
    """Return ``logistic(x)`` and its derivative ``logistic(x) * logistic(-x)``, without cancellation."""


@overload(logistic_and_slope, jit_options={"fastmath": _EXACTLY})
def _logistic_and_slope_for(x: Any) -> Any:
    one = _FORMATS[x][0](1)

    def of(x: Any) -> Any:
        e = exp(-abs(x))
        share = one / (one + e)
        return (e * share if x < 0 else share), e * share * share

    return of


def normal(x: Any) -> Any:
    """Return the cumulative distribution function and the density of the standard normal distribution, accurate to float32."""


# The coefficients of P, the highest power first. With t = 1 / (1 + |x| / 4) the cumulative distribution function at -|x| is
# exp(-x^2/2) t P(t). The polynomial interpolates 10 Chebyshev points in |x| <= 13.2, with a relative error of 1e-8. The form
# is that of Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
_TAIL = (
    0.0147429729, -0.0526992796, 0.0275947863, 0.0610279095, -0.0148980690,
    0.1017996418, 0.0666303756, 0.0967009998, 0.0993448477, 0.0997558171,
)  # fmt: skip


@overload(normal, jit_options={"fastmath": _EXACTLY})
def _normal_for(x: Any) -> Any:
    real = _FORMATS[x][0]
    zero, one, half, quarter = real(0), real(1), real(0.5), real(0.25)
    peak = real(1 / math.sqrt(2 * math.pi))
    coefficients = tuple(real(c) for c in _TAIL)

    def of(x: Any) -> Any:
        e = exp(-half * x * x)
        t = one / (one + quarter * abs(x))
        p = zero
        for c in coefficients:
            p = p * t + c
        tail = e * t * p
        return (tail if x < 0 else one - tail), e * peak

    return of
