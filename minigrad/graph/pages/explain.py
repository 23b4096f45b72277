"""``explain`` writes a page that steps through a computation: its operations, then its vector-Jacobian products.

First it finds the sweep to show. Then ``page_data`` collects all that the page knows: the parts of the user's program, the
nodes, the edges, the steps, and what is wrong with some of them. ``packed`` makes columns of it, and ``html`` writes a file.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from importlib.util import find_spec
from operator import or_
from typing import Any

import numpy as np

from ..._source import SourceLine
from ...engine.tensor import Tensor
from ...errors import ArgumentError, MinigradError
from ...guards.checking import Comparison
from ...source.index import index_of
from ..record.capture import swept, unlike_their_sums
from ..record.derivatives import comparisons
from ..record.model import Edge, Graph
from .causes import causes_of
from .formulas import said_of
from .html import Page, check_language, save_page
from .lesson import MOST_ASKED, validated
from .points import data_of
from .replay import replay_data
from .scenes import scenes
from .tensors import MOST_MOVED, Tensors, shown

MOST_CHECKED = 200  # operations of a graph whose derivatives are checked by default
MOST_WRITTEN = 120  # operations; above this, the search for loops in them can take longer than the page itself
UNCHECKED = MinigradError, ArithmeticError, ValueError, TypeError  # an operation that raises one of them has no check
MOST_NUMBERS = 4_000_000  # elements of all results; above this, running them a second time takes long

Data = dict[str, Any]

# The scripts of the page. Each one uses those before it.
WHAT_IF = ["nd", "numpy", "python", "whatif"]
SCRIPTS = [
    "unpack", "arrays", *WHAT_IF, "timeline", "mistakes", "places", "heat", "depends", "equation", "code", "written",
    "camera", "parts", "picture", "hand", "scene", "node", "panel", "quiz", "editing", "play", "lesson", "look",
    "ribbons", "data",
]  # fmt: skip


def explain(
    tensor: Tensor,
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
        tensor: the computed Tensor.
        path: the path of the page.
        params: names for tensors, as in :func:`draw_dot`.
        language: the first language of the page, "en" or "ja". The reader can switch.
        check: compare each derivative with a finite difference, as in ``check_edges`` (by default up to 200 operations).
        lesson: explanations, stops and questions for the steps: a dict, the path of a JSON file, or the name of a lesson of
            minigrad ("chain_rule", "two_paths", "neuron_batch"). See docs/views.md.
        step: the number of the training step that the page names, counted from 0.
        show: the data, and how the page draws some values. ``{"points": (x, y)}`` draws the examples of x, an array that the
            program has read, with the targets y: for two features a scatter plot with the model's decision behind it, for one
            feature the curve. Other names are those of values on the page. ``{"x": "image"}`` draws the last two axes in grey,
            ``{"x": (28, 28)}`` draws each row as an image of that size, and ``{"weights": tokens}`` writes the tokens, a list
            of texts, beside the rows and columns (a pair of lists if they differ) and draws ribbons between them. For the
            attention primitive these are its weights. Points and images are also found by their shapes. Any other array is a
            map: green above zero, violet below.

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
        >>> X, y = mg.Tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]]).numpy(), [0, 1, 0]
        >>> w = mg.Tensor([[0.1, 0.2], [0.3, 0.1]], requires_grad=True)
        >>> with mg.trace():
        ...     loss = -mg.log_softmax(X @ w)[[0, 1, 2], y].mean()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = mg.explain(loss, pathlib.Path(folder, "explain.html"), show={"points": (X, y)})
    """
    check_language(language, "explain")
    if check not in (None, True, False):
        raise ArgumentError(f"explain takes check=True, False or None (up to {MOST_CHECKED} operations), got {check!r}")
    graph = swept(tensor, params, caller="explain")
    with _collector_at_rest():
        data = page_data(graph, check, show)
    data["step"] = step
    if lesson is not None:
        data["lesson"] = validated(lesson, data)
    return stepper_page(path, data, language, graph)


def stepper_page(path: str | os.PathLike[str], data: Data, language: str, graph: Graph) -> Page:
    """Write the page with the data of :func:`page_data`, and with the run of the graph as a program."""
    data["written"] = _written(graph, data["steps"])
    with _collector_at_rest():
        columns = packed(data)
    title = f"{data['title']}: step by step"
    return save_page(path, "stepper", columns, language, title=title, scripts=SCRIPTS, more=["play", "data"])


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


def page_data(graph: Graph, check: bool | None = None, show: Any = None) -> Data:
    """Return all data of the page. ``explain`` describes the arguments."""
    code, spans = program(graph)
    drawn, home = scenes(graph)
    tensors, views = Tensors(graph), shown(show, graph)
    values, amounts = tensors.of_nodes(views), tensors.of_edges()
    points = data_of(show, graph, views)
    operations, rules = said_of(graph)
    causes = causes_of(graph)
    # An operation that cannot run again near its operands has no check. The page says how many there are.
    few = len(graph.edges_into) <= MOST_CHECKED
    compared = comparisons(graph, skipped=UNCHECKED) if check or (check is None and few) else []
    replay = replay_data(graph)
    return {
        "title": graph.nodes[graph.ends[0][0]].label,
        "program": code,
        "nodes": _nodes(graph, spans, home, causes, values, operations),
        "edges": _edges(graph, amounts, rules, compared),
        "steps": _steps(graph),
        "turn": len(graph.operations),
        "end": graph.ends[0],
        "replay": replay,
        "modules": [{"name": module.title} for module in graph.modules],
        "scenes": drawn,
        "data": points,
        "lesson": None,
        "step": None,
        "maps": {"side": tensors.side, "left": tensors.left, "count": tensors.count},
        "limits": {"moved": MOST_MOVED, "asked": MOST_ASKED},
    }


def _nodes(graph: Graph, spans: Sequence[list[int] | None], home: Sequence[int], *more: Sequence[Data]) -> list[Data]:
    """Return the data of each node: its own facts, its span, its scene, and ``more`` data.

    A node is ``hooked`` if a gradient is not the sum of its contributions, because a hook has changed it.
    """
    hooked = unlike_their_sums(graph)
    facts: list[Data] = [
        {"name": node.label, "kind": node.kind, "operation": node.operation, "module": node.module, "span": span}
        | {"named": not node.expression, "numeral": node.numeral, "hooked": node.id in hooked, "scene": scene}
        for node, span, scene in zip(graph.nodes, spans, home)
    ]
    return [reduce(or_, about) for about in zip(facts, *more)]


def _edges(
    graph: Graph, amounts: Sequence[Data], rules: Sequence[Data], compared: Sequence[tuple[Edge, Comparison]]
) -> list[Data]:
    """Return the data of each edge: its own facts, its arrays, its rule, and the check of its derivative."""
    edges = {
        edge: {"source": edge.source, "target": edge.target, "argument": edge.argument, "output": edge.output or 0}
        | {"check": None, "unchecked": False, **arrays, **said}
        for edge, arrays, said in zip(graph.edges, amounts, rules)
    }
    for edge, found in compared:
        if math.isfinite(found.exact) and math.isfinite(found.numeric):
            edges[edge]["check"] = found._asdict()
        elif found.reason in ("left out", "unsteady"):
            edges[edge]["unchecked"] = True
    return list(edges.values())


def _steps(graph: Graph) -> list[tuple[str, int]]:
    """Return the steps of the page.

    A forward step is ``("forward", node)``. A backward step ``("product", edge)`` applies an operation's rule and adds the
    result to the operand's gradient. If the result must first be summed over broadcast axes, made real or cast, a step
    ``("fit", edge)`` follows and adds it instead.
    """
    steps = [("forward", node.id) for node in graph.operations]
    numbers = {edge: number for number, edge in enumerate(graph.edges)}
    for edge in graph.contributions:
        kinds = ("product",) if edge.raw is edge.contribution else ("product", "fit")
        steps += [(kind, numbers[edge]) for kind in kinds]
    return steps


# --- the run as a program ---


def _written(graph: Graph, steps: Sequence[tuple[str, int]]) -> Data | None:
    """Return the run as a NumPy program, or the reason why there is none; None without the package ``codegen``.

    A line has the numbers of the steps that it runs, counted from 1. For a step without a line of its own, ``elsewhere`` has
    the line that shows its value.
    """
    if find_spec("...codegen", __package__) is None:
        return None
    operations = graph.operations
    numbers = sum(np.size(value) for node in operations for value in node.values)
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


# --- the parts of the user's program that the page shows ---

MOST_LINES = 400  # lines of all parts together
LONGEST = 80  # lines of a function that is shown as a whole
CONTEXT = 4  # lines around an operation outside of such a function
LONGEST_LINE = 10_000  # characters of a line; the page shows four rows of a long one until it is the line of the step

Stretch = tuple[int, int]  # a part of a file: its first line and its last


def program(graph: Graph) -> tuple[list[dict[str, Any]], list[list[int] | None]]:
    """Return the parts, and for each node its span: ``[part, line, column, end line, end column]``, or None."""
    texts, sources = graph.programs, [node.source for node in graph.nodes]
    used: dict[str, list[int]] = defaultdict(list)  # the lines of operations in each file
    for source in sources:
        if source is not None and source.file in texts and 1 <= source.line <= len(texts[source.file]):
            used[source.file].append(source.line)
    files: list[dict[str, Any]] = []
    place: dict[tuple[str, int], int] = {}  # file, line -> number of the part
    left = MOST_LINES
    for file, lines in used.items():
        for first, last in _stretches(file, texts[file], lines):
            last = min(last, first + left - 1)
            if last < first:
                break
            left -= last - first + 1
            place |= {(file, line): len(files) for line in range(first, last + 1)}
            shown = [line.rstrip("\n")[:LONGEST_LINE] for line in texts[file][first - 1 : last]]
            files.append({"name": os.path.basename(file), "first": first, "lines": shown})
    spans = [None if source is None else _span(source, place, texts) for source in sources]
    return files, spans


def _span(source: SourceLine, place: dict[tuple[str, int], int], texts: dict[str, list[str]]) -> list[int] | None:
    number = place.get((source.file, source.line))
    if number is None:
        return None
    column, last, end = source.column, source.end_line, source.end_column
    if column is None or last is None or end is None or place.get((source.file, last)) != number:
        text = texts[source.file][source.line - 1].rstrip()
        column, last, end = len(text) - len(text.lstrip()), source.line, len(text)
    return [number, source.line, column, last, end]


def _stretches(file: str, text: Sequence[str], used: Iterable[int]) -> list[Stretch]:
    """Return the parts of one file: the functions around the used lines, or some lines around them, in order."""
    functions = [(node.lineno, node.end_lineno) for node in index_of(file, text).functions]
    found = set()
    for line in set(used):
        around = [(a, b) for a, b in functions if a <= line <= b and b - a < LONGEST]
        found.add(min(around) if around else (max(1, line - CONTEXT), min(len(text), line + CONTEXT)))
    merged: list[Stretch] = []
    for first, last in sorted(found):
        if merged and first <= merged[-1][1] + 2:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return [_without_blank_ends(text, stretch) for stretch in merged]


def _without_blank_ends(text: Sequence[str], stretch: Stretch) -> Stretch:
    first, last = stretch
    written = [line for line in range(first, last + 1) if text[line - 1].strip()] or [last]
    return written[0], written[-1]


# --- the data as columns (see assets/unpack.js) ---

# The fields that many rows share: what is known of an operation, and of a rule.
SHARED = {
    "nodes": ("kind", "operation", "module", "named", "numeral", "span", "notation", "options", "tells", "changed"),
    "edges": ("equation", "answer", "elementwise", "argument"),
}
ARRAYS = ("value", "raw", "amount", "sum", "weights")
LISTS = ("values", "gradients")


def packed(data: Data) -> Data:
    """Return the data with ``nodes`` and ``edges`` as columns. Arrays become numbers in ``arrays``.

    Instead of all ``steps`` there are the edges of the ``sweep``, in its order: the page knows the rest.
    """
    arrays = _Arrays()
    columns = {kind: _columns(data[kind], shared, arrays) for kind, shared in SHARED.items()}
    rest = {name: value for name, value in data.items() if name != "steps"}
    sweep = [number for kind, number in data["steps"] if kind == "product"]
    return rest | columns | {"arrays": arrays.data(), "sweep": sweep}


def _columns(rows: Sequence[Data], shared: Sequence[str], arrays: _Arrays) -> Data:
    """Return the values of each field in all rows, or a single value if all rows have the same.

    The fields that are ``shared`` become a number in the list of all ``facts``.
    """
    told = [{name: row[name] for name in shared} for row in rows]
    texts = list(map(repr, told))
    facts = dict(zip(texts, told))
    numbers = {text: number for number, text in enumerate(facts)}
    of = [numbers[text] for text in texts]
    columns: dict[str, list[Any]] = {}
    same = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name in shared:
            continue
        if all(value is values[0] or _equal(value, values[0]) for value in values):
            same[name] = values[0]
        elif name in ARRAYS:
            columns[name] = list(map(arrays.number, values))
        elif name in LISTS:
            columns[name] = [list(map(arrays.number, value)) for value in values]
        else:
            columns[name] = values
    return {"facts": list(facts.values()), "of": of, "same": same, "columns": columns}


def _equal(a: Any, b: Any) -> bool:
    plain = (str, int, type(None))
    return (isinstance(a, plain) and isinstance(b, plain) and a == b) or (a == [] == b) or (a == {} == b)


class _Arrays:
    """Stores each array once, even a gradient that many edges pass on. Numbers become bytes in base64, one text per dtype."""

    def __init__(self) -> None:
        self.parts: dict[str, list[bytes]] = {}  # the bytes of all arrays' fields, in order, by their dtype
        self.texts: list[complex] = []  # the complex numbers
        self.kind_of: list[int] = []
        self.kinds: dict[Any, int] = {}
        self.known: dict[Any, int] = {}

    def number(self, array: Data | None) -> int | None:
        if array is None:
            return None
        fields = [(name, _stored(value)) for name, value in array.items() if name not in ("shape", "dtype")]
        about = tuple((name, _kind(value), value.size, value.ndim) for name, value in fields)
        kind = self.kinds.setdefault((array["shape"], array["dtype"], about), len(self.kinds))
        raw = [value.tobytes() for _, value in fields]
        number = self.known.setdefault((kind, *raw), len(self.known))
        if number == len(self.kind_of):
            self.kind_of.append(kind)
            for (_, value), (_, stored, _, _), part in zip(fields, about, raw):
                if stored == "c":
                    self.texts += value.ravel().tolist()
                else:
                    self.parts.setdefault(stored, []).append(part)
        return number

    def data(self) -> Data:
        kinds = [{"shape": shape, "dtype": dtype, "fields": about} for shape, dtype, about in self.kinds]
        parts = {dtype: base64.b64encode(b"".join(parts)).decode() for dtype, parts in self.parts.items()}
        return {"parts": parts, "texts": self.texts, "kinds": kinds, "kindOf": self.kind_of}


def _stored(value: Any) -> Any:
    """Return numbers in a dtype that JavaScript reads: unsigned integers up to 32 bits, float32, float64, else complex."""
    value = np.asarray(value)
    kept = value.dtype.kind == "c" or value.dtype in (np.float32, np.uint8, np.uint16, np.uint32)
    return value.astype((value.dtype if kept else np.dtype(np.float64)).newbyteorder("<"), copy=False)


def _kind(value: Any) -> str:
    return "c" if value.dtype.kind == "c" else f"{value.dtype.kind}{value.dtype.itemsize}"
