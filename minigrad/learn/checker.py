"""Checks answers: runs each learner's file, with limits, and compares what comes back.

It runs in a process of its own, or in this interpreter where the system has no processes, as in a web page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .child import run_in_process
from .compare import Finding, compare
from .data import decode, encode
from .inside import run_inside
from .tasks import Case, Task

SECONDS, MEGABYTES = 5.0, 2048
# Python itself says so: `subprocess` needs one of the other platforms.
_run = run_inside if sys.platform in ("emscripten", "wasi") else run_in_process


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

    @property
    def passed(self) -> bool:
        return self.finding is None


def check(jobs: Sequence[Job], *, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> list[Verdict]:
    """Check answers, in as few processes as there can be: one, and one more after each that ended early."""
    questions = [job.task.questions(job.seed) for job in jobs]
    found: list[Verdict] = []
    while len(found) < len(jobs):
        rest = [request(job, cases) for job, cases in zip(jobs[len(found) :], questions[len(found) :])]
        answers, printed = _run({"jobs": rest, "seconds": seconds, "megabytes": megabytes})
        for answer in answers:
            found.append(_verdict(jobs[len(found)], questions[len(found)], answer, printed))
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
    asked = [{"program": case.program, "inputs": {n: encode(v) for n, v in case.inputs.items()}} for case in cases]
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
