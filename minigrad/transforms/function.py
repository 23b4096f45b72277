"""Function: a user-defined operation with a forward and a backward, as in PyTorch.

``primitive(forward).vjp(x=rule)`` is shorter. Use a Function if the backward computes all gradients together, or needs other
values from the forward than its arguments and result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from .._tree import leaves
from ..device import zeros
from ..engine import observers
from ..engine.arrays import as_array, copied
from ..engine.fitting import as_contribution
from ..engine.hooks import read_only
from ..engine.modes import no_grad, recording
from ..engine.observers import in_any_thread
from ..engine.tape import Entry, Output, depending_on, entry_of, wengert_list
from ..engine.tensor import Tensor, make_tensor, outputs as outputs_at
from ..engine.types import Array, Pull
from ..errors import ArgumentError, GraphError, UnsupportedError
from .context import Doubt, FunctionContext, Kept, Slot, reads


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
        plain = cls._refuse_hidden_tensors(args, kwargs)
        on = recording()
        parents = [arg._node if on and isinstance(arg, Tensor) else None for arg in args]
        ctx = FunctionContext(tuple(parent is not None for parent in parents))
        before = reads.count
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
        kept = Kept(ctx, args, outputs, arrays, plain, reads.count != before)
        plan = _FunctionPlan(cls, args, ctx.needs_input_grad, kept, ans)
        for observe in observers.plan_made:
            observe(plan)
        if started:
            plan.again = _again(cls, plan.primitive.arguments, args, kwargs)
        entry = Entry(plan, parents, plan.keep(kept.values), floating[0])
        kept.values = []
        if started:
            observers.tell_recorded(entry, [_value(arg) for arg in args], ans, perf_counter() - started)
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
        self, function: type[Function], args: Sequence[Any], needed: Sequence[bool], kept: Kept, ans: Any
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
            if type(slot) is not Slot:
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
        doubt = Doubt(_Operation(self.primitive.name, 0, self.function), self.kept.doubtful)
        return [g if g is None else doubt.added_to(g, entry.parents) for g in gradients]

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
            if np.any(_value(gradient)):  # it is linear in grads
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
        tensors = {name: v if isinstance(v, Tensor) else make_tensor(v, None) for name, v in values.items()}
        return function.apply(*[fixed[name] if name in fixed else tensors[name] for name in names], **kwargs)

    return again


def _leads_from(grads: list[Tensor], gradient: Any) -> bool:
    """Return whether a gradient was computed on the tape from one of ``grads``, and not only from kept values."""
    node = gradient._node if isinstance(gradient, Tensor) else None
    if node is None:
        return False
    starts = {entry_of(g._node) for g in grads}
    return entry_of(node) in {*starts, *depending_on(starts, wengert_list([node], min(s.seq for s in starts)))}


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


def _value(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value
