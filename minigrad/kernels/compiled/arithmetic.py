"""Loops over arrays that numba compiles: what the other modules of this folder run in place of NumPy's passes over memory.

Each stands here as plain Python for one element, or one row, at a time. Three things make it fast. The processor computes
eight or sixteen elements at once where a loop has no branches and calls nothing, so ``exp`` is a polynomial here, and
``a if c else b`` picks one of two results. A row is read from memory once and stays in the cache for the loops that
follow. And threads, which Python's lock does not hold up here, may take the rows between them.

The compiler may reorder what :func:`plus` adds up, for that is what computing sixteen at once means, but nothing else:
``(x - largest) - y`` must not become ``x - (largest + y)``. Nor may it assume that there are no NaN or infinite numbers.
"""

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable

_REORDER = {"reassoc", "nsz", "contract"}  # LLVM's words: (a + b) + c = a + (b + c), -0 = 0, and a * b + c in one step
_EXACTLY = {"contract"}
# numba takes what an earlier process compiled unless the kernel's own file changed since; this tells when this one did.
_VERSION = zlib.crc32(Path(__file__).read_bytes())


class CompiledLoop(dict[Any, Callable[..., Any]]):
    """A loop over arrays of each dtype, compiled (or read from numba's cache) when it is first asked for.

    ``signature`` has a word for each argument: ``r2`` is an array of two axes that is read, ``w2`` one that is written;
    ``i1`` and ``b2`` are read and hold int64 and bool; ``n`` is an integer and ``x`` a number. Arrays are contiguous.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        function.__qualname__ += f"-{_VERSION}"  # the cache's files are named after it
        self.function = function
        self.signature = signature

    def __missing__(self, dtype: Any) -> Callable[..., Any]:
        kinds = {
            "r": numba.from_dtype(dtype),
            "i": types.int64,
            "b": types.boolean,
            "n": types.int64,
            "x": types.float64,
        }
        kinds["w"] = kinds["r"]

        def argument(word: str) -> Any:
            kind = kinds[word[0]]  # an array that may be written to can also be passed for one that is read
            return types.Array(kind, int(word[1]), "C", readonly=word[0] != "w") if len(word) > 1 else kind

        arguments = tuple(argument(word) for word in self.signature.split())
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _EXACTLY}
        try:
            made = numba.njit(arguments, cache=True, **options)(self.function)
        except (RuntimeError, OSError):  # no folder for the cache can be written to
            made = numba.njit(arguments, **options)(self.function)
        self[dtype] = made
        return made


def compiled(signature: str) -> Callable[[Callable[..., Any]], CompiledLoop]:
    return lambda function: CompiledLoop(function, signature)


# --- What the kernels call ------------------------------------------------------------------------------------------

# Of each dtype: itself, the integer of that size, bits of the fraction, 1.0 as bits, ln 2 in two parts, the terms of exp, and
# what exp makes 0.
_FORMATS: dict[Any, tuple[Any, ...]] = {
    types.float32: (np.float32, np.int32, 23, 127 << 23, 0.693359375, -2.12194440e-4, 7, -87.0),
    types.float64: (np.float64, np.int64, 52, 1023 << 52, 6.93147180369123816490e-01, 1.90821492927058770002e-10, 13, -708.0),
}  # fmt: skip


def exp(x: Any) -> Any:
    """``e ** x`` for x <= 0, to the last digits; 0 where it would have fewer (subnormals slow everything down)."""


@overload(exp, jit_options={"fastmath": _EXACTLY})
def _exp_for(x: Any) -> Any:
    """With n the integer next to x / ln 2 and r = x - n ln 2: 2^n, put together from bits, times Taylor's e^r."""
    real, integer, fraction, one, high, low, terms, lowest = _FORMATS[x]
    coefficients = tuple(real(1 / math.factorial(k)) for k in range(terms, -1, -1))
    rounding = real(1.5 * 2.0**fraction)  # added to a number, it leaves the nearest integer in the lowest bits
    per_ln2, high, low, lowest, zero = real(1 / math.log(2)), real(high), real(low), real(lowest), real(0)
    fraction, one = integer(fraction), integer(one)

    def of(x: Any) -> Any:
        shifted = x * per_ln2 + rounding
        n = shifted - rounding
        r = x - n * high  # exact: `high` ends in zeros
        r = r - n * low
        p = zero
        for c in coefficients:
            p = p * r + c
        power = integer(integer(real(shifted).view(integer) << fraction) + one)
        p = p * integer(power).view(real)
        return zero if x < lowest else p

    return of


def largest(row: Any) -> Any:
    """The maximum of a row, or NaN if there is one (at least a positive one), as a loop without branches."""


@overload(largest)
def _largest_for(row: Any) -> Any:
    """As integers, the bits of positive numbers are in the numbers' order; those of negative ones in the opposite."""
    real, integer = _FORMATS[row.dtype][:2]
    sign = integer(8 * integer().itemsize - 1)
    magnitude = integer(np.iinfo(integer).max)
    least = integer(np.iinfo(integer).min)

    def of(row: Any) -> Any:
        bits = row.view(integer)
        most = least
        for j in range(bits.size):
            b = bits[j]
            b = integer(b ^ integer(integer(b >> sign) & magnitude))
            most = b if b > most else most
        most = integer(most ^ integer(integer(most >> sign) & magnitude))
        return integer(most).view(real)

    return of


@register_jitable(fastmath=_REORDER)
def plus(total: Any, term: Any) -> Any:
    """``total + term``, in a sum that may be taken in any order."""
    return total + term


@register_jitable(fastmath=_EXACTLY)
def share_out(row: Any, smallest: Any) -> None:
    """Divide a row by its sum, which leaves a row of zeros as it is; what is below ``smallest`` then becomes 0."""
    real = row.dtype.type
    total = real(0)
    for j in range(row.size):
        total = plus(total, row[j])
    inverse = real(0) if total == real(0) else real(1) / total
    for j in range(row.size):
        share = row[j] * inverse
        row[j] = real(0) if share < smallest else share


def logistic(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, without overflow: ``e / (1 + e)`` with e = exp(x) where x is negative."""


@overload(logistic, jit_options={"fastmath": _EXACTLY})
def _logistic_for(x: Any) -> Any:
    one = _FORMATS[x][0](1)

    def of(x: Any) -> Any:
        e = exp(-abs(x))
        share = one / (one + e)
        return e * share if x < 0 else share

    return of


def logistic_and_slope(x: Any) -> Any:
    """``logistic(x)`` and its derivative ``logistic(x) * logistic(-x)``, in which nothing cancels."""


@overload(logistic_and_slope, jit_options={"fastmath": _EXACTLY})
def _logistic_and_slope_for(x: Any) -> Any:
    one = _FORMATS[x][0](1)

    def of(x: Any) -> Any:
        e = exp(-abs(x))
        share = one / (one + e)
        return (e * share if x < 0 else share), e * share * share

    return of


def normal(x: Any) -> Any:
    """The standard normal distribution's function and density at x, in float32."""


# With t = 1 / (1 + |x| / 4) the distribution's function at -|x| is exp(-x^2/2) t P(t). This is the P through 10 Chebyshev
# points in |x| <= 13.2 (relative error 1e-8), the highest power first. The form is that of Abramowitz and
# Stegun, Handbook of Mathematical Functions, 7.1.26.
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
