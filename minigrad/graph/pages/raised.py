"""Prepares the page of a program that raised an error. It ends at the line of the error, and shows the shapes there."""

from __future__ import annotations

import os
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from ..._source import SourceLine, of_library, place_in
from ...engine.primitive import Primitive
from ...engine.tape import Entry, Output, entry_of, wengert_list
from ...engine.tensor import Tensor
from ...errors import GraphError
from ...source.expressions import text_of
from ...source.index import index_of
from ..record.capture import Capture
from ..record.model import Edge, Graph
from ..record.trace import Constant
from .causes import sentences

NUMBERS = (Tensor, np.ndarray, np.generic, int, float, complex)
LONGEST = 300  # characters of the error's message


def raised(error: BaseException) -> tuple[Graph, dict[str, Any]]:
    """Return the graph that ends with the operation that raised, and a lesson that describes the error.

    Raises:
        GraphError: no recorded tensor is in the program's frames.
    """
    users, call = _frames(error.__traceback__)
    given = call.f_locals["args"] if call is not None else ()
    recorded = [value for value in given if isinstance(value, Tensor) and value._node is not None] or _latest(users)
    if not users or not recorded:
        raise GraphError(
            f"explain has nothing to show for this {type(error).__name__}: no tensor was recorded before it; run the program "
            "inside 'with minigrad.trace():'"
        )
    walk = Capture({})
    walk.run([], wengert_list(tensor._node for tensor in recorded))
    source, lines = place_in(users[-1])
    walk.programs.setdefault(source.file, [line.rstrip("\r\n") for line in lines])
    end = _last_node(walk, source, call, type(error).__name__)
    program = index_of(source.file, lines)
    here = program.at(source)
    end["label"] = (text_of(program, here) if here is not None else source.text) or str(end["operation"])
    end["expression"] = True
    graph = walk.graph()
    return graph, _lesson(error, graph, source)


def _frames(traceback: TracebackType | None) -> tuple[list[TracebackType], FrameType | None]:
    """Return the program's part of a traceback, outermost first, and the operation that the last line of it called."""
    users: list[TracebackType] = []
    call = None
    while traceback is not None:
        frame = traceback.tb_frame
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            users, call = [*users, traceback], None
        elif call is None and frame.f_code is Primitive.__call__.__code__:
            call = frame
        traceback = traceback.tb_next
    return users, call


def _latest(users: list[TracebackType]) -> list[Tensor]:
    """Return a list of the tensor that was computed last, among the program's variables; an empty list if there is none."""
    variables = [value for traceback in users for value in traceback.tb_frame.f_locals.values()]
    variables += [item for value in variables if isinstance(value, (list, tuple)) for item in value]
    found = [v for v in variables if isinstance(v, Tensor) and v._node is not None and type(entry_of(v._node)) is Entry]
    return [max(found, key=lambda tensor: entry_of(tensor._node).seq)] if found else []


def _last_node(walk: Capture, source: SourceLine, call: FrameType | None, error: str) -> dict[str, Any]:
    """Add the operation that raised, with its operands. Without ``call``, the program itself raised.

    Returns:
        The fields of its node.
    """
    primitive: Any = None if call is None else call.f_locals["self"]
    arguments = () if call is None else call.f_locals["args"]
    operands = []
    for i, value in enumerate(arguments):
        if isinstance(value, NUMBERS):
            node, given = (value._node, value._array) if isinstance(value, Tensor) else (None, value)
            number = walk.constant(Constant(i, given)) if node is None else walk.value(node)
            name, output = primitive.argument_names(len(arguments))[i], node.index if type(node) is Output else None
            operands.append((number, name, output, np.asarray(given)))
            if walk.nodes[number]["operation"] is None:
                walk.nodes[number]["value"] = operands[-1][-1]
    end = len(walk.nodes)
    walk.edges += [Edge(number, end, name, output, value.shape, value) for number, name, output, value in operands]
    operation = error if primitive is None else primitive.name
    about = {"id": end, "kind": "loss", "operation": operation, "name": None, "shape": None, "dtype": ""}
    walk.nodes.append(about | {"primitive": primitive, "source": source})
    walk.ends = [(end, 0)]
    return walk.nodes[end]


def _lesson(error: BaseException, graph: Graph, source: SourceLine) -> dict[str, Any]:
    operands = [edge for edge in graph.edges if edge.target == graph.ends[0][0]]
    about = {
        "kind": type(error).__name__,
        "line": source.line,
        "file": os.path.basename(source.file),
        "message": " ".join(str(error).split())[:LONGEST],
        "shapes": ", ".join(f"{graph.nodes[edge.source].label}: {edge.shape}" for edge in operands),
    }
    last = sentences("raised_operands" if operands else "raised", **about)
    return {
        "title": sentences("raised_title", **about),
        "intro": sentences("raised_intro", **about),
        "steps": [{"at": sum(1 for _ in graph.operations()), "text": last}],
    }
