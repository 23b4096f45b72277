"""SciPy's special functions on Tensors: ``import minigrad.scipy_special as special``.

SciPy's own are ufuncs, which ask their arguments first (NEP 13): once this module has been imported, ``scipy.special.erf(t)``
works as ``special.erf(t)`` does. Where SciPy's is a plain Python function (``softmax``, ``log_softmax``, ``logsumexp``,
``polygamma``, ``zeta``), call this module's. Arrays of a device are not supported, as by SciPy itself.

Arguments by which a function has no elementary derivative (the order of a Bessel function, the ``a`` of an incomplete
gamma function) must be plain numbers or arrays; a Tensor there that requires a gradient is refused.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .engine.methods import Axis
from .engine.primitive import Primitive, primitive
from .errors import import_extra
from .rules import neural, reductions

_special = import_extra("scipy.special", "scipy", "minigrad.scipy_special")


def _declare(name: str, **rules: Callable[..., Any] | None) -> Primitive:
    """SciPy's ufunc of that name as a primitive; with the prefix, for minigrad has an ``erf`` of its own."""
    return primitive(getattr(_special, name), getattr(_special, name), name=f"special.{name}").vjp(**rules)


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
# The density over the distribution function is a scaled erfc, which neither overflows nor cancels.
log_ndtr = _declare("log_ndtr", x=lambda g, x: g * math.sqrt(2 / math.pi) / erfcx(-x * _ROOT_HALF))

# --- logistic functions ---------------------------------------------------------------------------------------------

expit: Primitive = _declare("expit", x=lambda g, x, ans: g * ans * expit(-x))  # 1 - ans would lose what is small
log_expit = _declare("log_expit", x=lambda g, x: g * expit(-x))
logit = _declare("logit", x=lambda g, x: g / (x * (1 - x)))

# --- the gamma function and its kin ---------------------------------------------------------------------------------

# SciPy's polygamma and zeta give float64 for every dtype.
_polygamma: Primitive = primitive(
    lambda x, /, n: np.asarray(_special.polygamma(n, x), np.result_type(x, np.float32)), name="special.polygamma"
).vjp(x=lambda g, x, n: g * polygamma(n + 1, x))
_zeta: Primitive = primitive(
    lambda q, /, x: np.asarray(_special.zeta(x, q), np.result_type(q, np.float32)), name="special.zeta"
).vjp(q=lambda g, q, x: -g * x * zeta(x + 1, q))
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


def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of ``digamma`` at x; n is a plain integer."""
    return _polygamma(x, n=n)


def zeta(x: float, q: Any = 1.0) -> Any:
    """The Hurwitz zeta function, the sum of ``(q + k)**-x`` over k = 0, 1, ...; x is a plain number."""
    return _zeta(q, x=x)


# --- entropies: 0 log 0 is 0 ----------------------------------------------------------------------------------------


def _log_or_0(log: Any, x: Any, y: Any, pole: float) -> Any:
    """``log(y)``, and 0 where x is 0 and y at (or beyond) the pole of the logarithm."""
    both = (x == 0) & (y <= pole) if not np.iscomplexobj(y) else (x == 0) & (y == pole)
    return np.where(both, 0, log(np.where(both, 1, y)))


def _ratio_or_0(x: Any, y: Any) -> Any:
    """``x / y``, and 0 where both are 0."""
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

jv: Primitive = _declare("jv", v=None, z=lambda g, v, z: g * 0.5 * (jv(v - 1, z) - jv(v + 1, z)))
iv: Primitive = _declare("iv", v=None, z=lambda g, v, z: g * 0.5 * (iv(v - 1, z) + iv(v + 1, z)))
j0 = _declare("j0", x=lambda g, x: -g * j1(x))
j1: Primitive = _declare("j1", x=lambda g, x: g * 0.5 * (j0(x) - jv(2, x)))
y0 = _declare("y0", x=lambda g, x: -g * y1(x))
y1: Primitive = _declare("y1", x=lambda g, x, ans: g * (y0(x) - ans / x))
i0 = _declare("i0", x=lambda g, x: g * i1(x))
i1: Primitive = _declare("i1", x=lambda g, x: g * 0.5 * (i0(x) + iv(2, x)))
i0e = _declare("i0e", x=lambda g, x, ans: g * (i1e(x) - np.sign(x) * ans))
i1e: Primitive = _declare(
    "i1e", x=lambda g, x, ans: g * (0.5 * (i0e(x) + np.exp(-np.abs(x)) * iv(2, x)) - np.sign(x) * ans)
)

# --- logarithms of sums of exponentials -----------------------------------------------------------------------------


def logsumexp(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """``log(sum(exp(a)))`` along ``axis`` (an int, a tuple, or None for all), stable for large inputs.

    For SciPy's weights ``b`` write ``logsumexp(a + np.log(b))``.
    """
    return reductions.logsumexp(a, axis=axis, keepdims=keepdims)


def softmax(x: Any, axis: Axis = None) -> Any:
    """``exp(x) / sum(exp(x))`` along ``axis``; as in SciPy over all elements by default, unlike ``minigrad.softmax``."""
    return neural.softmax(x, axis=axis)


def log_softmax(x: Any, axis: Axis = None) -> Any:
    """``x - log(sum(exp(x)))`` along ``axis``; as in SciPy over all elements by default."""
    return neural.log_softmax(x, axis=axis)
