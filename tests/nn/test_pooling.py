"""Pooling against sums written out, and what padding must not change."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, check_grads
from nn import pool
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, gradient, rng, to_torch

X = rng().standard_normal((4, 5, 3))
LENGTHS = np.array([5, 3, 1, 2])
MASK = np.arange(5) < LENGTHS[:, None]
LEFT = MASK[:, ::-1]  # padding before the tokens
SCATTERED = np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]], bool)
HOWS = ["mean", "sum", "first"]


def by_hand(x, mask, how):
    """Sequence by sequence, with the tokens picked out; of arrays or of PyTorch's tensors."""
    tokens = [x[i][mask[i]] for i in range(len(x))]
    return [t.mean(0) if how == "mean" else t.sum(0) if how == "sum" else t[0] for t in tokens]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("mask", [None, MASK, LEFT, SCATTERED], ids=["none", "right", "left", "scattered"])
def test_equals_pytorch(mask, how) -> None:
    x, torch_x = Tensor(X, requires_grad=True), to_torch(X, True)
    kept = torch.ones(4, 5, dtype=torch.bool) if mask is None else to_torch(mask.copy())
    assert_same([pool(x, mask, how), x], [torch.stack(by_hand(torch_x, kept, how)), torch_x])


@pytest.mark.parametrize("how", HOWS)
def test_gradients(how) -> None:
    check_grads(lambda x: pool(x, MASK, how), (X,))


@pytest.mark.parametrize("how", HOWS)
def test_a_mask_of_0_and_1_a_list_and_a_tensor(how) -> None:
    expected = pool(X, MASK, how).numpy()
    for mask in (MASK.astype(np.int64), MASK.astype(np.uint8), MASK.tolist(), Tensor(MASK)):
        np.testing.assert_array_equal(pool(X, mask, how).numpy(), expected)


@pytest.mark.parametrize("how", HOWS)
def test_padding_changes_nothing_and_all_padding_gives_zeros(how) -> None:
    mask = MASK.copy()
    mask[1] = False
    x = np.where(mask[..., None], X, 1e6)
    tensor = Tensor(x, requires_grad=True)
    y = pool(tensor, mask, how)
    y.sum().backward()
    assert_close(y.numpy()[[0, 2, 3]], pool(X, MASK, how).numpy()[[0, 2, 3]])
    assert not y.numpy()[1].any() and not gradient(tensor)[~mask].any()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("mask", [None, MASK])
def test_float32_stays_float32(how, mask) -> None:
    assert pool(X.astype(np.float32), mask, how).dtype == np.float32


@pytest.mark.parametrize("how", HOWS)
def test_on_a_device_with_a_mask_from_the_host(how, put) -> None:
    for mask in (None, MASK, SCATTERED):
        y = pool(Tensor(put(X)), mask, how)
        assert type(y.data) is type(put(X))
        assert_close(y.numpy(), pool(X, mask, how).numpy())


def test_the_mean_is_the_default() -> None:
    np.testing.assert_array_equal(pool(X).numpy(), X.mean(axis=1))


@pytest.mark.parametrize(
    ("x", "mask", "how", "error", "words"),
    [
        (X, MASK, "last", ArgumentError, "how must be 'mean', 'sum' or 'first', got 'last'"),
        (X[0], None, "mean", ShapeError, r"pool needs x of shape \(batch, length, d_model\), got \(5, 3\)"),
        (X[:, :0], None, "mean", ShapeError, r"no tokens"),
        (X, MASK[:, :4], "mean", ShapeError, r"key_mask must have the shape \(batch, key\) = \(4, 5\), got \(4, 4\)"),
        (X, MASK * 1.0, "mean", DTypeError, "key_mask must be boolean"),
        (X, MASK * 2, "mean", OutOfRangeError, "got 2"),
        (X.astype(int), MASK, "mean", DTypeError, "pool needs a floating input, got dtype int64"),
    ],
)
def test_bad_input(x, mask, how, error, words) -> None:
    with pytest.raises(error, match=words):
        pool(x, mask, how)
