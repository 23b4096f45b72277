"""Packs the data of a page into columns, and writes equal values of many nodes and edges once (see assets/unpack.js)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

Data = dict[str, Any]

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
