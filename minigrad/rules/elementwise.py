"""Elementwise functions. Each rule computes the cotangent of one input from ``g``, the cotangent of the output.

The cotangent of a complex number ``a + ib`` is ``du/da - i du/db``, where u is the loss.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import is_device_array
from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.observers import Replaceable
from ..engine.primitive import primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from ..errors import UnsupportedError
from .about import Cause, about, reads
from .neural import sigmoid

# Arithmetic. A rule with new_array promises an array that nothing else refers to, which saves the sweep a copy. It is optional.
add = primitive(np.add).vjp(x=lambda g: g, y=lambda g: g)
subtract = primitive(np.subtract).vjp(x=lambda g: g, y=lambda g: -g)
multiply = primitive(np.multiply).vjp(x=new_array(lambda g, y: g * y), y=new_array(lambda g, x: g * x))
divide = primitive(np.divide).vjp(x=lambda g, y: g / y, y=lambda g, ans, y: -g * ans / y)
negative = primitive(np.negative).vjp(x=lambda g: -g)
positive = primitive(np.positive).vjp(x=lambda g: g)
reciprocal = primitive(np.reciprocal).vjp(x=lambda g, ans: -g * ans * ans)
square = primitive(np.square).vjp(x=lambda g, x: 2 * g * x)
_no_slope = new_array(lambda g: np.zeros_like(g))
floor_divide = primitive(np.floor_divide).vjp(x=_no_slope, y=_no_slope)

# The derivative by y is -floor(x / y), which rint(ans/y - x/y) computes without an error of rounding. The remainder of -1 and
# infinity is infinity: ans/y is then NaN, and fmin takes 1 instead, which is -floor(-1 / inf). Elsewhere ans/y is at most 1.
# For an infinite x there is no derivative: 0 * x makes it NaN.
remainder = primitive(np.remainder).vjp(
    x=lambda g: g, y=lambda g, x, y, ans: g * (np.rint(np.fmin(ans / y, 1) - x / y) + 0 * x)
)
fmod = primitive(np.fmod).vjp(x=lambda g: g, y=lambda g, x, y, ans: -g * np.rint((x - ans) / y))
ldexp = primitive(np.ldexp).vjp(x=lambda g, exponent: np.ldexp(g, exponent), exponent=None)
deg2rad = primitive(np.deg2rad, also=[np.radians]).vjp(x=lambda g: g * (math.pi / 180))
rad2deg = primitive(np.rad2deg, also=[np.degrees]).vjp(x=lambda g: g * (180 / math.pi))

_by_0 = Cause(lambda y: y == 0, "it divides by 0", "by_zero", "y")
about(add, word="z", notation="x + y", only_overflows=True)
about(subtract, word="r", notation="x - y", only_overflows=True)
about(square, notation="x^2", only_overflows=True)
about(positive, view=True)
about(negative, word="r", notation="-x")
about(
    multiply,
    word="u",
    notation="x * y",
    only_overflows=True,
    undefined=[Cause(lambda x, y: 0 in (x, y) and np.isinf(x + y), "0 * inf is undefined", "zero_times_infinity")],
)
about(
    divide,
    word="ratio",
    notation="x / y",
    undefined=[Cause(lambda x, y: x == 0 and y == 0, "0 / 0 is undefined", "zero_by_zero"), _by_0],
    steep=[Cause(lambda y: abs(y) < 1, "it divides by y, which is too near to 0", "near_zero", "y")],
)
about(floor_divide, fmod, undefined=[_by_0])
about(remainder, undefined=[_by_0], formulas={"y": "-g * floor_divide(x, y)"})
about(
    reciprocal,
    undefined=[Cause(lambda x: x == 0, "it divides by 0", "by_zero")],
    steep=[Cause(lambda ans: abs(ans) > 1, "it divides by x, which is too near to 0", "near_zero")],
)


# A power with one of these exponents is a product or a root, with at most 2 roundings, also in the programs of mg.write_numpy.
_PRODUCTS: dict[float, Callable[[Any], Any]] = {0: np.ones_like, 1: np.positive, 2: np.square, 3: lambda x: x * x * x}
_PRODUCTS |= {4: lambda x: np.square(np.square(x)), -2: lambda x: np.square(1 / x)}
_PRODUCTS |= {0.5: np.sqrt, -0.5: lambda x: 1 / np.sqrt(x + 0.0)}  # + 0.0 removes the sign of -0.0


def _power(x: Any, y: Any, **keywords: Any) -> Any:
    product = _PRODUCTS.get(y) if type(y) in (int, float) and hasattr(x, "dtype") and x.dtype.char in "fd" else None
    return np.power(x, y, **keywords) if product is None or keywords else product(x)


@new_array
def _power_x(g: Array, x: Array, y: Array) -> Array:
    """Return ``g y x**(y-1)``, and 0 for 0**0: x**0 is constant there, and the formula would give 0 * inf."""
    if isinstance(y, (int, float)):  # a Python exponent stays weak, so that float32 stays float32
        plain = y - 1 in _PRODUCTS and not hasattr(x, "backward")  # a power of a Tensor is one entry, not a product
        return g * (y * (_power(x, y - 1) if plain else x ** (y - 1))) if y else np.zeros_like(g)
    return g * y * (x + ((x == 0) & (y == 0))) ** (y - 1.0)


@new_array
def _power_y(g: Array, ans: Array, x: Array, y: Array) -> Array:
    """Return ``g x**y log(x)``, and 0 where x is 0 and y >= 0, because 0**y is constant there."""
    if isinstance(x, (int, float)) and x:
        return g * ans * float(np.log(x))
    return g * ans * np.log(x + ((x == 0) & (y >= 0)))


# Powers
power = primitive(np.power, _power).vjp(x=_power_x, y=_power_y)
float_power = primitive(np.float_power).vjp(x=_power_x, y=_power_y)
sqrt = primitive(np.sqrt).vjp(x=lambda g, ans: 0.5 * g / ans)
cbrt = primitive(np.cbrt).vjp(x=lambda g, ans: g / (3 * ans * ans))

_TRAP = (
    "its derivative is infinite there, and the incoming gradient is 0 (often from np.where): 0 * inf is nan. Replace the "
    "operand before the operation, f(np.where(ok, x, 1)), not only the result after it"
)
_POWER = {"x": "g * y * x^(y - 1)", "y": "g * out * log(x)"}
about(float_power, formulas=_POWER)
about(
    power,
    word="u",
    notation="x^y",
    formulas=_POWER,
    undefined=[
        Cause(lambda x, y: x == 0 and y < 0, "0 to a negative power divides by 0", "zero_power"),
        Cause(
            lambda x, y: -np.inf < x < 0 and np.isfinite(y) and y != np.floor(y),
            "a negative number to a fractional power is not real",
            "negative_power",
        ),
    ],
    steep=[
        Cause(lambda x, y, g, by: by == "x" and x == 0 and y < 1 and g == 0, f"a power of 0: {_TRAP}", "trap"),
        Cause(
            lambda x, y, by: by == "x" and x == 0 and y < 1,
            "the derivative of x**y at x = 0 is infinite for y < 1",
            "power_slope",
        ),
        Cause(
            lambda x, by: by == "y" and x < 0,
            "the derivative of x**y with respect to y needs the logarithm of x, and x is negative",
            "power_log",
        ),
    ],
)
about(
    sqrt,
    notation="sqrt(x)",
    undefined=[Cause(lambda x: x < 0, "the square root of a negative number is not real", "root")],
    steep=[
        Cause(lambda g, ans: g == 0 and ans == 0, f"the square root of 0: {_TRAP}", "trap"),
        Cause(lambda ans: ans == 0, "the derivative of the square root at 0 is infinite", "root_slope"),
    ],
)
about(cbrt, steep=[Cause(lambda ans: ans == 0, "the derivative of the cube root at 0 is infinite", "slope")])


@reads("y - x")
@Replaceable  # kernels/ attaches a faster form of the same
def gap_between(x: Array, y: Array) -> Array:
    """Return ``y - x``, and 0 for equal infinities."""
    with np.errstate(invalid="ignore"):
        gap = y - x
    return np.where((x == y) & np.isinf(x), 0, gap)


@reads("sigmoid(x)")
def _sigmoid_of(x: Array) -> Array:
    """Return the sigmoid of a Tensor, or of a plain array without the checks that a primitive makes."""
    return sigmoid(x) if hasattr(x, "backward") else sigmoid.function(x)


# Exponentials and logarithms
exp = primitive(np.exp).vjp(x=lambda g, ans: g * ans)
exp2 = primitive(np.exp2).vjp(x=lambda g, ans: g * ans * math.log(2))
expm1 = primitive(np.expm1).vjp(x=lambda g, ans: g * (ans + 1))
log = primitive(np.log).vjp(x=lambda g, x: g / x)
log2 = primitive(np.log2).vjp(x=lambda g, x: g / (x * math.log(2)))
log10 = primitive(np.log10).vjp(x=lambda g, x: g / (x * math.log(10)))
log1p = primitive(np.log1p).vjp(x=lambda g, x: g / (1 + x))
# exp(x) / (exp(x) + exp(y)) has more digits as a sigmoid than as exp(x - ans).
logaddexp = primitive(np.logaddexp).vjp(
    x=lambda g, x, y: g * _sigmoid_of(gap_between(y, x)), y=lambda g, x, y: g * _sigmoid_of(gap_between(x, y))
)
logaddexp2 = primitive(np.logaddexp2).vjp(
    x=lambda g, x, y: g * _sigmoid_of(gap_between(y, x) * math.log(2)),
    y=lambda g, x, y: g * _sigmoid_of(gap_between(x, y) * math.log(2)),
)

_OVER = "it overflows above about 710 in float64, 89 in float32 and 11 in float16"
about(exp, notation="e^x", undefined=[Cause(lambda x: x > 0, f"exp of a large number: {_OVER}", "overflow")])
about(expm1, undefined=[Cause(lambda x: x > 0, f"expm1 of a large number: {_OVER}", "overflow")])
about(
    exp2,
    undefined=[
        Cause(lambda x: x > 0, "exp2 overflows from 1024 in float64, 128 in float32 and 16 in float16", "overflow")
    ],
)
about(
    log,
    log2,
    log10,
    undefined=[
        Cause(lambda x: x == 0, "the logarithm of 0 is -inf", "log_zero"),
        Cause(lambda x: x < 0, "the logarithm of a negative number is not real", "log_negative"),
    ],
    steep=[Cause(lambda x: abs(x) < 1, "it divides by x, which is too near to 0", "near_zero")],
)
about(
    log1p,
    undefined=[
        Cause(lambda x: x == -1, "log1p of -1 is the logarithm of 0, -inf", "log1p_zero"),
        Cause(lambda x: x < -1, "log1p below -1 is the logarithm of a negative number", "log1p_negative"),
    ],
)


@reads("x / length")
@Replaceable
def ratio(x: Array, length: Array) -> Array:
    """Return ``x / length``, the derivative of a length, and 0 where the length is 0 and has no derivative."""
    zero = length == 0
    return x * ~zero / (length + zero)


def _may_be_infinite(length: Array) -> bool:
    """Return False only if no length is infinite. It is True for a device array, because to read it the host would wait."""
    infinite = np.isinf(values_of(length))
    return is_device_array(infinite) or bool(infinite.any())


@reads("x / length")
def _cosine(x: Array, y: Array, length: Array) -> Array:
    """Return ``x / length``, the derivative by x of the length of the vector (x, y).

    The direction of an infinite vector is finite: an infinite component counts as 1 or -1, and a finite one beside it as 0.
    """
    if not _may_be_infinite(length):
        return ratio(x, length)
    infinite = np.isinf(values_of(x)) | np.isinf(values_of(y))
    u, v = (np.where(infinite, np.isinf(values_of(part)) * np.sign(values_of(part)), part) for part in (x, y))
    return ratio(u, np.where(infinite, np.hypot(values_of(u), values_of(v)), length))


@new_array
def _absolute_x(g: Array, ans: Array, x: Array) -> Array:
    """Return ``g sign(x)``, or ``g conj(x) / |x|`` for a complex x."""
    if not np.iscomplexobj(x):
        return g * np.sign(x)
    direction = ratio(np.conjugate(x), ans)
    if _may_be_infinite(ans):
        far = _cosine(np.real(x), np.imag(x), ans) - 1j * _cosine(np.imag(x), np.real(x), ans)
        direction = np.where(np.isinf(values_of(ans)), far, direction)
    return g * direction


def refuse_complex(name: str, x: Array, remedy: str) -> None:
    if np.iscomplexobj(x):
        raise UnsupportedError(f"{name} has no derivative rule for complex numbers: {remedy}")


@new_array
def _sign_x(g: Array, x: Array) -> Array:
    refuse_complex("sign", x, "write x / np.abs(x)")
    return np.zeros_like(g)


def _nan_to_num_x(g: Array, x: Array) -> Array:
    refuse_complex("nan_to_num", x, "write np.where(np.isfinite(x), x, 0)")
    return np.where(np.isfinite(x), g, 0)


def _real_if_close(a: Array, tol: float = 100) -> Array:
    """Drop the imaginary part if it is below ``tol`` times the precision, or below ``tol`` itself if ``tol`` <= 1."""
    if not np.iscomplexobj(a):
        return a
    tol = tol * float(np.finfo(a.dtype).eps) if tol > 1 else tol
    return np.real(a) if np.all(np.absolute(np.imag(values_of(a))) < tol) else a


@reads("g * (x > y) + 0.5 * g * (x == y)")
@Replaceable
def larger(g: Array, x: Array, y: Array) -> Array:
    """Return ``g`` where x is larger and ``g / 2`` at a tie."""
    return np.where(x == y, 0.5 * g, g * (x > y))


# Kinks. A tie shares the gradient equally, abs has the gradient 0 at 0, and fmax and fmin ignore a NaN next to a number.
absolute = primitive(np.absolute).vjp(x=_absolute_x)
about(absolute, word="size", called="abs", notation="abs(x)", formulas={"x": "g * sign(x)"})
fabs = primitive(np.fabs).vjp(x=lambda g, x: g * np.sign(x))
copysign = primitive(np.copysign).vjp(x=lambda g, x, y: g * np.sign(x) * np.copysign(1.0, y), y=_no_slope)
_where_larger, _where_smaller = new_array(lambda g, x, y: larger(g, x, y)), new_array(lambda g, x, y: larger(g, y, x))
maximum = primitive(np.maximum).vjp(x=_where_larger, y=_where_smaller)
minimum = primitive(np.minimum).vjp(x=_where_smaller, y=_where_larger)
about(maximum, word="top", dies=True)
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
about(nan_to_num, elementwise=True, formulas={"x": "where(isfinite(x), g, 0)"})

# Step functions. Their gradient is 0 everywhere; a jump has no derivative.
sign = primitive(np.sign).vjp(x=_sign_x)
about(sign, formulas={"x": "0"})
floor, ceil, rint, trunc = (primitive(f).vjp(x=_no_slope) for f in (np.floor, np.ceil, np.rint, np.trunc))
round = primitive(np.round, lambda a, /, decimals=0: np.round(a, decimals), also=[np.around]).vjp(a=_no_slope)
about(round, elementwise=True)
heaviside = primitive(np.heaviside).vjp(x=_no_slope, y=lambda g, x: g * (x == 0))
# modf has two outputs, so g is a dict from the index of an output to its cotangent, if one has arrived.
modf = primitive(np.modf).vjp(x=lambda g: g[0] if 0 in g else np.zeros_like(g[1]))
about(modf, formulas={"x": "g, the gradient of the fractional part"})
composite(np.divmod, lambda x1, x2: (np.floor_divide(x1, x2), np.remainder(x1, x2)))
composite(np.fix, lambda x: np.trunc(x))

# Parts of a complex number. The rule of the imaginary part multiplies by -i, as the cotangent of ib is -i du/db.
conjugate = primitive(np.conjugate).vjp(x=lambda g: np.conjugate(g))
about(conjugate, called="conj")
real = primitive(np.real, lambda val, /: np.real(val)).vjp(val=lambda g: g)
composite(np.real_if_close, _real_if_close)
imag = primitive(np.imag, lambda val, /: np.imag(val)).vjp(val=lambda g: g * -1j)
about(real, elementwise=True)
about(imag, elementwise=True, formulas={"val": "-i * g"})
composite(np.angle, lambda z, deg=False: np.arctan2(np.imag(z), np.real(z)) * (180 / math.pi if deg else 1))

# Trigonometric and hyperbolic functions and their inverses
sin = primitive(np.sin).vjp(x=lambda g, x: g * np.cos(x))
cos = primitive(np.cos).vjp(x=lambda g, x: -g * np.sin(x))
about(sin, cos, bounds=(-1, 1))
tan = primitive(np.tan).vjp(x=lambda g, ans: g * (1 + ans * ans))
sinh = primitive(np.sinh).vjp(x=lambda g, x: g * np.cosh(x))
cosh = primitive(np.cosh).vjp(x=lambda g, x: g * np.sinh(x))
tanh = primitive(np.tanh).vjp(x=lambda g, ans: g * (1 - ans * ans))
about(tanh, flat=lambda ans: 1 - ans * ans < 0.04, bounds=(-1, 1))

# (1 - x)(1 + x) equals 1 - x^2 but does not cancel near 1; cosh(arcsinh x) equals sqrt(x^2 + 1) but does not overflow.
arcsin = primitive(np.arcsin).vjp(x=lambda g, x: g / np.sqrt((1 - x) * (1 + x)))
arccos = primitive(np.arccos).vjp(x=lambda g, x: -g / np.sqrt((1 - x) * (1 + x)))
arctan = primitive(np.arctan).vjp(x=lambda g, x: g / (1 + x * x))
arcsinh = primitive(np.arcsinh).vjp(x=lambda g, ans: g / np.cosh(ans))
arccosh = primitive(np.arccosh).vjp(x=lambda g, ans: g / np.sinh(ans))
arctanh = primitive(np.arctanh).vjp(x=lambda g, x: g / ((1 - x) * (1 + x)))

_outside = Cause(lambda x: abs(x) > 1, "it is defined for -1 <= x <= 1 only", "domain")
_at_one = Cause(lambda x: abs(x) == 1, "its derivative at -1 and 1 is infinite", "slope")
about(sinh, undefined=[Cause(lambda x: abs(x) > 1, f"sinh of a large number: {_OVER}", "overflow")])
about(cosh, undefined=[Cause(lambda x: abs(x) > 1, f"cosh of a large number: {_OVER}", "overflow")])
about(arcsin, arccos, undefined=[_outside], steep=[_at_one])
about(
    arccosh,
    undefined=[Cause(lambda x: x < 1, "it is defined for x >= 1 only", "domain")],
    steep=[Cause(lambda x: x == 1, "its derivative at 1 is infinite", "slope")],
)
about(
    arctanh,
    undefined=[Cause(lambda x: abs(x) == 1, "arctanh of 1 is infinite", "edge"), _outside],
    steep=[_at_one],
)


@reads("x / (x * x + y * y)")
@Replaceable
def inverted(x: Array, y: Array) -> Array:
    """Return ``x / (x^2 + y^2)``, and 0 at the origin and at infinity. The division by the larger number avoids overflow."""
    size = np.maximum(np.abs(values_of(x)), np.abs(values_of(y)))
    size = size + (origin := size == 0)
    far = np.isinf(size)
    u, v = np.where(far, 0, x / size), np.where(far, 1, y / size)  # at infinity 0 / 1, not NaN
    return u / (u * u + v * v + origin) / size


# At the origin, where these have no derivative, the gradient is 0.
hypot = primitive(np.hypot).vjp(
    x=lambda g, ans, x, y: g * _cosine(x, y, ans), y=lambda g, ans, x, y: g * _cosine(y, x, ans)
)
arctan2 = primitive(np.arctan2).vjp(y=lambda g, y, x: g * inverted(x, y), x=lambda g, y, x: -g * inverted(y, x))

_SERIES = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) * math.pi ** (2 * k) for k in range(1, 8)]


def _sinc_x(g: Array, x: Array, ans: Array) -> Array:
    """Return ``(cos(pi x) - sinc(x)) / x``; near 0, where the difference cancels, sum its Taylor series."""
    near = np.absolute(x) < 0.1
    small = np.clip(x, -0.1, 0.1)
    square, series = small * small, _SERIES[-1]
    for coefficient in _SERIES[-2::-1]:
        series = series * square + coefficient
    return g * (near * (small * series) + ~near * ((np.cos(math.pi * x) - ans) / (x + near)))


sinc = primitive(np.sinc, lambda x, /: np.sinc(x)).vjp(x=_sinc_x)
about(sinc, elementwise=True, formulas={"x": "g * (cos(pi x) - sinc(x)) / x"})
