"""SciPy's special functions on Tensors: ``import minigrad.scipy_special as special``.

SciPy's functions are mostly ufuncs, which pass the call to their arguments (NEP 13). So after this import,
``scipy.special.erf(t)`` works like ``special.erf(t)``. For plain Python functions of SciPy (``softmax``, ``log_softmax``,
``logsumexp``, ``polygamma``, ``zeta``), call the ones in this module. Device arrays are not supported, as in SciPy.

If a function has no elementary derivative with respect to an argument (the order of a Bessel function, the ``a`` of an
incomplete gamma function), pass a plain number or array there. A Tensor that requires a gradient raises an error.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .device import is_device_array
from .engine.functions import faster
from .engine.methods import Axis
from .engine.primitive import Primitive, primitive
from .engine.types import Array, TensorLike
from .errors import import_extra
from .rules import neural, reductions

_special = import_extra("scipy.special", "scipy", "minigrad.scipy_special")


def _declare(name: str, form: Callable[..., Any] | None = None, **rules: Callable[..., Any] | None) -> Primitive:
    """Declare SciPy's ufunc as a primitive, with a prefix, because minigrad has another ``erf``; ``form`` is faster."""
    ufunc = getattr(_special, name)
    return primitive(ufunc, faster(ufunc)(form) if form else ufunc, name=f"special.{name}").vjp(**rules)


_ROOT_PI = math.sqrt(math.pi)
_ROOT_2PI = math.sqrt(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)

# --- the error function and the normal distribution -----------------------------------------------------------------

erf = _declare("erf", x=lambda g, x: g * (2 / _ROOT_PI) * np.exp(-x * x))
erfc = _declare("erfc", x=lambda g, x: g * (-2 / _ROOT_PI) * np.exp(-x * x))
erfcx = _declare("erfcx", x=lambda g, x, ans: g * (2 * x * ans - 2 / _ROOT_PI))
erfinv = _declare("erfinv", y=lambda g, ans: g * (_ROOT_PI / 2) * np.exp(ans * ans))
erfcinv = _declare("erfcinv", y=lambda g, ans: g * (-_ROOT_PI / 2) * np.exp(ans * ans))
ndtr = _declare("ndtr", x=lambda g, x: g * (1 / _ROOT_2PI) * np.exp(-0.5 * x * x))
ndtri = _declare("ndtri", y=lambda g, ans: g * _ROOT_2PI * np.exp(0.5 * ans * ans))
# The density over the cumulative distribution function is sqrt(2 / pi) / erfcx, which neither overflows nor cancels.
log_ndtr = _declare("log_ndtr", x=lambda g, x: g * math.sqrt(2 / math.pi) / erfcx(-x * _ROOT_HALF))

# --- logistic functions ---------------------------------------------------------------------------------------------


def _logit(x: Array) -> Array:
    """Return ``log(x / (1 - x))`` as an inverse hyperbolic sine, whose argument keeps its digits near 0, 1/2 and 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * np.arcsinh((x - 0.5) / np.sqrt(x * (1 - x)))


# expit(-x) equals 1 - ans, but the difference would lose the digits of a small result.
expit: Primitive = _declare("expit", neural.sigmoid.function, x=lambda g, x, ans: g * ans * expit(-x))
log_expit = _declare("log_expit", x=lambda g, x: g * expit(-x))
logit = _declare("logit", _logit, x=lambda g, x: g / (x * (1 - x)))

# --- the gamma function and related functions -----------------------------------------------------------------------

# The terms of trigamma(z) - 1 / z, from z = 10 on: the Bernoulli numbers B_2k over z^(2k + 1), the highest power first.
_BERNOULLI = [7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6]


def _trigamma(x: Any) -> Any:
    """Sum 1 / (x + k)^2 for k < 10, and the asymptotic series at x + 10 (Abramowitz and Stegun, 6.4.6 and 6.4.12)."""
    x = np.asarray(x, np.float64)
    if x.size > 1 << 14:  # blocks that stay in the cache
        flat = x.reshape(-1)
        return np.concatenate([_trigamma(flat[i : i + (1 << 14)]) for i in range(0, x.size, 1 << 14)]).reshape(x.shape)
    with np.errstate(over="ignore"):
        inverse = 1 / (x + 10)
        square, total = inverse * inverse, np.zeros_like(x)
        for coefficient in _BERNOULLI:
            total = total * square + coefficient
        total = square * (0.5 + inverse * total)
        for k in range(9, -1, -1):
            total += np.square(1 / (x + k))
    return total + inverse


def _of_order(x: Any, /, n: int) -> Any:
    """Return SciPy's polygamma, without the psi that it computes for every n. The result has the dtype of x."""
    if n == 1 and type(x) is np.ndarray and x.size > 256 and x.dtype.kind != "c" and (x > 0).all():
        found = _trigamma(x)
    else:
        found = (-1.0) ** (n + 1) * math.gamma(n + 1) * _special.zeta(n + 1, x) if n else _special.psi(x)
    return _in_dtype_of(x, found)


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
rgamma = _declare("rgamma", x=lambda g, x, ans: -g * ans * psi(x))
beta = _declare(
    "beta",
    a=lambda g, ans, a, b: g * ans * (psi(a) - psi(a + b)),
    b=lambda g, ans, a, b: g * ans * (psi(b) - psi(a + b)),
)
betaln = _declare("betaln", a=lambda g, a, b: g * (psi(a) - psi(a + b)), b=lambda g, a, b: g * (psi(b) - psi(a + b)))
gammainc = _declare("gammainc", a=None, x=lambda g, a, x: g * np.exp(xlogy(a - 1, x) - x - gammaln(a)))
gammaincc = _declare("gammaincc", a=None, x=lambda g, a, x: -g * np.exp(xlogy(a - 1, x) - x - gammaln(a)))
betainc = _declare(
    "betainc", a=None, b=None, x=lambda g, a, b, x: g * np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))
)


def polygamma(n: int, x: "TensorLike") -> Any:
    """Return the n-th derivative of ``digamma`` at x; n is a plain integer."""
    return _polygamma(x, n=n)


def zeta(x: float, q: "TensorLike" = 1.0) -> Any:
    """Return the Hurwitz zeta function, the sum of ``(q + k)**-x`` over k = 0, 1, ...; x is a plain number."""
    return _zeta(q, x=x)


# --- entropies: 0 log 0 is 0 ----------------------------------------------------------------------------------------


def _log_or_0(log: Any, x: "Any", y: "Any", pole: float) -> Any:
    """Return ``log(y)``, and 0 where x is 0 and y is at the pole of the logarithm, or beyond it."""
    both = (x == 0) & (y <= pole) if not np.iscomplexobj(y) else (x == 0) & (y == pole)
    return np.where(both, 0, log(np.where(both, 1, y)))


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


def _by_x(ans: Array, x: Array) -> Array:
    """Return ``I_1(x) / x``: 1/2 at 0. Where it overflows, 0 leaves the derivative as infinite as ``I_0``."""
    zero = x == 0
    return np.where(zero, 0.5, np.where(np.isinf(ans), 0, ans / (x + zero)))


jv: Primitive = _declare("jv", v=None, z=lambda g, v, z: g * 0.5 * (jv(v - 1, z) - jv(v + 1, z)))
iv: Primitive = _declare("iv", v=None, z=lambda g, v, z: g * 0.5 * (iv(v - 1, z) + iv(v + 1, z)))
j0 = _declare("j0", x=lambda g, x: -g * j1(x))
j1: Primitive = _declare("j1", x=lambda g, x: g * 0.5 * (j0(x) - jv(2, x)))
y0 = _declare("y0", x=lambda g, x: -g * y1(x))
y1: Primitive = _declare("y1", x=lambda g, x, ans: g * (y0(x) - ans / x))
i0 = _declare("i0", x=lambda g, x: g * i1(x))
i1: Primitive = _declare("i1", x=lambda g, x, ans: g * (i0(x) - _by_x(ans, x)))
i0e = _declare("i0e", x=lambda g, x, ans: g * (i1e(x) - np.sign(x) * ans))
# i0e(x) - i1e(x) / x - sign(x) i1e(x) would take a fifth of the time, and err by 10 units in the last place instead of 6.
i1e: Primitive = _declare(
    "i1e", x=lambda g, x, ans: g * (0.5 * (i0e(x) + np.exp(-np.abs(x)) * iv(2, x)) - np.sign(x) * ans)
)


# --- logarithms of sums of exponentials -----------------------------------------------------------------------------


def logsumexp(a: "TensorLike", axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return ``log(sum(exp(a)))`` along ``axis`` (an int, a tuple, or None for all), stable for large inputs.

    For SciPy's weights ``b`` write ``logsumexp(a + np.log(b))``.
    """
    return reductions.logsumexp(a, axis=axis, keepdims=keepdims)


def softmax(x: "TensorLike", axis: Axis = None) -> Any:
    """Return ``exp(x) / sum(exp(x))`` along ``axis``; by default, unlike ``minigrad.softmax``, over all elements."""
    return neural.softmax(x, axis=axis)


def log_softmax(x: "TensorLike", axis: Axis = None) -> Any:
    """Return ``x - log(sum(exp(x)))`` along ``axis``; by default over all elements, as in SciPy."""
    return neural.log_softmax(x, axis=axis)
