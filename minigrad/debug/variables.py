"""What the variables of the running program hold: its frames, and the tensors and arrays inside of containers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np

from .._source import of_library
from ..engine.tensor import Tensor

DEEPEST = 6  # nested containers that are searched for tensors and arrays
MOST_VALUES = 4000  # values that are searched
# Modules whose objects are not searched.
LIBRARIES = "numpy", "builtins", "types", "minigrad", "collections", "functools"


def frames_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the program's own code, the innermost first. What runs its file, such as IPython, is not one."""
    while frame is not None:
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            yield frame
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


def variables_of(frame: FrameType | None) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the variables of the running functions and of the file, the innermost first, and the function of each.

    A function is given by the line at which it begins, and the file itself by 0.
    """
    found: dict[str, Any] = {}
    scopes: dict[str, int] = {}
    for own in frames_of(frame):
        local = own.f_code.co_name != "<module>"
        for variables, scope in ((own.f_locals, own.f_code.co_firstlineno if local else 0), (own.f_globals, 0)):
            for name, value in variables.items():
                if not name.startswith("__") and name not in found:
                    found[name], scopes[name] = value, scope
    return found, scopes


def reachable(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors, arrays and lists of numbers that variables hold, also inside of containers, each with its path."""
    waiting: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in variables.items()]
    seen: set[int] = set()
    for path, value, depth in waiting:
        if len(waiting) > MOST_VALUES:
            return
        if isinstance(value, (Tensor, np.ndarray)):
            yield path, value
            continue
        if id(value) in seen or depth >= DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            named = [(key, item) for key, item in value.items() if isinstance(key, (str, int))]
            waiting += [(f"{path}[{key!r}]", item, depth + 1) for key, item in named]
        elif isinstance(value, (list, tuple)) and len(value) > 2 and all(type(v) is float for v in value[:3]):
            yield path, value
        elif isinstance(value, (list, tuple)) and len(value) <= 200:
            waiting += [(f"{path}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        elif hasattr(value, "__dict__") and not isinstance(value, type) and not _is_closed(value):
            own = of_library(type(value).__module__)  # not the buffers of an optimizer, whose views parameters are
            names = [name for name in vars(value) if not (own and name.startswith("_"))]
            waiting += [(f"{path}.{name}", vars(value)[name], depth + 1) for name in names]


def _is_closed(value: Any) -> bool:
    """Return whether a value is a function, a module, or an object of a library that holds no variables of the program."""
    return inspect.isroutine(value) or inspect.ismodule(value) or type(value).__module__.partition(".")[0] in LIBRARIES


def address(value: Any) -> int:
    """Return the address of the first element of an array; 0 for other values."""
    array = value._array if isinstance(value, Tensor) else value
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else 0
