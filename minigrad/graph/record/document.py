"""What a saved trace says: values as JSON and back, and the check that it says something that can be run and drawn.

After :func:`read` a document is well formed: every number names a node or a module that exists, operands and enclosing modules
come before what they belong to (so that neither goes round in a circle), and texts are such as may be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._source import SourceLine
from ...errors import ArgumentError
from ...serialize import CheckpointError, Maybe, require, short

KIND = "minigrad trace"
FORM = {
    "kind": KIND,
    "nodes": [{"kind": str, "name": Maybe(str), "module": Maybe(int)}],
    "modules": [(str, str, Maybe(int))],
    "tensors": [(int, int)],
}
OPERATION = {
    "operation": str,
    "operands": {str: {"node": int, "output": Maybe(int)}},
    "keywords": {str: object},
    "source": Maybe(list),
}
GIVEN, COMPUTED = ("parameter", "input", "constant"), ("operation", "loss", "named")
LONGEST_SHOWN = 4096  # characters of a name, or of a line of a program


@dataclass
class Operand:
    """Where an argument comes from; ``value`` counts if it is not simply what came from there (``changed``)."""

    node: int
    output: int | None
    changed: bool
    value: Any = None


@dataclass
class Step:
    """A node: a value that was given (``operation`` is None), or a call of a primitive."""

    kind: str
    name: str | None
    module: int | None
    operation: str | None = None
    operands: dict[str, Operand] = field(default_factory=dict)
    keywords: dict[str, Any] = field(default_factory=dict)
    source: SourceLine | None = None
    value: Any = None  # of a parameter or input


@dataclass
class Document:
    """A whole trace: its nodes in the order of execution, its modules as (name, class, parent), and what was saved."""

    steps: list[Step]
    modules: list[tuple[str, str, int | None]]
    tensors: list[tuple[int, int]]


def read(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Document:
    """The document that a file holds.

    Raises:
        CheckpointError: it is not well formed.
    """
    require(about, FORM, "the trace")
    modules = [(_shown(name), _shown(kind), parent) for name, kind, parent in about["modules"]]
    for number, (_, _, parent) in enumerate(modules):
        _check_number(parent, number, f"the module around module {number}")
    steps: list[Step] = []
    for number, node in enumerate(about["nodes"]):
        steps.append(_step(number, node, arrays))
        _check_number(steps[-1].module, len(modules), f"the module of node {number}")
        for operand in steps[-1].operands.values():
            source = steps[operand.node]
            if operand.changed and source.operation is None and source.value is None:
                source.value = operand.value
    tensors = [(number, output) for number, output in about["tensors"]]
    for number, output in tensors:
        _check_number(number, len(steps), "a saved tensor")
        _check_number(output, 1 << 30, "the output of a saved tensor")
    if not tensors or steps[tensors[0][0]].operation is None:
        raise CheckpointError("the trace ends in no operation: it has nothing to run")
    for number, step in enumerate(steps):
        value = step.value
        if step.kind in ("parameter", "input") and not (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
            raise CheckpointError(f"the trace has no array of floating numbers for node {number}, a {step.kind}")
    return Document(steps, modules, tensors)


def _step(number: int, node: Mapping[str, Any], arrays: Mapping[str, Any]) -> Step:
    where = f"node {number} of the trace"
    kinds = COMPUTED if "operation" in node else GIVEN
    if node["kind"] not in kinds:
        raise CheckpointError(f"the kind of {where} must be one of {', '.join(kinds)}")
    name = None if node["name"] is None else _shown(node["name"])
    if "operation" not in node:
        return Step(node["kind"], name, node["module"])
    require(node, OPERATION, where)
    operands = {}
    for argument, written in node["operands"].items():
        _check_number(written["node"], number, f"the operand {short(_shown(argument))} of {where}")
        value = decode(written["value"], arrays) if "value" in written else None
        operands[argument] = Operand(written["node"], written["output"], "value" in written, value)
    keywords = {_shown(name): decode(value, arrays) for name, value in node["keywords"].items()}
    source = None if node["source"] is None else _source(node["source"])
    return Step(node["kind"], name, node["module"], _shown(node["operation"]), operands, keywords, source)


def _source(written: list[Any]) -> SourceLine:
    """The place in the program, with the text that stood there. (0.1.0 wrote none, and the file of that name is not opened.)"""
    require(written, (str, int, str, str)[: max(len(written), 3)], "a place in the program")
    file, line, function, *text = written
    return SourceLine(_shown(file), line, _shown(function), _shown("".join(text)))


def _check_number(number: int | None, end: int, what: str) -> None:
    if number is not None and not 0 <= number < end:
        raise CheckpointError(f"{what} has the number {number}, and there is none before it that is called so")


def _shown(text: str) -> str:
    if len(text) > LONGEST_SHOWN or not text.isprintable():
        raise CheckpointError(f"the trace has a name that cannot be shown: {short(text)}")
    return text


# Values


def encode(value: Any, array: Callable[[Any], Any], where: str) -> Any:
    """A value as JSON; what JSON does not have is an object that says what it is. ``array`` puts arrays aside."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return array(value)
    if isinstance(value, np.dtype) or (
        isinstance(value, type) and issubclass(value, (np.generic, bool, int, float, complex))
    ):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, np.generic):
        return {"scalar": array(np.asarray(value))}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"parts": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [encode(item, array, where) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(k, array, where), encode(v, array, where)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"slice": [encode(part, array, where) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    raise ArgumentError(f"save_trace cannot write down {value!r}, which '{where}' was called with")


def decode(written: Any, arrays: Mapping[str, Any]) -> Any:
    """What :func:`encode` wrote down.

    Raises:
        CheckpointError: it did not write that.
    """
    if written is None or isinstance(written, (bool, int, str)):
        return written
    if not isinstance(written, dict) or not 1 <= len(written) <= 2:
        raise CheckpointError(f"the trace has a value that is none: a {type(written).__name__}")
    kind, value = next(iter(written.items()))
    if kind not in _DECODERS:
        raise CheckpointError(f"the trace has a value of the kind {short(kind)}, which is not known")
    form, make = _DECODERS[kind]
    require(value, form, f"a {kind} in the trace")
    try:
        result = make(value, arrays)
    except (ValueError, TypeError, OverflowError, KeyError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"the trace has a {kind} that is none: {error}") from error
    return _as_complex(result) if kind == "array" and written.get("complex") else result


def _as_complex(array: Any) -> Any:
    """From pairs of real and imaginary parts."""
    if array.dtype not in (np.float32, np.float64) or array.shape[-1:] != (2,):
        raise CheckpointError(f"the trace has {array.dtype} of shape {array.shape} for complex numbers")
    return np.ascontiguousarray(array).view(f"c{2 * array.itemsize}")[..., 0]


def _dtype(text: str, arrays: Any) -> np.dtype[Any]:
    if not re.fullmatch(r"[<>|=][biufc]\d{1,2}", text):
        raise CheckpointError(f"the trace has a type {short(text)}, which is none of numbers")
    return np.dtype(text)


def _items(value: Any, arrays: Any) -> list[Any]:
    return [decode(item, arrays) for item in value]


def _slice(value: Any, arrays: Any) -> slice:
    parts = _items(value, arrays)
    if not all(part is None or isinstance(part, (int, np.integer)) for part in parts):
        raise CheckpointError("the trace has a slice whose ends are no integers")
    return slice(*parts)


# For each kind the form of what is written, and what makes the value of it
_DECODERS: dict[str, tuple[Any, Callable[[Any, Mapping[str, Any]], Any]]] = {
    "array": (str, lambda name, arrays: arrays[name]),
    "scalar": (dict, lambda value, arrays: decode(value, arrays)[()]),
    "dtype": (str, _dtype),
    "float": (str, lambda text, _: float.fromhex(text)),
    "parts": ((str, str), lambda parts, _: complex(*map(float.fromhex, parts))),
    "tuple": (list, lambda value, arrays: tuple(_items(value, arrays))),
    "list": (list, _items),
    "dict": ([(object, object)], lambda pairs, arrays: {decode(k, arrays): decode(v, arrays) for k, v in pairs}),
    "slice": ((object, object, object), _slice),
    "ellipsis": (bool, lambda value, _: Ellipsis),
}


def printable(text: str) -> str:
    """Without what would break a line, or reach the terminal as an escape sequence."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
