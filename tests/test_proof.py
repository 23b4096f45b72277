"""The proof shows what was lost, and does not show what was only moved."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.engine.registry import registry
from tests.house import ROOT
from tests.proof import __main__ as proof
from tests.proof.judgements import records, stored_answers
from tests.proof.results import cases, derivatives, forward_mode
from tests.proof.side import Side, digest

REPOSITORY = {
    "pyproject.toml": '[project.scripts]\nminigrad = "minigrad:main"\n[tool.pytest.ini_options]\nminversion = "8"\n',
    "minigrad/__init__.py": "def main(words): print(words)\ndef kept(x: int = 1): ...\ndef lost(x: int, *, y='a'): ...\n",
    "nn/__init__.py": "def refuse(got):\n    raise ValueError(f'x must be positive, got {got}')\n",
    "models/__init__.py": "",
    "tests/__init__.py": "",
    "tests/test_refusals.py": """
import pytest, nn

@pytest.mark.parametrize("got", [-1, -2])
def test_refused(got, tmp_path):
    with pytest.raises(ValueError):
        nn.refuse(got)
    with pytest.raises(OSError):
        open(tmp_path / "none")
""",
    "tests/test_moved.py": """
from tests.helpers import is_right

def test_moved():
    assert is_right(1) is None

def test_loses_the_assertion_of_its_helper():
    weaker(2)

def weaker(x):
    assert x > 0
    assert x < 3
""",
    "tests/helpers.py": "def is_right(x):\n    assert x == 1\n",
}


def put(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    put(root, REPOSITORY)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True)
    monkeypatch.setattr(proof, "ROOT", root)
    monkeypatch.setattr(proof, "OUT", root / "out" / "proof")
    return root


@pytest.mark.thorough
def test_what_is_lost_is_shown_and_what_is_moved_is_not(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = {name: text for name, text in REPOSITORY.items() if name.startswith(("minigrad", "nn", "tests/test_m"))}
    put(repository, {name: text.replace("positive", "over 0") for name, text in changed.items()})
    put(repository, {"minigrad/__init__.py": REPOSITORY["minigrad/__init__.py"].replace("lost", "_lost")})
    put(repository, {"tests/test_moved.py": REPOSITORY["tests/test_moved.py"].replace("    assert x < 3\n", "")})
    for old, new in [("test_moved.py", "engine/test_of_another_name.py"), ("helpers.py", "engine/helping.py")]:
        (repository / "tests" / "engine").mkdir(exist_ok=True)
        text = (repository / "tests" / old).read_text().replace("tests.helpers", "tests.engine.helping")
        (repository / "tests" / new).write_text(text)
        (repository / "tests" / old).unlink()
    only = [word for section in ("names", "messages", "tests") for word in ("--only", section)]
    assert proof.main(["compare", "HEAD", *only]) == 1
    said = capsys.readouterr().out
    shown = [line.strip() for line in said.splitlines() if line.strip()[:1] in "+-" and "/" not in line]
    assert shown == [
        "-test_refused[-1]: ValueError: x must be positive, got -1",
        "+test_refused[-1]: ValueError: x must be over 0, got -1",
        "-test_refused[-2]: ValueError: x must be positive, got -2",
        "+test_refused[-2]: ValueError: x must be over 0, got -2",
        "-test_loses_the_assertion_of_its_helper: 3 assertions",
        "+test_loses_the_assertion_of_its_helper: 2 assertions",
        "-lost: function(x: int, *, y='a')",
    ]
    assert not (repository / ".git" / "worktrees").exists()  # the other revision was removed again


def test_the_same_revision_is_the_same(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["compare", "HEAD", "--only", "names"]) == 0
    assert "names      same: " in capsys.readouterr().out


@pytest.mark.thorough
def test_a_section_that_fails_is_no_success(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository, {"tests/test_refusals.py": "import nowhere"})
    assert proof.main(["write", "--only", "tests"]) == 2
    assert "nowhere" in capsys.readouterr().out


@pytest.mark.parametrize("factor", [1, 1 + 1e-15])
def test_a_last_bit_of_a_rule_is_seen(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    tanh, arrays = registry[np.tanh], [np.array([0.3, -1.2])]
    before = [*derivatives(np.tanh, arrays, 2), forward_mode(np.tanh, arrays)]
    rule = tanh.rules["x"]

    def other(g: Any, ans: Any) -> Any:
        return rule(g, ans) * factor

    monkeypatch.setitem(tanh.rules, "x", other)
    tanh._plans.clear()
    try:
        after = [*derivatives(np.tanh, arrays, 2), forward_mode(np.tanh, arrays)]
    finally:
        monkeypatch.undo()
        tanh._plans.clear()
    assert before[0] == after[0]  # the values
    assert [a == b for a, b in zip(before[1:], after[1:], strict=True)] == [factor == 1] * (len(before) - 1)


def test_the_cases_are_found_and_a_sample_of_them_is_always_the_same() -> None:
    some, all_of_them = cases(Side(ROOT, 50)), cases(Side(ROOT))
    assert 0 < len(some) < len(all_of_them) / 25
    assert [case.id for case in some] == [case.id for case in cases(Side(ROOT, 50))]


def test_answers_are_the_same_in_files_and_in_one_file_of_a_task(tmp_path: Path) -> None:
    table = '[[answer]]\ntask = "1.1"\nfile = "1_1_nudge/a.py"\nmistake = "It is wrong."\n'
    put(
        tmp_path / "old",
        {"tests/x_answers/answers.toml": table, "tests/x_answers/1_1_nudge/a.py": "def f():\n    pass\n"},
    )
    text = json.dumps({"answers": [{"mistake": "It is wrong.", "code": "def f():\n    pass\n"}]})
    put(tmp_path / "new", {"tests/answers/1_1_nudge.json": text})
    expected = [("1.1", "def f():\n    pass\n")]
    assert list(stored_answers(Side(tmp_path / "old"))) == list(stored_answers(Side(tmp_path / "new"))) == expected


def test_records_have_the_fields_around_them() -> None:
    assert list(records({"task": "2.1", "broken": {"a": {"lines": [3], "causal": True}}}, {})) == [
        {"task": "2.1", "key": "a", "causal": True}
    ]


def test_texts_have_no_folder_and_no_address() -> None:
    text = f"/some/side/a/b.py:3, /some/side, /x/pytest-of-me/pytest-12/y0, <f at 0X7F00AABB>, {digest('a')}"
    assert Side(Path("/some/side")).clean(text) == f"b.py:3, FOLDER, TMP/y0, <f at 0xADDRESS>, {digest('a')}"
