"""examples/table_classifier.py: its scale, weights and early stopping, prediction in a new process, and tables of a user."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
import table_classifier as example
from minigrad import MissingExtraError
from tests.examples.processes import command
from tests.lazy import Lazy

pandas: Any = Lazy("pandas")
sklearn_metrics: Any = Lazy("sklearn.metrics")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder, the history, and what was printed."""
    folder = tmp_path_factory.mktemp("table")
    done = command("table_classifier.py", "--quick", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out", done.stdout


def test_a_quick_run_reports_and_writes(made: Any) -> None:
    out, printed = made
    assert {path.name for path in out.iterdir()} == {"table_classifier.safetensors", "table_loss.png", "table_new.csv"}
    assert "455 rows to learn from and 114 others, 30 columns, classes: benign, malignant" in printed
    assert all(name in printed for name in ("network", "logistic regression", "most frequent class  0.5000"))


def test_a_new_process_predicts_from_the_file_alone(made: Any) -> None:
    out, _ = made
    done = command("table_classifier.py", "--predict", "table_new.csv", "--out", ".", cwd=out)
    assert done.returncode == 0, done.stderr
    model = example.Network.load(out / "table_classifier.safetensors")
    frame = pandas.read_csv(out / "table_new.csv")
    answers = model.probabilities(frame[frame.columns[::-1]]).argmax(axis=1)  # the order of the columns has no effect
    names = [line.split()[1] for line in done.stdout.splitlines()]
    assert names == [("benign", "malignant")[i] for i in answers] and len(set(names)) == 2


def test_the_balanced_accuracy_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    answers, labels = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    assert example.balanced_accuracy(answers, labels) == pytest.approx(
        sklearn_metrics.balanced_accuracy_score(labels, answers)
    )


def test_the_loss_weighs_classes_and_the_best_epoch_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    fit = nn.fit

    def spy(model: Any, *arguments: Any, **settings: Any) -> Any:
        history = fit(model, *arguments, **settings)
        seen.update(settings, last=settings["validate"](model), rows=model.scaled(frame))
        return history

    monkeypatch.setattr(nn, "fit", spy)
    rng = np.random.default_rng(0)
    labels = (np.arange(200) % 10 == 0).astype(int)
    frame = pandas.DataFrame({"a": 5 + labels + rng.standard_normal(200), "b": rng.standard_normal(200), "c": 1.0})
    args = argparse.Namespace(seed=0, epochs=40, patience=3, hidden=8)
    model, history = example.train(frame, labels, ["no", "yes"], args)
    losses = history.metric("loss")
    assert len(losses) < 40 and int(np.argmin(losses)) == len(losses) - 4  # stopped 3 epochs after the best
    assert seen["last"]["loss"] == pytest.approx(min(losses), rel=1e-6)
    assert (model.probabilities(frame).argmax(axis=1) == 1).sum() > 20  # without weights, few would be "yes"
    known = np.abs(seen["rows"].mean(axis=0)) < 0.2
    assert known.all() and not seen["rows"][:, 2].any()  # a column of one value is scaled to 0


def test_a_table_of_the_user(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"x": rng.standard_normal(100), "text": "t"})
    frame["outcome"] = np.where(frame["x"] > 0, "up", "down")
    frame.loc[3, "x"] = np.nan  # left out
    frame.to_csv(tmp_path / "my.csv", index=False)
    done = command("table_classifier.py", "--data", "my.csv", "--target", "outcome", "--no-baselines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "79 rows to learn from and 20 others, 1 columns, classes: down, up" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--data", "my.csv", "--target", "z"], "--target must be a column of 'my.csv', got 'z': x, y"),
        (["--data", "my.csv", "--target", "y"], "two classes or more, ten complete rows of each"),
        (["--predict", "my.csv"], "no checkpoint at 'out/table_classifier.safetensors'"),
        (["--data", "none.csv", "--target", "y"], "No such file"),
    ],
)
def test_a_table_that_does_not_fit_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,y\n1,2\n3,4\n")
    done = command("table_classifier.py", *options, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_missing_column_is_named(made: Any) -> None:
    model = example.Network.load(made[0] / "table_classifier.safetensors")
    with pytest.raises(ValueError, match=r"the table has no column 'mean radius', 'mean texture', 'mean perimeter'$"):
        model.probabilities(pandas.DataFrame({"x": [1.0]}))


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="a table needs pandas: pip install pandas"):
        example.main(["--quick", "--out", str(tmp_path)])
