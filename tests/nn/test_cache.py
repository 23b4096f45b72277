"""Decoding with a cache equals the whole causal pass; what it holds, and what it refuses."""

from typing import Any

import numpy as np
import pytest

from minigrad import GraphError, ShapeError, Tensor, no_grad
from nn import KeyValueCache, MultiHeadAttention, PackedMultiHeadAttention
from tests.nn.layers import randomized, rng

BATCH, LENGTH, WIDTH = 3, 9, 8
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))
KEY_MASK = np.arange(LENGTH) >= np.array([[0], [2], [5]])  # padding goes before the prompt
FORMS: dict[str, Any] = {
    "plain": (MultiHeadAttention, {}),
    "other widths": (MultiHeadAttention, {"key_dim": 3, "value_dim": 5}),
    "grouped": (MultiHeadAttention, {"num_kv_heads": 2}),
    "rotary": (MultiHeadAttention, {"rotary": True}),
    "rotary and grouped": (MultiHeadAttention, {"rotary": True, "num_kv_heads": 1, "key_dim": 6}),
    "packed": (PackedMultiHeadAttention, {"rotary": True}),
}


def layer(form: str = "plain", dtype=np.float64) -> MultiHeadAttention:
    kind, settings = FORMS[form]
    made: MultiHeadAttention = randomized(kind(WIDTH, 4, rng=rng(), dtype=dtype, **settings))
    return made


def pieces(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


SIZES = pytest.mark.parametrize("sizes", [[1] * LENGTH, [4, 1, 1, 1, 1, 1], [2, 3, 4], [LENGTH]], ids=str)


@SIZES
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_decoding_step_by_step_equals_the_whole_pass(form, padded, sizes) -> None:
    ours, cache = layer(form), KeyValueCache()
    key_mask = KEY_MASK if padded else np.ones_like(KEY_MASK)
    whole = ours(X, key_mask=key_mask, causal=True).numpy()
    weights = ours.attention_weights(X, key_mask=key_mask, causal=True).numpy()
    for piece in pieces(sizes):
        settings: Any = {"key_mask": key_mask[:, : piece.stop], "causal": True, "cache": cache}
        with no_grad():
            seen = ours.attention_weights(X[:, piece], **settings).numpy()  # looking leaves the cache as it is
            y = ours(X[:, piece], **settings).numpy()
        np.testing.assert_allclose(y, whole[:, piece], rtol=0, atol=1e-12)
        np.testing.assert_allclose(seen, weights[:, :, piece, : piece.stop], rtol=0, atol=1e-12)
        assert cache.length == piece.stop


def test_masks_speak_of_all_keys() -> None:
    ours, cache = layer(), KeyValueCache()
    mask = rng(5).random((LENGTH, LENGTH)) < 0.5
    whole = ours(X, mask=mask).numpy()
    with no_grad():
        ours(X[:, :5], cache=cache)  # what the first queries see does not matter to the later ones
        np.testing.assert_allclose(ours(X[:, 5:], mask=mask[5:], cache=cache).numpy(), whole[:, 5:], rtol=0, atol=1e-12)


def test_holds_the_keys_and_values_of_all_calls() -> None:
    ours, cache = layer("grouped"), KeyValueCache()
    assert (cache.keys, cache.values, cache.length) == (None, None, 0)
    with no_grad():
        for piece in pieces([3, 1, 1, 4]):
            ours(X[:, piece], cache=cache)
        np.testing.assert_allclose(cache.keys, ours.key(X).numpy(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(cache.values, ours.value(X).numpy(), rtol=0, atol=1e-12)
    assert cache.keys.shape == (BATCH, LENGTH, 2 * 2)  # two heads of keys, not four


def test_growing_copies_seldom() -> None:
    """A thousand tokens need ten buffers, not a thousand."""
    cache, token, buffers = KeyValueCache(), Tensor(np.ones((1, 1, 2))), set()
    kept = []
    for _ in range(1000):
        cache.append(token, token)
        kept.append(cache.keys.base)  # alive, so that no address comes twice
        buffers.add(id(cache.keys.base))
    assert cache.length == 1000 and len(buffers) <= 10


def test_select_keeps_sequences_in_the_order_of_beam_search() -> None:
    ours, cache, rows = layer("rotary"), KeyValueCache(), [2, 0, 0, 1]
    cache.select(rows)  # nothing to select from
    with no_grad():
        ours(X[:, :5], causal=True, cache=cache)
        cache.select(rows)
        y = ours(X[rows, 5:], causal=True, cache=cache).numpy()
    np.testing.assert_allclose(y, ours(X, causal=True).numpy()[rows, 5:], rtol=0, atol=1e-12)
    with pytest.raises(IndexError):
        cache.select([4])


def test_recording_a_gradient_raises_and_leaves_the_cache() -> None:
    ours, cache = layer(), KeyValueCache()
    with pytest.raises(GraphError, match=r"no part in the backward pass: call the layer inside `with no_grad\(\):`"):
        ours(X, causal=True, cache=cache)
    assert cache.length == 0
    for parameter in ours.parameters():  # a frozen layer records nothing
        parameter.requires_grad = False
    ours(X, causal=True, cache=cache)
    assert cache.length == LENGTH


def test_a_cache_of_another_layer_or_batch_raises_and_is_left() -> None:
    ours, cache = layer(), KeyValueCache()
    with no_grad():
        ours(X[:, :4], cache=cache)
        before = cache.keys.copy()
        for other, x in (
            (ours, X[:2]),
            (layer("other widths"), X),
            (layer("grouped"), X),
            (layer(dtype=np.float32), X),
        ):
            with pytest.raises(
                ShapeError, match=r"holds keys of float64 and shape \(3, 4, 8\), and got .* make a new Key"
            ):
                other(x, cache=cache)
        with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 5\), got \(3, 1\)"):
            ours(X[:, 4:5], key_mask=KEY_MASK[:, 4:5], cache=cache)
    np.testing.assert_array_equal(cache.keys, before)


def test_on_a_device(put) -> None:
    results = []
    for to in (np.asarray, put):
        ours, cache = layer("rotary and grouped"), KeyValueCache()
        for parameter in ours.parameters():
            parameter.data = to(parameter.data)
        with no_grad():
            ys = [ours(Tensor(to(X[:, piece])), causal=True, cache=cache).numpy() for piece in pieces([4, 1, 2])]
            cache.select([1, 1])
            seen = ours.attention_weights(Tensor(to(X[:2, 7:])), causal=True, cache=cache).numpy()
        assert type(cache.keys) is type(to(X))
        results.append([*ys, seen])
    for host, device in zip(*results, strict=True):
        np.testing.assert_allclose(device, host, rtol=0, atol=1e-12)
