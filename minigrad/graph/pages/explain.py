"""``explain`` writes a page that steps through a computation: its operations, then its vector-Jacobian products."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np

from ..._source import program_variable
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
from .raised import raised
from .truth import MOST_CHECKED
from .written import written

# The scripts of the page. Each one uses those before it.
WHAT_IF = ["nd", "numpy", "python", "whatif"]
SCRIPTS = [
    "unpack", "arrays", *WHAT_IF, "mistakes", "timeline", "places", "heat", "equation", "code", "written", "camera", "parts",
    "picture", "hand", "scene", "node", "panel", "quiz", "editing", "play", "lesson", "look",
    "river",
]  # fmt: skip


def explain(
    tensor: Tensor | BaseException,
    path: str | os.PathLike[str] = "explain.html",
    params: Any = None,
    *,
    language: str = "en",
    check: bool | None = None,
    lesson: Any = None,
    step: int | None = None,
    show: Any = None,
) -> Page:
    """Write a page that steps through the computation of ``tensor``, forward and backward.

    The page is one file and needs no network and no server. It shows the program, its graph, and the current step. A forward
    step is one operation. A backward step is one vector-Jacobian product, in the order of ``backward()``: the derivative of
    one operation with respect to one operand. The page shows it as a formula in the names of the program, with the numbers of
    this run, and adds the result to the operand's gradient. The sum over broadcast axes is a separate step. Loops and equal
    layers are folded, and modules are closed at first, so any graph can be shown. The first NaN or infinity is explained.

    The computation must have been traced. If ``backward()`` has run, the page shows its numbers. Otherwise ``explain``
    computes them with the cotangent 1. No ``grad`` is changed, but hooks of the graph are called.

    Args:
        tensor: the computed Tensor, or an error of the program, such as ``sys.last_value`` after a cell of a notebook has
            failed. The page of an error ends at the line that raised it and shows the shapes that met there.
        path: the path of the page.
        params: names for tensors, as in :func:`draw_dot`.
        language: the first language of the page, "en" or "ja". The reader can switch.
        check: compare each derivative with a finite difference, as in ``check_edges`` (by default up to 200 operations).
        lesson: explanations, stops and questions for the steps: a dict, the path of a JSON file, or the name of a lesson of
            minigrad ("chain_rule", "two_paths", "neuron_batch"). See docs/views.md.
        step: the number of the training step that the page names, counted from 0.
        show: how the page draws some values, by their names there. ``{"x": "image"}`` draws the last two axes in grey,
            ``{"x": (28, 28)}`` draws each row as an image of that size, and ``{"weights": tokens}`` writes the tokens, a list
            of texts, beside the rows and columns (a pair of lists if they differ). For the attention primitive these are its
            weights. If the caller has a variable ``tokens``, attention weights and softmaxes of its length have these tokens
            without ``show``. Any other array is a map: orange above zero, blue below.

    Returns:
        ``path``. A notebook shows it as the page itself.

    Raises:
        GraphError: ``tensor`` was not recorded in a trace, or the backward pass of another tensor has freed its graph.
        ArgumentError: ``language``, ``check``, ``params``, ``show`` or a field of ``lesson`` has a wrong value. The message
            names it.

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
    failed = isinstance(tensor, BaseException)
    graph, lesson = raised(tensor) if isinstance(tensor, BaseException) else (_swept(tensor, params), lesson)
    data = page_data(graph, False if failed else check, show, program_variable("tokens"))
    data["lesson"], data["step"] = validated(lesson, data), step
    data["written"] = None if failed else written(graph, data["steps"])
    title = f"{data['title']}: step by step"
    return save_page(path, "stepper", packed(data), language, title=title, scripts=SCRIPTS, more=["play"])


# The sweep to show


def _swept(tensor: Tensor, params: Any) -> Graph:
    """Return the graph with the contributions of a sweep from ``tensor``: the last one, or else a new one."""
    graph = capture(tensor, params, caller="explain")
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"explain needs a Tensor, got {type(tensor).__name__}")
    operations = list(graph.operations())
    untraced = sum(node.value is None for node in operations)
    if not operations:
        raise GraphError(f"explain({tensor._describe()}): it was given, not computed, so there is no step to show")
    if untraced:
        raise GraphError(
            f"explain needs the values of the operations, and {untraced} of {len(operations)} were recorded without values: "
            "run the whole computation inside 'with minigrad.trace():'"
        )
    if _is_its_own_sweep(graph, tensor):
        return graph
    if any(entry.kept is None for entry in tape(tensor)):
        raise GraphError(
            "explain has no backward pass to show: the trace has recorded none from this tensor, and a backward pass from "
            "another tensor has freed the graph; call explain before that pass, or give that pass retain_graph=True"
        )
    sweep({tensor._node: tensor._cotangent(None)}, retain_graph=True)
    return capture(tensor, params, caller="explain")


def _is_its_own_sweep(graph: Graph, tensor: Tensor) -> bool:
    """Return whether the recorded gradients come from a sweep that began at ``tensor``.

    They do not if the sweep of another tensor has passed through a part of the graph since. Then at the border of that part
    a cotangent is not the sum of its contributions. Operations with hooks are left out, because a hook may change it too.
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
