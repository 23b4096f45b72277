"""The backward pass of a right answer beside the one that minigrad writes (``mg.write_numpy``), line by line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from textwrap import indent

import numpy as np

from ..codegen.program import WrittenProgram
from ..codegen.writing import write_numpy
from .beside import ProgramLine, beside, lines_of, meet
from .checker import Job, Verdict, ask, request
from .data import decode
from .programs import HELPERS, run_program, show
from .tasks import Case, say


def written_beside(verdict: Verdict, language: str) -> str | None:
    """Return both programs in rows, for a task whose backward pass the learner writes ``by_hand``; None for the others."""
    cases = [case for case, _ in verdict.answers if case.forward and verdict.task.by_hand]
    try:
        # The largest example tells most lines apart, but not one with probabilities that are 0 or 1.
        case = max(cases, key=lambda case: (case.about != "stable", sum(map(np.size, case.given().values()))))
        own = list(_own(verdict, case))
        lines = lines_of(_written(case), case.given().values())
        right = [line for backward, line in lines if backward or any(meet(one, line) for one in own)]
        columns = shutil.get_terminal_size((100, 24)).columns  # 100 if it goes to no terminal
        return f"{say(language, 'beside')}\n\n{beside(own, right, columns)}"
    except Exception:  # no such example; and a check must come to its end whatever the file does
        return None


def _own(verdict: Verdict, case: Case) -> Iterator[ProgramLine]:
    """The lines of the learner's functions that ran, without their signatures."""
    asked = request(Job(verdict.task, verdict.path, 0), [case])
    asked["cases"][0]["lines"] = asked["path"]
    values = decode(ask(asked)["values"][0]["value"])
    for number, text in enumerate(verdict.path.read_text(encoding="utf-8").splitlines(), 1):
        if number in values and text.startswith(" "):
            yield ProgramLine(text, values[number])


def _written(case: Case) -> WrittenProgram:
    given = case.given()
    end = f"np.sum(g * {case.end})" if "g" in given else case.end
    source = f"def forward({', '.join(given)}):\n" + indent(f"{case.forward}\nreturn {end}\n", "    ")
    file = f"<forward of {case.program}>"  # one for each task, because the names in a file are looked up once
    show(source, file)
    forward = run_program(f"{source}forward", {**HELPERS}, file)
    argnum = [
        i for i, (name, x) in enumerate(given.items()) if name not in case.fixed and np.asarray(x).dtype.kind == "f"
    ]
    return write_numpy(forward, *given.values(), argnum=argnum)
