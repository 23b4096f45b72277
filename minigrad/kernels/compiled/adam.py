"""A step of Adam in one pass over memory."""

import math

import numpy as np

from ...engine.types import Array
from . import elementwise
from .arrays import TINY, over_elements, plain


def adam_step(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    correction1: float,
    correction2: float,
) -> None:
    """One step of Adam: ``p``, and its means ``m`` and ``v``, are changed in place by the gradient ``g``.

    ``correction1`` is ``1 - beta1**t`` in step t, and ``correction2`` likewise. What is not contiguous or not of the dtype of
    ``p`` is copied and written back; what is neither float32 nor float64 is computed in float64.
    """
    dtype = p.dtype if p.dtype in TINY else np.dtype(np.float64)
    written = [a if a.flags.carray and a.dtype == dtype else np.array(a, dtype, order="C") for a in (p, m, v)]
    numbers = (lr / correction1, beta1, beta2, 1 / math.sqrt(correction2), eps)
    over_elements(elementwise.adam, *written, plain(g, dtype), numbers=numbers)
    for array, changed in zip((p, m, v), written):
        if array is not changed:
            array[...] = changed
