"""The encoder-decoder against PyTorch's, its decoding, and whether it learns to read backwards."""

import itertools
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, log_softmax, no_grad
from models import Transformer, TransformerConfig, shifted_right
from tests.lazy import torch
from tests.nn.layers import assert_close, gradient, load, prefixed, randomized, rng, to_torch, torch_state

START, END = 1, 2
SOURCE_MASK = np.arange(6) < np.array([6, 4, 1, 3])[:, None]
TARGET_MASK = np.arange(5) < np.array([5, 2, 4, 3])[:, None]
SOURCE = (
    rng(5).integers(0, 9, (4, 6)) * SOURCE_MASK
)  # 0 at padding, where PyTorch looks up the id, and the model does not
TARGET = np.concatenate([np.full((4, 1), START), rng(6).integers(0, 9, (4, 4))], axis=1) * TARGET_MASK

NORMS = pytest.mark.parametrize("norm", ["post", "pre"])


def tiny(**changes: Any) -> Transformer:
    settings: dict[str, Any] = {
        "source_vocab": 9,
        "start": START,
        "end": END,
        "d_model": 8,
        "num_heads": 2,
        "hidden": 12,
    }
    config = TransformerConfig(**(settings | changes))
    model: Transformer = randomized(Transformer(config, rng=rng(), dtype=np.float64))
    return model


def torch_transformer(model: Transformer) -> Any:
    """PyTorch's layers with the same weights. Its Transformer ends in two LayerNorms, which are the pre-norm model's."""
    config = model.config
    settings: dict[str, Any] = {
        "dropout": 0.0,
        "activation": config.activation,
        "batch_first": True,
        "norm_first": config.norm == "pre",
    }
    sizes = (config.d_model, config.num_heads, config.hidden)
    norms = [torch.nn.LayerNorm(config.d_model) if config.norm == "pre" else None for _ in range(2)]
    theirs = torch.nn.Transformer(
        config.d_model,
        config.num_heads,
        custom_encoder=torch.nn.TransformerEncoder(
            torch.nn.TransformerEncoderLayer(*sizes, **settings),
            config.num_layers,
            norms[0],
            enable_nested_tensor=False,
        ),
        custom_decoder=torch.nn.TransformerDecoder(
            torch.nn.TransformerDecoderLayer(*sizes, **settings), config.num_layers, norms[1]
        ),
        batch_first=True,
    )
    return load(theirs, states(model))


def states(model: Transformer, of: Any = lambda tensor: tensor.data) -> dict[str, np.ndarray]:
    """What PyTorch's Transformer holds: the layers, without the embeddings."""
    state: dict[str, np.ndarray] = {}
    for side, layers, norm in (
        ("encoder", model.encoder, model.encoder_norm),
        ("decoder", model.decoder, model.decoder_norm),
    ):
        for i, layer in enumerate(layers):
            state |= prefixed(f"{side}.layers.{i}", torch_state(layer, of))
        if norm is not None:
            state |= prefixed(f"{side}.norm", torch_state(norm, of))
    return state


def torch_embedded(table: Any, ids: np.ndarray, positions: np.ndarray) -> Any:
    return np.sqrt(8) * torch.nn.functional.embedding(to_torch(ids), table) + to_torch(positions[: ids.shape[1]])


@pytest.mark.parametrize("target_vocab", [0, 7], ids=["one vocabulary", "two vocabularies"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@NORMS
def test_equals_pytorch(norm: str, activation: str, target_vocab: int) -> None:
    """Logits, and the gradients of every weight and of the shared embeddings."""
    model = tiny(norm=norm, activation=activation, target_vocab=target_vocab)
    theirs = torch_transformer(model)
    target = TARGET % 7
    tables = [to_torch(e.weight.data, True) for e in (model.source_embedding, model.target_embedding)]
    if not target_vocab:
        assert model.target_embedding is model.source_embedding
        tables[1] = tables[0]
    positions = nn.sinusoids(6, 8)
    torch_logits = (
        theirs(
            torch_embedded(tables[0], SOURCE, positions),
            torch_embedded(tables[1], target, positions),
            tgt_mask=to_torch(~np.tri(5, dtype=bool)),
            src_key_padding_mask=to_torch(~SOURCE_MASK),
            tgt_key_padding_mask=to_torch(~TARGET_MASK),
            memory_key_padding_mask=to_torch(~SOURCE_MASK),
        )
        @ tables[1].T
    )
    logits = model(SOURCE, target, SOURCE_MASK, TARGET_MASK)
    assert logits.shape == (4, 5, target_vocab or 9)
    assert_close(logits.numpy(), torch_logits.detach().numpy())
    cotangent = rng(9).standard_normal(logits.shape)
    logits.backward(cotangent)
    torch_logits.backward(to_torch(cotangent))
    for table, embedding in zip(tables, (model.source_embedding, model.target_embedding)):
        assert_close(gradient(embedding.weight), table.grad.numpy())
    gradients = states(model, gradient)
    for name, parameter in theirs.named_parameters():
        assert_close(gradients[name], parameter.grad.numpy(), name)


def test_the_embeddings_are_one_parameter_where_the_vocabularies_are_one() -> None:
    shared, separate = tiny(), tiny(target_vocab=7)
    assert [name for name in shared.state_dict() if "embedding" in name] == ["source_embedding.weight"]
    assert [name for name in separate.state_dict() if "embedding" in name] == [
        "source_embedding.weight",
        "target_embedding.weight",
    ]
    assert separate.num_parameters - shared.num_parameters == 7 * 8


def test_as_many_layers_as_asked_for() -> None:
    model = tiny(num_layers=3, decoder_layers=1)
    assert (len(model.encoder), len(model.decoder)) == (3, 1)
    assert len(tiny(num_layers=3).decoder) == 3
    assert model(SOURCE, TARGET).shape == (4, 5, 9)


def test_new_weights_give_inputs_and_logits_of_about_unit_size() -> None:
    config = TransformerConfig(100, START, END, d_model=64)
    model, ids = Transformer(config, rng=rng()), rng().integers(0, 100, (20, 10))
    assert model.source_embedding.weight.data.std() * 8 == pytest.approx(1, rel=0.05)
    assert model(ids, ids).numpy().std() == pytest.approx(1, rel=0.2)
    assert model(ids, ids).dtype == np.float32


@NORMS
def test_a_later_target_token_changes_no_earlier_logits(norm: str) -> None:
    model, changed = tiny(norm=norm), TARGET.copy()
    changed[:, 3] = (changed[:, 3] + 1) % 9
    before, after = model(SOURCE, TARGET).numpy(), model(SOURCE, changed).numpy()
    np.testing.assert_array_equal(after[:, :3], before[:, :3])
    assert (np.abs(after[:, 3:] - before[:, 3:]).max(axis=-1) > 1e-6).all()
    seen = SOURCE.copy()
    seen[:, -1] = (seen[:, -1] + 1) % 9
    assert (np.abs(model(seen, TARGET).numpy() - before).max(axis=-1) > 1e-6).all()  # all of the source is seen


@NORMS
def test_padding_has_no_influence(norm: str) -> None:
    model = tiny(norm=norm)
    logits = model(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK).numpy()
    source, target = np.where(SOURCE_MASK, SOURCE, 8), np.where(TARGET_MASK, TARGET, 8)
    assert_close(model(source, target, SOURCE_MASK, TARGET_MASK).numpy()[TARGET_MASK], logits[TARGET_MASK])
    assert_close(model(source, target, SOURCE_MASK).numpy()[TARGET_MASK], logits[TARGET_MASK])  # the end needs no mask
    for i, (n, m) in enumerate(zip(SOURCE_MASK.sum(axis=1), TARGET_MASK.sum(axis=1))):
        assert_close(model(SOURCE[i : i + 1, :n], TARGET[i : i + 1, :m]).numpy()[0], logits[i, :m])


def test_targets_are_shifted_right_behind_the_start() -> None:
    target = np.array([[5, 6, 7, END], [5, END, 0, 0]])
    np.testing.assert_array_equal(shifted_right(target, START), [[START, 5, 6, 7], [START, 5, END, 0]])
    assert shifted_right(target.tolist(), START).dtype == target.dtype
    with pytest.raises(ShapeError, match=r"shifted_right needs ids of shape \(batch, length\), got \(4,\)"):
        shifted_right(target[0], START)


@NORMS
def test_greedy_decoding_is_what_the_whole_model_finds_most_probable(norm: str) -> None:
    """Without a cache: the whole prefix goes through the model at every step."""
    for seed in range(3):
        model = randomized(tiny(norm=norm), seed)
        found = model.greedy(SOURCE, SOURCE_MASK, max_length=7)
        for i, hypothesis in enumerate(found):
            ids, log_probability = [START], 0.0
            while len(ids) <= 7 and END not in ids:
                log_p = log_softmax(model(SOURCE[i : i + 1], [ids], SOURCE_MASK[i : i + 1])).numpy()[0, -1]
                ids.append(int(log_p.argmax()))
                log_probability += log_p.max()
            assert hypothesis.ids == tuple(token for token in ids[1:] if token != END)
            assert hypothesis.finished == (END in ids)
            assert_close(hypothesis.log_probability, log_probability)


@NORMS
def test_decoding_with_caches_computes_the_logits_of_what_is_new(norm: str) -> None:
    model, caches = tiny(norm=norm), [(nn.KeyValueCache(), nn.KeyValueCache()) for _ in range(2)]
    expected = model(SOURCE, TARGET, SOURCE_MASK).numpy()
    with no_grad():
        memory = model.encode(SOURCE, SOURCE_MASK)
        for seen, end in ((0, 1), (1, 4), (4, 5)):
            logits = model.decode(TARGET[:, :end], memory, SOURCE_MASK, caches=caches)
            assert_close(logits.numpy(), expected[:, seen:end])


@pytest.mark.parametrize("place", [(1, 0), (1, 1)])
def test_an_error_in_decoding_leaves_every_cache_as_it_was(place: tuple[int, int]) -> None:
    """In the self-attention or the cross-attention of the last layer, when the first layer is through."""
    model, caches = tiny(), [(nn.KeyValueCache(), nn.KeyValueCache()) for _ in range(2)]
    with no_grad():
        memory = model.encode(SOURCE, SOURCE_MASK)
        model.decode(TARGET[:, :2], memory, SOURCE_MASK, caches=caches)
        caches[place[0]][place[1]].select([0])  # the cache of another batch
        before = [(cache.length, cache.keys.tobytes()) for cache in itertools.chain(*caches)]
        with pytest.raises(ShapeError):
            model.decode(TARGET[:, :3], memory, SOURCE_MASK, caches=caches)
    assert [(cache.length, cache.keys.tobytes()) for cache in itertools.chain(*caches)] == before


@NORMS
def test_beam_search(norm: str) -> None:
    """A beam of 1 is greedy; every hypothesis has the probability that the model gives it; a wide beam finds the best."""
    model = tiny(source_vocab=5, norm=norm)
    model.source_embedding.weight.data = 0.4 * model.source_embedding.weight.data
    source = SOURCE % 5
    greedy = model.greedy(source, SOURCE_MASK, max_length=4)
    for (found,), expected in zip(model.beam(source, SOURCE_MASK, max_length=4, beam=1), greedy, strict=True):
        assert (found.ids, found.finished) == (expected.ids, expected.finished)
    all_ids = list(itertools.product([token for token in range(5) if token != END], repeat=2))
    for i, hypotheses in enumerate(model.beam(source, SOURCE_MASK, max_length=3, beam=5**3, alpha=0.6)):
        one = (source[i : i + 1], SOURCE_MASK[i : i + 1])
        for hypothesis in hypotheses[:3]:
            assert_close(hypothesis.log_probability, log_probability(model, one, hypothesis))
        every = [nn.Hypothesis(ids[:n], 0.0, True) for ids in all_ids for n in range(3)]
        best = max(log_probability(model, one, each) / ((6 + len(each.ids)) / 6) ** 0.6 for each in every)
        assert_close(hypotheses[0].score(0.6), best)


def log_probability(model: Transformer, one: tuple[Any, Any], hypothesis: nn.Hypothesis) -> float:
    target = np.array([[*hypothesis.ids, *[END] * hypothesis.finished]])
    log_p = log_softmax(model(one[0], shifted_right(target, START), one[1])).numpy()[0]
    return float(log_p[np.arange(target.size), target[0]].sum())


@NORMS
def test_the_weights_to_look_at(norm: str) -> None:
    model = tiny(norm=norm)
    weights = model.attention_weights(SOURCE, TARGET, SOURCE_MASK)
    shapes = {"encoder": (4, 2, 6, 6), "decoder": (4, 2, 5, 5), "cross": (4, 2, 5, 6)}
    for name, shape in shapes.items():
        assert [each.shape for each in weights[name]] == [shape] * 2
        for each in weights[name]:
            assert_close(each.numpy().sum(axis=-1), np.ones(shape[:-1]))
    assert not any(
        each.numpy()[~np.broadcast_to(SOURCE_MASK[:, None, None], (4, 2, 5, 6))].any() for each in weights["cross"]
    )
    assert not any(np.triu(each.numpy(), 1).any() for each in weights["decoder"])
    # the last layer's, from what the layers before it give
    memory = model.encode(SOURCE, SOURCE_MASK)
    x, _ = model._embedded(model.target_embedding, TARGET, None, "target_key_mask")
    x = model.decoder[0](x, memory, memory_key_mask=SOURCE_MASK)
    expected = model.decoder[1].cross_attention_weights(x, memory, memory_key_mask=SOURCE_MASK)
    assert_close(weights["cross"][1].numpy(), expected.numpy())


def test_it_learns_to_read_backwards() -> None:
    """Cross-attention can only copy by place, so encoder and decoder must both tell where a token stands."""
    generator = rng()
    config = TransformerConfig(8, START, END, d_model=32, num_layers=1)
    model = Transformer(config, rng=generator)
    optimizer = nn.Adam(model.parameters(), lr=3e-3)
    steps = 250
    for step in range(steps):
        source = generator.integers(3, 8, (32, 4))
        target = np.concatenate([source[:, ::-1], np.full((32, 1), END)], axis=1)
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(source, shifted_right(target, START)), target)
        loss.backward()
        optimizer.lr = 3e-3 * min(1, (step + 1) / 30, 2 * (1 - step / steps))
        optimizer.step()
    source = generator.integers(3, 8, (50, 4))
    found = model.greedy(source, max_length=6)
    right = [hypothesis.ids == tuple(row[::-1].tolist()) for hypothesis, row in zip(found, source)]
    assert np.mean(right) > 0.9
    best = [hypotheses[0].ids for hypotheses in model.beam(source, max_length=6, beam=3)]
    assert np.mean([ids == tuple(row[::-1].tolist()) for ids, row in zip(best, source)]) > 0.9


def test_the_config_comes_back_from_its_dict() -> None:
    config = TransformerConfig(9, START, END, d_model=8, num_heads=2, norm="pre", dropout=0.1)
    assert TransformerConfig.from_dict(config.to_dict()) == config


def test_a_model_comes_back_from_its_state_dict() -> None:
    model, other = tiny(), randomized(tiny(), 2)
    other.load_state_dict(model.state_dict())
    np.testing.assert_array_equal(other(SOURCE, TARGET).numpy(), model(SOURCE, TARGET).numpy())


def test_dropout_acts_in_training_only() -> None:
    model, plain = tiny(dropout=0.5), tiny()
    expected = plain(SOURCE, TARGET).numpy()
    assert not np.allclose(model(SOURCE, TARGET).numpy(), expected)
    assert_close(model.eval()(SOURCE, TARGET).numpy(), expected)


def test_what_the_model_cannot_take_raises() -> None:
    model = tiny()
    with pytest.raises(ShapeError, match=r"Transformer needs ids of shape \(batch, length\), got \(6,\)"):
        model(SOURCE[0], TARGET)
    with pytest.raises(DTypeError, match="integer ids"):
        model(SOURCE.astype(float), TARGET)
    with pytest.raises(OutOfRangeError, match=r"got the id \d+, but its vocabulary has 9 ids"):
        model(SOURCE, TARGET + 9)
    with pytest.raises(ShapeError, match="with the same batch size"):
        model(SOURCE, TARGET[:2])
    with pytest.raises(ShapeError, match="source_key_mask must have the shape"):
        model(SOURCE, TARGET, SOURCE_MASK[:, :3])
    for call in (model, model.attention_weights):
        with pytest.raises(DTypeError, match=r"^source_key_mask must be boolean"):
            call(SOURCE, TARGET, SOURCE_MASK * 1.0)
        with pytest.raises(ShapeError, match=r"^target_key_mask must have the shape"):
            call(SOURCE, TARGET, None, np.ones((4, 2), bool))
    with pytest.raises(ArgumentError, match="max_length must be a positive integer, got 0"):
        model.greedy(SOURCE, max_length=0)


@pytest.mark.parametrize("name", ["start", "end"])
def test_start_and_end_are_ids_of_the_target(name: str) -> None:
    ids: dict[str, Any] = {"start": 1, "end": 2} | {name: 7}
    with pytest.raises(ArgumentError, match=f"{name} must be an id of the target vocabulary, 0 to 6, got 7"):
        TransformerConfig(9, target_vocab=7, **ids)
    TransformerConfig(9, **ids)
