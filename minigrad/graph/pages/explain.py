"""``explain``: a page on which the backward pass is stepped through, one vector-Jacobian product at a time."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np

from ...engine.tape import sweep, tape
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from ..record.capture import capture
from ..record.model import Graph
from .embed import Page
from .html import check_language, save_page
from .lesson import validated
from .packing import packed
from .page_data import cotangent_of, outputs_of, page_data
from .truth import MOST_CHECKED

# Each builds on those before it.
WHAT_IF = ["nd", "numpy", "python", "whatif"]
PARTS = ["timeline", "places", "heat", "equation", "code", "camera", "parts", "hand", "scene", "node", "panel"]
SCRIPTS = ["unpack", "arrays", "elements", *WHAT_IF, "mistakes", *PARTS, "quiz", "editing", "play", "lesson"]


def explain(
    tensor: Tensor,
    path: str | os.PathLike[str] = "explain.html",
    params: Any = None,
    *,
    language: str = "en",
    check: bool | None = None,
    lesson: Any = None,
    step: int | None = None,
) -> Page:
    """Write a page that steps through the computation of ``tensor``, forward and backward: one file, which needs no network
    and no server.

    It shows the program, its graph, and what each step does. Forward a step is an operation. Backward it is one
    vector-Jacobian product, in the order in which ``backward()`` carries them out: the derivative of one operation by one
    operand, as a formula in the program's own names and with this run's numbers, added to that operand's gradient. Where a
    gradient must be summed because its operand was broadcast, that is a step of its own. Loops and equal layers are folded,
    modules are closed until they are opened, so graphs of any size can be shown. The first NaN or infinity is marked, and why.

    The computation must have been traced. If ``backward()`` has come through it, its numbers are shown; else they are
    computed here, with the cotangent 1, and no ``grad`` is changed (hooks of the graph are called).

    Args:
        path: where the page goes.
        params: names for tensors, as for :func:`draw_dot`.
        language: of the page as it is first shown, "en" or "ja"; the reader can switch.
        check: whether each derivative is compared with a finite difference, as ``check_edges`` does; by default in graphs of
            up to 200 operations.
        lesson: what a teacher says at which step, where the page stops and what it asks: a dict, the path of a JSON file, or
            the name of a lesson that comes with minigrad ("chain_rule", "two_paths", "neuron_batch"). See docs/views.md.
        step: which step of a training run this is, counted from 0; the page names it.

    Returns:
        ``path``, which in a notebook shows the page itself.

    Raises:
        GraphError: ``tensor`` was not recorded, or not inside ``with minigrad.trace():``; or its graph was freed by a sweep
            that is not the one to show.
        ArgumentError: ``language``, ``check`` or ``params`` is something else; or a field of ``lesson`` is, which is named.

    Example:
        >>> import pathlib, tempfile
        >>> import minigrad as mg
        >>> x = mg.Tensor(2.0, requires_grad=True)
        >>> with mg.trace():
        ...     loss = x * x
        >>> with tempfile.TemporaryDirectory() as folder:  # elsewhere: mg.explain(loss, "explain.html")
        ...     page = mg.explain(loss, pathlib.Path(folder, "explain.html"))
        ...     "<html" in page.read_text(encoding="utf-8")
        True
    """
    check_language(language, "explain")
    if check not in (None, True, False):
        raise ArgumentError(f"explain takes check=True, False or None (up to {MOST_CHECKED} operations), got {check!r}")
    graph = _swept(tensor, params)
    data = page_data(graph, check)
    data["lesson"], data["step"] = validated(lesson, data), step
    title = f"{data['title']}: step by step"
    return save_page(path, "stepper", packed(data), language, title=title, scripts=SCRIPTS, more=["play"])


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
    if cotangent_of(graph.nodes[end], output) is None:
        return False
    hooked = {node.id for node, entry in zip(graph.operations(), tape(tensor)) if entry.hooks and entry.hooks.functions}
    sums: dict[int, dict[int, Any]] = defaultdict(dict)
    for edge in graph.contributions():
        sent, output = sums[edge.source], edge.output or 0
        sent[output] = sent[output] + edge.contribution if output in sent else edge.contribution
    for node in graph.operations():
        arrived = {i: c for i in range(outputs_of(node)) if (c := cotangent_of(node, i)) is not None}
        sent = sums[node.id]
        same = arrived.keys() == sent.keys() and all(_close(arrived[i], sent[i]) for i in sent)
        if not same and node.id != end and node.id not in hooked:
            return False
    return True


def _close(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) or np.allclose(a, b, rtol=1e-3, equal_nan=True)
