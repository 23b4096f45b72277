"""Function: a user-defined operation with a forward and a backward, as in PyTorch.

``primitive(forward).vjp(x=rule)`` is shorter. Use a Function if the backward computes all gradients together, or needs other
values from the forward than its arguments and result.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .._tree import leaves
from ..device import zeros
from ..engine import observers
from ..engine.arrays import as_array, copied
from ..engine.hooks import read_only
from ..engine.modes import no_grad, recording
from ..engine.observers import in_any_thread
from ..engine.outputs import outputs as outputs_at
from ..engine.tape import Entry, Output, new_entry
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array, Pull
from ..errors import ArgumentError, GraphError, UnsupportedError


class FunctionContext:
    """``ctx``: the object that passes values from the forward of one :class:`Function` call to its backward.

    Assign plain values to attributes of any name, and pass tensors to :meth:`save_for_backward`.

    Attributes:
        needs_input_grad: one boolean per argument of ``apply``: whether it needs a gradient.
        saved_tensors: in backward, the saved values in their order.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep these Tensors, arrays or Nones until the backward pass is over.

        Saved inputs and outputs stay connected to the tape, so a backward that uses differentiable operations can itself be
        differentiated. Other saved arrays allow first derivatives only; assign a *constant* to an attribute instead.
        """
        self.saved_tensors = values


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
            GraphError: (in the backward pass) a gradient is cut off from the tape although it is to be differentiated again.
        """
        started = perf_counter() if in_any_thread else 0.0
        cls._refuse_hidden_tensors(args, kwargs)
        on = recording()
        parents = [arg._node if on and isinstance(arg, Tensor) else None for arg in args]
        ctx = FunctionContext(tuple(parent is not None for parent in parents))
        with no_grad():
            returned = cls.forward(ctx, *args, **kwargs)
        if not any(isinstance(arg, Tensor) for arg in args):
            return returned
        outputs = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        arrays = tuple(as_array(_value(output)) for output in outputs)
        ans = arrays if isinstance(returned, (tuple, list)) else arrays[0]
        floating = [array for array in arrays if array.dtype.kind in "fc"]
        if not any(ctx.needs_input_grad) or not floating:
            return outputs_at(ans, None)
        plan, kept = _planned(cls, ctx, args, outputs, ans)
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

    It is part of no reference cycle, so reference counting frees it with its entry.
    """

    fresh = True  # _pull copies each gradient, because a backward may reuse its array
    positions = extras = ()

    def __init__(
        self, function: type[Function], ctx: FunctionContext, args: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        self.function = function
        self.ctx = ctx
        self.primitive = _FunctionOperation(function.__name__, _argument_names(function, len(args)))
        self.is_tensor = [isinstance(arg, Tensor) for arg in args]
        self.outputs: list[Any] = []  # the shape and dtype of each output if there are several
        self.origins = [_origin(value, args, outputs) for value in ctx.saved_tensors]
        self.wrapped = [isinstance(value, Tensor) for value in ctx.saved_tensors]
        self.names = [self.primitive.arguments[i] if kind == "argument" else kind for kind, i in self.origins]
        needed = ctx.needs_input_grad
        self.constants = [p for p, (kind, i) in enumerate(self.origins) if kind == "argument" and not needed[i]]
        self.keep: Callable[[Sequence[Any]], Sequence[Any]] = tuple
        self.pull: Pull = _pull
        self.pull_tensors: Pull = _pull_tensors

    def backward(self, entry: Entry, g: Array, create_graph: bool) -> list[Any]:
        ctx = copy.copy(self.ctx)
        ctx.saved_tensors = tuple(self._saved(entry, create_graph))
        grads = self._grads(g)
        returned = self.function.backward(ctx, *grads)
        gradients = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        self._check(gradients, grads)
        return [
            g if g is None or isinstance(g, Tensor) else as_array(g) if parent is not None else None
            for g, parent in zip(gradients, entry.parents)
        ]

    def _saved(self, entry: Entry, create_graph: bool) -> Sequence[Any]:
        """Return the saved values; if the backward is recorded, inputs and outputs have their nodes."""
        assert entry.kept is not None
        values: list[Any] = []
        for value, (kind, i), wrapped in zip(entry.kept, self.origins, self.wrapped):
            node: Any = None
            if create_graph and kind == "argument":
                node = entry.parents[i]
            elif create_graph and kind == "ans":
                node, wrapped = Output(entry, i, value.shape, value.dtype) if self.outputs else entry, True
            elif create_graph and getattr(value, "dtype", np.dtype(bool)).kind in "fc":
                raise GraphError(
                    f"{self.function.__name__} saved an array that is neither one of its inputs nor one of its outputs, so "
                    "forward mode and a second derivative would treat it as a constant: save inputs and outputs and "
                    "compute the rest in backward, or assign it to an attribute of ctx if it is a constant"
                )
            values.append(make_tensor(value, node) if wrapped else value)
        return values

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
            cut_off = not (isinstance(gradient, Tensor) and gradient.requires_grad)  # the gradient is linear in grads
            if gradient is not None and cut_off and all(t.requires_grad for t in grads) and np.any(_value(gradient)):
                raise GraphError(
                    f"{name}.backward returned a gradient for '{argument}' that is cut off from the tape, so a second "
                    "derivative would be wrong: compute it from the incoming gradients and ctx.saved_tensors with operations "
                    "on Tensors"
                )


def _planned(
    function: type[Function], ctx: FunctionContext, args: Sequence[Any], outputs: Sequence[Any], ans: Any
) -> tuple[_FunctionPlan, Sequence[Any]]:
    """Return the plan of a call and the values that its entry keeps: the arrays of the saved Tensors."""
    plan = _FunctionPlan(function, ctx, args, outputs)
    arrays = ans if isinstance(ans, tuple) else (ans,)
    if isinstance(ans, tuple):
        plan.outputs = [(array.shape, array.dtype) for array in arrays]
    saved, ctx.saved_tensors = ctx.saved_tensors, ()
    for observe in observers.plan_made:
        observe(plan)
    kept = [arrays[i] if kind == "ans" else _value(value) for value, (kind, i) in zip(saved, plan.origins)]
    return plan, plan.keep(kept)


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


def _origin(value: Any, args: Sequence[Any], outputs: Sequence[Any]) -> tuple[str, int]:
    """Return the origin of a saved value: an argument, the answer, or neither."""
    for kind, candidates in (("argument", args), ("ans", outputs)):
        for i, candidate in enumerate(candidates):
            if value is candidate:
                return kind, i
    return "saved", 0


def _argument_names(function: type[Function], count: int) -> tuple[str, ...]:
    """Return the names of the positional arguments of ``forward`` after ``ctx``."""
    parameters = list(inspect.signature(function.forward).parameters.values())[1:]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return (*names, *(f"args{i}" for i in range(len(names), count)))


def _value(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value
