"""The methods of ufuncs: ``np.add.reduce``, ``np.multiply.accumulate``, ``np.subtract.outer`` ..."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.methods import values_of
from ..engine.primitive import Primitive
from ..engine.registry import registry
from ..errors import UnsupportedError
from .reductions import logsumexp  # importing it also declares the rules of all ufuncs, which the loop below needs

REDUCE: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.fmax: np.nanmax,
    np.fmin: np.nanmin, np.logaddexp: logsumexp,
}  # fmt: skip


class UfuncMethod:
    """A method of a ufunc on Tensors, written as a composition of NumPy functions."""

    def __init__(self, ufunc: np.ufunc, method: str, composition: Callable[..., Any]) -> None:
        self.name = f"np.{ufunc.__name__}.{method}"
        self.composition = composition
        registry[ufunc, method] = self

    def call_numpy(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run the call with the arguments from NumPy's protocols."""
        return self.composition(*args, **kwargs)


def _over(function: Callable[..., Any], array: Any, axis: Any = 0, **keywords: Any) -> Any:
    return function(array, axis=axis, **keywords)


def _running_extreme(ufunc: np.ufunc, array: Any, axis: int = 0, **keywords: Any) -> Any:
    """Return the running extreme. Its gradient goes to the latest element that attains it."""
    if keywords:
        raise UnsupportedError(f"np.{ufunc.__name__}.accumulate of a Tensor does not take {', '.join(keywords)}")
    values = np.swapaxes(values_of(array), axis, -1)
    attained = (values == ufunc.accumulate(values, axis=-1)) | np.isnan(values)
    latest = np.maximum.accumulate(np.where(attained, np.arange(values.shape[-1]), 0), axis=-1)
    return np.take_along_axis(array, np.swapaxes(latest, axis, -1), axis=axis)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **keywords: Any) -> Any:
    return ufunc(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b, **keywords)


ACCUMULATE: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}

for _ufunc, _function in REDUCE.items():
    UfuncMethod(_ufunc, "reduce", partial(_over, _function))
for _ufunc, _function in ACCUMULATE.items():
    UfuncMethod(_ufunc, "accumulate", partial(_over, _function))
for _ufunc in (np.maximum, np.minimum):
    UfuncMethod(_ufunc, "accumulate", partial(_running_extreme, _ufunc))
for _function, _declared in list(registry.items()):
    _is_binary = isinstance(_function, np.ufunc) and (_function.nin, _function.nout, _function.signature) == (
        2,
        1,
        None,
    )
    if _is_binary and isinstance(_declared, Primitive):
        UfuncMethod(_function, "outer", partial(_outer, _function))
