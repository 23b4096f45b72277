"""Finds the data of a program and the model's answer to them, which the page draws (``assets/data.js``).

The data are one array with a row for each example. The answer is the last named value that the program computes from them and
from parameters before the targets come in. If no other data come in either, the page can compute the answer for other inputs.
An array that a loop reads in turn with others is a part of a sequence: the shapes do not say what it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from ...device import to_host
from ...engine.tensor import Tensor
from ...errors import ArgumentError
from ..record.model import Graph, Node

Data = dict[str, Any]

LEAST = 3  # examples; fewer points show no curve
MOST_CLASSES = 20  # different targets; integers with more of them are numbers, not classes
X, TARGET, OTHER, PARAMETER = 1, 2, 4, 8  # what a value is computed from


def data_of(show: Any, graph: Graph, drawn: Mapping[int, Data]) -> Data | None:
    """Return what the page draws of the data: the nodes of ``input`` and ``answer``, the ``targets``, and how they are meant.

    Args:
        show: the argument of ``explain``. ``show["points"]`` is a pair (x, y).
        drawn: the result of ``tensors.shown``. A value that it draws in grey is an array of images.

    Returns:
        None if there are no such data.

    Raises:
        ArgumentError: ``show["points"]`` is not a pair of one or two features and as many targets, or the program has not
            read x.
    """
    if is_points(show, graph):
        x, y = _checked(show["points"])
        return _about("points", _leaf_of(x, graph), graph, y)
    images = next((graph.nodes[number] for number, how in drawn.items() if how.get("grey")), None)
    if images is not None:
        return _about("images", images, graph, _target(images, graph))
    several = _read_in_turn(graph)
    for node in graph.nodes:
        if not _is_points(node) or node.id in several or _has_parameters_for_rows(node, graph):
            continue
        y = _target(node, graph)
        if y is not None and not _sources(node, graph, y)[graph.ends[0][0]] & OTHER:
            return _about("points", node, graph, y)
    return None


def is_points(show: Any, graph: Graph) -> bool:
    """Return whether ``show`` has points. They may also be a view of a value of the program that has this name."""
    if not isinstance(show, Mapping) or "points" not in show:
        return False
    given = show["points"]
    pair = (
        isinstance(given, (tuple, list)) and len(given) == 2 and not any(isinstance(part, (int, str)) for part in given)
    )
    return pair or all("points" not in (node.label, node.name) for node in graph.nodes)


def _is_points(node: Node) -> bool:
    shape = node.shape or ()
    features = shape[1] if len(shape) == 2 else 1
    known = node.kind == "constant" and np.asarray(node.value).dtype.kind == "f"
    return known and len(shape) in (1, 2) and shape[0] >= LEAST and features in (1, 2)


def _read_in_turn(graph: Graph) -> set[int]:
    """Return the arrays that one expression of the program reads one after the other: a sequence, and none of them is x."""
    read: dict[Hashable, set[int]] = {}
    for edge in graph.edges:
        node, target = graph.nodes[edge.source], graph.nodes[edge.target]
        if target.source is not None and _is_points(node):
            place = target.source, target.callers, target.operation, edge.argument
            read.setdefault(place, set()).add(node.id)
    return {number for numbers in read.values() if len(numbers) > 1 for number in numbers}


def _has_parameters_for_rows(x: Node, graph: Graph) -> bool:
    """Return whether a parameter has as many entries along an axis as x has rows: the rows may then be units, not examples."""
    parameters = (node for node in graph.nodes if node.operation is None and node.kind != "constant")
    return any(_count(x) in (node.shape or ()) for node in parameters)


def _count(x: Node) -> int:
    """Return the number of examples in the data."""
    return (x.shape or (0,))[0]


def _host(array: Any) -> Any:
    return to_host(array.data if isinstance(array, Tensor) else array)


def _checked(given: Any) -> tuple[Any, Any]:
    try:
        x, y = (np.asarray(_host(part)) for part in (given if isinstance(given, (tuple, list)) else ()))
    except ValueError as error:
        raise ArgumentError(
            f"explain: show['points'] takes a pair of arrays, (x, y), got {given!r:.60}"
            + ("" if "unpack" in str(error) else f": {error}")
        ) from error
    features = x.shape[1] if x.ndim == 2 else 1
    if x.dtype.kind not in "fiub" or x.ndim not in (1, 2) or features not in (1, 2):
        raise ArgumentError(
            "explain: show['points'] takes x with one or two features, of shape (examples,), (examples, 1) or (examples, 2), "
            f"got {x.dtype} of shape {x.shape}"
        )
    if y.dtype.kind not in "fiub" or y.ndim not in (1, 2) or len(y) != len(x):
        raise ArgumentError(
            f"explain: show['points'] takes y with a target for each of the {len(x)} examples of x, got {y.dtype} of shape "
            f"{y.shape}"
        )
    return x, y


def _leaf_of(x: Any, graph: Graph) -> Node:
    leaves = [node for node in graph.nodes if node.operation is None and node.value is not None]
    for node in leaves:
        value = np.asarray(node.value)
        if value.shape == x.shape and np.array_equal(value, x.astype(value.dtype), equal_nan=value.dtype.kind == "f"):
            return node
    constants = [node for node in leaves if node.kind == "constant" and node.shape]
    known = ", ".join(f"{node.label} {node.shape}" if node.stem else node.label for node in constants) or "none"
    raise ArgumentError(
        f"explain: show['points'] has x of shape {x.shape}, and this computation has not read such an array. Give the x that "
        f"the program reads inside of the trace. It has read: {known}"
    )


# --- the targets and the answer ---


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays in a keyword, such as an index."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, np.ndarray):
        yield value


def _indices(node: Node, count: int) -> list[Any]:
    """Return the arrays in an operation's keywords with an entry for each example, except the positions 0, 1, 2, ..."""
    found = [array for value in node.keywords.values() for array in _arrays(value)]
    return [a for a in found if np.shape(a)[:1] == (count,) and not np.array_equal(a, np.arange(count))]


def _sources(x: Node, graph: Graph, y: Any = None) -> dict[int, int]:
    """Return what each value is computed from, as a sum of ``X``, ``TARGET``, ``OTHER`` and ``PARAMETER``.

    A value that is computed from x before the targets come in, and has no row for each example, counts as ``OTHER``: the
    examples meet in it.
    """
    count = _count(x)
    found: dict[int, int] = {}
    for node in graph.nodes:
        if node is x:
            found[node.id] = X
        elif node.operation is None:
            rows = (node.shape or ())[:1] == (count,)
            found[node.id] = PARAMETER if node.kind != "constant" else _kind(node.value, y) if rows else 0
        else:
            kinds = [found[edge.source] for edge in graph.edges_into[node.id]]
            kinds += [_kind(array, y) for array in _indices(node, count)]
            found[node.id] = int(np.bitwise_or.reduce(kinds, initial=0))
            if found[node.id] & (X | TARGET) == X and (node.shape or ())[:1] != (count,):
                found[node.id] |= OTHER
    return found


def _kind(value: Any, y: Any) -> int:
    """Return whether an array with a row for each example is the targets, or made from them, such as ``1 - y``."""
    if y is None:
        return OTHER
    rows, targets = (np.asarray(a).reshape(len(y), -1) for a in (value, y))
    groups = np.unique(targets, axis=0, return_inverse=True)[1].reshape(-1)
    firsts = dict(zip(groups[::-1].tolist(), rows[::-1]))
    same = all(np.array_equal(firsts[group], row) for group, row in zip(groups.tolist(), rows))
    return TARGET if np.array_equal(rows, targets) or (same and len(firsts) < len(rows)) else OTHER


def _target(x: Node, graph: Graph) -> Any:
    """Return the first data that meet an answer to x; None if there are none."""
    count, sources = _count(x), _sources(x, graph)
    for node in graph.operations:
        edges = graph.edges_into[node.id]
        answers = [edge for edge in edges if sources[edge.source] == X | PARAMETER and edge.shape[:1] == (count,)]
        data = [edge for edge in edges if graph.nodes[edge.source].kind == "constant"]
        others = [edge.value for edge in data if sources[edge.source] == OTHER] + _indices(node, count)
        if answers and others and np.ndim(others[0]) <= 2:
            return np.asarray(others[0])
    return None


def _about(kind: str, x: Node, graph: Graph, y: Any) -> Data:
    """Return the data with the model's answer: the last named value from x and parameters before the targets come in."""
    count, sources = _count(x), _sources(x, graph, y)
    answers = [
        node
        for node in graph.operations
        if sources[node.id] & (X | PARAMETER | TARGET) == X | PARAMETER
        and (node.shape or ())[:1] == (count,)
        and len(node.shape or ()) <= 2
        and np.asarray(node.value).dtype.kind == "f"
    ]
    named = [node for node in answers if not node.expression] or answers
    answer = named[-1] if named else None
    path, others = ([] if answer is None else _behind(answer, kind, sources, graph) for kind in (X, OTHER))
    return {
        "kind": kind,
        "input": x.id,
        "answer": None if answer is None else answer.id,
        "path": [number for number in path if number != x.id],
        "others": [graph.nodes[other].label for other in others if graph.nodes[other].operation is None],
        **_meant(y, answer),
    }


def _behind(answer: Node, kind: int, sources: Mapping[int, int], graph: Graph) -> list[int]:
    """Return the values through which data of this kind reach the answer, in their order: from these data to the answer.

    The page does not know ``OTHER`` data for other inputs.
    """
    todo, seen = [answer.id], set[int]()
    while todo:
        number = todo.pop()
        if number not in seen and sources[number] & kind:
            seen.add(number)
            todo += [edge.source for edge in graph.edges_into.get(number, ())]
    return sorted(seen)


def _meant(y: Any, answer: Node | None) -> Data:
    """Return the targets as classes, with their names and the ``level`` between two classes, or as numbers."""
    if y is None:
        return {"targets": None, "classes": None, "level": None}
    values = None if answer is None else np.asarray(answer.value)
    columns = 1 if values is None or values.ndim < 2 else values.shape[1]
    if y.ndim == 2 and y.shape[1] > 1 and np.array_equal(np.sort(y, axis=1)[:, :-1], np.zeros_like(y[:, :-1])):
        y = y.argmax(axis=1)  # one-hot
    y = y.reshape(len(y), -1)[:, 0]
    levels = np.unique(y)
    whole = bool(np.all(levels == np.round(levels))) and len(levels) <= MOST_CLASSES
    if columns > 1 and whole and levels.min() >= 0 and levels.max() < columns:
        return {"targets": y.astype(int), "classes": [str(i) for i in range(columns)], "level": None}
    if columns == 1 and whole and len(levels) <= 2 and levels.tolist() in ([0, 1], [-1, 1]):
        share = values is not None and levels[0] == 0 and values.min() >= 0 and values.max() <= 1
        return {"targets": (y > 0).astype(int), "classes": [f"{n:g}" for n in levels], "level": 0.5 if share else 0.0}
    return {"targets": y.astype(float), "classes": None, "level": None}
