"""``explain``: a page on which the backward pass is stepped through, one vector-Jacobian product at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.tape import sweep, tape
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from ..draw.graphviz import MOST_NODES
from ..record.capture import capture
from ..record.keywords import keyword_data
from ..record.model import Edge, Graph, Node
from .depths import drawings
from .formulas import formula, formula_values
from .html import LANGUAGES, check_language, save_page

MOST_SHOWN = 64  # elements of an array; of a larger one the page knows shape, min, mean, max and norm
MOST_SCALARS = 300  # in a graph whose leaves can be edited
# Each builds on those before it.
WHAT_IF = ["nd", "whatif_rules", "whatif_products", "whatif"]
SCRIPTS = ["arrays", *WHAT_IF, "drawing", "panel", "quiz", "editing"]


def explain(
    tensor: Tensor, path: str | os.PathLike[str] = "explain.html", params: Any = None, *, language: str = "en"
) -> Path:
    """Write a page that steps through the backward pass of ``tensor``: one file, which needs no network and no server.

    Each step is one vector-Jacobian product, in the order in which ``backward()`` carries them out: the derivative of one
    operation by one operand, as a formula and with this run's numbers, added to that operand's gradient. Where a gradient must
    be summed because its operand was broadcast, that is a step of its own.

    The computation must have been traced. If ``backward()`` has come through it, its numbers are shown; else they are
    computed here, with the cotangent 1, and no ``grad`` is changed (hooks of the graph are called).

    Args:
        path: where the page goes.
        params: names for tensors, as for :func:`draw_dot`.
        language: of the page as it is first shown, "en" or "ja"; the reader can switch.

    Returns:
        ``path``.

    Raises:
        GraphError: ``tensor`` was not recorded, or not inside ``with minigrad.trace():``; or its graph was freed by a sweep
            that is not the one to show; or it is too large to be laid out.
        ArgumentError: ``language`` or ``params`` is something else.
        MissingExtraError: no layout program is installed.

    Example:
        >>> with minigrad.trace():
        ...     loss = model.loss(batch)
        >>> minigrad.explain(loss, "explain.html", params=model)
    """
    check_language(language, "explain")
    graph = _swept(tensor, params)
    data = page_data(graph) | drawings(graph)
    return save_page(path, "stepper", data, language, title=_title(graph), scripts=SCRIPTS)


def _title(graph: Graph) -> str:
    end = graph.nodes[graph.ends[0][0]]
    return f"{end.name or end.operation}: backward, step by step"


# The sweep to show


def _swept(tensor: Tensor, params: Any) -> Graph:
    """The graph with the contributions of a sweep that began at ``tensor``: the last one, or else a new one."""
    graph = capture(tensor, params, caller="explain")
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"explain needs a Tensor, got {type(tensor).__name__}")
    operations = list(graph.operations())
    untraced = sum(node.value is None for node in operations)
    if not operations:
        raise GraphError(f"explain({tensor._describe()}): it was given, not computed, so there is no step to show")
    if untraced:
        raise GraphError(
            f"explain needs the values of the operations, and {untraced} of {len(operations)} were recorded without: compute "
            "the tensor, all of it, inside 'with minigrad.trace():'"
        )
    if len(graph.nodes) > MOST_NODES and not graph.modules:
        raise GraphError(
            f"explain shows at most {MOST_NODES} nodes at once, and this graph has {len(graph.nodes)}, none of them in a "
            "module that could be closed: explain the result of fewer operations"
        )
    if _is_its_own_sweep(graph, tensor):
        return graph
    if any(entry.kept is None for entry in tape(tensor)):
        raise GraphError(
            "explain has no backward pass to show: none from this tensor is written down, and what a new one needs was freed "
            "by a backward pass from another; call explain before that, or give that one retain_graph=True"
        )
    sweep({tensor._node: tensor._cotangent(None)}, retain_graph=True)
    return capture(tensor, params, caller="explain")


def _is_its_own_sweep(graph: Graph, tensor: Tensor) -> bool:
    """Whether the gradients that are noted began at ``tensor``.

    Not if another tensor's backward pass came through a part of the graph since: at its border what arrived is not the sum
    of what was sent. Nor does it match where a hook changed it, which is as it should be.
    """
    end, output = graph.ends[0]
    if _cotangent(graph.nodes[end], output) is None:
        return False
    hooked = {node.id for node, entry in zip(graph.operations(), tape(tensor)) if entry.hooks and entry.hooks.functions}
    sums: dict[tuple[int, int], Any] = {}
    for edge in graph.contributions():
        slot = edge.source, edge.output or 0
        sums[slot] = sums[slot] + edge.contribution if slot in sums else edge.contribution
    for node in graph.operations():
        arrived = {i: c for i in range(_outputs(node)) if (c := _cotangent(node, i)) is not None}
        sent = {i: total for (number, i), total in sums.items() if number == node.id}
        same = arrived.keys() == sent.keys() and all(
            np.allclose(arrived[i], sent[i], rtol=1e-3, equal_nan=True) for i in sent
        )
        if not same and node.id != end and node.id not in hooked:
            return False
    return True


def _cotangent(node: Node, output: int) -> Any:
    return node.cotangent.get(output) if isinstance(node.cotangent, dict) else node.cotangent


def _outputs(node: Node) -> int:
    return len(node.value) if isinstance(node.value, tuple) else 1


# What the page knows


def page_data(graph: Graph) -> dict[str, Any]:
    """Nodes, edges and modules, and the steps: what every press of the button does.

    A step is ``[edge, kind]``; "product" applies the operation's rule, and what it gives is added to the operand's gradient,
    unless "fit" follows, which first makes it one of the operand's: summed over broadcast axes, real, cast.
    """
    scalars = sum(np.size(value) for node in graph.nodes for value in _values(node))
    most = MOST_SCALARS if scalars <= MOST_SCALARS else MOST_SHOWN
    into = graph.edges_into()
    numbers = {id(edge): number for number, edge in enumerate(graph.edges)}
    steps: list[tuple[int, str]] = []
    sums: dict[tuple[int, int], Any] = {}
    edges = [_edge(edge, graph, into, most) for edge in graph.edges]
    for edge in graph.contributions():
        number = numbers[id(edge)]
        steps.append((number, "product"))
        if edge.raw is not edge.contribution:
            steps.append((number, "fit"))
        slot = edge.source, edge.output or 0
        sums[slot] = sums[slot] + edge.contribution if slot in sums else edge.contribution
        edges[number]["sum"] = array(sums[slot], most)
    return {
        "nodes": [_node(node, most) for node in graph.nodes],
        "edges": edges,
        "steps": steps,
        "end": graph.ends[0],
    }


def array(value: Any, most: int = MOST_SHOWN) -> dict[str, Any] | None:
    """An array for the page: its values, or of a large one a summary. None if it is none, or not of numbers."""
    found = np.asarray(value)
    if value is None or found.dtype.kind not in "fciub":
        return None
    about: dict[str, Any] = {"shape": found.shape, "dtype": str(found.dtype)}
    if found.size <= most:
        return about | {"values": found.ravel()}
    wide = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    with np.errstate(all="ignore"):
        about["norm"] = np.linalg.norm(wide)
        if found.dtype.kind != "c":
            about |= {"min": wide.min(), "mean": wide.mean(), "max": wide.max()}
    return about


def _values(node: Node) -> Sequence[Any]:
    return node.value if isinstance(node.value, tuple) else () if node.value is None else (node.value,)


def _node(node: Node, most: int) -> dict[str, Any]:
    source = node.source
    return {
        "kind": node.kind,
        "operation": node.operation,
        "name": node.name,
        "details": node.details,
        "keywords": keyword_data(node.keywords),
        "module": node.module,
        "source": source and [os.path.basename(source.file), source.line, source.text],
        "values": [array(value, most) for value in _values(node)],
        "gradients": [array(_cotangent(node, i), most) for i in range(_outputs(node))],
    }


def _edge(edge: Edge, graph: Graph, into: dict[int, list[Edge]], most: int) -> dict[str, Any]:
    source = graph.nodes[edge.source]
    usual = source.value[edge.output] if edge.output is not None and source.value is not None else source.value
    about: dict[str, Any] = {
        "source": edge.source,
        "target": edge.target,
        "argument": edge.argument,
        "output": edge.output or 0,
        "value": None if edge.value is usual else array(edge.value, most),
        "raw": array(edge.raw, most),
        "amount": None if edge.contribution is edge.raw else array(edge.contribution, most),
        "formula": None,
        "numbers": None,
        "answer": "y",
    }
    if edge.contribution is not None:
        about |= _formula(edge, graph.nodes[edge.target], into[edge.target])
    return about


def _formula(edge: Edge, node: Node, operands: list[Edge]) -> dict[str, Any]:
    """The local derivative as a formula, and with this run's numbers; what it calls the operation's result."""
    found = formula(node.primitive, edge.argument)
    if found is None:
        return {}
    values = formula_values(node, operands, edge)
    by = f"/d {edge.argument}" if len(operands) > 1 else ""
    texts = {"en": found.text, "ja": found.text_ja}
    return {
        "formula": {language: f"d {node.operation}{by}: {text}" for language, text in texts.items()},
        "numbers": {language: found.with_numbers(values, language) for language in LANGUAGES},
        "answer": found.answer,
    }
