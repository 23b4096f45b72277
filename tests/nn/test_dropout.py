"""Dropout: the right share is dropped, the mean stays, and the same (key, step) drops the same elements."""

import math

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, Tensor
from nn import Dropout
from tests.nn.layers import gradient, rng

ONES = np.ones((500, 400))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_share_and_scale(p) -> None:
    y = Dropout(p, rng=rng())(ONES).numpy()
    kept = y != 0
    spread = math.sqrt(p * (1 - p) / y.size)
    assert abs(kept.mean() - (1 - p)) < 5 * spread
    np.testing.assert_allclose(y[kept], 1 / (1 - p), rtol=1e-4)  # p is rounded to a 65536th


def test_elements_are_dropped_independently() -> None:
    kept = Dropout(0.5, rng=rng())(ONES).numpy().ravel() != 0
    for distance in (1, 2, 3, 4, 8, 400):
        assert abs(np.corrcoef(kept[distance:], kept[:-distance])[0, 1]) < 5 / math.sqrt(kept.size)


def test_no_two_masks_are_alike_across_steps_and_layers() -> None:
    generator = rng()
    layers = [Dropout(0.5, rng=generator) for _ in range(2)]
    masks = [(layer(ONES).numpy() != 0).ravel() for layer in layers for _ in range(2)]
    for i, mask in enumerate(masks):
        for other in masks[:i]:
            assert abs(np.corrcoef(mask, other)[0, 1]) < 5 / math.sqrt(mask.size)


def test_the_seed_decides_every_mask() -> None:
    first, second, other = (Dropout(0.5, rng=rng(seed)) for seed in (0, 0, 1))
    for _ in range(3):
        y = first(ONES).numpy()
        np.testing.assert_array_equal(y, second(ONES).numpy())
        assert not np.array_equal(y, other(ONES).numpy())


def test_a_restored_step_repeats_its_mask() -> None:
    """What a resumed run, or a forward pass that is done again, relies on."""
    layer = Dropout(0.5, rng=rng())
    expected = [layer(ONES).numpy() for _ in range(3)]
    assert layer.step == 3
    resumed = Dropout(0.5, rng=rng(99))
    resumed.key, resumed.step = layer.key, 1
    for y in expected[1:]:
        np.testing.assert_array_equal(resumed(ONES).numpy(), y)


def test_the_mask_does_not_depend_on_the_dtype() -> None:
    masks = [Dropout(0.5, rng=rng())(ONES.astype(dtype)) for dtype in (np.float32, np.float64)]
    assert [y.dtype for y in masks] == [np.float32, np.float64]
    single, double = masks
    np.testing.assert_array_equal(single.numpy(), double.numpy())


def test_the_gradient_goes_through_what_is_kept() -> None:
    layer, x = Dropout(0.25, rng=rng()), Tensor(rng(1).standard_normal((20, 30)), requires_grad=True)
    y = layer(x)
    y.sum().backward()
    np.testing.assert_allclose(gradient(x), np.where(y.numpy() != 0, 4 / 3, 0), rtol=1e-12)


@pytest.mark.parametrize("layer", [Dropout(0.5, rng=rng()).eval(), Dropout(0.0, rng=rng())], ids=["eval", "p=0"])
def test_identity(layer) -> None:
    x = Tensor(ONES)
    assert layer(x) is x and layer.step == 0
    np.testing.assert_array_equal(layer(ONES).numpy(), ONES)


def test_extreme_probabilities() -> None:
    """p is rounded to a 65536th, but never to 1: about 15 of a million stay, 65536 times as large."""
    almost_all = Dropout(1 - 1e-9, rng=rng())(np.ones(10**6)).numpy()
    assert set(almost_all) == {0.0, 65536.0} and 1 < (almost_all != 0).sum() < 40
    np.testing.assert_array_equal(Dropout(1e-9, rng=rng())(ONES).numpy(), ONES)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5,)])
def test_any_shape(shape) -> None:
    assert Dropout(0.5, rng=rng())(np.ones(shape)).shape == shape


@pytest.mark.parametrize("p", [1.0, -0.1, 2, float("nan")])
def test_a_probability_outside_of_its_range_raises(p) -> None:
    with pytest.raises(ArgumentError, match=rf"must be in \[0, 1\), got {p}"):
        Dropout(p, rng=rng())


def test_integers_raise() -> None:
    with pytest.raises(DTypeError, match="Dropout needs a floating input, got dtype int64"):
        Dropout(0.5, rng=rng())(np.ones(3, int))
