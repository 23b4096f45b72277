"""A finding: what is wrong with a training, where, since when, how sure that is, and the numbers that show it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .program import At

SHOWN, LIKELY, LOOK = "shown", "likely", "look here"
GRADES = (SHOWN, LIKELY, LOOK)
ORDER = (
    "own rule",
    "broadcast",
    "off tape",
    "step before backward",
    "no update",
    "stale gradients",
    "mixed gradients",
    "undivided",
    "given twice",
    "mask",
    "softmax axis",
    "future",
    "softmax twice",
    "bounded logits",
    "integers",
    "shift",
    "leak",
    "constant target",
    "pairs",
    "own statistics",
    "class weight",
    "padding",
    "mean first",
    "cut",
    "no gradient",
    "zero gradient",
    "dead",
    "saturated",
    "decay",
    "clipping",
    "tied copy",
    "equal weights",
    "state inf",
    "rate zero",
    "repeated batch",
    "changed data",
    "carried state",
    "dropout",
    "not optimized",
    "validation",
    "exploding",
    "vanishing",
    "sign",
    "unbounded",
    "learning rate",
    "slow",
    "nonfinite",
)  # fmt: skip - causes that make others look wrong come first


@dataclass
class DebugFinding:
    """Something that is wrong.

    Attributes:
        kind: a word of ``ORDER``.
        step: the number of the step, counted from 0, at which it was first seen.
        grade: "shown", if what it says was seen in the record of this run and can mean nothing else; "likely", if a number is
            outside of the range that it names; "look here", if the numbers may also be meant so.
        places: the line of the cause, and the line where it shows if that is another one, each with its file.
        texts: the texts of these lines.
        say: which sentence of the kind fits; ``facts`` has its numbers.
        symptom: whether it only follows from another finding.
    """

    kind: str
    step: int
    grade: str
    places: Sequence[At] = ()
    texts: Sequence[str] = ()
    say: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    symptom: bool = False

    @property
    def lines(self) -> list[int]:
        return [line for _, line in self.places]

    @property
    def what(self) -> str:
        """A sentence with the numbers that show it."""
        return self.sentence("en")[0]

    @property
    def remedy(self) -> str:
        """A sentence that says what to try."""
        return self.sentence("en")[1]

    def sentence(self, language: str) -> tuple[str, str]:
        """Return what is wrong, and what to try."""
        words = sentences(language)["findings"]
        what, remedy = words.get(f"{self.kind}.{self.say}") or words[self.kind]
        what = what.format(**self.facts)
        return sentences(language)["symptom"].format(what=what) if self.symptom else what, remedy.format(**self.facts)

    def text(self, language: str = "en") -> str:
        words = sentences(language)
        what, remedy = self.sentence(language)
        lines = [words["head"].format(step=self.step, what=what)]
        roles = words["roles"].get(self.kind, words["roles"][""])
        roles = [f"{role}: " for role in roles] if len(self.places) > 1 else [""]
        lines += [f"  {role}{file}:{line}: {text}" for role, (file, line), text in zip(roles, self.places, self.texts)]
        return "\n".join([*lines, "  " + words["tail"].format(grade=words["grades"][self.grade], remedy=remedy)])

    def __str__(self) -> str:
        return self.text()


class Question(NamedTuple):
    """A question to the record.

    Attributes:
        kind: the kind of its findings.
        evidence: what it compares: "arrays", "tape", "optimizer" or "calls".
        ask: a function that yields the findings about a run.
    """

    kind: str
    evidence: Sequence[str]
    ask: Callable[[Any], Iterable[DebugFinding]]


CHECKS: list[Question] = []


def check(kind: str, evidence: str) -> Callable[[Callable[[Any], Iterator[DebugFinding]]], Any]:
    """Declare a check: a generator of findings that asks a run. Its findings get the kind."""

    def declare(ask: Callable[[Any], Iterator[DebugFinding]]) -> Any:
        @functools.wraps(ask)
        def asked(run: Any) -> Iterator[DebugFinding]:
            for found in ask(run):
                found.kind = found.kind or kind
                yield found

        CHECKS.append(Question(kind, evidence.split(), asked))
        return asked

    return declare


@functools.cache
def sentences(language: str) -> dict[str, Any]:
    """Return what the command says in a language."""
    words: dict[str, Any] = json.loads(Path(__file__).with_name(f"words.{language}.json").read_text(encoding="utf-8"))
    return words


def ranked(findings: Sequence[DebugFinding]) -> list[DebugFinding]:
    """Return one finding of each kind and line: what was shown first, then in the order of ``ORDER``; one "look here" at most.

    A number that is not finite is the last thing that goes wrong, so the other findings come before it.
    """
    first: dict[Any, DebugFinding] = {}
    for found in sorted(findings, key=lambda found: GRADES.index(found.grade)):
        first.setdefault((found.kind, tuple(found.places[:1])), found)

    def explained(bad: DebugFinding) -> bool:
        """Return whether a number that is not finite is a symptom of something else that was found."""
        causes = [other for other in first.values() if other.kind != bad.kind and other.grade != LOOK]
        return any(
            other.kind in ("mask", "exploding", "learning rate", "state inf")
            or (other.grade == SHOWN and other.step < bad.step)
            for other in causes
        )

    def place(found: DebugFinding) -> Any:
        last = found.kind == "nonfinite" and explained(found)
        return last, GRADES.index(found.grade), ORDER.index(found.kind), found.step

    kept = sorted(first.values(), key=place)
    for found in kept:
        if found.kind == "nonfinite" and explained(found):
            found.symptom, found.grade = True, LIKELY if found.grade == SHOWN else found.grade
    hints = [found for found in kept if found.grade == LOOK]
    return [found for found in kept if found.grade != LOOK] + hints[:1]


def paragraph(findings: Sequence[DebugFinding], steps: int, notes: Sequence[str], language: str) -> str:
    """Return the text that the command prints: the findings, or one line of what was looked at."""
    words = sentences(language)
    note = "".join(notes)
    if not steps:
        return words["no_steps"] + note
    lines = [found.text(language) for found in findings] or [words["nothing"]]
    looked = words["looked"].format(steps=steps, last=steps - 1, checks=len(CHECKS))
    return "\n".join([*lines, looked + note])
