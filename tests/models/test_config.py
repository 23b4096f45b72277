"""The configs of the models: to a dictionary and back, and what is refused."""

from typing import Any

import pytest

import models
from minigrad import ArgumentError

CONFIGS: dict[Any, dict[str, Any]] = {
    models.BertConfig: {},
    models.ClassifierConfig: {"vocab_size": 5, "num_classes": 2},
    models.GPTConfig: {"vocab_size": 5, "window": 4},
    models.TransformerConfig: {"source_vocab": 5, "start": 1, "end": 2},
    models.VisionTransformerConfig: {"image_size": 4, "patch_size": 2, "num_classes": 2},
    models.RNNEncoderDecoderConfig: {"source_vocab": 5, "target_vocab": 5, "start": 1, "end": 2},
    models.SkipGramConfig: {"vocab_size": 5},
    models.TwoLayerConfig: {"input_size": 2, "hidden_size": 3, "output_size": 2},
}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_dictionary_and_back(config: Any) -> None:
    made = config(**CONFIGS[config])
    assert config.from_dict(made.to_dict()) == made
    with pytest.raises(ArgumentError, match=f"{config.__name__} has no 'heads'; it has "):
        config.from_dict(CONFIGS[config] | {"heads": 2})
    if CONFIGS[config]:
        with pytest.raises(ArgumentError, match=f"{config.__name__}.from_dict: .*missing"):
            config.from_dict({})


@pytest.mark.parametrize("config", [config for config in CONFIGS if hasattr(config, "num_layers")])
@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_a_model_has_layers(config: Any, count: Any) -> None:
    with pytest.raises(ArgumentError, match=f"num_layers must be a positive integer, got {count}"):
        config(**CONFIGS[config], num_layers=count)


def test_decoder_layers_may_be_0_for_as_many_but_not_negative() -> None:
    with pytest.raises(ArgumentError, match="decoder_layers must be an integer, 0 or more, got -1"):
        models.TransformerConfig(5, 1, 2, decoder_layers=-1)
