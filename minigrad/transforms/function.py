"""Function: a user-defined operation with a forward and a backward, as in PyTorch.

``primitive(forward).vjp(x=rule)`` is shorter. Use a Function if the backward computes all gradients together, or needs other
values from the forward than its arguments and result.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._tree import leaves
from ..device import zeros
from ..engine import observers
from ..engine.arrays import as_array, copied
from ..engine.fitting import as_contribution
from ..engine.hooks import read_only
from ..engine.modes import no_grad, recording
from ..engine.observers import in_any_thread
from ..engine.outputs import outputs as outputs_at
from ..engine.tape import Entry, entry_of, leading_to, new_entry, wengert_list
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array, Pull
from ..errors import ArgumentError, GraphError, UnsupportedError
from .context import ContextReader, FunctionContext, Origins, RecordedContext, constants_of, doubt, watch_reads


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
        started = perf_counter() if in_any_thread else 0.0
        cls._refuse_hidden_tensors(args, kwargs)
        on = recording()
        parents = [arg._node if on and isinstance(arg, Tensor) else None for arg in args]
        ctx = FunctionContext(tuple(parent is not None for parent in parents))
        constants = constants_of(cls.forward)
        with no_grad(), watch_reads() as reads:
            returned = cls.forward(ctx, *args, **kwargs)
        if not any(isinstance(arg, Tensor) for arg in args):
            return returned
        outputs = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        arrays = tuple(as_array(_value(output)) for output in outputs)
        ans = arrays if isinstance(returned, (tuple, list)) else arrays[0]
        floating = [array for array in arrays if array.dtype.kind in "fc"]
        if not any(ctx.needs_input_grad) or not floating:
            return outputs_at(ans, None)
        origins = Origins(constants, args, kwargs, outputs, arrays, reads.found)
        plan, kept = _planned(cls, ctx, args, ans, origins)
        if started:
            plan.again = _again(cls, plan.primitive.arguments, args, kwargs)
        entry = new_entry(plan, parents, kept, floating[0])
        if started:
            observers.tell_recorded(entry, [_value(arg) for arg in args], ans, perf_counter() - started)
        return outputs_at(ans, entry)

    @classmethod
    def _refuse_hidden_tensors(cls, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        hidden = leaves([kwargs, *(arg for arg in args if not isinstance(arg, Tensor))])
        if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in hidden):
            raise UnsupportedError(
                f"{cls.__name__}.apply got a Tensor that requires a gradient in a keyword argument or a container, where it "
                "would be cut off from the tape: pass it as a separate positional argument"
            )


class _FunctionOperation(NamedTuple):
    """The replacement for the primitive of an entry."""

    name: str
    arguments: tuple[str, ...]


class _FunctionPlan:
    """The plan of one call: it stores the origin of each saved value and pulls a cotangent back.

    In a trace, ``again`` calls the function with other Tensors, so that its derivative can be checked.

    It is part of no reference cycle, so reference counting frees it with its entry.
    """

    fresh = True  # _pull copies each gradient, because a backward may reuse its array
    positions = extras = ()

    def __init__(self, function: type[Function], ctx: FunctionContext, args: Sequence[Any], origins: Origins) -> None:
        self.function = function
        self.ctx = ctx
        self.primitive = _FunctionOperation(function.__name__, _argument_names(function, len(args)))
        self.is_tensor = [isinstance(arg, Tensor) for arg in args]
        self.again: Callable[[Mapping[str, Any]], Any] | None = None
        self.outputs: list[Any] = []  # the shape and dtype of each output if there are several
        self.origins = origins
        self.saved = [origins.of(value) for value in ctx.saved_tensors]
        self.wrapped = [isinstance(value, Tensor) for value in ctx.saved_tensors]
        self.attributes = origins.settle(ctx)
        found = [*self.saved, *(origin for _, origin in self.attributes)]
        arguments = self.primitive.arguments
        self.names = [arguments[i] if kind == "argument" else "ans" if kind == "ans" else "saved" for kind, i in found]
        needed = ctx.needs_input_grad
        self.constants = [p for p, (kind, i) in enumerate(found) if kind == "argument" and not needed[i]]
        self.keep: Callable[[Sequence[Any]], Sequence[Any]] = tuple
        self.pull: Pull = _pull
        self.pull_tensors: Pull = _pull_tensors

    def backward(self, entry: Entry, g: Array, create_graph: bool) -> list[Any]:
        ctx, reader = self._context(entry, create_graph)
        grads = self._grads(g)
        returned = self.function.backward(ctx, *grads)
        gradients = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        self._check(gradients, grads)
        gradients = [
            None if g is None or parent is None else g if isinstance(g, Tensor) else as_contribution(g, parent, entry)
            for g, parent in zip(gradients, entry.parents)
        ]
        if reader is None or not reader.doubtful:
            return gradients
        name = self.function.__name__
        return [g if g is None else g + doubt(name, reader.doubtful, entry.parents, g) for g in gradients]

    def _context(self, entry: Entry, create_graph: bool) -> tuple[FunctionContext, ContextReader | None]:
        """Return the context for the backward; if the backward is recorded, inputs and outputs have their nodes."""
        assert entry.kept is not None
        saved = [make_tensor(v, None) if wrapped else v for v, wrapped in zip(entry.kept, self.wrapped)]
        if create_graph:
            reader = ContextReader(entry, self.ctx, self.origins, list(zip(saved, self.saved)), bool(self.outputs))
            return RecordedContext(reader), reader
        ctx = copy.copy(self.ctx)
        ctx.saved_tensors = tuple(saved)
        return ctx, None

    def _grads(self, g: Any) -> list[Tensor]:
        """Return one cotangent Tensor per output."""
        if not isinstance(g, dict):
            return [g if isinstance(g, Tensor) else make_tensor(read_only(g), None)]
        first = next(iter(g.values()))
        like = first._array if isinstance(first, Tensor) else first
        grads = []
        for i, (shape, dtype) in enumerate(self.outputs):
            one = g[i] if i in g else zeros(shape, like, dtype)
            grads.append(one if isinstance(one, Tensor) else make_tensor(read_only(one), None))
        return grads

    def _check(self, gradients: list[Any], grads: list[Tensor]) -> None:
        name, names = self.function.__name__, self.primitive.arguments
        if len(gradients) != len(names):
            raise ArgumentError(
                f"{name}.backward returned {len(gradients)} gradient(s) for {len(names)} argument(s) of forward "
                f"({', '.join(names)}): return one for each, or None for no gradient"
            )
        for gradient, argument, is_tensor in zip(gradients, names, self.is_tensor):
            if gradient is not None and not is_tensor:
                raise ArgumentError(
                    f"{name}.backward returned a gradient for '{argument}', which was not a Tensor: return None for it"
                )
            if gradient is None or not all(t.requires_grad for t in grads) or _leads_from(grads, gradient):
                continue
            if np.any(_value(gradient)):  # it is linear in grads
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
        tensors = {name: v if isinstance(v, Tensor) else make_tensor(v, None) for name, v in values.items()}
        return function.apply(*[fixed[name] if name in fixed else tensors[name] for name in names], **kwargs)

    return again


def _leads_from(grads: list[Tensor], gradient: Any) -> bool:
    """Return whether a gradient was computed on the tape from one of ``grads``, and not only from kept values."""
    node = gradient._node if isinstance(gradient, Tensor) else None
    if node is None:
        return False
    starts = {entry_of(g._node) for g in grads}
    return entry_of(node) in leading_to(starts, wengert_list([node], min(start.seq for start in starts)))[1]


def _planned(
    function: type[Function], ctx: FunctionContext, args: Sequence[Any], ans: Any, origins: Origins
) -> tuple[_FunctionPlan, Sequence[Any]]:
    """Return the plan of a call and the values that its entry keeps: the saved arrays, inputs and outputs."""
    plan = _FunctionPlan(function, ctx, args, origins)
    arrays = ans if isinstance(ans, tuple) else (ans,)
    if isinstance(ans, tuple):
        plan.outputs = [(array.shape, array.dtype) for array in arrays]
    saved, ctx.saved_tensors = [*zip(ctx.saved_tensors, plan.saved), *plan.attributes], ()
    plan.attributes = []
    for observe in observers.plan_made:
        observe(plan)
    return plan, plan.keep([arrays[i] if kind == "ans" else _value(value) for value, (kind, i) in saved])


def _pull(entry: Entry, g: Array) -> Sequence[Any]:
    plan: Any = entry.plan
    with no_grad():
        gradients = plan.backward(entry, g, create_graph=False)
    return [None if t is None else copied(_value(t)) for t in gradients]


def _pull_tensors(entry: Entry, g: Array) -> Sequence[Any]:
    plan: Any = entry.plan
    gradients = plan.backward(entry, g, create_graph=True)
    return [
        t if t is None or getattr(t, "_node", None) is not None else make_tensor(copied(_value(t)), None)
        for t in gradients
    ]


def _argument_names(function: type[Function], count: int) -> tuple[str, ...]:
    """Return the names of the positional arguments of ``forward`` after ``ctx``."""
    parameters = list(inspect.signature(function.forward).parameters.values())[1:]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return (*names, *(f"args{i}" for i in range(len(names), count)))


def _value(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value
