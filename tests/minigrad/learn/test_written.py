"""The text of `write_numpy` beside a right answer: for which tasks, which lines meet, and that it cannot spoil a check."""

import re
from functools import partial
from pathlib import Path

import pytest

from minigrad.cli.main import main
from minigrad.learn import written as written_module
from minigrad.learn.checker import Job, Verdict, ask, check
from minigrad.learn.tasks import LANGUAGES, find, say, tasks
from minigrad.learn.written import written_beside

BY_HAND = ["4.2", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4", "13.1", "10.2", "11.1"]
STEP = """    z = W @ x
    y = np.tanh(z)
    to_z = g * (1 - y * y)
    to_x = to_z @ W
    return y, np.outer(to_z, x), to_x
"""


@pytest.fixture(scope="module")
def solved() -> dict[str, Verdict]:
    return {v.task.label: v for v in check([Job(task, task.solution, 3) for task in tasks()])}


@pytest.mark.thorough
def test_the_field_of_a_task_says_whether_it_has_one(solved: dict[str, Verdict]) -> None:
    assert [one.label for one in tasks() if one.by_hand] == BY_HAND
    for label, verdict in solved.items():
        texts = [written_beside(verdict, language) for language in LANGUAGES]
        assert [text is not None for text in texts] == [label in BY_HAND] * 2, label
        for language, text in zip(LANGUAGES, texts):
            assert text is None or text.startswith(say(language, "beside"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("label", BY_HAND)
def test_each_gradient_of_the_program_meets_a_line_of_the_answer(label: str, solved: dict[str, Verdict]) -> None:
    """The result of each gradient is on both sides: so the last line is met, and 11.1 has more than ten such rows."""
    text = written_beside(solved[label], "en")
    assert text is not None
    rows = text.splitlines()[2:]
    met = [row.partition("<=>")[2].strip() for row in rows if "<=>" in row]
    assert met[-1] == rows[-1].rpartition("<=>")[2].strip()
    assert len(met) >= {"5.1": 1, "6.2": 1, "6.1": 2, "4.2": 4, "11.1": 10}.get(label, 3)
    own = solved[label].path.read_text(encoding="utf-8").splitlines()
    right = re.compile(r" ( \| |<=>) ")
    assert {right.split(row)[0].rstrip() for row in rows} - {""} <= set(own)


def answered(folder: Path, source: str) -> Verdict:
    path = folder / "4_2_vjp.py"
    path.write_text(f"import numpy as np\n\n\ndef vjp(W, x, g):\n{source}", encoding="utf-8")
    (verdict,) = check([Job(find("4.2"), path, 3)])
    assert verdict.passed
    return verdict


def test_it_is_the_learners_text_whatever_its_names_are(tmp_path: Path) -> None:
    text = written_beside(answered(tmp_path, STEP), "en")
    assert text is not None
    assert text.splitlines()[2:] == [
        "    z = W @ x                         <=> z = W @ x",
        "    y = np.tanh(z)                    <=> y = np.tanh(z)",
        "    to_z = g * (1 - y * y)            <=> dz = g * (1 - y * y)",
        "    to_x = to_z @ W",
        "    return y, np.outer(to_z, x), to_x <=> dW = np.expand_dims(dz, -1) * x",
        "                                      <=> dx = dz @ W",
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
    monkeypatch.setattr(written_module, "ask", partial(ask, seconds=0.5))
    source = f"    import sys\n    if sys.gettrace():\n        {more}\n{STEP}"
    assert written_beside(answered(tmp_path, source), "en") is None


def test_check_prints_it_below_the_verdict(
    tmp_path: Path, solved: dict[str, Verdict], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "init", str(tmp_path), "--seed", "3"]) == 0
    for label in ("5.2", "9.1"):
        (tmp_path / find(label).file).write_text(find(label).solution.read_text(encoding="utf-8"), encoding="utf-8")
    capsys.readouterr()
    assert main(["learn", "--folder", str(tmp_path), "check", "5.2", "9.1"]) == 0
    first, _, rest = capsys.readouterr().out.partition("questions).\n")
    assert first.startswith("5.2 ")
    assert rest.startswith(f"\n{written_beside(solved['5.2'], 'en')}\n9.1 ")
    assert "<=>" not in rest.partition("\n9.1 ")[2]


def test_the_course_shows_what_check_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    main(["learn", "init", str(tmp_path)])
    (tmp_path / "4_2_vjp.py").write_text(find("4.2").solution.read_text(encoding="utf-8"), encoding="utf-8")
    capsys.readouterr()
    main(["learn", "--folder", str(tmp_path), "check", "4.2"])
    page = Path(__file__).parents[3] / "docs" / "course.md"
    assert capsys.readouterr().out.partition("\nNext: ")[0] in page.read_text(encoding="utf-8")
