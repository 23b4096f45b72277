"""The backward pass of a right answer beside the course's own solution, line by line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .beside import ProgramLine, beside
from .checker import Job, Verdict, ask, request
from .data import decode
from .report import same_program
from .tasks import Case, say


def solution_beside(verdict: Verdict, language: str) -> str | None:
    """Return both programs in rows, for a task whose backward pass the learner writes ``by_hand``; None for the others.

    There is also none if the answer is the solution itself.
    """
    cases = [case for case, _ in verdict.answers if case.forward and verdict.task.by_hand]
    if not cases or same_program(verdict.path, verdict.task.solution):
        return None
    try:
        # The largest example tells most lines apart, but not one with probabilities that are 0 or 1.
        case = max(cases, key=lambda case: (case.about != "stable", sum(map(np.size, case.given().values()))))
        own, right = (list(_lines(verdict, path, case)) for path in (verdict.path, verdict.task.solution))
        columns = shutil.get_terminal_size((100, 24)).columns  # 100 if it goes to no terminal
        return f"{say(language, 'beside')}\n\n{beside(own, right, columns)}"
    except Exception:  # a check must come to its end whatever the file does
        return None


def _lines(verdict: Verdict, path: Path, case: Case) -> Iterator[ProgramLine]:
    """The lines of a program's functions that ran, without their signatures."""
    asked = request(Job(verdict.task, path, 0), [case])
    asked["cases"][0]["lines"] = asked["path"]
    values = decode(ask(asked)["values"][0]["value"])
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if number in values and text.startswith(" "):
            yield ProgramLine(text, values[number])
