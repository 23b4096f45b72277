"""Checking derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._tree import leaves, map_leaves
from .device import to_host
from .errors import ArgumentError, MinigradError
from .tensor import Tensor
from .transforms import vjp


class GradientError(MinigradError, AssertionError):
    """A derivative disagrees with finite differences."""


def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, *, step: float = 1e-4, rtol: float = 1e-6, seed: int = 0
) -> None:
    """Compare the derivatives of ``f`` at ``args``, up to ``order``, with finite differences.

    The output is projected on a random direction ``u``, which makes a scalar ``s(args) = <u, f(args)>``; for each argument
    the derivative of ``s`` along a random direction ``v`` is compared with the central difference of fourth order,
    ``(8 (s(+h) - s(-h)) - (s(+2h) - s(-2h))) / 12 h``. Second order does the same with the gradient in place of ``f``.
    Everything is computed in double precision; at a kink the two need not agree.

    Args:
        args: arrays, or nested containers of arrays, floating or complex.
        step: ``h``, of directions of length 1.
        rtol: the allowed difference relative to the larger of the two derivatives and the size of the gradient.

    Raises:
        GradientError: they disagree; the message names the order, the argument and both numbers.
    """
    if order < 1:
        raise ArgumentError(f"check_grads needs order >= 1, got {order}")
    rng = np.random.default_rng(seed)
    primals = tuple(map_leaves(_double, arg) for arg in args)
    _check(f, primals, order, 1, step, rtol, rng)


def _check(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    level: int,
    step: float,
    rtol: float,
    rng: np.random.Generator,
) -> None:
    output, pullback = vjp(f, *args)
    u = map_leaves(lambda a: _direction(a, rng), output)
    gradients = pullback(u)
    directions = map_leaves(lambda a: _direction(a, rng), args)
    for i in range(len(args)):
        numeric = _central_difference(lambda *a: _inner(u, f(*a)), args, directions, i, step)
        exact = float(to_host(_inner(directions[i], gradients[i])))
        size = max((float(np.linalg.norm(to_host(g).ravel())) for g in leaves(gradients[i])), default=0.0)
        if not abs(exact - numeric) <= rtol * max(abs(exact), abs(numeric), size, 1e-3):
            raise GradientError(
                f"order {level}, argument {i}: the derivative along a random direction is {exact:.10g}, "
                f"finite differences give {numeric:.10g}"
            )
    if order > level:

        def gradient(*a: Any) -> Any:
            return vjp(f, *a[:-1])[1](a[-1])

        _check(gradient, (*args, u), order, level + 1, step, rtol, rng)  # u too: a rule must be linear in the cotangent


def _double(value: Any) -> Any:
    array = value.data if isinstance(value, Tensor) else value if hasattr(value, "dtype") else np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _direction(array: Any, rng: np.random.Generator) -> Any:
    """A random direction of length 1, of the array's shape, kind and library."""
    shape = np.shape(array)
    v = rng.standard_normal(shape)
    if array.dtype.kind == "c":
        v = v + 1j * rng.standard_normal(shape)
    v = np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))
    return v if isinstance(array, (np.ndarray, np.generic, Tensor)) else np.asarray(v, like=array)


def _inner(direction: Any, values: Any) -> Any:
    """Re <direction, values>, without conjugation, as the convention for complex gradients has it."""
    total: Any = 0.0
    for d, v in zip(leaves(direction), leaves(values), strict=True):
        total = total + np.real(np.sum(d * v)) if np.iscomplexobj(d) or np.iscomplexobj(v) else total + np.sum(d * v)
    return total


def _central_difference(
    scalar: Callable[..., Any], args: tuple[Any, ...], directions: tuple[Any, ...], i: int, h: float
) -> float:
    def moved(t: float) -> float:
        point = map_leaves(lambda a, v: a + t * v, args[i], directions[i])
        value = scalar(*args[:i], point, *args[i + 1 :])
        return float(to_host(value.data if isinstance(value, Tensor) else value))

    return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
