"""How often the diagnosis names the mistake: ``python -m tests.minigrad.learn.measure_diagnosis``.

Over the wrong answers of ``wrong_answers/``, which were written from the stubs alone and before the bank. What counts as the
right name for each answer stands in ``diagnosis_names.toml``; where a mistake has no name in the bank, whatever is said
of it counts as wrong.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from pathlib import Path

from minigrad.learn.checker import Job, check
from minigrad.learn.diagnosis import name_of
from minigrad.learn.tasks import find

HERE = Path(__file__).parent
FOLDER = HERE / "wrong_answers"
ANSWERS = tomllib.loads((FOLDER / "answers.toml").read_text(encoding="utf-8"))["answer"]
NAMES = tomllib.loads((HERE / "diagnosis_names.toml").read_text(encoding="utf-8"))


def named(seed: int = 7) -> dict[str, str | None]:
    """The name that the diagnosis gives to each answer, or None."""
    verdicts = check([Job(find(one["task"]), FOLDER / one["file"], seed) for one in ANSWERS])
    return {one["file"]: name_of(verdict).name for one, verdict in zip(ANSWERS, verdicts)}


def judged(file: str, name: str | None) -> str:
    """Whether a name says the mistake that was made: "right", "not named" or "WRONG"."""
    accepted = NAMES[file]
    if name is None or name in accepted.get("unclear", []):
        return "not named"
    return "right" if name in accepted["right"] else "WRONG"


def main(seed: int = 7) -> Counter[str]:
    names = named(seed)
    count: Counter[str] = Counter()
    for one in ANSWERS:
        name = names[one["file"]]
        result = judged(one["file"], name)
        count[result] += 1
        print(f"{result:10} {one['file']:40} {name or '':20} {one['kind']}")
    total = len(ANSWERS)
    print(", ".join(f"{result.lower()}: {n} of {total} ({n / total:.1%})" for result, n in count.most_common()))
    return count


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
