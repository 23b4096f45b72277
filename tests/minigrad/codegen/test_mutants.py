"""Mistakes planted into the writer: each one that changes a result is noticed before anyone gets the program."""

import ast
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import leaves
from minigrad.codegen import writing
from tests.minigrad.codegen import hostile_programs, mistakes, ordinary_programs
from tests.minigrad.codegen.apart import close
from tests.minigrad.codegen.hostile_kit import nothing
from tests.minigrad.codegen.test_programs import SEEDS, by_the_tape, tolerance
from tests.minigrad.codegen.test_sizes import PARAMETERS, data
from tests.minigrad.codegen.test_slide import network

PROGRAMS: dict[str, Any] = {**ordinary_programs.PROGRAMS, **hostile_programs.PROGRAMS}
DRAWS = 3  # of each mistake, under --thorough

# Mistakes that no data made from the example show, with the reason.
UNSEEN: dict[tuple[str, str], str] = {
    ("generator_of_runs", "drop_a_check"): (
        "two of three draws drop the second check, whether x[2] and x[1] have the same sign; it alone stops the program only "
        "where x[0] and x[1], or the other four, change their signs together, and in none of the 64 data they do"
    ),
    ("binomial tree", "replace_a_constant"): (
        "one of three draws changes the number of one node of the tree; it is multiplied by 0 unless the put is exercised at "
        "this node, which it is in none of the data of the comparison"
    ),
}
ENDLESS = {"work_queue"}  # without one of its checks, the loop of the function does not end on other data


def plant(mistake: Any, seed: str, patch: pytest.MonkeyPatch) -> list[bool]:
    """Let the writer make a mistake. The list that is returned gets whether it had an occasion, each time it writes."""
    made: list[bool] = []
    simplified, written = writing.__dict__["simplified"], writing.__dict__["WrittenProgram"]

    def in_statements(statements: Any, results: Any, *rest: Any) -> Any:
        statements, results = simplified(statements, results, *rest)
        made.append(mistake(statements, random.Random(seed)))
        return statements, results

    def in_text(step: str, *rest: Any) -> Any:
        tree = ast.parse(step)
        changes = list(mistake(tree))
        made.append(bool(changes))
        if changes:
            random.Random(seed).choice(changes)()
        return written(ast.unparse(tree) + "\n" if changes else step, *rest)

    patch.setattr(
        writing, *(("simplified", in_statements) if mistake in mistakes.IN_STATEMENTS else ("WrittenProgram", in_text))
    )
    return made


def has_a_fault(written: Any, function: Callable[..., Any], example: Any, fresh: Callable[[], None]) -> bool:
    """Whether a program gives something else than the tape, or shares memory with its arguments, or changes them."""
    before = [np.copy(leaf) for leaf in leaves(list(example))]
    try:
        found = leaves(list(written(*example)))
    except Exception:
        return False  # it stops
    given = leaves(list(example))
    if not all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc") for a, b in zip(before, given)):
        return True
    arrays = [each for each in given if isinstance(each, np.ndarray)]
    results = [each for each in found if isinstance(each, np.ndarray)]
    if any(np.shares_memory(a, b) for i, a in enumerate(results) for b in (*arrays, *results[i + 1 :])):
        return True
    fresh()
    expected = by_the_tape(function, example)
    return isinstance(expected, Exception) or not close(found, expected, tolerance(expected))


def unnoticed(name: str, draws: int) -> list[str]:
    """Return the mistakes that the writer does not notice in a program."""
    program = PROGRAMS[name]
    fresh = getattr(program, "fresh", nothing)
    found = []

    def write() -> Any:
        fresh()
        try:
            return mg.write_numpy(program.function, *program.examples(0))
        except Exception:
            return None  # it is refused

    right = write()
    for mistake in [*mistakes.IN_STATEMENTS, *mistakes.IN_TEXT] if right is not None else []:
        for draw in range(draws):
            with pytest.MonkeyPatch.context() as patch:
                made = plant(mistake, f"{name} {draw}", patch)
                wrong = write()
            if wrong is None or not any(made) or wrong.source == right.source:
                continue
            examples = [program.examples(seed) for seed in SEEDS]
            if any(has_a_fault(wrong, program.function, example, fresh) for example in examples):
                found.append(mistake.__name__)
    return [each for each in found if (name, each) not in UNSEEN]


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", [name for name in list(PROGRAMS)[::8] if name not in ENDLESS])
def test_each_mistake_that_changes_a_result_is_noticed(name: str) -> None:
    assert not unnoticed(name, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ENDLESS])
def test_several_mistakes_of_each_kind_are_noticed(name: str) -> None:
    assert not unnoticed(name, DRAWS)


def test_a_wrong_size_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> Any:
        return mg.write_numpy(network, *data(16), argnum=PARAMETERS, sizes=[data(48, 2, 5)])

    right = write()
    for seed in range(10):
        with monkeypatch.context() as patch:
            made = plant(mistakes.take_another_size, str(seed), patch)
            with pytest.raises((mg.UnsupportedError, ValueError, IndexError)):
                write()
            assert made == [True]
    assert "len(x)" in right.source
    assert ".shape[1]" in right.source
