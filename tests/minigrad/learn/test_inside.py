"""The check without processes, as in a web page: the same verdicts, limits by lines and by time, and nothing stays behind."""

import sys
from pathlib import Path
from typing import Any

import pytest

from minigrad.learn import checker, inside
from minigrad.learn.answer import _take_apart, _value
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.data import encode
from minigrad.learn.report import report
from minigrad.learn.tasks import find, tasks

from .measure_diagnosis import answers, written

ENDLESS = "def slope(f, x, h=1e-5):\n    while True:\n        x = x + 1\n"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check in this interpreter."""
    monkeypatch.setattr(checker, "_run", inside.run_inside)


def verdict(folder: Path, source: str, label: str = "1.1", seconds: float = 5.0) -> Verdict:
    path = folder / find(label).file
    path.write_text(source, encoding="utf-8")
    (found,) = check([Job(find(label), path, 3)], seconds=seconds)
    return found


def test_every_solution_passes(here: None) -> None:
    found = check([Job(task, task.solution, 5) for task in tasks()])
    assert [one.task.label for one in found if not one.passed] == []


def test_the_lines_of_a_right_answer_are_far_from_the_limit(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "LINES", 250_000)
    assert all(one.passed for one in check([Job(task, task.solution, 5) for task in tasks()]))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("number", range(60))
def test_a_wrong_answer_gets_the_same_report_as_from_a_process(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answers("fresh")[number]
    job = Job(find(answer.task), written(answer, tmp_path), 7)
    reports = []
    for run in (checker._run, inside.run_inside):
        monkeypatch.setattr(checker, "_run", run)
        (found,) = check([job])
        reports.append(report(found, "en"))
    assert reports[0] == reports[1] and "questions right so far" in reports[0]


def test_an_endless_loop_is_late_by_its_lines(here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "LINES", 1000)
    text = report(verdict(tmp_path, ENDLESS), "en")
    assert "does not come to an end" in text and ("line 2" in text or "line 3" in text)


def test_an_endless_loop_is_late_by_the_clock(here: None, tmp_path: Path) -> None:
    found = verdict(tmp_path, "while True:\n    pass\n", seconds=0.01)
    assert found.finding is not None and found.finding.kind == "late_at" and found.finding.facts["line"] in (1, 2)


def test_one_late_answer_does_not_end_the_others(here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "LINES", 50_000)
    (tmp_path / "late.py").write_text(ENDLESS, encoding="utf-8")
    late, right = check([Job(find("1.1"), tmp_path / "late.py", 1), Job(find("1.2"), find("1.2").solution, 1)])
    assert not late.passed and right.passed


def test_nothing_stays_behind(here: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A helper beside the file is read again by the next check, and what was printed is in the report alone."""
    before = list(sys.path), Path.cwd(), sys.gettrace()
    source = "import beside_it\n\ndef slope(f, x, h=1e-5):\n    print('here')\n    return beside_it.slope(f, x, h)\n"
    for text, passed in (("1.0", False), ("(f(x + h) - f(x - h)) / (2 * h)", True)):
        (tmp_path / "beside_it.py").write_text(f"def slope(f, x, h):\n    return {text}\n", encoding="utf-8")
        found = verdict(tmp_path, source)
        assert found.passed is passed and "here" in found.printed
        assert (list(sys.path), Path.cwd(), sys.gettrace()) == before and "beside_it" not in sys.modules
    assert capsys.readouterr().out == ""


def test_a_long_chain_of_the_learners_objects_is_freed_one_by_one() -> None:
    """WebAssembly's stack is too small to free it from its end."""
    names: dict[str, Any] = {"__name__": "answer"}
    exec("class Value:\n    def __init__(self, parent): self.parent = parent\n", names)
    end: Any = None
    for _ in range(3):
        end = names["Value"](end)
    before = end.parent
    _take_apart(names)
    assert vars(end) == {} and vars(before) == {} and vars(names["Value"](1)) == {"parent": 1}


def test_no_object_is_freed_before_it_is_empty() -> None:
    """Also those that only the program's own names hold."""
    names: dict[str, Any] = {"__name__": "answer", "freed": []}
    exec(
        "class Value:\n"
        "    def __init__(self, parent): self.parent = parent\n"
        "    def __del__(self): freed.append(vars(self).copy())\n",
        names,
    )
    program = "end = None\nfor _ in range(3):\n    end = Value(end)\n1.0"
    assert _value({"inputs": {}, "program": program}, names) == {"value": encode(1.0)}
    assert names["freed"] == [{}, {}, {}]
