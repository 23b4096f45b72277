"""The configs of the models: to a dictionary and back, and what is refused."""

import dataclasses
import re
from typing import Any

import pytest

import models
from minigrad import ArgumentError, silu

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
    with pytest.raises(ArgumentError, match=rf"num_layers must be an? (positive )?integer, got {count}"):
        config(**CONFIGS[config], num_layers=count)


def test_decoder_layers_may_be_0_for_as_many_but_not_negative() -> None:
    with pytest.raises(ArgumentError, match="decoder_layers must be an integer, 0 or more, got -1"):
        models.TransformerConfig(5, 1, 2, decoder_layers=-1)


@pytest.mark.parametrize("config", CONFIGS)
def test_the_docstring_names_every_setting(config: Any) -> None:
    named = re.findall(r"^ {8}(\w[\w, ]*):", config.__doc__.partition("Attributes:")[2], re.MULTILINE)
    own = {field.name for field in dataclasses.fields(config)} - {"notes"}  # the base class describes that one
    assert own <= {name for names in named for name in names.split(", ")}


TRANSFORMERS = [config for config in CONFIGS if hasattr(config, "num_heads")]


@pytest.mark.parametrize("config", TRANSFORMERS)
def test_what_the_layers_would_refuse_is_named_by_the_config(config: Any) -> None:
    """And the way out is one that this config has."""
    settings = CONFIGS[config]
    for heads, width, sizes in (
        (4, 30, "d_model=28 or d_model=32"),
        (8, 6, "d_model=8"),
        (5, 7, "d_model=5 or d_model=10"),
    ):
        with pytest.raises(
            ArgumentError, match=f"^num_heads={heads} does not divide d_model={width}: take {sizes}"
        ) as raised:
            config(**settings, d_model=width, num_heads=heads)
        assert ("strict=False" in str(raised.value)) == hasattr(config, "strict") and "key_dim" not in str(raised.value)
    for size in ("d_model", "num_heads"):
        for value in (0, -4, 1.5, "8"):
            with pytest.raises(ArgumentError, match=f"{size} must be a positive integer, got {value!r}"):
                config(**settings | {size: value})
    wrong: list[Any] = ["swish", silu, ["relu"], None]
    for value in wrong:
        with pytest.raises(ArgumentError, match="activation must be one of relu, gelu, gelu_tanh, silu, swiglu, got "):
            config(**settings, activation=value)
    assert config(**settings, activation="silu").activation == "silu"
