"""BertEncoder: the real all-MiniLM-L6-v2 held to the original, and the network to PyTorch with the same weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, no_grad
from minigrad.serialize import CheckpointError
from models import BertConfig, BertEncoder, WordPiece
from tests.lazy import based_on, safetensors, torch
from tests.nn.layers import assert_close, gradient, randomized, rng
from tests.pretrained import model_folder

SENTENCES = [
    "i didnt feel humiliated",
    "time flies like an arrow",
    "time flies like a banana",
    "a fruit fly sat on the bananas",
    "Tokyo is the capital of Japan: 東京は日本の首都。",
    "Wow!",
]
# What sentence-transformers 6.2.0 (transformers 5.23.0, PyTorch 2.13.0, float64) gives for them with these weights: the
# first six columns of the embeddings, and all their scalar products.
COLUMNS = [
    [-0.055050921, -0.007696947, 0.063530239, -0.039663809, 0.11690065, -0.123295834],
    [-0.003586043, -0.02726796, 0.040444969, 0.081235913, 0.016562589, 0.007745552],
    [-0.055223073, 0.006004328, 0.048243726, 0.043345219, 0.048029558, 0.051010407],
    [0.010174186, 0.028137676, 0.006914055, 0.03077393, 0.005416242, 0.072222513],
    [0.134703417, 0.070786118, 0.072388836, 0.005581481, -0.028088335, -0.008490921],
    [-0.042406597, 0.03230799, 0.011768284, -0.037957285, 0.008899485, -0.003040957],
]
PRODUCTS = [
    [1.0, 0.105769779, 0.116795599, 0.066442259, 0.031680894, 0.175762348],
    [0.105769779, 1.0, 0.721802296, 0.183466848, -0.037036515, 0.142001539],
    [0.116795599, 0.721802296, 1.0, 0.541967739, 0.011127815, 0.166804488],
    [0.066442259, 0.183466848, 0.541967739, 1.0, -0.007678558, 0.093365092],
    [0.031680894, -0.037036515, 0.011127815, -0.007678558, 1.0, 0.049065635],
    [0.175762348, 0.142001539, 0.166804488, 0.093365092, 0.049065635, 1.0],
]
# The cosine of `flies` between the second and the third, before the first layer and after each.
FLIES = [1, 0.98990, 0.98955, 0.98671, 0.98588, 0.98613, 0.91947]

CONFIG = BertConfig(
    vocab_size=11, d_model=8, num_heads=2, num_layers=2, hidden=12, max_positions=6, token_types=3, dropout=0.0
)
IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])
MASK = np.array([[True] * 5, [True] * 3 + [False] * 2])
TYPES = np.array([[0, 0, 1, 1, 1], [0, 2, 2, 0, 0]])


@pytest.fixture(scope="module")
def real() -> BertEncoder:
    return BertEncoder.from_safetensors(model_folder())


@pytest.fixture(scope="module")
def tokenizer() -> WordPiece:
    return WordPiece.from_folder(model_folder())


def small(dtype: Any = np.float64, **changes) -> BertEncoder:
    return randomized(BertEncoder(BertConfig.from_dict(CONFIG.to_dict() | changes), rng=rng(), dtype=dtype))


# --- the original, from PyTorch's own layers and the arrays under their own names ---


@based_on(torch.nn.Module)
class Original:
    """BERT with PyTorch's encoder layers: what `BertEncoder` has to equal."""

    def __init__(self, arrays: dict[str, np.ndarray], heads: int, dtype: Any) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterDict(
            {
                name.replace(".", "/"): torch.nn.Parameter(torch.tensor(array, dtype=dtype))
                for name, array in arrays.items()
                if name.startswith("embeddings.") and name != "embeddings.position_ids"
            }
        )
        d_model, hidden = (
            len(arrays["embeddings.LayerNorm.bias"]),
            len(arrays["encoder.layer.0.intermediate.dense.bias"]),
        )
        number = sum(name.endswith("intermediate.dense.bias") for name in arrays)
        self.layers = torch.nn.ModuleList()
        for i in range(number):
            layer = torch.nn.TransformerEncoderLayer(
                d_model, heads, hidden, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True, dtype=dtype
            )
            layer.load_state_dict({name: torch.tensor(a, dtype=dtype) for name, a in packed(arrays, i).items()})
            self.layers.append(layer)

    def states(self, ids: Any, mask: Any, types: Any = None) -> list[Any]:
        def rows(name: str, ids: Any) -> Any:
            return torch.nn.functional.embedding(
                torch.tensor(ids), self.weights[f"embeddings/{name}_embeddings/weight"]
            )

        types = np.zeros_like(ids) if types is None else types
        x = rows("word", ids) + rows("position", np.arange(ids.shape[1])) + rows("token_type", types)
        gain, bias = (self.weights[f"embeddings/LayerNorm/{name}"] for name in ("weight", "bias"))
        states = [torch.nn.functional.layer_norm(x, (len(gain),), gain, bias, 1e-12)]
        for layer in self.layers:
            states.append(layer(states[-1], src_key_padding_mask=torch.tensor(~mask)))
        return states

    def sentences(self, ids: Any, mask: Any, types: Any = None) -> Any:
        x = self.states(ids, mask, types)[-1]
        weight = torch.tensor(mask)[..., None].to(x.dtype)
        return torch.nn.functional.normalize((x * weight).sum(1) / weight.sum(1), dim=1)


def packed(arrays: dict[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
    """A layer's arrays under PyTorch's names, which has one matrix for queries, keys and values."""
    a = {name.removeprefix(f"encoder.layer.{i}."): array for name, array in arrays.items()}
    state = {
        f"self_attn.in_proj_{kind}": np.concatenate(
            [a[f"attention.self.{p}.{kind}"] for p in ("query", "key", "value")]
        )
        for kind in ("weight", "bias")
    }
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    return state | {f"{new}.{kind}": a[f"{old}.{kind}"] for new, old in names.items() for kind in ("weight", "bias")}


def compare_gradients(ours: BertEncoder, theirs: Original, ids: Any, mask: Any, types: Any = None) -> None:
    """Sentence embeddings and the gradients of all weights, to 1e-10."""
    embeddings, expected = ours.sentence_embeddings(ids, mask, types), theirs.sentences(ids, mask, types)
    assert_close(embeddings.numpy(), expected.detach().numpy())
    cotangent = rng(9).standard_normal(embeddings.shape)
    ours.zero_grad()
    embeddings.backward(cotangent)
    expected.backward(torch.tensor(cotangent))
    found = {name: gradient(p) for name, p in ours.named_parameters()}
    for name in ("tokens", "positions", "token_types"):
        original = {"tokens": "word", "positions": "position", "token_types": "token_type"}[name]
        assert_close(found[f"{name}.weight"], theirs.weights[f"embeddings/{original}_embeddings/weight"].grad, name)
    for kind in ("weight", "bias"):
        assert_close(found[f"norm.{kind}"], theirs.weights[f"embeddings/LayerNorm/{kind}"].grad, kind)
    for i, layer in enumerate(theirs.layers):
        own = {name.removeprefix(f"layers.{i}."): g for name, g in found.items() if name.startswith(f"layers.{i}.")}
        for kind in ("weight", "bias"):
            parts = [own[f"attention.{p}.{kind}"].T for p in ("query", "key", "value")]
            assert_close(np.concatenate(parts), getattr(layer.self_attn, f"in_proj_{kind}").grad, f"layer {i}")
            for path, module in (
                ("attention.output", layer.self_attn.out_proj),
                ("attention_norm", layer.norm1),
                ("feed_forward.hidden", layer.linear1),
                ("feed_forward.output", layer.linear2),
                ("feed_forward_norm", layer.norm2),
            ):
                assert_close(own[f"{path}.{kind}"].T, getattr(module, kind).grad, f"layer {i} {path}")
        assert len(own) == 16
    assert len(found) == 5 + 16 * len(theirs.layers)


# --- the real weights ---


def test_the_sentence_embeddings_of_the_library_sentence_transformers(real: BertEncoder, tokenizer: WordPiece) -> None:
    embeddings = real.embed(SENTENCES, tokenizer)
    assert embeddings.dtype == np.float32
    assert embeddings.shape == (6, 384)
    np.testing.assert_allclose(embeddings[:, :6], COLUMNS, rtol=0, atol=1e-6)
    np.testing.assert_allclose(embeddings @ embeddings.T, PRODUCTS, rtol=0, atol=2e-6)


def test_in_single_precision_every_layer_is_the_originals(real: BertEncoder, tokenizer: WordPiece) -> None:
    theirs: Any = Original(safetensors.numpy.load_file(model_folder() / "model.safetensors"), 12, torch.float32)
    theirs.eval()
    ids, mask = tokenizer(SENTENCES)
    with torch.no_grad(), no_grad():
        for state, expected in zip(real.hidden_states(ids, mask), theirs.states(ids, mask), strict=True):
            np.testing.assert_allclose(state.numpy()[mask], expected.numpy()[mask], rtol=0, atol=1e-5)
        expected = theirs.sentences(ids, mask).numpy()
        np.testing.assert_allclose(real.sentence_embeddings(ids, mask).numpy(), expected, rtol=0, atol=1e-6)


@pytest.mark.thorough
def test_in_double_precision_embeddings_and_all_gradients_are_the_originals(tokenizer: WordPiece) -> None:
    ours = BertEncoder.from_safetensors(model_folder(), dtype=np.float64)
    theirs = Original(safetensors.numpy.load_file(model_folder() / "model.safetensors"), 12, torch.float64)
    ids, mask = tokenizer([SENTENCES[0], SENTENCES[5]])
    compare_gradients(ours, theirs, ids, mask)
    np.testing.assert_allclose(
        ours.sentence_embeddings(ids, mask).numpy()[:, :6], np.array(COLUMNS)[[0, 5]], atol=6e-10
    )


def test_the_cosine_of_flies_by_layer(real: BertEncoder, tokenizer: WordPiece) -> None:
    ids, mask = tokenizer(SENTENCES[1:3])
    place = tokenizer.tokenize(SENTENCES[1]).index("flies") + 1
    with no_grad():
        pairs = [state.numpy()[:, place].astype(float) for state in real.hidden_states(ids, mask)]
    cosines = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in pairs]
    np.testing.assert_allclose(cosines, FLIES, rtol=0, atol=6e-6)


def test_the_real_sizes(real: BertEncoder) -> None:
    assert real.config == BertConfig()
    assert real.num_parameters == 22_565_376
    assert not any(module.training for module in real.modules())
    assert {p.dtype for p in real.parameters()} == {np.dtype(np.float32)}


@pytest.mark.thorough
def test_fine_tuning_changes_every_weight_and_lowers_the_loss(tokenizer: WordPiece) -> None:
    model = BertEncoder.from_safetensors(model_folder())
    ids, mask = tokenizer(SENTENCES[:4])
    before = {name: p.data.copy() for name, p in model.named_parameters()}
    target = rng(2).standard_normal((4, 384)).astype(np.float32)
    target /= np.sqrt((target**2).sum(1, keepdims=True))

    def loss(model: Any, batch: Any) -> Tensor:
        return nn.mean_squared_error(model.sentence_embeddings(ids, mask), batch[0])

    optimizer = nn.AdamW(model.parameters(), lr=1e-4)
    history = nn.fit(model, nn.Batches([target], 4, seed=0, shuffle=False), loss, optimizer, epochs=3, progress=False)
    assert history.losses[-1] < 0.9 * history.losses[0]
    for name, p in model.named_parameters():
        assert (p.data != before[name]).any(), name
    assert all(np.isfinite(p.data).all() for p in model.parameters())


# --- the network, with small sizes ---


@pytest.mark.parametrize("types", [None, TYPES])
def test_small_sizes_and_all_gradients_as_in_pytorch(types: Any) -> None:
    model = small()
    compare_gradients(model, Original(model.original_state(), 2, torch.float64), IDS, MASK, types)
    theirs = Original(model.original_state(), 2, torch.float64)
    for state, expected in zip(model.hidden_states(IDS, MASK, types), theirs.states(IDS, MASK, types), strict=True):
        assert_close(state.numpy()[MASK], expected.detach().numpy()[MASK])


def test_the_result_is_the_last_hidden_state_and_integer_masks_are_masks() -> None:
    model = small()
    states = model.hidden_states(IDS, MASK)
    assert len(states) == 3
    np.testing.assert_array_equal(model(IDS, MASK).numpy(), states[-1].numpy())
    np.testing.assert_array_equal(model(IDS, MASK.astype(int)).numpy(), states[-1].numpy())


def test_padding_changes_nothing() -> None:
    model = small()
    alone = model.sentence_embeddings(IDS[1:, :3]).numpy()
    assert_close(model.sentence_embeddings(IDS, MASK).numpy()[1:], alone)
    assert_close(model.sentence_embeddings(np.where(MASK, IDS, 7), MASK).numpy()[1:], alone)
    assert abs(model.sentence_embeddings(IDS).numpy()[1:] - alone).max() > 1e-3  # without the mask it would


def test_sentence_embeddings_have_length_one_and_a_row_of_padding_is_finite() -> None:
    model = small()
    embeddings = model.sentence_embeddings(IDS, np.array([[True] * 5, [False] * 5]))
    np.testing.assert_allclose((embeddings.numpy() ** 2).sum(1), [1, 0], atol=1e-12)
    embeddings.backward(np.ones(embeddings.shape))
    assert all(np.isfinite(gradient(p)).all() for p in model.parameters())


def test_attention_weights_are_those_of_each_layer() -> None:
    model = small()
    weights = model.attention_weights(IDS, MASK)
    assert [w.shape for w in weights] == [(2, 2, 5, 5)] * 2
    theirs = Original(model.original_state(), 2, torch.float64)
    states = theirs.states(IDS, MASK)
    for w, layer, state in zip(weights, theirs.layers, states):
        ignored = torch.tensor(~MASK)
        expected = layer.self_attn(state, state, state, key_padding_mask=ignored, average_attn_weights=False)[1]
        assert_close(w.numpy(), expected.detach().numpy())


def test_positions_and_token_types_count() -> None:
    model = small()
    ids = np.array([[3, 3]])
    first, second = model.hidden_states(ids)[0].numpy()[0]
    assert abs(first - second).max() > 1e-3
    other = model.hidden_states(ids, token_types=np.array([[1, 0]]))[0].numpy()[0]
    assert abs(first - other[0]).max() > 1e-3
    assert_close(second, other[1])


def test_embed_gives_each_text_its_own_row_in_evaluation_mode(tmp_path: Path) -> None:
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefg"], max_length=6)
    model = small(dropout=0.5).train()
    texts = ["a b c", "d", "e f g a", "b", ""]
    together = model.embed(texts, tokenizer, batch_size=2)
    assert model.training
    assert model.layers[0].training
    for text, row in zip(texts, together):
        assert_close(model.embed([text], tokenizer)[0], row)
    assert model.embed([], tokenizer).shape == (0, 8)


def test_dropout_drops_in_training_only() -> None:
    model = small(dropout=0.3)
    expected = model.eval()(IDS, MASK).numpy()
    assert abs(model.train()(IDS, MASK).numpy() - expected).max() > 1e-3
    np.testing.assert_array_equal(model.eval()(IDS, MASK).numpy(), expected)


def test_new_weights_depend_on_the_generator_alone() -> None:
    a, b = (BertEncoder(CONFIG, rng=rng()).state_dict() for _ in range(2))
    assert all((a[name] == b[name]).all() for name in a)
    assert BertConfig.from_dict(CONFIG.to_dict()) == CONFIG
    table = BertEncoder(BertConfig(vocab_size=1000, num_layers=1), rng=rng()).tokens.weight
    assert table.data.std() == pytest.approx(0.02, rel=0.02)


# --- files ---


def saved(folder: Path, model: BertEncoder, **changes: Any) -> Path:
    """A model in the layout of the library Transformers."""
    config = model.config
    settings = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_attention_heads": config.num_heads,
        "num_hidden_layers": config.num_layers,
        "intermediate_size": config.hidden,
        "max_position_embeddings": config.max_positions,
        "type_vocab_size": config.token_types,
        "layer_norm_eps": config.eps,
        "hidden_dropout_prob": config.dropout,
    }
    (folder / "config.json").write_text(json.dumps(settings | changes), encoding="utf-8")
    safetensors.numpy.save_file(model.original_state(), folder / "model.safetensors")
    return folder


def test_original_state_and_back(tmp_path: Path) -> None:
    model = small()
    loaded = BertEncoder.from_safetensors(saved(tmp_path, model), dtype=np.float64)
    assert loaded.config == model.config
    np.testing.assert_array_equal(loaded(IDS, MASK).numpy(), model(IDS, MASK).numpy())
    assert model.original_state()["encoder.layer.1.intermediate.dense.weight"].shape == (12, 8)


def test_a_file_alone_needs_the_config(tmp_path: Path) -> None:
    model = small()
    file = saved(tmp_path, model) / "model.safetensors"
    assert BertEncoder.from_safetensors(file).config == model.config
    (tmp_path / "config.json").unlink()
    with pytest.raises(CheckpointError, match=r"there is no config\.json next to .*: pass config=BertConfig"):
        BertEncoder.from_safetensors(file)
    loaded = BertEncoder.from_safetensors(file, model.config)
    np.testing.assert_allclose(loaded(IDS, MASK).numpy(), model(IDS, MASK).numpy(), atol=1e-4)


def test_prefixed_names_unused_arrays_and_half_precision(tmp_path: Path) -> None:
    model = small(np.float32)
    saved(tmp_path, model)
    arrays = {f"bert.{name}": array.astype(np.float16) for name, array in model.original_state().items()}
    arrays["bert.pooler.dense.weight"] = np.ones((8, 8), np.float16)
    arrays["cls.predictions.bias"] = np.ones(11, np.float16)
    safetensors.numpy.save_file(arrays, tmp_path / "model.safetensors")
    loaded = BertEncoder.from_safetensors(tmp_path)
    assert loaded.norm.weight.dtype == np.float32
    np.testing.assert_allclose(loaded.tokens.weight.data, model.tokens.weight.data, rtol=1e-3, atol=1e-6)


def test_files_that_are_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no weights at .*model\.safetensors': .* check the path"):
        BertEncoder.from_safetensors(tmp_path)
    model = small()
    saved(tmp_path, model)
    file = tmp_path / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="is not a safetensors file, or is truncated"):
        BertEncoder.from_safetensors(tmp_path)
    state = model.original_state()
    for change, message in (
        (lambda s: s.pop("embeddings.LayerNorm.bias"), r"missing: 'embeddings\.LayerNorm\.bias'"),
        (
            lambda s: s.update({"encoder.layer.2.output.dense.bias": np.ones(8)}),
            r"unexpected: 'encoder\.layer\.2\.output",
        ),
        (lambda s: s.update({"embeddings.LayerNorm.bias": np.ones(9)}), r"shape \(9,\) for 'norm\.bias'"),
    ):
        changed = dict(state)
        change(changed)
        safetensors.numpy.save_file(changed, file)
        with pytest.raises(CheckpointError, match=message):
            BertEncoder.from_safetensors(tmp_path)
    safetensors.numpy.save_file({}, file)
    with pytest.raises(CheckpointError, match=r"missing: .* and 32 more"):
        BertEncoder.from_safetensors(tmp_path)


def test_arrays_that_do_not_fit_change_nothing() -> None:
    model = small()
    before = model.state_dict()
    state = model.original_state()
    state["encoder.layer.1.output.LayerNorm.bias"] = np.zeros(3)
    state["embeddings.LayerNorm.bias"] = np.zeros(8)
    with pytest.raises(ShapeError):
        model.load_original(state)
    assert all((array == before[name]).all() for name, array in model.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, r"\('roberta', 'absolute', 'gelu'\); BertEncoder is 'bert'"),
        ({"position_embedding_type": "relative_key"}, "relative_key"),
        ({"hidden_act": "silu"}, "'gelu' or 'gelu_new' or 'relu'"),
        ({"vocab_size": None}, "has no 'vocab_size': pass BertConfig"),
    ],
)
def test_a_config_of_another_network(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    saved(tmp_path, small(), **changes)
    if None in changes.values():
        settings = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in settings.items() if v is not None}))
    with pytest.raises(ArgumentError, match=message):
        BertEncoder.from_safetensors(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (IDS[0],),
            ShapeError,
            r"needs ids of shape \(batch, length\) with length at most max_positions=6, got \(5,\)",
        ),
        ((np.zeros((1, 7), int),), ShapeError, r"max_positions=6 and got ids of shape \(1, 7\)"),
        ((IDS, MASK[:, :4]), ShapeError, r"key_mask must have the shape \(batch, key\) = \(2, 5\), got \(2, 4\)"),
        ((IDS, MASK, TYPES[:1]), ShapeError, r"token_types must have the shape of ids, \(2, 5\), got \(1, 5\)"),
        ((IDS + 9,), OutOfRangeError, "got the id 18, but its vocabulary has 11"),
        ((IDS, MASK, TYPES + 1), OutOfRangeError, "BertEncoder's token_types got the id 3, but"),
        ((IDS, MASK.astype(float)), DTypeError, "^key_mask must be boolean, True = attend"),
        ((IDS.astype(float),), DTypeError, "integer ids"),
    ],
)
def test_bad_input_is_named(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        small()(*arguments)
