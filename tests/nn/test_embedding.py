"""Embedding against PyTorch's and against one-hot rows, the gradient of a table, and the table as the output layer."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor
from nn import Embedding, Module, MultiHeadAttention, TiedOutput, functional, per_example_grads
from tests.lazy import torch
from tests.nn.layers import (
    assert_close,
    assert_same,
    check_module,
    gradient,
    load,
    randomized,
    rng,
    to_torch,
    torch_state,
)

IDS = np.array([[3, 0, 3, 3], [1, 1, 0, 4]])


@pytest.mark.parametrize("ids", [IDS, IDS[0], IDS[:, :0], np.array(2)], ids=["2-d", "1-d", "empty", "0-d"])
def test_equals_pytorch(ids) -> None:
    ours = randomized(Embedding(6, 3, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.Embedding(6, 3), ours)
    assert_same([ours(ids)], [theirs(to_torch(ids))], (ours, theirs))


def test_the_row_of_padding_starts_at_zero_and_gets_no_gradient_as_in_pytorch() -> None:
    fresh = Embedding(6, 3, rng=rng(), padding_idx=3)
    assert not fresh.weight.numpy()[3].any() and fresh.weight.numpy()[:3].all()
    ours = randomized(Embedding(6, 3, rng=rng(), padding_idx=3, dtype=np.float64))  # the row need not stay zero
    theirs = load(torch.nn.Embedding(6, 3, padding_idx=3), ours)
    assert_same([ours(IDS)], [theirs(to_torch(IDS))], (ours, theirs))
    assert ours.weight.grad is not None and not ours.weight.grad.numpy()[3].any()
    assert_close(functional.embedding(IDS, ours.weight, padding_idx=3).numpy(), ours(IDS).numpy())
    assert repr(ours).startswith("Embedding(6, 3, padding_idx=3)")


def test_the_row_of_padding_gets_no_gradient_of_an_example_either() -> None:
    layer = Embedding(6, 3, rng=rng(), padding_idx=3, dtype=np.float64)
    rows = per_example_grads(layer, lambda model, ids: (model(ids) ** 2).sum(axis=(1, 2)), IDS)["weight"]
    (layer(IDS) ** 2).sum().backward()
    assert layer.weight.grad is not None
    assert_close(rows.sum(axis=0), layer.weight.grad.numpy())


@pytest.mark.parametrize("wrong", [6, -1, 1.0, True, "0"])
def test_the_id_of_padding_is_one_of_the_ids(wrong) -> None:
    with pytest.raises(ArgumentError, match="padding_idx must be"):
        Embedding(6, 3, rng=rng(), padding_idx=wrong)
    with pytest.raises(ArgumentError, match="padding_idx must be"):
        functional.embedding(IDS, np.ones((6, 3)), padding_idx=wrong)


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_one_hot_rows_give_the_same_numbers_and_the_same_gradient(dtype) -> None:
    """The article multiplies the table by columns instead, E^T o: the same numbers, standing upright."""
    by_ids, by_rows = (Embedding(6, 3, rng=rng(), dtype=np.float64) for _ in range(2))
    one_hot = functional.one_hot(IDS, 6, dtype=dtype)
    picked, product = by_ids(IDS), by_rows.from_one_hot(one_hot)
    np.testing.assert_array_equal(picked.numpy(), product.numpy())
    columns = by_ids.weight.data.T @ one_hot[0].T.astype(float)
    np.testing.assert_array_equal(picked.numpy()[0], columns.T)
    cotangent = rng(1).standard_normal(picked.shape)
    picked.backward(cotangent)
    product.backward(cotangent)
    assert_close(gradient(by_rows.weight), gradient(by_ids.weight))


def test_rows_of_probabilities_get_a_gradient() -> None:
    layer, rows = Embedding(6, 3, rng=rng(), dtype=np.float64), Tensor(np.full((2, 6), 1 / 6), requires_grad=True)
    y = layer.from_one_hot(rows)
    assert_close(y.numpy(), np.tile(layer.weight.data.mean(axis=0), (2, 1)))
    y.sum().backward()
    assert_close(gradient(rows), np.tile(layer.weight.data.sum(axis=1), (2, 1)))


def test_rows_of_another_width_raise() -> None:
    layer = Embedding(6, 3, rng=rng())
    for rows in (np.ones((2, 5)), np.float32(1)):
        with pytest.raises(ShapeError, match=r"one-hot rows of shape \(\.\.\., 6\), got"):
            layer.from_one_hot(rows)
    with pytest.raises(DTypeError, match="complex"):
        layer.from_one_hot(np.ones((2, 6), complex))


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
    with pytest.raises(DTypeError, match="takes integer ids"):
        Embedding(6, 3, rng=rng())(np.array(ids))


# --- the table as the output layer ---


class Tied(Module):
    """Embeds and scores with one table."""

    def __init__(self, bias: bool, dtype=np.float64) -> None:
        self.embedding = Embedding(6, 3, rng=rng(), dtype=dtype)
        self.output = TiedOutput(self.embedding, bias=bias)

    def forward(self, ids):
        return self.output(np.tanh(self.embedding(ids)))


@pytest.mark.parametrize("bias", [False, True])
def test_tied_output_equals_pytorch(bias) -> None:
    """The gradient of the one table is the sum of both uses."""
    ours = randomized(Tied(bias))
    embedding, linear = torch.nn.Embedding(6, 3).double(), torch.nn.Linear(3, 6, bias=bias).double()
    linear.weight = embedding.weight
    theirs = torch.nn.ModuleDict({"embedding": embedding, "output": linear})
    state = torch_state(ours)
    assert state.keys() == {"embedding.weight", "output.weight"} | ({"output.bias"} if bias else set())
    load(theirs, state)
    torch_logits = linear(torch.tanh(embedding(to_torch(IDS))))
    logits = ours(IDS)
    assert logits.shape == (2, 4, 6)
    assert_same([logits], [torch_logits])
    assert_close(gradient(ours.embedding.weight), embedding.weight.grad.numpy())
    if bias:
        assert ours.output.bias is not None
        assert_close(gradient(ours.output.bias), linear.bias.grad.numpy())


def test_the_table_is_one_parameter() -> None:
    model = Tied(bias=True, dtype=np.float32)
    assert [path for path, _ in model.named_parameters()] == ["embedding.weight", "output.bias"]
    assert model.num_parameters == 6 * 3 + 6 and model(IDS).dtype == np.float32
    model.load_state_dict(model.state_dict())
    assert model.output.embedding.weight is model.embedding.weight


def test_tied_output_names_another_width() -> None:
    output = TiedOutput(Embedding(6, 3, rng=rng()))
    for shape in ((2, 6), ()):
        with pytest.raises(ShapeError, match=r"TiedOutput needs x of shape \(\.\.\., 3\), got"):
            output(np.ones(shape))


def test_on_a_device(put) -> None:
    model = Tied(bias=True)
    expected = model(IDS).numpy()
    for p in model.parameters():
        p.data = put(p.data)
    logits, rows = model(IDS), model.embedding.from_one_hot(Tensor(put(functional.one_hot(IDS, 6))))
    assert type(logits.data) is type(rows.data) is type(put(IDS))
    assert_close(logits.numpy(), expected)
    assert_close(rows.numpy(), model.embedding(IDS).numpy())


def test_lists_of_different_lengths_and_floats_are_told_the_way_out() -> None:
    table = Embedding(6, 3, rng=rng())
    with pytest.raises(ShapeError, match="Embedding got lists of different lengths: pad them"):
        table([[1], [2, 3]])
    with pytest.raises(DTypeError, match=r"got dtype float64: pass ids.astype\(int\)"):
        table([1.0, 2.0])


def test_ids_and_masks_have_the_door_for_foreign_arrays() -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    embedding = Embedding(5, 3, rng=rng())
    ids = pandas.DataFrame({"a": [1, 2], "b": [3, 4]})
    np.testing.assert_array_equal(embedding(ids).data, embedding([[1, 3], [2, 4]]).data)
    for call in (embedding, lambda m: MultiHeadAttention(4, 2, rng=rng())(np.zeros((1, 2, 4)), key_mask=m)):
        with pytest.raises(DTypeError, match="would lose its mask"):
            call(np.ma.masked_array([[1, 0]], [[False, True]]))
    with pytest.raises(DTypeError, match="from DataFrame, which gives dtype object"):
        embedding(pandas.DataFrame({"a": ["x", "y"]}))
