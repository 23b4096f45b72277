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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_table_of_the_user(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"x": rng.standard_normal(100), "text": "t"})
    frame["outcome"] = np.where(frame["x"] > 0, "up", "down")
    frame.loc[3, "x"] = np.nan  # left out
    frame.to_csv(tmp_path / "my.csv", index=False)
    done = command("table_classifier.py", "--data", "my.csv", "--target", "outcome", "--no-baselines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "79 rows to learn from and 20 others, 1 columns, classes: down, up" in done.stdout
    assert (
        "left out: 1 columns that are not numbers, 'text'\nleft out: 1 rows with no number in 'x': '3'\n" in done.stdout
    )


def test_what_is_left_out_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Columns that are not numbers, rows with a gap or an infinite number, and rows without a class, which is no class."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.standard_normal((60, 5)), columns=["a", "b", "c", "d", "e"])
    frame["text"], frame["yes"], frame["outcome"] = "t", True, np.arange(60) % 3
    frame.loc[[3, 5], "b"], frame.loc[7, "e"], frame["outcome"] = np.nan, np.inf, frame["outcome"].astype(float)
    frame.loc[[9, 5], "outcome"] = np.nan
    frame.to_csv(tmp_path / "my.csv", index=False)
    found, labels, classes = example.read(argparse.Namespace(data=tmp_path / "my.csv", target="outcome"))
    kept = [i for i in range(60) if i not in (3, 5, 7, 9)]
    assert found.index.tolist() == kept and found.columns.tolist() == list("abcde")
    assert labels.tolist() == [i % 3 for i in kept] and classes == ["0.0", "1.0", "2.0"]
    assert capsys.readouterr().out.splitlines() == [
        "left out: 2 columns that are not numbers, 'text', 'yes'",
        "left out: 3 rows with no number in 'b', 'e': '3', '5', '7'",
        "left out: 2 rows without a class in 'outcome': '5', '9'",
    ]


def test_a_quantity_as_the_target_is_a_regression(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"x": np.arange(50.0), "y": np.arange(50) / 7, "rare": ["a"] * 45 + ["b"] * 5})
    frame.to_csv(tmp_path / "my.csv", index=False)
    arguments = {"data": tmp_path / "my.csv"}
    with pytest.raises(
        ValueError, match=r"'y' has 50 different numbers, so it may be a quantity .* nn.mean_squared_error$"
    ):
        example.read(argparse.Namespace(**arguments, target="y"))
    with pytest.raises(ValueError, match=r"ten complete rows of each, and a column of numbers$"):
        example.read(argparse.Namespace(**arguments, target="rare"))


def test_a_row_with_gaps_gets_no_prediction(made: Any, tmp_path: Path) -> None:
    frame = pandas.read_csv(made[0] / "table_new.csv").iloc[:5]
    frame.to_csv(tmp_path / "whole.csv", index=False)
    frame.loc[1, ["mean radius", "mean area"]], frame.loc[3, "mean texture"] = np.nan, np.inf
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    lines = []
    for name in ("whole", "gaps"):
        done = command("table_classifier.py", "--predict", str(tmp_path / f"{name}.csv"), "--out", ".", cwd=made[0])
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.splitlines())
    whole, gaps = lines
    assert gaps[1] == "    1  no prediction: there is no number in 'mean radius', 'mean area'"
    assert gaps[3] == "    3  no prediction: there is no number in 'mean texture'"
    assert [gaps[i].split()[:2] for i in (0, 2, 4)] == [whole[i].split()[:2] for i in (0, 2, 4)]
    model = example.Network.load(made[0] / "table_classifier.safetensors")
    with pytest.raises(ValueError, match="2 rows have no number in a column, the first is row 1, in 'mean radius', "):
        model.probabilities(frame)
    with pytest.raises(ValueError, match=r"there must be numbers in column 'mean area'$"):
        model.probabilities(frame.assign(**{"mean area": "large"}))


@pytest.mark.sampled(2)
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
