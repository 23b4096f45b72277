"""Turns arrays and keywords into data for a page: all numbers of a small array, a map and a summary of a large one.

A map has at most ``SIDES[0]`` cells on a side. A cell stands for a block of elements and shows the one furthest from 0 (a NaN
before an infinity before a number). So no extreme is lost, and each cell shows a true element with an index. ``assets/heat.js``
has the same rule for arrays whose numbers are all on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...rules.attention import scaled_dot_product_attention, weights_of
from ...rules.indexing import getitem, places, scatter_add
from ..record.capture import dtype_name
from ..record.model import Edge, Graph, Node
from .points import is_points

Data = dict[str, Any]
Shape = tuple[int, ...]

MOST_SHOWN = 64  # elements; an array of at most this many is always on the page with all its numbers
MOST_MOVED = 20_000  # numbers of all values except constants, on a page where the values can be moved
MOST_CONSTANTS = 200_000  # numbers of constants on such a page
SIDES = (64, 32, 16, 8)  # cells on a side of a map; a page takes the first with which its arrays fit
SLICES = 4  # maps of full size that an array with more than two axes may have on the page
PAGE = 8_000_000  # bytes of a page
SCRIPTS, PER_EDGE = 500_000, 800  # bytes of a page besides its large arrays: once, and for each edge of the graph


class Tensors:
    """Decides how much of each array is on the page of a graph, so that the page stays below ``PAGE`` bytes.

    An array of at most ``whole`` elements has all its numbers there. A map has at most ``side`` cells on a side. ``left`` of
    ``count`` large arrays have no map, because the page was full.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        large = {id(a): a for a in _arrays(graph) if np.size(a) > MOST_SHOWN}
        size = {True: 0, False: 0}
        for node in graph.nodes:
            size[node.kind == "constant"] += sum(map(np.size, node.values))
        self.room = PAGE - SCRIPTS - PER_EDGE * len(graph.edges)
        self.left = self.count = 0
        playable = size[False] <= MOST_MOVED and size[True] <= MOST_CONSTANTS
        for self.whole, self.side in [(MOST_CONSTANTS, SIDES[0])] * playable + [(side**2, side) for side in SIDES]:
            if not large or sum(map(self._cost, large.values())) <= self.room:
                break
        self._known: dict[tuple[int, Shape | None], tuple[Any, Data | None]] = {}

    def of_nodes(self, views: Mapping[int, Data]) -> list[Data]:
        """Return the arrays and keywords of each node. ``views`` are the result of :func:`shown`."""
        into = self.graph.edges_into
        return [self._of_node(node, into.get(node.id, ()), views.get(node.id)) for node in self.graph.nodes]

    def _of_node(self, node: Node, operands: Sequence[Edge], show: Data | None) -> Data:
        view = None if show is None else show.get("shape")
        return {
            "values": [self.array(value, view) for value in node.values],
            "gradients": [self.array(gradient, view) for gradient in node.gradients],
            "weights": self.array(attention_of(node, operands)),
            "show": show,
            "keywords": keyword_data(node.keywords) | _masked(node, operands),
        }

    def of_edges(self) -> list[Data]:
        """Return the operand of each edge if it is not the source's value any more, its contribution, and the sum so far."""
        found = []
        for edge in self.graph.edges:
            value = self.graph.nodes[edge.source].value
            usual = value if edge.output is None or value is None else value[edge.output]
            about = {
                "value": None if edge.value is usual else self.array(edge.value),
                "raw": self.array(edge.raw),
                "amount": None if edge.contribution is edge.raw else self.array(edge.contribution),
                "sum": self.array(edge.sum),
            }
            found.append(about)
        return found

    def array(self, value: Any, view: Shape | None = None) -> Data | None:
        """Return an array for the page; None if it is not an array of numbers. ``view`` is the shape that its map shows."""
        if np.size(value) <= MOST_SHOWN:
            return array(value)
        key, cost = (id(value), view), self._cost(value)
        if key not in self._known:
            fits = cost <= self.room
            self._known[key] = value, array(value, self.whole, self.side * fits, view)
            self.room -= cost * fits
            self.count += 1
            self.left += not fits
        return self._known[key][1]

    def _cost(self, value: Any) -> int:
        """Return about how many bytes an array takes on the page, where four characters stand for three bytes."""
        if np.size(value) <= self.whole:
            return np.size(value) * (4 if np.asarray(value).dtype == np.float32 else 8) * 4 // 3
        return math.prod(grid(np.shape(value), self.side)[0]) * 6 * 4 // 3 + 400


def _arrays(graph: Graph) -> Iterator[Any]:
    for node in graph.nodes:
        yield from node.values
        yield from node.gradients
    for edge in graph.edges:
        yield from (edge.raw, edge.contribution)


def array(value: Any, whole: int = MOST_SHOWN, side: int = SIDES[0], view: Shape | None = None) -> Data | None:
    """Return the values of an array of at most ``whole`` elements; else a summary, with a map unless ``side`` is 0.

    The map of a complex array shows the magnitudes.
    """
    found = np.asarray(value)
    if value is None or found.dtype.kind not in "fciub":
        return None
    about: Data = {"shape": found.shape, "dtype": dtype_name(found.dtype)}
    if found.size <= whole:
        return about | {"values": found.ravel()}
    real = np.abs(found) if found.dtype.kind == "c" else found
    real = real.astype(real.dtype if real.dtype.kind == "f" and real.dtype.itemsize >= 4 else np.float64, copy=False)
    return about | _summary(real) | (_map(real.reshape(view or real.shape), side) if side else {})


def _summary(real: Any) -> Data:
    """Return the norm, counts, and for the finite elements their minimum, mean and maximum."""
    finite = real[np.isfinite(real)].astype(np.float64)
    least, most = (finite.min(), finite.max()) if finite.size else (np.nan, np.nan)
    with np.errstate(all="ignore"):
        sums = np.sum(real, axis=-1, dtype=np.float64)
        mean, norm = finite.mean() if finite.size else np.nan, np.linalg.norm(real.astype(np.float64, copy=False))
    return {
        "norm": norm, "min": least, "mean": mean, "max": most, "sumLeast": sums.min(), "sumMost": sums.max(),
        "nans": np.isnan(real).sum(), "infs": np.isinf(real).sum(), "zeros": (real == 0).sum(),
        "dead": (~real.reshape(-1, real.shape[-1]).any(axis=0)).sum(),  # columns that are zero in every row
    }  # fmt: skip


def grid(shape: Shape, side: int) -> tuple[Shape, Shape]:
    """Return the sizes of a map, (slices of each leading axis ..., rows, columns), and of a block, (rows, columns).

    The last two axes are rows and columns. If not all slices fit, the last leading axis is kept before the others.
    """
    *lead, rows, columns = shape if len(shape) > 1 else (1, *shape)
    high, wide = -(-rows // side), -(-columns // side)
    cells = -(-rows // high), -(-columns // wide)
    left = max(1, SLICES * side * side // math.prod(cells))
    for axis in reversed(range(len(lead))):
        lead[axis] = min(lead[axis], max(left, 1))
        left //= lead[axis]
    return (*lead, *cells), (high, wide)


def _map(real: Any, side: int) -> Data:
    """Return ``grid`` and ``block``, the ``cells``, and the position ``at`` of each cell's element in its block."""
    (*lead, down, across), (high, wide) = grid(real.shape, side)
    rows, columns = real.shape[-2:] if real.ndim > 1 else (1, real.shape[0])
    slices = real.reshape(*real.shape[:-2], rows, columns)[tuple(map(slice, lead))].reshape(-1, rows, columns)
    sizes = np.minimum(np.abs(slices), np.finfo(slices.dtype).max)
    padded = np.full((len(slices), down * high, across * wide), -1, slices.dtype)
    padded[:, :rows, :columns] = np.where(np.isnan(slices), np.inf, sizes)
    blocks = padded.reshape(-1, down, high, across, wide).swapaxes(2, 3).reshape(-1, down, across, high * wide)
    at = blocks.argmax(-1)
    row, column = np.arange(down)[:, None] * high + at // wide, np.arange(across) * wide + at % wide
    cells = slices[np.arange(len(slices))[:, None, None], row, column].ravel()
    with np.errstate(over="ignore"):
        short = cells.astype(np.float32)
    return {
        "grid": np.array([*lead, down, across], np.uint32),
        "block": np.array([high, wide], np.uint32),
        "cells": short if np.allclose(short, cells, 1e-6, 0, equal_nan=True) else cells.astype(np.float64),
        "at": _smallest(at.ravel()),
    }


def _smallest(counts: Any) -> Any:
    """Return nonnegative integers in the smallest dtype that holds them."""
    return counts.astype(np.min_scalar_type(counts.max(initial=0)))


def shown(show: Any, graph: Graph) -> dict[int, Data]:
    """Return how the page draws the values that ``show`` names, by node: in grey, with another shape, or with tokens.

    Data in the shape of images are drawn in grey anyway.

    Raises:
        ArgumentError: ``show`` is no dict, names no value of the page, or does not fit the value.
    """
    if not isinstance(show or {}, Mapping):
        raise ArgumentError(f"explain takes a dict for show, such as {{'x': 'image'}}, got {type(show).__name__}")
    found, into = {}, graph.edges_into
    for name, how in (show or {}).items():
        if name == "points" and is_points(show, graph):
            continue
        nodes = [node for node in graph.nodes if name in (node.label, node.name)]
        if not nodes:
            known = ", ".join(dict.fromkeys(node.label for node in graph.nodes[:12]))
            raise ArgumentError(f"explain: show names {name!r}, and the page has no such value. It has {known} ...")
        for node in nodes:
            weights = attention_of(node, into.get(node.id, ()))
            found[node.id] = _view(name, how, np.shape(node.value if weights is None else weights))
    for node in graph.nodes:
        shape = node.shape or ()  # of images: (examples, 1 or 3 channels, height, width)
        if node.kind == "constant" and len(shape) == 4 and shape[1] in (1, 3) and min(shape[2:]) >= 4:
            found.setdefault(node.id, {"grey": True})
    return found


def _view(name: str, how: Any, shape: Shape) -> Data:
    if isinstance(how, str) and how == "image" and len(shape) > 1:
        return {"grey": True}
    if isinstance(how, tuple) and all(isinstance(n, int) for n in how) and shape and math.prod(how) == shape[-1]:
        return {"grey": True, "shape": (*shape[:-1], *how)}
    if isinstance(how, Sequence) and not isinstance(how, str):
        tokens = [list(how)] * 2 if all(isinstance(token, str) for token in how) else list(how)
        if all(isinstance(part, list) for part in tokens) and tuple(map(len, tokens)) == shape[-2:]:
            return {"tokens": [[str(token) for token in part] for part in tokens]}
    raise ArgumentError(
        f"explain takes for show[{name!r}] 'image' (a value of at least two axes), the size of the image in each row, such as "
        f"(28, 28), a list of tokens, or a pair of lists for rows and columns; {how!r:.60} does not fit the shape {shape}"
    )


def keyword_data(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of an operation as JSON data. Numbers, text and None stay, and tuples become lists.

    A slice becomes ``{"slice": [start, stop, step]}``, ``...`` becomes ``{"ellipsis": true}``, and an array or a list of
    numbers becomes ``{"array": {"shape": ..., "values": ...}}``. Any other value becomes ``{"unknown": its type}``.
    """
    return {name: _keyword(value) for name, value in keywords.items()}


_FLAGS = (bool, np.bool_, np.ndarray, list)  # the types of a mask, or of one flag, in an index


def _masked(node: Node, operands: Sequence[Edge]) -> Data:
    """Return an ``index`` with masks as ``{"flat": ...}``, the flat indices of the elements that it picks."""
    if node.primitive not in (getitem, scatter_add):
        return {}
    index = node.keywords["index"]
    parts = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, _FLAGS)]
    if not any(np.asarray(part).dtype == bool for part in parts):
        return {}
    picked = places(node.keywords.get("shape", operands[0].shape))[index]
    return {"index": {"flat": {"shape": picked.shape, "values": picked.ravel()}}}


def _keyword(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return value.item()
    if isinstance(value, tuple):
        return [_keyword(item) for item in value]
    if isinstance(value, slice):
        return {"slice": [_keyword(part) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, (np.ndarray, list)):
        array = _list_of_numbers(value)
        if array is not None:
            return {"array": {"shape": array.shape, "values": array.ravel()}}
    return {"unknown": type(value).__name__}


def _list_of_numbers(value: Any) -> Any:
    """Return the array of a list of numbers; None for any other value."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal length
        return None
    if not array.size and isinstance(value, list):
        array = array.astype(np.intp)  # as an index, NumPy reads an empty list as integers
    return array if array.dtype.kind in "biuf" else None


def attention_of(node: Node, operands: Sequence[Edge]) -> Any:
    """Return the weights (..., heads, query, key) of the attention primitive; None for any other node."""
    if node.primitive is not scaled_dot_product_attention:
        return None
    given = {edge.argument: edge.value for edge in operands}
    if given.keys() < {"query", "key"} or any(value is None for value in given.values()):
        return None
    heads, scale = node.keywords.get("num_heads", 1), node.keywords.get("scale")
    return weights_of(given["query"], given["key"], given.get("mask"), given.get("bias"), scale, heads)
