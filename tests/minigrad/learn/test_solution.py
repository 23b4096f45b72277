"""The course's solution beside a right answer: for which tasks, which lines meet, and that it cannot spoil a check."""

import re
from functools import partial
from pathlib import Path

import pytest

from minigrad.cli.main import main
from minigrad.learn import solution
from minigrad.learn.checker import Job, Verdict, ask, check
from minigrad.learn.solution import solution_beside
from minigrad.learn.tasks import LANGUAGES, find, say, tasks

BY_HAND = ["4.2", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4", "13.1", "10.2", "11.1"]
STEP = """    z = W @ x
    y = np.tanh(z)
    to_z = g * (1 - y * y)
    to_x = to_z @ W
    return y, np.outer(to_z, x), to_x
"""


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are as wide as the terminal."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """The solutions, with a line at the end that makes each another program."""
    jobs = []
    for task in tasks():
        path = tmp_path_factory.mktemp(task.label) / task.file
        path.write_text(task.solution.read_text(encoding="utf-8") + "\n\nMINE = True\n", encoding="utf-8")
        jobs.append(Job(task, path, 3))
    return {v.task.label: v for v in check(jobs)}


@pytest.mark.thorough
def test_the_field_of_a_task_says_whether_it_has_one(solved: dict[str, Verdict]) -> None:
    assert [one.label for one in tasks() if one.by_hand] == BY_HAND
    for label, verdict in solved.items():
        texts = [solution_beside(verdict, language) for language in LANGUAGES]
        assert [text is not None for text in texts] == [label in BY_HAND] * 2, label
        for language, text in zip(LANGUAGES, texts):
            assert text is None or text.startswith(say(language, "beside"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("label", BY_HAND)
def test_each_line_of_the_solution_meets_itself(label: str, solved: dict[str, Verdict]) -> None:
    text = solution_beside(solved[label], "en")
    assert text is not None
    rows = [re.split(r" *<=> | {2,}\|  ", row) for row in text.splitlines()[2:]]
    own = [row[0].strip() for row in rows if row[0].strip()]
    assert own == [row[1].strip() for row in rows if len(row) > 1]
    assert set(own) <= {line.strip() for line in solved[label].path.read_text(encoding="utf-8").splitlines()}


def test_the_solution_itself_gets_none() -> None:
    (verdict,) = check([Job(find("5.2"), find("5.2").solution, 3)])
    assert verdict.passed and solution_beside(verdict, "en") is None


def answered(folder: Path, source: str) -> Verdict:
    path = folder / "4_2_vjp.py"
    path.write_text(f"import numpy as np\n\n\ndef vjp(W, x, g):\n{source}", encoding="utf-8")
    (verdict,) = check([Job(find("4.2"), path, 3)])
    assert verdict.passed
    return verdict


def test_it_is_the_learners_text_and_a_persons_solution(tmp_path: Path) -> None:
    text = solution_beside(answered(tmp_path, STEP), "en")
    assert text is not None
    assert text.splitlines()[2:] == [
        "    z = W @ x",
        "    y = np.tanh(z)                    <=>     y = np.tanh(W @ x)",
        "    to_z = g * (1 - y * y)            <=>     gz = g * (1 - y**2)",
        "    to_x = to_z @ W",
        "    return y, np.outer(to_z, x), to_x <=>     return y, np.outer(gz, x), W.T @ gz",
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "more",
    ["while True: pass", "raise SystemExit", "import os; os._exit(1)"],
    ids=["hangs", "raises", "ends"],
)
def test_a_check_comes_to_its_end_whatever_the_answer_does(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the answer does only while its lines are followed."""
    monkeypatch.setattr(solution, "ask", partial(ask, seconds=0.5))
    source = f"    import sys\n    if sys.gettrace():\n        {more}\n{STEP}"
    assert solution_beside(answered(tmp_path, source), "en") is None


def test_check_prints_it_below_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the course shows what it prints."""
    assert main(["learn", "init", str(tmp_path), "--seed", "3"]) == 0
    verdict = answered(tmp_path, STEP)
    (tmp_path / find("9.1").file).write_text(find("9.1").solution.read_text(encoding="utf-8"), encoding="utf-8")
    capsys.readouterr()
    assert main(["learn", "--folder", str(tmp_path), "check", "4.2", "9.1"]) == 0
    printed, _, rest = capsys.readouterr().out.partition("\n9.1 ")
    assert printed.startswith("4.2 ") and printed.endswith(f"questions).\n\n{solution_beside(verdict, 'en')}")
    assert "<=>" not in rest
    docs = Path(__file__).parents[3] / "docs"
    assert printed in (docs / "course.md").read_text(encoding="utf-8")
    assert printed.split("\n\n")[-1] in (docs / "ja" / "course.md").read_text(encoding="utf-8")
