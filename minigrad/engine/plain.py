"""NumPy functions without a derivative. They compute with the array of a Tensor and return plain values."""

import sys
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .functions import PlainFunction, composite
from .registry import registry
from .tensor import Tensor

VALUES: tuple[Any, ...] = (
    np.shape, np.ndim, np.size, np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.signbit, np.isreal,
    np.iscomplex, np.isrealobj, np.iscomplexobj, np.allclose, np.isclose, np.array_equal, np.array_equiv, np.argmax,
    np.argmin, np.argsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted, np.any, np.all,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.result_type, np.can_cast, np.may_share_memory, np.shares_memory, np.array_repr,
    np.array_str, np.array2string, np.nanargmax, np.nanargmin, np.argpartition, np.lexsort, np.digitize,
    np.ix_, np.unravel_index, np.ravel_multi_index, np.tril_indices_from, np.triu_indices_from, np.diag_indices_from,
    np.isin,
)  # fmt: skip
TENSORS: tuple[Any, ...] = (
    np.zeros_like, np.ones_like, np.empty_like, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
    np.right_shift,
)  # fmt: skip
IN_PLACE: dict[Any, str] = {
    np.copyto: "np.where(where, src, dst)",
    np.fill_diagonal: "a.at[np.diag_indices_from(a)].set(val)",
    np.place: "arr.at[mask].set(vals)",
    np.put: "a.ravel().at[ind].set(v)",
    np.put_along_axis: "arr.at[...].set(values) with a full index",
    np.putmask: "np.where(mask, values, a)",
}


class InPlaceFunction:
    """A NumPy function that writes into its argument. A call raises, because the tape may have kept the argument."""

    def __init__(self, function: Any, instead: str) -> None:
        self.instead = instead
        self.message = f"np.{function.__name__} writes into an array, which cannot be recorded: write {instead}"
        registry[function] = self

    def call_numpy(self, args: Any, kwargs: Any) -> Any:
        caller = sys._getframe(2)  # frame 1 is __array_function__
        # a function of NumPy that fills a new array: full, full_like
        if caller.f_globals.get("__name__", "").partition(".")[0] == "numpy":
            raise UnsupportedError(
                f"np.{caller.f_code.co_name} writes a Tensor into a new array, which cannot be recorded: write "
                "np.broadcast_to(t, shape), or np.full_like(u, t) of a Tensor u"
            )
        raise UnsupportedError(self.message)


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    device: Any = None,
) -> Any:
    """Broadcast a fill value that requires a gradient, so that the result stays on the tape."""
    if not (isinstance(fill_value, Tensor) and fill_value.requires_grad):
        keywords = {"dtype": dtype, "order": order, "subok": subok, "shape": shape, "device": device}
        defaults = {"order": "K", "subok": True}  # CuPy's function lacks subok
        given = {k: v for k, v in keywords.items() if v != defaults.get(k)}
        return plain_full_like.call_numpy((a, fill_value), given)
    dtype = np.dtype(dtype or a.dtype)
    if dtype.kind not in "fc":
        raise UnsupportedError(
            f"np.full_like of dtype {dtype} would cut its fill value off from the tape: pass dtype=fill_value.dtype, "
            "or fill_value.detach()"
        )
    return np.broadcast_to(fill_value, np.shape(a) if shape is None else shape).astype(dtype)


for _function in VALUES:
    PlainFunction(_function, gives_tensor=False)
for _function in TENSORS:
    PlainFunction(_function, gives_tensor=True)
for _function, _instead in IN_PLACE.items():
    InPlaceFunction(_function, _instead)

plain_full_like = PlainFunction(np.full_like, gives_tensor=True)
full_like = composite(np.full_like, _full_like)
