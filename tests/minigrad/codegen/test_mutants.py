"""Mistakes planted into the writer: each one that changes a result is noticed before anyone gets the program."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import leaves
from minigrad.codegen import writing
from minigrad.codegen.statements import Check, InPlace, Statement, Value
from tests.minigrad.codegen import ordinary_programs
from tests.minigrad.codegen.apart import close
from tests.minigrad.codegen.test_programs import SEEDS, by_the_tape, tolerance

Mistake = Callable[[list[Statement], random.Random], bool]


def drop_a_check(statements: list[Statement], dice: random.Random) -> bool:
    checks = [i for i, statement in enumerate(statements) if isinstance(statement, Check)]
    if checks:
        del statements[dice.choice(checks)]
    return bool(checks)


def freeze_a_value(statements: list[Statement], dice: random.Random) -> bool:
    places = [
        (statement, i)
        for statement in statements
        for i, arg in enumerate(statement.args)
        if type(arg) is Value and arg.depends and statement.target is None and not isinstance(statement, Check)
    ]
    if places:
        statement, i = dice.choice(places)
        value: Any = statement.args[i].data
        statement.args = (*statement.args[:i], np.array(value) if np.ndim(value) else value, *statement.args[i + 1 :])
    return bool(places)


def swap_two_statements(statements: list[Statement], dice: random.Random) -> bool:
    if len(statements) < 2:
        return False
    i = dice.randrange(len(statements) - 1)
    statements[i : i + 2] = statements[i + 1], statements[i]
    return True


def forget_an_addition(statements: list[Statement], dice: random.Random) -> bool:
    additions = [i for i, statement in enumerate(statements) if isinstance(statement.call, InPlace)]
    if additions:
        del statements[dice.choice(additions)]
    return bool(additions)


MISTAKES = [drop_a_check, freeze_a_value, swap_two_statements, forget_an_addition]
PROGRAMS: dict[str, Any] = dict(ordinary_programs.PROGRAMS)
NAMES = list(PROGRAMS)


@pytest.mark.parametrize("name", NAMES[::8])
def test_each_mistake_that_changes_a_result_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, tidied, dice = PROGRAMS[name], writing.__dict__["tidied"], random.Random(name)
    try:
        right = mg.write_numpy(program.function, *program.examples(0))
    except Exception:
        return  # it is refused without a mistake
    for mistake in MISTAKES:
        seed = dice.random()
        made: list[bool] = []

        def mistaken(
            statements: Any, results: Any, mistake: Mistake = mistake, seed: float = seed, made: list[bool] = made
        ) -> Any:
            statements, results = tidied(statements, results)
            made.append(mistake(statements, random.Random(seed)))
            return statements, results

        with monkeypatch.context() as patch:
            patch.setattr(writing, "tidied", mistaken)
            try:
                wrong = mg.write_numpy(program.function, *program.examples(0))
            except Exception:
                continue  # noticed
        if not made[0] or wrong.source == right.source:
            continue
        for at in SEEDS:
            try:
                found = leaves(list(wrong(*program.examples(at))))
            except Exception:
                continue  # it stops
            expected = by_the_tape(program.function, program.examples(at))
            same = not isinstance(expected, Exception) and close(found, expected, tolerance(expected))
            assert same, f"{mistake.__name__} was not noticed"
