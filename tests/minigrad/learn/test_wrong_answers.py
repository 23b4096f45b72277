"""The hundred and fifty wrong answers on which the diagnosis is measured: all there, as they were written, and wrong."""

import hashlib
import tomllib
from pathlib import Path

from minigrad.learn.checker import Job, check
from minigrad.learn.tasks import find

FOLDER = Path(__file__).parent / "wrong_answers"
ANSWERS = tomllib.loads((FOLDER / "answers.toml").read_text(encoding="utf-8"))["answer"]
WRITTEN = "7935017163200aa37073c36531f88219e504eaff6f501507d798345e81a2cd6a"


def test_each_file_stands_in_the_table_with_its_task_and_its_mistake() -> None:
    assert [a["file"] for a in ANSWERS] == [
        f"{task}/{path.name}"
        for task in dict.fromkeys(a["task"] for a in ANSWERS)
        for path in sorted((FOLDER / task).iterdir())
    ]
    assert len(ANSWERS) == 150
    assert all(a["file"].startswith(a["task"] + "/") and a["mistake"].endswith(".") and a["kind"] for a in ANSWERS)


def test_nobody_has_edited_them() -> None:
    """What is measured on answers that were changed to fit would mean nothing."""
    digest = hashlib.sha256()
    for answer in ANSWERS:
        text = (FOLDER / answer["file"]).read_text(encoding="utf-8")  # the lines may end otherwise on another system
        digest.update("\n".join([*answer.values(), text]).encode())
    assert digest.hexdigest() == WRITTEN


def test_every_one_is_refused_for_its_numbers() -> None:
    verdicts = check([Job(find(a["task"]), FOLDER / a["file"], 7) for a in ANSWERS])
    kinds = {a["file"]: v.finding.kind if v.finding else None for a, v in zip(ANSWERS, verdicts)}
    assert {f: k for f, k in kinds.items() if k not in ("nowhere", "places", "scalar", "shape")} == {}
