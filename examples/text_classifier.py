"""A Transformer that tells which class a short text belongs to, and its training; `train_classifier.py` is the program.

The tokens are runs of up to three characters, one starting at each character (`text_data.Vocabulary`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import minigrad
import nn
from minigrad import Tensor
from minigrad.device import to_host
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from models import ClassifierConfig, TransformerClassifier
from text_data import Batch, TextDataset, Vocabulary, batches, pad

MODEL = "TransformerClassifier on n-grams"  # what a checkpoint of this example says it holds
MAX_TOKENS = 64  # of a text: a space and 63 characters; the rest is cut


class NgramEmbedding(nn.Embedding):
    """The vector of a token is the sum of those of its prefixes: "cat" is E["c"] + E["ca"] + E["cat"].

    So a rare n-gram has what is common to all that begin like it, and learns only how it differs. (fastText sums the n-grams
    of a word in the same way: Bojanowski et al. 2017, arXiv:1607.04606, section 3.2.)
    """

    def __init__(self, vocabulary: Vocabulary, embedding_dim: int, *, rng: np.random.Generator) -> None:
        super().__init__(len(vocabulary), embedding_dim, rng=rng, std=0.1)
        self.prefixes = vocabulary.prefixes

    def forward(self, ids: ArrayLike) -> Tensor:
        """(batch, length) -> (batch, length, embedding_dim)"""
        return super().forward(self.prefixes[to_host(ids)]).sum(axis=-2)


@dataclass
class Classifier:
    """A model with what is needed to use it on text."""

    model: TransformerClassifier
    vocabulary: Vocabulary
    classes: list[str]

    @classmethod
    def create(
        cls, config: ClassifierConfig, vocabulary: Vocabulary, classes: list[str], rng: np.random.Generator
    ) -> Classifier:
        """With new weights."""
        model = TransformerClassifier(config, rng=rng)
        model.embedding = NgramEmbedding(vocabulary, config.d_model, rng=rng)
        return cls(model, vocabulary, classes)

    def encode(self, texts: list[str]) -> list[NDArray[np.int64]]:
        """Token ids, at most MAX_TOKENS of them for each text."""
        return [self.vocabulary.encode(text)[:MAX_TOKENS] for text in texts]

    def probabilities(self, texts: list[str]) -> NDArray[np.float32]:
        """(texts, classes)"""
        ids, mask = pad(self.encode(texts))
        self.model.eval()
        with minigrad.no_grad():
            result: NDArray[np.float32] = minigrad.softmax(self.model(ids, mask)).numpy()
        return result

    def save(self, path: Path) -> None:
        about = {
            "model": MODEL,
            "config": self.model.config.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "classes": self.classes,
        }
        save_checkpoint(path, self.model.state_dict(), about)

    @classmethod
    def load(cls, path: Path) -> Classifier:
        """
        Raises:
            CheckpointError: the file is no checkpoint of this example.
        """
        form = {"model": MODEL, "config": dict, "vocabulary": {"ngrams": [str]}, "classes": [str]}
        arrays, about = load_checkpoint(path, form)
        try:
            config = ClassifierConfig.from_dict(about["config"])
            if config.num_classes != len(about["classes"]):
                raise ValueError(f"{config.num_classes} classes and {len(about['classes'])} names of them")
            vocabulary = Vocabulary.from_dict(about["vocabulary"])
            classifier = cls.create(config, vocabulary, about["classes"], np.random.default_rng(0))
            classifier.model.load_state_dict(arrays)
        except (KeyError, TypeError, ValueError, MemoryError) as error:
            raise CheckpointError(
                f"'{path}' is damaged, or of another version of this example ({type(error).__name__}: {error}): train again"
            ) from error
        return classifier


def learning_rates(steps: int, peak: float) -> Callable[[int], float]:
    """Linear warm-up over the first 5 % of the steps, then half a cosine down to 0."""
    return nn.cosine_schedule(peak, steps, warmup=min(max(1, steps // 20), steps - 1))


def cross_entropy(model: TransformerClassifier, batch: Batch) -> Tensor:
    """The loss of a batch."""
    ids, mask, labels = batch
    return nn.cross_entropy(model(ids, mask), labels)


def train(
    classifier: Classifier,
    data: TextDataset,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    ranks: nn.parallel.Ranks | None = None,
) -> nn.History:
    """AdamW on shuffled batches, with the accuracy on the validation texts after every epoch."""
    shuffled = batches(classifier.encode(data.train_texts), data.train_labels, batch_size, seed=seed)
    return nn.fit(
        classifier.model,
        shuffled,
        cross_entropy,
        nn.AdamW(classifier.model.parameters(), lr=learning_rate, weight_decay=0.01),
        epochs=epochs,
        schedule=learning_rates(epochs * len(shuffled), learning_rate),
        clip_norm=1.0,
        validate=lambda _: {"accuracy": shared_accuracy(classifier, data, ranks)},
        parallel=ranks,
    )


def shared_accuracy(classifier: Classifier, data: TextDataset, ranks: nn.parallel.Ranks | None) -> float:
    """The accuracy on the validation texts, of which each process looks at its share."""
    if ranks is None:
        return accuracy(classifier, data.validation_texts, data.validation_labels)
    own = slice(ranks.rank, None, ranks.size)
    texts, labels = data.validation_texts[own], data.validation_labels[own]
    return ranks.mean(accuracy(classifier, texts, labels), len(labels))


def accuracy(classifier: Classifier, texts: list[str], labels: NDArray[np.int64]) -> float:
    """The share of texts whose most probable class is the right one."""
    correct = 0
    classifier.model.eval()
    with minigrad.no_grad():
        for ids, mask, targets in batches(classifier.encode(texts), labels, 256, seed=None).epoch(0):
            correct += int((classifier.model(ids, mask).numpy().argmax(axis=-1) == targets).sum())
    return correct / len(labels)
