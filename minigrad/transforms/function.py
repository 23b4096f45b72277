"""Function: a user-defined operation with a forward and a backward, as in PyTorch.

``primitive(forward).vjp(x=rule)`` is shorter. Use a Function if the backward computes all gradients together, or needs other
values from the forward than its arguments and result.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from time import perf_counter
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .._tree import leaves
from ..device import is_device_array, zeros
from ..engine import observers
from ..engine.arrays import as_array, copied
from ..engine.fitting import as_contribution
from ..engine.hooks import read_only
from ..engine.methods import values_of
from ..engine.modes import no_grad, recording
from ..engine.observers import open_contexts
from ..engine.tape import Entry, Output, entry_of
from ..engine.tensor import Tensor, make_tensor, outputs as outputs_at
from ..engine.types import Array, Pull
from ..errors import ArgumentError, GraphError, UnsupportedError
from .grad import as_constant, nodes_before


class Function:
    """The base class of a user-defined operation: write ``forward`` and ``backward`` in a subclass and call ``apply``.

    ``forward(ctx, *args, **kwargs)`` takes the arguments of ``apply``. It runs under ``no_grad()`` and returns a Tensor, an
    array, or a tuple of them. ``backward(ctx, *grads)`` takes one Tensor per output (zeros for an unused output) and returns
    one gradient or None per positional argument of ``apply``. Pass Tensors that require gradients as positional arguments;
    the other arguments may be anything. Without any Tensor, ``apply`` returns the result of ``forward``.

    Example:
        >>> from minigrad import Function, Tensor
        >>> class Cube(Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (x,) = ctx.saved_tensors
        ...         return g * 3 * x * x
        >>> x = Tensor(2.0, requires_grad=True)
        >>> Cube.apply(x).backward()
        >>> x.grad.item()
        12.0
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("a Function needs a static method backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and record it on the tape as one operation.

        Raises:
            UnsupportedError: a Tensor that requires a gradient is in a keyword argument or inside a container.
            ArgumentError: (in the backward pass) ``backward`` returned too few or too many gradients, or one for an argument
                that is not a Tensor.
            GraphError: (in the backward pass) a gradient is cut off from the tape although it is to be differentiated again,
                or a second derivative needs a kept value that may depend on the inputs and is neither an input nor an output.
        """
        started = perf_counter() if open_contexts else 0.0
        plain = cls._refuse_hidden_tensors(args, kwargs)
        on = recording()
        parents = [arg._node if on and isinstance(arg, Tensor) else None for arg in args]
        ctx = FunctionContext(tuple(parent is not None for parent in parents))
        before = _reads.count
        with no_grad():
            returned = cls.forward(ctx, *args, **kwargs)
        if not any(isinstance(arg, Tensor) for arg in args):
            return returned
        outputs = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        arrays = tuple(as_array(values_of(output)) for output in outputs)
        ans = arrays if isinstance(returned, (tuple, list)) else arrays[0]
        floating = [array for array in arrays if array.dtype.kind in "fc"]
        if not any(ctx.needs_input_grad) or not floating:
            return outputs_at(ans, None)
        kept = _Kept(ctx, args, outputs, arrays, plain, _reads.count != before)
        plan = _FunctionPlan(cls, args, ctx.needs_input_grad, kept, ans)
        for observe in observers.plan_made:
            observe(plan)
        if started:
            plan.again = _again(cls, plan.primitive.arguments, args, kwargs)
        entry = Entry(plan, parents, plan.keep(kept.values), floating[0])
        kept.values = []
        if started:
            observers.tell_recorded(entry, [values_of(arg) for arg in args], ans, perf_counter() - started)
        return outputs_at(ans, entry)

    @classmethod
    def _refuse_hidden_tensors(cls, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Return what ``apply`` got besides Tensors. Raise if a Tensor that requires a gradient is in there."""
        hidden = leaves([kwargs, *(arg for arg in args if not isinstance(arg, Tensor))])
        if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in hidden):
            raise UnsupportedError(
                f"{cls.__name__}.apply got a Tensor that requires a gradient in a keyword argument or a container, where it "
                "would be cut off from the tape: pass it as a separate positional argument"
            )
        return hidden


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


_reads = _Reads()
observers.handed_out.append(_reads.note)
observers.numbers_read.append(_reads.note)


class _Slot(int):
    """Stands in a context for an array or a Tensor: the index of its array in ``entry.kept``."""


class _Kept:
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
            return _Slot(len(self.values) - 1)

        done: dict[int, Any] = {}
        self._all = {name: _rebuilt(f"ctx.{name}", value, replaced, done) for name, value in vars(ctx).items()}
        self._filled = [name for name, value in vars(ctx).items() if self._all[name] is not value]

    def context(self, fill: Callable[[Any, Any], Any]) -> FunctionContext:
        """Return a context with ``fill(path, slot)`` in place of each slot; ``fill`` returns other values as they are."""
        ctx, done = object.__new__(FunctionContext), dict[int, Any]()
        vars(ctx).update(self._all)
        for name in self._filled:
            vars(ctx)[name] = _rebuilt(name, self._all[name], fill, done)
        return ctx


def _rebuilt(path: Any, value: Any, leaf: Callable[[Any, Any], Any], done: dict[int, Any]) -> Any:
    """Return ``value`` with ``leaf(path, v)`` for each v in its containers. Only containers that this changes are copied."""
    kind: Any = type(value)
    items: Any = None
    if kind is not _Slot and isinstance(value, _CONSTANT):
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
        new = {key: _rebuilt((form, path, key), item, leaf, done) for key, item in items.items()}
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


@dataclass(unsafe_hash=True)
class _Operation:
    """The replacement for the primitive of an entry. It looks at the signature of forward only when asked for names."""

    name: str
    count: int  # of the positional arguments
    function: type[Function] = field(compare=False)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the positional arguments of ``forward`` after ``ctx``."""
        parameters = list(inspect.signature(self.function.forward).parameters.values())[1:]
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][: self.count]
        return (*names, *(f"args{i}" for i in range(len(names), self.count)))


class _FunctionPlan:
    """The plan of one call: it knows the place of each kept value and pulls a cotangent back.

    In a trace, ``again`` calls the function with other Tensors, so that its derivative can be checked.

    It is part of no reference cycle, so reference counting frees it with its entry.
    """

    owned = True  # _pull copies each gradient, because a backward may reuse its array
    positions = extras = ()

    def __init__(
        self, function: type[Function], args: Sequence[Any], needed: Sequence[bool], kept: _Kept, ans: Any
    ) -> None:
        self.function = function
        self.primitive = _Operation(function.__name__, len(args), function)
        self.is_tensor = [isinstance(arg, Tensor) for arg in args]
        self.again: Callable[[Mapping[str, Any]], Any] | None = None
        # the shape and dtype of each output if there are several
        self.outputs = [(array.shape, array.dtype) for array in ans] if isinstance(ans, tuple) else []
        self.kept = kept
        self.constants = [p for p, (kind, i, _) in enumerate(kept.origins) if kind == "argument" and not needed[i]]
        self.keep: Callable[[Sequence[Any]], Sequence[Any]] = tuple
        self.pull: Pull = _pull
        self.pull_tensors: Pull = _pull_tensors

    @property
    def names(self) -> list[str]:
        return [self.primitive.arguments[i] if kind == "argument" else kind for kind, i, _ in self.kept.origins]

    def backward(self, entry: Entry, g: Array, create_graph: bool) -> list[Any]:
        kept = entry.kept
        assert kept is not None

        def fill(_: Any, slot: Any) -> Any:
            """Return the kept value of a slot; if the backward is recorded, an input or an output is at its node."""
            if type(slot) is not _Slot:
                return slot
            value, node, (kind, i, wrapped) = kept[slot], None, self.kept.origins[slot]
            if create_graph and kind == "argument":
                node = entry.parents[i]
            elif create_graph and kind == "ans" and value.dtype.kind in "fc":
                node = Output(entry, i, value.shape, value.dtype) if self.outputs else entry
            return value if node is None and not wrapped else make_tensor(value, node)

        ctx = self.kept.context(fill)
        grads = self._grads(g)
        returned = self.function.backward(ctx, *grads)
        gradients = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        self._check(gradients, grads)
        gradients = [
            None if g is None or parent is None else g if isinstance(g, Tensor) else as_contribution(g, parent, entry)
            for g, parent in zip(gradients, entry.parents)
        ]
        if not (create_graph and self.kept.doubtful):
            return gradients
        doubt = _Doubt(_Operation(self.primitive.name, 0, self.function), self.kept.doubtful)
        return [g if g is None else doubt.added_to(g, entry.parents) for g in gradients]

    def _grads(self, g: Any) -> list[Tensor]:
        """Return one cotangent Tensor per output."""
        arrived = g if isinstance(g, dict) else {0: g}
        like = values_of(next(iter(arrived.values())))
        outputs = self.outputs or [(like.shape, like.dtype)]
        grads = [arrived[i] if i in arrived else zeros(shape, like, dtype) for i, (shape, dtype) in enumerate(outputs)]
        return [one if isinstance(one, Tensor) else make_tensor(read_only(one), None) for one in grads]

    def _check(self, gradients: list[Any], grads: list[Tensor]) -> None:
        name, count = self.function.__name__, len(self.is_tensor)
        if len(gradients) != count:
            names = self.primitive.arguments
            raise ArgumentError(
                f"{name}.backward returned {len(gradients)} gradient(s) for {count} argument(s) of forward "
                f"({', '.join(names)}): return one for each, or None for no gradient"
            )
        for i, (gradient, is_tensor) in enumerate(zip(gradients, self.is_tensor)):
            if gradient is not None and not is_tensor:
                argument = self.primitive.arguments[i]
                raise ArgumentError(
                    f"{name}.backward returned a gradient for '{argument}', which was not a Tensor: return None for it"
                )
            if gradient is None or not all(t.requires_grad for t in grads) or _leads_from(grads, gradient):
                continue
            if np.any(values_of(gradient)):  # it is linear in grads
                argument = self.primitive.arguments[i]
                raise GraphError(
                    f"{name}.backward returned a gradient for '{argument}' that is cut off from the tape, so a second "
                    "derivative would be wrong: compute it from the incoming gradients and ctx.saved_tensors with operations "
                    "on Tensors"
                )


def _again(
    function: type[Function], names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that calls ``apply`` with other Tensors, by their names, and the same other arguments."""
    fixed = {name: arg for name, arg in zip(names, args) if not isinstance(arg, Tensor)}

    def again(values: Mapping[str, Any]) -> Any:
        return function.apply(
            *[fixed[name] if name in fixed else as_constant(values[name]) for name in names], **kwargs
        )

    return again


def _leads_from(grads: list[Tensor], gradient: Any) -> bool:
    """Return whether a gradient was computed on the tape from one of ``grads``, and not only from kept values."""
    if not isinstance(gradient, Tensor) or gradient._node is None:
        return False
    starts = {entry_of(g._node) for g in grads}
    return any(entry_of(node) in starts for node in nodes_before([gradient._node], min(start.seq for start in starts)))


def _pull(entry: Entry, g: Array) -> Sequence[Any]:
    plan: Any = entry.plan
    with no_grad():
        gradients = plan.backward(entry, g, create_graph=False)
    return [None if t is None else copied(values_of(t)) for t in gradients]


def _pull_tensors(entry: Entry, g: Array) -> Sequence[Any]:
    plan: Any = entry.plan
    gradients = plan.backward(entry, g, create_graph=True)
    return [
        t if t is None or getattr(t, "_node", None) is not None else make_tensor(copied(values_of(t)), None)
        for t in gradients
    ]


class _Doubt:
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
