"""The GRU against PyTorch's, in both directions and with padding."""

import contextlib

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, ShapeError
from nn import GRU, GRUCell
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
    torch_state,
    twins,
)

BATCH, LENGTH, INPUT, HIDDEN = 3, 5, 4, 6
LENGTHS = np.array([5, 2, 3])
KEY_MASK = np.arange(LENGTH) < LENGTHS[:, None]
X, INITIAL = rng(3).standard_normal((BATCH, LENGTH, INPUT)), rng(4).standard_normal((BATCH, HIDDEN))


def layer(reverse: bool = False) -> GRU:
    made: GRU = randomized(GRU(INPUT, HIDDEN, rng=rng(), reverse=reverse, dtype=np.float64))
    return made


def torch_gru(ours: GRU, tensors, lengths):
    """PyTorch's states and last state; of a reversed one, it has the backward half of a bidirectional layer."""
    x, initial = tensors
    theirs = torch.nn.GRU(INPUT, HIDDEN, batch_first=True, bidirectional=ours.reverse).double()
    theirs.load_state_dict(theirs.state_dict() | {name: to_torch(array) for name, array in torch_state(ours).items()})
    first = torch.stack([torch.zeros_like(initial), initial]) if ours.reverse else initial[None]
    if lengths is not None:
        x = torch.nn.utils.rnn.pack_padded_sequence(x, to_torch(lengths), batch_first=True, enforce_sorted=False)
    states, last = theirs(x, first)
    if lengths is not None:
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    return states[..., -HIDDEN:], last[-1]


def test_the_cell_equals_pytorch() -> None:
    ours = randomized(GRUCell(INPUT, HIDDEN, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.GRUCell(INPUT, HIDDEN), ours)
    assert_equals_pytorch(ours, theirs, X[:, 0], INITIAL)


def test_the_layer_equals_pytorch_with_all_gradients() -> None:
    ours = layer()
    theirs = load(torch.nn.GRU(INPUT, HIDDEN, batch_first=True), ours)
    (x,), (torch_x,) = twins(X)
    assert_same([ours(x)[0], x], [theirs(torch_x)[0], torch_x], (ours, theirs))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_directions_and_padding_equal_pytorch(reverse, lengths) -> None:
    ours, key_mask = layer(reverse), None if lengths is None else KEY_MASK
    for i in range(2):  # the states, the last state
        tensors, torch_tensors = twins(X, INITIAL)
        y, expected = ours(*tensors, key_mask=key_mask)[i], torch_gru(ours, torch_tensors, lengths)[i]
        assert_same([y, *tensors], [expected, *torch_tensors])


def test_the_last_state_is_the_one_after_the_last_token() -> None:
    states, last = layer()(X, key_mask=KEY_MASK.astype(int))
    np.testing.assert_array_equal(last.numpy(), states.numpy()[np.arange(BATCH), LENGTHS - 1])
    np.testing.assert_array_equal(layer(reverse=True)(X)[0].numpy()[:, 0], layer(reverse=True)(X)[1].numpy())


def test_gradients() -> None:
    check_module(randomized(GRUCell(INPUT, HIDDEN, rng=rng(), dtype=np.float64)), X[:, 0], INITIAL)
    check_module(layer(reverse=True), X[:, :3], INITIAL, key_mask=KEY_MASK[:, :3])


def test_computes_in_float32() -> None:
    single = GRU(INPUT, HIDDEN, rng=rng())
    assert {part.dtype for part in single(X, INITIAL, key_mask=KEY_MASK)} == {np.dtype(np.float32)}


def test_what_does_not_fit_raises() -> None:
    ours = layer()
    for bad in (X[0], X[..., :3], X[:, :0]):
        with pytest.raises(ShapeError, match=r"GRU needs x of shape \(batch, length, 4\) with length > 0, got"):
            ours(bad)
    with pytest.raises(ShapeError, match=r"initial of shape \(batch, hidden_dim\) = \(3, 6\), got \(2, 6\)"):
        ours(X, INITIAL[:2])
    with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 5\)"):
        ours(X, key_mask=KEY_MASK[:, :4])
    for x, h in ((X, INITIAL), (X[:2, 0], INITIAL), (X[:, 0, :3], INITIAL), (X[:, 0], INITIAL[:, :5])):
        with pytest.raises(ShapeError, match=r"GRUCell needs x \(batch, 4\) and h \(batch, 6\), got"):
            ours.cell(x, h)
    with pytest.raises(ArgumentError, match="hidden_dim must be a positive integer, got 0"):
        GRU(2, 0, rng=rng())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("key_mask", [None, KEY_MASK])
def test_the_kernel_is_the_plain_form_at_two_orders(reverse, key_mask) -> None:
    ours = layer(reverse)

    def loss(x, initial):
        states, last = ours(x, initial, key_mask=key_mask)
        return (states * states).sum() + last.sum()

    found = []
    for context in (contextlib.nullcontext(), mg.reference_mode()):
        with context:
            found.append([*mg.value_and_grad(loss, (0, 1))(X, INITIAL)[1], *mg.hvp(loss, (X, INITIAL), (X, INITIAL))])
            ours.zero_grad()
            loss(X, INITIAL).backward()
            found[-1] += [p.grad for p in ours.parameters()]
    for kernel, plain in zip(*found, strict=True):
        assert_close(kernel.numpy(), plain.numpy())
