"""The context of a :class:`Function`: the values that its forward keeps for its backward, and where each comes from.

A backward that is recorded may be differentiated. Then a kept value that depends on the inputs must not count as a constant.
An input or an output is connected to its node of the tape, wherever the forward has put it: in an attribute, a list, a dict, a
dataclass. :class:`Origins` tells which of the other values cannot depend on the inputs. The rest are *doubtful*: the gradients
that a backward computes from them are right, and a derivative of these gradients with respect to the inputs raises an error.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral, Number
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from .._tree import leaves
from ..device import zeros
from ..engine import observers
from ..engine.functions import Composite
from ..engine.primitive import Primitive
from ..engine.tape import Entry, Output, new_entry
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array
from ..errors import GraphError

_INERT = (
    type(None), str, type, ModuleType, np.ufunc, np.dtype, range, Primitive, Composite, type(Ellipsis),
)  # fmt: skip
"""The types of values that do not depend on the inputs, or only by steps."""


class FunctionContext:
    """``ctx``: the object that passes values from the forward of one :class:`Function` call to its backward.

    Assign values to attributes of any name, or pass them to :meth:`save_for_backward`. Inputs and outputs stay connected to
    the tape in both, also inside lists, tuples, dicts and dataclasses, so a backward that uses differentiable operations can
    itself be differentiated. Any other value that may depend on the inputs, such as an intermediate result, allows first
    derivatives only: a second derivative with respect to the inputs raises GraphError.

    Integers, booleans, text, arguments that require no gradient, and numbers that the code of the forward names are constants.
    Other arrays and numbers are constants if the forward reads no numbers from a Tensor (``t.numpy()``, ``t.item()``). A
    backward cannot see which values it takes from elsewhere, such as a variable of the module: they count as constants.

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


def constants_of(forward: Any) -> list[Any]:
    """Return the numbers that the code of ``forward`` names before it runs: literals, globals, variables of its closure."""
    code = getattr(forward, "__code__", None)
    if code is None:
        return []
    named = [*map(forward.__globals__.get, code.co_names), *map(_content, forward.__closure__ or ())]
    return [value for value in (*code.co_consts, *named) if isinstance(value, Number)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return None


class watch_reads:
    """A block that notes in ``found`` whether any code read floating numbers from a Tensor as plain values."""

    def __init__(self) -> None:
        self.found = False

    def _note(self, tensor: Any) -> None:
        self.found = self.found or tensor.dtype.kind in "fc"

    def __enter__(self) -> watch_reads:
        observers.handed_out.append(self._note)
        observers.numbers_read.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        observers.handed_out.remove(self._note)
        observers.numbers_read.remove(self._note)


class KeptFrom(NamedTuple):
    """Where a kept value comes from: ``kind`` is "argument", "ans" (an output), "constant" or "saved" (somewhere else)."""

    kind: str
    position: int = 0


class Origins:
    """The origins of the values that the forward of one call has kept.

    Attributes:
        read: the forward read numbers or arrays from a Tensor, so a plain value may depend on the inputs, too.
    """

    _args: Sequence[Any]
    _outputs: Sequence[Any]
    _ans: Sequence[Any]

    def __init__(
        self, constants: Sequence[Any], args: Sequence[Any], kwargs: Any, outputs: Sequence[Any], ans: Any, read: bool
    ) -> None:
        self.read = read
        self._known: dict[int, tuple[Any, KeptFrom]] = {}  # by id, with the value, so that the id stays its own
        self._args, self._outputs, self._ans = args, outputs, ans
        plain = leaves([kwargs, *(arg for arg in args if not isinstance(arg, Tensor))])
        self._constants = {*map(id, plain), *map(id, constants)}

    def of(self, value: Any) -> KeptFrom:
        """Return the origin of a value while the forward's inputs and outputs are at hand."""
        for i, arg in enumerate(self._args):
            if value is arg:
                return KeptFrom("argument", i)
        for i, output in enumerate(self._outputs):
            if value is output:
                return KeptFrom("ans", i)
        if id(value) in self._constants:
            return KeptFrom("constant")
        array = value._array if isinstance(value, Tensor) else value
        same = [i for i, arg in enumerate(self._args) if isinstance(arg, Tensor) and arg._array is array]
        if same:  # t.numpy() and t.detach() share the array of t
            alike = len({id(self._args[i]._node) for i in same}) == 1
            return KeptFrom("argument", same[0]) if alike else KeptFrom("saved")
        index = next((i for i, array_out in enumerate(self._ans) if array_out is array), None)
        return KeptFrom("saved") if index is None else KeptFrom("ans", index)

    def settle(self, ctx: FunctionContext) -> list[tuple[Any, KeptFrom]]:
        """Note the origins of the values in the attributes of ``ctx``, and return its inputs and outputs.

        After that, the origins hold no value that ``ctx`` does not hold.
        """
        attributes = [v for name, v in vars(ctx).items() if name not in ("needs_input_grad", "saved_tensors")]
        for value in _reachable(attributes) if attributes else ():
            origin = self.of(value)
            if origin.kind != "saved":
                self._known[id(value)] = value, origin
        self._args, self._outputs, self._ans, self._constants = (), (), (), set()
        return [(v, origin) for v, origin in self._known.values() if origin.kind != "constant" and hasattr(v, "dtype")]

    def known(self, value: Any) -> KeptFrom:
        return self._known.get(id(value), (None, KeptFrom("saved")))[1]


class RecordedContext(FunctionContext):
    """``ctx`` for a recorded backward. It has the attributes of ``ctx``, which a :class:`ContextReader` reads one by one."""

    def __init__(self, reader: ContextReader) -> None:
        self.needs_input_grad = reader.ctx.needs_input_grad
        self.__reader = reader

    def __getattr__(self, name: str) -> Any:
        value = self.__reader.read(name)
        setattr(self, name, value)
        return value


class ContextReader:
    """Gives each value that ``ctx`` keeps at its node of the tape.

    Attributes:
        saved: the saved tensors, each with its origin.
        several: whether the Function has several outputs.
        doubtful: the names of the doubtful values that the backward has read.
    """

    def __init__(
        self, entry: Entry, ctx: FunctionContext, origins: Origins, saved: Sequence[tuple[Any, KeptFrom]], several: bool
    ) -> None:
        self.entry, self.ctx, self.origins, self.saved, self.several = entry, ctx, origins, saved, several
        self.doubtful: list[str] = []

    def read(self, name: str) -> Any:
        if name == "saved_tensors":
            return tuple(self._connected(f"{name}[{i}]", v, origin) for i, (v, origin) in enumerate(self.saved))
        return self._rebuilt(name, getattr(self.ctx, name), {})

    def _connected(self, name: str, value: Any, origin: KeptFrom) -> Any:
        """Return a value of this origin at its node of the tape."""
        node: Any = None
        array = value._array if isinstance(value, Tensor) else value
        if origin.kind == "saved" and self._depends(value):
            self.doubtful.append(name)
        elif origin.kind == "argument":
            node = self.entry.parents[origin.position]
        elif origin.kind == "ans" and array.dtype.kind in "fc":
            node = Output(self.entry, origin.position, array.shape, array.dtype) if self.several else self.entry
        return (
            value if node is None else make_tensor(np.asarray(array) if isinstance(array, np.generic) else array, node)
        )

    def _depends(self, value: Any) -> bool:
        """Return whether a value of unknown origin may depend on the inputs other than by steps."""
        if isinstance(value, Tensor):
            return value._node is None and value.dtype.kind in "fc"  # a tracked one is at its own node
        if isinstance(value, (_INERT, Integral, FunctionType, BuiltinFunctionType, tuple, list, dict, set, frozenset)):
            return False  # of a container or a function, only the parts count
        if hasattr(value, "dtype"):
            return self.origins.read and getattr(value.dtype, "kind", "f") in "fcO"
        return isinstance(value, Iterator) or (self.origins.read and not _parts(value))

    def _rebuilt(self, name: str, value: Any, done: dict[int, Any]) -> Any:
        """Return ``value``; if it contains inputs or outputs, return a copy of it with these at their nodes."""
        if id(value) in done:
            return done[id(value)]
        origin = self.origins.known(value)
        if origin.kind != "saved" or not _parts(value):
            return self._connected(name, value, origin)
        done[id(value)] = value
        if isinstance(value, dict):
            items, form = dict(value), "{}[{!r}]"
        elif isinstance(value, (list, tuple)):
            items, form = dict(enumerate(value)), "{}[{}]"
        elif _has_attributes(value):
            items, form = dict(vars(value)), "{}.{}"
        else:
            self._searched(name, value)
            return value
        inside = {key: self._rebuilt(form.format(name, key), item, done) for key, item in items.items()}
        changed = {key: item for key, item in inside.items() if item is not items[key]}
        if not changed:
            return value
        if isinstance(value, tuple):
            return type(value)(*inside.values()) if hasattr(value, "_fields") else type(value)(inside.values())
        copied = done[id(value)] = copy.copy(value)
        for key, item in changed.items():
            if isinstance(value, (dict, list)):
                copied[key] = item
            else:
                object.__setattr__(copied, key, item)  # a dataclass may be frozen
        return copied

    def _searched(self, name: str, value: Any) -> None:
        """Search an object, such as a function with a closure, whose parts cannot be replaced."""
        for part in _reachable(value):
            origin = self.origins.known(part)
            if origin.kind in ("argument", "ans") or (
                origin.kind == "saved" and not _parts(part) and self._depends(part)
            ):
                self.doubtful.append(name)
                return


def doubt(name: str, doubtful: Sequence[str], parents: list[Any], like: Any) -> Tensor:
    """Return a 0 whose derivative with respect to ``parents`` raises. It marks a gradient made of doubtful values."""
    raw = like._array if isinstance(like, Tensor) else like
    zero = zeros((), raw, raw.dtype if raw.dtype.kind in "fc" else np.float64)
    return make_tensor(zero, new_entry(_DoubtPlan(name, doubtful), parents, (), zero))


class _DoubtPlan:
    """The plan of a doubt, whose derivative raises."""

    fresh = False
    positions = extras = constants = names = ()

    def __init__(self, name: str, doubtful: Sequence[str]) -> None:
        self.name, self.doubtful = name, sorted(set(doubtful))
        self.primitive = DoubtOperation(f"{name}.ctx", ())

    def pull(self, entry: Entry, g: Array) -> Sequence[Any]:
        which = " and ".join(f"ctx.{name}" for name in self.doubtful)
        raise GraphError(
            f"a second derivative of {self.name} would be wrong: its backward read {which}, which may depend on the inputs and "
            "is neither one of its inputs nor one of its outputs, so it would count as a constant. Keep inputs and outputs in "
            "ctx and compute the rest from them in backward. Pass a constant to apply as a further argument, or make it in "
            "backward"
        )

    pull_tensors = pull


class DoubtOperation(NamedTuple):
    """The replacement for the primitive of the entry of a doubt."""

    name: str
    arguments: tuple[str, ...]


def _has_attributes(value: Any) -> bool:
    return hasattr(value, "__dict__") and not isinstance(value, (FunctionType, partial))


def _parts(value: Any) -> list[Any]:
    """Return the values directly inside a container or an object; none for an array, a number, or an object of C."""
    if isinstance(value, (Tensor, Number, Iterator, *_INERT)) or hasattr(value, "dtype"):
        return []
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, BuiltinFunctionType):  # a function of a module, or a method such as [y].pop
        return [] if isinstance(value.__self__, ModuleType) else [value.__self__]
    if isinstance(value, FunctionType):  # without the globals of its module
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return [*defaults, *(value.__closure__ or ())]
    return [part for part in gc.get_referents(value) if not isinstance(part, (type, ModuleType))]


def _reachable(value: Any) -> Iterator[Any]:
    """Yield ``value`` and everything inside it."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += _parts(one)
