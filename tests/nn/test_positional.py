"""Sinusoidal positions against known numbers; learned ones against PyTorch's table."""

import math

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from nn import LearnedPositions, PositionalEncoding, sinusoids
from tests.lazy import torch
from tests.nn.layers import assert_same, check_module, gradient, load, randomized, rng, to_torch


def test_known_numbers() -> None:
    table = sinusoids(2, 32)
    np.testing.assert_array_equal(table[0], np.tile([0.0, 1.0], 16))
    expected = [0.8414709848078965, 0.5403023058681398, 0.5331684399140229, 0.8460091102817079]
    np.testing.assert_allclose(table[1, :4], expected, rtol=1e-15)


def test_inner_products_depend_on_the_distance_alone_and_not_monotonically() -> None:
    table = sinusoids(9, 32)
    expected = [16, 15.313649189905268, 13.730137217271947, 12.27239825562166, 11.661501779908571, 11.777382878638058]
    for start in (0, 3):
        np.testing.assert_allclose(table[start] @ table[start : start + 6].T, expected, rtol=1e-13)


def test_an_odd_width_has_one_sine_more() -> None:
    frequency = 10000 ** (-2 / 3)
    expected = [math.sin(5), math.cos(5), math.sin(5 * frequency)]
    np.testing.assert_allclose(sinusoids(6, 3)[5], expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adds_the_codes_in_the_dtype_of_the_input(dtype) -> None:
    layer = PositionalEncoding(4)
    for length in (3, 9, 2):  # the table grows, and is cut
        x = rng().standard_normal((2, length, 4)).astype(dtype)
        result = layer(x)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.numpy(), x + sinusoids(length, 4).astype(dtype))


def test_one_layer_serves_both_precisions() -> None:
    layer, x = PositionalEncoding(4), np.ones((2, 3, 4))
    assert [layer(x.astype(dtype)).dtype for dtype in ("f4", "f8", "f4")] == ["f4", "f8", "f4"]
    np.testing.assert_array_equal(layer(x).numpy(), x + sinusoids(3, 4))


def test_passes_the_gradient_on_and_has_no_parameters() -> None:
    layer, x = PositionalEncoding(4), Tensor(np.ones((2, 3, 4)), requires_grad=True)
    cotangent = rng().standard_normal(x.shape)
    layer(x).backward(cotangent)
    np.testing.assert_array_equal(gradient(x), cotangent)
    assert layer.num_parameters == 0 and layer.state_dict() == {}


def test_bad_input() -> None:
    for shape in ((4,), (2, 3, 5)):
        with pytest.raises(ShapeError, match=r"PositionalEncoding\(4\) needs x of shape \(\.\.\., length, 4\), got"):
            PositionalEncoding(4)(np.ones(shape))
    with pytest.raises(DTypeError, match="PositionalEncoding needs a floating input, got dtype int64"):
        PositionalEncoding(4)(np.ones((2, 4), int))


def test_the_paper_scales_the_embeddings() -> None:
    """``sqrt(D) e + p``: Vaswani et al. 2017, section 3.4. The codes are sqrt(D / 2) long."""
    e = rng().standard_normal((2, 5, 16))
    y = PositionalEncoding(16, scale=math.sqrt(16))(e).numpy()
    np.testing.assert_allclose(y, 4 * e + sinusoids(5, 16), rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(sinusoids(100, 16), axis=1), math.sqrt(8), rtol=1e-14)
    assert PositionalEncoding(16, scale=np.float64(4))(e.astype("f4")).dtype == np.float32


def layers(**settings):
    return [PositionalEncoding(4, **settings), LearnedPositions(9, 4, rng=rng(), **settings)]


@pytest.mark.parametrize("layer", layers() + layers(scale=2.0), ids=repr)
def test_token_by_token_as_in_decoding(layer) -> None:
    x = rng().standard_normal((2, 7, 4)).astype(np.float32)
    whole = layer(x).numpy()
    pieces = [layer(x[:, a:b], start=a).numpy() for a, b in ((0, 3), (3, 4), (4, 4), (4, 7))]
    np.testing.assert_array_equal(np.concatenate(pieces, axis=1), whole)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_learned_positions_equal_pytorch(scale) -> None:
    ours = randomized(LearnedPositions(9, 4, scale=scale, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.Embedding(9, 4), ours)
    x = rng(2).standard_normal((2, 5, 4))
    tensor, torch_tensor = Tensor(x, requires_grad=True), to_torch(x, True)
    expected = scale * torch_tensor + theirs(torch.arange(3, 8))
    assert_same([ours(tensor, start=3), tensor], [expected, torch_tensor], (ours, theirs))


def test_learned_positions_gradients() -> None:
    check_module(LearnedPositions(4, 3, scale=2.0, rng=rng()), rng(2).standard_normal((2, 3, 3)))


def test_learned_positions_start_small_and_compute_in_their_dtype() -> None:
    layer = LearnedPositions(200, 100, rng=rng())
    assert layer.weight.data.std() == pytest.approx(0.02, rel=0.02)
    assert layer(np.ones((3, 100))).dtype == np.float32 and layer.num_parameters == 20_000


def test_bad_input_of_learned_positions() -> None:
    layer = LearnedPositions(9, 4, rng=rng())
    for shape in ((4,), (2, 3, 5)):
        with pytest.raises(ShapeError, match=r"LearnedPositions\(9, 4\) needs x of shape \(\.\.\., length, 4\), got"):
            layer(np.ones(shape))
    with pytest.raises(ShapeError, match=r"has 9 positions, and x of shape \(2, 10, 4\) ends at 10"):
        layer(np.ones((2, 10, 4)))
    with pytest.raises(ShapeError, match="ends at 10"):
        layer(np.ones((2, 2, 4)), start=8)
    for each in layers():
        with pytest.raises(ArgumentError, match="start must be an integer, 0 or more, got -1"):
            each(np.ones((2, 2, 4)), start=-1)
    with pytest.raises(ArgumentError, match="max_length must be a positive integer, got 0"):
        LearnedPositions(0, 4, rng=rng())


def test_sizes_and_lengths_name_the_way_out() -> None:
    with pytest.raises(ArgumentError, match="length must be an integer, 0 or more, got -5"):
        sinusoids(-5, 4)
    with pytest.raises(ArgumentError, match="d_model must be a positive integer, got 0"):
        sinusoids(5, 0)
    with pytest.raises(ShapeError, match="ends at 4: make it with max_length=4 or more"):
        LearnedPositions(3, 4, rng=np.random.default_rng(0))(np.zeros((1, 4, 4)))
