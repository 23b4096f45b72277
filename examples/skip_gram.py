"""Learn word vectors from a text by skip-gram, and next words by the bigram model, beside counting.

    python examples/skip_gram.py
    python examples/skip_gram.py --text my.txt --words king queen    # any UTF-8 text; neighbours of these words
    python examples/skip_gram.py --checkpoint out/skip_gram.safetensors --words king queen    # of an earlier run

The text is the reference documentation that comes with every Python (the module pydoc_data). The last tenth is held out.

Written to `out/`: skip_gram.safetensors (the model with its words) and skip_gram.png (loss, and the vectors of frequent
words in the plane).
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import numpy as np

import minigrad as mg
import nn
from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table
from minigrad.device import to_device
from models import Bigram, SkipGram, SkipGramConfig
from models.skip_gram import skip_gram_pairs

Array = np.ndarray[Any, Any]
UNKNOWN = "<unknown>"


def load_words(path: Path | None) -> list[str]:
    """The words of a text, in lower case.

    Raises:
        ValueError: the file is no text in UTF-8.
    """
    if path is None:
        try:
            topics = importlib.import_module("pydoc_data.topics").topics
        except ImportError as error:
            raise ValueError("this Python comes without pydoc_data: give a text with --text") from error
        text = "\n".join(topics[name] for name in sorted(topics))
    else:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"--text '{path}' is no UTF-8 text ({error.reason} at byte {error.start})") from error
    return re.findall(r"[^\W\d_]+", text.lower())


def encode(words: list[str], vocab_size: int) -> tuple[list[str], Array]:
    """The most frequent words, after UNKNOWN, and the text as their ids."""
    vocabulary = [UNKNOWN, *(word for word, _ in Counter(words).most_common(vocab_size - 1))]
    index = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, np.array([index.get(word, 0) for word in words])


def train(model: SkipGram | Bigram, pairs: tuple[Array, Array], epochs: int, arguments: Any) -> list[float]:
    """Adam on ``-log p(predicted | given)``, whose sum over all pairs is T L(theta); the losses."""
    model.to(arguments.device)
    batches = nn.Batches([to_device(ids, arguments.device) for ids in pairs], 512, seed=arguments.seed)
    schedule = nn.linear_schedule(1e-2, epochs * len(batches))
    optimizer = nn.Adam(model.parameters())

    def loss(model: SkipGram | Bigram, batch: Any) -> Any:
        return model.pair_loss(*batch)

    return nn.fit(model, batches, loss, optimizer, epochs=epochs, schedule=schedule, clip_norm=1.0).losses


def mean_loss(model: SkipGram | Bigram, pairs: tuple[Array, Array]) -> float:
    """The mean of ``-log p`` over pairs, in nats."""
    total = 0.0
    with mg.no_grad():
        for start in range(0, len(pairs[0]), 2048):
            given, predicted = (ids[start : start + 2048] for ids in pairs)
            total += model.pair_loss(given, predicted, "sum").item()
    return total / len(pairs[0])


def smoothed(counts: Array) -> Array:
    """Rows of probabilities from rows of counts; nothing is impossible."""
    counts = counts + 0.1
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def counted(pairs: tuple[Array, Array], vocab_size: int) -> Array:
    """How often each word stands beside each, (vocab_size, vocab_size)."""
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, pairs, 1)
    return counts


def interpolated(counts: Array, unigram: Array) -> Array:
    """``(count(c, o) + k p(o)) / (count(c) + k)``: counts where there are many, else the unigram's (Dirichlet smoothing)."""
    k = 50.0
    return np.asarray((counts + k * unigram) / (counts.sum(axis=1, keepdims=True) + k))


def neighbours(vectors: Array, i: int, count: int = 5) -> Array:
    """The words whose vectors have the largest cosine with that of word i."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines = units @ units[i]
    cosines[[0, i]] = -np.inf  # neither UNKNOWN nor the word itself
    return np.argsort(-cosines)[:count]


def show_neighbours(words: list[str], vocabulary: list[str], *tables: Array) -> None:
    """Print the nearest words by each table of vectors, a line for each word."""
    for word in words:
        if word not in vocabulary[1:]:
            print(f"{word:20}is not among the {len(vocabulary) - 1:,} most frequent words")
            continue
        found = [" ".join(vocabulary[j] for j in neighbours(v, vocabulary.index(word))) for v in tables]
        print(f"{word:20}{''.join(f'{row:56}' for row in found)}".rstrip())


def draw(losses: list[float], vectors: Array, vocabulary: list[str], path: Path) -> None:
    """The loss, and the two main directions of the vectors of frequent words (those of two letters and less left out)."""
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(14, 6), layout="constrained")
    left.plot(losses, color="#9ecae1", linewidth=0.5)
    width = min(50, len(losses))
    left.plot(np.convolve(losses, np.full(width, 1 / width), mode="valid"), color="#08519c")
    left.set(xlabel="training step", ylabel="−log p(neighbour | word), nats")
    chosen = [i for i, word in enumerate(vocabulary[:180]) if i and len(word) > 2][:80]
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    points = units[chosen] - units[chosen].mean(axis=0)
    x, y = (points @ np.linalg.svd(points, full_matrices=False)[2][:2].T).T
    right.scatter(x, y, s=6, color="#d94801")
    for i, a, b in zip(chosen, x, y):
        right.annotate(vocabulary[i], (a, b), fontsize=8)
    right.set_title("word vectors, their two main directions")
    save_figure(figure, path)


def main() -> None:
    parser = argument_parser(__doc__, quick="one epoch on 5,000 words")
    parser.add_argument("--text", type=Path, help="a text file of your own")
    parser.add_argument("--words", nargs="+", default=["list", "error", "true", "three"], help="show their neighbours")
    parser.add_argument("--vocab-size", type=at_least(3), default=1000, help="words kept; others become <unknown>")
    parser.add_argument("--epochs", type=at_least(1), default=3, help="(default: 3)")
    parser.add_argument("--checkpoint", type=Path, help="only show neighbours, with the model of this file")
    arguments = parser.parse_args()
    if arguments.checkpoint:
        known_words = SkipGram.load(arguments.checkpoint)
        show_neighbours(arguments.words, known_words.config.notes["words"], known_words.vectors.weight.numpy())
        return
    out = make_folder(arguments.out)
    words = load_words(arguments.text)[: 5000 if arguments.quick else None]
    if len(words) < 100:
        raise ValueError(f"the text has {len(words)} words: 100 is the least to learn anything from")
    epochs = 1 if arguments.quick else arguments.epochs
    vocabulary, ids = encode(words, arguments.vocab_size)
    known, held_out = np.split(ids, [len(ids) * 9 // 10])
    config = SkipGramConfig(len(vocabulary), d_model=32, window=2, notes={"words": vocabulary})
    print(f"{len(words):,} words, {len(vocabulary):,} of them different and kept, the last {len(held_out):,} held out")
    unigram = smoothed(np.bincount(known, minlength=len(vocabulary)))

    skip_gram = SkipGram(config, rng=np.random.default_rng(arguments.seed))
    pairs, new_pairs = (skip_gram_pairs(part, config.window) for part in (known, held_out))
    losses = train(skip_gram, pairs, epochs, arguments)
    print(f"\nskip-gram, L(theta) = -1/T sum of log p: {mean_loss(skip_gram, pairs) * len(pairs[0]) / len(known):.4f}")
    cooccurrence = counted(pairs, len(vocabulary))
    rows = [
        ("skip-gram", mean_loss(skip_gram, new_pairs)),
        ("co-occurrence counts, smoothed", float(-np.log(interpolated(cooccurrence, unigram)[new_pairs]).mean())),
        ("frequency of the neighbour alone", float(-np.log(unigram[new_pairs[1]]).mean())),
    ]
    print(table("nats a neighbour, held out", rows))
    vectors = skip_gram.vectors.weight.numpy()
    print(f"\n{'nearest by cosine':20}{'skip-gram vectors':56}co-occurrence counts")
    show_neighbours(arguments.words, vocabulary, vectors, cooccurrence)

    bigram = Bigram(config, rng=np.random.default_rng(arguments.seed))
    pairs, new_pairs = (known[:-1], known[1:]), (held_out[:-1], held_out[1:])
    print("\nnext words")
    train(bigram, pairs, epochs, arguments)
    counts = interpolated(counted(pairs, len(vocabulary)), unigram)
    rows = [
        ("bigram model", math.exp(mean_loss(bigram, new_pairs))),
        ("bigram counts, smoothed with the unigram", float(np.exp(-np.log(counts[new_pairs]).mean()))),
        ("unigram", float(np.exp(-np.log(unigram[new_pairs[1]]).mean()))),
    ]
    print(table("perplexity of held-out words", rows, digits=1))
    skip_gram.save(out / "skip_gram.safetensors")
    draw(losses, vectors, vocabulary, out / "skip_gram.png")


if __name__ == "__main__":
    run(main)
