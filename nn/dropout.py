"""Dropout with reproducible masks."""

import numpy as np

from minigrad import Tensor
from minigrad.internal import TensorLike, dropout, replayed

from ._checks import check_probability, check_real
from .init import check_generator
from .module import Module


class Dropout(Module):
    """Set each element to 0 with probability ``p`` in training, and multiply the others by ``1 / (1 - p)``.

    The layer is the identity in evaluation and for ``p = 0``. Srivastava et al. 2014, JMLR 15.

    The counter-based generator Philox (Salmon et al. 2011) computes the mask from ``key``, ``step`` and the shape. Each layer
    draws its ``key`` once, from ``rng``, and ``step`` counts the layer's calls in training. So the mask can be
    reproduced: on any device, in a resumed run that restores ``key`` and ``step``, and in a forward pass that reuses ``step``.

    Args:
        p: the probability, in [0, 1), rounded to a multiple of 1/65536. The factor ``1 / (1 - p)`` uses the rounded p, so the
            expected value of the result is exactly x.
        rng: the generator that draws ``key``. It draws one number for any p, so parameters drawn later do not depend on p.

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
        check_probability(p=p)
        self.p = float(p)
        self.key = int(check_generator(rng).integers(2**63))
        self.step = 0

    def forward(self, x: "TensorLike") -> Tensor:
        x = check_real(x, "Dropout")
        if not self.training or not self.p:
            return x
        step = replayed(self._next_step)  # mg.checkpoint reuses the step when it recomputes this forward pass
        return dropout(x, key=self.key, step=step, threshold=min(round(self.p * 65536), 65535))

    def _next_step(self) -> int:
        self.step += 1
        return self.step - 1

    def extra_repr(self) -> str:
        return f"{self.p:g}"
