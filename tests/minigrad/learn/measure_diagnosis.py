"""How often the diagnosis names the mistake: ``python -m tests.minigrad.learn.measure_diagnosis``.

Over the wrong answers of ``wrong_answers/``, which were written from the stubs alone and before the bank. What counts as the
right name for each answer stands in ``diagnosis_names.toml``; where a mistake has no name in the bank, whatever is said
of it counts as wrong. With ``planted``: how often the bank's own mistakes are named, which says that the machinery works, and
nothing about learners.

The first measurement, of a bank written without looking at these answers: 116 of 150 named right (77.3 %), 31 not named, 3
named wrong (2.0 %), which misses both goals (80 % and 1 %). Who wrote that bank had read the list of kinds that the answers'
writer was asked for, so even this number may be kind. Then the bank was mended with these answers in view (other brackets, a
sum for a product, slices, integer division, lines for single tasks, some lines under a better name, four new names that
``diagnosis_names.toml`` accepts): 139 right (92.7 %), 10 not named, 1 wrong (0.7 %). That is no forecast.

So sixty fresh answers were written, again from the stubs alone, by somebody who knew neither the bank nor the first answers nor
a list of kinds (``fresh_answers/``; ``fresh`` measures on them): 55 of 60 named right (91.7 %), 4 not named, 1 wrong (1.7 %).
That one has got a name of its own since. With other_value told from argument, and more questions: 56 of 60 right, 4 not named,
none wrong; of the 150 as before.

A third set of 161 answers (``unseen_answers/``) was written in the same way for all 36 tasks. Two readers judged by hand
what the whole report tells the learner, the error of a raised exception included: 136 right (84.5 %), 10 by their family, 9
not named, 5 wrong (3.1 %), 1 accepted, which differs from the solution in the type of an integer alone. Two more had been
accepted and are refused now (3.3, 8.1), and one of the 5 has got the right name (6.3).

A fourth set of 206 answers (``fourth_answers/``), written from the stubs alone as well, was judged like the third: 164 right
(79.6 %), 17 by their family, 18 not named, 4 wrong (1.9 %), 3 accepted. This misses both goals, 85 % and 1 %. Since then all of
the 18 and of the 4 have got names or questions of their own, and two of the 3 are refused; the third overflows with scores
above 700, which its task does not ask for.

A fifth set of 119 answers (``fifth_answers/``) was written after these changes, again from the stubs alone, by an author who
was asked for the most common mistakes of a class: 112 right (94.1 %), 5 by their family, none not named, 1 wrong (0.8 %), 1
accepted (7.3, refused since). Their mistakes are more usual than those of the fourth set, so part of the gain is theirs.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from minigrad.learn.bank import mutants
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.diagnosis import name_of
from minigrad.learn.report import DIAGNOSED
from minigrad.learn.tasks import find, tasks

HERE = Path(__file__).parent
SETS = {"wrong": "diagnosis_names.toml", "fresh": "fresh_names.toml"}


def _read(path: Path) -> Any:
    return tomllib.loads(path.read_text(encoding="utf-8"))


NAMES = {file: names for each in SETS.values() for file, names in _read(HERE / each).items()}


def answers(which: str = "wrong") -> list[dict[str, str]]:
    found: list[dict[str, str]] = _read(HERE / f"{which}_answers" / "answers.toml")["answer"]
    return found


def named(which: str = "wrong", seed: int = 7) -> dict[str, str | None]:
    """The name that the diagnosis gives to each answer, or None."""
    folder, found = HERE / f"{which}_answers", answers(which)
    verdicts = check([Job(find(one["task"]), folder / one["file"], seed) for one in found])
    return {one["file"]: name_of(verdict).name for one, verdict in zip(found, verdicts)}


def judged(file: str, name: str | None) -> str:
    """Whether a name says the mistake that was made: "right", "not named" or "WRONG"."""
    accepted = NAMES[file]
    if name is None or name in accepted.get("unclear", []):
        return "not named"
    return "right" if name in accepted["right"] else "WRONG"


def answered(folder: Path, sources: list[tuple[str, str]], seed: int = 11) -> list[Verdict]:
    """The verdicts on programs for the tasks of these labels."""
    jobs = []
    for i, (label, source) in enumerate(sources):
        path = folder / f"{i}.py"
        path.write_text(source, encoding="utf-8")
        jobs.append(Job(find(label), path, seed))
    return check(jobs, seconds=0.5)


def planted() -> Counter[str]:
    """What becomes of the bank's own mistakes."""
    made = [(task.label, one) for task in tasks() for one in mutants(task.label) if one.written]
    with tempfile.TemporaryDirectory() as folder:
        verdicts = answered(Path(folder), [(label, one.source) for label, one in made])
    count: Counter[str] = Counter()
    for (label, one), verdict in zip(made, verdicts):
        numbers = verdict.finding and verdict.finding.kind in DIAGNOSED
        name = name_of(verdict).name if numbers else None
        result = "right" if name == one.name else "WRONG" if name else "not named" if numbers else "broke off"
        result = "NOT NOTICED" if verdict.passed else result
        count[result] += 1
        if result != "right":
            print(f"{result:10} {label:5} {one.name:20} {name or ''}")
    print(", ".join(f"{result.lower()}: {n} of {len(made)}" for result, n in count.most_common()))
    return count


def main(which: str = "wrong") -> Counter[str]:
    count: Counter[str] = Counter()
    names = named(which)
    for one in answers(which):
        name = names[one["file"]]
        result = judged(one["file"], name)
        count[result] += 1
        print(f"{result:10} {one['file']:40} {name or '':20} {one['mistake']}")
    print(
        ", ".join(f"{result.lower()}: {n} of {len(names)} ({n / len(names):.1%})" for result, n in count.most_common())
    )
    return count


def readers() -> dict[str, Counter[str]]:
    """What the readers made of the reports, for each set."""
    found = {which: Counter(verdicts.values()) for which, verdicts in _read(HERE / "judged.toml").items()}
    for which, count in found.items():
        whole = count.total()
        print(
            f"{which}: " + ", ".join(f"{result} {n} of {whole} ({n / whole:.1%})" for result, n in count.most_common())
        )
    return found


if __name__ == "__main__":
    other = {"planted": planted, "judged": readers}.get("".join(sys.argv[1:]))
    other() if other else main(*sys.argv[1:])
