"""The process that a learner's file runs in: ``python -m minigrad.learn.child``, with jobs on stdin and answers on stdout.

A job is a file and programs that use it; an answer is a line of JSON, written as soon as its job is done, so that a job
that takes the process down leaves those before it answered. What should come out is not known here.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import json
import linecache
import os
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any

import numpy as np

from minigrad.learn.counting import Calls, work
from minigrad.learn.data import decode, encode

HELPERS = {"np": np, "Calls": Calls, "work": work}


def main() -> None:
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # from here on print() goes where errors go, and cannot disturb the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _limit_memory(request["megabytes"])
    for job in request["jobs"]:
        watch = threading.Timer(request["seconds"], _too_late, [answers, job["path"], threading.main_thread().ident])
        watch.daemon = True
        watch.start()
        answer = _answer(job)
        watch.cancel()
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # threads of the learner's, and what was registered for the end, have no say


def _limit_memory(megabytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        for kind, limit in ((resource.RLIMIT_AS, megabytes << 20), (resource.RLIMIT_FSIZE, 50 << 20)):
            resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


def _too_late(answers: IO[str], path: str, main: int) -> None:
    """Say where the program is, and end: it may be inside of an `except:` that would swallow any exception."""
    frame: FrameType | None = sys._current_frames().get(main)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    line = frame.f_lineno if frame else None
    print(json.dumps({"error": _error("late", "", path, line)}), file=answers, flush=True)
    os._exit(0)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    """The values of a job's programs, in order, up to the first that fails."""
    path = job["path"]
    values: list[Any] = []
    try:
        with np.errstate(all="ignore"):
            names = _load(path)
            missing = [name for name in job["names"] if name not in names]
            if missing:
                return {"error": _error("missing", missing[0], path, None)}
            for case in job["cases"]:
                inputs = {name: decode(data, _function) for name, data in case["inputs"].items()}
                kept = copy.deepcopy({name: value for name, value in inputs.items() if not callable(value)})
                values.append({"value": encode(_run(case["program"], {**HELPERS, **names, **inputs}))})
                changed = [name for name in kept if encode(kept[name]) != encode(inputs[name])]
                if changed and not case["may_change"]:
                    values[-1] = {"error": _error("changed", changed[0], path, None)}
                    break
    except MemoryError as error:
        values.append({"error": _error("memory", str(error), path, _line(error, path))})
    except BaseException as error:
        kind = (
            "begin" if isinstance(error, NotImplementedError) else "exit" if isinstance(error, SystemExit) else "raised"
        )
        said = "".join(traceback.format_exception_only(error)).strip()
        line = error.lineno if isinstance(error, SyntaxError) and error.filename == path else _line(error, path)
        values.append({"error": _error(kind, said[-500:], path, line)})
    return {"values": values}


def _load(path: str) -> dict[str, Any]:
    """The names that the learner's file defines. It is not run as `__main__`."""
    module = ModuleType("answer")
    module.__file__ = path
    sys.modules["answer"] = module  # dataclasses look for it
    sys.path[0] = os.path.dirname(path)
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    return module.__dict__


def _function(text: str) -> Any:
    return eval(text, dict(HELPERS))


def _run(program: str, names: dict[str, Any]) -> Any:
    """Run a program of ours; the value is that of its last line."""
    body = ast.parse(program).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "<check>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<check>", "eval"), names)


def _line(error: BaseException, path: str) -> int | None:
    """The innermost line of the learner's file that the error passed through."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    return lines[-1] if lines else None


def _error(kind: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    code = linecache.getline(path, line).strip() if line else ""
    return {"kind": kind, "text": text, "line": line, "code": code}


if __name__ == "__main__":
    main()
