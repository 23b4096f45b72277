"""Gradient clipping, to be called between ``backward()`` and ``optimizer.step()``."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.internal import Array, array_of, to_host

from ._checks import check_above_zero
from .optimizer import distinct, precision


def clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients by one factor so that the norm of their concatenation is at most ``max_norm``.

    If the norm exceeds ``max_norm``, the factor is ``max_norm / norm``. Source: Pascanu, Mikolov and Bengio 2013,
    arXiv:1211.5063, algorithm 1.

    Returns:
        The norm before scaling. ``max_norm=math.inf`` only measures it.

    Raises:
        ArgumentError: max_norm is not positive, or a gradient contains NaN or infinity. Nothing has been scaled. Catch the
            error to skip the step, or find the cause with ``minigrad.detect_anomaly()``.
        GraphError: one of the parameters was computed.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [3.0, 4.0]).sum().backward()
        >>> nn.clip_grad_norm([weight], 1.0)
        5.0
        >>> weight.grad.numpy().round(4)  # the same direction
        array([0.6, 0.8])
    """
    check_above_zero(max_norm=max_norm)
    max_norm = float(max_norm)
    tensors = [t for t in distinct(parameters) if t.grad is not None]
    arrays = [array_of(t.grad) for t in tensors if t.grad is not None]  # not ``data``, which prepares for a change
    norm = math.hypot(*map(_norm, arrays))
    if not math.isfinite(norm):
        bad = next((t for t, g in zip(tensors, arrays) if not np.isfinite(g).all()), tensors[0])
        raise ArgumentError(
            f"the gradient of {bad._describe()} is not finite (the norm of all gradients is {norm}): nothing was scaled"
        )
    if norm > max_norm:
        _change_grads(tensors, lambda g, out: np.multiply(g, max_norm / norm, out=out))
    return norm


def clip_grad_value(parameters: Iterable[Tensor], max_value: float) -> None:
    """Clip each element of each gradient to [-max_value, max_value]; NaN stays NaN.

    Raises:
        ArgumentError: max_value is not positive.
        GraphError: one of the parameters was computed.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [3.0, -4.0]).sum().backward()
        >>> nn.clip_grad_value([weight], 3.5)
        >>> weight.grad.tolist()  # the direction changes
        [3.0, -3.5]
    """
    check_above_zero(max_value=max_value)
    max_value = float(max_value)
    tensors = [t for t in distinct(parameters) if t.grad is not None]
    _change_grads(tensors, lambda g, out: np.clip(g, -max_value, max_value, out=out))


def _norm(g: Array) -> float:
    if not g.size:
        return 0.0
    g = g.astype(precision(g.dtype), copy=False)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        squares, info = float(to_host(np.vdot(g, g).real)), np.finfo(g.dtype)
        if info.tiny / info.eps <= squares < math.inf:
            return math.sqrt(squares)
        largest = float(to_host(np.max(np.abs(g))))  # the squares may have left the range of the dtype
        return largest * float(to_host(np.linalg.norm(g / largest))) if 0 < largest < math.inf else largest


def _change_grads(tensors: list[Tensor], function: Callable[[Array, Array], Array]) -> None:
    """Change gradients in place, but replace those of ``create_graph``, which are on the tape themselves."""
    for t in tensors:
        assert t.grad is not None
        g = t.grad.data
        if t.grad.requires_grad:
            t.grad = function(g, None)
        else:
            function(g, g)
