"""Why an operation made a NaN or an infinity, in a sentence that names the operand at fault and its number."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..record.model import Edge, Node
from .html import asset

Sentences = dict[str, str]  # by language
Test = tuple[Callable[..., bool], str, str]  # of the operands at one place; the sentence; the operand it speaks of

_LOG: list[Test] = [
    (lambda x: x == 0, "log_zero", "x"),
    (lambda x: x < 0, "log_negative", "x"),
]
_BY: list[Test] = [(lambda y: y == 0, "by_zero", "y")]
_OUTSIDE: list[Test] = [(lambda x: abs(x) > 1, "domain", "x")]
_FORWARD: dict[str, list[Test]] = {
    "sqrt": [(lambda x: x < 0, "root", "x")],
    "log": _LOG,
    "log2": _LOG,
    "log10": _LOG,
    "log1p": [(lambda x: x == -1, "log1p_zero", "x"), (lambda x: x < -1, "log1p_negative", "x")],
    "divide": [(lambda x, y: x == 0 and y == 0, "zero_by_zero", "x"), *_BY],
    "remainder": _BY,
    "fmod": _BY,
    "floor_divide": _BY,
    "reciprocal": [(lambda x: x == 0, "by_zero", "x")],
    "power": [
        (lambda x, y: x == 0 and y < 0, "zero_power", "x"),
        (lambda x, y: x < 0 and y != np.floor(y), "negative_power", "x"),
    ],
    "arcsin": _OUTSIDE,
    "arccos": _OUTSIDE,
    "arctanh": [(lambda x: abs(x) == 1, "edge", "x"), *_OUTSIDE],
    "arccosh": [(lambda x: x < 1, "domain", "x")],
    "multiply": [(lambda x, y: (x == 0 or y == 0) and np.isinf(x + y), "zero_times_infinity", "x")],
}
_AT_ONE: list[Test] = [(lambda x: abs(x) == 1, "slope", "x")]
_NEAR: list[Test] = [(lambda x: abs(x) < 1, "near_zero", "x")]
_BACKWARD: dict[str, list[Test]] = {
    "sqrt": [(lambda x, g: x == 0 and g == 0, "trap", "x"), (lambda x: x == 0, "root_slope", "x")],
    "power": [
        (lambda x, y, g: x == 0 and y < 1 and g == 0, "trap", "x"),
        (lambda x, y: x == 0 and y < 1, "power_slope", "x"),
        (lambda x: x < 0, "power_log", "x"),
    ],
    "cbrt": [(lambda x: x == 0, "slope", "x")],
    "log": _NEAR,
    "log2": _NEAR,
    "log10": _NEAR,
    "divide": [(lambda y: abs(y) < 1, "near_zero", "y")],
    "reciprocal": _NEAR,
    "arcsin": _AT_ONE,
    "arccos": _AT_ONE,
    "arctanh": _AT_ONE,
    "arccosh": _AT_ONE,
}


def given() -> Sentences:
    """Of a value that no operation made."""
    return _sentences("given")


def forward_cause(node: Node, operands: Sequence[Edge], labels: Sequence[str]) -> Sentences:
    """Why a result is not finite, though its operands are, or hold infinities that are meant."""
    result = _first_array(node.value)
    numbers = _at_first_bad(result, {edge.argument: edge.value for edge in operands})
    found = _first(_FORWARD.get(node.operation or "", ()), numbers)
    about = _about(node, operands, labels, result)
    if found is not None:
        return _of_operand(found, numbers, about)
    if any(np.isinf(_floats(edge.value)).any() for edge in operands):
        return _sentences("infinities", **about)
    return _sentences("unknown" if np.isnan(result).any() else "overflow", **about)


def backward_cause(node: Node, operands: Sequence[Edge], edge: Edge, labels: Sequence[str]) -> Sentences:
    """Why a derivative is not finite, though the gradient that arrived is."""
    raw = _first_array(edge.raw)
    values = {operand.argument: operand.value for operand in operands} | {"g": node.cotangent}
    numbers = _at_first_bad(raw, values)
    found = _first(_BACKWARD.get(node.operation or "", ()), numbers)
    about = _about(node, operands, labels, raw)
    return _sentences("slope_overflow", **about) if found is None else _of_operand(found, numbers, about)


def sum_cause(node: Node) -> Sentences:
    """Why a gradient is not finite, though all that was added to it is."""
    return _sentences("sum", **_limits(np.dtype(node.dtype)))


def _first(tests: Sequence[Test], numbers: Mapping[str, Any]) -> tuple[str, str] | None:
    for test, words, operand in tests:
        names = test.__code__.co_varnames[: test.__code__.co_argcount]
        if all(name in numbers for name in names):
            with np.errstate(all="ignore"):
                if test(*[numbers[name] for name in names]):
                    return words, operand
    return None


def _at_first_bad(result: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers at the place of the first one that is not finite; only real ones can be compared."""
    bad = ~np.isfinite(result)
    if result.dtype.kind != "f" or not bad.any():
        return {}
    place = np.unravel_index(np.argmax(bad), bad.shape)
    numbers = {}
    for name, value in values.items():
        array = np.asarray(value)
        try:
            fits = array.dtype.kind in "fiub" and np.broadcast_shapes(array.shape, bad.shape) == bad.shape
        except ValueError:
            fits = False
        if fits:
            numbers[name] = np.broadcast_to(array, bad.shape)[place].item()
    return numbers


def _about(node: Node, operands: Sequence[Edge], labels: Sequence[str], result: Any) -> dict[str, str]:
    called = {edge.argument: labels[edge.source] for edge in operands}
    return {**called, "operation": node.operation or "", **_limits(result.dtype)}


def _limits(dtype: Any) -> dict[str, str]:
    limit = f"{np.finfo(dtype).max:.3g}" if dtype.kind in "fc" else ""
    return {"dtype": str(dtype), "limit": limit}


def _of_operand(found: tuple[str, str], numbers: Mapping[str, Any], about: Mapping[str, str]) -> Sentences:
    words, operand = found
    name = about.get(operand, operand)
    value = f"{numbers[operand]:.4g}".replace("-", "−")
    return _sentences(words, **{**about, "y": about.get("y", ""), "x": name, "value": value})


def _sentences(key: str, **about: str) -> Sentences:
    return {language: words[key].format(**about) for language, words in _words().items()}


@cache
def _words() -> dict[str, dict[str, str]]:
    words: dict[str, dict[str, str]] = json.loads(asset("causes_words.json"))
    return words


def _first_array(value: Any) -> Any:
    """Of several results the first that is not finite."""
    arrays = [np.asarray(v) for v in (value if isinstance(value, tuple) else (value,))]
    return next((a for a in arrays if a.dtype.kind in "fc" and not np.isfinite(a).all()), arrays[0])


def _floats(value: Any) -> Any:
    array = np.asarray(value)
    return array if array.dtype.kind in "fc" else np.zeros(())
