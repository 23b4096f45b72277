"""Sums of rows at an index, and masks: the kernels give the bits of np.add.at and of np.where."""

import numpy as np
import pytest

from minigrad.internal import scatter_add
from minigrad.kernels.numpy import indexing
from minigrad.rules.indexing import masked


def added(rows, index, updates):
    expected = np.zeros((rows, *updates.shape[1:]), updates.dtype)
    np.add.at(expected, index, updates)
    return expected


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
@pytest.mark.parametrize(
    ("rows", "count", "row", "taken"),
    [
        (500, 700, (64,), True),
        (500, 700, (8, 8), True),
        (70_000, 700, (64,), True),  # ids of more than 16 bits
        (3, 20, (1 << 11,), True),  # one by one
        (1, 700, (64,), False),  # a round for each update
        (50, 700, (8,), False),
        (50, 70, (64,), False),
    ],
)
def test_the_bits_are_those_of_add_at(rows, count, row, taken, dtype):
    random = np.random.default_rng(0)
    index, updates = random.integers(-rows, rows, count), (10 * random.standard_normal((count, *row))).astype(dtype)
    updates[0] *= -0.0 if updates.dtype.kind == "f" else 0
    out = np.zeros((rows, *row), dtype)
    assert (indexing.add_by_rounds(out, index, updates) is None) is taken
    assert scatter_add(updates, index=index, shape=(rows, *row)).tobytes() == added(rows, index, updates).tobytes()


def test_what_is_there_stays():
    random = np.random.default_rng(1)
    index, updates = random.integers(0, 300, 700), random.standard_normal((700, 64), np.float32)
    out = random.standard_normal((400, 64), np.float32)
    expected = out.copy()
    np.add.at(expected, index, updates)
    indexing.add_by_rounds(out, index, updates)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("wrong", [500, -501])
def test_an_index_out_of_range_is_an_error(wrong):
    index = np.arange(700) % 500
    index[3] = wrong
    with pytest.raises(IndexError):
        scatter_add(np.ones((700, 64), np.float32), index=index, shape=(500, 64))


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64])
def test_an_index_of_any_integers(kind):
    index, updates = (np.arange(700) % 250).astype(kind), np.ones((700, 64), np.float32)
    assert np.array_equal(scatter_add(updates, index=index, shape=(500, 64)), added(500, index, updates))
    square = scatter_add(updates.reshape(7, 100, 64), index=index.reshape(7, 100), shape=(500, 64))
    assert np.array_equal(square, added(500, index, updates))


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "float16", "int64", "complex64"])
@pytest.mark.parametrize("shape", [(64, 32), (32,), (64, 1), (3, 64, 32)])
def test_a_mask_keeps_all_bits_or_none(shape, dtype):
    random = np.random.default_rng(0)
    g = (10 * random.standard_normal((64, 32))).astype(dtype)
    if g.dtype.kind == "f":
        g[::3, ::2] = random.choice(
            [np.nan, -np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny / 2], g[::3, ::2].shape
        )
    condition = random.random(shape) > 0.5
    for cotangent, chosen in ((g, condition), (g[:, ::-1], condition[..., ::-1]), (np.asfortranarray(g), condition)):
        found, expected = masked(cotangent, chosen), np.where(chosen, cotangent, 0)
        assert found.astype(dtype).tobytes() == expected.astype(dtype).tobytes() and found.shape == expected.shape
    taken = indexing._masked_bits(g, condition) is not NotImplemented
    assert (
        taken is (dtype in ("float32", "float64", ">f4"))
        and indexing._masked_bits(g[:3], condition[:3]) is NotImplemented
    )
