"""The error function, which NumPy does not have."""

import math
from typing import Any

import numpy as np

from ..engine.arrays import as_array
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import DTypeError
from .about import about

# The polynomial P in erf(x) = tanh(x P(x^2)), exact to 1.7e-7. It is fitted to atanh(erf(x))/x for the least relative error.
_P = [1.1283792, 0.10276947, -1.9281585e-04, -6.1882762e-04, 8.7231681e-05, -5.5956354e-06, 1.3739052e-07]
# P(u) - 1 as a ratio, exact to 1e-17 up to x = 6. All coefficients are positive, so no digits cancel.
_RATIO = np.array([
    (4.4448234115870367e-10, 2.9020353764234802e-11), (5.136909249305154e-08, 1.3996445021166006e-08),
    (1.5008832561165567e-06, 8.154076385933778e-07), (2.7076794084462786e-05, 1.92828157231145e-05),
    (0.000326213322644688, 0.0003059001636649809), (0.0027772877879329223, 0.0032946085398610214),
    (0.01656418392950335, 0.025279471477245945), (0.06600244143349507, 0.1363019467613353),
    (0.16362319390787172, 0.4739911621381788), (0.1283791670955126, 1.0),
])  # fmt: skip


def erf_of_float32(x: Array, scale: float = 1.0) -> Array:
    """Return erf(scale * x) for float32."""
    constant, *others = (p * scale ** (2 * n + 1) for n, p in enumerate(_P))
    with np.errstate(over="ignore"):  # tanh(inf) is 1
        value = (square := x * x) * others.pop()
        for coefficient in reversed(others):
            value += coefficient
            value *= square
        value += constant
        value *= x
    return np.tanh(value)


def erf_of_float64(x: Array) -> Array:
    first, *others = np.asarray(_RATIO, like=x)[:, :, None]
    with np.errstate(over="ignore"):  # erf(6) is 1 to double precision
        square = np.minimum(np.square(x), 36).reshape(-1)
        both = first * square
        for coefficients in others[:-1]:
            both += coefficients
            both *= square
        both += others[-1]
        return np.tanh(x + x * (both[0] / both[1]).reshape(x.shape))


def check_not_complex(function: str, *arrays: Any) -> None:
    """Raise a DTypeError if one of the arrays or Tensors is complex, for which ``function`` has no definition here."""
    for array in arrays:
        if isinstance(array, complex) or getattr(array, "dtype", np.dtype(float)).kind == "c":
            raise DTypeError(f"{function} takes real numbers, got {getattr(array, 'dtype', 'complex')}")


def _erf(x: Array, /) -> Array:
    """Return erf(x) = 2/sqrt(pi) integral_0^x exp(-t^2) dt to 4 ulp; a complex x raises DTypeError.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.erf(np.array([0.0, 0.5, 1.0])).round(4)
        array([0.    , 0.5205, 0.8427])
        >>> round(float(mg.grad(mg.erf)(0.0)), 4)  # 2 / sqrt(pi)
        1.1284
    """
    x = as_array(x)
    check_not_complex("erf", x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    if x.dtype.itemsize <= 4:
        return erf_of_float32(x.astype(np.float32, copy=False)).astype(x.dtype, copy=False)
    return erf_of_float64(x)


erf = primitive(_erf, name="erf").vjp(x=lambda g, x: g * (2 / math.sqrt(math.pi)) * np.exp(-x * x))
about(erf, elementwise=True)
