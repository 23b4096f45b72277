"""Which mistake a wrong number comes from: the answers are held against a bank of programs that are wrong in a known way.

A false diagnosis is worse than none. So a mistake is named only where a program of the bank gives the learner's numbers on
all questions, the right ones and the wrong ones; and where two fit whose mistakes have different names, neither is.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from .bank import Mutant, mutants, sentence
from .checker import Verdict
from .compare import compare
from .data import decode, encode
from .pattern import pattern
from .programs import HELPERS, make_function, run_program
from .tasks import AtMost, Case

FIT = 1e-9  # relative: a program of the bank does the same sums, perhaps in another order
Answers = list[tuple[Case, Any]]


@dataclass(frozen=True)
class Diagnosis:
    """The name of a mistake, or None where none is certain, and the programs that fit."""

    name: str | None
    fits: tuple[Mutant, ...]


def diagnose(verdict: Verdict, language: str) -> str | None:
    """What can be said of wrong numbers: where and by how much, and the mistake where it is certain."""
    found = name_of(verdict)
    where = pattern(verdict.case, verdict.got, language) if verdict.case else None
    if found.name is None:
        return where
    notes = {one.of for one in found.fits if one.name == found.name}
    what = sentence(found.name, notes.pop() if len(notes) == 1 else "", language)
    lead, stop = ("Probably: ", ".") if language == "en" else ("考えられる原因：", "。")
    return "\n".join([*([where] if where else []), f"{lead}{what}{stop}"])


def name_of(verdict: Verdict) -> Diagnosis:
    """The mistake whose program gives the same answers to all questions, or else the same in each part that is wrong."""
    asked = [(case, got) for case, got in verdict.answers if _counts(case)]
    wrong = [(case, got) for case, got in asked if compare(case, got)]
    if not wrong:
        return Diagnosis(None, ())
    order = wrong + [one for one in asked if not any(one is other for other in wrong)]
    programs = [(one, _loaded(one.source)) for one in mutants(verdict.task.label)]
    fits = [one for one, names in programs if names is not None and _fits(names, order)]
    return _one_name(fits) if fits else _in_parts(programs, order, len(wrong))


def _counts(case: Case) -> bool:
    """Whether a question can tell mistakes apart. Long chains do not, and a wrong program may not come to their end."""
    return not isinstance(case.expected, AtMost) and "for _ in range" not in case.program


def _one_name(fits: Iterable[Mutant]) -> Diagnosis:
    """The name that all have that were written for the task; where none was, the name that all slips have."""
    fits = tuple(fits)
    closest = tuple(one for one in fits if one.written) or fits
    names = {one.name for one in closest}
    return Diagnosis(names.pop() if len(names) == 1 else None, closest)


def _in_parts(programs: list[tuple[Mutant, Any]], order: Answers, wrong: int) -> Diagnosis:
    """Where the parts of an answer are wrong each for itself: a name that fits every part that is wrong."""
    program = order[0][0].program
    asked = [(case, got) for case, got in order if case.program == program]
    count = len(asked[0][0].expected) if isinstance(asked[0][0].expected, tuple) else 0
    if count < 2 or any(not isinstance(got, tuple | list) or len(got) != count for _, got in asked):
        return Diagnosis(None, ())
    bad = [i for i in range(count) if any(compare(_part(case, i), got[i]) for case, got in asked)]
    kept: list[Mutant] = []
    names: set[str | None] = set()
    for i in bad:
        fits = [one for one, place in programs if place is not None and _fits(place, asked, i)]
        found = _one_name(fits)
        names.add(found.name)
        kept += found.fits
    name = names.pop() if len(names) == 1 else None
    return Diagnosis(name, tuple(kept))


def _part(case: Case, i: int) -> Case:
    return Case(case.program, case.inputs, case.expected[i], tolerance=case.tolerance)


def _loaded(source: str) -> dict[str, Any] | None:
    names: dict[str, Any] = {}
    try:
        exec(_compiled(source), names)
    except Exception:
        return None
    return names


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, "<bank>", "exec")


def _fits(names: dict[str, Any], asked: Answers, part: int | None = None) -> bool:
    """Whether the program gives the same answers; of their parts only one, where one is named."""
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
    size = float(np.max(np.abs(left), initial=1e-3, where=np.isfinite(left)))
    close = max(FIT, case.tolerance if case.tolerance > 1e-7 else 0.0) * size
    return bool(np.all((np.abs(left - 1.0 * right) <= close) | (left == right) | (np.isnan(left) & np.isnan(right))))
