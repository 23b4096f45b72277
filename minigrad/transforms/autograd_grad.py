"""autograd_grad: gradients with respect to chosen tensors of a tape, like PyTorch's ``torch.autograd.grad``."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ..engine.arrays import copied
from ..engine.modes import ensure_recording
from ..engine.tape import Output, cotangent_of, entry_of, sweep, wengert_list
from ..engine.tensor import Tensor, at_new_node, make_tensor
from ..engine.types import Array, TensorLike
from ..errors import ArgumentError, GraphError
from .grad import seeds_of


def autograd_grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of ``outputs`` with respect to ``inputs`` (leaves or computed tensors). No ``grad`` is changed.

    Args:
        grad_outputs: one cotangent per output. None stands for 1, if the output has one element. The gradients of several
            outputs are added.
        retain_graph: keep the graph, so that it can be differentiated again.
        create_graph: record the backward pass too, so that the gradients can be differentiated; implies ``retain_graph``.
        allow_unused: return None for an input that the outputs do not depend on, instead of raising.

    Returns:
        A tuple with one Tensor per input.

    Raises:
        GraphError: an output or an input requires no gradient, an input is unused, the graph was already freed, or a
            cotangent is missing for an output of several elements.
        ArgumentError, ShapeError, DTypeError: ``grad_outputs`` does not fit.

    An error that is found before the backward pass starts leaves tensors and graph unchanged.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(3.0, requires_grad=True)
        >>> (first,) = mg.autograd_grad(x**3, x, create_graph=True)
        >>> (second,) = mg.autograd_grad(first, x)
        >>> first.item(), second.item(), x.grad
        (27.0, 18.0, None)
    """
    outputs, inputs = _tensors(outputs, "outputs"), _tensors(inputs, "inputs")
    if grad_outputs is None:
        cotangents: tuple[Any, ...] = (None,) * len(outputs)
    else:
        cotangents = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
    if len(cotangents) != len(outputs):
        raise ArgumentError(f"grad_outputs has {len(cotangents)} item(s) for {len(outputs)} output(s)")
    with ensure_recording() if create_graph else contextlib.nullcontext():
        seeds = seeds_of(outputs, cotangents, create_graph, "grad_outputs")
        used = _keys([t._node for t in outputs], min((entry_of(t._node).seq for t in inputs), default=0))
        for i, t in enumerate(inputs):
            if not allow_unused and _key(t._node) not in used:
                raise _unused(i, t)
        found = sweep(
            seeds,
            create_graph=create_graph,
            retain_graph=retain_graph or create_graph,
            wanted=[t._node for t in inputs],
        )
        gradients = [cotangent_of(t._node, found) for t in inputs]
        for i, (t, g) in enumerate(zip(inputs, gradients)):
            if g is None and not allow_unused:  # a rule returned None
                raise _unused(i, t)
        return tuple(_unshared(g) for g in gradients)


def _tensors(value: Any, name: str) -> tuple[Tensor, ...]:
    several = isinstance(value, (tuple, list))
    tensors = tuple(value) if several else (value,)
    for i, t in enumerate(tensors):
        which = f"{name}[{i}]" if several else name
        if not isinstance(t, Tensor):
            raise ArgumentError(f"autograd_grad needs a Tensor for {which}, got {type(t).__name__}")
        if t._node is None:
            why = "make it with requires_grad=True, or compute it from such a tensor outside no_grad()"
            if name == "outputs":
                why += (
                    ", and a gradient in it with create_graph=True. The gradient of a linear function is a constant even then, "
                    "whose derivative is 0: leave such an output out (if t.requires_grad)"
                )
            raise GraphError(f"{which}, {t._describe()}, does not require a gradient: {why}")
    return tensors


def _key(node: Any) -> Any:
    """Return a key of a node of the tape; several Output objects may stand for the same node."""
    return (node.entry, node.index) if type(node) is Output else node


def _keys(ends: Sequence[Any], since: float) -> set[Any]:
    """Return the keys of the nodes that lead to ``ends``: all from sequence number ``since`` on, and some older ones."""
    entries = wengert_list(ends, since)
    return {_key(node) for node in [*ends, *(parent for entry in entries for parent in entry.parents)]}


def _unused(i: int, tensor: Tensor) -> GraphError:
    return GraphError(
        f"inputs[{i}], {tensor._describe()}, was not used to compute the outputs: pass allow_unused=True to get None for it"
    )


def _unshared(g: Array | None) -> Tensor | None:
    """Return a gradient as a Tensor that shares its array with no other object."""
    if g is None:
        return None
    result: Tensor = at_new_node(g) if isinstance(g, Tensor) else make_tensor(copied(g), None)  # both copy the array
    return result
