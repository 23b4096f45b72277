"""Every model on a device: the same losses as on the host, step after step, and no wait inside a step."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import models
import nn
from minigrad import Tensor
from minigrad.device import is_device_array, to_device, to_host
from nn import Module
from tests import fake_device
from tests.nn.layers import assert_close, gradient, rng

F64: Any = {"dtype": np.float64}
IDS = rng(1).integers(0, 7, (3, 6))
TARGET = rng(2).integers(0, 7, (3, 5))
MASK = np.arange(6) < np.array([[6], [4], [2]])
LABELS = np.array([0, 2, 1])
PADDED = np.where(MASK, IDS, -1)  # labels, -1 where there is nothing to predict
TOKENS = rng(3).standard_normal((3, 6, 4))
IMAGES = rng(4).standard_normal((3, 4, 4))

Loss = Callable[[Any, Any], Tensor]  # of a model, and of what puts an array of its inputs where it belongs


def classifier() -> Module:
    config = models.ClassifierConfig(7, 3, d_model=8, num_heads=2, num_layers=2, dropout=0.2, norm="post")
    return models.TransformerClassifier(config, rng=rng(), **F64)


def classifier_loss(model: Any, put: Any) -> Tensor:
    return nn.cross_entropy(model(put(IDS), put(MASK.astype(int))), put(LABELS), label_smoothing=0.1)


def gpt(positions: str) -> Module:
    config = models.GPTConfig(7, 6, d_model=8, num_heads=2, dropout=0.2, positions=positions, std=0.1)
    return models.GPT(config, rng=rng(), **F64)


def gpt_loss(model: Any, put: Any) -> Tensor:
    return nn.cross_entropy(model(put(IDS)), put(PADDED), ignore_index=-1)


def transformer() -> Module:
    config = models.TransformerConfig(7, 0, 1, d_model=8, num_heads=2, num_layers=1, dropout=0.2)
    return models.Transformer(config, rng=rng(), **F64)


def seq2seq_loss(model: Any, put: Any) -> Tensor:
    logits = model(put(IDS), models.shifted_right(TARGET, 0), put(MASK))
    return nn.cross_entropy(logits, put(TARGET), ignore_index=0)


def rnn(attention: bool) -> Module:
    config = models.RNNEncoderDecoderConfig(7, 7, 0, 1, embedding=4, hidden=5, attention=attention)
    return models.RNNEncoderDecoder(config, rng=rng(), **F64)


def bert() -> Module:
    config = models.BertConfig(7, 8, 2, 2, 16, 6)
    return models.BertEncoder(config, rng=rng(), **F64)


def bert_loss(model: Any, put: Any) -> Tensor:
    return (model.sentence_embeddings(put(IDS), put(MASK), put(IDS % 2)) ** 3).sum()


def vit() -> Module:
    config = models.VisionTransformerConfig(4, 2, 3, d_model=8, num_heads=2, num_layers=1, dropout=0.2)
    return models.VisionTransformer(config, rng=rng(), **F64)


MODELS: dict[str, tuple[Callable[[], Module], Loss]] = {
    "TransformerClassifier": (classifier, classifier_loss),
    "GPT": (lambda: gpt("learned"), gpt_loss),
    "GPT, rotary": (lambda: gpt("rotary"), gpt_loss),
    "GPT, alibi": (lambda: gpt("alibi"), gpt_loss),
    "Transformer": (transformer, seq2seq_loss),
    "RNNEncoderDecoder": (lambda: rnn(True), seq2seq_loss),
    "RNNEncoderDecoder without attention": (lambda: rnn(False), seq2seq_loss),
    "BertEncoder": (bert, bert_loss),
    "VisionTransformer": (vit, lambda model, put: nn.cross_entropy(model(put(IMAGES)), put(LABELS))),
    "TwoLayerTransformer": (
        lambda: models.TwoLayerTransformer(models.TwoLayerConfig(4, 5, 3, std=0.5), rng=rng(), **F64),
        lambda model, put: model.loss(put(TOKENS), put(np.eye(3)), key_mask=put(MASK)),
    ),
    "SkipGram": (
        lambda: models.SkipGram(models.SkipGramConfig(7, 4), rng=rng(), **F64),
        lambda model, put: model.loss(IDS[0]) + model.pair_loss(put(IDS[0]), put(IDS[1])),
    ),
    "Bigram": (
        lambda: models.Bigram(models.SkipGramConfig(7, 4), rng=rng(), **F64),
        lambda model, put: model.loss(IDS[0]),
    ),
}


def train(model: Module, loss: Loss, put: Any) -> tuple[list[float], list[Any]]:
    """Return the losses of three steps, and the gradients of the first."""
    optimizer = nn.Adam(model.parameters(), lr=0.01, eps=1e-3)
    losses, gradients = [], list[Any]()
    for _ in range(3):
        optimizer.zero_grad()
        value = loss(model, put)
        value.backward()
        gradients = gradients or [gradient(parameter).copy() for parameter in model.parameters()]
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        losses.append(value.item())
    return losses, gradients


@pytest.mark.sampled(5)
@pytest.mark.parametrize("place", ["all there", "ids and masks on the host"])
@pytest.mark.parametrize(("make", "loss"), MODELS.values(), ids=MODELS)
def test_the_losses_are_those_of_the_host(make: Any, loss: Loss, place: str, cuda: str) -> None:
    def put(array: np.ndarray) -> Any:
        return to_device(array, cuda) if place == "all there" or array.dtype.kind == "f" else array

    here, there = make(), make().to(cuda)
    expected, expected_gradients = train(here, loss, np.asarray)
    losses, gradients = train(there, loss, put)
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    assert all(is_device_array(parameter.data) for parameter in there.parameters())
    assert all(map(is_device_array, gradients))
    for ours, theirs in zip(gradients, expected_gradients, strict=True):
        assert_close(to_host(ours), theirs)
    for (path, ours), theirs in zip(there.named_parameters(), here.parameters(), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-7, atol=1e-9, err_msg=path)


def test_every_model_is_in_the_list() -> None:
    seen = {type(make()).__name__ for make, _ in MODELS.values()}
    named = [getattr(models, name) for name in models.__all__]
    assert {kind.__name__ for kind in named if isinstance(kind, type) and issubclass(kind, Module)} == {*seen, "Model"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["TransformerClassifier", "GPT", "GPT, rotary", "Transformer", "VisionTransformer"])
@pytest.mark.parametrize("place", ["all there", "ids and masks on the host"])
def test_the_backward_pass_and_the_update_do_not_wait_for_the_device(name: str, place: str) -> None:
    make, loss = MODELS[name]
    model = make().astype(np.float32)
    for parameter in model.parameters():
        parameter.data = fake_device.asarray(parameter.data)

    def put(array: np.ndarray) -> Any:
        array = array.astype(np.float32) if array.dtype.kind == "f" else array
        return fake_device.asarray(array) if place == "all there" or array.dtype.kind == "f" else array

    optimizer, schedule = nn.Adam(model.parameters()), nn.inverse_sqrt_schedule(8, 2)
    for step in range(3):
        value = loss(model, put)
        with fake_device.no_waiting():
            optimizer.zero_grad()
            value.backward()
            nn.clip_grad_value(model.parameters(), 0.1)
            optimizer.lr = schedule(step)
            optimizer.step()


@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_writing_text_on_a_device(positions: str, cuda: str) -> None:
    """The same tokens from a model there, whose draws are the host's, of a prompt here or there."""
    prompt = IDS[:, :2]
    here: Any = gpt(positions).eval()
    there: Any = gpt(positions).eval().to(cuda)
    texts = [
        list(model.generate(ids, 6, rng=rng(5)))
        for model, ids in ((here, prompt), (there, prompt), (there, to_device(prompt, cuda)))
    ]
    np.testing.assert_array_equal(texts[1:], [texts[0]] * 2)


def test_weights_of_attention_on_a_device(cuda: str) -> None:
    for make, inputs in ((bert, (IDS, MASK)), (vit, (IMAGES,))):
        here: Any = make().eval()
        there: Any = make().eval().to(cuda)
        found = there.attention_weights(*(to_device(array, cuda) for array in inputs))
        for ours, theirs in zip(found, here.attention_weights(*inputs), strict=True):
            assert is_device_array(ours.data)
            assert_close(ours.numpy(), theirs.numpy())


def test_reading_and_translating_on_a_device(cuda: str) -> None:
    assert is_device_array(models.shifted_right(to_device(TARGET, cuda), 0))
    moved = to_device(IDS, cuda), to_device(MASK, cuda)
    for make in (transformer, lambda: rnn(True)):
        here: Any = make().eval()
        there: Any = make().eval().to(cuda)
        for inputs in ((IDS, MASK), moved):
            ours, theirs = there.greedy(*inputs, max_length=5), here.greedy(IDS, MASK, max_length=5)
            assert [written.ids for written in ours] == [written.ids for written in theirs]
            if hasattr(here, "beam"):
                ours, theirs = there.beam(*inputs, max_length=5, beam=2), here.beam(IDS, MASK, max_length=5, beam=2)
                for found, expected in zip(ours, theirs, strict=True):
                    assert [written.ids for written in found] == [written.ids for written in expected]
                    assert_close(found[0].log_probability, expected[0].log_probability)
