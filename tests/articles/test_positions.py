"""Position codes as the articles compute them, and what a Transformer is without them."""

import math

import numpy as np
import pytest

import nn
import position_codes as example
from tests.nn.layers import assert_close, randomized, rng

CODES = nn.sinusoids(100, 32)
PRODUCTS = [16, 15.313649189905268, 13.730137217271947, 12.27239825562166, 11.661501779908571, 11.777382878638058]


def test_the_first_code() -> None:
    expected = [0.8414709848078965, 0.5403023058681398, 0.5331684399140229, 0.8460091102817079]
    np.testing.assert_allclose(CODES[1, :4], expected, rtol=1e-15)
    np.testing.assert_array_equal(CODES[0], [0, 1] * 16)


def test_inner_products_depend_on_the_distance_alone_and_are_not_monotone() -> None:
    np.testing.assert_allclose(example.products_by_distance(32, 6), PRODUCTS, rtol=1e-14)
    for k, product in enumerate(PRODUCTS):
        np.testing.assert_allclose((CODES[: 100 - k] * CODES[k:]).sum(axis=1), product, rtol=1e-12)
    assert PRODUCTS[5] > PRODUCTS[4]


def test_the_map_of_inner_products_is_constant_along_its_diagonals() -> None:
    products = example.inner_product_map()
    assert products.shape == (32, 32)
    for k, product in enumerate(PRODUCTS):
        for side in (k, -k):
            np.testing.assert_allclose(np.diag(products, side), product, rtol=1e-12)


def test_sine_and_cosine_take_turns_in_a_code() -> None:
    code, sines, cosines = example.interleaved(1, 32)
    angles = [10000 ** (-2 * i / 32) for i in range(16)]
    np.testing.assert_allclose(sines, np.sin(angles), rtol=1e-12)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=1e-12)
    assert code.tolist() == [value for pair in zip(sines, cosines) for value in pair]
    assert (np.diff(code) * np.tile([1, -1], 16)[:-1] < 0).sum() == 1  # up and down, but where sin(1) > cos(1)


@pytest.mark.parametrize("d_model", [32, 512])
def test_the_length_of_a_code(d_model) -> None:
    lengths = np.linalg.norm(nn.sinusoids(100, d_model), axis=1)
    np.testing.assert_allclose(lengths, math.sqrt(d_model / 2), rtol=1e-12)  # not sqrt(d_model), as one article says


def test_an_encoder_layer_is_permutation_equivariant_without_positions_only() -> None:
    assert example.equivariance_error(False, 0) < 1e-12
    assert example.equivariance_error(True, 0) > 0.1


def test_so_is_attention() -> None:
    attention = randomized(nn.MultiHeadAttention(8, 2, rng=rng(), dtype=np.float64))
    x, order = rng(1).standard_normal((2, 5, 8)), rng(2).permutation(5)
    assert_close(attention(x[:, order]).numpy(), attention(x).numpy()[:, order])
    with_codes = nn.PositionalEncoding(8)
    moved, unmoved = attention(with_codes(x[:, order])).numpy(), attention(with_codes(x)).numpy()[:, order]
    assert np.abs(moved - unmoved).max() > 0.1
    causal = attention(x[:, order], causal=True).numpy() - attention(x, causal=True).numpy()[:, order]
    assert np.abs(causal).max() > 0.1  # a causal mask tells positions apart by itself
