"""Embedding against PyTorch's, and the gradient of a table: rows that come twice get both contributions."""

import numpy as np
import pytest
import torch

from minigrad import DTypeError, OutOfRangeError, Tensor
from nn import Embedding, Module
from tests.nn.layers import assert_close, assert_same, check_module, gradient, load, randomized, rng, to_torch, value

IDS = np.array([[3, 0, 3, 3], [1, 1, 0, 4]])


def weight_state(layer: Embedding, of) -> dict[str, np.ndarray]:
    return {"weight": of(layer.weight)}


@pytest.mark.parametrize("ids", [IDS, IDS[0], IDS[:, :0], np.array(2)], ids=["2-d", "1-d", "empty", "0-d"])
def test_equals_pytorch(ids) -> None:
    ours = randomized(Embedding(6, 3, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.Embedding(6, 3), weight_state(ours, value))
    assert_same([ours(ids)], [theirs(to_torch(ids))], (ours, theirs), weight_state)


def test_gradients() -> None:
    class Lookup(Module):
        def __init__(self) -> None:
            self.table = Embedding(6, 3, rng=rng())

        def forward(self):
            return self.table(IDS)

    check_module(Lookup())


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint64])
def test_any_integer_dtype_and_lists_and_tensors(dtype) -> None:
    layer = Embedding(6, 3, rng=rng())
    expected = layer(IDS)
    expected.sum().backward()
    expected_gradient = gradient(layer.weight).copy()
    for ids in (IDS.astype(dtype), IDS.tolist(), Tensor(IDS)):
        layer.zero_grad()
        result = layer(ids)
        result.sum().backward()
        np.testing.assert_array_equal(result.numpy(), expected.numpy())
        np.testing.assert_array_equal(gradient(layer.weight), expected_gradient)


def test_the_same_numbers_as_one_hot_rows_times_the_table() -> None:
    layer = Embedding(6, 3, rng=rng(), dtype=np.float64)
    one_hot = (IDS[..., None] == np.arange(6)).astype(float)
    np.testing.assert_array_equal(layer(IDS).numpy(), one_hot @ layer.weight.data)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "index", [IDS, IDS[0], IDS.astype(np.uint16), IDS - 5, IDS.tolist(), (IDS[1],), np.array(3)],
    ids=["2-d", "1-d", "unsigned", "negative", "list", "tuple", "0-d"],
)  # fmt: skip
def test_gradient_of_picked_rows_is_their_scattered_sum(index, order) -> None:
    """Against np.add.at; the cotangent may lie in memory in either order."""
    table = Tensor(rng().standard_normal((5, 2, 3)), requires_grad=True)
    picked = table[index]
    cotangent = np.asarray(rng(1).standard_normal(picked.shape), order=order)
    picked.backward(cotangent)
    expected = np.zeros(table.shape)
    np.add.at(expected, np.asarray(index[0] if isinstance(index, tuple) else index).astype(int), cotangent)
    assert_close(gradient(table), expected)


@pytest.mark.parametrize(
    ("ids", "named"), [([[1, 6]], "6"), ([1, -1, 2], "-1"), ([1, -1, 9], "-1"), ([10**12], "1000000000000")]
)
def test_an_id_out_of_range_is_named_with_the_size_of_the_vocabulary(ids, named) -> None:
    layer = Embedding(6, 3, rng=rng())
    with pytest.raises(OutOfRangeError, match=rf"the id {named}, but its vocabulary has 6 ids: 0 to 5"):
        layer(np.array(ids))


@pytest.mark.parametrize("ids", [[1.0, 2.0], [True, False], ["a"]])
def test_ids_must_be_integers(ids) -> None:
    with pytest.raises(DTypeError, match="integer ids, got dtype"):
        Embedding(6, 3, rng=rng())(np.array(ids))
