"""Watching changes nothing: output, exit status, random numbers and results stay the same to the bit."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.cli.main import main
from minigrad.debug import running
from minigrad.debug.finding import Question
from minigrad.engine import observers
from tests.minigrad.debug.programs import PROGRAMS

ROOT = Path(mg.__file__).parents[1]
PRINTS = "print(loss.item().hex(), [p.numpy().tobytes().hex() for p in (%s)], rng.random().hex())\n"


def run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    file = folder / "training.py"
    file.write_text(text, encoding="utf-8")
    command, ours = [sys.executable, *words, str(file)], os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=ours, check=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (PROGRAMS["NET"], "W1, b1, W2"),
        (PROGRAMS["ATTENTION"], "Q, K, V, U"),
        (PROGRAMS["DROPOUT"], "*model.parameters(),"),
    ],
)
def test_results_and_random_numbers_are_the_same_to_the_bit(tmp_path: Path, text: str, names: str) -> None:
    text += PRINTS % names
    plain = run(tmp_path, text)
    watching = run(tmp_path, text, "-m", "minigrad", "debug")
    assert plain.stdout
    assert watching.stdout.startswith(plain.stdout)
    assert watching.stdout[len(plain.stdout) :].startswith("Nothing found.")
    assert (plain.returncode, watching.returncode) == (0, 0)
    assert watching.stderr == plain.stderr


def test_a_finding_exits_1_and_writes_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("training.py").write_text(PROGRAMS["NET"].replace("0.5])[:, None]", "0.5])"), encoding="utf-8")
    assert main(["debug", "training.py"]) == 1
    assert "<html" in Path("debug.html").read_text(encoding="utf-8")
    Path("training.py").write_text(PROGRAMS["NET"], encoding="utf-8")
    assert main(["debug", "--out", "other.html", "training.py"]) == 0
    assert "<html" in Path("other.html").read_text(encoding="utf-8")  # a page without a stepper
    assert "<iframe" not in Path("other.html").read_text(encoding="utf-8")
    assert main(["debug", "--no-page", "--out", "third.html", "training.py"]) == 0
    assert not Path("third.html").exists()


def test_arguments_reach_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("training.py").write_text("import sys\nprint(sys.argv[1:], __name__)\n", encoding="utf-8")
    assert main(["debug", "training.py", "--", "--epochs", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("['--epochs', '3'] __main__\n")
    assert "trains nothing" in out


@pytest.mark.parametrize(
    ("ending", "status", "word"),
    [
        ("raise ValueError('broken')", 1, "ProgramFailed"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("raise SystemExit(7)", 7, "SystemExit"),
    ],
)
def test_a_program_that_ends_early_still_gets_its_paragraph(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ending: str,
    status: int,
    word: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("training.py").write_text(PROGRAMS["NET"] + ending + "\n", encoding="utf-8")
    assert main(["debug", "training.py"]) == status
    out, err = capsys.readouterr()
    assert "0 to 39 (40 in all)" in out
    assert "ended" in out
    assert ("broken" in err) == (word == "ProgramFailed")


def test_a_function_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("", encoding="utf-8")
    assert main(["debug", f"{tmp_path / 'a.py'}:f"]) == 2
    assert "leave ':f' out" in capsys.readouterr().err


def test_the_command_names_the_programs_own_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(
        "import numpy as np\nimport minigrad as mg\nmg.Tensor(np.ones((3, 2))) @ mg.Tensor(np.ones((3, 4)))\n",
        encoding="utf-8",
    )
    assert main(["debug", str(tmp_path / "a.py")]) == 1
    assert "The program ended with ShapeError." in capsys.readouterr().out


@pytest.mark.parametrize(("text", "status"), [("", 0), ("0", 0), ("3", 3), ("'why'", 1)])
def test_the_exit_status_of_the_program_stays(
    text: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(f"import sys\nsys.exit({text})\n", encoding="utf-8")
    assert main(["debug", str(tmp_path / "a.py")]) == status
    assert capsys.readouterr().err == ("why\n" if status == 1 else "")


def test_the_block_leaves_no_observer_behind(capsys: pytest.CaptureFixture[str]) -> None:
    before = [list(found) for found in (observers.before_sweep, observers.handed_out, observers.plan_made)]
    w = mg.Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ZeroDivisionError), mg.debugging() as watched:
        (w * w).sum().backward()
        1 / 0
    assert [list(found) for found in (observers.before_sweep, observers.handed_out, observers.plan_made)] == before
    assert observers.active.contexts == []
    assert watched.steps == 1
    assert "ended with ZeroDivisionError" in capsys.readouterr().out
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 4.0]


def test_the_block_ends_at_bad_numbers_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    w = mg.Tensor([4.0, 1.0], requires_grad=True)
    with np.errstate(all="ignore"), mg.debugging() as watched:
        for _ in range(50):
            w.zero_grad()
            np.log(w - 0.5).sum().backward()
            w.data -= 1.0 * w.grad
    assert watched.steps < 50
    assert watched.findings[0].kind == "nonfinite"
    assert "np.log(w - 0.5)" in capsys.readouterr().out


def test_runs_of_write_numpy_are_no_steps(capsys: pytest.CaptureFixture[str]) -> None:
    def loss(w: np.ndarray) -> Any:
        return np.sum(w**2)

    w = np.array([1.0, 2.0])
    expected = mg.write_numpy(loss, w).source
    with mg.debugging():
        mg.grad(loss)(w)
        assert mg.write_numpy(loss, w).source == expected
    assert "(1 in all)" in capsys.readouterr().out


def test_losses_and_norms_are_those_of_each_step() -> None:
    w = mg.Tensor([3.0, 4.0], requires_grad=True)
    with mg.debugging(quiet=True) as watched:
        for _ in range(3):
            w.zero_grad()
            (w * w).sum().backward()
            w.data -= 0.25 * w.grad
    assert watched.watcher.losses == [25.0, 6.25, 1.5625]
    assert watched.watcher.norms == [10.0, 5.0, 2.5]


def test_a_rule_that_fails_is_named_and_does_not_end_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(case: object) -> list[Any]:
        raise IndexError("a mistake of the check")

    monkeypatch.delenv("MINIGRAD_DEBUG_RAISE", raising=False)
    monkeypatch.setattr(running, "CHECKS", [Question("dead", ["tape"], fail)])
    w = mg.Tensor([3.0, 4.0], requires_grad=True)
    with mg.debugging(quiet=True) as watched:
        (w * w).sum().backward()
    assert watched.text().endswith(" The check 'dead' failed.")
