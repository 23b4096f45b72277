"""autograd_grad: gradients with respect to chosen tensors of a tape, as PyTorch's ``torch.autograd.grad`` gives them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ..engine.arrays import owned_copy
from ..engine.modes import enable_grad
from ..engine.tape import Output, cotangent_of, sweep, wengert_list
from ..engine.tensor import Tensor, at_new_node, make_tensor
from ..errors import ArgumentError, GraphError
from .grad import seeds_of


def autograd_grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, which may be leaves or computed. Nobody's ``grad`` is touched.

    Args:
        grad_outputs: for each output its cotangent, None for 1 (outputs of one element); several outputs' results add up.
        retain_graph: keep the kept values of the operations in between, so that they can be differentiated again.
        create_graph: record the backward pass too, so that the gradients can themselves be differentiated; implies
            ``retain_graph``.
        allow_unused: give None for an input that the outputs do not depend on, rather than raise.

    Returns:
        A tuple with a Tensor for each input.

    Raises:
        GraphError: an output or an input requires no gradient, an input is unused, the graph was freed already, or a
            cotangent is missing for an output of several elements.
        ArgumentError, ShapeError, DTypeError: ``grad_outputs`` does not fit. On all of these nothing has been changed.

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
    with enable_grad() if create_graph else contextlib.nullcontext():
        seeds = seeds_of(outputs, cotangents, create_graph, "grad_outputs")
        used = _places([t._node for t in outputs])
        for i, t in enumerate(inputs):
            if not allow_unused and _place(t._node) not in used:
                raise _unused(i, t)
        found = sweep(
            seeds,
            create_graph=create_graph,
            retain_graph=retain_graph or create_graph,
            wanted=[t._node for t in inputs],
        )
        gradients = [cotangent_of(t._node, found) for t in inputs]
        for i, (t, g) in enumerate(zip(inputs, gradients)):
            if g is None and not allow_unused:  # a rule said so
                raise _unused(i, t)
        return tuple(_of_its_own(g) for g in gradients)


def _tensors(value: Any, name: str) -> tuple[Tensor, ...]:
    several = isinstance(value, (tuple, list))
    tensors = tuple(value) if several else (value,)
    for i, t in enumerate(tensors):
        which = f"{name}[{i}]" if several else name
        if not isinstance(t, Tensor):
            raise ArgumentError(f"autograd_grad needs a Tensor for {which}, got {type(t).__name__}")
        if t._node is None:
            raise GraphError(
                f"{which}, {t._describe()}, does not require a gradient: make it with requires_grad=True, or compute it from "
                "such a tensor outside no_grad()"
            )
    return tensors


def _place(node: Any) -> Any:
    """What tells one place on the tape from another; there may be several Output objects for one."""
    return (node.entry, node.index) if type(node) is Output else node


def _places(ends: Sequence[Any]) -> set[Any]:
    """Every place on the tape that led to ``ends``."""
    return {_place(node) for node in [*ends, *(parent for entry in wengert_list(ends) for parent in entry.parents)]}


def _unused(i: int, tensor: Tensor) -> GraphError:
    return GraphError(
        f"inputs[{i}], {tensor._describe()}, was not used to compute the outputs: pass allow_unused=True to get None for it"
    )


def _of_its_own(g: Any) -> Tensor | None:
    """A gradient as a Tensor that shares its array with nobody."""
    if g is None:
        return None
    result: Tensor = at_new_node(g) if isinstance(g, Tensor) else make_tensor(owned_copy(g), None)
    return result
