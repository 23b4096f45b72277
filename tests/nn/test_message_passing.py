"""Message passing against a loop over the edges, and the simplified attention against PyTorch's function."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, check_grads
from nn import MessagePassing, SimplifiedAttention, causal_mask
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, gradient, rng, to_torch

BATCH, LENGTH, WIDTH = 2, 4, 3
KEY_MASK = np.array([[True, True, True, False], [True, False, True, True]])
H = rng(3).standard_normal((BATCH, LENGTH, WIDTH))
GRAPH = rng(4).standard_normal((BATCH, LENGTH, LENGTH))


def edge_by_edge(adjacency: np.ndarray, h: np.ndarray) -> np.ndarray:
    result = np.zeros_like(h)
    for graph in range(len(h)):
        for i in range(LENGTH):
            for j in range(LENGTH):
                result[graph, i] += adjacency[graph, i, j] * h[graph, j]
    return result


@pytest.mark.parametrize("adjacency", [GRAPH, GRAPH[0]], ids=["one a sentence", "one for all"])
def test_a_given_graph(adjacency) -> None:
    per_sentence = np.broadcast_to(adjacency, GRAPH.shape)
    assert_close(MessagePassing()(H, adjacency).numpy(), edge_by_edge(per_sentence, H))
    masked = per_sentence * KEY_MASK[:, None] * causal_mask(LENGTH)
    layer = MessagePassing()
    assert_close(layer(H, adjacency, key_mask=KEY_MASK, causal=True).numpy(), edge_by_edge(masked, H))
    assert_close(layer.attention_weights(H, adjacency, mask=causal_mask(LENGTH), key_mask=KEY_MASK).numpy(), masked)
    check_grads(MessagePassing(), [H, adjacency])


def test_a_graph_of_booleans_integers_or_lists() -> None:
    edges = GRAPH[0] > 0
    expected = MessagePassing()(H, edges.astype(float)).numpy()
    for graph in (edges, edges.astype(int), edges.tolist(), Tensor(edges)):
        np.testing.assert_array_equal(MessagePassing()(H, graph).numpy(), expected)


def test_one_graph_without_a_batch_axis() -> None:
    layer = MessagePassing()
    for settings in ({}, {"adjacency": GRAPH[0]}, {"causal": True}):
        alone, batch = layer(H[0], **settings), layer(H[:1], **settings)
        np.testing.assert_array_equal(alone.numpy(), batch.numpy()[0])
    np.testing.assert_array_equal(layer.attention_weights(H[0]).numpy(), layer.attention_weights(H).numpy()[0])


@pytest.mark.parametrize("masks", [{}, {"key_mask": KEY_MASK}, {"key_mask": KEY_MASK.astype(int), "causal": True}])
def test_simplified_attention_equals_pytorch(masks) -> None:
    ours, h, torch_h = SimplifiedAttention(), Tensor(H, requires_grad=True), to_torch(H, True)
    allowed = np.ones((BATCH, LENGTH, LENGTH), bool)
    if masks:
        allowed &= KEY_MASK[:, None]
    if "causal" in masks:
        allowed &= causal_mask(LENGTH)
    theirs = torch.nn.functional.scaled_dot_product_attention(torch_h, torch_h, torch_h, attn_mask=to_torch(allowed))
    assert_close(MessagePassing()(H, **masks).numpy(), theirs.detach().numpy())
    assert_same([ours(h, **masks), h], [theirs, torch_h])
    weights = ours.attention_weights(H, **masks).numpy()
    assert_close(weights.sum(-1), np.ones((BATCH, LENGTH)))
    assert not weights[~allowed].any()


@pytest.mark.parametrize("score", ["scaled_dot", "dot", "cosine"])
def test_gradients_with_a_computed_graph(score) -> None:
    check_grads(lambda h: MessagePassing(score)(h, key_mask=KEY_MASK), [H])


def test_a_token_without_an_edge_gets_zeros() -> None:
    for graph in (None, GRAPH):
        h, mask = Tensor(H, requires_grad=True), np.ones((LENGTH, LENGTH), bool)
        mask[1] = False
        y = MessagePassing()(h, graph, mask=mask)
        y.sum().backward()
        assert not y.numpy()[:, 1].any() and y.numpy()[:, 0].all()
        assert np.isfinite(gradient(h)).all()


def test_computes_in_the_dtype_of_its_input() -> None:
    h = H.astype(np.float32)
    assert SimplifiedAttention()(h).dtype == np.float32
    assert MessagePassing()(h, GRAPH).dtype == np.float32
    with pytest.raises(DTypeError, match="SimplifiedAttention needs a floating input, got dtype int64"):
        SimplifiedAttention()(np.ones((1, 2, 2), int))


def test_what_does_not_fit_raises() -> None:
    with pytest.raises(ShapeError, match=r"adjacency must have the shape \(4, 4\) or \(2, 4, 4\), got \(3, 4, 4\)"):
        MessagePassing()(H, np.ones((3, 4, 4)))
    with pytest.raises(ShapeError, match=r"adjacency must have the shape \(4, 4\), got \(2, 4, 4\)"):
        MessagePassing()(H[0], GRAPH)
    with pytest.raises(ShapeError, match=r"h of shape \(batch, length, d\) or \(length, d\), got \(3,\)"):
        MessagePassing()(H[0, 0])
    with pytest.raises(ArgumentError, match="score must be one of"):
        MessagePassing("edges")
