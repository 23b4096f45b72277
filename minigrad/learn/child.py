"""Run a learner's file in a separate process, ``python -m minigrad.learn.child``: jobs on stdin, answers on stdout.

A job is a file and the programs that use it. An answer is a line of JSON, written as soon as its job is done, so that a crash
does not lose the answers of earlier jobs. The expected values are not sent to this process.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import math
import os
import re
import sys
import threading
import time
import traceback
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any

import numpy as np

from minigrad.errors import said_by_minigrad
from minigrad.learn.beside import values_by_line
from minigrad.learn.data import decode, encode
from minigrad.learn.programs import HELPERS, draw, make_function, run_program
from minigrad.learn.tasks import folder


def main() -> None:
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # print() now writes to stderr and cannot disturb the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _limit("AS", request["megabytes"] << 20)
    _limit("FSIZE", 50 << 20)
    solutions, opened = os.path.realpath(folder() / "solutions"), list[str]()
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
    for job in request["jobs"]:
        opened.clear()
        _limit("CPU", math.ceil(time.process_time() + request["seconds"]) + 2)  # if _watch cannot run
        done = threading.Event()
        watch = (done, request["seconds"], answers, job["path"])
        threading.Thread(target=_watch, args=watch, daemon=True).start()
        answer = _answer(job)
        files = {path.replace("\0", "") for path in opened if os.path.isabs(path)}  # the working folder may be gone
        answer["solution"] = any(os.path.realpath(path).startswith(solutions) for path in files)
        done.set()
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # does not wait for the learner's threads or run its exit handlers


def _limit(kind: str, limit: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):  # some systems lack limits
        import resource

        which = getattr(resource, f"RLIMIT_{kind}")
        resource.setrlimit(which, (limit, resource.getrlimit(which)[1]))


def _watch(done: threading.Event, seconds: float, answers: IO[str], path: str) -> None:
    """Report the current line and end the process when its time is up; a learner's `except:` could catch an exception.

    The limit is in CPU time, so that a busy computer does not cut programs short. A program that waits without using the CPU
    is ended after six times the limit.
    """
    processor, clock = time.process_time(), time.monotonic()
    while time.process_time() - processor < seconds and time.monotonic() - clock < 6 * seconds:
        if done.wait(0.05):
            return
    frame: FrameType | None = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    error = _error("late", "", path, frame.f_lineno if frame else None)
    print(json.dumps({"error": error}), file=answers, flush=True)
    os._exit(0)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a job's programs, in order, up to the first that fails."""
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
    run = partial(run_program, case["program"], {**HELPERS, **names, **inputs})
    got = encode(values_by_line(run, case["lines"]) if "lines" in case else run())
    for name, value in inputs.items():
        if not callable(value) and not case["may_change"] and encode(value) != case["inputs"][name]:
            return {"error": _error("changed", name, "", None)}
    return {"value": got}


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
    return _error(kind, text[:500], path, line) | {"shapes": _shapes(frame, linecache.getline(path, line or 0))}


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


def _error(kind: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    code = linecache.getline(path, line).strip() if line else ""
    return {"kind": kind, "text": text, "line": line, "code": code}


def _page(names: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Return the stepper page of a program that uses the learner's functions, or the error that prevented it."""
    try:
        return {"values": [draw(names, job["page"])]}
    except BaseException as error:
        return {"error": _raised(error, job["path"], "raised")}


if __name__ == "__main__":
    main()
