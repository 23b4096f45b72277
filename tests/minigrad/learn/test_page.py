"""The page of a wrong answer: whose program it shows, where it opens, what it says; and that it cannot spoil a check."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.cli.main import main
from minigrad.learn import page as page_module
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.compare import Finding
from minigrad.learn.data import decode
from minigrad.learn.page import write_page
from minigrad.learn.tasks import find, tasks
from tests.minigrad.graph.pages.test_explain import unpacked
from tests.minigrad.learn import measure_diagnosis

BACKWARD = {"1.2", "1.3", "3.1", "3.2", "3.3", "3.4", "4.2", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4", "7.1", "7.2"}
BACKWARD |= {"8.2", "10.2", "11.1", "13.1"}
ON_TENSORS = "    if type(x) is not np.ndarray: {}\n    e = np.exp"
# Answers by their names: a task, and what of its solution is changed.
ANSWERS: dict[str, tuple[str, ...]] = {
    "gradient": ("6.4", "(g * n).sum(axis=0)", "(g * n).mean(axis=0)"),
    "block": ("11.1", "gh = g_out + gz @ W1.T", "gh = gz @ W1.T"),
    "only a backward pass": ("5.2", "(g * x).sum(axis=0)", "(g * x).mean(axis=0)"),
    "another": ("5.2", "g * scale", "g"),
    "writes into an array": ("6.3", "gradient / len(labels)", "gradient"),
    "no Tensors": ("2.1", "b * 2 * x", "2 * x", "a, b = x * x, np.sin(x)", "a, b = float(x * x), float(np.sin(x))"),
    "right value, another slope": ("1.3", "b)\n", "b) + w - np.round(w, 3)\n", "da = 2 * ", "da = "),
    "value": ("10.1", "scores = q @ k.T / np.sqrt(d)", "scores = q @ k.T"),
    "list": ("8.1", "abs(bend(x))", "bend(x)"),
    "order": ("2.2", "found.append(name)", "found.insert(0, name)"),
    "tokens": ("12.2", "len(logits) - 1)", "len(logits) - 1) * 2"),
    "count": ("4.1", "(W @ v)", "(np.diag(np.ones(len(W))) @ W @ v)"),
    "long": ("3.4", "w.grad = b.grad = 0.0", "pass"),
    "raises": ("6.4", "gn = g * weight", "raise ValueError"),
    "hangs": ("10.1", "    e = np.exp", ON_TENSORS.format("\n        while True: pass"), "e / e.sum", "e / e.max"),
    "ends": ("10.1", "    e = np.exp", ON_TENSORS.format("import os; os._exit(1)"), "e / e.sum", "e / e.max"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    jobs = []
    for label, *changes in ANSWERS.values():
        source = find(label).solution.read_text(encoding="utf-8")
        for old, new in zip(changes[::2], changes[1::2]):
            assert old in source
            source = source.replace(old, new)
        path = tmp_path_factory.mktemp("answer") / find(label).file
        path.write_text(source, encoding="utf-8")
        jobs.append(Job(find(label), path, 7))
    return dict(zip(ANSWERS, check(jobs), strict=True))


def opened(line: str | None) -> dict[str, Any]:
    """What the page knows that a line names, and the step that it is opened at."""
    assert line is not None
    found = re.search(r"file://(\S+/pages/\S+\.html)#step=(\d+)$", line)
    assert found is not None
    data = re.search(r'id="data">(.*?)</script>', Path(found[1]).read_text(encoding="utf-8"), re.DOTALL)
    assert data is not None
    known: dict[str, Any] = json.loads(data[1])
    assert [step["at"] for step in known["lesson"]["steps"]] == [int(found[2])]
    return known


def said(known: dict[str, Any], language: str = "en") -> str:
    return str(known["lesson"]["steps"][0]["text"][language])


def program(known: dict[str, Any]) -> str:
    return "\n".join(line for file in known["program"] for line in file["lines"])


def asked() -> dict[tuple[str, str], tuple[Verdict, Any]]:
    """Each gradient that is asked for, as if it were wrong, with what is right; of several alike the last."""
    found = {}
    for task in tasks():
        for case in task.questions(4):
            whole = case.expected if case.names else (case.expected,)
            for at, (name, want) in enumerate(zip(case.names or ("",), whole)):
                parts = zip((f"{name}[{i}]" for i in range(9)), want) if isinstance(want, tuple) else [(name, want)]
                for part, right in parts:
                    if case.forward and case.place(part) not in (None, "gradient of end"):
                        place = [int(i) for i in re.findall(r"\[(\d)\]", part.removeprefix(name))]
                        facts = {"name": part, "at": "[0]", "got": "1", "want": "2", "part": [at] * bool(name) + place}
                        finding = Finding("places", facts)
                        found[task.label, part] = Verdict(task, Path(), 0, 1, finding, case, case.expected), right
    return found


def test_the_program_of_a_task_has_the_gradients_that_its_check_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "ask", lambda *_: {})  # there is no file
    seen = set()
    for (label, _), (verdict, right) in asked().items():
        (page,) = page_module._drawn(verdict, "en")
        assert verdict.case is not None and page["whose"] == "given"
        if page["gradient"] is not None:
            np.testing.assert_allclose(decode(page["gradient"]), right, rtol=1e-7, atol=verdict.case.tolerance * 10)
            seen.add(label)
    assert seen == BACKWARD


def test_it_shows_the_learners_own_program_at_the_gradient_that_is_wrong(answers: dict[str, Verdict]) -> None:
    verdict = answers["gradient"]
    line = write_page(verdict, "en")
    known = opened(line)
    assert line is not None and line.startswith("Your program, step by step")
    assert "s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)" in program(known)
    assert known["lesson"]["title"]["en"] == "6.4 Layer normalisation, backward: your program"
    assert known["lesson"]["steps"][0]["at"] > known["turn"]
    assert said(known).startswith("Gradient of weight: your program gave `[") and "here it is `[" in said(known)
    assert said(known, "ja").startswith("weight の勾配：あなたのプログラムの答えは `[")
    assert verdict.case is not None
    numbers = [json.loads(text) for text in re.findall(r"`(.*?)`", said(known))]
    np.testing.assert_allclose(numbers, [verdict.got[2], verdict.case.expected[2]], rtol=1e-5)
    assert sorted(os.listdir(verdict.path.parent)) == [verdict.path.name, "pages"]
    assert os.listdir(verdict.path.parent / "pages") == ["6_4_layer_norm.html"]


def test_what_a_stub_has_finished_runs_on_tensors_too(answers: dict[str, Verdict]) -> None:
    known = opened(write_page(answers["block"], "en"))
    assert known["lesson"]["title"]["en"] == "11.1 A Transformer block, backward: your program"
    assert "def cross_entropy" in program(known) and "def classifier" in program(known)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("only a backward pass", "y = x * scale + shift"),
        ("writes into an array", "loss = -right.mean()"),  # which no Tensor lets it
        ("no Tensors", "y = a * b"),
        ("right value, another slope", "loss = (a - y) ** 2"),
    ],
)
def test_where_the_learners_cannot_be_shown_it_is_the_tasks(
    answers: dict[str, Verdict], name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = write_page(answers[name], "en")
    known = opened(told)
    assert told is not None and told.startswith("The task's program, step by step")
    assert line in program(known) and known["lesson"]["title"]["en"].endswith("the program of the task")
    assert "This is not your program" in known["lesson"]["intro"]["en"]
    assert os.listdir() == []


def test_a_value_that_is_no_gradient_is_shown_at_the_end_of_forward(answers: dict[str, Verdict]) -> None:
    known = opened(write_page(answers["value"], "en"))
    assert known["lesson"]["steps"][0]["at"] == known["turn"] and "scores = q @ k.T" in program(known)
    assert "Go back step by step" in said(known)
    known = opened(write_page(answers["list"], "en"))
    assert said(known).startswith("The result [") and "lambda x:" in program(known)


# Where a page opens: a mistake that has a name of its own place, and the program and the value whose rule comes next.
PLACES = [
    ("6.3", "gradient[rows, labels] -= 1", "gradient[:, labels] -= 1", "given", "right"),
    ("6.3", "gradient / len(labels)", "gradient", "given", "loss"),
    ("4.2", "gz = g * (1 - y**2)", "gz = g", "own", "y"),
    ("1.3", "da * (1 - a**2)", "da", "own", "a"),
    ("7.1", "gh * (z > 0)", "gh", "own", "h"),
    ("11.1", "h.T @ gz", "x.T @ gz", "own", "z"),
    ("10.2", "(g_weights - (g_weights * weights).sum(axis=-1, keepdims=True))", "g_weights", "given", "weights"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("label", "old", "new", "whose", "value"), PLACES)
def test_it_opens_at_the_step_that_a_named_mistake_belongs_to(
    label: str, old: str, new: str, whose: str, value: str, tmp_path: Path
) -> None:
    path = tmp_path / find(label).file
    source = find(label).solution.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, new), encoding="utf-8")
    (verdict,) = check([Job(find(label), path, 7)])
    line = write_page(verdict, "en")
    known = opened(line)
    assert line is not None and line.startswith({"own": "Your", "given": "The task's"}[whose])
    data = unpacked(known)
    _, edge = data["steps"][known["lesson"]["steps"][0]["at"] - 1]
    assert data["nodes"][data["edges"][edge]["target"]]["name"] == value
    assert said(known).startswith("Probably: ") and "It belongs to this step." in said(known)
    assert said(known, "ja").startswith("考えられる原因：")
    assert {edge["check"] for edge in data["edges"]} == {None}  # no tick on the page of a wrong answer


@pytest.mark.parametrize("name", ["order", "tokens", "count", "long", "raises"])
def test_where_it_makes_no_sense_there_is_none(answers: dict[str, Verdict], name: str) -> None:
    assert not answers[name].passed and write_page(answers[name], "en") is None
    assert not (answers[name].path.parent / "pages").exists()


def test_no_page_spoils_a_check(answers: dict[str, Verdict], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_module, "SECONDS", 0.3)
    for name in ("hangs", "ends"):
        finding = answers[name].finding
        assert finding is not None and finding.kind in page_module.KINDS
        assert write_page(answers[name], "en") is None
    (tmp_path / "pages").touch()  # a file where the folder should be
    assert write_page(replace(answers["another"], path=tmp_path / "x.py"), "en") is None


def test_only_its_own_page_is_overwritten(answers: dict[str, Verdict], tmp_path: Path) -> None:
    path = tmp_path / "pages" / "x.html"
    path.parent.mkdir()
    path.write_text("<p>mine</p>", encoding="utf-8")
    one, other = (replace(answers[name], path=tmp_path / "x.py") for name in ("another", "only a backward pass"))
    line = write_page(one, "en")
    assert line is not None and "stays as it is" in line and path.read_text(encoding="utf-8") == "<p>mine</p>"
    path.unlink()
    assert "Gradient of x" in said(opened(write_page(one, "en")))
    assert "Gradient of scale" in said(opened(write_page(other, "en")))
    assert os.listdir(path.parent) == [path.name]


def test_check_names_the_page_and_no_page_leaves_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["learn", "init", ".", "--language", "ja"])
    wrong = next(one for one in measure_diagnosis.answers() if one.task == "6.1")
    Path("6_1_matmul.py").write_text(wrong.code, encoding="utf-8")
    capsys.readouterr()
    assert main(["learn", "check", "6.1", "--no-page"]) == 1
    assert "file:" not in capsys.readouterr().out and not Path("pages").exists()
    assert main(["learn", "check", "6.1"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("課題のプログラム") and opened(last)["language"] == "ja"
