"""The data of a page as columns, with what many nodes and edges have alike written once: assets/unpack.js undoes it."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import Any

Data = dict[str, Any]

# Of edges, what comes from the rule: many have the same.
RULE = ("formula", "equation", "elementwise", "answer", "argument")
ARRAYS = ("value", "raw", "amount", "sum")
LISTS = ("values", "gradients")
NONE, AS_ADDED, EMPTY, OTHER = (
    -1,
    -2,
    -3,
    -4,
)  # kinds of what is no array; a sum is as what was added, where it is the first


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """Of the many lists and dicts that a page is made of none becomes garbage meanwhile: to look costs half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@collector_at_rest()
def packed(data: Data) -> Data:
    """``nodes`` and ``edges`` as columns; ``rules`` and ``kinds``, of arrays, are lists that the columns point into."""
    kinds: dict[Any, int] = {}
    numbers: dict[str, int] = {}
    rules: list[Data] = []
    edges = []
    for edge in data["edges"]:
        rule = {name: edge[name] for name in RULE}
        number = numbers.setdefault(repr(rule), len(rules))
        if number == len(rules):
            rules.append(rule)
        edges.append({name: value for name, value in edge.items() if name not in rule} | {"rule": number})
    columns = {"nodes": _columns(data["nodes"], kinds), "edges": _columns(edges, kinds)}
    return (
        data
        | columns
        | {
            "packed": True,
            "rules": rules,
            "kinds": [{"shape": shape, "dtype": dtype, "keys": keys, "size": n} for shape, dtype, keys, n in kinds],
        }
    )


def _columns(rows: Sequence[Data], kinds: dict[Any, int]) -> Data:
    """For each field its values in all rows; of one that is the same everywhere only that."""
    if not rows:
        return {"count": 0, "same": {}, "columns": {}}
    columns: dict[str, Any] = {}
    same = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if all(value is values[0] or _equal(value, values[0]) for value in values):
            same[name] = values[0]
        elif name in ARRAYS or name in LISTS:
            columns[name] = _arrays(rows, name, kinds)
        else:
            columns[name] = values
    return {"count": len(rows), "same": same, "columns": columns}


def _arrays(rows: Sequence[Data], name: str, kinds: dict[Any, int]) -> Data:
    """The numbers of all arrays in one list, and for each row the kind of its array; a list of one array counts as that."""
    flat: list[Any] = []
    found: list[int] = []
    other: Data = {}
    lists = name in LISTS
    for i, row in enumerate(rows):
        value = row[name]
        if lists and len(value) == 1:
            value = value[0]
        if value is None:
            found.append(NONE)
        elif isinstance(value, list):
            found.append(OTHER if value else EMPTY)
            if value:
                other[str(i)] = value
        elif name == "sum" and value is (row["amount"] or row["raw"]):
            found.append(AS_ADDED)
        else:
            found.append(_append(value, flat, kinds))
    return {"flat": flat, "kinds": found, "lists": lists, "other": other}


def _append(array: Data, flat: list[Any], kinds: dict[Any, int]) -> int:
    """Add an array's numbers to those of others. Returns its kind: its shape and type, and of a summary what it holds."""
    if "values" in array:
        numbers, keys = array["values"].tolist(), None
    else:
        keys = tuple(key for key in array if key not in ("shape", "dtype"))
        numbers = [array[key] for key in keys]
    flat += numbers
    return kinds.setdefault((array["shape"], array["dtype"], keys, len(numbers)), len(kinds))


def _equal(a: Any, b: Any) -> bool:
    plain = (str, int, type(None))
    return (isinstance(a, plain) and isinstance(b, plain) and a == b) or (a == [] == b) or (a == {} == b)
