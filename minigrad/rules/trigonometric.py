"""Trigonometric and hyperbolic functions, their inverses, and lengths and angles in the plane."""

import math

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array
from .elementwise import ratio

sin = primitive(np.sin).vjp(x=lambda g, x: g * np.cos(x))
cos = primitive(np.cos).vjp(x=lambda g, x: -g * np.sin(x))
tan = primitive(np.tan).vjp(x=lambda g, ans: g * (1 + ans * ans))
sinh = primitive(np.sinh).vjp(x=lambda g, x: g * np.cosh(x))
cosh = primitive(np.cosh).vjp(x=lambda g, x: g * np.sinh(x))
tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))

# (1 - x)(1 + x) is 1 - x^2 without the cancellation near 1; cosh(arcsinh x) is sqrt(x^2 + 1) without the overflow.
arcsin = primitive(np.arcsin).vjp(x=lambda g, x: g / np.sqrt((1 - x) * (1 + x)))
arccos = primitive(np.arccos).vjp(x=lambda g, x: -g / np.sqrt((1 - x) * (1 + x)))
arctan = primitive(np.arctan).vjp(x=lambda g, x: g / (1 + x * x))
arcsinh = primitive(np.arcsinh).vjp(x=lambda g, ans: g / np.cosh(ans))
arccosh = primitive(np.arccosh).vjp(x=lambda g, ans: g / np.sinh(ans))
arctanh = primitive(np.arctanh).vjp(x=lambda g, x: g / ((1 - x) * (1 + x)))

# The origin has no direction: the derivatives there are 0.
hypot = primitive(np.hypot).vjp(x=lambda g, ans, x: g * ratio(x, ans), y=lambda g, ans, y: g * ratio(y, ans))
arctan2 = primitive(np.arctan2).vjp(
    y=lambda g, y, x: g * ratio(ratio(x, np.hypot(x, y)), np.hypot(x, y)),
    x=lambda g, y, x: -g * ratio(ratio(y, np.hypot(x, y)), np.hypot(x, y)),
)

_SERIES = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 9)]


def _sinc_x(g: Array, x: Array) -> Array:
    """``(cos(pi x) - sinc(x)) / x``, and its Taylor series near 0, where that is a small difference of large numbers."""
    near = np.absolute(x) < 0.1
    away, small = np.where(near, 1, x), np.where(near, x, 0)
    series = 0.0
    for coefficient in reversed(_SERIES):
        series = series * np.square(math.pi * small) + coefficient
    return g * np.where(near, math.pi**2 * small * series, (np.cos(math.pi * away) - np.sinc(away)) / away)


sinc = primitive(np.sinc, lambda x, /: np.sinc(x)).vjp(x=_sinc_x)
