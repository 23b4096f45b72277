"""Local attention, whose window is written out key by key."""

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError, Tensor
from nn import DotProductAttention, LocalAttention, PredictiveLocalAttention, window_mask
from nn.scores import AdditiveScore
from tests.nn.layers import assert_close, check_module, gradient, randomized, rng

BATCH, LENGTH, WIDTH = 2, 6, 3
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))
KEY_MASK = np.arange(LENGTH) < np.array([[6], [4]])


def predictive(radius: int = 2) -> PredictiveLocalAttention:
    layer: PredictiveLocalAttention = randomized(
        PredictiveLocalAttention(WIDTH, radius, 5, rng=rng(), dtype=np.float64)
    )
    return layer


def softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max())
    return e / e.sum()


@pytest.mark.parametrize("radius", [1, 2, 10])
def test_each_query_sees_the_window_around_its_own_place(radius) -> None:
    weights = LocalAttention(radius).attention_weights(X).numpy()
    for i in range(LENGTH):
        window = slice(max(i - radius, 0), i + radius + 1)
        for row, x in zip(weights, X, strict=True):
            expected = np.zeros(LENGTH)
            expected[window] = softmax(x[window] @ x[i])
            assert_close(row[i], expected)
    assert_close(LocalAttention(radius)(X).numpy(), weights @ X)
    assert_close(weights, DotProductAttention().attention_weights(X, mask=window_mask(LENGTH, radius)).numpy())


def test_masks_and_another_number_of_keys() -> None:
    ours, keys = LocalAttention(1, "cosine"), X[:, :4]
    weights = ours.attention_weights(X, keys, key_mask=KEY_MASK[:, :4], mask=np.arange(4)[None] != 1).numpy()
    near = np.abs(np.arange(LENGTH)[:, None] - np.arange(4)) <= 1
    np.testing.assert_array_equal(weights[0] > 0, near & (np.arange(4) != 1))
    assert not ours(X, keys).numpy()[:, 5].any()  # place 5 is more than one past the last key
    assert not np.triu(ours.attention_weights(X, causal=True).numpy(), 1).any()


def test_predicted_windows_key_by_key() -> None:
    """p = S sigmoid(v . tanh(q W)), the softmax in |s - p| <= D, times the Gaussian of sigma = D / 2."""
    ours = predictive()
    ours.output.weight.data *= 4  # places all over the sentence
    weights = ours.attention_weights(X, key_mask=KEY_MASK).numpy()
    w, v = ours.place.weight.data, ours.output.weight.data[:, 0]
    for x, length, rows in zip(X, KEY_MASK.sum(1), weights, strict=True):
        for query, row in zip(x, rows, strict=True):
            place = length / (1 + np.exp(-np.tanh(query @ w) @ v))
            seen = [s for s in range(length) if abs(s - place) <= 2]
            expected = np.zeros(LENGTH)
            gaussian = np.exp([-((s - place) ** 2) / (2 * 1.0**2) for s in seen])
            expected[seen] = softmax(x[seen] @ query) * gaussian
            assert_close(row, expected)
    assert_close(ours(X, key_mask=KEY_MASK).numpy(), weights @ X)
    assert_close(ours(X[:, 1], X, key_mask=KEY_MASK).numpy(), ours(X, key_mask=KEY_MASK).numpy()[:, 1])


def test_gradients() -> None:
    check_module(LocalAttention(1), X, key_mask=KEY_MASK)
    score = AdditiveScore(WIDTH, WIDTH, rng=rng(), dtype=np.float64)
    check_module(randomized(LocalAttention(2, score)), X, causal=True)
    check_module(predictive(), X, key_mask=KEY_MASK)
    check_module(predictive(), X[:, 0], X)


@pytest.mark.parametrize("ours", [LocalAttention(2), predictive()])
def test_a_sentence_of_padding_gives_zeros_and_finite_gradients(ours) -> None:
    key_mask, x = KEY_MASK.copy(), Tensor(X, requires_grad=True)
    key_mask[1] = False
    y = ours(x, key_mask=key_mask)
    y.sum().backward()
    assert not y.numpy()[1].any() and y.numpy()[0].any()
    assert np.isfinite(gradient(x)).all() and not gradient(x)[1].any()


def test_computes_in_float32() -> None:
    single = PredictiveLocalAttention(WIDTH, 2, rng=rng())
    assert single(X, key_mask=KEY_MASK).dtype == single(X).dtype == np.float32


def test_what_does_not_fit_raises() -> None:
    with pytest.raises(ShapeError, match=r"LocalAttention needs query \(batch, query, width\).* got query \(2, 3\)"):
        LocalAttention(1)(X[:, 0], X)
    with pytest.raises(ShapeError, match=r"as many queries as keys if causal: got query \(2, 4, 3\), key \(2, 6, 3\)"):
        LocalAttention(1)(X[:, :4], X, causal=True)
    for make in (LocalAttention, lambda radius: PredictiveLocalAttention(WIDTH, radius, rng=rng())):
        with pytest.raises(ArgumentError, match="radius must be a positive integer, got 0"):
            make(0)
