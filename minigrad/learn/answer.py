"""Answer a job: run the programs of a task with a learner's file, in this interpreter, and say what came back.

A job is a file and the programs that use it. Its answer can be written as JSON. The expected values are in no job.
"""

from __future__ import annotations

import contextlib
import gc
import linecache
import os
import re
import sys
import traceback
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from ..errors import said_by_minigrad
from .data import decode, encode
from .programs import HELPERS, draw, make_function, run_program

MOST_SAID = 4_000  # characters of what a program prints


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a job's programs, in order, up to the first that fails, or the error before all of them."""
    path = job["path"]
    values: list[Any] = []
    with np.errstate(all="ignore"):
        try:
            names = _load(path)
        except BaseException as error:
            return {"error": _raised(error, path, "load")}
        if "page" in job:
            return _page(names, job)
        missing = [name for name in job["names"] if name not in names]
        if missing:
            return {"error": failure("missing", missing[0], path, None)}
        for case in job["cases"]:
            try:
                values.append(_value(case, names))
            except BaseException as error:
                values.append({"error": _raised(error, path, "raised")})
            if "error" in values[-1]:
                break
    return {"values": values}


def _value(case: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    inputs = {name: decode(data, make_function) for name, data in case["inputs"].items()}
    held = {**HELPERS, **names, **inputs}  # what the program makes stays in it until it is taken apart
    try:
        got = encode(run_program(case["program"], held))
    finally:
        _take_apart(names)
    for name, value in inputs.items():
        if not callable(value) and encode(value) != case["inputs"][name]:
            return {"error": failure("changed", name, "", None)}
    return {"value": got}


def _take_apart(names: dict[str, Any]) -> None:
    """Empty the objects of the learner's classes one by one.

    Python frees a chain of 5,000 of them from its end, one inside the other, for which WebAssembly's stack is too small.
    """
    classes = tuple(value for value in names.values() if isinstance(value, type) and value.__module__ == "answer")
    for one in [one for one in gc.get_objects() if isinstance(one, classes)] if classes else []:
        with contextlib.suppress(TypeError):  # it has slots
            vars(one).clear()


def _raised(error: BaseException, path: str, kind: str) -> dict[str, Any]:
    """Return the learner's message for an exception, with the innermost line of the learner's file in its traceback."""
    frames = [
        (frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path
    ]
    frame, line = frames[-1] if frames else (None, None)
    said = said_by_minigrad(error) or error
    text = f"{type(said).__name__}: {said}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename == path:
        text, line = f"{type(error).__name__}: {error.msg}", error.lineno
    if isinstance(error, NotImplementedError):
        kind, text = "begin", frame.f_code.co_qualname if frame else ""
    elif isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, SystemExit):
        kind = "exit"
    return failure(kind, text[:500], path, line) | {"shapes": _shapes(frame, linecache.getline(path, line or 0))}


def _shapes(frame: FrameType | None, code: str) -> str:
    """The shapes of the arrays that have a name in a line."""
    known = frame.f_locals if frame else {}
    arrays = {name: known.get(name) for name in re.findall(r"[^\W\d]\w*", code)}
    return ", ".join(f"{name} {value.shape}" for name, value in arrays.items() if isinstance(value, np.ndarray))


def _load(path: str) -> dict[str, Any]:
    """Return the names that the learner's file defines. The file is not run as `__main__`."""
    module = ModuleType("answer")
    module.__file__ = path
    sys.modules["answer"] = module  # dataclasses look for it
    sys.path[0] = os.path.dirname(path)
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    return module.__dict__


def failure(kind: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    """Return what is said of a job that broke off: the kind of its end, a text, and the line with its code."""
    code = linecache.getline(path, line).strip() if line else ""
    return {"kind": kind, "text": text, "line": line, "code": code}


def _page(names: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Return the stepper page of a program that uses the learner's functions, or the error that prevented it."""
    try:
        return {"values": [draw(names, job["page"])]}
    except BaseException as error:
        return {"error": _raised(error, job["path"], "raised")}
