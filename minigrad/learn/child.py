"""Run a learner's file in a process of its own, with limits: ``python -m minigrad.learn.child``.

The process reads jobs from stdin and writes answers to stdout. An answer is a line of JSON, written as soon as its job is
done, so that a crash does not lose the answers of earlier jobs.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import IO, Any

from minigrad.learn.answer import MOST_SAID, answer, failure

STARTING = 20.0  # seconds that Python and NumPy may take to come up, on a machine that is busy
MOST_ANSWERED = 1 << 26


def run_in_process(request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the answers to the first jobs, at least one, and what the program printed."""
    with (
        tempfile.TemporaryDirectory(prefix="minigrad-learn-", ignore_cleanup_errors=True) as scratch,
        tempfile.TemporaryFile() as asked,
        tempfile.TemporaryFile() as answered,
        tempfile.TemporaryFile() as said,
    ):
        asked.write(json.dumps(request).encode())
        asked.seek(0)
        process = _start(scratch, asked, answered, said)
        try:
            late = _wait(process, answered, request["seconds"])
        finally:
            _end(process)
        answered.seek(0)
        said.seek(0)
        answers = _answers(answered.read(MOST_ANSWERED))[: len(request["jobs"])]
        printed = said.read(MOST_SAID).decode("utf-8", "replace")
    return answers or [{"error": _ended(process.returncode, late)}], printed


def _ended(status: int, late: bool) -> dict[str, Any]:
    """What is known of a process that ended without an answer: its status, or the signal that ended it."""
    names = {one.value: one.name for one in signal.Signals}
    text = names.get(-status, str(-status)) if status < 0 else f"exit status {status}"
    return {"kind": "late" if late or text == "SIGXCPU" else "ended", "text": text, "line": None, "code": ""}


def _start(scratch: str, asked: IO[bytes], answered: IO[bytes], said: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the process, with files for its three streams: a pipe would need a thread that reads it."""
    package = str(Path(__file__).resolve().parents[2])
    more = {"PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))}
    more |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    more |= {"PYTHONIOENCODING": "utf-8:replace", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "minigrad.learn.child"],
        stdin=asked,
        stdout=answered,
        stderr=said,
        cwd=scratch,
        env={**os.environ, **more},
        start_new_session=os.name == "posix",
    )


def _wait(process: subprocess.Popen[bytes], answered: IO[bytes], seconds: float) -> bool:
    """Wait for the process to end. Return True if it gives no answer for so long that its own time limit must have failed."""
    start = time.time()
    while process.poll() is None:
        if time.time() - max(start, os.fstat(answered.fileno()).st_mtime) > STARTING + 8 * seconds:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, and on POSIX also the processes that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _answers(text: bytes) -> list[dict[str, Any]]:
    """The complete lines."""
    found = []
    for line in text.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            break
        if not isinstance(answer, dict) or not answer.keys() & {"error", "values"}:
            break
        found.append(answer)
    return found


# In the process


def main() -> None:
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # print() now writes to stderr and cannot disturb the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _limit("AS", request["megabytes"] << 20)
    _limit("FSIZE", 50 << 20)
    for job in request["jobs"]:
        _limit("CPU", math.ceil(time.process_time() + request["seconds"]) + 2)  # if _watch cannot run
        done = threading.Event()
        watch = (done, request["seconds"], answers, job["path"])
        threading.Thread(target=_watch, args=watch, daemon=True).start()
        found = answer(job)
        done.set()
        print(json.dumps(found), file=answers, flush=True)
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
    error = failure("late", "", path, frame.f_lineno if frame else None)
    print(json.dumps({"error": error}), file=answers, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
