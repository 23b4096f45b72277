"""``minigrad learn`` from a stranger's folder: what it copies, says, keeps, and its exit statuses."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from minigrad.cli.main import main
from minigrad.learn.tasks import find, folder, sentences, tasks

ROOT = Path(__file__).parents[3]
Said = Callable[..., tuple[object, str, str]]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """`said(*arguments)` runs `minigrad learn` in an empty folder: its exit status, and what it wrote to the streams."""
    monkeypatch.chdir(tmp_path)

    def said(*arguments: str) -> tuple[object, str, str]:
        status: object
        try:
            status = main(["learn", *arguments])
        except SystemExit as stop:  # argparse
            status = stop.code
        return status, *capsys.readouterr()

    return said


@pytest.fixture
def begun(said: Said, monkeypatch: pytest.MonkeyPatch) -> Said:
    """In the folder of a learner."""
    assert said("init", "mine", "--seed", "7")[0] == 0
    monkeypatch.chdir("mine")
    return said


STEP = """import numpy as np


def vjp(W, x, g):
    z = W @ x
    y = np.tanh(z)
    to_z = g * (1 - y * y)
    return y, np.outer(to_z, x), to_z @ W
"""


def solve(label: str) -> None:
    (one,) = (one for one in tasks() if one.label == label)
    shutil.copy(one.solution, one.file)


def state() -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("learn.json").read_text(encoding="utf-8"))
    return found


def test_init_copies_the_stubs_and_no_solution(said: Said) -> None:
    status, out, err = said("init", "a/mine")
    assert (status, err) == (0, "")
    assert "37 files copied" in out and "minigrad learn check 1.1" in out
    assert {path.name for path in Path("a/mine").iterdir()} == {one.file for one in tasks()} | {"learn.json"}
    assert all((Path("a/mine") / one.file).read_text("utf-8") == one.stub.read_text("utf-8") for one in tasks())


def test_init_never_overwrites(begun: Said) -> None:
    Path("1_1_nudge.py").write_text("mine", encoding="utf-8")
    Path("1_2_gradient_by_nudging.py").unlink()
    before = state()
    assert "1 files copied.\n36 were there already" in begun("init", ".")[1]
    assert Path("1_1_nudge.py").read_text(encoding="utf-8") == "mine"
    assert state() == before


def test_each_learner_gets_a_seed_of_her_own(said: Said) -> None:
    seeds = set()
    for name in "abc":
        said("init", name)
        seeds.add(json.loads(Path(name, "learn.json").read_text(encoding="utf-8"))["seed"])
    assert len(seeds) == 3


def test_init_in_japanese(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "37 個のファイル" in said("init", "mine", "--language", "ja")[1]
    monkeypatch.chdir("mine")
    assert "課題 1.1" in Path("1_1_nudge.py").read_text(encoding="utf-8")
    status, out, _ = said("check", "1.1")
    assert status == 1 and "1_1_nudge.py はまだ手つかずです" in out
    assert "is not begun yet" in said("check", "1.1", "--language", "en")[1]
    assert "is not begun yet" in said("--language", "en", "check", "1.1")[1]


def test_the_map_shows_the_next_task(begun: Said) -> None:
    status, out, err = begun()
    assert (status, err) == (0, "")
    assert re.search(r"^  1  □□□   Nudging", out, re.MULTILINE) and "0 of 37 tasks done" in out
    assert "Next: 1.1 Nudge a number, in 1_1_nudge.py" in out
    solve("1.1")
    assert begun("check")[0] == 0  # without a name: the next
    out = begun()[1]
    assert re.search(r"^  1  ■□□   Nudging", out, re.MULTILINE) and "Next: 1.2" in out


def test_check_by_number_and_by_file(begun: Said) -> None:
    solve("5.1")
    for name in ("5.1", "5_1_unbroadcast", "5_1_unbroadcast.py", "./5_1_unbroadcast.py"):
        status, out, _ = begun("check", name)
        assert status == 0 and "5.1 Undo broadcasting: right" in out
    status, out, _ = begun("check", "5.1", "5.2")
    assert status == 1 and "5.1 Undo broadcasting: right" in out and "5_2_scale_and_shift.py is not begun yet" in out
    assert state()["passed"] == ["5.1"]


def test_what_was_passed_and_is_broken_is_no_longer_passed(begun: Said) -> None:
    solve("1.1")
    begun("check", "1.1")
    Path("1_1_nudge.py").write_text("def slope(f, x, h=1e-5):\n    return 0.0\n", encoding="utf-8")
    assert begun("check", "1.1")[0] == 1
    assert state()["passed"] == []


def test_an_answer_cannot_take_the_progress_away(begun: Said) -> None:
    solve("1.1")
    begun("check", "1.1")
    lines = "import pathlib\nfor path in pathlib.Path(__file__).parent.glob('learn.json*'):\n    path.unlink()\n"
    path = Path("1_2_gradient_by_nudging.py")
    path.write_text(lines + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert begun("check", "1.2")[0] == 1
    assert state() == {"seed": 7, "language": "en", "passed": ["1.1"], "hints": {}, "attempts": {"1.1": 1, "1.2": 1}}


def test_hints_come_one_by_one(begun: Said) -> None:
    texts = [begun("hint", "3.3")[1] for _ in range(4)]
    assert [text.split(" for ")[0] for text in texts] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 1 of 3"]
    assert len(set(texts)) == 3
    assert "for 1.1: " in begun("hint")[1]


def test_score_is_what_a_grader_reads(begun: Said) -> None:
    for label in ("1.1", "6.2"):
        solve(label)
    Path("9_2_adam.py").unlink()
    status, out, _ = begun("score", "--json")
    found = json.loads(out)
    assert status == 0 and (found["passed"], found["of"], found["seed"]) == (2, 37, 7)
    assert [label for label, row in found["tasks"].items() if row["passed"]] == ["1.1", "6.2"]
    assert found["tasks"]["1.1"] == {
        "passed": True, "right": 5, "questions": 5, "wrong": None, "attempts": 0, "hints": 0,
    }  # fmt: skip
    assert found["tasks"]["1.2"]["wrong"] == "untouched" and found["tasks"]["9.2"]["wrong"] == "file"
    assert "2 of 37 tasks done" in begun("score")[1]


def test_an_untouched_task_is_told_from_one_that_was_begun(begun: Said) -> None:
    """Also where the stub runs, as in the tasks to find a mistake, and where a text was changed and no program."""
    for file, old, new in (
        ("1_1_nudge.py", "Task", "My task"),
        ("7_2_stale_value.py", "tanh", "tanh"),
        ("1_2_gradient_by_nudging.py", "raise NotImplementedError", "x = x + 1\n    raise NotImplementedError"),
    ):
        text = Path(file).read_text(encoding="utf-8")
        Path(file).write_text(text.replace(old, new, 1), encoding="utf-8")
    rows = json.loads(begun("score", "--json")[1])["tasks"]
    assert {label: row["wrong"] for label, row in rows.items() if row["wrong"] != "untouched"} == {"1.2": "begin"}


@pytest.mark.parametrize("page", ["docs/teaching.md", "docs/ja/teaching.md"])
def test_the_guide_explains_each_code_and_no_other(page: str) -> None:
    """The codes are the findings of a check, without where they were found, and those of a file."""
    learn = Path(__file__).parents[3] / "minigrad" / "learn"
    sources = "".join(
        (learn / name).read_text(encoding="utf-8") for name in ("answer.py", "checker.py", "child.py", "compare.py")
    )
    used = {*re.findall(r'"(\w+)"', sources)} & {key for key, said in sentences("en").items() if isinstance(said, str)}
    text = (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", text.partition("| `state` |")[2], re.MULTILINE)
    assert sorted(named) == sorted(used - {"nan_scalar"} | {"file", "untouched"})


def test_the_score_of_another_folder(begun: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    solve("1.1")
    monkeypatch.chdir("..")
    assert json.loads(begun("--folder", "mine", "score", "--json")[1])["passed"] == 1


@pytest.mark.thorough
def test_a_class_is_one_table_with_attempts_and_hints(begun: Said, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    solve("1.1")
    for arguments in (["check", "1.1"], ["check", "1.2"], ["check", "1.1", "1.2"], *[["hint", "1.2"]] * 3, ["score"]):
        begun(*arguments)
    Path("9_2_adam.py").unlink()
    monkeypatch.chdir("..")
    said("init", "健", "--seed", "8", "--language", "ja")
    status, out, err = said("score", "mine", "健", "--csv", "marks.csv")
    assert (status, out, err) == (0, f"marks.csv に {2 * len(tasks())} 行の表を書きました。\n", "")
    assert Path("marks.csv").read_bytes().startswith(b"\xef\xbb\xbflearner,seed,")
    with Path("marks.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {(row.pop("learner"), row.pop("task")): row for row in csv.DictReader(file)}
    assert [*rows] == [(name, one.label) for name in ("mine", "健") for one in tasks()]
    columns = ("seed", "state", "right", "questions", "attempts", "hints")
    assert rows["mine", "1.1"] == dict(zip(columns, ("7", "passed", "5", "5", "2", "0"), strict=True))
    assert rows["mine", "1.2"] == dict(zip(columns, ("7", "untouched", "0", "5", "2", "3"), strict=True))
    assert rows["mine", "9.2"]["state"] == "file"
    assert {row["attempts"] for (name, _), row in rows.items() if name == "健"} == {"0"}
    assert (
        json.loads(said("--folder", "mine", "score", "--json", "--csv", "marks.csv")[1])["tasks"]["1.2"]["hints"] == 3
    )
    assert re.findall(r"^(\S+):$", said("score", "mine", "健")[1], re.MULTILINE) == ["mine", "健"]


def test_the_course_shows_its_solution_below_a_right_backward_pass(begun: Said) -> None:
    """What the learner writes of it; not below a copy of it, and not where no backward pass is written by hand."""
    Path("4_2_vjp.py").write_text(STEP, encoding="utf-8")
    Path(find("13.1").file).write_text(
        find("13.1").solution.read_text(encoding="utf-8") + "\nMINE = 1\n", encoding="utf-8"
    )
    for label in ("6.1", "9.1"):
        solve(label)
    printed, network, *others = (begun("check", label)[1] for label in ("4.2", "13.1", "6.1", "9.1"))
    shown = printed.rpartition("\n\nNext:")[0]
    assert "solution" in shown and shown.endswith("    return y, np.outer(gz, x), W.T @ gz")
    assert "    def network(" in network and "def cross_entropy" not in network  # which the stub has
    assert all("solution" not in out for out in others)
    docs = Path(__file__).parents[3] / "docs"
    assert shown in (docs / "course.md").read_text(encoding="utf-8")
    japanese = begun("--language", "ja", "check", "4.2")[1].partition("\n\n")[2].rpartition("\n\n次")[0]
    assert japanese in (docs / "ja" / "course.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mine", "mine", "--json"], "--json is the score of one folder, got 2 folders: --csv takes several"),
        (["mine", "absent", "--csv", "marks.csv"], "'absent' holds no exercises"),
        (["mine", "--csv", "marks.txt"], "'marks.txt' must end in .csv"),
        (["mine", "--csv", "no/marks.csv"], "there is no folder 'no' to write 'marks.csv' into"),
    ],
)
def test_a_table_that_cannot_be_made_is_said_before_any_check(said: Said, arguments: list[str], words: str) -> None:
    said("init", "mine")
    status, out, err = said("score", *arguments)
    assert (status, out) == (2, "") and words in err and not Path("marks.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "'.' holds no exercises: `minigrad learn init FOLDER`"),
        (["check", "1.1"], "holds no exercises"),
        (["init", "file"], "'file' is a file: name a folder"),
        (["init", "new", "--seed", "-1"], "--seed must be 0 or more, got -1"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(said: Said, arguments: list[str], words: str) -> None:
    Path("file").touch()
    status, out, err = said(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("minigrad: ") and words in err


def test_a_task_that_is_not_there(begun: Said) -> None:
    assert "there is no task '99.1': they are called 1.1, 1.2" in begun("check", "99.1")[2]
    Path("1_1_nudge.py").unlink()
    status, _, err = begun("check", "1.1")
    assert status == 2 and "`minigrad learn init .` puts it back" in err
    assert begun("init", ".")[0] == 0 and Path("1_1_nudge.py").exists()


def test_a_broken_state_is_said(begun: Said) -> None:
    whole = state()
    changes: dict[str, list[object]] = {
        "seed": ["x"],
        "language": ["fr"],
        "passed": [[1], 3],
        "hints": [[]],
        "attempts": [[], {"1.1": "often"}],
        "more": [1],
    }
    changed = [{**whole, name: value} for name, values in changes.items() for value in values]
    lacking = [{name: whole[name] for name in whole if name != left} for left in whole]
    texts = ["", "[]", "{}", *map(json.dumps, [*changed, *lacking])]
    for text in texts:
        Path("learn.json").write_text(text, encoding="utf-8")
        status, _, err = begun()
        assert status == 2 and "cannot be read: delete it and run `minigrad learn init" in err, text


def test_watch_checks_what_is_saved(begun: Said) -> None:
    line = [sys.executable, "-u", "-m", "minigrad", "learn", "watch"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as watching:
        ended = threading.Timer(60, watching.kill)  # a line that never comes
        ended.start()
        try:
            assert watching.stdout is not None
            assert "Watching" in watching.stdout.readline()
            subprocess.run([*line[:-1], "hint", "1.1"], env=environment, stdout=subprocess.DEVNULL, check=True)
            shutil.copy(tasks()[0].solution, "new.py")
            os.replace("new.py", "1_1_nudge.py")
            assert watching.stdout.readline() == "\n"
            assert "1.1 Nudge a number: right" in watching.stdout.readline()
            assert "Next: 1.2" in watching.stdout.readline()
        finally:
            ended.cancel()
            watching.terminate()
    found = state()
    assert found["passed"] == ["1.1"] and found["attempts"] == found["hints"] == {"1.1": 1}


def test_the_exercises_are_found_beside_the_package_and_inside_of_it() -> None:
    assert folder() == ROOT / "exercises"
