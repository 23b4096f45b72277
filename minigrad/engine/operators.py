"""The hot path: ``x * y`` and ``x.tanh()``, which are what a program of small arrays spends its time on.

What is specialised here does what ``Primitive.__call__`` does, written out for one or two arguments without keywords, in a
third less time. Whatever is not the plain case (nothing to record, a context that watches, a list, an error) goes to the
primitive itself; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import NUMBERS, SCALARS
from .kernels import Kernel
from .observers import in_any_thread
from .primitive import Primitive
from .registry import operators, primitives, when_declared
from .tape import NO_KEYWORDS, new_entry
from .tensor import Tensor, make_tensor

_ndarray, _generic = np.ndarray, np.generic


def specialise(primitive: Primitive) -> None:
    """Let the operators of Tensors call a form of ``primitive`` that is faster, if it is a ufunc of one or two arguments."""
    function = primitive.function
    if isinstance(function, np.ufunc) and primitive.arity <= 2 and function.nout == 1:
        specialised = _unary(primitive) if primitive.arity == 1 else _binary(primitive)
        if kernel := primitive.kernels.get(_ndarray):  # which the specialised form knows nothing of
            specialised = _unless_large(primitive, specialised, kernel) if kernel.least else primitive
        operators[function] = specialised


def _unary(primitive: Primitive) -> Callable[[Tensor], Any]:
    function, plans = primitive.function, primitive._plans

    def operate(x: Tensor) -> Any:
        node = x._node
        plan = plans.get(3)
        if node is None or in_any_thread or plan is None:
            return primitive(x)
        try:
            ans = function(x._array)
        except Exception:
            return primitive(x)  # says what is wrong
        if type(ans) is not _ndarray and isinstance(ans, _generic):  # a scalar of NumPy's, where there are no axes
            ans = np.asarray(ans)
        return make_tensor(ans, new_entry(plan, [node], plan.keep((x._array, ans, None, NO_KEYWORDS)), ans))

    return operate


def _power(x: Any, y: Any) -> Any:
    """``x ** 2`` as a product, as NumPy's ``**`` computes it: the bits of np.power in a quarter of its time."""
    return np.square(x) if type(y) in (int, float) and y == 2 and x.dtype.char in "fd" else np.power(x, y)


def _binary(primitive: Primitive) -> Callable[[Any, Any], Any]:
    function, plans = _power if primitive.function is np.power else primitive.function, primitive._plans

    def operate(x: Any, y: Any) -> Any:
        needs = 4  # a leading 1, then a bit for each argument that needs a gradient
        if isinstance(x, Tensor):
            x_node, x_data = x._node, x._array
            if x_node is not None:
                needs = 5
        elif type(x) in SCALARS or (type(x) is _ndarray and x.dtype.kind in NUMBERS):
            x_node, x_data = None, x
        else:
            return primitive(x, y)
        if isinstance(y, Tensor):
            y_node, y_data = y._node, y._array
            if y_node is not None:
                needs += 2
        elif type(y) in SCALARS or (type(y) is _ndarray and y.dtype.kind in NUMBERS):
            y_node, y_data = None, y
        else:
            return primitive(x, y)
        plan = plans.get(needs)
        if plan is None or in_any_thread:
            return primitive(x, y)
        try:
            ans = function(x_data, y_data)
        except Exception:
            return primitive(x, y)
        if type(ans) is not _ndarray and isinstance(ans, _generic):
            ans = np.asarray(ans)
        kept = plan.keep((x_data, y_data, ans, None, NO_KEYWORDS))
        return make_tensor(ans, new_entry(plan, [x_node, y_node], kept, ans))

    return operate


def _unless_large(primitive: Primitive, small: Callable[..., Any], kernel: Kernel) -> Callable[[Any, Any], Any]:
    """``small``, but the primitive where the kernel may have something to do."""

    def operate(x: Any, y: Any) -> Any:
        array = x._array if isinstance(x, Tensor) else x
        if type(array) is _ndarray and (array.size >= kernel.least or array.ndim > 2 == getattr(y, "ndim", 0)):
            return primitive(x, y)
        return small(x, y)

    return operate


when_declared.append(specialise)
for _declared in list(primitives.values()):  # before this file was read
    specialise(_declared)
