"""Elementwise functions. ``g`` is the cotangent of the output; each rule gives that of one input."""

import math
from typing import Any

import numpy as np

from .._primitive import primitive
from ..errors import UnsupportedError

# Arithmetic
add = primitive(np.add).vjp(x=lambda g: g, y=lambda g: g)
subtract = primitive(np.subtract).vjp(x=lambda g: g, y=lambda g: -g)
multiply = primitive(np.multiply).vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
divide = primitive(np.divide).vjp(x=lambda g, y: g / y, y=lambda g, ans, y: -g * ans / y)
negative = primitive(np.negative).vjp(x=lambda g: -g)
positive = primitive(np.positive).vjp(x=lambda g: g)
conjugate = primitive(np.conjugate).vjp(x=lambda g: np.conjugate(g))
reciprocal = primitive(np.reciprocal).vjp(x=lambda g, ans: -g * ans * ans)
square = primitive(np.square).vjp(x=lambda g, x: 2 * g * x)
floor_divide = primitive(np.floor_divide).vjp(x=lambda g: np.zeros_like(g), y=lambda g: np.zeros_like(g))
remainder = primitive(np.remainder).vjp(x=lambda g: g, y=lambda g, x, y: -g * np.floor_divide(x, y))


def _power_x(g: Any, x: Any, y: Any) -> Any:
    """``g y x**(y-1)``, and 0 for the exponent 0, where x**0 is constant and the formula might give 0 * inf."""
    if isinstance(y, (int, float)):  # keeps the exponent a weak scalar, so that float32 stays float32
        return g * (y * x ** (y - 1)) if y else np.zeros_like(g)
    return g * np.where(y == 0, 0.0, y * x ** np.where(y == 0, 1, y - 1))


def _absolute_x(g: Any, ans: Any, x: Any) -> Any:
    """``g sign(x)``; of a complex x, ``g conj(x) / |x|``."""
    if not np.iscomplexobj(x):
        return g * np.sign(x)
    return g * np.conjugate(x) / np.where(ans == 0, 1, ans)


def _sign_x(g: Any, x: Any) -> Any:
    if np.iscomplexobj(x):
        raise UnsupportedError("sign has no derivative rule for complex numbers: write x / np.abs(x)")
    return np.zeros_like(g)


# Powers. The logarithm of a base of 0 is not needed: 0**y is constant.
power = primitive(np.power).vjp(x=_power_x, y=lambda g, ans, x: g * ans * np.log(np.where(x == 0, 1.0, x)))
sqrt = primitive(np.sqrt).vjp(x=lambda g, ans: 0.5 * g / ans)

# Exponentials and logarithms
exp = primitive(np.exp).vjp(x=lambda g, ans: g * ans)
exp2 = primitive(np.exp2).vjp(x=lambda g, ans: g * ans * math.log(2))
expm1 = primitive(np.expm1).vjp(x=lambda g, ans: g * (ans + 1))
log = primitive(np.log).vjp(x=lambda g, x: g / x)
log2 = primitive(np.log2).vjp(x=lambda g, x: g / (x * math.log(2)))
log10 = primitive(np.log10).vjp(x=lambda g, x: g / (x * math.log(10)))
log1p = primitive(np.log1p).vjp(x=lambda g, x: g / (1 + x))

# Trigonometric and hyperbolic functions
sin = primitive(np.sin).vjp(x=lambda g, x: g * np.cos(x))
cos = primitive(np.cos).vjp(x=lambda g, x: -g * np.sin(x))
tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))

# Kinks. At a tie the gradient is shared; where abs turns, it is 0; a clipped value passes it on at the bounds themselves.
absolute = primitive(np.absolute).vjp(x=_absolute_x)
sign = primitive(np.sign).vjp(x=_sign_x)
maximum = primitive(np.maximum).vjp(
    x=lambda g, x, y: g * (x > y) + 0.5 * g * (x == y), y=lambda g, x, y: g * (y > x) + 0.5 * g * (x == y)
)
minimum = primitive(np.minimum).vjp(
    x=lambda g, x, y: g * (x < y) + 0.5 * g * (x == y), y=lambda g, x, y: g * (y < x) + 0.5 * g * (x == y)
)
