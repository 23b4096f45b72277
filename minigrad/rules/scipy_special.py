"""The derivatives of SciPy's special functions. ``minigrad.scipy_special`` is their public name.

Importing this file needs SciPy. Most of its functions are ufuncs, which pass a call to their arguments (NEP 13).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import is_device_array
from ..engine.methods import values_of
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array, TensorLike
from ..errors import import_extra
from .about import about, reads

_special = import_extra("scipy.special", "scipy", "minigrad.scipy_special")


def _declare(name: str, **rules: Callable[..., Any] | None) -> Primitive:
    """Declare SciPy's ufunc as a primitive, with a prefix, because minigrad has another ``erf``."""
    return primitive(getattr(_special, name), name=f"special.{name}").vjp(**rules)


_ROOT_PI = math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)


def _in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one array that computes in float64 and gives the dtype of the array."""

    def computed(x: Any, /, n: int) -> Any:
        with np.errstate(all="ignore"):
            return _in_dtype_of(
                x, function(x.astype(np.float64) if is_device_array(x) else np.asarray(x, np.float64), n)
            )

    return computed


# --- the error function and the normal distribution -----------------------------------------------------------------

# E_n(x) = exp(x^2) times the n-th repeated integral of erfc is erfcx for n = 0. E_n' = 2x E_n - E_(n-1) = -2(n+1) E_(n+1):
# the first form cancels far out, and in the second one, with the ratios E_n / E_(n-1), all terms have one size.


def _integral_ratio(x: Array, n: int) -> Array:
    """Return ``E_n / E_(n-1)``: forwards from erfcx below 1, and above by the continued fraction (DLMF 7.18.7), backwards."""
    far, first = np.maximum(x, 1), _special.erfcx(np.minimum(x, 1))
    near = 1 / (_ROOT_PI * first) - np.minimum(x, 1)
    for k in range(2, n + 1):
        near = (1 / near - 2 * np.minimum(x, 1)) / (2 * k)
    least = 1.0 if is_device_array(far) else float(np.fmin.reduce(far, axis=None, initial=8))
    last = n + 20 + int(150 / least**2)
    ratio = 1 / (far + np.sqrt(far * far + 2 * last))
    for k in range(last, n, -1):
        ratio = 1 / (2 * far + 2 * k * ratio)
    return np.where(x < 1, near, ratio)


_erfc_ratio: Primitive = primitive(_in_double(_integral_ratio), name="special.erfc_ratio").vjp(
    x=lambda g, ans, x, n: g * 2 * ans * (n * ans - (n + 1) * _erfc_ratio(x, n=n + 1))
)


def _log_ndtr_third(x: Array) -> Array:
    """Return the third derivative over the first, ``4 r1 (r1 - r2)``; far left the difference is ``r1 r2 (6 r3 - 4 r2)``."""
    u = -_ROOT_HALF * x
    r1, r2, r3 = (_erfc_ratio(u, n=n) for n in (1, 2, 3))
    return 4 * r1 * np.where(u > 0, r1 * r2 * (6 * r3 - 4 * r2), r1 - r2)


erf = _declare("erf", x=lambda g, x: g * (2 / math.sqrt(math.pi)) * np.exp(-x * x))
erfc = _declare("erfc", x=lambda g, x: g * (-2 / math.sqrt(math.pi)) * np.exp(-x * x))
erfcx = _declare(
    "erfcx",
    x=lambda g, x, ans: g * (2 * x * ans - 2 / _ROOT_PI) if np.iscomplexobj(x) else -2 * g * ans * _erfc_ratio(x, n=1),
)
erfinv = _declare("erfinv", y=lambda g, ans: g * (math.sqrt(math.pi) / 2) * np.exp(ans * ans))
erfcinv = _declare("erfcinv", y=lambda g, ans: g * (-math.sqrt(math.pi) / 2) * np.exp(ans * ans))
ndtr = _declare("ndtr", x=lambda g, x: g * (1 / math.sqrt(2 * math.pi)) * np.exp(-0.5 * x * x))
ndtri = _declare("ndtri", y=lambda g, ans: g * math.sqrt(2 * math.pi) * np.exp(0.5 * ans * ans))
# The density over the cumulative distribution function is sqrt(2 / pi) / erfcx, which neither overflows nor cancels.
_hazard: Primitive = primitive(
    lambda x, /: math.sqrt(2 / math.pi) / _special.erfcx(-_ROOT_HALF * x), name="special.hazard"
).vjp(x=lambda g, ans, x: -g * (ans * (ans + x) if np.iscomplexobj(x) else _hazard_slope(x)))
_hazard_slope: Primitive = primitive(
    lambda x, /: math.sqrt(2) * _hazard.function(x) * _erfc_ratio.function(-_ROOT_HALF * x, n=1),
    name="special.hazard_slope",
).vjp(x=lambda g, x: -g * _hazard(x) * _log_ndtr_third(x))
log_ndtr = _declare("log_ndtr", x=lambda g, x: g * _hazard(x))
about(_hazard, formulas={"x": "-g * y * (y + x)"})
about(erfcx, formulas={"x": "g * (2 * x * y - 2 / sqrt(pi))"})
about(log_ndtr, formulas={"x": "g * exp(-(x * x / 2 + y)) / sqrt(2 * pi)"})

# --- logistic functions ---------------------------------------------------------------------------------------------

# expit(-x) equals 1 - ans, but the difference would lose the digits of a small result.
expit: Primitive = _declare("expit", x=lambda g, x, ans: g * ans * expit(-x))
log_expit = _declare("log_expit", x=lambda g, x: g * expit(-x))
logit = _declare("logit", x=lambda g, x: g / x + g / (1 - x))

# --- the gamma function and related functions -----------------------------------------------------------------------


def _of_order(x: Any, /, n: int) -> Any:
    """Return SciPy's polygamma, without the psi that it computes for every n. The result has the dtype of x."""
    return _in_dtype_of(x, (-1.0) ** (n + 1) * math.gamma(n + 1) * _special.zeta(n + 1, x) if n else _special.psi(x))


def _in_dtype_of(x: Any, found: Any) -> Any:
    """Return ``found`` in the dtype of x: SciPy's zeta returns float64 for every dtype."""
    dtype = np.result_type(x, np.float32)
    return found.astype(dtype, copy=False) if is_device_array(found) else np.asarray(found, dtype)


_polygamma: Primitive = primitive(_of_order, name="special.polygamma").vjp(x=lambda g, x, n: g * polygamma(n + 1, x))
_zeta: Primitive = primitive(lambda q, /, x: _in_dtype_of(q, _special.zeta(x, q)), name="special.zeta").vjp(
    q=lambda g, q, x: -g * x * zeta(x + 1, q)
)
psi = _declare("psi", x=lambda g, x: g * polygamma(1, x))
digamma = psi
gamma = _declare("gamma", x=lambda g, x, ans: g * ans * psi(x))
gammaln = _declare("gammaln", x=lambda g, x: g * psi(x))
loggamma = _declare("loggamma", z=lambda g, z: g * psi(z))


def _rgamma_x(g: Array, x: Array, ans: Array) -> Array:
    """Return ``-rgamma psi``; left of 1/2, where psi has poles, from rgamma(x) = x (x + 1) ... (x + m - 1) rgamma(x + m)."""
    values = values_of(x)
    if is_device_array(values) or np.iscomplexobj(values) or not (values < 0.5).any():
        return -g * ans * psi(x)
    m = np.where((values < 0.5) & (values > _LOWEST), np.ceil(0.5 - values), 0)
    product, slope = np.ones_like(values), np.zeros_like(values)
    for k in range(int(m.max())):
        factor = np.where(k < m, x + k, 1)
        product, slope = product * factor, slope * factor + product * (k < m)
    shifted = x + m
    return g * rgamma(shifted) * (slope - product * psi(shifted))


_LOWEST = -200.0  # rgamma is infinite or 0 below it
rgamma: Primitive = _declare("rgamma", x=_rgamma_x)
about(rgamma, formulas={"x": "-g * y * psi(x)"})
beta = _declare(
    "beta",
    a=lambda g, ans, a, b: g * ans * (psi(a) - psi(a + b)),
    b=lambda g, ans, a, b: g * ans * (psi(b) - psi(a + b)),
)
betaln = _declare("betaln", a=lambda g, a, b: g * (psi(a) - psi(a + b)), b=lambda g, a, b: g * (psi(b) - psi(a + b)))


def _beside(x: Array, *constants: Any) -> tuple[Any, ...]:
    """Return constants where x is: on its device, if it has one."""
    return tuple([np.asarray(k, like=x) for k in constants]) if is_device_array(x) else constants


def _monomial(e: Any, f: Any, c: Any, x: Array, /) -> Any:
    """Return ``x^e (1 - x)^f exp(-c)``, and for f = inf ``x^e exp(-x - c)``, in logarithms, because factors overflow."""
    e, f, c = _beside(x, e, f, c)
    with np.errstate(all="ignore"):
        other = np.where(np.isinf(f), -x, _special.xlog1py(np.where(np.isinf(f), 0, f), -np.minimum(x, 1)))
        ans = np.exp(np.where(x == np.inf, -np.inf, _special.xlogy(e, x) + other - c))
    return _in_dtype_of(x, ans)


def _monomial_x(g: Array, e: Any, f: Any, c: Any, x: Array) -> Array:
    """Return ``ans (e/x - f/(1 - x))``; near an end as ``e x^(e-1) ... - f ... (1 - x)^(f-1)``, without a division.

    A coefficient of 0 removes its term. At an end itself, the term that is infinite of higher order counts alone.
    """
    at = values_of(x)
    e, f, c = _beside(at, e, f, c)
    endless = np.isinf(f)
    power = np.where(endless, 0, f)
    near = (at < _NEAR) | (~endless & (1 - at < _NEAR))
    inside = np.where(near, 0.5, x)
    other = np.where(endless, 1, power / (1 - np.where(endless, 0, inside)))
    middle = _density(e, f, c, inside) * (e / inside - other)
    if not (is_device_array(near) or near.any()):
        return g * middle
    no_left = (e == 0) | ((at == 1) & (power < 0))
    no_right = ~endless & ((power == 0) | ((at == 0) & (e < 0)))
    left = e * _density(np.where(no_left, 0, e - 1), f, c, np.where(no_left, 0.5, x))
    right = np.where(endless, 1, power) * _density(e, np.where(no_right, 0, f - 1), c, np.where(no_right, 0.5, x))
    return g * np.where(near, np.where(no_left, 0, left) - np.where(no_right, 0, right), middle)


_NEAR = 1e-3  # of an end of the interval
_density: Primitive = primitive(_monomial, name="special.density").vjp(e=None, f=None, c=None, x=_monomial_x)
gammainc = _declare("gammainc", a=None, x=lambda g, a, x: g * _density(a - 1, np.inf, _special.gammaln(a), x))
gammaincc = _declare("gammaincc", a=None, x=lambda g, a, x: -g * _density(a - 1, np.inf, _special.gammaln(a), x))
betainc = _declare("betainc", a=None, b=None, x=lambda g, a, b, x: g * _density(a - 1, b - 1, _special.betaln(a, b), x))
about(_density, formulas={"x": "g * y * (e / x - f / (1 - x)), with 1 in place of f / (1 - x) for an infinite f"})
about(gammainc, formulas={"x": "g * x^(a - 1) * exp(-x) / gamma(a)"})
about(gammaincc, formulas={"x": "-g * x^(a - 1) * exp(-x) / gamma(a)"})
about(betainc, formulas={"x": "g * x^(a - 1) * (1 - x)^(b - 1) / beta(a, b)"})


def polygamma(n: int, x: "TensorLike") -> Any:
    """Return the n-th derivative of ``digamma`` at x; n is a plain integer."""
    return _polygamma(x, n=n)


def zeta(x: float, q: "TensorLike" = 1.0) -> Any:
    """Return the Hurwitz zeta function, the sum of ``(q + k)**-x`` over k = 0, 1, ...; x is a plain number."""
    return _zeta(q, x=x)


# --- entropies: 0 log 0 is 0 ----------------------------------------------------------------------------------------


@reads("log(y)")
def _log_or_0(log: Any, x: "Any", y: "Any", pole: float) -> Any:
    """Return ``log(y)``, and 0 where x is 0 and y is at the pole of the logarithm, or beyond it."""
    both = (x == 0) & (y <= pole) if not np.iscomplexobj(y) else (x == 0) & (y == pole)
    return np.where(both, 0, log(np.where(both, 1, y)))


@reads("x / y")
def _ratio_or_0(x: "TensorLike", y: "TensorLike") -> Any:
    """Return ``x / y``, and 0 where both are 0."""
    both = (x == 0) & (y == 0)
    return np.where(both, 0, x / np.where(both, 1, y))


xlogy: Primitive = _declare(
    "xlogy", x=lambda g, x, y: g * _log_or_0(np.log, x, y, 0), y=lambda g, x, y: g * _ratio_or_0(x, y)
)
xlog1py: Primitive = _declare(
    "xlog1py", x=lambda g, x, y: g * _log_or_0(np.log1p, x, y, -1), y=lambda g, x, y: g * _ratio_or_0(x, 1 + y)
)
entr = _declare("entr", x=lambda g, x: -g * (np.log(x) + 1))
rel_entr = _declare("rel_entr", x=lambda g, x, y: g * (np.log(x / y) + 1), y=lambda g, x, y: -g * _ratio_or_0(x, y))
kl_div = _declare("kl_div", x=lambda g, x, y: g * np.log(x / y), y=lambda g, x, y: g * (1 - _ratio_or_0(x, y)))

# --- Bessel functions -----------------------------------------------------------------------------------------------


# B_n(x) = I_n(x) / x^n is an even function with positive Taylor coefficients, and B_n' = x B_(n+1): nothing cancels.


def _iv_by_power(x: Array, n: int) -> Array:
    """Return ``B_n``: below 1 its Taylor series, and infinity where I_n overflows."""
    size = np.abs(x)
    quarter, term = np.minimum(size, 1) ** 2 / 4, np.full_like(size, 0.5**n / math.factorial(n))
    total = term.copy()
    for k in range(1, 12):
        term *= quarter / (k * (k + n))
        total += term
    large = np.maximum(size, 1)
    bessel = (_special.i0, _special.i1)[n](large) if n < 2 else _special.iv(n, large)  # iv errs more
    return np.where(size < 1, total, np.where(np.isinf(bessel) | np.isinf(size), np.inf, bessel / large**n))


_power_iv: Primitive = primitive(_in_double(_iv_by_power), name="special.power_iv").vjp(
    x=lambda g, x, n: g * x * _power_iv(x, n=n + 1)
)

# G_n(x), the integral of t^n exp(-x t) / (pi sqrt(t (2 - t))) over t in [0, 2], is i0e for n = 0, and G_n' = -G_(n+1).


def _exponential_ratio(x: Array, n: int) -> Array:
    """Return ``G_n / G_(n-1)`` for x >= 0 by the recurrence (2n-1) G_(n-1) = (n + 2x) G_n - x G_(n+1), backwards."""
    x, ratio = np.minimum(x, 1e300), np.full_like(x, 2.0)
    ratio = np.minimum((2 * n + 119) / (2 * x + 1e-300), 2)
    for k in range(n + 59, n - 1, -1):
        ratio = (2 * k - 1) / (k + x * (2 - ratio))
    return ratio


_i0e_ratio: Primitive = primitive(_in_double(_exponential_ratio), name="special.i0e_ratio").vjp(
    x=lambda g, ans, x, n: g * ans * (ans - _i0e_ratio(x, n=n + 1))
)


def _exponential_step(x: Array, n: int) -> Array:
    """Return ``G_n - G_(n+1)`` of |x|, for n = 0 the size of i1e. SciPy's i0e errs by 5 units below 1, the product by 2."""
    size = np.abs(x)
    near = np.minimum(size, 1)
    ans = np.where(size < 1, np.exp(-near) * _iv_by_power(near, 0), _special.i0e(size))
    for k in range(1, n + 1):
        ans = ans * _exponential_ratio(size, k)
    return ans * (1 - _exponential_ratio(size, n + 1))


_i1e_step: Primitive = primitive(_in_double(_exponential_step), name="special.i1e_step").vjp(
    x=lambda g, x, n: -g * np.sign(x) * _i1e_step(x, n=n + 1)
)


jv: Primitive = _declare("jv", v=None, z=lambda g, v, z: g * 0.5 * (jv(v - 1, z) - jv(v + 1, z)))
iv: Primitive = _declare("iv", v=None, z=lambda g, v, z: g * 0.5 * (iv(v - 1, z) + iv(v + 1, z)))
j0 = _declare("j0", x=lambda g, x: -g * j1(x))
j1: Primitive = _declare("j1", x=lambda g, x: g * 0.5 * (j0(x) - jv(2, x)))
y0 = _declare("y0", x=lambda g, x: -g * y1(x))
y1: Primitive = _declare("y1", x=lambda g, x, ans: g * (y0(x) - ans / x))
i0 = _declare("i0", x=lambda g, x: g * i1(x))
i1: Primitive = _declare("i1", x=lambda g, x: g * 0.5 * (_power_iv(x, n=0) + x * x * _power_iv(x, n=2)))
i0e: Primitive = _declare("i0e", x=lambda g, x, ans: -g * np.sign(x) * ans * _i0e_ratio(np.abs(x), n=1))
i1e: Primitive = _declare("i1e", x=lambda g, x: -g * _i1e_step(x, n=1))
about(i1, formulas={"x": "g * 0.5 * (i0(x) + iv(2, x))"})
about(i0e, formulas={"x": "g * (i1e(x) - sign(x) * y)"})
about(i1e, formulas={"x": "g * (0.5 * (i0e(x) + ive(2, x)) - sign(x) * y)"})
