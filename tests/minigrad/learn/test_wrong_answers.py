"""The wrong answers on which the diagnosis is measured: all there, as they were written, and wrong."""

import hashlib

import pytest

from minigrad.learn.tasks import tasks

from .measure_diagnosis import HERE, ORIGINS, answers, checked, readers

WRITTEN = {
    "wrong": "f9b3626a78d1ecc6307bb2d975ec700da2824cab4ae2ddf519125734bf171fa1",
    "fresh": "4dd5cc439f4f97e7c2c73523f4ae64248eccf18b33252ec756a3a6bc5da7f62a",
    "unseen": "c35a1d965a8a5419ed3686ccc2f018c42a334c07f83084b6fe9a99147ec9fabc",
    "fourth": "67e203583beb62cd1a8e669e8aa50f2ecba6263f1aade8ded75629248d58ecd0",
    "fifth": "922614f8d83939a758015cd5ebeea2178aae36794c0fa693f084eedec0d84d16",
}


def test_each_file_holds_the_answers_to_a_task() -> None:
    assert {path.stem for path in (HERE / "answers").iterdir()} == {task.label for task in tasks()}
    assert [len(answers(origin)) for origin in ORIGINS] == [150, 60, 161, 206, 119]
    assert all(one.mistake.endswith(".") and one.kind for one in answers("wrong"))


@pytest.mark.parametrize("origin", ORIGINS)
def test_nobody_has_edited_them(origin: str) -> None:
    """What is measured on answers that were changed to fit would mean nothing."""
    digest = hashlib.sha256()
    for one in answers(origin):
        digest.update("\n".join([one.file, one.task, one.mistake, one.kind, one.code]).encode())
    assert digest.hexdigest() == WRITTEN[origin]


def test_every_one_is_refused_for_its_numbers() -> None:
    found = answers()
    kinds = {one.name: v.finding.kind if v.finding else None for one, v in zip(found, checked(found))}
    assert {f: k for f, k in kinds.items() if k not in ("nowhere", "places", "scalar", "shape")} == {}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("origin", "accepted"),
    [
        ("unseen", ["12.2/06_number_of_numpy.py"]),  # a number of NumPy where the task says int: the same results
        ("fourth", ["12.1/06_overflow.py"]),  # with scores above 700, which task 12.1 does not ask for
        ("fifth", []),
    ],
)
def test_the_answers_of_a_later_set_are_refused(origin: str, accepted: list[str]) -> None:
    found = answers(origin)
    assert [one.name for one, verdict in zip(found, checked(found)) if verdict.passed] == accepted


def test_the_readers_judged_every_answer_of_the_last_two_sets() -> None:
    assert {origin for origin in ORIGINS if all(one.judged for one in answers(origin))} == {"fourth", "fifth"}
    assert readers()["fifth"] == {"plain": 112, "family": 5, "wrong": 1, "accepted": 1}
