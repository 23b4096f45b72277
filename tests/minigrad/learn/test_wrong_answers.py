"""The hundred and fifty wrong answers on which the diagnosis is measured: all there, as they were written, and wrong."""

import hashlib
import tomllib

import pytest

from minigrad.learn.checker import Job, check
from minigrad.learn.tasks import find

from .measure_diagnosis import HERE, answers, readers

FOLDER = HERE / "wrong_answers"
ANSWERS = answers()
WRITTEN = {
    "wrong": "7935017163200aa37073c36531f88219e504eaff6f501507d798345e81a2cd6a",
    "fresh": "3867a2c92f6369acfb72ed2e3735a4561ecf38c085888e758cc416ce0b5d63ea",
    "unseen": "e7a5ec0413f1447f21229948d132676195958caad88f48f19c55bfb3653546c4",
    "fifth": "f74ebc82e0451c37159a5ec64ca8766ffb10fe50acce380deb26063a88544145",
    "fourth": "bdc64f429f665720dd40570f9328892464d75b25f00654486ecc4c74257280ec",
}


def test_each_file_stands_in_the_table_with_its_task_and_its_mistake() -> None:
    assert [a["file"] for a in ANSWERS] == [
        f"{task}/{path.name}"
        for task in dict.fromkeys(a["task"] for a in ANSWERS)
        for path in sorted((FOLDER / task).iterdir())
    ]
    assert len(ANSWERS) == 150
    assert all(a["file"].startswith(a["task"] + "/") and a["mistake"].endswith(".") and a["kind"] for a in ANSWERS)


@pytest.mark.parametrize("which", WRITTEN)
def test_nobody_has_edited_them(which: str) -> None:
    """What is measured on answers that were changed to fit would mean nothing."""
    digest = hashlib.sha256()
    for answer in answers(which):
        path = HERE / f"{which}_answers" / answer["file"]
        text = path.read_text(encoding="utf-8")  # the lines may end otherwise on another system
        digest.update("\n".join([*answer.values(), text]).encode())
    assert digest.hexdigest() == WRITTEN[which]


def test_every_one_is_refused_for_its_numbers() -> None:
    verdicts = check([Job(find(a["task"]), FOLDER / a["file"], 7) for a in ANSWERS])
    kinds = {a["file"]: v.finding.kind if v.finding else None for a, v in zip(ANSWERS, verdicts)}
    assert {f: k for f, k in kinds.items() if k not in ("nowhere", "places", "scalar", "shape")} == {}


def test_every_unseen_answer_is_refused() -> None:
    """But for one that returns a number of NumPy where the task says int: it gives the same results."""
    found = answers("unseen")
    verdicts = check([Job(find(a["task"]), HERE / "unseen_answers" / a["file"], 7) for a in found])
    accepted = [a["file"] for a, verdict in zip(found, verdicts) if verdict.passed]
    assert accepted == ["12_2_sampling/06_number_of_numpy.py"]
    assert len(found) == 161


@pytest.mark.parametrize(
    ("which", "count", "accepted"),
    [
        ("fourth", 206, ["12_1_cache/06_overflow.py"]),  # with scores above 700, which task 12.1 does not ask for
        ("fifth", 119, []),
    ],
)
def test_the_answers_of_a_later_set_are_refused(which: str, count: int, accepted: list[str]) -> None:
    found = answers(which)
    verdicts = check([Job(find(a["task"]), HERE / f"{which}_answers" / a["file"], 7) for a in found])
    assert [a["file"] for a, verdict in zip(found, verdicts) if verdict.passed] == accepted
    assert len(found) == count


def test_the_readers_judged_every_answer_of_the_last_two_sets() -> None:
    judged = tomllib.loads((HERE / "judged.toml").read_text(encoding="utf-8"))
    assert {which: list(verdicts) for which, verdicts in judged.items()} == {
        which: [one["file"] for one in answers(which)] for which in ("fourth", "fifth")
    }
    assert readers()["fifth"] == {"plain": 112, "family": 5, "wrong": 1, "accepted": 1}
