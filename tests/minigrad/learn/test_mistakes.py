"""Planted mistakes are noticed, each with the right words; right answers in other styles are not refused."""

from pathlib import Path

import pytest

from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, tasks

from .answers import ANSWERS

SEEDS = (0, 1, 2026)
RUNS = {"7.1", "7.2", "7.3"}  # their stubs are mistakes
MISTAKES = [(each["task"], each["before"], each["after"], each["kinds"]) for each in ANSWERS["mistakes"]]


def test_each_task_has_a_planted_mistake_but_those_that_are_one() -> None:
    assert {label for label, *_ in MISTAKES} >= {task.label for task in tasks()} - RUNS


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    folder = tmp_path_factory.mktemp("mistakes")
    jobs = []
    for i, (label, old, new, _) in enumerate(MISTAKES):
        source = find(label).solution.read_text(encoding="utf-8")
        assert old in source, (label, old)
        path = folder / f"{i}.py"
        path.write_text(source.replace(old, new), encoding="utf-8")
        jobs.append(Job(find(label), path, 11))
    return check(jobs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("i", range(len(MISTAKES)), ids=[f"{label}-{new[:20]}" for label, _, new, _ in MISTAKES])
def test_a_mistake_is_noticed(i: int, mistaken: list[Verdict]) -> None:
    finding, kinds = mistaken[i].finding, MISTAKES[i][3]
    if not kinds:
        assert finding is None
        return
    assert finding is not None
    assert finding.kind in kinds, report(mistaken[i], "en")
    for language in LANGUAGES:
        assert report(mistaken[i], language)


def test_right_answers_in_another_style_pass(tmp_path: Path) -> None:
    jobs = []
    for label, source in ANSWERS["others"].items():
        path = tmp_path / f"{label}.py"
        path.write_text(f"import numpy as np\n\n{source}", encoding="utf-8")
        jobs += [Job(find(label), path, seed) for seed in (*SEEDS, 17)]
    refused = [report(verdict, "en") for verdict in check(jobs) if not verdict.passed]
    assert refused == []


def test_find_nan_in_the_file_of_7_3_says_the_step_below_the_message(tmp_path: Path) -> None:
    """The task sends a learner there. The check's message names the row of zeros, and not what to write."""
    path = tmp_path / "7_3_find_the_nan.py"
    stub = find("7.3").stub.read_text(encoding="utf-8")
    printing = stub.replace("loss.backward()\n", "loss.backward()\n    print(mg.find_nan(loss))\n")
    path.write_text(printing, encoding="utf-8")
    (verdict,) = check([Job(find("7.3"), path, 3)])
    told, _, printed = report(verdict, "en").partition("Your program printed:\n")
    assert verdict.right == 1 and "gradient of W: right at 0 of 6 places; at [0, 0] it is NaN" in told
    assert "a row of words is all zeros" in told and "squares > 0" not in told
    first, second, *_ = printed.splitlines()  # of the first question, which has no row of zeros, and of the second
    assert first == "None" and second.startswith("in the backward pass, the derivative of 'length' (sqrt)")
    assert "length = np.sqrt(squares)" in printed and "0 * inf is nan" in printed
