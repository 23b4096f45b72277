"""Jacobians, Hessians, and products of the Hessian with vectors, all made from pullbacks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._tree import leaves, map_leaves
from .engine.tensor import Tensor
from .errors import UnsupportedError
from .transforms import Argnum, Recorded, check_arguments, check_no_step, choose, grad, vjp


def jacobian(f: Callable[..., Any], argnum: Argnum = 0, *, holomorphic: bool = False) -> Callable[..., Any]:
    """A function that returns all partial derivatives of ``f(*args)`` by argument ``argnum`` (or several, a tuple).

    For arrays it gives an array of shape ``(*output.shape, *argument.shape)``, one row of it for each element of the output,
    and each row costs one reverse pass. Where the output or the argument is a container, the result is one too: in the place
    of each array of the output stands a container like the argument.

    Args:
        holomorphic: inputs and outputs are complex, ``f`` is complex-differentiable, and the derivatives are ``df/dz``. (For
            other complex functions differentiate by the real and the imaginary part.)

    Raises (when called):
        UnsupportedError: an input or output is complex without ``holomorphic``, or real with it; or an output is an integer
            or a boolean.
        ArgumentError: there is no argument ``argnum``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
        array([[2., 0.],
               [0., 4.]])
    """

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        run = Recorded(*choose(f, argnum, args, kwargs))
        check_no_step(run.output, "jacobian")
        _check_kind("input", run.inputs, holomorphic)
        _check_kind("output", run.output, holomorphic)

        def of_output(output: Any) -> Any:
            columns = _rows(run, output)
            return columns[0] if isinstance(argnum, int) else columns

        return map_leaves(of_output, run.output)

    return transformed


def _rows(run: Recorded, output: Any) -> Any:
    """The derivatives of one array of the output: a tuple with an array or container for each input."""
    shape = np.shape(output)
    size = int(np.prod(shape))
    if size == 0 or not isinstance(output, Tensor):
        return map_leaves(lambda t, primal: _zeros(t, shape, primal), run.inputs, run.primals)
    rows = []
    for i in range(size):
        one = np.zeros_like(output._array, order="C")
        one.reshape(-1)[i] = 1
        rows.append(run.pull(output, one))
    return map_leaves(lambda *parts: np.stack(parts).reshape(shape + np.shape(parts[0]))[()], *rows)


def _zeros(t: Tensor, shape: tuple[int, ...], primal: Any) -> Any:
    zeros = np.zeros_like(t._array, shape=shape + t.shape)
    return Tensor(zeros, copy=False) if isinstance(primal, Tensor) else zeros[()]


def _check_kind(what: str, tree: Any, holomorphic: bool) -> None:
    for leaf in leaves(tree):
        dtype = leaf.dtype if hasattr(leaf, "dtype") else np.dtype(type(leaf))
        if (dtype.kind == "c") != holomorphic:
            way_out = (
                "with holomorphic=True inputs and outputs are complex"
                if holomorphic
                else "pass holomorphic=True if the function is complex-differentiable, or differentiate by the real and the "
                "imaginary part"
            )
            raise UnsupportedError(f"jacobian: an {what} has dtype {dtype}: {way_out}")


def hessian(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns all second partial derivatives of ``f(*args)`` with respect to argument ``argnum``.

    For an ``f`` that returns one number and an argument of shape ``(n,)`` that is the matrix ``(n, n)``; in general the
    shape is ``(*output.shape, *argument.shape, *argument.shape)``, and containers nest as in :func:`jacobian`, of which
    this is the jacobian: ``n`` reverse passes through the recorded gradient. For products with vectors :func:`hvp` costs two.

    Raises (when called): as :func:`jacobian`.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
        array([[4., 2.],
               [2., 0.]])
    """
    return jacobian(jacobian(f, argnum), argnum)


def hvp(f: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]) -> tuple[Any, ...]:
    """The Hessian of ``f`` at ``primals`` times ``vectors``, without the Hessian: the change of the gradient along ``vectors``.

    The Hessian is symmetric, so that this is the pullback of the gradient: one pass back through a recorded pass back
    (Pearlmutter 1994).

    Args:
        f: returns one real number.
        primals: its arguments, a tuple or list; all are differentiated.
        vectors: as ``primals``, with arrays of the same shapes.

    Returns:
        A tuple like ``primals``.

    Raises:
        UnsupportedError: ``f`` returned something other than a real scalar.
        ArgumentError, ShapeError, DTypeError: ``vectors`` is not like ``primals``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hvp(lambda x: x[0] ** 2 * x[1], [np.array([1.0, 2.0])], [np.array([1.0, 0.0])])  # the first column
        (array([4., 2.]),)
    """
    check_arguments(primals, vectors, "primals", "vectors")
    _, pullback = vjp(grad(f, tuple(range(len(primals)))), *primals)
    return pullback(tuple(vectors))
