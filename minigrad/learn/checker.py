"""Checks answers: runs each learner's file in a process of its own, with limits, and compares what comes back."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from .compare import Finding, compare
from .data import decode, encode
from .tasks import Case, Task

SECONDS, MEGABYTES = 5.0, 2048
STARTING = 20.0  # seconds that Python and NumPy may take to come up, on a machine that is busy
MOST_SAID, MOST_ANSWERED = 4_000, 1 << 26


@dataclass(frozen=True)
class Job:
    task: Task
    path: Path
    seed: int


@dataclass(frozen=True, eq=False)
class Verdict:
    """How an answer did: of ``total`` questions the first ``right`` were right, and what was wrong with the next."""

    task: Task
    path: Path
    right: int
    total: int
    finding: Finding | None = None
    case: Case | None = None
    got: Any = None
    printed: str = ""
    answers: tuple[tuple[Case, Any], ...] = ()  # all questions and what came back, up to the first that broke off
    solution: bool = False  # whether the file, or what it imports, has opened a packaged solution

    @property
    def passed(self) -> bool:
        return self.finding is None


def check(jobs: Sequence[Job], *, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> list[Verdict]:
    """Check answers, in as few processes as there can be: one, and one more after each that went down."""
    questions = [job.task.questions(job.seed) for job in jobs]
    found: list[Verdict] = []
    while len(found) < len(jobs):
        rest = [request(job, cases) for job, cases in zip(jobs[len(found) :], questions[len(found) :])]
        answers, printed = _run({"jobs": rest, "seconds": seconds, "megabytes": megabytes})
        for answer in answers:
            verdict = _verdict(jobs[len(found)], questions[len(found)], answer, printed)
            found.append(replace(verdict, solution=bool(answer.get("solution"))))
    return found


def right_answer(task: Task, folder: Path) -> Path:
    """Return the learner's file if its answer is right, else that of the solution."""
    file = folder / task.file
    right = file.is_file() and check([Job(task, file, 0)])[0].passed
    return file if right else task.solution


def ask(job: dict[str, Any], seconds: float = SECONDS, megabytes: int = MEGABYTES) -> dict[str, Any]:
    """The answer to one job of the child's."""
    return _run({"jobs": [job], "seconds": seconds, "megabytes": megabytes})[0][0]


def request(job: Job, cases: list[Case]) -> dict[str, Any]:
    """What the child is asked to do for a job."""
    asked = [{"program": c.program, "inputs": {n: encode(v) for n, v in c.inputs.items()}, "may_change": c.may_change}
             for c in cases]  # fmt: skip
    used = {name for case in cases for name in re.findall(r"\w+", case.program)}  # a helper that was given may go
    return {"path": str(job.path.resolve()), "names": [n for n in job.task.needs() if n in used], "cases": asked}


def _verdict(job: Job, cases: list[Case], answer: dict[str, Any], printed: str) -> Verdict:
    if "error" in answer:
        return Verdict(job.task, job.path, 0, len(cases), _finding(answer["error"]), printed=printed)
    values = [one["error"] if "error" in one else decode(one["value"]) for one in answer["values"]]
    answers = tuple((case, got) for case, got, one in zip(cases, values, answer["values"]) if "error" not in one)
    for i, (case, got, one) in enumerate(zip(cases, values, answer["values"])):
        if finding := _finding(got) if "error" in one else compare(case, got):
            value = None if "error" in one else got
            return Verdict(job.task, job.path, i, len(cases), finding, case, value, printed, answers)
    return Verdict(job.task, job.path, len(cases), len(cases), printed=printed, answers=answers)


def _finding(error: dict[str, Any]) -> Finding:
    where = "_at" if error["line"] and error["kind"] in ("raised", "load", "late", "memory", "exit") else ""
    return Finding(error["kind"] + where, error)


def _run(request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The answers to the first jobs, at least one, and what the program printed."""
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
