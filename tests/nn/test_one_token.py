"""Decoding one token on plain arrays: the numbers of the layer's own way, and only where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import GraphError, ShapeError
from nn import one_token

D, LENGTH = 12, 9


def layer_of(dtype: Any = np.float64, **settings: Any) -> nn.TransformerEncoderLayer:
    layer = nn.TransformerEncoderLayer(D, 3, 20, rng=np.random.default_rng(0), dtype=dtype, **settings).eval()
    random = np.random.default_rng(1)
    for parameter in layer.parameters():  # none is 0 or 1, so that each shows
        parameter.data += random.normal(0, 0.3, parameter.shape)
    return layer


def tokens(batch: int = 2, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(2).normal(size=(batch, LENGTH, D)).astype(dtype)


def decoded(layer: Any, x: Any, first: int = 1, **masks: Any) -> Any:
    """The prompt at once, then token by token."""
    cache, parts = nn.KeyValueCache(), [slice(0, first), *(slice(t, t + 1) for t in range(first, LENGTH))]
    with mg.no_grad():
        return np.concatenate([layer(x[:, part], cache=cache, **masks).numpy() for part in parts], axis=1)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What ``applies`` has said."""
    said: list[bool] = []
    applies = one_token.applies

    def told(layer: Any, x: Any) -> bool:
        said.append(applies(layer, x))
        return said[-1]

    monkeypatch.setattr(one_token, "applies", told)
    return said


@pytest.mark.parametrize("first", [1, 4])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_the_numbers_of_the_whole_sequence(
    dtype: Any, tolerance: float, activation: str, batch: int, first: int, held: list[bool]
) -> None:
    layer, x = layer_of(dtype, activation=activation, eps=1e-3), tokens(batch, dtype)
    got = decoded(layer, x, first, causal=True)
    assert held == [first == 1] + [True] * (LENGTH - first)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, layer(x, causal=True).numpy(), atol=tolerance, rtol=tolerance)


def test_a_scale_and_maps_without_a_bias() -> None:
    layer, rng = layer_of(), np.random.default_rng(3)
    layer.attention = nn.MultiHeadAttention(D, 3, value_dim=5, scale=0.7, bias=False, rng=rng, dtype=float)
    x = tokens()
    np.testing.assert_allclose(decoded(layer, x, causal=True), layer(x, causal=True).numpy(), atol=1e-12)


def replaced(layer: nn.TransformerEncoderLayer) -> nn.TransformerEncoderLayer:
    class Doubled(nn.Affine):
        def forward(self, x: Any) -> Any:
            return 2 * super().forward(x)

    layer.attention.query = Doubled(D, D, rng=np.random.default_rng(4), dtype=float)
    return layer


def normalized_otherwise(layer: nn.TransformerEncoderLayer) -> nn.TransformerEncoderLayer:
    layer.feed_forward_norm = nn.LayerNorm(D, eps_outside=True, dtype=float)
    return layer


def with_shared_heads(layer: nn.TransformerEncoderLayer) -> nn.TransformerEncoderLayer:
    layer.attention = nn.MultiHeadAttention(D, 3, num_kv_heads=1, rng=np.random.default_rng(5), dtype=float)
    return layer


OTHERS = {
    "rotary": lambda: layer_of(rotary=True),
    "post-norm": lambda: layer_of(norm="post"),
    "a gate": lambda: layer_of(activation="swiglu"),
    "a map of another kind": lambda: replaced(layer_of()),
    "eps outside of the root": lambda: normalized_otherwise(layer_of()),
    "keys that heads share": lambda: with_shared_heads(layer_of()),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_layer_of_another_kind_goes_its_own_way(kind: str, held: list[bool]) -> None:
    layer, x = OTHERS[kind](), tokens()
    np.testing.assert_allclose(decoded(layer, x, causal=True), layer(x, causal=True).numpy(), atol=1e-12, rtol=1e-12)
    assert not any(held)


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout"])
def test_dropout_that_is_on_drops(kind: str, held: list[bool]) -> None:
    layer, x = layer_of(**{kind: 0.5}), tokens()
    dropout = layer.attention_dropout if kind == "dropout" else layer.attention.dropout
    assert dropout is not None
    dropout.train()
    assert np.abs(decoded(layer, x, causal=True) - layer.eval()(x, causal=True).numpy()).max() > 0.1
    assert not any(held)


def test_a_mask_is_asked_for_in_the_layers_own_way(held: list[bool]) -> None:
    layer, x = layer_of(), tokens()
    cache = nn.KeyValueCache()
    with mg.no_grad():
        layer(x[:, :4], causal=True, cache=cache)
        seen = np.array([[True] * 5, [False, *[True] * 4]])
        got = layer(x[:, 4:5], causal=True, key_mask=seen, cache=cache).numpy()
    whole = np.tri(5, dtype=bool) & seen[:, None, None, :]
    np.testing.assert_allclose(got[:, 0], layer(x[:, :5], mask=whole).numpy()[:, 4], atol=1e-12)
    assert held == [False]


def test_where_somebody_watches_the_layer_goes_its_own_way(held: list[bool]) -> None:
    layer, x = layer_of(), tokens()
    with mg.trace():
        got = decoded(layer, x, causal=True)
    np.testing.assert_allclose(got, layer(x, causal=True).numpy(), atol=1e-12)
    assert not any(held)


def test_what_is_recorded_is_refused_and_a_cache_of_another_batch_is_too() -> None:
    layer, x = layer_of(), tokens()
    cache = nn.KeyValueCache()
    with pytest.raises(GraphError, match="no_grad"):
        layer(x[:, :1], cache=cache)
    assert cache.length == 0
    with mg.no_grad():
        layer(x[:, :1], cache=cache)
        with pytest.raises(ShapeError, match="make a new KeyValueCache"):
            layer(x[:1, 1:2], cache=cache)
    assert cache.length == 1


def test_an_empty_batch() -> None:
    with mg.no_grad():
        assert layer_of()(np.ones((0, 1, D)), cache=nn.KeyValueCache()).shape == (0, 1, D)


def test_of_a_row_of_equal_numbers_nothing_is_left_by_rounding() -> None:
    norm = nn.LayerNorm(D)
    norm.bias.data += 0.5
    for number in (410694.28125, 166259.828125, 1e6 / 3):
        row = np.full((1, D), number, np.float32)
        np.testing.assert_allclose(one_token._normed(row, norm), 0.5, atol=1e-3)
