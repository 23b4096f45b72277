"""Count what becomes of all programs: ``python -m tests.minigrad.codegen.measure [--refusals]`` prints the table.

With ``--writes`` it counts the statements that write into an array, which docs/design/written-out.md quotes.
"""

import re
import sys
from collections import Counter
from typing import Any

import minigrad as mg
from minigrad._tree import leaves
from minigrad.codegen.paper import Paper, recorded
from minigrad.codegen.program import Arguments, parameter_names
from minigrad.codegen.record import Recording, values_in
from tests.minigrad.codegen import hostile_programs, ordinary_programs
from tests.minigrad.codegen.apart import close
from tests.minigrad.codegen.hostile_kit import nothing
from tests.minigrad.codegen.test_programs import SEEDS, by_the_tape, tolerance

OUTCOMES = ("right", "stopped", "refused", "own error", "wrong")


def outcome(program: Any) -> tuple[str, str]:
    """Return what becomes of a program on the data of all seeds, and the message if it is refused.

    It is "right" on all of them, "stopped" by a check or NumPy's error on some of them and right on the others, "refused", or
    "wrong". It has its "own error" if it raises that on the tape too.
    """
    fresh = getattr(program, "fresh", nothing)
    fresh()
    try:
        written = mg.write_numpy(program.function, *program.examples(0))
    except mg.MinigradError as error:
        return "refused", str(error)
    except Exception as error:
        fresh()
        own = isinstance(by_the_tape(program.function, program.examples(0)), type(error))
        return ("own error" if own else "wrong"), f"{type(error).__name__}: {error}"
    if getattr(program, "must", "either") == "refuse":
        return "wrong", "it must be refused"
    stopped = ""
    for seed in SEEDS:
        fresh()
        try:
            found = leaves(list(written(*program.examples(seed))))
        except Exception as error:
            stopped = f"seed {seed}: {error}"
            continue
        fresh()
        expected = by_the_tape(program.function, program.examples(seed))
        if isinstance(expected, Exception) or not close(found, expected, tolerance(expected)):
            return "wrong", f"seed {seed}: the tape gives {expected}"
    return ("stopped" if stopped else "right"), stopped


def names_a_line(message: str) -> bool:
    """Whether a refusal names a line of the user's program."""
    return re.search(r"\bline \d+", message) is not None


TABLES: dict[str, dict[str, Any]] = {
    "ordinary": dict(ordinary_programs.PROGRAMS),
    "hostile": dict(hostile_programs.PROGRAMS),
}


def writes(run: Recording) -> tuple[int, int]:
    """Return how many statements of a run write into an array, and how many of these meet a view of it.

    A write meets a view if it goes into one, or if a value that shares the memory is computed before it and read after it.
    """
    last = dict.fromkeys(values_in(run.results), len(run.statements))
    last = {value: i for i, each in enumerate(run.statements) for value in each.values} | last
    made = {value: i for i, each in enumerate(run.statements) for value in each.outputs}
    found = [(i, each.target) for i, each in enumerate(run.statements) if each.target is not None]
    meeting = 0
    for i, target in found:
        sharing = [value for value in made if value is not target and value.memory is target.memory]
        source = target.statement.values if target.statement is not None else []
        through = any(value.memory is target.memory for value in source)
        meeting += through or any(made[value] < i < last.get(value, -1) for value in sharing)
    return len(found), meeting


def count_writes() -> str:
    programs = [each for table in TABLES.values() for each in table.values()]
    counts = []
    for program in programs:
        getattr(program, "fresh", nothing)()
        try:
            examples = program.examples(0)
            arguments = Arguments(parameter_names(program.function, len(examples)), examples)
            run = recorded(program.function, arguments, arguments.chosen(None), Recording(Paper))
        except Exception:
            continue  # it is refused
        counts.append(writes(run))
    writing, meeting = (sum(each[i] > 0 for each in counts) for i in (0, 1))
    total, views = (sum(each[i] for each in counts) for i in (0, 1))
    return (
        f"{writing} of {len(counts)} programs write into arrays, {total:,} times. {views} of these writes, in {meeting} "
        "programs, meet a view"
    )


def main(show: bool) -> None:
    print("programs  " + "".join(f"{word:>11}" for word in OUTCOMES) + "   refusals that name a line")
    for kind, programs in TABLES.items():
        found = {name: outcome(program) for name, program in programs.items()}
        counts = Counter(word for word, _ in found.values())
        refusals = {name: message for name, (word, message) in found.items() if word == "refused"}
        named = sum(map(names_a_line, refusals.values()))
        print(f"{kind:10}" + "".join(f"{counts[word]:>11}" for word in OUTCOMES) + f"   {named} of {len(refusals)}")
        for name, (word, message) in found.items():
            if word == "wrong" or (show and word != "right"):
                print(f"  {name}: {word}: {message}")


if __name__ == "__main__":
    if "--writes" in sys.argv:
        print(count_writes())
    else:
        main("--refusals" in sys.argv)
