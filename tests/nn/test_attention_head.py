"""One attention head against PyTorch's function, its masks and widths."""

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError
from nn import Affine, AttentionHead, MultiHeadAttention, to_torch_state
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, gradient, randomized, rng, to_torch, twins

functional = torch.nn.functional

BATCH, QUERY, KEY, WIDTH, CONTEXT = 3, 4, 5, 6, 7
KEY_MASK = np.arange(KEY) < np.array([[5], [3], [1]])
FULL = rng(7).random((BATCH, QUERY, KEY)) < 0.6
FULL[..., 0] = True
X = rng(2).standard_normal((BATCH, QUERY, WIDTH))
CONTEXTS = rng(3).standard_normal((BATCH, KEY, CONTEXT))


def head(*dims, **settings) -> AttentionHead:
    made: AttentionHead = randomized(AttentionHead(WIDTH, *(dims or (4,)), rng=rng(), dtype=np.float64, **settings))
    return made


MASKS = {
    "none": ({}, None),
    "key": ({"key_mask": KEY_MASK}, KEY_MASK[:, None]),
    "integer": ({"key_mask": KEY_MASK.astype(int)}, KEY_MASK[:, None]),
    "matrix": ({"mask": FULL[0]}, FULL[0]),
    "full": ({"mask": FULL}, FULL),
    "key and full": ({"key_mask": KEY_MASK, "mask": FULL}, KEY_MASK[:, None] & FULL),
    "causal": ({"causal": True}, np.tri(QUERY, KEY, KEY - QUERY, dtype=bool)),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    ("dims", "settings"),
    [((4,), {}), ((2, 5), {"bias": False}), ((4, 3), {"scale": 1.0})],
    ids=["plain", "value_dim, no bias", "no scale"],
)
def test_equals_pytorch(mask, dims, settings) -> None:
    ours = head(*dims, context_dim=CONTEXT, **settings)
    masks, allowed = MASKS[mask]
    leaves = {name: to_torch(p.data, True) for name, p in ours.named_parameters()}
    tensors, theirs = twins(X, CONTEXTS)
    q, k, v = (
        x @ leaves[f"{part}.weight"] + leaves.get(f"{part}.bias", 0)
        for part, x in zip(("query", "key", "value"), (theirs[0], theirs[1], theirs[1]), strict=True)
    )
    allowed = None if allowed is None else to_torch(allowed)
    y = functional.scaled_dot_product_attention(q, k, v, allowed, scale=settings.get("scale"))
    weights = ours.attention_weights(X, CONTEXTS, **masks).numpy()
    assert weights.shape == (BATCH, QUERY, KEY)
    values = CONTEXTS @ ours.value.weight.data + (0 if ours.value.bias is None else ours.value.bias.data)
    assert_close(weights @ values, y.detach().numpy())
    assert_same([ours(*tensors, **masks), *tensors], [y, *theirs])
    for name, parameter in ours.named_parameters():
        assert_close(gradient(parameter), leaves[name].grad.numpy(), name)


def test_gradients() -> None:
    check_module(head(2, 3), X[:2], causal=True)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("settings", [{}, {"value_dim": 3, "bias": False}, {"scale": 0.3}], ids=str)
def test_is_one_head_of_several_without_the_map_behind_them(mask, settings) -> None:
    """Bit for bit: both go the same way. The weights of the one lack the axis of heads."""
    ours, (masks, _) = head(context_dim=CONTEXT, **settings), MASKS[mask]
    theirs = MultiHeadAttention(WIDTH, 1, key_dim=4, context_dim=CONTEXT, rng=rng(), dtype=np.float64, **settings)
    width = settings.get("value_dim", 4)
    theirs.output = Affine(width, width, bias=False, rng=rng(), dtype=np.float64)
    theirs.load_state_dict(ours.state_dict() | {"output.weight": np.eye(width)})
    spread = masks | ({"mask": FULL[:, None]} if mask in ("full", "key and full") else {})
    result, weights = theirs.with_weights(X, CONTEXTS, **spread)
    np.testing.assert_array_equal(ours(X, CONTEXTS, **masks).numpy(), theirs(X, CONTEXTS, **spread).numpy())
    for mine, other in zip(ours.with_weights(X, CONTEXTS, **masks), (result, weights[:, 0]), strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_draws_its_three_maps_and_keeps_their_names() -> None:
    """PyTorch has no counterpart: its state is that of its maps."""
    generator, expected = rng(), rng()
    ours = AttentionHead(WIDTH, 4, 3, rng=generator)
    for part, width in ((ours.query, 4), (ours.key, 4), (ours.value, 3)):
        np.testing.assert_array_equal(part.weight.data, Affine(WIDTH, width, rng=expected).weight.data)
    assert generator.random() == expected.random()
    paths = [f"{part}.{kind}" for part in ("query", "key", "value") for kind in ("weight", "bias")]
    assert list(ours.state_dict()) == list(to_torch_state(ours)) == paths


def test_keys_and_values_default_to_the_query_and_the_keys() -> None:
    ours = head()
    np.testing.assert_array_equal(ours(X).numpy(), ours(X, X, X).numpy())
    assert not np.allclose(ours(X).numpy(), ours(X, X, 2 * X).numpy())
    assert ours(X).shape == (BATCH, QUERY, 4) and head(4, 3)(X).shape == (BATCH, QUERY, 3)


def test_one_query_for_each_sequence() -> None:
    ours = head(context_dim=CONTEXT)
    result, weights = ours.with_weights(X, CONTEXTS, key_mask=KEY_MASK)
    assert_close(ours(X[:, 1], CONTEXTS, key_mask=KEY_MASK).numpy(), result.numpy()[:, 1])
    assert_close(ours.attention_weights(X[:, 1], CONTEXTS, key_mask=KEY_MASK).numpy(), weights.numpy()[:, 1])


def test_computes_in_the_dtype_of_its_parameters() -> None:
    ours = AttentionHead(WIDTH, 4, rng=rng(), scale=np.float64(0.5))  # a float64 scale must not promote
    assert ours(X, causal=True).dtype == ours.attention_weights(X).dtype == np.float32


def test_bad_input() -> None:
    ours = head(context_dim=CONTEXT)
    with pytest.raises(ShapeError, match=r"AttentionHead needs key of width 7, got \(3, 4, 6\)"):
        ours(X)
    with pytest.raises(ShapeError, match=r"AttentionHead needs one batch size, and as many values as keys"):
        ours(X, CONTEXTS[:2])
    with pytest.raises(
        ShapeError, match=r"three axes that broadcast to \(batch, query, key\) = \(3, 4, 5\), got \(5, 4\)"
    ):
        ours(X, CONTEXTS, mask=FULL[0].T)
    with pytest.raises(ArgumentError, match="key_dim must be a positive integer, got 0"):
        AttentionHead(WIDTH, 0, rng=rng())


def test_repr_tells_the_widths() -> None:
    assert head().extra_repr() == "6, 4" and head(4, 3).extra_repr() == "6, 4, 3"
