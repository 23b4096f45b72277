"""Find the mistake behind wrong numbers by comparing the answers with those of a bank of programs with known mistakes.

A false diagnosis is worse than none. So a mistake is named only if a program of the bank gives the learner's numbers on all
questions, those answered right and those answered wrong. If two programs fit and their mistakes differ, none is named, unless
the learner's file has the changed expression of one of them alone. Several mistakes are named where each is certain in a part
of its own.
"""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..source.index import index_of_file
from .bank import Mutant, mutants, place, sentence
from .checker import Job, Verdict, ask, request
from .compare import compare, right_places
from .data import decode, encode
from .pattern import pattern
from .programs import HELPERS, make_function, run_program
from .tasks import AtMost, Case, named, say

FIT = 1e-9  # relative tolerance, because a program of the bank may add the same numbers in another order
Answers = list[tuple[Case, Any]]


@dataclass(frozen=True)
class Diagnosis:
    """The name of a mistake, or None if none is certain, and the programs that fit.

    ``several`` has two mistakes or more instead: the part of the answer, the name of its mistake, and its note.
    """

    name: str | None
    fits: tuple[Mutant, ...]
    several: tuple[tuple[str, str, str], ...] = ()


def diagnose(verdict: Verdict, language: str) -> str | None:
    """Return a text that says where the numbers are wrong and by how much, and names the mistake if it is certain."""
    found = name_of(verdict)
    where = pattern(verdict.case, verdict.got, language) if verdict.case else None
    if found.several:
        parts = [(named(part, language), sentence(name, of, language)) for part, name, of in found.several]
        lines = [say(language, "one_of_several", what=f"{part}: {what}") for part, what in parts]
        return "\n".join([say(language, "several", count=len(parts)), *lines])
    if found.name is None:
        return say(language, "earlier_call") if _right_alone(verdict) else where
    if found.name in ("stale", "alias", "other_value") and (line := _second_name(verdict.path)):
        return "\n".join([*([where] if where else []), say(language, "second_name", **line)])
    what = sentence(found.name, _swapped(verdict, language) if found.name == "swapped" else _note(found), language)
    return "\n".join([*([where] if where else []), say(language, "probably", what=what)])


def _note(found: Diagnosis) -> str:
    """What the programs that fit say of the mistake beside its name, where they agree."""
    notes = {one.of for one in found.fits if one.name == found.name}
    return notes.pop() if len(notes) == 1 else ""


def _swapped(verdict: Verdict, language: str) -> str:
    """The names of the two results that stand for each other, where the question that went wrong tells."""
    case, got = verdict.case, verdict.got
    assert case is not None
    wrong = [i for i in range(len(case.names)) if compare(_part(case, i), got[i])]
    return say(language, "both", names=[named(case.names[i], language) for i in wrong]) if len(wrong) == 2 else ""


def place_of(verdict: Verdict, language: str) -> tuple[str, str] | None:
    """The step of the task's program to which a named mistake belongs, and the sentence that says it; or None."""
    found = name_of(verdict)
    at = place(verdict.task.label, found.name, _note(found)) if found.name else None
    if not found.name or not at:
        return None
    return at, say(language, "probably", what=sentence(found.name, _note(found), language))


def _right_alone(verdict: Verdict) -> bool:
    """Whether the question that went wrong is answered right in a process of its own, with no question before it."""
    if verdict.case is None or verdict.right == 0:
        return False
    answer = ask(request(Job(verdict.task, verdict.path, 0), [verdict.case])).get("values", [{"error": None}])[0]
    return "error" not in answer and compare(verdict.case, decode(answer["value"])) is None


def _second_name(path: Path) -> dict[str, Any] | None:
    """The line ``b = a`` in a file that then writes into one of the two and computes with the other: it makes no copy."""
    source = index_of_file(path)
    names = source.find(ast.Name, lambda name: not any(isinstance(each, ast.Return) for each in source.around(name)))
    read = [(one.id, one.lineno) for one in names if isinstance(one.ctx, ast.Load)]
    stored = source.find(ast.Subscript, lambda one: isinstance(one.ctx, ast.Store))
    changed = [one.target for one in source.find(ast.AugAssign) if isinstance(one.target, ast.Name)]
    written = [(ast.unparse(one.value), one.lineno) for one in stored] + [(one.id, one.lineno) for one in changed]
    for one in source.find(ast.Assign, lambda node: isinstance(node.value, ast.Name)):
        both, code = {ast.unparse(one.value), *map(ast.unparse, one.targets)}, ast.unparse(one)
        if any({a, b} == both and line > at for a, at in written for b, line in read):
            return {"line": one.lineno, "code": code, "copy": f"{code}.copy()"}
    return None


@lru_cache(16)  # the report asks, and the page of the answer
def name_of(verdict: Verdict) -> Diagnosis:
    """Return the mistake whose program gives the same answers to all questions, or else in each part that is wrong."""
    asked = [(case, got) for case, got in verdict.answers if _counts(case)]
    wrong = [(case, got) for case, got in asked if compare(case, got)]
    if not wrong:
        return Diagnosis(None, ())
    order = wrong + [one for one in asked if not any(one is other for other in wrong)]
    programs = [(one, _loaded(one.source)) for one in mutants(verdict.task.label)]
    fits = [one for one, names in programs if names is not None and _fits(names, order)]
    if fits:
        return _one_name(fits, verdict)
    return _in_parts(programs, order, verdict)


def _counts(case: Case) -> bool:
    """Return whether a question can distinguish mistakes. Loops cannot, and a wrong program may not finish them."""
    return not isinstance(case.expected, AtMost) and "for _ in range" not in case.program


def _one_name(fits: Iterable[Mutant], verdict: Verdict) -> Diagnosis:
    """Return the common name of programs that fit; if they differ, of those whose changed expression the learner's file has."""
    closest = fits = tuple(fits)
    if len({one.name for one in closest}) > 1:
        own, right = (_expressions(_text(path)) for path in (verdict.path, verdict.task.solution))
        closest = tuple(one for one in fits if (_expressions(one.source) - right) & own) or closest
    names = {one.name for one in closest}
    return Diagnosis(names.pop() if len(names) == 1 else None, closest)


def _text(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):  # the file may be gone since it was checked
        return path.read_text(encoding="utf-8")
    return ""


@cache
def _expressions(source: str) -> frozenset[str]:
    """The operations and calls of a program, as text."""
    nodes = ast.walk(ast.parse(source))
    return frozenset(ast.unparse(node) for node in nodes if isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp))


def _in_parts(programs: list[tuple[Mutant, Any]], order: Answers, verdict: Verdict) -> Diagnosis:
    """Diagnose each wrong part of an answer alone: all may have one mistake, or each one of its own."""
    first = order[0][0]
    asked = [(case, got) for case, got in order if case.program == first.program]
    count = len(first.expected) if isinstance(first.expected, tuple) else 0
    if count < 2 or any(not isinstance(got, tuple | list) or len(got) != count for _, got in asked):
        return Diagnosis(None, ())
    found: dict[int, Diagnosis] = {}
    for i in range(count):
        if any(compare(_part(case, i), got[i]) for case, got in asked):
            fits = [one for one, place in programs if place is not None and _fits(place, asked, i)]
            found[i] = _one_name(fits, verdict)
    names = {each.name for each in found.values()}
    if len(names) == 1:
        return Diagnosis(names.pop(), tuple(one for each in found.values() for one in each.fits))
    parts = [(first.names[i] if first.names else f"[{i}]", each.name, _note(each)) for i, each in found.items()]
    several = tuple((part, name, of) for part, name, of in parts if name)
    return Diagnosis(None, (), several if len(several) == len(parts) else ())


def _part(case: Case, i: int) -> Case:
    return Case(case.program, case.inputs, case.expected[i], tolerance=case.tolerance)


@cache
def _loaded(source: str) -> dict[str, Any] | None:
    names: dict[str, Any] = {}
    try:
        exec(compile(source, "<bank>", "exec"), names)
    except Exception:
        return None
    return names


def _fits(names: dict[str, Any], asked: Answers, part: int | None = None) -> bool:
    """Return whether the program gives the same answers, or the same value in ``part`` of each answer."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, got in asked:
            try:
                inputs = {name: decode(encode(value), make_function) for name, value in case.inputs.items()}
                mine = run_program(case.program, {**HELPERS, **names, **inputs})
                same = _same(mine, got, case) if part is None else _same(mine[part], got[part], case)
            except Exception:
                return False
            if not same:
                return False
    return True


def _same(a: Any, b: Any, case: Case) -> bool:
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_same(x, y, case) for x, y in zip(a, b))
    if isinstance(a, str | bool | dict) or a is None or b is None:
        return bool(a == b)
    left, right = np.asarray(a), np.asarray(b)
    if left.shape != right.shape or left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
        return False
    return bool(right_places(right, left, max(FIT, case.tolerance if case.tolerance > 1e-7 else 0.0)).all())
