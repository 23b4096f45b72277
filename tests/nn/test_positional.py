"""Sinusoidal positions against known numbers."""

import math

import numpy as np
import pytest

from minigrad import DTypeError, ShapeError, Tensor
from nn import PositionalEncoding, sinusoids
from tests.nn.layers import gradient, rng


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
