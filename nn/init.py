"""Functions that draw the initial values of parameters.

Each function takes a generator, ``rng=np.random.default_rng(seed)``. The same seed gives the same values for every device.
Values are drawn in float64 and then cast, so a float32 and a float64 network from one seed agree to rounding.

Example:
    >>> import numpy as np
    >>> from nn import init
    >>> first, again = (init.he_normal((2, 3), rng=np.random.default_rng(0)) for _ in range(2))
    >>> first.shape, first.dtype, (first == again).all().item()
    ((2, 3), dtype('float32'), True)
"""

import math
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError

from ._checks import check_dtype, check_interval, check_kind, check_not_negative, shown
from .module import DType

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]


def uniform(shape: Shape, low: float, high: float, *, rng: np.random.Generator, dtype: "DType" = np.float32) -> Array:
    """Return values from the uniform distribution on [low, high)."""
    _check(shape, dtype, low=low, high=high)
    if low > high:
        raise ArgumentError(f"low must be at most high, got low={low} and high={high}")
    return check_generator(rng).uniform(low, high, shape).astype(dtype)


def normal(shape: Shape, std: float = 1.0, *, rng: np.random.Generator, dtype: "DType" = np.float32) -> Array:
    """Return values from the normal distribution with mean 0 and standard deviation ``std``."""
    _check(shape, dtype, std=std)
    check_interval(0, math.inf, std=std)
    return (std * check_generator(rng).standard_normal(shape)).astype(dtype)


def xavier_uniform(shape: Shape, *, rng: np.random.Generator, dtype: "DType" = np.float32) -> Array:
    """Return a weight of shape (in, out) from the uniform distribution on [-a, a) with ``a = sqrt(6 / (in + out))``.

    It keeps the variances of activations and of gradients about the same in all layers: Glorot and Bengio 2010, eq. 16.
    """
    fan_in, fan_out = _fans(shape)
    bound = math.sqrt(6 / (fan_in + fan_out))
    return uniform(shape, -bound, bound, rng=rng, dtype=dtype)


def xavier_normal(shape: Shape, *, rng: np.random.Generator, dtype: "DType" = np.float32) -> Array:
    """Return a normal weight (in, out) with variance ``2 / (in + out)``: Glorot and Bengio 2010, eq. 12."""
    fan_in, fan_out = _fans(shape)
    return normal(shape, math.sqrt(2 / (fan_in + fan_out)), rng=rng, dtype=dtype)


def he_normal(shape: Shape, *, rng: np.random.Generator, dtype: "DType" = np.float32) -> Array:
    """Return a normal weight (in, out) with variance ``2 / in``, for ReLU: He et al. 2015, arXiv:1502.01852, eq. 10."""
    fan_in, _ = _fans(shape)
    return normal(shape, math.sqrt(2 / fan_in), rng=rng, dtype=dtype)


def check_generator(rng: object) -> np.random.Generator:
    """Return ``rng``.

    Raises:
        ArgumentError: ``rng`` is not a ``numpy.random.Generator``.
    """
    if not isinstance(rng, np.random.Generator):
        raise ArgumentError(f"rng must be a numpy.random.Generator, such as np.random.default_rng(0), got {shown(rng)}")
    return rng


def _fans(shape: Shape) -> tuple[int, int]:
    _check(shape, np.float32)
    if len(shape) != 2:
        raise ShapeError(f"this initialiser needs the shape (in, out) of a matrix, got {shape}")
    return shape[0], shape[1]


def _check(shape: Shape, dtype: "DType", **numbers: float) -> None:
    check_kind("a tuple of sizes", (tuple, list), shape=shape)
    for size in shape:
        check_not_negative(shape=size)
    check_dtype(dtype)
    check_interval(-math.inf, math.inf, **numbers)
