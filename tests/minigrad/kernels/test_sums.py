"""Sums as products with ones: the same sums, in every layout, and more exact than NumPy's over many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.fitting import sum_over
from minigrad.kernels.numpy import sums

SHAPES = [
    ((6, 9), (0,)),
    ((6, 9), (1,)),
    ((6, 9), (0, 1)),
    ((4, 5, 16), (0, 1)),
    ((4, 5, 16), (2,)),
    ((4, 5, 16), (1,)),
]
SHAPES += [
    ((4, 5, 16), (0, 2)),
    ((7, 3), (0,)),
    ((7, 3), (1,)),
    ((50,), (0,)),
    ((0, 9), (0,)),
    ((9, 0), (1,)),
    ((1, 8), (0,)),
    ((4, 5, 16), (1, 0)),
    ((4, 5, 16), (2, 1)),
    ((3, 4, 5, 9), (3, 1)),
    ((6, 9), ()),
]


@pytest.mark.parametrize("piece", [1 << 18, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex128])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_the_same_as_numpy_gives(
    shape: tuple[int, ...], axes: tuple[int, ...], dtype: Any, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"_PIECE": piece, "LEAST": 1, "_FEWEST": 1}.items():
        monkeypatch.setattr(sums, name, value)
    monkeypatch.setattr(sums, "_by_products", sums._by_products.__wrapped__)  # which remembers what it was asked before
    array = (8 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    for laid in (array, np.asfortranarray(array), np.repeat(array, 2, axis=-1)[..., ::2]):
        before, expected = laid.copy(), np.sum(laid.astype(np.result_type(dtype, np.float64)), axis=axes, keepdims=True)
        got = sum_over(laid, axes)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5 if got.dtype == np.float32 else 1e-12, atol=1e-4)
        np.testing.assert_array_equal(laid, before)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_own_sum(value: float) -> None:
    array = np.ones((400, 24), np.float32)
    array[3, 5] = value
    for axes, place in (((0,), (0, 5)), ((1,), (3, 0))):
        got = sum_over(array, axes)
        np.testing.assert_array_equal(got[place], value)
        assert np.isfinite(got).sum() == got.size - 1


def test_the_sum_of_few_numbers_is_numpys_own() -> None:
    rows = np.random.default_rng(0).random((300, 16)).astype(np.float32)
    np.testing.assert_array_equal(sum_over(rows, (0,)), rows.sum(axis=0, keepdims=True))


@pytest.mark.parametrize(("shape", "axis"), [((5, 4000), 0), ((4000, 5), 1), ((50, 7, 60), 1), ((2, 9000), 0)])
def test_few_terms_are_added_as_numpy_does(shape: tuple[int, ...], axis: int) -> None:
    a = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for laid in (a, np.asfortranarray(a), np.flip(a, axis)):
        np.testing.assert_array_equal(sum_over(laid, (axis,)), laid.sum(axis=axis, keepdims=True))


@pytest.mark.parametrize("width", [256, 257, 512, 600, 4000, 4096])
def test_the_sum_of_long_rows_is_as_exact_as_numpys(width: int) -> None:
    rows = np.random.default_rng(0).random((500, width)).astype(np.float32)
    exact = rows.sum(axis=1, dtype=np.float64, keepdims=True)
    errors = [np.abs(got / exact - 1).max() for got in (sum_over(rows, (1,)), rows.sum(axis=1, keepdims=True))]
    assert errors[0] <= max(errors[1], 4e-7)


def test_the_sum_of_many_rows_is_more_exact_than_numpys() -> None:
    rows = np.random.default_rng(0).random((1 << 16, 16)).astype(np.float32)
    exact = rows.sum(axis=0, dtype=np.float64)
    errors = [np.abs(got / exact - 1).max() for got in (sum_over(rows, (0,))[0], rows.sum(axis=0))]
    assert 4 * errors[0] < errors[1]


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((300_000, 3), (0,)), ((65_536, 16), (0,)), ((8192, 64), (0,)), ((4000, 2), (0,)), ((8, 4096, 16), (1,)),
        ((2, 100_000, 3), (1,)), ((64, 100, 64), (1,)), ((32, 8, 64, 64), (0, 2)), ((4, 10, 50, 10, 60), (1, 3)),
        ((100, 1000, 5), (0, 1)), ((1000, 600), (1,)),
    ],
)  # fmt: skip
def test_the_error_of_a_broadcast_gradient_is_a_few_roundings(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """NumPy adds the rows one after the other, and of 300,000 the last ones are rounded to what the total can hold."""
    rows = np.random.default_rng(0).random(shape).astype(np.float32)
    exact = rows.sum(axis=axes, dtype=np.float64, keepdims=True)
    x = mg.Tensor(np.zeros(exact.shape, np.float32), requires_grad=True)
    (x * rows).sum().backward()
    assert x.grad is not None
    assert np.abs(x.grad.numpy() / exact - 1).max() < 5e-7  # 4 roundings; NumPy's sums err by up to 9e-6 here


@pytest.mark.parametrize("shape", [(2, 1 << 20), (8, 300_000), (16, 1 << 15)])
def test_few_long_rows_are_left_to_numpy(shape: tuple[int, ...]) -> None:
    """A product would add no more than these at a time, and a row may be more than one product takes (``_PIECE``)."""
    assert sums._by_products(shape, (0,))[0] is None
    assert sums._by_products((64, 1 << 14), (0,))[0] is not None


def test_sums_of_the_other_byte_order() -> None:
    array = np.ones((600, 1000), np.dtype(np.float32).newbyteorder())
    for axes in ((0,), (1,)):
        np.testing.assert_array_equal(sum_over(array, axes), array.sum(axes, keepdims=True))
    x = mg.Tensor(array, requires_grad=True)
    np.testing.assert_array_equal(np.sum(x, axis=-1).numpy(), 1000)
    normed: Any = mg.layer_norm(x, np.ones(1000, array.dtype), np.zeros(1000, array.dtype))
    np.testing.assert_array_equal(normed.numpy(), 0)
