"""examples/digits_cnn.py: its network, the confusion matrix, what is written, and that it learns."""

from pathlib import Path

import numpy as np
import pytest

import digits_cnn as example
from digits_vit import Digits
from tests.examples.processes import command
from tests.examples.test_digits_vit import written


def test_the_confusion_matrix_counts() -> None:
    labels, answers = np.array([3, 3, 3, 9]), np.array([3, 8, 3, 9])
    lines = example.confusion(answers, labels).splitlines()
    assert lines[0].split() == ["read", "as", *map(str, range(10))]
    assert lines[4].split() == ["3", "·", "·", "·", "2", "·", "·", "·", "·", "1", "·"]
    assert lines[10].split() == ["9", *["·"] * 9, "1"] and len({len(line) for line in lines}) == 1


@pytest.mark.thorough
def test_quick_writes_and_compares(tmp_path: Path) -> None:
    done = command("digits_cnn.py", "--quick", "--out", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"digits_cnn.safetensors", "digits_cnn_loss.png"}
    assert "convolutional network" in done.stdout and "support vectors" in done.stdout and "read as" in done.stdout


@pytest.mark.thorough
def test_it_predicts_from_its_checkpoint(tmp_path: Path) -> None:
    history = example.main(["--epochs", "3", "--no-baselines", "--out", str(tmp_path)])
    assert history is not None and history.metric("accuracy")[-1] > 0.9
    model, data = example.Network.load(tmp_path / "digits_cnn.safetensors"), Digits.load(0)
    found = example.predictions(model, data.test)
    assert np.mean(found == data.test_labels) == pytest.approx(history.metric("accuracy")[-1])
    asked = command("digits_cnn.py", "--predict", written(tmp_path), "--out", ".", cwd=tmp_path)
    assert asked.stdout == f"{found[7]}\n", asked.stderr


@pytest.mark.thorough
def test_it_reads_99_of_100_digits(tmp_path: Path) -> None:
    history = example.main(["--no-baselines", "--out", str(tmp_path)])
    assert history is not None and history.metric("accuracy")[-1] >= 0.99
