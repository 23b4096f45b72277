"""Every model, written once, on three other batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import models
import nn
from tests.minigrad.codegen.apart import close, on_the_tape

RNG = np.random.default_rng(0)


def ids(random: np.random.Generator, *shape: int) -> Any:
    return random.integers(1, 11, shape)


def loss_of(model: nn.Module) -> Callable[..., Any]:
    """Return a function of the parameters and the arguments of ``model``, which weighs each output differently."""

    def loss(parameters: Any, *inputs: Any) -> Any:
        output = nn.functional_call(model, parameters, *inputs)
        weights = np.cos(np.arange(output.size)).reshape(output.shape).astype(output.dtype)
        return np.sum(output * weights)

    return loss


def built(kind: Any, config: Any, **sizes: Any) -> Any:
    return kind(config(**sizes), rng=RNG, dtype=np.float64)


SMALL = {"d_model": 8, "num_heads": 2, "num_layers": 2}
MODELS: dict[str, tuple[Any, Callable[[np.random.Generator], tuple[Any, ...]]]] = {
    "gpt": (
        built(models.GPT, models.GPTConfig, vocab_size=11, window=6, **SMALL),
        lambda r: (ids(r, 2, 5),),
    ),
    "rotary gpt": (
        built(models.GPT, models.GPTConfig, vocab_size=11, window=6, positions="rotary", **SMALL),
        lambda r: (ids(r, 2, 5),),
    ),
    "classifier": (
        built(models.TransformerClassifier, models.ClassifierConfig, vocab_size=11, num_classes=3, **SMALL),
        lambda r: (ids(r, 2, 5),),
    ),
    "encoder-decoder": (
        built(models.Transformer, models.TransformerConfig, source_vocab=11, start=1, end=2, **SMALL),
        lambda r: (ids(r, 2, 5), ids(r, 2, 4)),
    ),
    "vision transformer": (
        built(
            models.VisionTransformer, models.VisionTransformerConfig, image_size=4, patch_size=2, num_classes=3, **SMALL
        ),
        lambda r: (r.normal(size=(2, 4, 4, 1)),),
    ),
    "bert": (
        built(models.BertEncoder, models.BertConfig, vocab_size=11, hidden=8, max_positions=6, **SMALL),
        lambda r: (ids(r, 2, 5),),
    ),
    "rnn": (
        built(
            models.RNNEncoderDecoder, models.RNNEncoderDecoderConfig, source_vocab=11, target_vocab=11, start=1, end=2
        ),
        lambda r: (ids(r, 2, 5), ids(r, 2, 4)),
    ),
    "two layers": (
        built(models.TwoLayerTransformer, models.TwoLayerConfig, input_size=3, hidden_size=4, output_size=2),
        lambda r: (r.normal(size=(2, 5, 3)),),
    ),
    "skip-gram": (
        built(models.SkipGram, models.SkipGramConfig, vocab_size=11, d_model=4, window=2),
        lambda r: (ids(r, 7),),
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_right_on_other_batches(name: str) -> None:
    model, batch = MODELS[name]
    model.eval()
    random = np.random.default_rng(1)
    parameters: Any = {key: random.normal(size=p.shape) * 0.3 for key, p in model.state_dict().items()}
    loss = loss_of(model)
    program = mg.write_numpy(loss, parameters, *batch(random), argnum=0)
    for _ in range(3):
        arguments = parameters, *batch(random)
        assert close(list(program(*arguments)), list(on_the_tape(loss, arguments, (0,))), 1e-12)
