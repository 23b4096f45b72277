"""Predict a class from the columns of a pandas table: class weights, early stopping, and one file that predicts.

    python examples/table_classifier.py
    python examples/table_classifier.py --predict out/table_new.csv         # in another process, with that file
    python examples/table_classifier.py --data my.csv --target outcome      # a table of yours; it says what it leaves out

The table is scikit-learn's breast cancer data: 569 rows, 30 columns of numbers, of which malignant tumours are the rarer class.
A fifth of the rows is the test, and a fifth of the others decides when to stop. The measure is the balanced accuracy, the mean
over the classes of the share that is found, so that the rare class counts as much as the other.

Written to `out/`: table_classifier.safetensors (the whole model, with the names and the scale of the columns), table_loss.png
and table_new.csv (the rows of the test, without their class).
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nn
from common import argument_parser, at_least, make_folder, run, table
from minigrad import Tensor, no_grad, softmax
from minigrad.errors import import_extra
from models import Config, Model
from pictures import draw_losses


@dataclass(frozen=True)
class NetworkConfig(Config):
    """`notes` has the names of the columns, their mean and deviation in training, and the names of the classes."""

    features: int
    classes: int
    hidden: int = 32


class Network(Model):
    """Two layers on the scaled columns of a table."""

    config_class = NetworkConfig

    def __init__(self, config: NetworkConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config = config
        self.hidden = nn.Affine(config.features, config.hidden, rng=rng, dtype=dtype)
        self.dropout = nn.Dropout(0.2, rng=rng)
        self.output = nn.Affine(config.hidden, config.classes, rng=rng, dtype=dtype)

    def forward(self, x: Any) -> Tensor:
        """(rows, features) -> scores of the classes, (rows, classes)"""
        return self.output(self.dropout(np.tanh(self.hidden(x))))

    def scaled(self, frame: Any) -> Any:
        """The columns of a table as the network reads them, (rows, features).

        Raises:
            ValueError: a column is missing, or has a gap or something that is no finite number.
        """
        notes, numbers = self.config.notes, self.numbers(frame)
        if gaps := missing_numbers(numbers):
            row, names = next(iter(gaps.items()))
            raise ValueError(f"{len(gaps)} rows have no number in a column, the first is row {row}, in {names}")
        return ((numbers.to_numpy(float) - notes["mean"]) / notes["deviation"]).astype(np.float32)

    def numbers(self, frame: Any) -> Any:
        """The columns that the network reads.

        Raises:
            ValueError: a column is missing, or holds something that is no number.
        """
        columns = self.config.notes["columns"]
        if missing := [name for name in columns if name not in frame]:
            raise ValueError(f"the table has no column {', '.join(map(repr, missing[:3]))}")
        if texts := [name for name in columns if frame[name].dtype.kind not in "biuf"]:
            raise ValueError(f"there must be numbers in column {named(texts)}")
        return frame[columns]

    def probabilities(self, frame: Any) -> Any:
        """(rows, classes)"""
        with no_grad():
            return softmax(self(self.scaled(frame))).numpy()


def named(names: Any) -> str:
    """The first names, for a message."""
    names = [repr(str(name)) for name in names]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def missing_numbers(frame: Any) -> dict[Any, str]:
    """For each row with a gap or an infinite number, the names of its columns."""
    finite = np.isfinite(frame.to_numpy(float))
    return {frame.index[i]: named(frame.columns[~finite[i]]) for i in np.flatnonzero(~finite.all(axis=1))}


def loss(model: Network, batch: tuple[Any, Any], weight: Any) -> Tensor:
    return nn.cross_entropy(model(batch[0]), batch[1], weight=weight)


def balanced_accuracy(answers: Any, labels: Any) -> float:
    """The mean over the classes of the share of their rows that is found."""
    return float(np.mean([np.mean(answers[labels == label] == label) for label in np.unique(labels)]))


def train(frame: Any, labels: Any, classes: list[str], args: argparse.Namespace) -> tuple[Network, nn.History]:
    """Train until the loss on held-out rows has not improved for `patience` epochs, and take the best epoch's weights."""
    selection = import_extra("sklearn.model_selection", "examples", "the split")
    known, held_out = selection.train_test_split(
        np.arange(len(frame)), test_size=0.2, stratify=labels, random_state=args.seed
    )
    numbers = frame.iloc[known]
    notes = {
        "columns": [str(name) for name in frame.columns],
        "mean": numbers.mean().tolist(),
        "deviation": numbers.std(ddof=0).replace(0, 1).tolist(),
        "classes": classes,
    }
    rng = np.random.default_rng(args.seed)
    model = Network(NetworkConfig(frame.shape[1], len(classes), args.hidden, notes=notes), rng=rng)
    x, weight = (
        model.scaled(frame),
        len(known) / (len(classes) * np.bincount(labels[known])),
    )  # a rare class counts more
    batches = nn.Batches([x[known], labels[known]], 32, seed=args.seed)

    def validate(model: Network) -> dict[str, float]:
        answers = model(x[held_out]).numpy().argmax(axis=1)
        found = loss(model, (x[held_out], labels[held_out]), weight).item()
        return {"loss": found, "accuracy": balanced_accuracy(answers, labels[held_out])}

    history = nn.fit(
        model,
        batches,
        lambda model, batch: loss(model, batch, weight),
        nn.AdamW(model.parameters(), lr=0.003, weight_decay=0.01),
        epochs=args.epochs,
        validate=validate,
        best=("min", "loss"),
        patience=args.patience,
        restore_best=True,
    )
    return model, history


def read(args: argparse.Namespace) -> tuple[Any, Any, list[str]]:
    """The columns of numbers, the label of each row, and the names of the classes.

    Raises:
        MissingExtraError: pandas or scikit-learn is not installed.
        ValueError: there is no such column, or there are too few rows of a class.
    """
    pandas = import_extra("pandas", "examples", "a table")
    if args.data is None:
        data = import_extra("sklearn.datasets", "examples", "the data set").load_breast_cancer(as_frame=True)
        frame, target = data.data, data.target.map(lambda label: str(data.target_names[label]))
    else:
        frame = pandas.read_csv(args.data)
        if args.target not in frame:
            raise ValueError(f"--target must be a column of '{args.data}', got {args.target!r}: {', '.join(frame)}")
        frame, target = complete(frame, frame.pop(args.target))
    classes, labels = np.unique(target.astype(str).to_numpy(), return_inverse=True)
    if len(classes) < 2 or np.bincount(labels).min() < 10 or not frame.shape[1]:
        words = "the table needs two classes or more, ten complete rows of each, and a column of numbers"
        if target.dtype.kind in "iuf" and len(classes) > 2:
            words += (
                f"; {args.target!r} has {len(classes)} different numbers, so it may be a quantity and not a class: that is a "
                "regression, a network with one output and nn.mean_squared_error"
            )
        raise ValueError(words)
    return frame, labels, classes.tolist()


def complete(frame: Any, target: Any) -> tuple[Any, Any]:
    """The columns of numbers, and the rows without gaps. What is left out is printed."""
    texts = [name for name in frame if frame[name].dtype.kind not in "iuf"]
    frame = frame.drop(columns=texts)
    gaps, unknown = missing_numbers(frame), target.index[target.isna()]
    if texts:
        print(f"left out: {len(texts)} columns that are not numbers, {named(texts)}")
    if gaps:
        columns = named(frame.columns[~np.isfinite(frame.to_numpy(float)).all(axis=0)])
        print(f"left out: {len(gaps)} rows with no number in {columns}: {named(gaps)}")
    if len(unknown):
        print(f"left out: {len(unknown)} rows without a class in {target.name!r}: {named(unknown)}")
    rows = frame.index.difference(unknown.union(list(gaps)), sort=False)
    return frame.loc[rows], target[rows]


def predict(model: Network, path: Path) -> None:
    """Print the most probable class of each row of a CSV file, or the columns in which a row has no number."""
    frame = model.numbers(import_extra("pandas", "examples", "a table").read_csv(path))
    gaps = missing_numbers(frame)
    known = frame.drop(index=list(gaps))
    found = dict(zip(known.index, model.probabilities(known) if len(known) else ()))
    for row in frame.index:
        if row in gaps:
            print(f"{row:5}  no prediction: there is no number in {gaps[row]}")
        else:
            print(f"{row:5}  {model.config.notes['classes'][found[row].argmax()]:12} {found[row].max():.3f}")


def main(arguments: list[str] | None = None) -> nn.History | None:
    parser = argument_parser(__doc__, quick="5 epochs", baselines="the simpler methods", device=False)
    parser.add_argument("--data", type=Path, metavar="CSV", help="a table of yours, with --target")
    parser.add_argument("--target", help="the column of --data to predict")
    parser.add_argument("--predict", type=Path, metavar="CSV", help="only predict the rows of this table")
    parser.add_argument(
        "--checkpoint", type=Path, help="for --predict (default: table_classifier.safetensors in --out)"
    )
    parser.add_argument("--epochs", type=at_least(1), default=200, help="at most (default: 200)")
    parser.add_argument("--patience", type=at_least(1), default=15, help="epochs without improvement (default: 15)")
    parser.add_argument("--hidden", type=at_least(1), default=32, help="width (default: 32)")
    args = parser.parse_args(arguments)
    if args.predict:
        predict(Network.load(args.checkpoint or args.out / "table_classifier.safetensors"), args.predict)
        return None
    args.epochs = min(args.epochs, 5) if args.quick else args.epochs
    frame, labels, classes = read(args)
    selection = import_extra("sklearn.model_selection", "examples", "the split")
    out = make_folder(args.out)
    x, test, y, test_labels = selection.train_test_split(
        frame, labels, test_size=0.2, stratify=labels, random_state=args.seed
    )
    print(f"{len(x)} rows to learn from and {len(test)} others, {x.shape[1]} columns, classes: {', '.join(classes)}")
    model, history = train(x, y, classes, args)
    best = int(np.argmin(history.metric("loss")))
    print(f"stopped after {len(history.metrics)} epochs; the weights are those of epoch {best + 1}")
    answers = model.probabilities(test).argmax(axis=1)
    rows = [] if args.no_baselines else baselines(model, x, y, test, test_labels)
    print(table("balanced accuracy", [("network", balanced_accuracy(answers, test_labels)), *rows]))
    model.save(out / "table_classifier.safetensors")
    test.to_csv(out / "table_new.csv", index=False)
    draw_losses(history.losses, history.metric("accuracy"), out / "table_loss.png")
    return history


def baselines(model: Network, x: Any, y: Any, test: Any, labels: Any) -> list[tuple[str, float]]:
    """Logistic regression with class weights on the same columns, and the most frequent class."""
    linear = import_extra("sklearn.linear_model", "examples", "the comparison with simpler methods")
    regression = linear.LogisticRegression(class_weight="balanced", max_iter=2000).fit(model.scaled(x), y)
    return [
        ("logistic regression", balanced_accuracy(regression.predict(model.scaled(test)), labels)),
        ("most frequent class", balanced_accuracy(np.full(len(labels), np.bincount(y).argmax()), labels)),
    ]


if __name__ == "__main__":
    run(main)
