"""A step of the optimizer Adam in one pass over memory."""

import math

import numpy as np

from ...engine.types import Array
from . import elementwise
from .arrays import over_elements, plain


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
    """Update the parameter ``p`` and the means ``m`` and ``v`` in place with the gradient ``g``, in one step of Adam.

    In step t ``correction1`` is ``1 - beta1**t`` and ``correction2`` is ``1 - beta2**t``. The step is computed in float32.
    Arrays that are of another dtype or not contiguous are copied, and the results are written back.
    """
    written = [a if a.flags.carray and a.dtype == np.float32 else np.array(a, np.float32, order="C") for a in (p, m, v)]
    numbers = (lr / correction1, beta1, beta2, 1 / math.sqrt(correction2), eps)
    over_elements(elementwise.adam, *written, plain(g), numbers=numbers)
    for array, changed in zip((p, m, v), written):
        if array is not changed:
            array[...] = changed
