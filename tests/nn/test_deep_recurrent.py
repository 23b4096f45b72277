"""RNN, GRU and LSTM with layers and directions against PyTorch's, and the plain cell."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, ShapeError, Tensor
from tests.lazy import torch
from tests.nn.layers import (
    assert_close,
    assert_equals_pytorch,
    assert_same,
    check_module,
    load,
    randomized,
    rng,
    to_torch,
    twins,
)

BATCH, LENGTH, INPUT, HIDDEN = 3, 5, 4, 6
LENGTHS = np.array([5, 2, 3])
KEY_MASK = np.arange(LENGTH) < LENGTHS[:, None]
X = rng(3).standard_normal((BATCH, LENGTH, INPUT))
CLASSES = ["RNN", "GRU", "LSTM"]
FORMS = [(1, False), (1, True), (3, False), (2, True)]


def layer(name: str, num_layers: int, bidirectional: bool, **settings: Any) -> Any:
    made = getattr(nn, name)(
        INPUT, HIDDEN, rng=rng(), num_layers=num_layers, bidirectional=bidirectional, dtype=np.float64, **settings
    )
    return randomized(made)


def torch_layer(ours: Any, **settings: Any) -> Any:
    form = {"num_layers": ours.num_layers, "bidirectional": ours.bidirectional, "batch_first": True}
    return load(getattr(torch.nn, type(ours).__name__)(INPUT, HIDDEN, **form, **settings), ours)


def initials(ours: Any) -> list[np.ndarray]:
    """One array for each part of a state, in the form of PyTorch's, whose first axis is that of layers and directions."""
    cells = len(list(ours.cells()))
    return [rng(seed).standard_normal((cells, BATCH, HIDDEN)) for seed in range(4, 4 + ours.parts)]


def flat(found: Any) -> list[Any]:
    states, last = found
    return [states, *(last if isinstance(last, tuple) else (last,))]


def torch_results(theirs: Any, x: Any, state: list[Any], lengths: Any) -> list[Any]:
    if lengths is not None:
        x = torch.nn.utils.rnn.pack_padded_sequence(x, to_torch(lengths), batch_first=True, enforce_sorted=False)
    states, last = theirs(x, tuple(state) if len(state) > 1 else state[0])
    if lengths is not None:
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    return flat((states, last))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("num_layers", "bidirectional"), FORMS)
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_layers_and_directions_equal_pytorch(name: str, num_layers: int, bidirectional: bool, lengths: Any) -> None:
    """The states and the last states, by x, the initial states and all weights, which PyTorch takes under its names."""
    ours, key_mask = layer(name, num_layers, bidirectional), None if lengths is None else KEY_MASK
    theirs, alone = torch_layer(ours), num_layers == 1 and not bidirectional
    for i in range(1 + ours.parts):
        arrays = [X, *initials(ours)]
        tensors, torch_tensors = twins(*arrays)
        state: Any = [t[0] if alone else t for t in tensors[1:]]
        y = flat(ours(tensors[0], state if ours.parts > 1 else state[0], key_mask=key_mask))[i]
        expected = torch_results(theirs, torch_tensors[0], torch_tensors[1:], lengths)[i]
        ours.zero_grad(), theirs.zero_grad(set_to_none=False)
        y = y[None] if alone and i else y
        assert_same([y, *tensors], [expected, *torch_tensors])
        for p, gradient in nn.to_torch_state(ours, gradients=True).items():
            expected_gradient = dict(theirs.named_parameters())[p].grad
            assert_close(gradient, 0.0 if expected_gradient is None else expected_gradient.numpy(), p)


@pytest.mark.parametrize("name", CLASSES)
def test_the_first_states_are_zero_and_weights_come_back(name: str) -> None:
    ours, fresh = layer(name, 2, True), layer(name, 2, True)
    theirs = torch_layer(ours)
    for found, expected in zip(flat(ours(X)), flat(theirs(to_torch(X))), strict=True):
        assert_close(found.numpy(), expected.detach().numpy())
    nn.from_torch_state(fresh, {path: array + 1 for path, array in theirs.state_dict().items()})
    assert_close(fresh.further[2].state.weight.data, ours.further[2].state.weight.data + 1)


def test_one_layer_has_the_weights_of_the_first_of_several() -> None:
    """Under the same paths as the first of several, and drawn in the same order."""
    for name in CLASSES:
        deep, alone = (getattr(nn, name)(4, 6, rng=rng(), num_layers=n) for n in (2, 1))
        assert list(alone.state_dict()) == [f"cell.{part}" for part in
            ("input.weight", "input.bias", "state.weight", "state.bias")]  # fmt: skip
        for path, array in alone.state_dict().items():
            np.testing.assert_array_equal(array, deep.state_dict()[path])


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_plain_cell_and_its_relu_equal_pytorch(activation: str) -> None:
    cell = randomized(nn.RNNCell(INPUT, HIDDEN, rng=rng(), activation=activation, dtype=np.float64))
    theirs = load(torch.nn.RNNCell(INPUT, HIDDEN, nonlinearity=activation), cell)
    arrays = [X[:, 0], rng(4).standard_normal((BATCH, HIDDEN))]
    assert_equals_pytorch(cell, theirs, *arrays)
    ours = layer("RNN", 2, True, activation=activation)
    theirs = torch_layer(ours, nonlinearity=activation)
    x, torch_x = Tensor(X, requires_grad=True), to_torch(X, True)
    assert_same([ours(x)[0], x], [theirs(torch_x)[0], torch_x], (ours, theirs))


def test_a_reversed_network_reads_the_reversed_tokens() -> None:
    reverse, forward = layer("RNN", 2, False, reverse=True), layer("RNN", 2, False)
    states, last = reverse(X)
    expected, expected_last = forward(X[:, ::-1])
    assert_close(states.numpy(), expected.numpy()[:, ::-1])
    assert_close(last.numpy(), expected_last.numpy())


def test_gradients_by_finite_differences() -> None:
    class States(nn.Module):
        def __init__(self) -> None:
            self.rnn = layer("RNN", 1, False, reverse=True)

        def forward(self, x: Any, initial: Any) -> Any:
            states, last = self.rnn(x, initial, key_mask=KEY_MASK[:, :3])
            return np.concatenate([states.sum(axis=1), last])

    check_module(States(), X[:, :3], rng(4).standard_normal((BATCH, HIDDEN)))


def test_it_stays_float32_and_runs_on_a_device(put: Any) -> None:
    single = nn.RNN(INPUT, HIDDEN, rng=rng(), num_layers=2, bidirectional=True)
    assert {part.dtype for part in single(X, key_mask=KEY_MASK)} == {np.dtype(np.float32)}
    ours = layer("LSTM", 2, True)
    expected = flat(ours(X, key_mask=KEY_MASK))
    for parameter in ours.parameters():
        parameter.data = put(parameter.data)
    for part, array in zip(flat(ours(put(X), key_mask=KEY_MASK)), expected, strict=True):
        assert type(part.data) is type(put(X))
        assert_close(part.numpy(), array.numpy())


def test_reprs_say_the_form() -> None:
    assert [layer("GRU", *form).extra_repr() for form in FORMS] == [
        "",
        "bidirectional=True",
        "num_layers=3",
        "num_layers=2, bidirectional=True",
    ]
    assert nn.RNNCell(2, 3, rng=rng(), activation="relu").extra_repr() == "2, 3, activation='relu'"


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_dropout_acts_between_layers_and_nowhere_else(name: str, bidirectional: bool) -> None:
    settings: dict[str, Any] = {"num_layers": 3, "bidirectional": bidirectional, "dtype": np.float64}
    dropped = getattr(nn, name)(4, 6, rng=rng(), dropout=0.5, **settings)
    plain = getattr(nn, name)(4, 6, rng=rng(), **settings)
    x = np.random.default_rng(1).standard_normal((3, 5, 4))
    assert dropped.eval()(x)[0].tolist() == plain(x)[0].tolist()  # the same weights from the same seed
    drop, seen = dropped.train().dropout, list[Any]()
    forward = drop.forward
    drop.forward = lambda states: (seen.append(states), forward(states))[1]  # type: ignore[func-returns-value]
    states = dropped(x)[0].numpy()
    assert len(seen) == 2 and states.all()  # between three layers, and not behind the last
    directions, first = 1 + bidirectional, getattr(nn, name)(4, 6, rng=rng(), **settings | {"num_layers": 1})
    first.cell, first.further = dropped.cell, dropped.further[: directions - 1]
    assert_close(seen[0].numpy(), first(x)[0].numpy())
    again = nn.Dropout(0.5, rng=rng())
    again.key, again.step = drop.key, drop.step - 2
    second = getattr(nn, name)(6 * directions, 6, rng=rng(), **settings | {"num_layers": 1})
    second.cell, *second.further = dropped.further[directions - 1 : 2 * directions - 1]
    assert_close(seen[1].numpy(), second(again(first(x)[0]))[0].numpy())


def test_what_does_not_fit_raises() -> None:
    for num_layers in (0, True, 1.5):
        with pytest.raises(ArgumentError, match="num_layers must be a positive integer"):
            nn.GRU(4, 6, rng=rng(), num_layers=num_layers)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="bidirectional=True reads in both directions: leave out reverse=True"):
        nn.RNN(4, 6, rng=rng(), bidirectional=True, reverse=True)
    with pytest.raises(ArgumentError, match=r"dropout=0.5 acts between layers, and num_layers is 1"):
        nn.LSTM(4, 6, rng=rng(), dropout=0.5)
    for make in (nn.RNN, nn.RNNCell):
        with pytest.raises(ArgumentError, match="activation must be 'tanh' or 'relu', got 'gelu'"):
            make(4, 6, rng=rng(), activation="gelu")
    axes = r"\(layers and directions, batch, hidden_dim\) = \(4, 3, 6\)"
    with pytest.raises(ShapeError, match=rf"RNN needs initial of shape {axes}, got \(3, 6\)"):
        layer("RNN", 2, True)(X, np.zeros((3, 6)))
    with pytest.raises(ShapeError, match=rf"LSTM needs initial \(h, c\), each {axes}, got \(4, 3, 6\)$"):
        layer("LSTM", 2, True)(X, [np.zeros((4, 3, 6))])
    with pytest.raises(ShapeError, match=r"RNNCell needs x \(batch, 4\) and h \(batch, 6\), got"):
        nn.RNNCell(4, 6, rng=rng())(X, np.zeros((3, 6)))


@pytest.mark.parametrize("name", CLASSES)
def test_an_empty_batch_gives_an_empty_answer_and_gradients_of_zeros(name: str) -> None:
    built = getattr(nn, name)(3, 4, rng=np.random.default_rng(0))
    states, _ = built(np.ones((0, 5, 3), np.float32))
    assert states.shape == (0, 5, 4)
    states.sum().backward()
    assert all(parameter.grad is not None and not parameter.grad.data.any() for parameter in built.parameters())
