"""Dropout with reproducible masks."""

import math
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor, primitive
from minigrad._checkpoint import replayed

from ._checks import beside, check_real
from .init import check_generator
from .module import Module


class Dropout(Module):
    """In training, set each element to 0 with probability ``p`` and multiply the others by ``1 / (1 - p)``.

    In evaluation, and for ``p = 0``, the identity. Srivastava et al. 2014, JMLR 15.

    The mask is a function of ``key``, ``step`` and the shape alone: it comes from the counter-based generator Philox (Salmon
    et al. 2011). ``rng`` gives each layer its own ``key``, once; ``step`` counts the layer's calls in training. So a
    run that is resumed with both restored, a forward pass that is repeated with an earlier ``step``, and a run on another
    device all drop the same elements.

    Args:
        p: the probability, in [0, 1). It is rounded to the nearest 65536th, and the scale follows, so that the mean stays
            exact.
        rng: draws ``key``; exactly one number, whatever p is, so that p does not change the weights drawn after it.

    Raises:
        ArgumentError: p is not in [0, 1).
    """

    def __init__(self, p: float = 0.1, *, rng: np.random.Generator) -> None:
        if not 0 <= p < 1:
            raise ArgumentError(f"the dropout probability p must be in [0, 1), got {p!r}")
        self.p = p
        self.key = int(check_generator(rng).integers(2**63))
        self.step = 0

    def forward(self, x: Any) -> Tensor:
        x = check_real(x, "Dropout")
        if not self.training or not self.p:
            return x
        step = replayed(self._next_step)  # the same when a checkpoint runs this a second time
        return dropout(x, key=self.key, step=step, threshold=min(round(self.p * 65536), 65535))

    def _next_step(self) -> int:
        self.step += 1
        return self.step - 1

    def extra_repr(self) -> str:
        return f"{self.p:g}"


def _mask(x: Any, key: int, step: int, threshold: int) -> Any:
    """0 where an element of x is dropped, elsewhere what makes up for it: 16 random bits an element, four from a number."""
    size = math.prod(x.shape)
    philox = np.random.Philox(key=np.array([key, step], np.uint64))
    bits = philox.random_raw(-(-size // 4)).view(np.uint16)[:size].reshape(x.shape)
    return beside(np.multiply(bits >= threshold, _scale(threshold), dtype=x.dtype), x)


def _scale(threshold: int) -> float:
    return 65536 / (65536 - threshold)


def _dropout(x: Any, /, key: int, step: int, threshold: int) -> Any:
    """``x`` with ``threshold`` of every 65536 elements set to 0, and the others scaled so that the mean stays."""
    return x * _mask(x, key, step, threshold)


def _dropout_forward(x: Any, key: int, step: int, threshold: int) -> tuple[Any, Any]:
    mask = _mask(x, key, step, threshold)
    return x * mask, mask


def _dropout_backward(g: Any, needs: Any, saved: Any) -> tuple[Any]:
    return (g * saved,)


def _cuda_forward(x: Any, key: int, step: int, threshold: int) -> Any:
    """The same mask, made on the GPU."""
    from minigrad.rules.neural_cuda import dropped

    ans = dropped(x, key, step, threshold, _scale(threshold))
    return NotImplemented if ans is NotImplemented else (ans, None)


def _cuda_backward(g: Any, needs: Any, key: int, step: int, threshold: int) -> tuple[Any]:
    return (_cuda_forward(g, key, step, threshold)[0],)


# Linear in x, and so its own derivative.
dropout: Any = primitive(_dropout, name="dropout").vjp(
    x=lambda g, key, step, threshold: dropout(g, key=key, step=step, threshold=threshold)
)
dropout.kernel(np.ndarray, _dropout_forward, _dropout_backward)
dropout.kernel("cupy", _cuda_forward, _cuda_backward)
