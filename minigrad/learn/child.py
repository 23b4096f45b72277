"""The process that a learner's file runs in: ``python -m minigrad.learn.child``, with jobs on stdin and answers on stdout.

A job is a file and programs that use it; an answer is a line of JSON, written as soon as its job is done, so that a job
that takes the process down leaves those before it answered. What should come out is not known here.
"""

from __future__ import annotations

import ast
import contextlib
import json
import linecache
import math
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any

import numpy as np

from minigrad.engine.tensor import Tensor
from minigrad.errors import said_by_minigrad
from minigrad.graph.pages.explain import explain
from minigrad.graph.pages.lesson import validated
from minigrad.graph.pages.page_data import page_data
from minigrad.graph.record.capture import capture
from minigrad.graph.record.trace import trace
from minigrad.learn.counting import Calls, work
from minigrad.learn.data import Code, decode, encode, part_of

HELPERS = {"np": np, "Calls": Calls, "work": work}
MOST_OPERATIONS = 200  # that a page of an answer shows
FIXED = ("g", "eps")  # inputs that no gradient is asked of


def main() -> None:
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # from here on print() goes where errors go, and cannot disturb the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _limit("AS", request["megabytes"] << 20)
    _limit("FSIZE", 50 << 20)
    for job in request["jobs"]:
        _limit("CPU", math.ceil(time.process_time() + request["seconds"]) + 2)  # where no thread of ours gets a turn
        done = threading.Event()
        main_thread = threading.main_thread().ident
        threading.Thread(
            target=_watch, args=(done, request["seconds"], answers, job["path"], main_thread), daemon=True
        ).start()
        answer = _answer(job)
        done.set()
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # threads of the learner's, and what was registered for the end, have no say


def _limit(kind: str, limit: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):  # not on every system
        import resource

        which = getattr(resource, f"RLIMIT_{kind}")
        resource.setrlimit(which, (limit, resource.getrlimit(which)[1]))


def _watch(done: threading.Event, seconds: float, answers: IO[str], path: str, main: int) -> None:
    """When time is up, say where the program is, and end: it may be inside of an `except:` that would swallow any exception.

    Time is the processor's, so that a busy computer makes nobody late; or the clock's, for who waits.
    """
    processor, clock = time.process_time(), time.monotonic()
    while time.process_time() - processor < seconds and time.monotonic() - clock < 6 * seconds:
        if done.wait(0.05):
            return
    frame: FrameType | None = sys._current_frames().get(main)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    error = _error("late", "", path, frame.f_lineno if frame else None)
    print(json.dumps({"error": error}), file=answers, flush=True)
    os._exit(0)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    """The values of a job's programs, in order, up to the first that fails."""
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
            return {"error": _error("missing", missing[0], path, None)}
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
    got = encode(run_program(case["program"], {**HELPERS, **names, **inputs}))
    for name, value in inputs.items():
        if not callable(value) and not case["may_change"] and encode(value) != case["inputs"][name]:
            return {"error": _error("changed", name, "", None)}
    return {"value": got}


def _raised(error: BaseException, path: str, kind: str) -> dict[str, Any]:
    """What a learner is told of an exception: its line is the innermost of the learner's file that it passed through."""
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
    return _error(kind, text[:500], path, line)


def _load(path: str) -> dict[str, Any]:
    """The names that the learner's file defines. It is not run as `__main__`."""
    module = ModuleType("answer")
    module.__file__ = path
    sys.modules["answer"] = module  # dataclasses look for it
    sys.path[0] = os.path.dirname(path)
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    return module.__dict__


def make_function(text: str) -> Any:
    return eval(text, dict(HELPERS))


def run_program(program: str, names: dict[str, Any], file: str = "<check>") -> Any:
    """Run a program of ours; the value is that of its last line."""
    body = ast.parse(program).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names)


def _error(kind: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    code = linecache.getline(path, line).strip() if line else ""
    return {"kind": kind, "text": text, "line": line, "code": code}


# Pages


def _page(names: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """The stepper page of a program that the learner's functions are part of; why there is none is nobody's question."""
    try:
        return {"values": [draw(names, job["page"])]}
    except BaseException as error:
        return {"error": _raised(error, job["path"], "raised")}


def draw(names: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Run a program on Tensors, and make its page: the HTML, the step it is opened at, and the value and gradient on it."""
    inputs = {name: _leaf(decode(data), name) for name, data in asked["inputs"].items()}
    if asked["file"] != "<check>":
        _show(asked["program"].rpartition("\n")[0], asked["file"])
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as scratch:
        with trace():
            result = run_program(asked["program"], {**HELPERS, **names, **inputs}, asked["file"])
        end = part_of(result, asked["part"])
        end.name = asked["end"]
        seed = decode(asked["seed"])
        end.backward(np.ones(end.shape) if seed is None or asked["at"] == "backward" else seed, retain_graph=True)
        data = page_data(capture(end, caller="explain"), False)
        if data["turn"] > MOST_OPERATIONS:
            raise ValueError("nobody steps through so much")
        page = explain(end, f"{scratch}/page.html", language=asked["language"], lesson=asked["lesson"])
        html = page.read_text(encoding="utf-8")
    step = (validated(asked["lesson"], data) or {})["steps"][0]["at"]
    gradient = inputs[asked["leaf"]].grad.data if asked["leaf"] in inputs else None
    return {"html": html, "step": step, "end": encode(end.data), "gradient": encode(gradient)}


def _leaf(value: Any, name: str) -> Any:
    """Numbers and arrays of floats, also in lists, as Tensors with a name; code as a function."""
    if isinstance(value, Code):
        _show(value, name)
        return run_program(value, dict(HELPERS), name)
    if isinstance(value, list):
        return [_leaf(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if name not in FIXED and isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
        return Tensor(value, requires_grad=True, name=name)
    return value


def _show(text: str, file: str) -> None:
    """Have the page show a text that is in no file."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


if __name__ == "__main__":
    main()
