"""Every attention gives its weights from the pass that made its result: equal to the two asked for one by one."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import Tensor, check_grads, no_grad
from tests.nn.layers import assert_close, gradient, randomized, rng

BATCH, LENGTH, WIDTH = 2, 4, 6
KEY_MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
F64: dict[str, Any] = {"rng": rng(), "dtype": np.float64}
LAYERS: dict[str, nn.Module] = {
    "one head": nn.AttentionHead(WIDTH, 3, **F64),
    "several": nn.MultiHeadAttention(WIDTH, 2, **F64),
    "grouped and rotary": nn.MultiHeadAttention(WIDTH, 4, num_kv_heads=2, key_dim=2, value_dim=3, rotary=True, **F64),
    "another width": nn.MultiHeadAttention(WIDTH, 2, out_dim=4, **F64),
    "packed": nn.PackedMultiHeadAttention(WIDTH, 2, **F64),
    "attention": nn.Attention(WIDTH, WIDTH, 5, score="additive", **F64),
    "self": nn.SelfAttention(WIDTH, 3, **F64),
    "dot": nn.DotProductAttention(scale=True),
    "local": nn.LocalAttention(1),
    "predictive": nn.PredictiveLocalAttention(WIDTH, 2, **F64),
    "key-value": nn.KeyValueAttention(2, 4, **F64),
    "context": nn.ContextAttention(WIDTH, **F64),
    "messages": nn.MessagePassing(),
    "simplified": nn.SimplifiedAttention(),
}


def inputs() -> np.ndarray:
    return rng(3).standard_normal((BATCH, LENGTH, WIDTH))


@pytest.mark.parametrize("name", LAYERS)
def test_the_result_and_the_weights_are_those_asked_for_alone(name: str) -> None:
    layer, x = randomized(LAYERS[name]), inputs()
    result, weights = layer.with_weights(x, key_mask=KEY_MASK)
    assert_close(result.numpy(), layer(x, key_mask=KEY_MASK).numpy())
    np.testing.assert_array_equal(weights.numpy(), layer.attention_weights(x, key_mask=KEY_MASK).numpy())


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_flow_through_both(name: str) -> None:
    """A penalty on the weights is differentiated along with the result."""
    layer, x = randomized(LAYERS[name]), inputs()[:1]

    def penalized(x: Any) -> Any:
        result, weights = layer.with_weights(x)
        return (result**2).sum() - (weights * np.cos(weights)).sum()

    if name != "predictive":  # its window has an edge, where it has no derivative
        check_grads(penalized, [x], order=1)
    tensor = Tensor(x, requires_grad=True)
    layer.with_weights(tensor)[0].sum().backward()
    alone = Tensor(x, requires_grad=True)
    layer(alone).sum().backward()
    assert_close(gradient(tensor), gradient(alone))


@pytest.mark.parametrize("layer", [nn.DotProductAttention(), nn.Attention(WIDTH, WIDTH, 5, **F64)])
def test_of_one_query(layer: Any) -> None:
    query, keys = inputs()[:, 0], inputs()
    result, weights = layer.with_weights(query, keys, key_mask=KEY_MASK)
    assert weights.shape == (BATCH, LENGTH)
    assert_close(result.numpy(), layer(query, keys, key_mask=KEY_MASK).numpy())


def test_with_a_cache_the_new_tokens_see_the_earlier_ones() -> None:
    layer, x = randomized(LAYERS["several"]), inputs()
    cache = nn.KeyValueCache()
    with no_grad():
        whole, every = layer.with_weights(x, causal=True)
        layer(x[:, :-1], causal=True, cache=cache)
        result, weights = layer.with_weights(x[:, -1:], causal=True, cache=cache)
    assert cache.length == LENGTH
    assert_close(result.numpy(), whole.numpy()[:, -1:])
    assert_close(weights.numpy(), every.numpy()[:, :, -1:])


def test_a_graph_without_weights_has_the_given_ones() -> None:
    adjacency = np.eye(LENGTH)
    result, weights = nn.MessagePassing().with_weights(inputs(), adjacency)
    np.testing.assert_array_equal(result.numpy(), inputs())
    np.testing.assert_array_equal(weights.numpy(), np.broadcast_to(adjacency, weights.shape))
