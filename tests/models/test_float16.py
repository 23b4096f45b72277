"""Every network in float16: the gradients of float32, to the rounding of float16."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import Tensor
from models import (
    GPT,
    BertConfig,
    BertEncoder,
    Bigram,
    ClassifierConfig,
    GPTConfig,
    RNNEncoderDecoder,
    RNNEncoderDecoderConfig,
    SkipGram,
    SkipGramConfig,
    Transformer,
    TransformerClassifier,
    TransformerConfig,
    TwoLayerConfig,
    TwoLayerTransformer,
    VisionTransformer,
    VisionTransformerConfig,
)

RNG = np.random.default_rng(0)
IDS, TARGETS = RNG.integers(3, 20, (6, 9)), RNG.integers(3, 20, (6, 7))
MASK = np.arange(9) < np.array([9, 1, 5, 3, 9, 2])[:, None]
X = RNG.standard_normal((6, 9, 5)).astype(np.float32)
IMAGES = RNG.standard_normal((6, 8, 8)).astype(np.float32)
CLASSES = np.arange(6) % 3

NETWORKS: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
    "classifier": (
        TransformerClassifier,
        ClassifierConfig(20, 3, d_model=16, num_layers=1, dropout=0.1),
        lambda m: nn.cross_entropy(half(m(IDS, MASK)), CLASSES),
    ),
    "GPT": (
        GPT,
        GPTConfig(vocab_size=20, window=9, d_model=16, num_layers=1, num_heads=2),
        lambda m: nn.cross_entropy(half(m(IDS)), IDS),
    ),
    "Transformer": (
        Transformer,
        TransformerConfig(20, 1, 2, d_model=16, num_layers=1),
        lambda m: nn.cross_entropy(half(m(IDS, TARGETS, MASK)), TARGETS),
    ),
    "RNN": (
        RNNEncoderDecoder,
        RNNEncoderDecoderConfig(20, 20, 1, 2, embedding=8, hidden=8),
        lambda m: nn.cross_entropy(half(m(IDS, TARGETS, MASK)), TARGETS),
    ),
    "BERT": (
        BertEncoder,
        BertConfig(vocab_size=20, d_model=16, num_heads=2, num_layers=1, hidden=32, max_positions=16),
        lambda m: nn.mean_squared_error(half(m(IDS, MASK)), X.mean() * np.ones(m(IDS, MASK).shape, np.float32)),
    ),
    "ViT": (
        VisionTransformer,
        VisionTransformerConfig(8, 4, 3, d_model=16, num_layers=1),
        lambda m: nn.cross_entropy(half(m(IMAGES)), CLASSES),
    ),
    "skip-gram": (SkipGram, SkipGramConfig(20, d_model=8), lambda m: m.loss(IDS[0])),
    "bigram": (Bigram, SkipGramConfig(20, d_model=8), lambda m: m.loss(IDS[0])),
    "two layers": (
        TwoLayerTransformer,
        TwoLayerConfig(5, 8, 3),
        lambda m: m.loss(X, np.eye(3)[CLASSES], key_mask=MASK),
    ),
}


def half(logits: Tensor) -> Tensor:
    """What was computed is in the dtype of the parameters: nothing on the way has made float32 of it."""
    assert logits.dtype in (np.float16, np.float32)
    DTYPES.append(logits.dtype)
    return logits


DTYPES: list[Any] = []


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_in_float16(name: str) -> None:
    kind, config, loss = NETWORKS[name]
    model, reference = (kind(config, rng=np.random.default_rng(1)) for _ in range(2))
    precision = nn.MixedPrecision(model, nn.SGD(model.parameters()), scale=2.0**10)
    DTYPES.clear()
    with precision:
        value = loss(model)
    assert set(DTYPES) <= {np.dtype(np.float16)}
    precision.backward(value)
    assert not precision.overflowed
    expected = loss(reference)
    expected.backward()
    np.testing.assert_allclose(value.item(), expected.item(), rtol=3e-3)
    error = size = 0.0
    for p, q in zip(model.parameters(), reference.parameters()):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            error += np.square(p.grad.data - q.grad.data).sum()
            size += np.square(q.grad.data).sum()
    assert 0 < error < 1e-4 * size
