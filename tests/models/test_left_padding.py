"""Padding on the left, on the right and between: every model that takes a mask gives what it gives without padding."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, no_grad
from models import (
    GPT,
    BertConfig,
    BertEncoder,
    ClassifierConfig,
    GPTConfig,
    RNNEncoderDecoder,
    RNNEncoderDecoderConfig,
    Transformer,
    TransformerClassifier,
    TransformerConfig,
    shifted_right,
)
from nn.masks import token_positions
from tests import fake_device
from tests.nn.layers import check_module, randomized, rng

F: Any = np.float64
LENGTHS = (2, 7, 4)
ROWS = [rng(i).integers(1, 9, length) for i, length in enumerate(LENGTHS)]
START, END = 1, 2


def placed(rows: list[np.ndarray], places: str, length: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """The rows as a matrix, and its mask: padding stands on the left, on the right, or anywhere, and is no id at all."""
    ids, mask = np.full((len(rows), length), -1), np.zeros((len(rows), length), bool)
    for i, row in enumerate(rows):
        n = len(row)
        where = {
            "left": np.arange(length - n, length),
            "right": np.arange(n),
            "anywhere": np.sort(rng(i).permutation(length)[:n]),
        }[places]
        ids[i, where], mask[i, where] = row, True
    return ids, mask


PLACES = pytest.mark.parametrize("places", ["left", "right", "anywhere"])
FORMS: dict[str, dict[str, Any]] = {
    "learned": {},
    "rotary": {"positions": "rotary", "num_kv_heads": 1, "rms_norm": True, "activation": "swiglu"},
    "alibi": {"positions": "alibi"},
    "learned, sliding": {"sliding_window": 3},
    "rotary, sliding": {"positions": "rotary", "sliding_window": 2},
    "alibi, sliding": {"positions": "alibi", "sliding_window": 3},
}
EACH_FORM = pytest.mark.parametrize("form", FORMS)


def gpt(form: str, window: int = 12, **settings: Any) -> GPT:
    sizes: dict[str, Any] = {"vocab_size": 9, "window": window, "d_model": 8, "num_heads": 2, "num_layers": 2}
    made: GPT = randomized(GPT(GPTConfig(**sizes | FORMS[form] | settings), rng=rng(), dtype=F).eval())
    return made


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


# --- GPT ---


@PLACES
@EACH_FORM
def test_the_logits_of_each_row_are_those_of_the_row_alone(form: str, places: str) -> None:
    model = gpt(form)
    ids, mask = placed(ROWS, places)
    logits, weights = model(ids, key_mask=mask).numpy(), model.attention_weights(ids, key_mask=mask.astype(int))
    assert np.isfinite(logits).all()
    for i, row in enumerate(ROWS):
        close(logits[i, mask[i]], model(row[None]).numpy()[0])
        for seen, alone in zip(weights, model.attention_weights(row[None])):
            assert not seen.numpy()[i][:, :, ~mask[i]].any()
            close(seen.numpy()[i][:, mask[i]][:, :, mask[i]], alone.numpy()[0])


@PLACES
@EACH_FORM
def test_the_gradients_are_the_sums_of_those_of_the_rows_alone(form: str, places: str) -> None:
    """The loss leaves padding out, and what the mask excludes reaches no weight."""
    padded, alone = gpt(form), gpt(form)
    ids, mask = placed(ROWS, places)
    weights = [rng(i).standard_normal((len(row), 9)) for i, row in enumerate(ROWS)]
    chosen: Any = padded(ids, key_mask=mask)[mask]
    (chosen * np.concatenate(weights)).sum().backward()
    for row, weight in zip(ROWS, weights):
        (alone(row[None])[0] * weight).sum().backward()
    for ours, theirs in zip(padded.parameters(), alone.parameters()):
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-11, atol=1e-11)


@PLACES
@EACH_FORM
@pytest.mark.parametrize("cuts", [(9,), (3, 1, 4, 1), (1,) * 9])
def test_with_caches_the_logits_are_the_same(form: str, places: str, cuts: tuple[int, ...]) -> None:
    model = gpt(form)
    ids, mask = placed(ROWS, places)
    expected, caches, found, stop = model(ids, key_mask=mask).numpy(), model.new_caches(), [], 0
    with no_grad():
        for length in cuts:
            start, stop = stop, stop + length
            found.append(model(ids[:, start:stop], caches, key_mask=mask[:, :stop]).numpy())
    close(np.concatenate(found, axis=1)[mask], expected[mask])


def test_caches_remember_the_mask_also_of_selected_rows() -> None:
    model = gpt("rotary")
    ids, mask = placed(ROWS, "left", 7)
    more = rng(7).integers(1, 9, (3, 2))
    caches = model.new_caches()
    with no_grad():
        model(ids, caches, key_mask=mask)
        for cache in caches:
            cache.select([2, 0])
        found = model(more[[2, 0]], caches).numpy()
        for got, i in zip(found, (2, 0)):
            close(got, model(np.concatenate([ROWS[i], more[i]])[None]).numpy()[0, -2:])
        wrong = np.ones((2, 10), bool)
        for key_mask in (wrong, ~wrong):
            with pytest.raises(ArgumentError, match="key_mask differs from the one with which the caches were filled"):
                model(more[:2, :1], caches, key_mask=key_mask)
        assert [cache.length for cache in caches] == [9, 9]
        with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(2, 10\), got \(2, 1\)"):
            model(more[:2, :1], caches, key_mask=wrong[:, :1])
        with pytest.raises(ShapeError, match="make a new KeyValueCache for each layer and each batch"):
            model(more[:, :1], caches)
        with pytest.raises(ShapeError, match="make a new KeyValueCache for each layer and each batch"):
            model(more[:, :1], caches, key_mask=np.ones((3, 10), bool))
        plain = model.new_caches()
        model(np.maximum(ids, 0), plain)
        with pytest.raises(ArgumentError, match="key_mask differs"):
            model(more[:, :1], plain, key_mask=np.concatenate([mask, mask[:, -1:]], axis=1))


@pytest.mark.sampled(20)
@PLACES
@EACH_FORM
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("window", [1, 4, 6, 30])
def test_prompts_of_different_lengths_continue_as_each_alone(form: str, places: str, cache: bool, window: int) -> None:
    """Beyond the window, too, where each row drops half a window when it is full itself."""
    model = gpt(form, window)
    ids, mask = placed(ROWS, places)
    settings: dict[str, Any] = {"rng": rng(), "temperature": 0, "cache": cache}
    found = np.stack(list(model.generate(ids, 20, key_mask=mask, **settings)), axis=1)
    for i, row in enumerate(ROWS):
        assert found[i].tolist() == np.stack(list(model.generate(row[None], 20, **settings)), axis=1)[0].tolist()


def test_tokens_are_drawn_for_each_row_as_for_unpadded_prompts_of_one_length() -> None:
    """The same seed, the same prompts, and padding that changes nothing; an end closes each row alone."""
    model = gpt("learned")
    prompts = rng().integers(1, 9, (4, 3))
    ids, mask = placed(list(prompts), "anywhere")
    for settings in ({"top_k": 4}, {"top_p": 0.9, "temperature": 1.5}, {"end": 5}):
        ours = list(model.generate(ids, 30, rng=rng(3), key_mask=mask, **settings))
        np.testing.assert_array_equal(ours, list(model.generate(prompts, 30, rng=rng(3), **settings)))


def test_masks_that_do_not_fit_are_named_at_the_call() -> None:
    model = gpt("learned")
    ids, mask = placed(ROWS, "left")
    empty = mask.copy()
    empty[1] = False
    with pytest.raises(ArgumentError, match="at least one token in each row, and key_mask marks none in row 1"):
        model.generate(ids, 3, rng=rng(), key_mask=empty)
    assert np.isfinite(model(ids, key_mask=empty).numpy()).all()
    for call in (lambda m: model.generate(ids, 3, rng=rng(), key_mask=m), lambda m: model(ids, key_mask=m)):
        with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 9\), got \(3, 8\)"):
            call(mask[:, 1:])
        with pytest.raises(DTypeError, match="key_mask must be boolean"):
            call(mask.astype(float))
        with pytest.raises(OutOfRangeError, match="key_mask of integers must hold 1"):
            call(2 * mask)


def test_on_a_device() -> None:
    model = gpt("alibi, sliding")
    ids, mask = placed(ROWS, "left")
    expected = model(ids, key_mask=mask).numpy()
    tokens = list(model.generate(ids, 5, rng=rng(), key_mask=mask))
    for parameter in model.parameters():
        parameter.data = fake_device.asarray(parameter.data)
    for given in (mask, fake_device.asarray(mask)):
        close(model(fake_device.asarray(ids), key_mask=given).numpy(), expected)
        found = list(model.generate(fake_device.asarray(ids), 5, rng=rng(), key_mask=given))
        np.testing.assert_array_equal(found, tokens)


@EACH_FORM
def test_the_gradient_of_each_example_with_a_mask(form: str) -> None:
    model = gpt(form, window=9)
    ids, mask = placed(ROWS, "left")
    labels = rng(3).integers(0, 9, ids.shape)

    def loss(model: Any, batch: Any) -> Any:
        ids, mask, labels = batch
        return (nn.cross_entropy(model(ids, key_mask=mask), labels, reduction="none") * mask).sum(axis=1)

    rows = nn.per_example_grads(model, loss, (ids, mask, labels))
    for i in range(len(ids)):
        one = copy.deepcopy(model)
        loss(one, (ids[[i]], mask[[i]], labels[[i]])).sum().backward()
        for path, parameter in one.named_parameters():
            np.testing.assert_allclose(rows[path][i], parameter.grad.numpy(), atol=1e-11)


# --- other models ---


def encoder_decoder(norm: str) -> Transformer:
    config = TransformerConfig(9, START, END, target_vocab=7, d_model=8, num_heads=2, norm=norm)
    made: Transformer = randomized(Transformer(config, rng=rng(), dtype=F))
    return made


def translator(attention: bool) -> RNNEncoderDecoder:
    config = RNNEncoderDecoderConfig(9, 7, START, END, embedding=4, hidden=5, attention=attention)
    made: RNNEncoderDecoder = randomized(RNNEncoderDecoder(config, rng=rng(), dtype=F))
    return made


def bert() -> BertEncoder:
    config = BertConfig(9, 8, 2, 2, 12, max_positions=9, dropout=0.0)
    made: BertEncoder = randomized(BertEncoder(config, rng=rng(), dtype=F))
    return made


def classifier(norm: str) -> TransformerClassifier:
    made: TransformerClassifier = randomized(
        TransformerClassifier(ClassifierConfig(9, 3, d_model=8, num_heads=2, norm=norm), rng=rng(), dtype=F)
    )
    return made


TARGET = shifted_right(rng(8).integers(3, 7, (3, 4)), START)
MODELS: dict[str, Callable[[], Any]] = {
    "classifier, pre": lambda: classifier("pre"),
    "classifier, post": lambda: classifier("post"),
    "sentence embeddings": bert,
    "Transformer, post": lambda: encoder_decoder("post"),
    "Transformer, pre": lambda: encoder_decoder("pre"),
    "RNN with attention": lambda: translator(True),
    "RNN without": lambda: translator(False),
}


def result(model: Any, ids: np.ndarray, mask: np.ndarray | None, target: np.ndarray) -> np.ndarray:
    """What the model gives for each row, of which the mask leaves no position."""
    if isinstance(model, BertEncoder):
        found = model.sentence_embeddings(ids, mask)
    elif isinstance(model, TransformerClassifier):
        found = model(ids, mask)
    else:
        found = model(ids, target, mask)
    array: np.ndarray = found.numpy()
    return array


@PLACES
@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_what_it_gives_without_padding(name: str, places: str) -> None:
    model = MODELS[name]()
    ids, mask = placed(ROWS, places)
    found = result(model, ids, mask, TARGET)
    for i, row in enumerate(ROWS):
        close(found[i], result(model, row[None], None, TARGET[[i]])[0])


@PLACES
def test_the_tokens_of_bert_are_those_without_padding(places: str) -> None:
    model = bert()
    ids, mask = placed(ROWS, places)
    states, weights = model.hidden_states(ids, mask), model.attention_weights(ids, mask)
    for i, row in enumerate(ROWS):
        for state, alone in zip(states, model.hidden_states(row[None])):
            close(state.numpy()[i, mask[i]], alone.numpy()[0])
        close(weights[1].numpy()[i][:, mask[i]][:, :, mask[i]], model.attention_weights(row[None])[1].numpy()[0])


@PLACES
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_target_of_a_transformer_may_have_padding_anywhere(norm: str, places: str) -> None:
    model, source = encoder_decoder(norm), rng(4).integers(0, 9, (3, 5))
    rows = [row % 7 for row in ROWS]
    target, mask = placed(rows, places)
    found, weights = model(source, target, None, mask).numpy(), model.attention_weights(source, target, None, mask)
    for i, row in enumerate(rows):
        close(found[i, mask[i]], model(source[[i]], row[None]).numpy()[0])
        close(
            weights["cross"][1].numpy()[i][:, mask[i]],
            model.attention_weights(source[[i]], row[None])["cross"][1].numpy()[0],
        )


@PLACES
@pytest.mark.parametrize("make", [lambda: encoder_decoder("post"), lambda: translator(True)])
def test_decoding_of_padded_sources(make: Any, places: str) -> None:
    model = make()
    ids, mask = placed(ROWS, places)
    greedy, beams = model.greedy(ids, mask, max_length=6), None
    if isinstance(model, Transformer):
        beams = model.beam(ids, mask, max_length=6, beam=3)
    for i, row in enumerate(ROWS):
        (alone,) = model.greedy(row[None], max_length=6)
        assert greedy[i].ids == alone.ids
        close(greedy[i].log_probability, alone.log_probability)
        if beams is not None:
            (others,) = model.beam(row[None], max_length=6, beam=3)
            assert [each.ids for each in beams[i]] == [each.ids for each in others]


# --- layers ---


@PLACES
@pytest.mark.parametrize("make", [
    lambda: nn.MultiHeadAttention(8, 2, rotary=True, rng=rng(), dtype=F),
    lambda: nn.PackedMultiHeadAttention(8, 2, rotary=100.0, rng=rng(), dtype=F),
    lambda: nn.TransformerEncoderLayer(8, 2, 6, rotary=True, rng=rng(), dtype=F),
    lambda: nn.TransformerEncoderLayer(8, 2, 6, rotary=True, num_kv_heads=1, norm="post", rng=rng(), dtype=F),
])  # fmt: skip
def test_layers_with_rotary_positions_count_tokens(make: Any, places: str) -> None:
    layer, x = randomized(make()), rng(5).standard_normal((3, 9, 8))
    _, mask = placed(ROWS, places)
    for options in ({}, {"causal": True}):
        found = layer(x, key_mask=mask, **options).numpy()
        for i in range(3):
            close(found[i, mask[i]], layer(x[i, mask[i]][None], **options).numpy()[0])


@PLACES
def test_predicted_windows_count_tokens(places: str) -> None:
    layer, x = randomized(nn.PredictiveLocalAttention(8, 2, rng=rng(), dtype=F)), rng(5).standard_normal((3, 9, 8))
    query, (_, mask) = rng(6).standard_normal((3, 4, 8)), placed(ROWS, places)
    found = layer(query, x, key_mask=mask).numpy()
    for i in range(3):
        close(found[i], layer(query[[i]], x[i, mask[i]][None]).numpy()[0])
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("make", [
    lambda: nn.PositionalEncoding(4, scale=2.0), lambda: nn.RotaryPositions(4),
    lambda: nn.LearnedPositions(9, 4, rng=rng(), dtype=F),
])  # fmt: skip
def test_layers_of_positions_count_tokens(make: Any) -> None:
    layer, x = make(), rng(5).standard_normal((3, 9, 4))
    for places in ("left", "right", "anywhere"):
        _, mask = placed(ROWS, places)
        found = layer(x, key_mask=mask).numpy()
        later = layer(x[:, 4:], start=4, key_mask=mask.astype(int)).numpy()
        np.testing.assert_array_equal(later, found[:, 4:])
        for i in range(3):
            np.testing.assert_array_equal(found[i, mask[i]], layer(x[i, mask[i]]).numpy())
        if places == "right":
            np.testing.assert_array_equal(found, layer(x).numpy())
        check_module(layer, x, key_mask=mask)
    for given, words in ((mask[:, 1:], r"\(3, 9\), got \(3, 8\)"), (mask[:1], r"\(3, 9\), got \(1, 9\)")):
        with pytest.raises(ShapeError, match=words):
            layer(x, key_mask=given)
    with pytest.raises(
        ShapeError, match=r"a key_mask \(batch, length\) needs x of shape \(batch, length, width\), got \(9, 4\)"
    ):
        layer(Tensor(x[0]), key_mask=mask[0])


@pytest.mark.parametrize("places", ["left", "right"])
def test_a_convolution_of_tokens_reads_zeros_at_padding(places: str) -> None:
    layer, x = nn.Conv1d(3, 2, 3, padding="same", rng=rng(), dtype=F), rng(5).standard_normal((3, 3, 9))
    _, mask = placed(ROWS, places)
    x = np.where(mask[:, None], x, np.nan)
    found = layer(x, key_mask=mask.astype(int)).numpy()
    for i in range(3):
        close(found[i][:, mask[i]], layer(x[i][:, mask[i]][None]).numpy()[0])
    check_module(layer, np.nan_to_num(x), key_mask=mask)
    with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 9\), got \(3, 8\)"):
        layer(x, key_mask=mask[:, 1:])
    with pytest.raises(ShapeError, match=r"Conv1d\(3, 2, 3, padding=1\) needs x of shape \(batch, 3, length\)"):
        layer(x[:, :2], key_mask=mask)


def test_positions_of_tokens() -> None:
    mask = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]], bool)
    assert token_positions(mask).tolist() == [[0, 1, 0, 1], [0, 1, 2, 3], [0, 1, 2, 1], [0, 1, 2, 3]]
    assert token_positions(mask[:, :0]).shape == (4, 0)
