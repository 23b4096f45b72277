"""A finding: what is wrong with a training, where, since when, and the number that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..source.index import Index

ORDER = (
    "nonfinite",
    "own rule",
    "broadcast",
    "no update",
    "stale gradients",
    "step before backward",
    "given twice",
    "mask",
    "softmax axis",
    "future",
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
    "not optimized",
    "repeated batch",
    "changed data",
    "carried state",
    "integers",
    "dropout",
    "validation",
    "exploding",
    "vanishing",
    "learning rate",
    "slow",
)  # fmt: skip - causes that make others look wrong come first


@dataclass
class DebugFinding:
    """Something that is wrong.

    Attributes:
        kind: a word of ``ORDER``.
        step: the number of the step, counted from 0, at which it was first seen.
        what: a sentence with the numbers that show it.
        remedy: a sentence that says what to try.
        lines: the line of the cause, and the line where it shows if that is another one.
        certain: whether the cause was proven on this run; otherwise it is likely.
        file: the program's file.
    """

    kind: str
    step: int
    what: str
    remedy: str
    lines: Sequence[int] = ()
    certain: bool = False
    file: str = ""
    texts: Sequence[str] = field(default=())

    def at(self, source: Index | None) -> DebugFinding:
        """Fill in the file and the text of each line."""
        if source is not None:
            self.lines = list(dict.fromkeys(line for line in self.lines if line))[:2]
            self.file, self.texts = source.file, [source.text(line) for line in self.lines]
        return self

    def __str__(self) -> str:
        head = f"Step {self.step}: {self.what}"
        places = [f"  {self.file}:{line}: {text}" for line, text in zip(self.lines, self.texts)]
        return "\n".join([head, *places, f"  {'Certain' if self.certain else 'Likely'}. Try: {self.remedy}"])


def ranked(findings: Sequence[DebugFinding]) -> list[DebugFinding]:
    """Return one finding of each kind and line, the certain ones first, then in the order of ``ORDER``."""
    first: dict[Any, DebugFinding] = {}
    for found in findings:
        if found.kind == "nonfinite" and any(_explains(other, found) for other in findings):
            found.certain = False  # the first bad number is the result of another cause
        first.setdefault((found.kind, tuple(found.lines[:1])), found)
    return sorted(first.values(), key=lambda f: (not f.certain, ORDER.index(f.kind), f.step))


def _explains(other: DebugFinding, bad: DebugFinding) -> bool:
    """Return whether a finding may be the cause of the first number that is not finite."""
    if other.kind in ("mask", "exploding", "learning rate"):
        return True
    return other is not bad and other.certain and other.step < bad.step


def paragraph(findings: Sequence[DebugFinding], steps: int, looked: Sequence[str], note: str = "") -> str:
    """Return the text that the command prints: the findings, or one line of what was looked at."""
    if not steps:
        return f"minigrad debug: the program trains nothing: no backward pass has begun.{note}"
    lines = [str(found) for found in findings]
    if not findings:
        lines.append("Nothing found.")
    lines.append(f"Looked at, in {steps} step{'s' * (steps > 1)}: {', '.join(looked)}.{note}")
    return "\n".join(lines)
