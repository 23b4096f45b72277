"""Every form of multi-head attention against the same written out in PyTorch, and what they have in common."""

from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, Tensor, scaled_dot_product_attention, softmax
from minigrad.rules.attention import split_heads
from nn import AttentionHead, MultiHeadAttention, PackedMultiHeadAttention, to_torch_state
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, gradient, randomized, rng, to_torch, twins

functional = torch.nn.functional
SDPBackend = torch.nn.attention.SDPBackend
sdpa_kernel = torch.nn.attention.sdpa_kernel

BATCH, LENGTH, WIDTH = 3, 5, 6
KEY_MASK = np.arange(LENGTH) < np.array([[5], [3], [1]])
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))


def by_hand(ours: MultiHeadAttention, leaves: dict, arrays: list, allowed) -> tuple:
    """The same in PyTorch, operation by operation: the result, and softmax(q k^T * scale)."""

    def heads(part: str, x, count: int):  # (batch, heads, length, width)
        y = x @ leaves[f"{part}.weight"] + leaves.get(f"{part}.bias", 0)
        return y.unflatten(-1, (count, y.shape[-1] // count)).swapaxes(1, 2)

    query, key, value = arrays
    q = heads("query", query, ours.num_heads)
    k, v = heads("key", key, ours.num_kv_heads), heads("value", value, ours.num_kv_heads)
    if ours.rotary is not None:
        q, k = torch_rotated(q), torch_rotated(k)
    with sdpa_kernel(SDPBackend.MATH):
        context = functional.scaled_dot_product_attention(q, k, v, allowed, scale=ours.scale, enable_gqa=True)
    scores = q @ k.repeat_interleave(ours.num_heads // ours.num_kv_heads, 1).swapaxes(-1, -2)
    scores = scores * (q.shape[-1] ** -0.5 if ours.scale is None else ours.scale)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    joined = context.swapaxes(1, 2).flatten(-2)
    return joined @ leaves["output.weight"] + leaves.get("output.bias", 0), torch.softmax(scores, -1)


def torch_rotated(x):
    """Pairs of columns as complex numbers, times exp(i t theta)."""
    length, width = x.shape[-2:]
    theta = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * theta
    pairs = torch.view_as_complex(x.unflatten(-1, (width // 2, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


FORMS: dict[str, Any] = {
    "uneven": (MultiHeadAttention, 4, {"key_dim": WIDTH // 4}),
    "keys and values of other widths": (MultiHeadAttention, 2, {"key_dim": 5, "value_dim": 4}),
    "values of another width": (MultiHeadAttention, 2, {"value_dim": 5}),
    "full width": (MultiHeadAttention, 3, {"key_dim": WIDTH}),
    "another width": (MultiHeadAttention, 4, {"out_dim": 8}),
    "another, full width": (MultiHeadAttention, 3, {"key_dim": 4, "out_dim": 4}),
    "no bias": (MultiHeadAttention, 2, {"key_dim": 4, "bias": False}),
    "no scale": (MultiHeadAttention, 2, {"scale": 1.0}),
    "grouped": (MultiHeadAttention, 6, {"num_kv_heads": 2, "key_dim": 4, "value_dim": 3}),
    "one head of keys": (MultiHeadAttention, 3, {"num_kv_heads": 1}),
    "rotary": (MultiHeadAttention, 2, {"rotary": True, "key_dim": 4}),
    "rotary and grouped": (MultiHeadAttention, 6, {"rotary": True, "num_kv_heads": 3, "key_dim": 6, "value_dim": 3}),
    "packed": (PackedMultiHeadAttention, 2, {}),
    "packed, no bias": (PackedMultiHeadAttention, 2, {"bias": False}),
    "packed, another width": (PackedMultiHeadAttention, 2, {"out_dim": 4}),
    "packed, rotary and grouped": (
        PackedMultiHeadAttention,
        4,
        {"rotary": True, "num_kv_heads": 2, "key_dim": 4, "value_dim": 3},
    ),
}


@pytest.mark.parametrize("mask", [None, "key", "causal", "full"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_equals_pytorch_by_hand(form, mask) -> None:
    """The result, the weights, and the gradients of the input and of every parameter."""
    kind, heads, settings = FORMS[form]
    ours = randomized(kind(WIDTH, heads, rng=rng(), dtype=np.float64, **settings))
    full = rng(7).random((BATCH, heads, LENGTH, LENGTH)) < 0.6
    full[..., 0] = True
    cases: dict[str | None, Any] = {
        None: ({}, None),
        "key": ({"key_mask": KEY_MASK}, KEY_MASK[:, None, None]),
        "causal": ({"causal": True}, np.tri(LENGTH, dtype=bool)),
        "full": ({"mask": full}, full),
    }
    masks, allowed = cases[mask]
    leaves = {name: to_torch(p.data, True) for name, p in ours.named_parameters()}
    named = dict(leaves)
    if kind is PackedMultiHeadAttention:  # its one map taken apart
        for part in ("weight", "bias")[: 2 if "input.bias" in leaves else 1]:
            pieces = torch.split(named[f"input.{part}"], list(ours.widths), -1)
            named |= {f"{name}.{part}": piece for name, piece in zip(("query", "key", "value"), pieces)}
    x, torch_x = Tensor(X, requires_grad=True), to_torch(X, True)
    torch_allowed = None if allowed is None else to_torch(allowed)
    torch_y, torch_weights = by_hand(ours, named, [torch_x] * 3, torch_allowed)
    assert_close(ours.attention_weights(x, **masks).numpy(), torch_weights.detach().numpy())
    assert_same([ours(x, **masks), x], [torch_y, torch_x])
    for name, parameter in ours.named_parameters():
        assert_close(gradient(parameter), leaves[name].grad.numpy(), name)


@pytest.mark.parametrize("form", ["uneven", "keys and values of other widths", "grouped", "rotary and grouped"])
def test_gradients_of_the_forms(form) -> None:
    kind, heads, settings = FORMS[form]
    ours = randomized(kind(WIDTH, heads, rng=rng(), dtype=np.float64, **settings))
    check_module(ours, X[:2, :3], causal=True)


def test_a_result_of_another_width() -> None:
    """The heads share out_dim, and it is what errors speak of; PyTorch's MultiheadAttention has none."""
    ours = MultiHeadAttention(WIDTH, 4, out_dim=8, rng=rng())
    assert ours.query.weight.shape == (WIDTH, 8) and ours(X).shape == (BATCH, LENGTH, 8)
    assert repr(ours).startswith("MultiHeadAttention(6, num_heads=4, out_dim=8)")
    with pytest.raises(
        ArgumentError, match=r"num_heads=4 does not divide out_dim=6: set the width of a head, such as key_dim=1"
    ):
        MultiHeadAttention(8, 4, out_dim=6, rng=rng())
    with pytest.raises(ArgumentError, match="out_dim must be a positive integer, got 0"):
        MultiHeadAttention(8, 4, out_dim=0, rng=rng())
    with pytest.raises(ArgumentError, match=r"unlike MultiHeadAttention\(6, num_heads=2, out_dim=4\)"):
        to_torch_state(MultiHeadAttention(WIDTH, 2, key_dim=3, out_dim=4, rng=rng()))


def test_heads_in_a_list_equal_multi_head_attention() -> None:
    """The Flax article's form: a list of heads, concatenated, and an Affine that restores the width."""
    ours = randomized(MultiHeadAttention(7, 3, rng=rng(), key_dim=7 // 3, value_dim=4, dtype=np.float64))
    heads = [AttentionHead(7, 2, 4, rng=rng(), dtype=np.float64) for _ in range(3)]
    for i, head in enumerate(heads):
        for name in ("query", "key", "value"):
            one, all_ = getattr(head, name), getattr(ours, name)
            width = one.weight.shape[1]
            for part in ("weight", "bias"):
                getattr(one, part).data = getattr(all_, part).data[..., i * width : (i + 1) * width].copy()
    x = Tensor(rng(5).standard_normal((2, 4, 7)), requires_grad=True)
    key_mask = np.array([[True] * 4, [True, False, True, False]])
    y = ours.output(np.concatenate([head(x, key_mask=key_mask) for head in heads], axis=-1))
    assert_close(ours(x, key_mask=key_mask).numpy(), y.numpy())
    weights = [head.attention_weights(x, key_mask=key_mask).numpy() for head in heads]
    assert_close(ours.attention_weights(x, key_mask=key_mask).numpy(), np.stack(weights, axis=1))


def test_scaling_before_or_after_masking_gives_equal_weights() -> None:
    """softmax(mask(q k^T) / sqrt(d)) as the articles write it, softmax(mask(q k^T / sqrt(d))), and ours."""
    ours = randomized(MultiHeadAttention(WIDTH, 2, rng=rng(), dtype=np.float64))
    q, k = (split_heads((X @ part.weight + part.bias).numpy(), 2) for part in (ours.query, ours.key))
    scores, scale = q @ k.swapaxes(-1, -2), 1 / np.sqrt(WIDTH / 2)
    allowed = KEY_MASK[:, None, None]
    before = softmax(np.where(allowed, scores * scale, -np.inf))
    after = softmax(np.where(allowed, scores, -np.inf) * scale)
    np.testing.assert_array_equal(before, after)
    assert_close(ours.attention_weights(X, key_mask=KEY_MASK).numpy(), before)


@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize("groups", [1, 3])
def test_the_function_equals_pytorch_with_and_without_the_scale(scale, groups) -> None:
    """``scale=1.0`` is no scale. A query whose keys are all masked gets zeros, which PyTorch gives too."""
    generator = rng(2)
    arrays = [generator.standard_normal((2, length, 6)) for length in (4, 5, 5)]
    mask = generator.random((2, 1, 4, 5)) < 0.5
    mask[0, :, 1] = False
    tensors, torch_tensors = twins(*arrays)
    q, k, v = (t.unflatten(-1, (groups, 6 // groups)).swapaxes(1, 2) for t in torch_tensors)
    torch_y = functional.scaled_dot_product_attention(q, k, v, to_torch(mask), scale=scale).swapaxes(1, 2).flatten(-2)
    y = scaled_dot_product_attention(*tensors, mask, scale=scale, num_heads=groups)
    assert not y.numpy()[0, 1].any()
    assert_same([y, *tensors], [torch_y, *torch_tensors])


def test_the_function_without_a_scale_by_hand() -> None:
    q, k, v = (rng(2).standard_normal((length, 3)) for length in (2, 4, 4))
    e = np.exp(q @ k.T)
    assert_close(scaled_dot_product_attention(q, k, v, scale=1.0), e / e.sum(1, keepdims=True) @ v)
