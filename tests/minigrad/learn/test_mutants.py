"""A solution with one small change that gives other results is refused; the changes that give the same are listed."""

import random
from pathlib import Path

import pytest

from .mutants import USUAL, equivalent, every, mutants, passing

SAMPLE = 250  # of the mutants in the fast run
OTHER_SEEDS = range(100, 105)


def test_a_change_is_made_once_and_named() -> None:
    found = dict(mutants("def f(x, y):\n    z = x - y\n    return z[1:]\n"))
    assert found["- z = x - y | + z = x + y"] == "def f(x, y):\n    z = x + y\n    return z[1:]"
    assert "- return z[1:] | + return z[:]" in found and "- z = x - y | + z = y - x" in found
    assert "- z = x - y | + pass" in found
    assert len(found) == len(set(found.values())) and all(program != "" for program in found.values())


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(0, marks=pytest.mark.thorough)])
def test_what_gives_other_results_is_refused(count: int, tmp_path: Path) -> None:
    found = every()
    assert len(found) > 7000
    chosen = random.Random(1).sample(found, count) if count else found
    accepted = {(task.label, change) for task, change, _ in passing(chosen, tmp_path, USUAL)}
    known = {(task.label, change) for task, change, _ in chosen} & set(equivalent())
    assert accepted == known


@pytest.mark.thorough
def test_the_equivalent_ones_give_the_same_results_with_other_seeds(tmp_path: Path) -> None:
    listed = equivalent()
    chosen = [one for one in every({task for task, _ in listed}) if (one[0].label, one[1]) in listed]
    assert len({(task.label, change) for task, change, _ in chosen}) == len(listed)
    for seed in OTHER_SEEDS:
        assert len(passing(chosen, tmp_path, seed)) == len(chosen)
    assert all(reason.strip() for reason in listed.values())
