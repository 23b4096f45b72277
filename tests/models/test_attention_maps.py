"""`minigrad.attention_maps` on every model that has `attention_weights`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models as m
from minigrad import attention_maps

rng = np.random.default_rng(0)
IDS = rng.integers(3, 20, size=(2, 6))
MASK = np.array([[True] * 6, [True] * 4 + [False] * 2])
TOKENS = list("吾輩は猫である"[:6])


def classifier() -> Any:
    config = m.ClassifierConfig(20, 3, d_model=8, num_heads=2, num_layers=2, dropout=0.5)
    return m.TransformerClassifier(config, rng=rng)


def gpt() -> Any:
    return m.GPT(m.GPTConfig(20, 8, d_model=8, num_heads=2, num_layers=2, dropout=0.5), rng=rng)


def bert() -> Any:
    config = m.BertConfig(vocab_size=20, max_positions=8, d_model=8, num_heads=2, num_layers=2, hidden=16)
    return m.BertEncoder(config, rng=rng)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("make", "inputs", "heads"),
    [(classifier, (IDS, MASK), 2), (gpt, IDS, 2), (bert, (IDS, MASK), 2)],
)
def test_models_of_one_stack(make: Callable[[], Any], inputs: Any, heads: int, tmp_path: Path) -> None:
    model = make()
    found = attention_maps(model, inputs, TOKENS, tmp_path / "maps.html", example=1)
    assert model.training
    model.eval()
    given = model.attention_weights(*(inputs if isinstance(inputs, tuple) else (inputs,)))
    assert len(found.layers) == 2
    for layer, weights in zip(found.layers, given):
        assert layer.weights.shape == (heads, 6, 6)
        assert np.array_equal(layer.weights, weights.numpy()[1])
        assert layer.queries == layer.keys == TOKENS
        np.testing.assert_allclose(layer.weights.sum(axis=-1), 1, rtol=1e-5)
    found.plot(tmp_path / "maps.png")


def test_vision_transformer(tmp_path: Path) -> None:
    config = m.VisionTransformerConfig(image_size=4, patch_size=2, channels=1, num_classes=3, d_model=8, num_heads=2)
    model = m.VisionTransformer(config, rng=rng)
    patches = ["class", "0,0", "0,1", "1,0", "1,1"]
    found = attention_maps(model, rng.normal(size=(1, 4, 4, 1)), patches, tmp_path / "maps.png")
    assert [layer.weights.shape for layer in found.layers] == [(2, 5, 5)] * 2


def test_transformer_with_cross_attention(tmp_path: Path) -> None:
    config = m.TransformerConfig(20, 1, 2, d_model=8, num_heads=2, num_layers=1, decoder_layers=2)
    model = m.Transformer(config, rng=rng)
    target = ["<s>", "I", "am", "a", "cat"]
    inputs = (IDS, rng.integers(3, 20, size=(2, 5)), MASK)
    found = attention_maps(model, inputs, target, tmp_path / "maps.png", key_tokens=TOKENS, example=1)
    assert [(layer.part, layer.number, layer.weights.shape) for layer in found.layers] == [
        ("encoder", 1, (2, 6, 6)),
        ("decoder", 1, (2, 5, 5)),
        ("decoder", 2, (2, 5, 5)),
        ("cross", 1, (2, 5, 6)),
        ("cross", 2, (2, 5, 6)),
    ]
    assert (found.layers[-1].queries, found.layers[-1].keys) == (target, TOKENS)
    assert not found.layers[-1].weights[..., 4:].any()  # the padding of the source


def test_the_network_of_the_article_has_one_head() -> None:
    model = m.TwoLayerTransformer(m.TwoLayerConfig(input_size=5, hidden_size=8, output_size=3), rng=rng)
    found = attention_maps(model, rng.normal(size=(1, 6, 5)), TOKENS)
    assert [layer.weights.shape for layer in found.layers] == [(1, 6, 6)] * 2


def test_the_recurrent_encoder_decoder_has_one_map() -> None:
    config = m.RNNEncoderDecoderConfig(20, 20, start=1, end=2, embedding=8, hidden=8)
    model = m.RNNEncoderDecoder(config, rng=rng)
    (layer,) = attention_maps(model, (IDS, IDS[:, :3]), "abc", key_tokens=TOKENS).layers
    assert layer.weights.shape == (1, 3, 6)
