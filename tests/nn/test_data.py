"""Batches: every example once an epoch, in an order that depends on the seed and the epoch alone; and bad input."""

import functools
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from minigrad import ArgumentError, ShapeError
from nn import Batches

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10)


def labels(batches: Batches, epoch: int = 0) -> list[list[int]]:
    return [batch[-1].tolist() for batch in batches.epoch(epoch)]


def test_a_batch_has_the_same_rows_of_every_array() -> None:
    batches = Batches([X, Y], 4, seed=0)
    for x, y in batches.epoch(3):
        np.testing.assert_array_equal(x, X[y])
    assert [len(y) for _, y in batches.epoch(0)] == [4, 4, 2]
    assert len(batches) == 3


@given(
    count=st.integers(1, 30),
    size=st.integers(1, 12),
    seed=st.integers(0, 2**40),
    n=st.integers(0, 99),
    by=st.booleans(),
)
def test_every_example_comes_once_an_epoch(count, size, seed, n, by) -> None:
    lengths = np.arange(count) % 5 if by else None
    batches = Batches([np.arange(count)], size, seed=seed, lengths=lengths)
    found = labels(batches, n)
    assert sorted(chain(*found)) == list(range(count))
    assert len(found) == len(batches)
    assert all(len(batch) <= size for batch in found)


def test_the_order_is_a_function_of_seed_and_epoch_alone() -> None:
    batches = Batches([Y], 3, seed=7)
    third = labels(batches, 3)
    assert labels(batches, 4) != third
    assert labels(batches, 3) == third == labels(Batches([Y], 3, seed=7), 3)
    assert labels(Batches([Y], 3, seed=8), 3) != third
    expected = np.random.default_rng([7, 3]).permutation(10)
    np.testing.assert_array_equal(list(chain(*third)), expected)


def test_without_shuffling_the_order_is_that_of_the_arrays() -> None:
    batches = Batches([Y], 4, seed=0, shuffle=False)
    assert labels(batches, 0) == labels(batches, 5) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_drop_last_leaves_only_full_batches() -> None:
    batches = Batches([Y], 4, seed=0, drop_last=True)
    assert [len(batch) for batch in labels(batches)] == [4, 4]
    assert len(batches) == 2
    taken = {tuple(sorted(chain(*labels(batches, n)))) for n in range(5)}
    assert len(taken) > 1  # not always the same two are left out


def test_collate_makes_the_batch_from_indices() -> None:
    texts = ["a", "bb", "ccc"]
    batches = Batches([texts], 2, seed=0, shuffle=False, collate=lambda indices: [texts[i] for i in indices])
    assert list(batches.epoch(0)) == [["a", "bb"], ["ccc"]]
    assert list(Batches(3, 2, seed=0, shuffle=False, collate=lambda i: i.tolist()).epoch(0)) == [[0, 1], [2]]
    assert list(Batches(3, 2, seed=0, shuffle=False, collate=dict.fromkeys).epoch(0)) == [{0: None, 1: None}, {2: None}]


def test_collate_with_an_argument_epoch_gets_its_number() -> None:
    def collate(indices: Any, epoch: int) -> Any:
        return indices + 10 * epoch

    batches = Batches(3, 2, seed=0, shuffle=False, collate=collate)
    assert [batch.tolist() for batch in batches.epoch(4)] == [[40, 41], [42]]
    assert batches.batch(np.arange(2)).tolist() == [0, 1]  # outside of an epoch it is 0
    batches.collate = lambda indices, *, epoch: -indices - epoch
    assert [batch.tolist() for batch in batches.epoch(4)] == [[-4, -5], [-6]]


def test_an_argument_epoch_that_is_set_or_cannot_be_named_is_left_alone() -> None:
    def collate(indices: Any, epoch: int = 7, /) -> Any:
        return indices + epoch

    def named(indices: Any, epoch: int) -> Any:
        return indices + epoch

    for fixed in (collate, functools.partial(named, epoch=7)):
        assert [b.tolist() for b in Batches(3, 2, seed=0, shuffle=False, collate=fixed).epoch(4)] == [[7, 8], [9]]


def test_examples_of_about_one_length_go_together() -> None:
    lengths = np.random.default_rng(0).permutation(40)
    batches = Batches([lengths], 4, seed=0, lengths=lengths)
    found = labels(batches)
    assert all(max(batch) - min(batch) == 3 for batch in found)
    first = [min(batch) for batch in found]
    assert sorted(first) == list(range(0, 40, 4)) != first  # the batches themselves are shuffled
    still = Batches([lengths], 4, seed=0, lengths=lengths, shuffle=False)
    assert [min(batch) for batch in labels(still)] == list(range(0, 40, 4))


def test_examples_of_one_length_are_shuffled() -> None:
    batches = Batches([Y], 5, seed=0, lengths=[1] * 5 + [2] * 5)
    orders = {tuple(batch) for n in range(4) for batch in labels(batches, n)}
    assert len(orders) == 8
    assert all(set(order) in ({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}) for order in orders)


def test_what_is_dropped_does_not_depend_on_the_lengths() -> None:
    """Each of the 11 examples is left out of about 3/11 of the epochs, the longest, too; the others fill batches by length."""
    lengths = np.array([3, 9, 4, 4, 8, 2, 7, 5, 6, 100, 4])
    settings: dict[str, Any] = {"seed": 0, "drop_last": True}
    batches, plain = Batches([np.arange(11)], 4, lengths=lengths, **settings), Batches([np.arange(11)], 4, **settings)
    dropped = np.zeros(11)
    for n in range(300):
        found = labels(batches, n)
        assert [len(batch) for batch in found] == [4, 4]
        ordered = sorted(found, key=lambda batch: lengths[batch].sum())
        assert lengths[ordered[0]].max() <= lengths[ordered[1]].min()
        kept = np.concatenate(found)
        assert set(kept) == set(np.concatenate(labels(plain, n)))
        dropped += ~np.isin(np.arange(11), kept)
    assert dropped.sum() == 900 and (abs(dropped - 300 * 3 / 11) < 4 * np.sqrt(300 * 3 / 11 * 8 / 11)).all()
    still = Batches([np.arange(11)], 4, lengths=lengths, shuffle=False, **settings)
    assert labels(still) == labels(still, 1) == [[5, 0, 2, 3], [7, 6, 4, 1]]  # without the last three


def test_on_a_device(put) -> None:
    host = Batches([X, Y], 4, seed=0)
    for (x, y), (expected_x, expected_y) in zip(Batches([put(X), put(Y)], 4, seed=0).epoch(1), host.epoch(1)):
        np.testing.assert_array_equal(x.get(), expected_x)
        np.testing.assert_array_equal(y.get(), expected_y)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: Batches([X, Y[:4]], 2, seed=0),
            ShapeError,
            r"equal numbers of rows, one row per example, got \[10, 4\]",
        ),
        (lambda: Batches([X[:0]], 2, seed=0), ArgumentError, "there are no examples"),
        (lambda: Batches([], 2, seed=0), ArgumentError, "arrays must be a list of arrays"),
        (lambda: Batches(X, 2, seed=0), ArgumentError, r"arrays must be a list of arrays, .* got ndarray"),  # type: ignore[arg-type]
        (lambda: Batches([np.array(1.0)], 2, seed=0), ArgumentError, "arrays must be a list of arrays"),
        (lambda: Batches(5, 2, seed=0), ArgumentError, "a number of examples needs collate"),
        (lambda: Batches(0, 2, seed=0, collate=list), ArgumentError, "there are no examples"),
        (lambda: Batches([[1, 2], [3, 4]], 1, seed=0), ArgumentError, "list at index 0: .* collate"),
        (lambda: Batches([X], 0, seed=0), ArgumentError, "batch_size must be a positive integer, got 0"),
        (lambda: Batches([X], 2.0, seed=0), ArgumentError, "batch_size must be a positive integer, got 2.0"),  # type: ignore[arg-type]
        (lambda: Batches([X], 2, seed=-1), ArgumentError, "seed must be an integer >= 0, got -1"),
        (lambda: Batches([X], 2, seed=None), ArgumentError, "seed must be an integer >= 0, got None"),  # type: ignore[arg-type]
        (lambda: Batches([X], 11, seed=0, drop_last=True), ArgumentError, "drop_last leaves no batch: 10 examples"),
        (lambda: Batches([X], 2, seed=0, lengths=[1, 2]), ShapeError, r"lengths must be .* shape \(10,\), got \(2,\)"),
    ],
)
def test_bad_input_raises(make, error, words) -> None:
    with pytest.raises(error, match=words):
        make()
