"""GPT: held to PyTorch's layers, to itself without the cache, and to a language that it can learn by heart."""

import copy
import itertools
import types
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, GraphError, OutOfRangeError, ShapeError, no_grad
from models import GPT, GPTConfig
from tests.lazy import based_on, torch
from tests.nn.layers import assert_close, assert_same, gradient, load, randomized, torch_state

CONFIG = GPTConfig(vocab_size=11, window=8, d_model=12, num_heads=2, num_layers=3, hidden=20)
IDS = np.random.default_rng(5).integers(0, 11, (3, 8))


POSITIONS = ("learned", "rotary", "alibi")


def gpt(*, random: bool = True, dtype: Any = np.float64, seed: int = 0, **changes: Any) -> GPT:
    config = GPTConfig.from_dict(CONFIG.to_dict() | changes)
    model = GPT(config, rng=np.random.default_rng(seed), dtype=dtype).eval()
    return randomized(model) if random else model


@based_on(torch.nn.Module)
class TorchGPT:
    """The same network from PyTorch's parts, under the names of ours."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        d_model = config.d_model
        self.embedding = torch.nn.Embedding(config.vocab_size, d_model)
        self.positions = torch.nn.Embedding(config.window, d_model)
        layer = torch.nn.TransformerEncoderLayer(
            d_model, config.num_heads, config.hidden, 0.0, config.activation, batch_first=True, norm_first=True
        )
        stack = torch.nn.TransformerEncoder(
            layer, config.num_layers, norm=torch.nn.LayerNorm(d_model), enable_nested_tensor=False
        )
        self.layers, self.norm = stack.layers, stack.norm
        self.stack = [stack]  # in a list: its parts are registered above
        self.output = torch.nn.Linear(d_model, config.vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, ids: Any) -> Any:
        length = ids.shape[1]
        x = self.embedding(ids) + self.positions(torch.arange(length))
        causal = torch.nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)
        return self.output(self.stack[0](x, mask=causal, is_causal=True))


@pytest.mark.parametrize("length", [1, 5, 8])
def test_equals_a_stack_of_pytorchs_encoder_layers_with_all_gradients(length: int) -> None:
    model = gpt()
    theirs = load(TorchGPT(model.config), model)

    def state_of(module: Any, of: Any) -> Any:
        return {name: array for name, array in torch_state(module, of).items() if name != "output.weight"}  # tied

    ids = IDS[:, :length]
    assert_same([model(ids)], [theirs(torch.from_numpy(ids))], (model, theirs), state_of)


@pytest.mark.parametrize(("heads", "slopes"), [
    (1, [2**-8]), (2, [2**-4, 2**-8]), (4, [2**-2, 2**-4, 2**-6, 2**-8]), (3, [2**-4, 2**-8, 2**-2]),
    (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
])  # fmt: skip
def test_alibi_equals_pytorchs_encoder_layers_with_all_gradients(heads: int, slopes: list[float]) -> None:
    model = gpt(num_heads=heads, positions="alibi")
    none = {"positions.weight": np.zeros((model.config.window, model.config.d_model))}
    theirs = load(TorchGPT(model.config), torch_state(model) | none)
    distance = torch.arange(8)[:, None] - torch.arange(8)
    bias = -torch.tensor(slopes, dtype=torch.float64)[:, None, None] * distance
    bias = bias.masked_fill(distance < 0, -torch.inf).repeat(len(IDS), 1, 1)  # (batch times heads, query, key)
    ours, expected = model(IDS), theirs.output(theirs.stack[0](theirs.embedding(torch.from_numpy(IDS)), mask=bias))
    assert_same([ours], [expected])
    for name, g in torch_state(model, gradient).items():
        assert_close(g, theirs.get_parameter(name).grad.numpy(), name)


def turned(x: Any, heads: int, base: float) -> Any:
    """Rotary positions as the paper has them: each pair of columns is a complex number; (batch, heads, length, width)."""
    z = torch.view_as_complex(x.reshape(*x.shape[:2], heads, -1, 2))
    angles = torch.arange(x.shape[1])[:, None] / base ** (torch.arange(z.shape[-1], dtype=torch.float64) / z.shape[-1])
    real = torch.view_as_real(z * torch.exp(1j * angles)[:, None])
    return real.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


def llama(p: Any, config: GPTConfig, ids: Any) -> Any:
    """The logits of Touvron et al. 2023, section 2.2, from PyTorch's functions."""
    functions, heads, groups = torch.nn.functional, config.num_heads, config.num_kv_heads
    x, base = p["embedding.weight"][ids], config.rotary_base
    distance = torch.arange(ids.shape[1])[:, None] - torch.arange(ids.shape[1])
    allowed = (distance >= 0) & (distance < (config.sliding_window or config.window))
    for i in range(config.num_layers):
        a, f = f"layers.{i}.attention", f"layers.{i}.feed_forward"
        h = functions.rms_norm(x, (config.d_model,), p[f"{a}_norm.weight"], 1e-5)
        q, k = turned(h @ p[f"{a}.query.weight"], heads, base), turned(h @ p[f"{a}.key.weight"], groups, base)
        v = (h @ p[f"{a}.value.weight"]).reshape(*ids.shape, groups, -1).transpose(1, 2)
        seen = functions.scaled_dot_product_attention(q, k, v, allowed, enable_gqa=True).transpose(1, 2)
        x = x + seen.reshape(*ids.shape, -1) @ p[f"{a}.output.weight"]
        h = functions.rms_norm(x, (config.d_model,), p[f"{f}_norm.weight"], 1e-5)
        gated = functions.silu(h @ p[f"{f}.hidden.weight"]) * (h @ p[f"{f}.gate.weight"])
        x = x + gated @ p[f"{f}.output.weight"]
    return functions.rms_norm(x, (config.d_model,), p["norm.weight"], 1e-5) @ p["output.weight"]


LLAMA: dict[str, Any] = {
    "activation": "swiglu", "rms_norm": True, "bias": False, "tied": False, "num_heads": 6, "num_kv_heads": 2,
    "positions": "rotary",
}  # fmt: skip


NEAR: dict[str, Any] = {"sliding_window": 3, "rotary_base": 50.0}


@pytest.mark.parametrize("form", [
    {"num_kv_heads": 1}, {}, {"num_kv_heads": 6}, {"rotary_base": 500000.0}, NEAR, {"sliding_window": 1}, {"sliding_window": 8}
])  # fmt: skip
def test_equals_llamas_form_in_pytorch_with_all_gradients(form: dict[str, Any]) -> None:
    model = gpt(**(LLAMA | form))
    p = {name: torch.from_numpy(array).requires_grad_() for name, array in model.state_dict().items()}
    ours, theirs = model(IDS), llama(p, model.config, torch.from_numpy(IDS))
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-10)
    cotangent = np.random.default_rng(3).normal(size=ours.shape)
    ours.backward(cotangent)
    theirs.backward(torch.from_numpy(cotangent))
    found = dict(model.named_parameters())
    assert found.keys() == p.keys() and "output.weight" in p and not any(name.endswith("bias") for name in p)
    for name, parameter in found.items():
        assert parameter.grad is not None
        np.testing.assert_allclose(parameter.grad.numpy(), p[name].grad.numpy(), rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("form", [{}, LLAMA, NEAR], ids=["GPT-2", "LLaMA", "sliding window"])
@pytest.mark.parametrize("cuts", [(8,), (1,) * 8, (3, 1, 4), (5, 3)])
def test_with_the_cache_the_logits_are_the_same(positions: str, form: dict[str, Any], cuts: tuple[int, ...]) -> None:
    model = gpt(**(form | {"positions": positions}))
    caches, parts = model.new_caches(), []
    with no_grad():
        for stop, length in zip(itertools.accumulate(cuts), cuts):
            parts.append(model(IDS[:, stop - length : stop], caches).numpy())
        assert_close(np.concatenate(parts, axis=1), model(IDS).numpy())
    assert [cache.length for cache in caches] == [8] * 3


def test_a_token_sees_nothing_of_what_is_after_it() -> None:
    model = gpt()
    changed = IDS.copy()
    changed[:, 5] = (changed[:, 5] + 1) % 11
    before, after = model(IDS).numpy(), model(changed).numpy()
    np.testing.assert_array_equal(after[:, :5], before[:, :5])
    assert (np.abs(after - before)[:, 5:].max(axis=-1) > 1e-4).all()


def test_a_sliding_window_widens_by_each_layer() -> None:
    """With 3 layers of 3 tokens, the last of 8 tokens is reached from position 7 - 3 * 2 on; the weights show each layer's."""
    model = gpt(**NEAR)
    for place in range(8):
        changed = IDS.copy()
        changed[:, place] = (changed[:, place] + 1) % 11
        differs = np.abs(model(changed).numpy() - model(IDS).numpy())[:, 7].max(axis=-1) > 1e-9
        assert differs.all() == (place > 0) and differs.any() == (place > 0)
    for weights in model.attention_weights(IDS):
        assert ((weights.numpy() > 0) == (np.tri(8) - np.tri(8, k=-3)).astype(bool)).all()


def test_attention_dropout_drops() -> None:
    assert len([m for m in gpt().modules() if isinstance(m, nn.Dropout)]) == 1 + 3 * 3
    model = gpt(attention_dropout=0.5)
    assert len([m for m in model.modules() if isinstance(m, nn.Dropout)]) == 1 + 3 * 4
    evaluated = model(IDS).numpy()
    assert_close(evaluated, model(IDS).numpy())
    assert np.abs(model.train()(IDS).numpy() - evaluated).max() > 0.1


def test_padding_behind_needs_no_mask_only_a_loss_that_ignores_it() -> None:
    model = gpt()
    gradients = []
    for ids, labels in ((IDS[:, :4], IDS[:, 1:5]), (IDS, np.where(np.arange(8) < 4, np.roll(IDS, -1, 1), -1))):
        model.zero_grad()
        nn.cross_entropy(model(ids), labels, ignore_index=-1).backward()
        gradients.append([p.grad.numpy() for p in model.parameters() if p.grad is not None])
    for short, padded in zip(*gradients, strict=True):
        if short.shape == (8, 12):  # the positions
            assert (padded[4:] == 0).all()
        assert_close(padded, short)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "swiglu", "relu"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_every_form_of_it_trains_in_single_precision(positions: str, activation: str) -> None:
    """It learns to say the next number of 0 1 2 ... 10 0 1 ..."""
    model = gpt(random=False, dtype=np.float32, positions=positions, activation=activation, num_layers=2)
    optimizer, rng = nn.AdamW(model.train().parameters(), lr=1e-2), np.random.default_rng(0)
    losses = []
    for _ in range(60):
        ids = (rng.integers(0, 11, (16, 1)) + np.arange(9)) % 11
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(np.log(11), rel=0.05) and losses[-1] < 0.1
    assert all(p.dtype == p.grad.dtype == np.float32 for p in model.parameters() if p.grad is not None)
    written = [int(tokens[0]) for tokens in model.eval().generate([[3]], 20, rng=rng, temperature=0)]
    assert written == [(4 + i) % 11 for i in range(20)]  # far beyond the window of 8


# --- generation ---


def sequence(model: GPT, ids: Any = IDS[:, :3], count: int = 30, seed: int = 1, **settings: Any) -> np.ndarray:
    return np.stack(list(model.generate(ids, count, rng=np.random.default_rng(seed), **settings)), axis=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("length", [1, 8, 13])
def test_with_the_cache_the_tokens_are_the_same_beyond_the_window_too(positions: str, length: int) -> None:
    model, ids = gpt(positions=positions), np.tile(IDS, 2)[:, :length]
    np.testing.assert_array_equal(sequence(model, ids), sequence(model, ids, cache=False))


def test_a_seed_gives_the_same_tokens_and_another_seed_others() -> None:
    model = gpt()
    np.testing.assert_array_equal(sequence(model), sequence(model))
    assert (sequence(model) != sequence(model, seed=2)).any()


def test_each_token_is_drawn_from_the_logits_behind_all_before_it() -> None:
    model, settings = gpt(), {"temperature": 0.7, "top_k": 6, "top_p": 0.9}
    rng, ids = np.random.default_rng(1), IDS[:, :3]
    for tokens in model.generate(ids, 5, rng=np.random.default_rng(1), **settings):  # type: ignore[arg-type]
        expected = nn.sample_tokens(model(ids)[:, -1], rng=rng, **settings)  # type: ignore[arg-type]
        np.testing.assert_array_equal(tokens, expected)
        ids = np.concatenate([ids, tokens[:, None]], axis=1)


def test_what_the_model_sees_is_between_half_a_window_and_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a window of 8 and a prompt of 3: 3 to 8 tokens, then again and again the last 4, 5, ... 8."""
    model = gpt()
    seen: list[np.ndarray] = []
    forward = model.forward

    def spy(ids: Any, caches: Any = None, key_mask: Any = None) -> Any:
        seen.append(ids)
        assert key_mask is None
        return forward(ids, caches)

    monkeypatch.setattr(model, "forward", spy)
    written = np.concatenate([IDS[:, :3], sequence(model, count=12, cache=False)], axis=1)
    assert [ids.shape[1] for ids in seen] == [3, 4, 5, 6, 7, 8, 4, 5, 6, 7, 8, 4]
    for i, ids in enumerate(seen):
        np.testing.assert_array_equal(ids, written[:, 3 + i - ids.shape[1] : 3 + i])
    seen.clear()
    sequence(model, count=12)
    assert [ids.shape[1] for ids in seen] == [3, 1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4]  # the cache saves all others


def test_a_prompt_longer_than_the_window_counts_by_its_end() -> None:
    model = gpt()
    long = np.concatenate([IDS[::-1], IDS], axis=1)
    np.testing.assert_array_equal(sequence(model, long), sequence(model, IDS))


def test_a_window_of_one_token_sees_just_that() -> None:
    model = gpt(window=1)
    np.testing.assert_array_equal(sequence(model), sequence(model, cache=False))


def test_behind_the_end_there_is_only_the_end() -> None:
    model = gpt()
    free, closed = (sequence(model, count=60, temperature=4, end=end) for end in (None, 4))
    for row, expected in zip(closed, free):
        stop = list(expected).index(4)
        np.testing.assert_array_equal(row[: stop + 1], expected[: stop + 1])
        assert (row[stop:] == 4).all()
    assert closed.shape[1] == 1 + max(list(row).index(4) for row in free)  # it is over when all are closed


def test_tokens_come_one_by_one_and_nothing_is_computed_ahead() -> None:
    model, rng = gpt(), np.random.default_rng(0)
    tokens = model.generate(IDS, 100, rng=rng)
    assert isinstance(tokens, types.GeneratorType)
    assert rng.random() == np.random.default_rng(0).random()  # nothing has been drawn yet
    first = next(tokens)
    assert first.shape == (3,) and first.dtype.kind == "i"
    assert model(IDS).requires_grad  # between two tokens gradients are recorded as ever
    assert list(model.generate(IDS, 0, rng=rng)) == []


def test_dropout_is_silent_after_eval_and_active_in_training() -> None:
    model = gpt(dropout=0.5)
    np.testing.assert_array_equal(sequence(model), sequence(gpt()))
    assert (sequence(model.train()) != sequence(gpt())).any()
    for layer in model.layers:
        for module in (layer.attention_dropout, layer.feed_forward.dropout, layer.feed_forward_dropout):
            module.p = 0
    assert (model(IDS).numpy() != gpt()(IDS).numpy()).any()  # the embeddings are dropped too


# --- looking, building, moving ---


@pytest.mark.parametrize("positions", POSITIONS)
def test_attention_weights_are_causal_and_give_the_layers_context(positions: str) -> None:
    model = gpt(positions=positions)
    weights = model.attention_weights(IDS)
    assert [w.shape for w in weights] == [(3, 2, 8, 8)] * 3
    for w in weights:
        assert_close(w.numpy().sum(axis=-1), 1.0)
        assert (np.triu(w.numpy(), 1) == 0).all()
    layer = model.layers[0]
    x = model.embedding(IDS) if model.positions is None else model.positions(model.embedding(IDS))
    seen = layer.attention_norm(x)
    values = layer.attention.value(seen).numpy().reshape(3, 8, 2, 6).swapaxes(1, 2)
    context = (weights[0].numpy() @ values).swapaxes(1, 2).reshape(3, 8, 12)
    assert_close(layer.attention.output(context).numpy(), layer.attention(seen, **model._masks(0, 8)).numpy())


def test_rotary_and_alibi_make_weights_depend_on_distances_alone_learned_ones_on_places() -> None:
    """By how much a token prefers itself to the one before it, wherever it stands."""
    for positions, same in (("rotary", True), ("alibi", True), ("learned", False)):
        model = gpt(positions=positions, num_layers=1)
        token = np.full((1, 6), 3)  # equal tokens: only positions can tell them apart
        weights = model.attention_weights(token)[0].numpy()[0, 0]
        ratios = [weights[i, i] / weights[i, i - 1] for i in range(1, 6)]
        assert np.allclose(ratios, ratios[0], rtol=1e-10) == same
        assert abs(ratios[0] - 1) > 1e-3


def test_it_starts_near_the_uniform_distribution_and_knows_gpt2s_scales() -> None:
    model = gpt(random=False, d_model=64, hidden=256, num_layers=2)
    loss = nn.cross_entropy(model(IDS)[:, :-1], IDS[:, 1:]).item()
    assert loss == pytest.approx(np.log(11), rel=0.05)
    assert model.embedding.weight.data.std() == pytest.approx(0.02, rel=0.05)
    assert gpt(random=False, d_model=64, std=0.1).embedding.weight.data.std() == pytest.approx(0.1, rel=0.05)
    plain = nn.Affine(64, 64, rng=np.random.default_rng(0), dtype=np.float64).weight.data.std()
    for layer in model.layers:
        assert layer.attention.output.weight.data.std() == pytest.approx(plain / 2, rel=0.05)  # of four parts


def test_the_output_is_tied_and_counted_once() -> None:
    model = gpt()
    layer = 4 * (12 * 12 + 12) + 2 * 2 * 12 + 12 * 20 + 20 + 20 * 12 + 12
    assert model.num_parameters == 11 * 12 + 8 * 12 + 3 * layer + 2 * 12
    assert gpt(positions="rotary").num_parameters == model.num_parameters - 8 * 12
    assert [name for name, _ in model.named_parameters() if "output.embedding" in name] == []


def test_the_same_seed_gives_the_same_model_and_the_config_survives_a_dict() -> None:
    a, b, c = (gpt(random=False, seed=seed).state_dict() for seed in (0, 0, 1))
    assert all((a[name] == b[name]).all() for name in a)
    assert (a["embedding.weight"] != c["embedding.weight"]).any()
    assert GPTConfig.from_dict(CONFIG.to_dict()) == CONFIG


def test_a_copy_has_its_own_tied_weights() -> None:
    model = gpt()
    other = copy.deepcopy(model)
    assert isinstance(other.output, nn.TiedOutput)
    assert other.output.embedding is other.embedding and other.embedding is not model.embedding


@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        (np.array([1, 2]), ShapeError, r"ids of shape \(batch, length\), got \(2,\)"),
        (np.zeros((1, 9), int), ShapeError, r"at most window=8 tokens, got 9: keep the last ones, ids\[:, -8:\]"),
        (np.array([[11]]), OutOfRangeError, "11"),
        (np.array([[-1]]), OutOfRangeError, "-1"),
        (np.array([[1.0]]), DTypeError, "float64"),
    ],
)
def test_bad_ids_are_named(ids: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        gpt()(ids)


def test_a_full_cache_is_named() -> None:
    model = gpt()
    caches = model.new_caches()
    with no_grad():
        model(IDS, caches)
        with pytest.raises(ShapeError, match=r"window=8 tokens, got 9.*with new caches"):
            model(IDS[:, :1], caches)
    assert [cache.length for cache in caches] == [8] * 3


def test_an_error_in_a_later_layer_leaves_every_cache_as_it_was() -> None:
    """Caches of another batch, of another call or of another layer; an error that has nothing to do with caches, too."""
    model, other = gpt(), gpt()
    with no_grad():
        for what in ("batch", "length", "shared", "interrupt"):
            caches, foreign = model.new_caches(), other.new_caches()
            model(IDS[:, :3], caches)
            other(IDS[:1, :3] if what == "batch" else IDS[:, :4], foreign)
            mixed = [*caches[:2], caches[1] if what == "shared" else foreign[2]]
            if what == "interrupt":
                mixed = caches
                vars(model.layers[2])["forward"] = interrupted
            before = [(cache.length, cache.keys.tobytes(), cache.values.tobytes()) for cache in mixed]
            with pytest.raises((ShapeError, ArgumentError, KeyboardInterrupt)) as raised:
                model(IDS[:, 3:4], mixed)
            assert {"batch": "make a new KeyValueCache", "length": "hold 3, 4 tokens", "shared": "two layers have"}.get(
                what, ""
            ) in str(raised.value)
            assert [(cache.length, cache.keys.tobytes(), cache.values.tobytes()) for cache in mixed] == before


def interrupted(*arguments: Any, **settings: Any) -> Any:
    raise KeyboardInterrupt


def test_caches_need_no_grad_and_one_a_layer() -> None:
    model = gpt()
    with pytest.raises(GraphError, match="no_grad"):
        model(IDS, model.new_caches())
    with no_grad(), pytest.raises(ArgumentError, match="caches must be one for each of the 3 layers, got 2"):
        model(IDS, model.new_caches()[:2])
    for mask in ([[1] * 8] * 3, np.ones((3, 8), bool)):
        with pytest.raises(
            ArgumentError, match=r"for each of the 3 layers, got (list|ndarray): .* a mask is key_mask=mask"
        ):
            model(IDS, mask)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "words"),
    [
        (([1, 2], 5), {}, ShapeError, r"\(batch, length\) with at least one token in each row, got \(2,\)"),
        ((np.zeros((2, 0), int), 5), {}, ShapeError, r"got \(2, 0\)"),
        ((IDS, -1), {}, ArgumentError, "count must be an integer, 0 or more, got -1"),
        ((IDS, 5), {"end": 11}, ArgumentError, "end must be an id of the vocabulary, 0 to 10, got 11"),
        ((IDS, 5), {"temperature": -1}, ArgumentError, "temperature"),
        ((IDS, 5), {"top_k": 0}, ArgumentError, "top_k"),
        ((IDS, 5), {"top_p": 2}, ArgumentError, "top_p"),
        ((IDS, 5), {"rng": 3}, ArgumentError, "rng"),
    ],
)
def test_bad_settings_raise_at_the_call_not_at_the_first_token(
    arguments: Any, settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        gpt().generate(*arguments, **{"rng": np.random.default_rng(0)} | settings)


def test_a_bad_config_is_named() -> None:
    with pytest.raises(ArgumentError, match="num_kv_heads=4 does not divide num_heads=6: pass a divisor of it"):
        gpt(**(LLAMA | {"num_kv_heads": 4}))
    with pytest.raises(ArgumentError, match="positions must be 'learned', 'rotary' or 'alibi', got 'absolute'"):
        gpt(positions="absolute")
    with pytest.raises(ArgumentError, match="window must be a positive integer, got 0"):
        gpt(positions="rotary", window=0)
    with pytest.raises(ArgumentError, match="num_heads=5"):
        gpt(num_heads=5)
    with pytest.raises(ArgumentError, match="sliding_window must be an integer, 0 or more, got -1"):
        gpt(sliding_window=-1)
    with pytest.raises(ArgumentError, match="rotary_base must be a number >= 1, got 0"):
        gpt(rotary_base=0)
    with pytest.raises(ArgumentError, match="attention_dropout must be in"):
        gpt(attention_dropout=1.0)


def test_rotary_weights_are_drawn_once() -> None:
    """Up to the table of positions, which rotary ones do not have, both kinds draw the same."""
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    GPT(GPTConfig.from_dict(CONFIG.to_dict() | {"positions": "rotary"}), rng=rng)
    GPT(GPTConfig.from_dict(CONFIG.to_dict() | {"window": 1}), rng=other)
    rng.standard_normal(CONFIG.d_model)
    assert rng.bit_generator.state == other.bit_generator.state
