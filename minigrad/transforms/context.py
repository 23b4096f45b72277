"""The context of a :class:`Function`: what its forward keeps for its backward, and where each value comes from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import is_
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..device import is_device_array, zeros
from ..engine import observers
from ..engine.tape import Entry
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array
from ..errors import GraphError

_CONSTANT = (int, str, type(None), type(...), range, type, ModuleType, np.bool_, np.integer, np.dtype, np.ufunc)


class FunctionContext:
    """``ctx``: the object that passes values from the forward of one :class:`Function` call to its backward.

    Assign values to attributes of any name, or pass them to :meth:`save_for_backward`. What a second derivative does with a
    value depends on what it is:

    1. An input or an output is connected to the tape, also inside tuples, lists, dicts, dataclasses, and the attributes of an
       object of a plain class.
    2. Integers, booleans, text, None, dtypes, functions without a closure, arrays of integers or booleans, and arguments of
       ``apply`` that are not Tensors are constants. So are floating numbers, unless forward takes numbers out of a Tensor
       (``t.numpy()``, ``t.item()``). What backward finds elsewhere is a constant, too, so write no results there.
    3. Any other value, such as an intermediate result, is *doubtful*. First derivatives are right, and a second derivative
       with respect to the inputs raises GraphError.

    Attributes:
        needs_input_grad: one boolean per argument of ``apply``: whether it needs a gradient.
        saved_tensors: in backward, the saved values in their order.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep these Tensors, arrays or Nones until the backward pass is over."""
        self.saved_tensors = values


class _Reads(threading.local):
    """Counts how often code of this thread took floating numbers out of a Tensor."""

    count = 0

    def note(self, tensor: Any) -> None:
        self.count += tensor.dtype.kind in "fc"


reads = _Reads()
observers.handed_out.append(reads.note)
observers.numbers_read.append(reads.note)


class Slot(int):
    """Stands in a context for an array or a Tensor: the index of its array in ``entry.kept``."""


class Kept:
    """What the context of one call keeps.

    Attributes:
        values: the array of each slot, for the entry.
        origins: where each is from ("argument" i, "ans" i, which is an output, or "saved"), and whether it was a Tensor.
        doubtful: the names of the doubtful values.
    """

    def __init__(
        self, ctx: FunctionContext, args: Sequence[Any], outputs: Sequence[Any], arrays: Any, plain: Any, read: bool
    ) -> None:
        """``arrays`` are those of ``outputs``. ``plain`` has the arguments without Tensors. For ``read`` see _is_constant."""
        tensors, given = [arg for arg in args if isinstance(arg, Tensor)], {*map(id, plain)}
        shared = {id(t._array) for t in tensors for u in tensors if t._array is u._array and t._node is not u._node}
        shared |= given & {id(t._array) for t in tensors}  # t.numpy() and t.detach() share the array of t
        given -= shared
        origins = {id(output): ("ans", i) for found in (outputs, arrays) for i, output in enumerate(found)}
        origins |= {id(arg): ("argument", i) for i, arg in enumerate(args)}
        origins |= {id(t._array): ("saved", 0) if id(t._array) in shared else origins[id(t)] for t in tensors}
        self.values, self.origins, self.doubtful = list[Any](), list[tuple[str, int, bool]](), list[str]()

        def replaced(path: Any, value: Any) -> Any:
            array, wrapped = (value._array, True) if isinstance(value, Tensor) else (value, False)
            is_array = isinstance(array, (np.ndarray, np.generic)) or is_device_array(array)
            kind, i = (is_array and (origins.get(id(value)) or origins.get(id(array)))) or ("saved", 0)
            if kind == "saved" and wrapped and value._node is not None:
                return value  # it is at its own node
            if kind == "saved" and id(value) not in given and not _is_constant(array, read):
                self.doubtful.append(_spelled(path))
            if not is_array:
                return value
            self.values.append(arrays[i] if kind == "ans" else array)
            self.origins.append((kind, i, wrapped))
            return Slot(len(self.values) - 1)

        done: dict[int, Any] = {}
        self._all = {name: rebuilt(f"ctx.{name}", value, replaced, done) for name, value in vars(ctx).items()}
        self._filled = [name for name, value in vars(ctx).items() if self._all[name] is not value]

    def context(self, fill: Callable[[Any, Any], Any]) -> FunctionContext:
        """Return a context with ``fill(path, slot)`` in place of each slot; ``fill`` returns other values as they are."""
        ctx, done = object.__new__(FunctionContext), dict[int, Any]()
        vars(ctx).update(self._all)
        for name in self._filled:
            vars(ctx)[name] = rebuilt(name, self._all[name], fill, done)
        return ctx


def rebuilt(path: Any, value: Any, leaf: Callable[[Any, Any], Any], done: dict[int, Any]) -> Any:
    """Return ``value`` with ``leaf(path, v)`` for each v in its containers. Only containers that this changes are copied."""
    kind: Any = type(value)
    items: Any = None
    if kind is not Slot and isinstance(value, _CONSTANT):
        return value
    if kind in (tuple, list) or (
        isinstance(value, tuple) and hasattr(kind, "_fields") and not hasattr(value, "__dict__")
    ):
        items, form = dict(enumerate(value)), "{}[{}]"
    elif kind is dict and all(isinstance(key, (str, int)) for key in value):
        items, form = value, "{}[{!r}]"
    elif kind.__new__ is object.__new__ and not isinstance(value, Tensor) and not is_device_array(value):
        state, form = object.__getstate__(value), "{}.{}"  # attributes, or (attributes, slots)
        items = {**(state[0] or {}), **state[1]} if isinstance(state, tuple) else state
    if items is None or done.get(id(value)) is leaf:  # the latter contains itself
        return leaf(path, value)
    if id(value) not in done:
        done[id(value)] = leaf
        new = {key: rebuilt((form, path, key), item, leaf, done) for key, item in items.items()}
        done[id(value)] = value if all(map(is_, new.values(), items.values())) else _like(value, new)
    return done[id(value)]


def _like(value: Any, items: dict[Any, Any]) -> Any:
    """Return a container of the kind of ``value`` with these items."""
    if isinstance(value, (tuple, list)):
        return type(value)(*items.values()) if hasattr(value, "_fields") else type(value)(items.values())
    if isinstance(value, dict):
        return items
    made = object.__new__(type(value))
    for key, item in items.items():
        object.__setattr__(made, key, item)  # a dataclass may be frozen
    return made


def _spelled(path: Any) -> str:
    return path if isinstance(path, str) else path[0].format(_spelled(path[1]), path[2])


def _is_constant(value: Any, read: bool) -> bool:
    """Return whether a value depends on the inputs by steps only. ``read``: forward took numbers out of a Tensor."""
    if isinstance(value, (float, complex, np.inexact)):
        return not read
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        parts = (getattr(value, name, None) for name in ("__closure__", "__defaults__", "__kwdefaults__", "__self__"))
        return all(part is None or isinstance(part, ModuleType) for part in parts)
    return getattr(getattr(value, "dtype", None), "kind", "O") in "biu"


class Doubt:
    """The plan of a 0 that is added to a gradient made of ``doubtful`` values. Its derivative raises."""

    owned = False
    positions = extras = constants = names = ()

    def __init__(self, primitive: Any, doubtful: Sequence[str]) -> None:
        self.primitive, self.doubtful = primitive, doubtful

    def added_to(self, gradient: Any, parents: list[Any]) -> Tensor:
        zero = zeros((), getattr(gradient, "_array", gradient), gradient.dtype)
        return gradient + make_tensor(zero, Entry(self, parents, (), zero))

    def pull(self, entry: Entry, g: Array) -> Sequence[Any]:
        raise GraphError(
            f"a second derivative of {self.primitive.name} would be wrong: forward kept {' and '.join(self.doubtful)}, which "
            "may depend on the inputs and is neither an input nor an output, so it would count as a constant. Keep inputs and "
            "outputs in ctx and compute the rest from them in backward; pass a constant to apply as a further argument, or "
            "make it in backward"
        )

    pull_tensors = pull
