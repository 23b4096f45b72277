"""Derivatives of a primitive without rules. They come from its reference composition of other primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import GraphError
from .modes import ensure_recording
from .observers import active
from .tape import Entry, Leaf, sweep
from .tensor import Tensor, at_new_node, make_tensor
from .types import Array


def pull_composition(entry: Entry, g: Array, create_graph: bool = False) -> Sequence[Any]:
    """Differentiate the reference composition on a small separate tape that ends at the inputs."""
    inputs: list[Any] = []
    for array, parent in zip(entry.kept or (), entry.parents):
        if parent is None:
            inputs.append(array)
        elif create_graph:
            inputs.append(at_new_node(make_tensor(array, parent)))
        else:
            inputs.append(make_tensor(array, Leaf(None, array.shape, array.dtype)))
    ans = recomposed(entry, inputs)
    ends = [t._node if isinstance(t, Tensor) else None for t in inputs]
    wanted = [node for node, needed in zip(ends, needed_parents(entry)) if node is not None and needed]
    results = sweep({ans._node: g}, create_graph=create_graph, retain_graph=create_graph, wanted=wanted)
    return [None if node is None else results.get(node) for node in ends]


def pull_composition_tensors(entry: Entry, g: Array) -> Sequence[Any]:
    return pull_composition(entry, g, create_graph=True)


def recomposed(entry: Entry, inputs: Sequence[Any]) -> Tensor:
    """Record the reference composition of an entry, computed from ``inputs``."""
    with ensure_recording():
        ans = entry.primitive.composition(*inputs, **entry.keywords)
    if not isinstance(ans, Tensor) or ans._node is None:
        raise GraphError(
            f"the reference composition of '{entry.primitive.name}' must give one Tensor made of its arguments"
        )
    return ans


def needed_parents(entry: Entry) -> list[bool]:
    """Return for each parent whether the sweep that is pulling ``entry`` needs its cotangent; outside a sweep, True."""
    sweep = next((sweep for sweep in reversed(active.sweeps) if sweep.pulled is entry), None)
    return [parent is not None and (sweep is None or sweep.needs(parent)) for parent in entry.parents]
