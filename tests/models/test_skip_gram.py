"""SkipGram and Bigram: the losses summed pair by pair, PyTorch's gradients, and bad input."""

import math

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from models import Bigram, SkipGram, SkipGramConfig
from models.skip_gram import skip_gram_pairs
from tests.lazy import torch
from tests.nn.layers import assert_close, gradient, randomized, rng, to_torch

CONFIG = SkipGramConfig(vocab_size=6, d_model=3, window=2)
IDS = np.array([5, 0, 3, 3, 1, 2, 0])


def log_probabilities(model) -> np.ndarray:
    """log p(o | c), (c, o)."""
    scores = model.vectors.weight.data @ model.output.weight.data
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def model(kind, **changes):
    config = SkipGramConfig.from_dict(CONFIG.to_dict() | changes)
    return randomized(kind(config, rng=rng(), dtype=np.float64))


def test_pairs() -> None:
    given, predicted = skip_gram_pairs([7, 8, 9], 1)
    assert list(zip(given, predicted)) == [(7, 8), (8, 7), (8, 9), (9, 8)]
    assert [ids.tolist() for ids in skip_gram_pairs([7, 8, 9], 5)] == [[7, 7, 8, 8, 9, 9], [8, 9, 7, 9, 7, 8]]


@pytest.mark.parametrize("window", [1, 2, 10])
def test_skip_gram_loss_pair_by_pair(window) -> None:
    ours = model(SkipGram, window=window)
    log_p, total = log_probabilities(ours), 0.0
    for t in range(len(IDS)):
        for j in range(-window, window + 1):
            if j and 0 <= t + j < len(IDS):
                total += log_p[IDS[t], IDS[t + j]]
    assert_close(ours.loss(IDS).item(), -total / len(IDS))


def test_bigram_word_by_word() -> None:
    ours = model(Bigram)
    log_p = log_probabilities(ours)
    total = sum(log_p[IDS[t - 1], IDS[t]] for t in range(1, len(IDS)))
    assert_close(ours.log_probability(IDS).item(), total)
    assert_close(ours.loss(IDS).item(), -total / (len(IDS) - 1))


def test_untrained_models_take_all_words_for_equally_likely() -> None:
    config = SkipGramConfig(vocab_size=5, window=1)
    assert SkipGram(config, rng=rng()).loss(np.arange(5)).item() == pytest.approx(8 * math.log(5) / 5, rel=1e-6)
    assert Bigram(config, rng=rng()).log_probability(np.arange(5)).item() == pytest.approx(-4 * math.log(5), rel=1e-6)


@pytest.mark.parametrize("kind", [SkipGram, Bigram])
def test_gradients_equal_pytorch(kind) -> None:
    ours = model(kind)
    vectors, output = (to_torch(p.data, True) for p in ours.parameters())
    given, predicted = skip_gram_pairs(IDS, 2) if kind is SkipGram else (IDS[:-1], IDS[1:])
    logits = vectors[to_torch(given)] @ output
    theirs = torch.nn.functional.cross_entropy(logits, to_torch(predicted), reduction="sum")
    theirs = theirs / (len(IDS) if kind is SkipGram else len(IDS) - 1)
    loss = ours.loss(IDS)
    loss.backward()
    theirs.backward()
    assert_close(loss.item(), theirs.item())
    assert_close(gradient(ours.vectors.weight), vectors.grad.numpy())
    assert_close(gradient(ours.output.weight), output.grad.numpy())


def test_training_finds_which_words_stand_together() -> None:
    """In "a b a b ... c d c d ..." a and b are neighbours, and c and d."""
    ids = np.array([0, 1] * 20 + [2, 3] * 20)
    ours = SkipGram(SkipGramConfig(4, 4, 1), rng=rng())
    optimizer = nn.Adam(ours.parameters(), 0.1)
    for _ in range(100):
        optimizer.zero_grad()
        ours.loss(ids).backward()
        optimizer.step()
    assert ours(np.arange(4)).data.argmax(axis=1).tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("kind", [SkipGram, Bigram])
@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        (np.zeros((2, 3), int), ShapeError, r"ids must be one text, of shape \(length,\), got \(2, 3\)"),
        (np.zeros(3), DTypeError, "ids must be integers, got dtype float64"),
        (np.zeros(1, int), ArgumentError, r"at least 2 words, got 1: .* no pairs"),
        ([], ArgumentError, r"at least 2 words, got 0: .* no pairs"),
        ([0, 6], OutOfRangeError, "6"),
        ([0, -1], OutOfRangeError, "-1"),
    ],
)
def test_bad_texts(kind, ids, error, words) -> None:
    with pytest.raises(error, match=words):
        model(kind).loss(ids)


@pytest.mark.parametrize("window", [0, -1, 1.5])
def test_bad_windows(window) -> None:
    with pytest.raises(ArgumentError, match="window must be a positive integer"):
        skip_gram_pairs(IDS, window)
