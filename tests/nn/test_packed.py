"""The packed form: PyTorch's MultiheadAttention weight for weight, and the unpacked form."""

import numpy as np
import pytest

from minigrad import ArgumentError, Tensor
from nn import MultiHeadAttention, PackedMultiHeadAttention, from_torch_state, to_torch_state
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, load, randomized, rng, to_torch

BATCH, LENGTH, WIDTH, HEADS = 3, 5, 6, 2
KEY_MASK = np.arange(LENGTH) < np.array([[5], [3], [1]])
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))


def layer(**settings) -> PackedMultiHeadAttention:
    made: PackedMultiHeadAttention = randomized(
        PackedMultiHeadAttention(WIDTH, HEADS, rng=rng(), dtype=np.float64, **settings)
    )
    return made


@pytest.mark.parametrize("bias", [True, False])
def test_equals_pytorch(bias) -> None:
    ours = layer(bias=bias)
    state = to_torch_state(ours)
    np.testing.assert_array_equal(state["in_proj_weight"], ours.input.weight.data.T)
    theirs = load(torch.nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True), state)
    x, torch_x = Tensor(X, requires_grad=True), to_torch(X, True)
    torch_y, torch_weights = theirs(
        torch_x, torch_x, torch_x, key_padding_mask=to_torch(~KEY_MASK), average_attn_weights=False
    )
    assert_close(ours.attention_weights(X, key_mask=KEY_MASK).numpy(), torch_weights.detach().numpy())
    assert_same([ours(x, key_mask=KEY_MASK), x], [torch_y, torch_x], (ours, theirs))


def test_takes_over_pytorchs_weights() -> None:
    theirs = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    ours = layer()
    from_torch_state(ours, theirs.state_dict())
    torch_x = to_torch(X)
    assert_close(ours(X).numpy(), theirs(torch_x, torch_x, torch_x)[0].detach().numpy())


def test_packing_and_unpacking_keep_the_function() -> None:
    packed = layer()
    unpacked = MultiHeadAttention(WIDTH, HEADS, rng=rng(8), dtype=np.float64)
    again = PackedMultiHeadAttention(WIDTH, HEADS, rng=rng(9), dtype=np.float64)
    from_torch_state(unpacked, to_torch_state(packed))
    from_torch_state(again, to_torch_state(unpacked))
    assert_close(unpacked(X, causal=True).numpy(), packed(X, causal=True).numpy())
    for name, array in packed.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[name], array)


def test_gradients() -> None:
    check_module(layer(), X[:2, :3], key_mask=KEY_MASK[:2, :3])


def test_the_query_itself_may_be_given_as_keys_and_values() -> None:
    ours, x = layer(), Tensor(X)
    for same in ((X, X), (X, X, X), (x, x), (x, None, x)):
        np.testing.assert_array_equal(ours(*same).numpy(), ours(X).numpy())


def test_other_keys_or_values_raise() -> None:
    for other in ((X, X.copy()), (X, X, X.copy())):
        with pytest.raises(ArgumentError, match="is self-attention: pass only the query, or use MultiHeadAttention"):
            layer()(*other)
    with pytest.raises(ArgumentError, match="context_dim=5 is not d_model=6: use MultiHeadAttention"):
        layer(context_dim=5)
