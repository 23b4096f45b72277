"""A full look at one step: its tape with values, gradients and lines, and the variables of the program."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from .._source import SourceLine, of_library, user_place
from ..engine.observers import active
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..errors import MARK
from ..graph.record.capture import capture
from ..graph.record.model import Graph, Node
from ..graph.record.trace import trace

DEEPEST = 6  # nested containers that are searched for tensors and arrays
MOST_VALUES = 4000  # values that are searched
FRAMES = 10  # frames between the sweep and the call that asked for it


class Window(trace):
    """A trace of one step. It also keeps the raw arrays of its operations, to see which arrays come from the tape.

    Attributes:
        made: the entries in the order of execution, each with its constant arguments (else None) and its result.
        handed: the tensors whose arrays the program took, each with the line that did so.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Entry, list[Any], Any]] = []
        self.handed: list[tuple[Any, SourceLine]] = []

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        super().record(entry, arrays, answer, seconds)
        if not active.sweeps:
            # A reference to a parameter's array would make in-place detection compare it at each step of an optimizer.
            given = [array if parent is None else None for parent, array in zip(entry.parents, arrays)]
            self.made.append((entry, given, answer))

    def hand_out(self, tensor: Any) -> None:
        place = user_place()
        if place is not None and tensor._node is not None:
            self.handed.append((tensor._node, place.source))


class FullLook:
    """What a full look at a step has seen. The graph has values, gradients and lines.

    Attributes:
        graph: the tape as data.
        paths: the path of each variable of the program by the address of its array.
        values: the variables of the program that hold arrays or tensors, by path.
    """

    def __init__(self, step: int, place: SourceLine | None, window: Window, frames: Mapping[str, Any]) -> None:
        self.step, self.place, self.window = step, place, window
        every = list(reachable(frames))  # a model's names are better than the places in an optimizer's list
        self.every = sorted(every, key=lambda item: ".parameters[" in item[0])
        self.values = dict(self.every)
        self.prints = {p: hash(v.tobytes()) for p, v in self.every if isinstance(v, np.ndarray) and v.nbytes < 1 << 22}
        self.copies = {id(v): hash(v._array.tobytes()) for v in self.values.values() if isinstance(v, Tensor)}
        self.paths: dict[int, str] = {}
        for path, value in self.values.items():
            self.paths.setdefault(address(value), path)
        self.entries: Sequence[Entry] = ()
        self.loss: Any = None

    def finish(self, loss: Tensor, entries: Sequence[Entry]) -> None:
        """Keep the tape of the step, after its sweep. It is copied into a graph only if a check asks for it."""
        self.entries, self.loss = entries, loss

    @functools.cached_property
    def graph(self) -> Graph:
        graph = capture(self.loss, None, caller="debug")
        places = [outside_models(node) for node in graph.nodes]
        pairs = zip(graph.nodes, places)
        graph.nodes = [n if place is n.source else dataclasses.replace(n, source=place) for n, place in pairs]
        return graph

    @functools.cached_property
    def leaves(self) -> list[tuple[Any, Node, Any]]:
        """The key, the node and the Tensor (or None) of each tensor or input that got a gradient."""
        places = leaves_of(self.entries)  # capture numbers the leaves in this order, too
        nodes = [node for node in self.graph.nodes if node.kind in ("parameter", "input")]
        found = []
        for position, (leaf, node) in enumerate(zip(places, nodes)):
            tensor = leaf.tensor
            found.append((("tensor", id(tensor)) if tensor is not None else position, node, tensor))
        return found

    def path(self, array: Any) -> str | None:
        """Return the path of the variable whose array this is."""
        return self.paths.get(address(array))


def leaves_of(entries: Sequence[Entry]) -> list[Leaf]:
    """Return the leaves of a tape in the order of their first use."""
    places: dict[Any, None] = {}
    for entry in entries:
        for parent in entry.parents:
            if type(parent) is Leaf:
                places.setdefault(parent)
    return list(places)


def outside_models(node: Node) -> SourceLine | None:
    """Return the program's line that led to an operation. For a network of ``models`` it is the line of the call."""
    places = [place for place in (node.source, *node.callers) if place is not None]
    own = [place for place in places if not in_models(place)]
    return own[0] if own else node.source


def in_models(place: SourceLine) -> bool:
    """Return whether a line is one of the package ``models``, if the program has imported it."""
    models = sys.modules.get("models")
    folder = os.path.dirname(getattr(models, "__file__", None) or "") if hasattr(models, MARK) else ""
    return bool(folder) and os.path.dirname(place.file) == folder


# --- The variables of the program ---


def loss_of(frame: FrameType | None, end: Entry) -> Tensor | None:
    """Return the tensor from which a sweep begins; None if the sweep itself is recorded, as for second derivatives."""
    for _ in range(FRAMES):
        if frame is None:
            return None
        variables = frame.f_locals
        if variables.get("create_graph") is True:
            return None
        for name in ("self", "output", "tensor"):
            value = variables.get(name)
            if isinstance(value, Tensor) and value._node is end:
                return value
        frame = frame.f_back
    return None


def is_writing(frame: FrameType | None) -> bool:
    """Return whether the sweep is one of :func:`write_numpy`, whose runs are no training steps."""
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith("minigrad.codegen."):
        frame = frame.f_back
    return frame is not None


def inputs_of(frame: FrameType | None) -> list[Tensor]:
    """Return the fresh inputs of a transform that runs the sweep."""
    for _ in range(FRAMES):
        if frame is None:
            return []
        given = getattr(frame.f_locals.get("self"), "inputs", None)
        if isinstance(given, tuple):
            return [value for _, value in reachable({"inputs": given}) if isinstance(value, Tensor)]
        frame = frame.f_back
    return []


def variables_of(frame: FrameType | None) -> dict[str, Any]:
    """Return the variables of the program's running functions and of its file, the innermost first."""
    found: dict[str, Any] = {}
    for own in frames_of(frame):
        for name, value in [*own.f_locals.items(), *own.f_globals.items()]:
            if not name.startswith("__"):
                found.setdefault(name, value)
    return found


def frames_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the program's own code, the innermost first. What runs its file, such as IPython, is not one."""
    while frame is not None:
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            yield frame
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


def reachable(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and arrays that variables hold, directly or in lists, dicts and objects, each with its path."""
    waiting: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in variables.items()]
    seen: set[int] = set()
    for path, value, depth in waiting:
        if len(waiting) > MOST_VALUES:
            return
        if isinstance(value, (Tensor, np.ndarray)):
            yield path, value
            continue
        if id(value) in seen or depth >= DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting += [
                (f"{path}[{key!r}]", item, depth + 1) for key, item in value.items() if isinstance(key, (str, int))
            ]
        elif isinstance(value, (list, tuple)) and len(value) <= 200:
            waiting += [(f"{path}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        elif _is_plain_object(value):
            own = of_library(type(value).__module__)  # not the buffers of an optimizer, whose views parameters are
            names = [name for name in vars(value) if not (own and name.startswith("_"))]
            waiting += [(f"{path}.{name}", vars(value)[name], depth + 1) for name in names]


def scalar(value: Any) -> float | None:
    """Return the value of a number or of a tensor of one element; None for other values."""
    if isinstance(value, Tensor):
        return float(value._array.real.item()) if value.size == 1 and value.dtype.kind == "f" else None
    return float(value) if isinstance(value, (float, np.floating)) else None


def _is_plain_object(value: Any) -> bool:
    kind = type(value)
    module = str(getattr(kind, "__module__", "")).partition(".")[0]
    known = module in ("numpy", "builtins", "types", "minigrad", "collections", "functools")
    return hasattr(value, "__dict__") and not isinstance(value, type) and not known and not _is_callable(value)


def _is_callable(value: Any) -> bool:
    return type(value).__name__ in ("function", "module", "method", "builtin_function_or_method")


def address(value: Any) -> int:
    """Return the address of the first element of an array; 0 for other values."""
    array = value._array if isinstance(value, Tensor) else value
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else 0
