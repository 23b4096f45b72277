"""Polynomials and covariances, as compositions of functions that have rules."""

import operator
import warnings
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError, UnsupportedError
from .axes import array_of

# --- polynomials ----------------------------------------------------------------------------------------------------


def _polyval(p: Any, x: Any) -> Any:
    """Evaluate by Horner's scheme."""
    if isinstance(x, np.poly1d):
        raise UnsupportedError("polyval of a Tensor takes no np.poly1d for x: pass an array of points")
    coefficients, x = array_of(p), array_of(x)
    if not coefficients.ndim:
        raise ShapeError("polyval takes a 1-D array of coefficients for p, the highest power first, got a 0-d one")
    y = np.zeros_like(x)
    for i in range(len(coefficients)):
        y = y * x + coefficients[i]
    return y


def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Fit by least squares, with the columns of the matrix of powers scaled to length 1."""
    order = operator.index(deg) + 1 if not isinstance(deg, Tensor) else int(deg) + 1
    x, y = array_of(x) + 0.0, array_of(y) + 0.0
    if order < 1:
        raise ArgumentError(f"polyfit takes deg >= 0, got {deg}")
    if x.ndim != 1 or not x.size:
        raise ShapeError(f"polyfit takes a 1-D array of at least one point for x, got shape {x.shape}")
    if y.ndim not in (1, 2) or len(y) != len(x):
        raise ShapeError(
            f"polyfit takes one row of y, 1-D or 2-D, for each of the {len(x)} points x, got shape {y.shape}"
        )
    base = x.astype(np.promote_types(x.dtype, int))  # as np.vander does
    powers = [np.ones_like(base)]
    for _ in range(1, order):
        powers.append(powers[-1] * base)
    left, right = np.stack(powers[::-1], axis=-1), y
    if w is not None:
        w = array_of(w) + 0.0
        if w.shape != x.shape:
            raise ShapeError(f"polyfit takes one weight w for each of the {len(x)} points x, got shape {w.shape}")
        left, right = left * w[:, None], right * (w if y.ndim == 1 else w[:, None])
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    c, residuals, rank, s = np.linalg.lstsq(left, right, rcond)
    c = (c.T / scale).T
    if int(values_of(rank)) != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    spread = np.linalg.inv(left.T @ left) / np.outer(scale, scale)
    if cov != "unscaled":
        if len(x) <= order:
            raise ArgumentError(
                f"polyfit scales the covariance only for more than {order} points, got {len(x)}: cov='unscaled'"
            )
        factor = residuals / (len(x) - order)
        return c, spread * factor if y.ndim == 1 else spread[:, :, None] * factor
    return c, spread if y.ndim == 1 else spread[:, :, None] * 1


composite(np.polyval, _polyval)
composite(np.polyfit, _polyfit)


# --- covariances ----------------------------------------------------------------------------------------------------


def _variables(m: Any, dtype: Any, name: str, rowvar: bool) -> Array:
    """Return the variables as the rows of a matrix."""
    m = array_of(m)
    if m.ndim > 2:
        raise ShapeError(f"cov takes at most two axes for {name}, got shape {m.shape}")
    rows = np.reshape(m, (1, -1)) if m.ndim < 2 else m
    rows = rows if rows.dtype == dtype else rows.astype(dtype)
    return rows if rowvar or (m.ndim != 2 if name == "m" else len(rows) == 1) else rows.T


def _weights(weights: Any, name: str, count: int) -> Array:
    weights = array_of(weights)
    if weights.shape != (count,):
        raise ShapeError(f"cov takes {name} of shape ({count},), one for each observation, got shape {weights.shape}")
    if np.any(values_of(weights) < 0):
        raise OutOfRangeError(f"cov takes no negative {name}")
    return weights


def _repeats(fweights: Any, count: int) -> Array:
    """Return the number of times that each observation counts."""
    if isinstance(fweights, Tensor) and fweights.requires_grad:
        raise UnsupportedError("fweights of cov are whole numbers, which have no derivative: pass fweights.detach()")
    repeats: Array = values_of(_weights(fweights, "fweights", count))
    if np.any(repeats != np.around(repeats)):
        raise DTypeError("cov takes whole numbers for fweights: pass aweights for other weights")
    return repeats.astype(float)


def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"cov takes an integer for ddof, got {ddof}")
    if dtype is None:
        dtype = np.result_type(*(array_of(part).dtype for part in (m, y) if part is not None), np.float64)
    rows = _variables(m, np.dtype(dtype), "m", rowvar)
    if not rows.shape[0]:
        return np.reshape(rows, (-1,))[:0].reshape((0, 0))
    if y is not None:
        rows = np.concatenate([rows, _variables(y, np.dtype(dtype), "y", rowvar)], axis=0)
    ddof, count, w = (0 if bias else 1) if ddof is None else int(ddof), rows.shape[1], None
    if fweights is not None:
        w = np.asarray(_repeats(fweights, count), like=values_of(rows))
    if aweights is not None:
        aweights = _weights(aweights, "aweights", count)
        w = aweights if w is None else w * aweights
    mean, total = np.average(rows, axis=1, weights=w, returned=True)
    total = total[0]
    if w is None:
        freedom: Any = count - ddof
    elif ddof == 0:
        freedom = total
    else:
        freedom = total - (ddof if aweights is None else ddof * np.sum(w * aweights) / total)
    if values_of(freedom) <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
        freedom = 0.0
    rows = rows - mean[:, None]
    c = rows @ np.conjugate((rows if w is None else rows * w).T) * np.true_divide(1, freedom)
    return np.squeeze(c.astype(dtype) if c.dtype != dtype else c)


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviations = np.sqrt(np.real(np.diagonal(c)))
    c = c / deviations[:, None] / deviations[None, :]
    plain = values_of(c)  # NumPy cuts off rounding errors beyond 1, which change no derivative
    cut = np.clip(plain.real, -1, 1) + (1j * np.clip(plain.imag, -1, 1) if np.iscomplexobj(plain) else 0)
    return c + (cut - plain)


composite(np.cov, _cov)
composite(np.corrcoef, _corrcoef)
