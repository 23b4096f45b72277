"""The LSTM against PyTorch's, in both directions and with padding."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.rules.recurrent import lstm_states
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, load, randomized, rng, to_torch, torch_state, twins

BATCH, LENGTH, INPUT, HIDDEN = 3, 5, 4, 6
LENGTHS = np.array([5, 2, 3])
KEY_MASK = np.arange(LENGTH) < LENGTHS[:, None]
X = rng(3).standard_normal((BATCH, LENGTH, INPUT))
H, C = (rng(seed).standard_normal((BATCH, HIDDEN)) for seed in (4, 5))


def layer(reverse: bool = False) -> Any:
    return randomized(nn.LSTM(INPUT, HIDDEN, rng=rng(), reverse=reverse, dtype=np.float64))


def torch_lstm(ours: Any, tensors: list[Any], lengths: Any) -> Any:
    """PyTorch's states, last state and last cell; of a reversed one, it has the backward half of a bidirectional layer."""
    x, h, c = tensors
    theirs = torch.nn.LSTM(INPUT, HIDDEN, batch_first=True, bidirectional=ours.reverse).double()
    theirs.load_state_dict(theirs.state_dict() | {name: to_torch(array) for name, array in torch_state(ours).items()})
    first = [torch.stack([torch.zeros_like(t), t]) if ours.reverse else t[None] for t in (h, c)]
    if lengths is not None:
        x = torch.nn.utils.rnn.pack_padded_sequence(x, to_torch(lengths), batch_first=True, enforce_sorted=False)
    states, (last, cell) = theirs(x, tuple(first))
    if lengths is not None:
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    return states[..., -HIDDEN:], last[-1], cell[-1]


def flat(found: Any) -> list[Any]:
    states, (h, c) = found
    return [states, h, c]


def test_the_cell_equals_pytorch_at_both_orders() -> None:
    ours = randomized(nn.LSTMCell(INPUT, HIDDEN, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.LSTMCell(INPUT, HIDDEN), ours)
    for i in range(2):
        tensors, torch_tensors = twins(X[:, 0], H, C)
        ours.zero_grad(), theirs.zero_grad()
        x, *state = tensors
        torch_x, *torch_states = torch_tensors
        y, torch_y = ours(x, state)[i], theirs(torch_x, tuple(torch_states))[i]
        if i:
            y, torch_y = y * ours(x, state)[0], torch_y * theirs(torch_x, tuple(torch_states))[0]
        assert_same([y, *tensors], [torch_y, *torch_tensors], (ours, theirs))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("i", [0, 1, 2])
def test_directions_and_padding_equal_pytorch(reverse: bool, lengths: Any, i: int) -> None:
    """The states, the last state and the last cell, by x, both initial states and all weights."""
    ours, key_mask = layer(reverse), None if lengths is None else KEY_MASK
    tensors, torch_tensors = twins(X, H, C)
    y = flat(ours(tensors[0], tensors[1:], key_mask=key_mask))[i]
    expected = torch_lstm(ours, torch_tensors, lengths)[i]
    assert_same([y, *tensors], [expected, *torch_tensors])


def test_all_gradients_of_the_weights_equal_pytorch() -> None:
    ours = layer()
    theirs = load(torch.nn.LSTM(INPUT, HIDDEN, batch_first=True), ours)
    (x,), (torch_x,) = twins(X)
    assert_same([ours(x)[0], x], [theirs(torch_x)[0], torch_x], (ours, theirs))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_the_kernel_is_the_plain_form_at_two_orders(reverse: bool, masked: bool) -> None:
    is_token = KEY_MASK[..., None] if masked else None
    arrays = [rng(i).standard_normal(s) for i, s in enumerate([(3, 5, 24), (3, 6), (3, 6), (6, 24), (24,)])]

    def found() -> list[np.ndarray]:
        tensors = [Tensor(a, requires_grad=True) for a in arrays]
        y: Any = lstm_states(*tensors, is_token=is_token, reverse=reverse)
        first = mg.autograd_grad((y * np.cos(np.arange(12.0))).sum(), tensors)
        y = lstm_states(*tensors, is_token=is_token, reverse=reverse)
        graph = mg.autograd_grad((y**2).sum(), tensors, create_graph=True)
        second = mg.autograd_grad(sum((g * g).sum() for g in graph), tensors)
        return [t.numpy() for t in (y, *first, *graph, *second)]

    fast = found()
    with mg.reference_mode():
        plain = found()
    for a, b in zip(fast, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    needed = lstm_states(arrays[0], arrays[1], Tensor(arrays[2], requires_grad=True), *arrays[3:], is_token=is_token)
    needed.sum().backward()


def test_gradients_by_finite_differences() -> None:
    class States(nn.Module):
        def __init__(self) -> None:
            self.lstm = layer(reverse=True)

        def forward(self, x: Any, h: Any, c: Any) -> Any:
            states, (h, c) = self.lstm(x, (h, c), key_mask=KEY_MASK[:, :3])
            return np.concatenate([states.sum(axis=1), h, c])

    check_module(States(), X[:, :3], H, C)


def test_the_last_state_is_the_one_after_the_last_token() -> None:
    states, (h, _) = layer()(X, key_mask=KEY_MASK.astype(int))
    np.testing.assert_array_equal(h.numpy(), states.numpy()[np.arange(BATCH), LENGTHS - 1])
    assert not states.numpy()[~KEY_MASK].any()
    assert {part.dtype for part in flat(nn.LSTM(INPUT, HIDDEN, rng=rng())(X, (H, C)))} == {np.dtype(np.float32)}


def test_weights_go_both_ways() -> None:
    ours, fresh = layer(), layer()
    theirs = load(torch.nn.LSTM(INPUT, HIDDEN, batch_first=True), nn.to_torch_state(ours))
    nn.from_torch_state(fresh, {name: array + 1 for name, array in theirs.state_dict().items()})
    assert_close(fresh.cell.state.weight.data, ours.cell.state.weight.data + 1)


def test_what_does_not_fit_raises() -> None:
    ours = layer()
    for bad in (X[0], X[..., :3], X[:, :0]):
        with pytest.raises(ShapeError, match=r"LSTM needs x of shape \(batch, length, 4\) with length > 0, got"):
            ours(bad)
    with pytest.raises(
        ShapeError, match=r"initial \(h, c\), each \(batch, hidden_dim\) = \(3, 6\), got \(3, 6\) and \(2, 6\)"
    ):
        ours(X, (H, C[:2]))
    with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 5\)"):
        ours(X, key_mask=KEY_MASK[:, :4])
    with pytest.raises(ShapeError, match=r"LSTMCell needs x \(batch, 4\), h and c \(batch, 6\), got .* and \(3, 5\)"):
        ours.cell(X[:, 0], (H, C[:, :5]))
    with pytest.raises(ArgumentError, match="hidden_dim must be a positive integer, got 0"):
        nn.LSTM(2, 0, rng=rng())
