"""``minigrad write-numpy``: a file that runs without minigrad, several sizes, and bad input."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad.cli.main import main

LESSON = """
import numpy as np


def loss(x, w):
    return np.sum(np.tanh(x @ w))


arrays = np.ones((4, 3)), np.ones(3)


def longer():
    return np.ones((9, 3)), np.ones(3)


number = 3.0
"""


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    path = tmp_path / "lesson.py"
    path.write_text(LESSON, encoding="utf-8")
    return path


def test_the_file_runs_where_minigrad_cannot_be_imported(lesson: Path, tmp_path: Path) -> None:
    out = tmp_path / "step.py"
    assert main(["write-numpy", f"{lesson}:loss", "--examples", f"{lesson}:arrays", "--out", str(out)]) == 0
    code = (
        "import sys, numpy as np; sys.modules['minigrad'] = None\n"
        "from step import step\n"
        "print(*step(np.full((4, 3), 0.5), np.array([0.1, 0.2, 0.3]))[2])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    x, w = np.full((4, 3), 0.5), np.array([0.1, 0.2, 0.3])
    np.testing.assert_array_equal([float(n) for n in run.stdout.split()], mg.grad(lambda w: np.sum(np.tanh(x @ w)))(w))


def test_several_examples_make_sizes_free(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = ["--examples", f"{lesson}:arrays", "--examples", f"{lesson}:longer"]
    assert main(["write-numpy", f"{lesson}:loss", *examples]) == 0
    assert '"x": (("len(x)", 3), "float64")' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "examples", "said"),
    [("number", "arrays", "is no function but a float"), ("loss", "number", "must be a tuple of arguments")],
)
def test_bad_input(target: str, examples: str, said: str, lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write-numpy", f"{lesson}:{target}", "--examples", f"{lesson}:{examples}"]) != 0
    assert said in capsys.readouterr().err
