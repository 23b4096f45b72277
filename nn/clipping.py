"""Gradient clipping, between ``backward()`` and ``optimizer.step()``."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.internal import Array, to_host

from .optimizer import distinct


def clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients together so that their norm, taken as one long vector, is at most ``max_norm``.

    Pascanu, Mikolov and Bengio 2013, arXiv:1211.5063, algorithm 1.

    Returns:
        The norm before. ``max_norm=math.inf`` only measures it.

    Raises:
        ArgumentError: a gradient holds NaN or infinity; nothing has been scaled. Catch it and skip the step, or find out
            where it comes from. Or max_norm is not positive.
        GraphError: one of the parameters was computed.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [3.0, 4.0]).sum().backward()
        >>> nn.clip_grad_norm([weight], 1.0)
        5.0
        >>> weight.grad.numpy().round(4)  # shorter, in the same direction
        array([0.6, 0.8])
    """
    if not max_norm > 0:
        raise ArgumentError(f"max_norm must be positive, got {max_norm!r}")
    tensors = [t for t in distinct(parameters) if t.grad is not None]
    norm = math.hypot(*(_norm(t.grad.data) for t in tensors if t.grad is not None))
    if not math.isfinite(norm):
        bad = next((t for t in tensors if t.grad is not None and not np.isfinite(t.grad.data).all()), tensors[0])
        raise ArgumentError(
            f"the gradient of {bad._describe()} is not finite (the norm of all is {norm}): nothing was scaled"
        )
    if norm > max_norm:
        _change_grads(tensors, lambda g, out: np.multiply(g, max_norm / norm, out=out))
    return norm


def clip_grad_value(parameters: Iterable[Tensor], max_value: float) -> None:
    """Bring each element of each gradient into [-max_value, max_value]; NaN stays NaN.

    Raises:
        ArgumentError: max_value is not positive.
        GraphError: one of the parameters was computed.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [3.0, -4.0]).sum().backward()
        >>> nn.clip_grad_value([weight], 3.5)
        >>> weight.grad.tolist()  # in another direction
        [3.0, -3.5]
    """
    if not max_value > 0:
        raise ArgumentError(f"max_value must be positive, got {max_value!r}")
    tensors = [t for t in distinct(parameters) if t.grad is not None]
    _change_grads(tensors, lambda g, out: np.clip(g, -max_value, max_value, out=out))


def _norm(g: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        norm = math.sqrt(float(to_host(np.vdot(g, g).real)))
        if math.isfinite(norm):
            return norm
        largest = float(to_host(np.max(np.abs(g))))  # the squares may only have been too large for the dtype
        return largest * float(to_host(np.linalg.norm(g / largest)))


def _change_grads(tensors: list[Tensor], function: Callable[[Array, Array], Array]) -> None:
    """Change gradients in place; those of ``create_graph`` are themselves on the tape and are replaced."""
    for t in tensors:
        assert t.grad is not None
        if t.grad.requires_grad:
            t.grad = function(t.grad.data, None)
        else:
            function(t.grad.data, t.grad.data)
