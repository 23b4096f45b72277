"""Train a two-layer Transformer to tell which class a short text belongs to, and look at what it learned.

By default the texts are names of emoji and the classes the languages they are in; `--data FILE.tsv` takes your own texts.

    python examples/train_classifier.py
    python examples/train_classifier.py --predict "grinning face" --checkpoint out/classifier.safetensors

Written to `out/`: classifier.safetensors (weights, sizes, vocabulary), loss.png, attention.png, and graph.svg.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from baselines import run_in_subprocess
from numpy.typing import NDArray
from pictures import draw_attention, draw_losses, drawable
from text_data import TextDataset, Vocabulary, batches, load_dataset, pad

import minigrad
import nn
from minigrad.errors import MinigradError, import_extra
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from models import ClassifierConfig, TransformerClassifier


MAX_LENGTH = 64  # characters; longer texts are cut


@dataclass
class History:
    """What happened: the loss of every step, and (epoch, accuracy) on the validation texts."""

    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)


@dataclass
class Classifier:
    """A model with what is needed to use it on text."""

    model: TransformerClassifier
    vocabulary: Vocabulary
    classes: list[str]

    def encode(self, texts: list[str]) -> list[NDArray[np.int64]]:
        """Character ids, at most MAX_LENGTH of them."""
        return [self.vocabulary.encode(text)[:MAX_LENGTH] for text in texts]

    def probabilities(self, texts: list[str]) -> NDArray[np.float32]:
        """(texts, classes)"""
        ids, mask = pad(self.encode(texts))
        self.model.eval()
        with minigrad.no_grad():
            result: NDArray[np.float32] = minigrad.softmax(self.model(ids, mask)).numpy()
        return result

    def save(self, path: Path) -> None:
        about = {
            "model": "TransformerClassifier",
            "config": self.model.config.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "classes": self.classes,
        }
        save_checkpoint(path, self.model.state_dict(), about)

    @classmethod
    def load(cls, path: Path) -> Classifier:
        """Raises CheckpointError if the file is no checkpoint of this example."""
        arrays, about = load_checkpoint(path)
        if about.get("model") != "TransformerClassifier":
            raise CheckpointError(
                f"'{path}' holds a {about.get('model')}, not a TransformerClassifier: give the right file"
            )
        model = TransformerClassifier(ClassifierConfig.from_dict(about["config"]), rng=np.random.default_rng(0))
        model.load_state_dict(arrays)
        return cls(model, Vocabulary.from_dict(about["vocabulary"]), about["classes"])


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Linear warm-up over the first 5 % of the steps, then half a cosine down to 0."""
    warm_up = max(1, steps // 20)
    if step < warm_up:
        return peak * (step + 1) / warm_up
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def train(classifier: Classifier, data: TextDataset, args: argparse.Namespace, rng: np.random.Generator) -> History:
    """Adam on shuffled batches, with the accuracy on the validation texts after every epoch."""
    tqdm = import_extra("tqdm", "examples", "the progress bar").tqdm
    model, history = classifier.model, History()
    optimizer = nn.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=0.01)
    sequences = classifier.encode(data.train_texts)
    steps_per_epoch = math.ceil(len(sequences) / args.batch_size)
    for epoch in range(args.epochs):
        model.train()
        progress = tqdm(
            batches(sequences, data.train_labels, args.batch_size, rng),
            total=steps_per_epoch,
            desc=f"epoch {epoch + 1}/{args.epochs}",
        )
        for ids, mask, labels in progress:
            optimizer.lr = learning_rate(len(history.losses), args.epochs * steps_per_epoch, args.learning_rate)
            optimizer.zero_grad()
            logits = model(ids, mask)
            loss = nn.cross_entropy(logits, labels)
            loss.backward()
            nn.clip_grad_norm(model.parameters(), 1.0)
            optimizer.step()
            history.losses.append(loss.item())
            correct = float((logits.argmax(axis=-1) == labels).mean())
            progress.set_postfix(loss=f"{np.mean(history.losses[-50:]):.3f}", accuracy=f"{correct:.2f}", refresh=False)
        history.accuracies.append(accuracy(classifier, data.validation_texts, data.validation_labels))
        print(f"  validation accuracy {history.accuracies[-1]:.4f}")
    return history


def accuracy(classifier: Classifier, texts: list[str], labels: NDArray[np.int64]) -> float:
    """The share of texts whose most probable class is the right one."""
    sequences, correct = classifier.encode(texts), 0
    classifier.model.eval()
    with minigrad.no_grad():
        for ids, mask, targets in batches(sequences, labels, 256):
            correct += int((classifier.model(ids, mask).argmax(axis=-1) == targets).sum())
    return correct / len(labels)


def predict(checkpoint: Path, text: str) -> None:
    """Print the most probable classes of one text."""
    classifier = Classifier.load(checkpoint)
    probabilities = classifier.probabilities([text])[0]
    for i in np.argsort(probabilities)[::-1][:3]:
        print(f"{probabilities[i]:7.2%}  {classifier.classes[i]}")


def look(classifier: Classifier, data: TextDataset, path: Path, count: int = 3) -> None:
    """Draw the heads of the first layer on a few validation texts, of different classes where possible."""
    chosen: dict[int, str] = {}
    for text, label in zip(data.validation_texts, data.validation_labels):
        if 4 <= len(text) <= 16 and int(label) not in chosen and drawable(text):
            chosen[int(label)] = text
    preferred = sorted(chosen, key=lambda label: (data.classes[label] not in ("en", "ja", "de"), label))
    maps = []
    for label in preferred[:count]:
        (ids,) = classifier.encode([chosen[label]])
        guess = classifier.classes[int(classifier.probabilities([chosen[label]]).argmax())]
        with minigrad.no_grad():
            weights = classifier.model.attention_weights(ids[None])[0].numpy()[0]  # (heads, length, length)
        maps.append((chosen[label], f"{data.classes[label]}, taken for {guess}: head 1", weights))
    if maps:
        draw_attention(maps, path)


def draw_graph(classifier: Classifier, data: TextDataset, path: Path) -> None:
    """The gradient graph of the loss on two texts, with the norm of each gradient."""
    ids, mask = pad(classifier.encode(data.validation_texts[:2]))
    classifier.model.eval()
    classifier.model.zero_grad()
    with minigrad.trace():
        loss = nn.cross_entropy(classifier.model(ids, mask), data.validation_labels[:2])
        loss.backward(retain_graph=True)
    minigrad.draw_dot(loss, params=classifier.model).render(path)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a UTF-8 file of lines: text TAB label (default: the names of emoji)")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the checkpoint and the pictures")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the weights, the order and dropout")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=3e-3, help="at its peak")
    parser.add_argument("--d-model", type=int, default=64, help="width of the model, a multiple of 4")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see that everything works")
    parser.add_argument("--no-baselines", action="store_true", help="leave out the comparison with n-grams")
    parser.add_argument("--predict", metavar="TEXT", help="classify a text with a checkpoint instead of training")
    parser.add_argument("--checkpoint", type=Path, help="for --predict (default: OUT/classifier.safetensors)")
    return parser.parse_args()


def run(args: argparse.Namespace) -> None:
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
    rng = np.random.default_rng(args.seed)
    classifier = Classifier(TransformerClassifier(config, rng=rng), vocabulary, data.classes)
    print(
        f"{len(data.train_texts)} training and {len(data.validation_texts)} validation texts, {len(data.classes)} classes, "
        f"{len(vocabulary)} characters, {classifier.model.num_parameters} parameters"
    )
    history = train(classifier, data, args, rng)
    seconds = time.perf_counter() - start
    classifier.save(args.out / "classifier.safetensors")
    draw_losses(history.losses, history.accuracies, args.out / "loss.png")
    look(classifier, data, args.out / "attention.png")
    draw_graph(classifier, data, args.out / "graph.svg")
    report(args, history, seconds)


def report(args: argparse.Namespace, history: History, seconds: float) -> None:
    print(f"\ntrained in {seconds:.0f} s; checkpoint and pictures are in {args.out}/")
    print(f"validation accuracy  Transformer                    {history.accuracies[-1]:.4f}")
    if not args.no_baselines:
        baselines = run_in_subprocess(args.data, args.seed)
        if baselines.ngram is None:
            print(f"                     character 1-3-grams            not computed: {baselines.note}")
        else:
            print(f"                     character 1-3-grams, logistic  {baselines.ngram:.4f}")
        print(f"                     most frequent class            {baselines.majority:.4f}")


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
    try:
        if args.predict is not None:
            predict(args.checkpoint or args.out / "classifier.safetensors", args.predict)
        else:
            run(args)
    except (MinigradError, ValueError) as error:
        raise SystemExit(f"error: {error}") from error


if __name__ == "__main__":
    main()
