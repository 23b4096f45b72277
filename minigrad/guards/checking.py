"""Checking derivatives against finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..device import is_device_array, to_host
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..errors import ArgumentError, MinigradError
from ..transforms.grad import check_no_step, vjp
from .differences import FIRST, ROUNDINGS, Differences, direction, jitter, weights

HIDDEN = 2.0**-12  # elements below this fraction of the argument's largest are checked again without the larger ones
NOISE = 2.0**-10  # the largest roughness, relative to the largest output element, that counts as rounding
TELLS = 2.0**-10  # if the rounding error relative to the derivative exceeds this, larger steps are tried first
SEVERAL = 5  # a derivative is called wrong if it differs by more than this many times the error


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
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    *,
    step: float = FIRST,
    rtol: float = 1e-6,
    seed: int = 0,
) -> None:
    """Compare the derivatives of ``f`` at ``args``, up to ``order``, with finite differences.

    ``f`` is called with Tensors, as ``grad`` calls it.

    Each argument in turn moves along a random direction ``v``, each element in proportion to its size. Central differences
    estimate the derivative of each output element along ``v`` and the error of the estimate. A weighted sum of the estimates,
    in which large and small elements count alike, is compared with the result of the rules. If the two disagree, other steps
    are tried. Only a disagreement beyond the error of the differences is reported, so a wrong rule may go unnoticed at a kink.
    Order 2 checks the gradient of ``f`` in the same way. Everything is computed in double precision.

    Args:
        args: arrays, or nested containers of arrays, floating or complex.
        step: the first step, relative to the size of each element.
        rtol: the allowed difference. Each element of the argument adds a term to the derivative along ``v``; ``rtol`` is
            relative to the sum of the absolute values of these terms.

    Raises:
        GradientError: the derivatives disagree, and the message names the order, the argument and both numbers; or the value
            or a derivative of ``f`` is infinite or NaN.
        UnsupportedError: ``f`` returned an integer or a boolean.
        ArgumentError: ``order`` is less than 1.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = np.array([0.5, 1.0, 2.0])
        >>> mg.check_grads(lambda x: np.sin(x) * x, [x])  # first and second order are right: nothing is raised
    """
    if order < 1:
        raise ArgumentError(f"check_grads needs order >= 1, got {order}")
    rng = np.random.default_rng(seed)
    primals = tuple(map_leaves(double, arg) for arg in args)
    for level in range(1, order + 1):
        function = AtPoint(f, primals)
        if not np.isfinite(function.here).all():
            what = "the value" if level == 1 else "a derivative"
            raise GradientError(
                f"order {level}: {what} of the function is infinite or NaN at these arguments: pass others"
            )
        for i, primal in enumerate(primals):
            found = _disagreement(function, i, primal, step, rtol, rng)
            if found is not None:
                raise GradientError(
                    f"order {level}, argument {i}: the derivative along a random direction is {found[0]:.10g}, "
                    f"finite differences give {found[1]:.10g}"
                )
        f, primals = _gradient(f), (*primals, function.cotangent(rng))  # the next order also moves the cotangent


def _gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: vjp(f, *args[:-1])[1](args[-1])


class AtPoint:
    """A function at a point, with its pullback.

    Attributes:
        values: the arguments, each as one flat array.
        here: the output as one flat array.
        kind: the ``numpy.finfo`` of the least precise array of the output.
    """

    def __init__(self, f: Callable[..., Any], args: Sequence[Any]) -> None:
        self._f = f
        self._args = args
        self._output, self._pullback = vjp(f, *args)
        check_no_step(self._output, "check_grads")
        self.values = [_row(arg) for arg in args]
        self.here = _row(self._output)
        kinds = [np.finfo(getattr(leaf, "dtype", np.float64)) for leaf in leaves(self._output)]
        self.kind = max(kinds, key=lambda kind: float(kind.eps), default=np.finfo(np.float64))

    def moved(self, moves: Sequence[Array | None]) -> list[Any]:
        """Return the arguments, each moved by a flat array, or unchanged for None."""
        return [arg if v is None else _shaped(_row(arg) + v, arg) for arg, v in zip(self._args, moves)]

    def at(self, moves: Sequence[Array | None]) -> Array:
        """Return the output for moved arguments, or NaN if the function raises there."""
        try:
            return _row(self._f(*map_leaves(lambda a: Tensor(a, copy=False), self.moved(moves))))
        except (ArithmeticError, ValueError):
            return np.full(self.here.shape, np.nan)

    def along(self, i: int, v: Array, t: float) -> Array:
        """Return the output for argument ``i`` moved by ``t v``."""
        return self.at([t * v if j == i else None for j in range(len(self._args))])

    def beside(self, moves: Sequence[Array | None]) -> AtPoint:
        """Return the same function at moved arguments."""
        return AtPoint(self._f, self.moved(moves))

    def differences(self, i: int, v: Array, step: float) -> Differences:
        return Differences(lambda t: self.along(i, v, t), self.here, self.kind, step)

    def pulled(self, u: Array) -> list[Array]:
        """Return the cotangents of the arguments for the cotangent ``u`` of the output, each as one flat array."""
        return [_row(g) for g in self._pullback(_shaped(u, self._output))]

    def cotangent(self, rng: np.random.Generator) -> Any:
        """Return a random cotangent of the output, of length 1."""
        drawn = rng.standard_normal(self.here.shape) + 1j * rng.standard_normal(self.here.shape)
        return _shaped(drawn / max(float(np.linalg.norm(drawn)), 1e-12), self._output)


def parts_along(v: Array, pulled: Array) -> Array:
    """Return what each element adds to the derivative along ``v``: 0 where ``v`` is 0, even if ``pulled`` is infinite."""
    return np.where(v == 0, 0.0, pulled) * v


@np.errstate(all="ignore")  # a step may leave the domain of the function
def _disagreement(
    function: AtPoint, i: int, arg: Any, step: float, rtol: float, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return the derivatives with respect to argument ``i``, by rules and by differences, or None if they agree."""
    v = _row(map_leaves(lambda a: direction(to_host(a), rng), arg))
    while v.any():
        exact, numeric, allowed = _compared(function, i, v, function.differences(i, v, step), rtol, rng)
        if not abs(exact - numeric) <= allowed:  # also true for NaN
            return exact, numeric
        v = np.where(abs(v) < HIDDEN * abs(v).max(), v, 0.0)
    return None


def _compared(
    function: AtPoint, i: int, v: Array, found: Differences, rtol: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the derivatives along ``v`` from the rules and from differences, and their allowed difference.

    The first step is enough if they agree. All steps are tried before a disagreement is returned.
    """
    eps = float(function.kind.eps)
    largest = max(float(abs(row).max(initial=1.0)) for row in (*function.values, function.here))
    for _ in _attempts(function, found, eps, largest, rng):
        u = weights(found, rng)
        parts = parts_along(v, function.pulled(u)[i])
        exact, numeric = float(np.sum(parts).real), float(np.sum(u * found.best.slope).real)
        size = float(np.sum(abs(parts)))
        passed = rtol * max(size, abs(numeric))
        if found.reliable.all() and abs(exact - numeric) <= passed:
            return exact, numeric, passed
    if math.isfinite(exact) and not found.reliable.any():
        return exact, numeric, math.inf
    rough = float(np.sum(abs(u) * np.where(found.reliable, found.roughness() / found.best.step, 0.0)))
    own = sum(found.errors(abs(u)).values()) + ROUNDINGS * (rough + eps * size)
    flat = found.best.slope == 0  # rounding of large numbers inside the function may hide a small change
    unseen = SEVERAL * ROUNDINGS * eps * largest * float(np.sum(abs(u) * np.where(flat, 1 / found.best.step, 0.0)))
    seen = float(np.sum(parts_along(v, function.pulled(np.where(flat, 0.0, u))[i])).real)
    rounded = ROUNDINGS * eps * largest * float(np.sum(abs(u))) * float(abs(v).max())
    own += min(_wobble(function, i, v, u, rng), rounded)  # capped: a rule wrong only here wobbles, too
    return exact, numeric, passed + SEVERAL * own + min(abs(exact - seen), unseen)


def _wobble(function: AtPoint, i: int, v: Array, u: Array, rng: np.random.Generator) -> float:
    """Return how much the derivative changes when the arguments move by a few rounding errors.

    The rules round, too. A gradient that cancels to zero leaves only rounding errors, which differ from point to point.
    """
    eps = float(np.finfo(np.float64).eps)
    beside = [function.beside([eps * jitter(row, rng) for row in function.values]) for _ in range(3)]
    found = [float(np.sum(parts_along(v, point.pulled(u)[i])).real) for point in (function, *beside)]
    return max(found) - min(found)


def _attempts(
    function: AtPoint, found: Differences, eps: float, largest: float, rng: np.random.Generator
) -> Iterator[object]:
    """Yield after the first step, after the estimate of its rounding error, and after each further step."""
    yield None
    rough = found.roughness()
    noise = rough <= NOISE * abs(function.here).max(initial=0.0)  # a rougher result means that the step is too large
    found.count_in(np.where(noise, np.minimum(rough / eps, largest), 0.0))
    yield None
    u = weights(found, rng)
    hidden = found.errors(abs(u))["rounding"] > TELLS * abs(np.sum(u * found.best.slope))
    yield from found.steps(coarse_first=bool(hidden))


def double(value: Any) -> Any:
    array = value.data if isinstance(value, Tensor) else value if hasattr(value, "dtype") else np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _row(values: Any) -> Array:
    """Return all elements of arrays and Tensors as one flat array on the host."""
    return np.concatenate([np.zeros(0), *(np.ravel(to_host(_plain(value))) for value in leaves(values))])


def _shaped(row: Array, like: Any) -> Any:
    """Split a flat array into arrays with the shapes, the kinds and the libraries of ``like``."""
    ends = np.cumsum([np.size(leaf) for leaf in leaves(like)], dtype=int)
    pieces = iter(np.split(row, ends))

    def piece(leaf: Any) -> Any:
        array = next(pieces).reshape(np.shape(leaf))
        array = array if np.iscomplexobj(leaf) else array.real.copy()
        return np.asarray(array, like=_plain(leaf)) if is_device_array(_plain(leaf)) else array

    return map_leaves(piece, like)


def _plain(value: Any) -> Any:
    """Return the plain array of ``value``. The value is a Tensor if the function closes over a tracked Tensor."""
    return value.data if isinstance(value, Tensor) else value
