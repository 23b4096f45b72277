"""``explain`` writes a page that steps through a computation: its operations, then its vector-Jacobian products.

First it finds the sweep to show. Then ``page_data`` collects all that the page knows: the nodes, the edges, the steps, and what
is wrong with some of them. ``packing`` and ``html`` write it into a file.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..._source import program_variable
from ...engine.registry import is_elementwise
from ...engine.tape import sweep, tape
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError, MinigradError
from ...guards.nonfinite import is_bad
from ...guards.origin import bad_contributions, forward_marks, summed_contributions
from ...rules.about import known
from ...rules.indexing import clip
from ...rules.neural import softmax
from ..record.capture import capture
from ..record.derivatives import comparisons
from ..record.model import Edge, Graph, Node
from .causes import backward_cause, forward_cause, given, sum_cause
from .equations import equation, notation
from .formulas import formula, formula_values
from .html import Page, check_language, save_page
from .lesson import MOST_ASKED, validated
from .packing import packed
from .programs import program
from .raised import raised
from .replay import replay_data
from .scenes import scenes
from .tensors import MOST_MOVED, Tensors, keyword_data, shown, values_of

MOST_CHECKED = 200  # operations of a graph whose derivatives are checked by default
MOST_WRITTEN = 120  # operations; above this, the search for loops in them can take longer than the page itself
MOST_NUMBERS = 4_000_000  # elements of all results; above this, running them a second time takes long

Data = dict[str, Any]

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
    tokens = program_variable("tokens")
    failed = isinstance(tensor, BaseException)
    graph, lesson = raised(tensor) if isinstance(tensor, BaseException) else (_swept(tensor, params), lesson)
    with _collector_at_rest():
        data = page_data(graph, False if failed else check, show, tokens)
    data["lesson"], data["step"] = validated(lesson, data), step
    data["written"] = None if failed else _written(graph, data["steps"])
    with _collector_at_rest():
        columns = packed(data)
    title = f"{data['title']}: step by step"
    return save_page(path, "stepper", columns, language, title=title, scripts=SCRIPTS, more=["play"])


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Pause the garbage collector. A page's lists and dicts all stay in use, and scanning them takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- the sweep to show ---


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
    if _gradients(graph.nodes[end])[output] is None:
        return False
    sums = {(edge.source, edge.output or 0): total for edge, _, total in summed_contributions(graph)}
    different = {
        node.id
        for node in graph.operations()
        for i, arrived in enumerate(_gradients(node))
        if not _close(arrived, sums.get((node.id, i))) and node.id != end
    }
    return not different or different <= {
        node.id for node, entry in zip(graph.operations(), tape(tensor)) if entry.hooks and entry.hooks.functions
    }


def _close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b)) or np.allclose(a, b, rtol=1e-3, equal_nan=True)


def _gradients(node: Node) -> list[Any]:
    """Return the gradient of each output of a node; None if none has arrived."""
    count = len(node.value) if isinstance(node.value, tuple) else 1
    return [node.cotangent.get(i) if isinstance(node.cotangent, dict) else node.cotangent for i in range(count)]


# --- the data of the page ---


def page_data(graph: Graph, check: bool | None = None, show: Any = None, tokens: Any = None) -> Data:
    """Return all data of the page. ``tokens`` is what the program calls so; see ``explain`` for the others.

    A forward step is ``["forward", node]``. A backward step ``["product", edge]`` applies an operation's rule and adds the
    result to the operand's gradient. If the result must first be summed over broadcast axes, made real or cast, a step
    ``["fit", edge]`` follows and adds it instead.
    """
    labels = [node.label for node in graph.nodes]
    files, spans = program(graph)
    drawn, home = scenes(graph, labels)
    tensors = Tensors(graph)
    views = shown(show, graph, labels, tokens)
    into = graph.edges_into()
    nodes = [
        _node(node, into.get(node.id, ()), tensors, views.get(node.id))
        | {"name": labels[node.id], "span": spans[node.id], "scene": home[node.id]}
        | {"changed": _changed(node, into.get(node.id, ()))}
        for node in graph.nodes
    ]
    edges = {edge: _edge(edge, graph, into[edge.target], tensors) for edge in graph.edges}
    steps = [("forward", node.id) for node in graph.operations()]
    turn = len(steps)
    steps += _backward_steps(graph, edges, tensors)
    add_causes(graph, nodes)
    if check or (check is None and turn <= MOST_CHECKED):
        _add_checks(graph, edges)
    return {
        "title": labels[graph.ends[0][0]],
        "program": {"files": files},
        "nodes": nodes,
        "edges": list(edges.values()),
        "steps": steps,
        "turn": turn,
        "end": graph.ends[0],
        "replay": replay_data(graph),
        "modules": [{"name": m.title, "kind": m.kind, "parent": m.parent} for m in graph.modules],
        "scenes": drawn,
        "lesson": None,
        "maps": {"side": tensors.side, "left": tensors.left, "count": tensors.count},
        "limits": {"moved": MOST_MOVED, "asked": MOST_ASKED},
    }


def _node(node: Node, operands: Sequence[Edge], tensors: Tensors, show: Data | None) -> Data:
    return {
        "kind": node.kind,
        "operation": node.operation,
        "tells": "rows" if node.primitive is softmax else "zeros" if known(node.primitive).dies else None,
        "details": node.details,
        "keywords": keyword_data(node.keywords),
        "module": node.module,
        **tensors.of_node(node, operands, _gradients(node), show),
        "notation": notation(node, len(operands)),
        "bad": None,
        "badGradient": None,
        "why": None,
    }


def _changed(node: Node, operands: Sequence[Edge]) -> list[str]:
    """Return what else happened to the operands here: one was broadcast, its dtype changed, or values were clipped."""
    if node.operation is None or isinstance(node.value, tuple) or node.value is None:
        return []
    found = []
    arrays = [edge.value for edge in operands if edge.value is not None]
    elementwise = is_elementwise(node.primitive)
    if elementwise and len(arrays) > 1 and any(np.shape(a) != np.shape(node.value) for a in arrays):
        found.append("broadcast")
    typed = {a.dtype.kind + str(a.dtype.itemsize) for a in arrays if isinstance(a, (np.ndarray, np.generic))}
    result = np.asarray(node.value).dtype
    if elementwise and result.kind in "fc" and typed - {result.kind + str(result.itemsize)}:
        found.append("cast")
    if node.primitive is clip and operands and np.any(np.not_equal(operands[0].value, node.value)):
        found.append("clipped")
    return found


def _edge(edge: Edge, graph: Graph, operands: Sequence[Edge], tensors: Tensors) -> Data:
    """Return the data of one edge. ``operands`` are all edges into its operation."""
    source, node = graph.nodes[edge.source], graph.nodes[edge.target]
    usual = source.value[edge.output] if edge.output is not None and source.value is not None else source.value
    rule = None if edge.contribution is None else formula(node.primitive, edge.argument)
    by = f"/d {edge.argument}" if len(operands) > 1 else ""
    about: Data = {
        "source": edge.source,
        "target": edge.target,
        "argument": edge.argument,
        "output": edge.output or 0,
        "value": None if edge.value is usual else tensors.array(edge.value),
        "raw": tensors.array(edge.raw),
        "amount": None if edge.contribution is edge.raw else tensors.array(edge.contribution),
        "sum": None,
        "answer": "y",
        "formula": None,  # the local derivative, with the names of its rule
        "equation": None,  # the same as a tree, which the page writes with the names of the program
        "elementwise": False,
        "check": None,
    }
    if rule is not None:
        head = f"d {node.operation}{by}: "
        about["answer"], about["elementwise"] = rule.answer, rule.elementwise
        about["formula"] = {"en": head + rule.text, "ja": head + rule.text_ja}
        values = formula_values(node, operands, edge)
        about["equation"] = equation(rule, node.primitive, edge.argument, values)
    return about


def _backward_steps(graph: Graph, edges: Mapping[Edge, Data], tensors: Tensors) -> list[tuple[str, int]]:
    """Return the steps of the sweep. Store with each edge the gradient of its source after its last step."""
    numbers = {edge: number for number, edge in enumerate(edges)}
    steps = []
    for edge, _, total in summed_contributions(graph):
        edges[edge]["sum"] = tensors.array(total)
        kinds = ["product"] if edge.raw is edge.contribution else ["product", "fit"]
        steps += [(kind, numbers[edge]) for kind in kinds]
    return steps


# --- is it right? ---


def _add_checks(graph: Graph, edges: Mapping[Edge, Data]) -> None:
    """Set ``check`` of each edge to its comparison with a finite difference."""
    # An operation that cannot run again near its operands has no check. The page says how many there are.
    for edge, comparison in comparisons(graph, skipped=(MinigradError, ArithmeticError, ValueError, TypeError)):
        if math.isfinite(comparison.exact) and math.isfinite(comparison.numeric):
            edges[edge]["check"] = comparison._asdict()
        elif comparison.reason in ("left out", "unsteady"):
            edges[edge]["unchecked"] = True


def add_causes(graph: Graph, nodes: Sequence[Data]) -> None:
    """Set ``bad`` and ``badGradient`` of culprits, which made a NaN or infinity, and of victims, and ``why`` of culprits."""
    into = graph.edges_into()
    labels = [about["name"] for about in nodes]
    for number, mark in forward_marks(graph).items():
        node, about = graph.nodes[number], nodes[number]
        about["bad"] = mark
        if mark == "culprit":
            about["why"] = given() if node.operation is None else forward_cause(node, into[number], labels)
    reached: dict[int, str] = {}  # the nodes whose gradient is not finite, as culprits or victims
    for edge, total in bad_contributions(graph):
        reached.setdefault(edge.source, "victim" if total is None else "culprit")
        node, about = graph.nodes[edge.target], nodes[edge.target]
        marked = about["bad"] is not None or any(nodes[e.source]["bad"] is not None for e in into[node.id])
        if total is None and not (marked or is_bad(node.cotangent)) and about["badGradient"] is None:
            about["badGradient"] = "culprit"
            about["why"] = about["why"] or backward_cause(node, into[node.id], edge, labels)
    for node, about in zip(graph.nodes, nodes):
        if about["badGradient"] is None and (node.id in reached or is_bad(node.cotangent)):
            about["badGradient"] = reached.get(node.id, "victim")
            if about["badGradient"] == "culprit":
                about["why"] = about["why"] or sum_cause(node)


# --- the run as a program ---


def _written(graph: Graph, steps: Sequence[tuple[str, int]]) -> Data | None:
    """Return the run as a NumPy program, or the reason why there is none; None without the package ``codegen``.

    A line has the numbers of the steps that it runs, counted from 1. For a step without a line of its own, ``elsewhere`` has
    the line that shows its value.
    """
    if find_spec("...codegen", __package__) is None:
        return None
    operations = list(graph.operations())
    numbers = sum(np.size(value) for node in operations for value in values_of(node))
    if len(operations) > MOST_WRITTEN or numbers > MOST_NUMBERS:
        limits = {"operations": len(operations), "numbers": numbers, "most": MOST_WRITTEN, "mostNumbers": MOST_NUMBERS}
        return {"reason": "tooLarge", **limits}
    from ...codegen.traced import written_trace

    try:
        written, lines, elsewhere = written_trace(graph)
    except MinigradError as error:
        return {"reason": "refused", "why": str(error)}
    number = {step: i + 1 for i, step in enumerate(steps)}
    number |= {("sum", e): number.get(("fit", e), n) for (kind, e), n in [*number.items()] if kind == "product"}
    return {
        "constants": [f"{name} {array.dtype} {array.shape}" for name, array in written.constants.items()],
        "lines": [line for line, _ in lines],
        "steps": [sorted({number[step] for step in line_steps if step in number}) for _, line_steps in lines],
        "elsewhere": {number[step]: line for step, line in elsewhere.items() if step in number},
    }
