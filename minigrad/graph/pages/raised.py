"""The page of a program that raised: its computation up to the line that raised, and the shapes that met there."""

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
from ..record.capture import Capture
from ..record.expressions import Program
from ..record.model import Edge, Graph, Node
from ..record.names import give_labels
from ..record.trace import Constant

NUMBERS = (Tensor, np.ndarray, np.generic, int, float, complex)
LONGEST = 300  # characters of the error's message

Text = dict[str, str]


def raised(error: BaseException) -> tuple[Graph, dict[str, Any]]:
    """Return the graph that ends with the operation that raised, and a lesson that says why.

    Raises:
        GraphError: no recorded tensor is in the program's frames.
    """
    users, call = _frames(error.__traceback__)
    given = list(call.f_locals["args"]) if call is not None else []
    met = [value for value in given if isinstance(value, Tensor) and value._node is not None] or _latest(users)
    if not users or not met:
        raise GraphError(
            f"explain has nothing to show of this {type(error).__name__}: no tensor was recorded before it; run the program "
            "inside 'with minigrad.trace():'"
        )
    walk = Capture({})
    graph = walk.run(met, wengert_list(tensor._node for tensor in met))
    for number, _ in graph.ends:
        graph.nodes[number].kind = "operation" if graph.nodes[number].operation else graph.nodes[number].kind
    source, lines = place_in(users[-1])
    graph.programs.setdefault(source.file, [line.rstrip("\r\n") for line in lines])
    end = _operation(walk, source, call, type(error).__name__)
    give_labels(graph, walk.paths, walk.texts)
    program = Program(lines)
    here = program.at(source)
    end.label = (program.text(here) if here is not None else source.text) or str(end.operation)
    return graph, _lesson(error, graph, end, os.path.basename(source.file))


def _operation(walk: Capture, source: SourceLine, call: FrameType | None, kind: str) -> Node:
    """Add the operation that raised, with its operands, and return it. Without ``call``, the program itself raised."""
    graph = walk.graph
    primitive: Any = None if call is None else call.f_locals["self"]
    arguments = () if call is None else call.f_locals["args"]
    names = () if call is None else primitive.argument_names(len(arguments))
    edges = []
    for i, (name, value) in enumerate(zip(names, arguments)):
        if not isinstance(value, NUMBERS):
            continue
        node, array = (value._node, value._array) if isinstance(value, Tensor) else (None, np.asarray(value))
        given = array if isinstance(value, Tensor) else value
        number = walk.constant(Constant(i, given)) if node is None else walk.value(node)
        edges.append(Edge(number, 0, name, node.index if type(node) is Output else None, array.shape, array))
        if graph.nodes[number].operation is None:
            graph.nodes[number].value = array
    end = Node(len(graph.nodes), "loss", kind, None, None, "", primitive=primitive, source=source)
    end.operation = kind if primitive is None else primitive.name
    for edge in edges:
        edge.target = end.id
    graph.edges += edges
    graph.nodes.append(end)
    graph.ends = [(end.id, 0)]
    return end


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
    """Return the tensor that was computed last of those in the variables of the program."""
    variables = [value for traceback in users for value in traceback.tb_frame.f_locals.values()]
    variables += [item for value in variables if isinstance(value, (list, tuple)) for item in value]
    found = [v for v in variables if isinstance(v, Tensor) and v._node is not None and type(entry_of(v._node)) is Entry]
    return [max(found, key=lambda tensor: entry_of(tensor._node).seq)] if found else []


def _lesson(error: BaseException, graph: Graph, end: Node, file: str) -> dict[str, Any]:
    assert end.source is not None
    kind, line = type(error).__name__, end.source.line
    message = " ".join(str(error).split())[:LONGEST] or kind
    edges = [edge for edge in graph.edges if edge.target == end.id]
    met = ", ".join(f"{graph.nodes[edge.source].label}: {edge.shape}" for edge in edges)
    shapes = (
        {"en": f"The operands and their shapes: {met}. ", "ja": f"被演算子とその形状：{met}。"}
        if met
        else {"en": "", "ja": ""}
    )
    return {
        "title": {
            "en": f"The program raised {kind} in line {line}",
            "ja": f"プログラムは {line} 行目で {kind} を送出しました",
        },
        "intro": {
            "en": f"{kind}: {message} The page shows the computation up to this line of {file}. There is no backward pass.",
            "ja": f"{kind}: {message} このページは {file} のこの行までの計算を表示します。逆伝播はありません。",
        },
        "steps": [
            {"at": sum(1 for _ in graph.operations()), "text": {k: v + f"{kind}: {message}" for k, v in shapes.items()}}
        ],
    }
