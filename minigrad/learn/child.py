"""Run a learner's file in a process of its own, with limits: ``python -m minigrad.learn.child``.

The process reads jobs from stdin and writes answers to stdout. An answer is a line of JSON, written as soon as its job is
done, so that a crash does not lose the answers of earlier jobs. If a job takes too long, `faulthandler` writes below them
where the program was, from outside of Python: no ``except:`` of the learner's catches that, and no long call delays it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from minigrad.learn.answer import MOST_SAID, answer, failure

# So many times the limit of the processor's time may a program take that waits without using the processor.
WAITING = 6


def run_in_process(request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the answers to the first jobs, at least one, and what the program printed."""
    with (
        tempfile.TemporaryDirectory(prefix="minigrad-learn-", ignore_cleanup_errors=True) as scratch,
        tempfile.TemporaryFile() as answered,
        tempfile.TemporaryFile() as said,
    ):
        process = _start(scratch, answered, said)
        try:
            process.communicate(json.dumps(request).encode())
        finally:
            _end(process)
        answered.seek(0)
        said.seek(0)
        text = answered.read().decode("utf-8", "replace")
        printed = said.read(MOST_SAID).decode("utf-8", "replace")
    answers = _answers(text)
    if len(answers) < len(request["jobs"]):
        answers.append({"error": _ended(process.returncode, text, request["jobs"][len(answers)]["path"])})
    return answers, printed


def _start(scratch: str, answered: IO[bytes], said: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the process, with files for what it writes: a pipe would need a thread that reads it."""
    package = str(Path(__file__).resolve().parents[2])
    more = {"PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))}
    more |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    more |= {"PYTHONIOENCODING": "utf-8:replace", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "minigrad.learn.child"],
        stdin=subprocess.PIPE,
        stdout=answered,
        stderr=said,
        cwd=scratch,
        env={**os.environ, **more},
        start_new_session=os.name == "posix",
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, and on POSIX also the processes that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _answers(text: str) -> list[dict[str, Any]]:
    """Return the complete answers."""
    found: list[dict[str, Any]] = []
    with contextlib.suppress(ValueError):  # the rest is of a job that broke off
        for line in text.splitlines():
            found.append(json.loads(line))
    return found


def _ended(status: int, text: str, path: str) -> dict[str, Any]:
    """Return what is known of a job without an answer: how its process ended, and at which line of the learner's file."""
    names = {one.value: one.name for one in signal.Signals}
    end = names.get(-status, str(-status)) if status < 0 else f"exit status {status}"
    if end != "SIGXCPU" and "\nTimeout (" not in f"\n{text}":
        return failure("ended", end, path, None)
    file = path.encode("ascii", "backslashreplace").decode()  # as faulthandler writes it
    line = re.search(rf'File "{re.escape(file)}", line (\d+)', text)
    return failure("late", "", path, int(line[1]) if line else None)


# In the process


def main() -> None:
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # print() now writes to stderr and cannot disturb the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _limit("AS", request["megabytes"] << 20)
    _limit("FSIZE", 50 << 20)
    if hasattr(signal, "SIGXCPU"):  # sent at the limit of the processor's time, where the system has one
        faulthandler.register(signal.SIGXCPU, answers, all_threads=False, chain=True)
    for job in request["jobs"]:
        _limit("CPU", math.ceil(time.process_time() + request["seconds"]))
        faulthandler.dump_traceback_later(WAITING * request["seconds"], exit=True, file=answers)
        found = answer(job)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(found), file=answers, flush=True)
    os._exit(0)  # does not wait for the learner's threads or run its exit handlers


def _limit(kind: str, limit: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):  # some systems lack limits
        import resource

        which = getattr(resource, f"RLIMIT_{kind}")
        resource.setrlimit(which, (limit, resource.getrlimit(which)[1]))


if __name__ == "__main__":
    main()
