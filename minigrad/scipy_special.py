"""SciPy's special functions on Tensors: ``import minigrad.scipy_special as special``.

SciPy's functions are mostly ufuncs, which pass the call to their arguments (NEP 13). So after this import,
``scipy.special.erf(t)`` works like ``special.erf(t)``. For plain Python functions of SciPy (``softmax``, ``log_softmax``,
``logsumexp``, ``polygamma``, ``zeta``), call the ones in this module. Device arrays are not supported, as in SciPy.

If a function has no elementary derivative with respect to an argument (the order of a Bessel function, the ``a`` of an
incomplete gamma function), pass a plain number or array there. A Tensor that requires a gradient raises an error.
"""

from typing import Any

from .engine.methods import Axis
from .engine.types import TensorLike
from .rules import neural, reductions, scipy_special as _rules  # noqa: F401 - what is not public is reached through it
from .rules.scipy_special import *  # noqa: F403

try:
    from .kernels import scipy_special as _kernels  # noqa: F401 - attaches the kernels
except ImportError as missing:
    if missing.name != "minigrad.kernels":
        raise


# These have SciPy's arguments and minigrad's primitives.


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
