"""Packs the data of a page into columns, and writes equal values of many nodes and edges once (see assets/unpack.js)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

Data = dict[str, Any]

# The fields of an edge that come from its rule. Many edges share them.
RULE = ("formula", "equation", "elementwise", "answer", "argument")
ARRAYS = ("value", "raw", "amount", "sum", "weights")
LISTS = ("values", "gradients")


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
