"""Train a two-layer Transformer to tell which class a short text belongs to, and look at what it learned.

By default the texts are names of emoji and the classes the languages they are in; `--data FILE.tsv` takes your own texts.

    python examples/train_classifier.py
    python examples/train_classifier.py --predict "grinning face" --checkpoint out/classifier.safetensors
    python examples/train_classifier.py --ranks 2       on two processes, which share out each batch (docs/scale.md)

Written to `out/`: classifier.safetensors (weights, sizes, vocabulary), loss.png, attention.png, and graph.svg.

The model and its training are in `text_classifier.py`. This program reads the options, draws, reports and launches.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import numpy as np

import minigrad
import nn
from baselines import run_in_subprocess
from common import argument_parser, at_least, make_folder, run as run_program, table, trained_in
from minigrad.graph.pages.attention_maps import Map, draw_maps
from models import ClassifierConfig
from pictures import draw_losses
from text_classifier import MAX_TOKENS, Classifier, train
from text_data import UNKNOWN, TextDataset, Vocabulary, load_dataset, pad

NGRAMS, MAJORITY = "character 1-3-grams, logistic", "most frequent class"
UPDATES = 200  # at least, by default: with fewer a model of few texts still answers the most frequent class
EPOCHS = 8  # at least, by default


def predict(checkpoint: Path, text: str) -> None:
    """Print the most probable classes of one text.

    Raises:
        CheckpointError: the file is no checkpoint of this example.
        ValueError: there is no text.
    """
    if not text.strip():
        raise ValueError("--predict needs a text of at least one character, got an empty one")
    classifier = Classifier.load(checkpoint)
    ids = classifier.vocabulary.encode(text)
    if len(ids) > MAX_TOKENS:
        print(f"note: only the first {MAX_TOKENS - 1} of {len(ids) - 1} characters count", file=sys.stderr)
    if unknown := int((ids == UNKNOWN).sum()):
        print(f"note: {unknown} of {len(ids) - 1} characters are unknown to this model", file=sys.stderr)
    probabilities = classifier.probabilities([text])[0]
    for i in np.argsort(probabilities)[::-1][:3]:
        print(f"{probabilities[i]:7.2%}  {classifier.classes[i]}")


def look(classifier: Classifier, data: TextDataset, path: Path, count: int = 3) -> None:
    """Draw the heads of the first layer on a few validation texts, of different classes where possible."""
    chosen: dict[int, str] = {}
    labelled = zip(data.validation_texts, data.validation_labels)
    for text, label in sorted(labelled, key=lambda row: abs(len(row[0]) - 12)):
        chosen.setdefault(int(label), text)
    preferred = sorted(chosen, key=lambda label: (data.classes[label] not in ("en", "ja", "de"), label))
    rows, captions = [], []
    for label in preferred[:count]:
        (ids,) = classifier.encode([chosen[label]])
        guess = classifier.classes[int(classifier.probabilities([chosen[label]]).argmax())]
        characters = classifier.vocabulary.characters(ids)
        first = minigrad.attention_maps(classifier.model, ids[None], characters).layers[0]
        rows.append([Map(f"head {i}", characters, characters, head) for i, head in enumerate(first.weights, start=1)])
        captions.append(f"“{chosen[label]}”: class {data.classes[label]}, predicted {guess}")
    if rows:
        draw_maps(rows, path, looks_from="the token that starts at", looks_at="looks at", captions=captions)


def draw_graph(classifier: Classifier, data: TextDataset, path: Path) -> None:
    """The gradient graph of the loss on two texts, with the norm of each gradient."""
    ids, mask = pad(classifier.encode(data.validation_texts[:2]))
    classifier.model.eval()
    classifier.model.zero_grad()
    with minigrad.trace():
        loss = nn.cross_entropy(classifier.model(ids, mask), data.validation_labels[:2])
        loss.name = "loss"
        loss.backward(retain_graph=True)
        minigrad.draw_dot(loss, params=classifier.model).render(path)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    quick, baselines = "one epoch on 640 texts", "the comparison with n-grams"
    parser = argument_parser(__doc__, quick=quick, baselines=baselines)
    parser.add_argument("--data", type=Path, help="a UTF-8 file of lines: text TAB label (default: the names of emoji)")
    help = f"default: {EPOCHS}, or as many as make {UPDATES} updates of the weights"
    parser.add_argument("--epochs", type=at_least(1), help=help)
    parser.add_argument("--batch-size", type=at_least(1), default=64)
    parser.add_argument("--learning-rate", type=float, default=3e-3, help="at its peak")
    parser.add_argument("--d-model", type=int, default=64, help="width of the model, a multiple of 4")
    parser.add_argument("--dropout", type=float, default=0.3)
    help = "processes that train it together (default: 1); needs mpi4py and mpich"
    parser.add_argument("--ranks", type=at_least(1), default=1, help=help)
    parser.add_argument("--predict", metavar="TEXT", help="classify a text with a checkpoint instead of training")
    parser.add_argument("--checkpoint", type=Path, help="for --predict (default: OUT/classifier.safetensors)")
    return parser.parse_args(arguments)


def run(args: argparse.Namespace) -> nn.History:
    """Load the data, train, save, draw and report. Nothing is written before the data are known to be good."""
    ranks = nn.parallel.Ranks() if args.ranks > 1 else None
    start = time.perf_counter()
    data = load_dataset(args.data, seed=args.seed)
    if args.quick:
        args.epochs, data = 1, shortened(data, 640)
    vocabulary = Vocabulary.from_texts(data.train_texts)
    config = ClassifierConfig(
        vocab_size=len(vocabulary),
        num_classes=len(data.classes),
        d_model=args.d_model,
        dropout=args.dropout,
    )
    classifier = Classifier.create(config, vocabulary, data.classes, np.random.default_rng(args.seed))
    classifier.model.to(args.device)
    make_folder(args.out)
    print(
        f"{len(data.train_texts)} training and {len(data.validation_texts)} validation texts, {len(data.classes)} classes, "
        f"{len(vocabulary)} n-grams, {classifier.model.num_parameters:,} parameters"
    )
    if cut := sum(len(text) >= MAX_TOKENS for text in data.train_texts + data.validation_texts):
        print(f"note: longer than {MAX_TOKENS - 1} characters, and cut there: {cut}")
    if args.epochs is None:
        args.epochs = default_epochs(len(data.train_texts), args.batch_size)
    history = train(
        classifier,
        data,
        epochs=args.epochs,
        batch_size=args.batch_size,
        learning_rate=args.learning_rate,
        seed=args.seed,
        ranks=ranks,
    )
    seconds = time.perf_counter() - start
    if ranks is not None and ranks.rank:
        return history  # the first one saves, draws and reports
    classifier.save(args.out / "classifier.safetensors")
    draw_losses(history.losses, history.metric("accuracy"), args.out / "loss.png")
    look(classifier, data, args.out / "attention.png")
    draw_graph(classifier, data, args.out / "graph.svg")
    report(args, history, seconds)
    return history


def default_epochs(texts: int, batch_size: int) -> int:
    """EPOCHS, or more where those would be fewer than UPDATES steps; what it comes to is printed."""
    steps = math.ceil(texts / batch_size)
    epochs = max(EPOCHS, math.ceil(UPDATES / steps))
    why = f", as {EPOCHS} would be {EPOCHS * steps} updates only" if epochs > EPOCHS else ""
    print(f"{epochs} epochs of {steps} update{'s' * (steps != 1)} each{why}; --epochs sets another number")
    return epochs


def report(args: argparse.Namespace, history: nn.History, seconds: float) -> None:
    print(f"\n{trained_in(seconds)}; the checkpoint and the pictures are in {args.out}/")
    title, names = "validation accuracy", ("Transformer", NGRAMS, MAJORITY)
    ours = [("Transformer", history.metrics[-1]["accuracy"])]
    if args.no_baselines or args.quick:  # a comparison of one quick epoch with anything would say nothing
        print(table(title, ours))
        return
    width = max(map(len, names))
    print(table(title, ours, width=width), flush=True)  # the baselines take their time, and may fail
    print(table(" " * len(title), baseline_rows(args), width=width))


def baseline_rows(args: argparse.Namespace) -> list[tuple[str, float | str]]:
    try:
        baselines = run_in_subprocess(args.data, args.seed)
    except RuntimeError as error:
        return [("", str(error))]
    ngram = f"not computed: {baselines.note}" if baselines.ngram is None else baselines.ngram
    return [(NGRAMS, ngram), (MAJORITY, baselines.majority)]


def shortened(data: TextDataset, count: int) -> TextDataset:
    """A part of the data set for a quick run."""
    rng = np.random.default_rng(0)
    train_part = rng.permutation(len(data.train_texts))[:count]
    validation_part = rng.permutation(len(data.validation_texts))[: count // 4]
    return TextDataset(
        [data.train_texts[i] for i in train_part],
        data.train_labels[train_part],
        [data.validation_texts[i] for i in validation_part],
        data.validation_labels[validation_part],
        data.classes,
    )


def main() -> None:
    args = parse_arguments()
    if args.predict is not None:
        predict(args.checkpoint or args.out / "classifier.safetensors", args.predict)
    elif args.ranks > 1 and "MINIGRAD_LAUNCHED" not in os.environ:
        command = [sys.executable, "-m", "minigrad", "launch", "-n", str(args.ranks), *sys.argv]
        sys.exit(subprocess.run(command, check=False).returncode)
    else:
        run(args)


if __name__ == "__main__":
    run_program(main)
