"""The small worked cases of the articles: computed by hand or by plain NumPy, and what is known to be printed."""

import math

import numpy as np
import pytest

import article_cases as cases
import nn
from minigrad import Tensor
from nn import functional
from tests.nn.layers import assert_close, rng


def test_the_scores_and_the_mask_that_the_flax_article_prints() -> None:
    """Element by element, as the article prints them; its transposed keys are those of ours."""
    scores = cases.QUERIES @ np.swapaxes(cases.KEYS, 1, 2)
    for text in range(2):
        for i, j in np.ndindex(3, 3):
            product = sum(q * k for q, k in zip(cases.QUERIES[text, i].tolist(), cases.KEYS[text, j].tolist()))
            assert scores[text, i, j] == product == cases.PRINTED_SCORES[text][i][j]
    assert np.swapaxes(cases.KEYS, 1, 2).tolist() == [
        [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]],
    ]
    assert cases.tiled_mask(cases.MASK).astype(int).tolist() == cases.PRINTED_TILED_MASK


def test_masked_weights_of_the_flax_article() -> None:
    """The scores of the second text are 0 and 1, over sqrt(4): the weights are 1 and e^(1/2), over their sum."""
    text_1, text_2 = cases.masked_weights().tolist()
    assert text_1 == [[1, 0, 0]] * 3
    low, high = 1 / (1 + math.exp(0.5)), math.exp(0.5) / (1 + math.exp(0.5))
    np.testing.assert_allclose(text_2, [[low, high, 0], [high, low, 0], [0.5, 0.5, 0]], rtol=1e-15)


def test_the_tiled_mask_is_the_key_mask() -> None:
    tiled = cases.tiled_mask(cases.MASK)
    assert tiled.astype(int).tolist() == [[[1, 0, 0]] * 3, [[1, 1, 0]] * 3]
    attention = nn.DotProductAttention(scale=True)
    by_keys = attention.attention_weights(cases.QUERIES, cases.KEYS, key_mask=cases.MASK)
    assert_close(by_keys.numpy(), cases.masked_weights())
    result = functional.scaled_dot_product_attention(cases.QUERIES, cases.KEYS, cases.KEYS, key_mask=cases.MASK)
    assert_close(result, cases.masked_weights() @ cases.KEYS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scaling_before_or_after_masking_gives_the_same_weights(dtype) -> None:
    scores = (cases.QUERIES @ np.swapaxes(cases.KEYS, 1, 2)).astype(dtype)
    mask = cases.tiled_mask(cases.MASK)
    before = functional.softmax(np.where(mask, scores / 2, -np.inf))
    after = functional.softmax(np.where(mask, scores, -np.inf) / 2)
    np.testing.assert_array_equal(before, after)
    np.testing.assert_allclose(before, cases.masked_weights(), rtol=1e-6)


def test_causal_softmax_rows() -> None:
    weights = cases.causal_weights()
    for i, row in enumerate(weights):
        powers = [math.exp(score) for score in cases.CAUSAL_SCORES[i, : i + 1]]
        np.testing.assert_allclose(row, [power / sum(powers) for power in powers] + [0] * (3 - i), rtol=1e-14)
    assert tuple(f"{weight:.2f}" for weight in weights[1, :2]) == cases.PRINTED_CAUSAL_ROW
    assert nn.causal_mask(4).tolist() == [[i >= j for j in range(4)] for i in range(4)]


def test_the_score_that_one_article_prints_as_minus_0_7_is_0_7() -> None:
    printed = cases.CAUSAL_SCORES.copy()
    printed[1, 1] = -0.7
    first, _ = cases.PRINTED_CAUSAL_ROW
    assert cases.causal_weights(printed)[1, 0] == pytest.approx(0.8909, abs=1e-4)
    assert f"{cases.causal_weights(printed)[1, 0]:.2f}" != first == f"{cases.causal_weights()[1, 0]:.2f}"


def test_the_inner_products_of_columns_are_a_matrix() -> None:
    product = cases.inner_products()
    assert product.tolist() == [[50, 110], [110, 250]]
    for i, a in enumerate(cases.COLUMNS_A.T.tolist()):
        for j, b in enumerate(cases.COLUMNS_B.T.tolist()):
            assert product[i, j] == sum(x * y for x, y in zip(a, b))


def test_without_the_root_the_weights_are_flatter() -> None:
    by_root, by_width = cases.scores_by_divisor()
    assert_close(by_root, cases.masked_weights()[1])
    assert by_width[0, 1] == pytest.approx(1 / (1 + math.exp(-1 / 4)), rel=1e-15)
    assert by_root[0, 1] > by_width[0, 1] > by_width[0, 0] > by_root[0, 0]


def test_one_hot_times_matrix_in_both_conventions() -> None:
    matrix = rng().standard_normal((3, 4))
    row, column = cases.one_hot_products(matrix, 2)
    np.testing.assert_array_equal(row, matrix[2])
    np.testing.assert_array_equal(column, matrix[:, 2])
    table = nn.Embedding(
        3, 4, rng=rng(), dtype=np.float64
    )  # rows are vectors: ours; the articles' E has them as columns
    one_hot = np.eye(3)[[2, 0]]
    np.testing.assert_array_equal(table.from_one_hot(one_hot).numpy(), table(np.array([2, 0])).numpy())
    np.testing.assert_array_equal(table.weight.data.T @ one_hot[0], table(np.array(2)).numpy())


def test_dice() -> None:
    assert cases.dice() == (3.5, 2.9166666666666665)


def test_layer_norm_with_epsilon_outside_and_inside_the_root() -> None:
    outside, inside = cases.layer_norms()
    np.testing.assert_allclose(outside, [0.58579, -0.58579, 0, 0], atol=5e-6)
    np.testing.assert_allclose(inside, [0.001, -0.001, 0, 0], atol=1e-8)


def test_layer_norm_of_the_dice() -> None:
    faces = np.arange(1.0, 7.0)
    normed = nn.LayerNorm(6, eps=0.0, dtype=np.float64)(faces).numpy()
    assert_close(normed, (faces - 3.5) / 2.9166666666666665**0.5)


def test_uniform_words() -> None:
    log_p, loss = cases.uniform_words()
    assert log_p == pytest.approx(-6.437751649736401, rel=1e-15)
    assert loss == pytest.approx(2.5751006598945605, rel=1e-15)


def test_scores_of_a_head_without_bias_are_one_product() -> None:
    """``q k^T = x W_Q W_K^T x^T``."""
    head = nn.AttentionHead(8, 4, bias=False, rng=rng(), dtype=np.float64)
    x = rng(1).standard_normal((2, 5, 8))
    q, k = head.query(x).numpy(), head.key(x).numpy()
    product = x @ (head.query.weight.data @ head.key.weight.data.T) @ np.swapaxes(x, 1, 2)
    assert_close(q @ np.swapaxes(k, 1, 2), product)
    assert_close(head.attention_weights(x).numpy(), functional.softmax(product / 2))


def test_the_parameters_of_the_base_encoder_layer() -> None:
    assert cases.base_encoder_layer() == (cases.base_encoder_by_hand(), 512 * 2048 + 2048 + 2048 * 512 + 512)
    assert cases.base_encoder_by_hand() == 3_152_384


def test_a_scaled_embedding_plus_its_position() -> None:
    """``sqrt(D) * e + p``."""
    e = rng().standard_normal((1, 3, 4))
    positions = nn.PositionalEncoding(4, scale=2.0)
    assert_close(positions(Tensor(e)).numpy(), 2 * e + nn.sinusoids(3, 4))


def test_on_a_device(put) -> None:
    weights = nn.DotProductAttention(scale=True).attention_weights(
        put(cases.QUERIES), put(cases.KEYS), mask=put(cases.tiled_mask(cases.MASK))
    )
    assert_close(weights.numpy(), cases.masked_weights())
