"""Checking derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..device import is_device_array, to_host
from ..engine.tensor import Tensor
from ..errors import ArgumentError, MinigradError
from ..transforms.grad import check_no_step, vjp


class GradientError(MinigradError, AssertionError):
    """A derivative disagrees with finite differences.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> square = mg.primitive(lambda x: x * x, name="square").vjp(x=lambda g, x: g * x)  # the 2 is missing
        >>> mg.check_grads(square, [np.array(3.0)])
        Traceback (most recent call last):
            ...
        minigrad.guards.checking.GradientError: order 1, argument 0: the derivative along a random direction is...
    """


def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, *, step: float = 1e-4, rtol: float = 1e-6, seed: int = 0
) -> None:
    """Compare the derivatives of ``f`` at ``args``, up to ``order``, with finite differences.

    ``f`` is called with Tensors, as ``grad`` calls it.

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
        UnsupportedError: ``f`` returned an integer or a boolean.
        ArgumentError: ``order`` is less than 1.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([0.5, 1.0, 2.0])
        >>> mg.check_grads(lambda x: np.sin(x) * x, [x])  # right in first and second order: says nothing
    """
    if order < 1:
        raise ArgumentError(f"check_grads needs order >= 1, got {order}")
    rng = np.random.default_rng(seed)
    primals = tuple(map_leaves(double, arg) for arg in args)
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
    u, found = _compare(f, args, step, rng)
    for i, (exact, numeric, error) in enumerate(found):
        if not error <= rtol:
            raise GradientError(
                f"order {level}, argument {i}: the derivative along a random direction is {exact:.10g}, "
                f"finite differences give {numeric:.10g}"
            )
    if order > level:

        def gradient(*a: Any) -> Any:
            return vjp(f, *a[:-1])[1](a[-1])

        _check(gradient, (*args, u), order, level + 1, step, rtol, rng)  # u too: a rule must be linear in the cotangent


def _compare(
    f: Callable[..., Any], args: tuple[Any, ...], step: float, rng: np.random.Generator
) -> tuple[Any, list[tuple[float, float, float]]]:
    """The random direction in which the output was projected, and for each argument its derivative along another one.

    That is three numbers: by the rules, by finite differences, and their difference, relative to the larger of the two and to
    the size of the gradient.
    """
    output, pullback = vjp(f, *args)
    check_no_step(output, "check_grads")
    u = map_leaves(lambda a: _direction(a, rng), output)
    gradients = pullback(u)
    directions = map_leaves(lambda a: _direction(a, rng), args)
    found = []
    for i in range(len(args)):
        numeric = _central_difference(lambda *a: _inner(u, f(*a)), args, directions, i, step)
        exact = _number(_inner(directions[i], gradients[i]))
        size = max((float(np.linalg.norm(_array(g).ravel())) for g in leaves(gradients[i])), default=0.0)
        found.append((exact, numeric, abs(exact - numeric) / max(abs(exact), abs(numeric), size, 1e-3)))
    return u, found


def double(value: Any) -> Any:
    array = value.data if isinstance(value, Tensor) else value if hasattr(value, "dtype") else np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _direction(array: Any, rng: np.random.Generator) -> Any:
    """A random direction of length 1, of the array's shape, kind and library."""
    shape = np.shape(array)
    v = rng.standard_normal(shape)
    if np.iscomplexobj(array):
        v = v + 1j * rng.standard_normal(shape)
    v = np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))
    return np.asarray(v, like=array) if is_device_array(array) else v


def _inner(direction: Any, values: Any) -> Any:
    """Re <direction, values>, without conjugation, as the convention for complex gradients has it."""
    total: Any = 0.0
    for d, v in zip(leaves(direction), leaves(values), strict=True):
        total = total + np.real(np.sum(d * v)) if np.iscomplexobj(d) or np.iscomplexobj(v) else total + np.sum(d * v)
    return total


def _plain_tensor(array: Any) -> Tensor:
    return Tensor(array, copy=False)


def _array(value: Any) -> Any:
    """On the host, and off the tape, where a function that closes over a tracked Tensor has put it."""
    return to_host(value.data if isinstance(value, Tensor) else value)


def _number(value: Any) -> float:
    return float(_array(value))


def _central_difference(
    scalar: Callable[..., Any], args: tuple[Any, ...], directions: tuple[Any, ...], i: int, h: float
) -> float:
    def moved(t: float) -> float:
        point = map_leaves(lambda a, v: a + t * v, args[i], directions[i])
        return _number(scalar(*map_leaves(_plain_tensor, (*args[:i], point, *args[i + 1 :]))))

    far_left, left, right, far_right = (moved(t * h) for t in (-2, -1, 1, 2))
    return (8 * (right - left) - (far_right - far_left)) / (12 * h)
