"""Packs the data of a page into columns, and writes equal values of many nodes and edges once (see assets/unpack.js)."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Data = dict[str, Any]

# The fields of an edge that come from its rule. Many edges share them.
RULE = ("formula", "equation", "elementwise", "answer", "argument")
ARRAYS = ("value", "raw", "amount", "sum")
LISTS = ("values", "gradients")


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """Pause the garbage collector. The lists and dicts of a page all stay in use, and scanning them takes half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@collector_at_rest()
def packed(data: Data) -> Data:
    """Return the data with ``nodes`` and ``edges`` as columns. Rules and arrays become numbers in ``rules`` and ``arrays``."""
    arrays = _Arrays()
    numbers: dict[str, int] = {}
    rules: list[Data] = []
    edges = []
    for edge in data["edges"]:
        rule = {name: edge[name] for name in RULE}
        number = numbers.setdefault(repr(rule), len(rules))
        if number == len(rules):
            rules.append(rule)
        edges.append({name: value for name, value in edge.items() if name not in rule} | {"rule": number})
    columns = {"nodes": _columns(data["nodes"], arrays), "edges": _columns(edges, arrays)}
    return data | columns | {"rules": rules, "arrays": arrays.data()}


def _columns(rows: Sequence[Data], arrays: _Arrays) -> Data:
    """Return the values of each field in all rows, or a single value if all rows have the same."""
    if not rows:
        return {"count": 0, "same": {}, "columns": {}}
    columns: dict[str, list[Any]] = {}
    same = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if all(value is values[0] or _equal(value, values[0]) for value in values):
            same[name] = values[0]
        elif name in ARRAYS:
            columns[name] = list(map(arrays.number, values))
        elif name in LISTS:
            columns[name] = [list(map(arrays.number, value)) for value in values]
        else:
            columns[name] = values
    return {"count": len(rows), "same": same, "columns": columns}


def _equal(a: Any, b: Any) -> bool:
    plain = (str, int, type(None))
    return (isinstance(a, plain) and isinstance(b, plain) and a == b) or (a == [] == b) or (a == {} == b)


class _Arrays:
    """Stores each array once, even a gradient that many edges pass on."""

    def __init__(self) -> None:
        self.flat: list[Any] = []  # the elements of all arrays, in order
        self.kind_of: list[int] = []
        self.kinds: dict[Any, int] = {}
        self.known: dict[Any, int] = {}

    def number(self, array: Data | None) -> int | None:
        if array is None:
            return None
        keys = None if "values" in array else tuple(key for key in array if key not in ("shape", "dtype"))
        values = array["values"] if keys is None else np.array([array[key] for key in keys])
        kind = self.kinds.setdefault((array["shape"], array["dtype"], keys, len(values)), len(self.kinds))
        number = self.known.setdefault((kind, values.tobytes()), len(self.known))
        if number == len(self.kind_of):
            self.kind_of.append(kind)
            self.flat += _shortest(values)
        return number

    def data(self) -> Data:
        kinds = [{"shape": shape, "dtype": dtype, "keys": keys, "size": n} for shape, dtype, keys, n in self.kinds]
        return {"flat": self.flat, "kinds": kinds, "kindOf": self.kind_of}


def _shortest(values: Any) -> list[Any]:
    """Return the elements with the fewest digits that keep their dtype's value: half as many for float32 as for float64."""
    return list(map(float, values.astype("U"))) if values.dtype == np.float32 else values.tolist()
