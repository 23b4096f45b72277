"""NumPy functions without a derivative: given a Tensor they see its array and give plain values."""

from typing import Any

import numpy as np

from .._primitive import PlainFunction

VALUES: tuple[Any, ...] = (
    np.shape, np.ndim, np.size, np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.signbit, np.isreal,
    np.iscomplex, np.isrealobj, np.iscomplexobj, np.allclose, np.isclose, np.array_equal, np.array_equiv, np.argmax,
    np.argmin, np.argsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted, np.any, np.all,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.result_type, np.can_cast, np.may_share_memory, np.shares_memory, np.array_repr,
    np.array_str, np.array2string,
)  # fmt: skip
TENSORS: tuple[Any, ...] = (np.zeros_like, np.ones_like, np.full_like, np.empty_like)

for _function in VALUES:
    PlainFunction(_function, gives_tensor=False)
for _function in TENSORS:
    PlainFunction(_function, gives_tensor=True)
