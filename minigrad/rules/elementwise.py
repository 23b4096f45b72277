"""Elementwise functions. ``g`` is the cotangent of the output; each rule gives that of one input."""

import math

import numpy as np

from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import UnsupportedError

# Arithmetic
add = primitive(np.add).vjp(x=lambda g: g, y=lambda g: g)
subtract = primitive(np.subtract).vjp(x=lambda g: g, y=lambda g: -g)
multiply = primitive(np.multiply).vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
divide = primitive(np.divide).vjp(x=lambda g, y: g / y, y=lambda g, ans, y: -g * ans / y)
negative = primitive(np.negative).vjp(x=lambda g: -g)
positive = primitive(np.positive).vjp(x=lambda g: g)
reciprocal = primitive(np.reciprocal).vjp(x=lambda g, ans: -g * ans * ans)
square = primitive(np.square).vjp(x=lambda g, x: 2 * g * x)
floor_divide = primitive(np.floor_divide).vjp(x=lambda g: np.zeros_like(g), y=lambda g: np.zeros_like(g))
remainder = primitive(np.remainder).vjp(x=lambda g: g, y=lambda g, x, y: -g * np.floor_divide(x, y))
fmod = primitive(np.fmod).vjp(x=lambda g: g, y=lambda g, x, y, ans: -g * np.rint((x - ans) / y))
ldexp = primitive(np.ldexp).vjp(x=lambda g, exponent: np.ldexp(g, exponent), exponent=None)
deg2rad = primitive(np.deg2rad, also=[np.radians]).vjp(x=lambda g: g * (math.pi / 180))
rad2deg = primitive(np.rad2deg, also=[np.degrees]).vjp(x=lambda g: g * (180 / math.pi))


def _power_x(g: Array, x: Array, y: Array) -> Array:
    """``g y x**(y-1)``, and 0 for 0**0: x**0 is constant where the formula gives 0 * inf."""
    if isinstance(y, (int, float)):  # keeps the exponent a weak scalar, so that float32 stays float32
        return g * (y * x ** (y - 1)) if y else np.zeros_like(g)
    return g * y * np.where((x == 0) & (y == 0), 1, x) ** (y - 1.0)


def _power_y(g: Array, ans: Array, x: Array, y: Array) -> Array:
    """``g x**y log(x)``, and 0 where 0**y is constant, for y >= 0."""
    return g * ans * np.log(np.where((x == 0) & (y >= 0), 1.0, x))


# Powers
power = primitive(np.power).vjp(x=_power_x, y=_power_y)
float_power = primitive(np.float_power).vjp(x=_power_x, y=_power_y)
sqrt = primitive(np.sqrt).vjp(x=lambda g, ans: 0.5 * g / ans)
cbrt = primitive(np.cbrt).vjp(x=lambda g, ans: g / (3 * ans * ans))


def _gap(x: Array, y: Array) -> Array:
    """``y - x``, and 0 for the same infinity: exp(-logaddexp(0, y - x)) is the share of exp(x) in exp(x) + exp(y)."""
    return np.where((x == y) & np.isinf(x), 0, y - x)


# Exponentials and logarithms
exp = primitive(np.exp).vjp(x=lambda g, ans: g * ans)
exp2 = primitive(np.exp2).vjp(x=lambda g, ans: g * ans * math.log(2))
expm1 = primitive(np.expm1).vjp(x=lambda g, ans: g * (ans + 1))
log = primitive(np.log).vjp(x=lambda g, x: g / x)
log2 = primitive(np.log2).vjp(x=lambda g, x: g / (x * math.log(2)))
log10 = primitive(np.log10).vjp(x=lambda g, x: g / (x * math.log(10)))
log1p = primitive(np.log1p).vjp(x=lambda g, x: g / (1 + x))
logaddexp = primitive(np.logaddexp).vjp(
    x=lambda g, x, y: g * np.exp(-np.logaddexp(0, _gap(x, y))),
    y=lambda g, x, y: g * np.exp(-np.logaddexp(0, _gap(y, x))),
)
logaddexp2 = primitive(np.logaddexp2).vjp(
    x=lambda g, x, y: g * np.exp2(-np.logaddexp2(0, _gap(x, y))),
    y=lambda g, x, y: g * np.exp2(-np.logaddexp2(0, _gap(y, x))),
)


def ratio(x: Array, length: Array) -> Array:
    """``x / length``, and 0 where the length is 0: the derivative of a length where it has none."""
    zero = length == 0
    return np.where(zero, 0, x / np.where(zero, 1, length))


def _absolute_x(g: Array, ans: Array, x: Array) -> Array:
    """``g sign(x)``; of a complex x, ``g conj(x) / |x|``."""
    return g * ratio(np.conjugate(x), ans) if np.iscomplexobj(x) else g * np.sign(x)


def refuse_complex(name: str, x: Array, way_out: str) -> None:
    if np.iscomplexobj(x):
        raise UnsupportedError(f"{name} has no derivative rule for complex numbers: {way_out}")


def _sign_x(g: Array, x: Array) -> Array:
    refuse_complex("sign", x, "write x / np.abs(x)")
    return np.zeros_like(g)


def _nan_to_num_x(g: Array, x: Array) -> Array:
    refuse_complex("nan_to_num", x, "write np.where(np.isfinite(x), x, 0)")
    return np.where(np.isfinite(x), g, 0)


def _real_if_close(a: Array, tol: float = 100) -> Array:
    """Without an imaginary part that is nothing but rounding, up to ``tol`` times the precision (as it is if ``tol`` <= 1)."""
    if not np.iscomplexobj(a):
        return a
    tol = tol * float(np.finfo(a.dtype).eps) if tol > 1 else tol
    return np.real(a) if np.all(np.absolute(np.imag(values_of(a))) < tol) else a


def _where_larger(g: Array, x: Array, y: Array) -> Array:
    """``g`` where x is the larger one, and half of it at a tie, of which mostly there is none."""
    return g * (x > y) + 0.5 * g * tied if (tied := x == y).any() else g * (x > y)


# Kinks. At a tie the gradient is shared; where abs turns, it is 0; the larger of a number and NaN is, for fmax, the number.
absolute = primitive(np.absolute).vjp(x=_absolute_x)
fabs = primitive(np.fabs).vjp(x=lambda g, x: g * np.sign(x))
copysign = primitive(np.copysign).vjp(
    x=lambda g, x, y: g * np.sign(x) * np.copysign(1.0, y), y=lambda g: np.zeros_like(g)
)
maximum = primitive(np.maximum).vjp(x=lambda g, x, y: _where_larger(g, x, y), y=lambda g, x, y: _where_larger(g, y, x))
minimum = primitive(np.minimum).vjp(x=lambda g, x, y: _where_larger(g, y, x), y=lambda g, x, y: _where_larger(g, x, y))
fmax = primitive(np.fmax).vjp(
    x=lambda g, x, y: g * ((x > y) | np.isnan(y)) + 0.5 * g * (x == y),
    y=lambda g, x, y: g * ((y > x) | np.isnan(x)) + 0.5 * g * (x == y),
)
fmin = primitive(np.fmin).vjp(
    x=lambda g, x, y: g * ((x < y) | np.isnan(y)) + 0.5 * g * (x == y),
    y=lambda g, x, y: g * ((y < x) | np.isnan(x)) + 0.5 * g * (x == y),
)
nan_to_num = primitive(
    np.nan_to_num, lambda x, /, nan=0.0, posinf=None, neginf=None: np.nan_to_num(x, True, nan, posinf, neginf)
).vjp(x=_nan_to_num_x)

# Steps are flat, and their jumps have no derivative.
sign = primitive(np.sign).vjp(x=_sign_x)
floor = primitive(np.floor).vjp(x=lambda g: np.zeros_like(g))
ceil = primitive(np.ceil).vjp(x=lambda g: np.zeros_like(g))
rint = primitive(np.rint).vjp(x=lambda g: np.zeros_like(g))
trunc = primitive(np.trunc).vjp(x=lambda g: np.zeros_like(g))
round = primitive(np.round, lambda a, /, decimals=0: np.round(a, decimals), also=[np.around]).vjp(
    a=lambda g: np.zeros_like(g)
)
heaviside = primitive(np.heaviside).vjp(x=lambda g: np.zeros_like(g), y=lambda g, x: g * (x == 0))
modf = primitive(np.modf).vjp(x=lambda g: g[0] if 0 in g else np.zeros_like(g[1]))
composite(np.divmod, lambda x1, x2: (np.floor_divide(x1, x2), np.remainder(x1, x2)))
composite(np.fix, lambda x: np.trunc(x))

# Parts of a complex number. A cotangent is du/dx - i du/dy, so that of the imaginary part turns by -i.
conjugate = primitive(np.conjugate).vjp(x=lambda g: np.conjugate(g))
real = primitive(np.real, lambda val, /: np.real(val)).vjp(val=lambda g: g)
composite(np.real_if_close, _real_if_close)
imag = primitive(np.imag, lambda val, /: np.imag(val)).vjp(val=lambda g: g * -1j)
composite(np.angle, lambda z, deg=False: np.arctan2(np.imag(z), np.real(z)) * (180 / math.pi if deg else 1))
