"""What a learner reads: a verdict, the map of the tasks, in their language."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from ..source.index import index_of_file
from .checker import Verdict
from .compare import number
from .data import Code
from .diagnosis import diagnose
from .tasks import ORDER, Case, Task, lessons, named, say, sentences, tasks


def report(verdict: Verdict, language: str) -> str:
    """The verdict: what is right; and what is wrong, with which arguments, and what may be the reason."""
    one, finding, case = verdict.task, verdict.finding, verdict.case
    about = {"label": one.label, "title": one.words(language)["title"], "right": verdict.right, "total": verdict.total}
    if finding is None:
        return say(language, "passed", **about) + _printed(verdict, language)
    call = verdict.path.name
    if case:
        call = case.program if "\n" not in case.program else say(language, "the_program")
    name: str = named(finding.facts.get("name", ""), language) or say(language, "the_result", call=call)
    facts = {"what": name, "call": call, "file": verdict.path.name, "label": one.label, "got": _short(verdict.got)}
    facts |= {"first": one.words(language)["first"], **finding.facts}
    if "names" in facts:
        facts["names"] = ", ".join(named(part, language) for part in facts["names"])
    key = "go_on" if finding.kind == "begin" and not untouched(verdict) else finding.kind
    sentence = say(language, key, **facts)
    sentence = sentence.replace("the program", "The program", 1) if sentence.startswith("the program") else sentence
    lines = [say(language, "failed", **about), "", *sentence.splitlines()]
    if finding.kind == "begin":
        return "\n".join(lines)
    lines += _in_words(finding.facts, language)
    for about_it in (finding.facts.get("about"), case.about if case else None):
        if about_it:
            lines.append(sentences(language)["about"][about_it].format(**finding.facts))
    said = None
    if untouched(verdict):  # in a task to find a mistake, an unchanged file gets no diagnosis
        lines += ["", *say(language, "unchanged", **facts).splitlines()]
    elif finding.kind in DIAGNOSED:
        said = diagnose(verdict, language)
    return "\n".join([*lines, *([said] if said else []), *(_question(case, language) if case else [])]) + _printed(
        verdict, language
    )


def untouched(verdict: Verdict) -> bool:
    """Whether the program is still that of the stub, which for some tasks runs."""
    return same_program(verdict.path, verdict.task.stub)


def same_program(*paths: Path) -> bool:
    """Whether files hold the same program: the text above it may be in any language."""
    try:
        programs = [_program(path) for path in paths]
    except (SyntaxError, ValueError, OSError):
        return False
    return programs[0] == programs[1]


def _program(path: Path) -> list[str]:
    tree = index_of_file(path).tree
    return [ast.dump(node) for node in tree.body[ast.get_docstring(tree) is not None :]]


DIAGNOSED = ("scalar", "places", "nowhere", "nan", "nan_scalar", "shape", "judged")


def _in_words(error: dict[str, Any], language: str) -> list[str]:
    """What NumPy's message means, and the shapes of the arrays in the line that it is about."""
    for key, message in sentences("numpy").items():
        if found := re.search(message, error.get("text", "")):
            shapes = [say(language, "shapes_here", shapes=error["shapes"])] if error.get("shapes") else []
            return [sentences(language)["numpy"][key].format(*found.groups()), *shapes]
    return []


def _question(case: Case, language: str) -> list[str]:
    """The program and its arguments, so that a learner can run it by hand."""
    head, *rest = [f"{name} = {_short(value)}" for name, value in case.inputs.items()] or [""]
    program = ["", *(f"    {line}" for line in case.program.splitlines())]
    return [*program, f"  {sentences(language)['with']} {head}", *(f"    {line}" for line in rest)]


def _short(value: Any) -> str:
    """A value in a line: small arrays with their numbers, large ones by their shape."""
    if isinstance(value, np.ndarray):
        if not value.size:
            return f"np.zeros({value.shape})"
        if value.size > 12:
            return f"<{value.dtype} {value.shape}>"
        return f"np.array({np.array2string(value, precision=4, separator=', ')})".replace("\n", "")
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, list | tuple) and any(isinstance(item, np.ndarray) for item in value):
        return f"[{', '.join(map(_short, value))}]"
    text = number(value) if isinstance(value, float) else repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def solution_of(verdict: Verdict, language: str) -> str | None:
    """Return the course's own functions, for a task whose backward pass is written ``by_hand``, unless they are the answer."""
    task, text = verdict.task, verdict.task.solution.read_text(encoding="utf-8")
    if not task.by_hand or same_program(verdict.path, task.solution):
        return None
    written = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name not in task.complete()
    ]
    functions = [textwrap.indent(str(ast.get_source_segment(text, node)), "    ") for node in written]
    return "\n\n".join([say(language, "solution"), *functions]) + "\n"


def _printed(verdict: Verdict, language: str) -> str:
    if not verdict.printed.strip():
        return ""
    return "\n\n" + sentences(language)["printed"] + "\n" + verdict.printed[:2000].rstrip()


def overview(passed: set[str], language: str) -> str:
    """A line for each lesson with a box for each task, and what comes next."""
    rows = []
    titles = lessons(language)
    for lesson in ORDER:
        boxes = "".join("■" if one.label in passed else "□" for one in tasks() if one.number[0] == lesson)
        rows.append(f"{lesson:>3}  {boxes:<5} {titles[lesson]}")
    return "\n".join(
        [*rows, "", say(language, "done", passed=len(passed), total=len(tasks())), *next_task(passed, language)]
    )


def next_task(passed: set[str], language: str) -> list[str]:
    one = upcoming(passed)
    if one is None:
        return [say(language, "all_done", total=len(tasks()))]
    title = one.words(language)["title"]
    facts = {"label": one.label, "title": title, "file": one.file}
    return [say(language, "next", **facts), say(language, "then", **facts)]


def upcoming(passed: set[str]) -> Task | None:
    return next((one for one in tasks() if one.label not in passed), None)
