"""Checking derivatives against finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import map_leaves
from ..errors import ArgumentError, MinigradError
from ..transforms.grad import check_no_step, vjp
from .differences import FIRST, AtPoint, double
from .judging import judge_all


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
        check_no_step(function.output, "check_grads")
        if not np.isfinite(function.here).all():
            what = "the value" if level == 1 else "a derivative"
            raise GradientError(
                f"order {level}: {what} of the function is infinite or NaN at these arguments: pass others"
            )
        for i, result in enumerate(judge_all(function, rng, step=step, tolerance=rtol, ties=False)):
            if result.verdict == "wrong" or not math.isfinite(result.exact):
                raise GradientError(f"order {level}, argument {i}: the derivative {result.said(10)}")
        f, primals = _gradient(f), (*primals, function.cotangent(rng))  # the next order also moves the cotangent


def _gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: vjp(f, *args[:-1])[1](args[-1])
