"""Run a learner's file in this interpreter, where there are no processes: in a web page, which can end its worker.

The limits are a number of lines and a time, both checked at each line of the learner's file. A program that stays in one
call, or catches every exception for ever, is ended by the page alone.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import sys
import tempfile
import time
from types import FrameType
from typing import Any

from .answer import MOST_SAID, answer, failure

LINES = 2_000_000  # of the learner's file in one job; the solutions run 172,000 at most
SLOWER = 6  # times slower than a process: WebAssembly, and a call of Python for each line


class LateError(BaseException):
    """The time is up. It is no Exception, so that a learner's `except Exception` lets it pass."""


def run_inside(request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the answers to all jobs, and what the program printed."""
    printed = io.StringIO()
    answers = []
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch), contextlib.ExitStack() as outputs:
        outputs.enter_context(contextlib.redirect_stdout(printed))
        outputs.enter_context(contextlib.redirect_stderr(printed))
        for job in request["jobs"]:
            linecache.checkcache(job["path"])
            answers.append(_limited(job, SLOWER * request["seconds"]))
    return json.loads(json.dumps(answers)), printed.getvalue()[:MOST_SAID]


def _limited(job: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return the answer to a job, or that it came late and at which line. Leave the interpreter as it was."""
    left, end, late = LINES, time.monotonic() + seconds, None

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        return count if frame.f_code.co_filename == job["path"] else None

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left, late
        left -= 1
        if left < 0 or time.monotonic() > end:
            late = frame.f_lineno
            raise LateError
        return count

    modules, path, before = set(sys.modules), list(sys.path), sys.gettrace()
    sys.settrace(follow)
    try:
        found = answer(job)
    finally:
        sys.settrace(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == os.path.dirname(job["path"]):
                del sys.modules[name]  # a file of the learner's, which may change before the next check
    return found if late is None else {"error": failure("late", "", job["path"], late)}
