"""Dropout with reproducible masks."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.internal import dropout, replayed

from ._checks import check_real
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
        DTypeError: x is not floating.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> dropout = nn.Dropout(0.5, rng=np.random.default_rng(0))
        >>> sorted(set(dropout(np.ones(100)).tolist()))
        [0.0, 2.0]
        >>> dropout.eval()(np.ones(3)).tolist()
        [1.0, 1.0, 1.0]
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
