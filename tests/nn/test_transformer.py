"""The encoder and the decoder layer against PyTorch's, pre-norm and post-norm; what they may and may not see."""

import copy
from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, no_grad
from nn import (
    Affine,
    Embedding,
    KeyValueCache,
    Module,
    PositionalEncoding,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from tests.lazy import torch
from tests.nn.layers import (
    assert_close,
    assert_same,
    check_module,
    gradient,
    load,
    randomized,
    rng,
    to_torch,
    torch_state,
    twins,
)

BATCH, LENGTH, SOURCE, WIDTH, HEADS, HIDDEN = 3, 5, 4, 6, 2, 8
KEY_MASK = np.arange(LENGTH) < np.array([[5], [3], [1]])
CAUSAL = np.tri(LENGTH, dtype=bool)
X = rng(3).standard_normal((BATCH, LENGTH, WIDTH))
MEMORY = rng(4).standard_normal((BATCH, SOURCE, WIDTH))
MEMORY_KEY_MASK = np.arange(SOURCE) < np.array([[2], [4], [3]])
ANY = rng(7).random((BATCH, HEADS, LENGTH, LENGTH)) < 0.6
ANY[..., 0] = True  # PyTorch gives NaN for a query with no key
MEMORY_ANY = rng(8).random((LENGTH, SOURCE)) < 0.6
MEMORY_ANY[:, 0] = True

NORMS = pytest.mark.parametrize("norm", ["pre", "post"])
ACTIVATIONS = pytest.mark.parametrize("activation", ["relu", "gelu"])


def layer(**settings: Any) -> TransformerEncoderLayer:
    made = TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, rng=rng(), **({"dtype": np.float64} | settings))
    encoder: TransformerEncoderLayer = randomized(made)
    return encoder


def decoder_layer(**settings: Any) -> TransformerDecoderLayer:
    made = TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, rng=rng(), **({"dtype": np.float64} | settings))
    decoder: TransformerDecoderLayer = randomized(made)
    return decoder


def torch_settings(norm: str, activation: str) -> dict[str, Any]:
    return {"dropout": 0.0, "activation": activation, "batch_first": True, "norm_first": norm == "pre"}


def ignored(mask: Any) -> Any:
    """PyTorch's masks are True where ours are False, and have batch and heads in one axis."""
    if mask is None:
        return None
    return to_torch(~(mask.reshape(-1, *mask.shape[2:]) if mask.ndim == 4 else mask))


ENCODER_MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "key": {"key_mask": KEY_MASK},
    "causal": {"causal": True},
    "key+causal": {"key_mask": KEY_MASK, "causal": True},
    "key+full": {"key_mask": KEY_MASK, "mask": ANY},
}


@pytest.mark.parametrize("masks", ENCODER_MASKS.values(), ids=ENCODER_MASKS.keys())
@ACTIVATIONS
@NORMS
def test_equals_pytorch(norm: str, activation: str, masks: dict[str, Any]) -> None:
    ours = layer(norm=norm, activation=activation)
    theirs = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, **torch_settings(norm, activation))
    load(theirs, ours)
    mask = CAUSAL if masks.get("causal") else masks.get("mask")
    tensor, torch_tensor = Tensor(X, requires_grad=True), to_torch(X, True)
    torch_y = theirs(torch_tensor, src_key_padding_mask=ignored(masks.get("key_mask")), src_mask=ignored(mask))
    assert_same([ours(tensor, **masks), tensor], [torch_y, torch_tensor], (ours, theirs))


DECODER_MASKS: dict[str, dict[str, Any]] = {
    "causal": {},
    "none": {"causal": False},
    "key+causal": {"key_mask": KEY_MASK},
    "full": {"mask": ANY, "causal": False},
    "memory key": {"memory_key_mask": MEMORY_KEY_MASK},
    "memory full": {"memory_mask": MEMORY_ANY},
    "all": {
        "key_mask": KEY_MASK,
        "mask": ANY,
        "memory_key_mask": np.arange(SOURCE) < [[1], [4], [3]],
        "memory_mask": MEMORY_ANY,
    },
}


@pytest.mark.parametrize("masks", DECODER_MASKS.values(), ids=DECODER_MASKS.keys())
@ACTIVATIONS
@NORMS
def test_the_decoder_layer_equals_pytorchs(norm: str, activation: str, masks: dict[str, Any]) -> None:
    ours = decoder_layer(norm=norm, activation=activation)
    theirs = torch.nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, **torch_settings(norm, activation))
    load(theirs, ours)
    mask = masks.get("mask")
    if masks.get("causal", True):
        mask = CAUSAL if mask is None else mask & CAUSAL
    tensors, torch_tensors = twins(X, MEMORY)
    torch_y = theirs(
        *torch_tensors,
        tgt_mask=ignored(mask),
        memory_mask=ignored(masks.get("memory_mask")),
        tgt_key_padding_mask=ignored(masks.get("key_mask")),
        memory_key_padding_mask=ignored(masks.get("memory_key_mask")),
    )
    assert_same([ours(*tensors, **masks), *tensors], [torch_y, *torch_tensors], (ours, theirs))


@NORMS
@pytest.mark.parametrize("rms_norm", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_the_options_of_the_decoder_layer_equal_pytorchs(norm: str, rms_norm: bool, bias: bool) -> None:
    ours = decoder_layer(norm=norm, rms_norm=rms_norm, bias=bias, eps=1e-3)
    theirs = torch.nn.TransformerDecoderLayer(
        WIDTH, HEADS, HIDDEN, bias=bias, layer_norm_eps=1e-3, **torch_settings(norm, "relu")
    )
    norms = [ours.attention_norm, ours.cross_attention_norm, ours.feed_forward_norm]
    state = torch_state(ours)
    for i, each in enumerate(norms, 1):
        if rms_norm:
            setattr(theirs, f"norm{i}", torch.nn.RMSNorm(WIDTH, eps=1e-3))
        elif not bias:  # PyTorch's norms have none either
            each.bias.data[:] = 0  # type: ignore[union-attr]
            del state[f"norm{i}.bias"]
    load(theirs, state)
    tensors, torch_tensors = twins(X, MEMORY)
    torch_y = theirs(*torch_tensors, tgt_mask=ignored(CAUSAL))
    assert_same([ours(*tensors), *tensors], [torch_y, *torch_tensors])
    expected = {name: p.grad.numpy() for name, p in theirs.named_parameters()}
    found = torch_state(ours, gradient)
    assert expected.keys() <= found.keys() == torch_state(ours).keys()
    for name, array in expected.items():
        assert_close(found[name], array, name)


def test_the_decoder_layer_shares_keys_and_values_between_heads() -> None:
    """It is a layer with all heads whose maps to keys and values repeat those of the two shared heads; with caches, too."""
    shared = decoder_layer(num_kv_heads=1)
    full, cache, memory_cache = decoder_layer(), KeyValueCache(), KeyValueCache()
    state = shared.state_dict()
    for path, array in state.items():
        if path.split(".")[-2] in ("key", "value"):
            state[path] = np.concatenate([array, array], axis=-1)
    full.load_state_dict(state)
    expected = full(X, MEMORY, memory_key_mask=MEMORY_KEY_MASK).numpy()
    assert_close(shared(X, MEMORY, memory_key_mask=MEMORY_KEY_MASK).numpy(), expected)
    with no_grad():
        masks: dict[str, Any] = {"memory_key_mask": MEMORY_KEY_MASK}
        steps = [
            shared(X[:, [t]], MEMORY, **masks, cache=cache, memory_cache=memory_cache).numpy() for t in range(LENGTH)
        ]
    assert_close(np.concatenate(steps, axis=1), expected)
    assert cache.keys.shape[2] == memory_cache.values.shape[2] == WIDTH // HEADS
    with pytest.raises(ArgumentError, match="num_kv_heads=4 does not divide num_heads=2"):
        decoder_layer(num_kv_heads=4)


def test_the_decoder_layer_drops_weights_of_both_attentions() -> None:
    dropping, plain = decoder_layer(attention_dropout=0.5), decoder_layer()
    expected = plain(X, MEMORY).numpy()
    np.testing.assert_array_equal(copy.deepcopy(dropping).eval()(X, MEMORY).numpy(), expected)
    for attention in (dropping.attention, dropping.cross_attention):
        assert attention.dropout is not None and attention.dropout.p == 0.5
        one = copy.deepcopy(dropping).eval()
        copied = one.attention if attention is dropping.attention else one.cross_attention
        copied.train()
        assert not np.allclose(one(X, MEMORY).numpy(), expected)


@NORMS
def test_the_weights_to_look_at_are_those_that_the_layers_use(norm: str) -> None:
    """PyTorch's attention modules give them; pre-norm, they look at normalized tokens."""
    encoder, decoder = layer(norm=norm), decoder_layer(norm=norm)
    masks: dict[str, Any] = {"key_mask": KEY_MASK, "memory_key_mask": MEMORY_KEY_MASK}

    def seen_by(torch_attention: Any, run: Any) -> np.ndarray:
        """The weights that PyTorch's attention computes on what it is given inside its layer."""
        inputs: list[Any] = []
        hook = torch_attention.register_forward_pre_hook(
            lambda _, args, kwargs: inputs.append((args, kwargs)), with_kwargs=True
        )
        run()
        hook.remove()
        ((args, kwargs),) = inputs
        kwargs = kwargs | {"need_weights": True, "average_attn_weights": False, "is_causal": False}
        weights: np.ndarray = torch_attention(*args, **kwargs)[1].detach().numpy()
        return weights

    settings = torch_settings(norm, "relu")
    theirs = load(torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, **settings), encoder)
    expected = seen_by(theirs.self_attn, lambda: theirs(to_torch(X), src_key_padding_mask=ignored(KEY_MASK)))
    assert_close(encoder.attention_weights(X, key_mask=KEY_MASK).numpy(), expected)

    torch_decoder = load(torch.nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, **settings), decoder)

    def run() -> None:
        torch_decoder(
            to_torch(X),
            to_torch(MEMORY),
            tgt_mask=ignored(CAUSAL),
            tgt_key_padding_mask=ignored(KEY_MASK),
            memory_key_padding_mask=ignored(MEMORY_KEY_MASK),
        )

    weights = decoder.attention_weights(X, key_mask=KEY_MASK)
    assert_close(weights.numpy(), seen_by(torch_decoder.self_attn, run))
    cross = decoder.cross_attention_weights(X, MEMORY, **masks)
    assert cross.shape == (BATCH, HEADS, LENGTH, SOURCE)
    assert_close(cross.numpy(), seen_by(torch_decoder.multihead_attn, run))


@NORMS
def test_gradients(norm: str) -> None:
    check_module(layer(norm=norm, activation="gelu_tanh"), X[:2], key_mask=KEY_MASK[:2], causal=True)


@NORMS
def test_gradients_of_the_decoder_layer(norm: str) -> None:
    small = TransformerDecoderLayer(4, 2, 5, rng=rng(), norm=norm, activation="gelu", dtype=np.float64)
    masks = {"key_mask": KEY_MASK[:2, :3], "memory_key_mask": MEMORY_KEY_MASK[:2]}
    check_module(randomized(small), X[:2, :3, :4], MEMORY[:2, :, :4], **masks)


def test_swiglu_is_an_activation_too() -> None:
    for made in (layer(activation="swiglu"), decoder_layer(activation="swiglu")):
        y = made(X) if isinstance(made, TransformerEncoderLayer) else made(X, MEMORY)
        y.sum().backward()
        assert y.shape == X.shape and all(gradient(parameter).any() for parameter in made.feed_forward.parameters())


def test_the_parameters_of_the_base_encoder_layer() -> None:
    """512 wide, 2048 inside: 4 (512^2 + 512) in attention, 2 * 512 * 2048 + 2048 + 512 in the feed-forward part, 4 * 512."""
    base = TransformerEncoderLayer(512, 8, 2048, rng=rng())
    assert base.num_parameters == 3_152_384
    assert base.feed_forward.num_parameters == 2_099_712
    theirs = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    assert base.num_parameters == sum(parameter.numel() for parameter in theirs.parameters())


@NORMS
def test_a_later_token_changes_nothing_before_it(norm: str) -> None:
    changed = X.copy()
    changed[:, 3] *= -1
    for run in (lambda x: layer(norm=norm)(x, causal=True), lambda x: decoder_layer(norm=norm)(x, MEMORY)):
        before, after = run(X).numpy(), run(changed).numpy()
        np.testing.assert_array_equal(after[:, :3], before[:, :3])
        assert (np.abs(after[:, 3:] - before[:, 3:]).max(axis=-1) > 1e-3).all()


@NORMS
def test_padding_has_no_influence(norm: str) -> None:
    x, memory = X.copy(), MEMORY.copy()
    x[~KEY_MASK], memory[~MEMORY_KEY_MASK] = 9.0, -9.0
    encoder, decoder = layer(norm=norm), decoder_layer(norm=norm)
    masks: dict[str, Any] = {"key_mask": KEY_MASK, "memory_key_mask": MEMORY_KEY_MASK, "causal": False}
    assert_close(encoder(x, key_mask=KEY_MASK).numpy()[KEY_MASK], encoder(X, key_mask=KEY_MASK).numpy()[KEY_MASK])
    assert_close(decoder(x, memory, **masks).numpy()[KEY_MASK], decoder(X, MEMORY, **masks).numpy()[KEY_MASK])
    for i, (length, source) in enumerate(
        zip(KEY_MASK.sum(axis=1), MEMORY_KEY_MASK.sum(axis=1))
    ):  # as if it were not there
        alone = decoder(X[i : i + 1, :length], MEMORY[i : i + 1, :source], causal=False).numpy()
        assert_close(decoder(X, MEMORY, **masks).numpy()[i : i + 1, :length], alone)


@NORMS
def test_token_by_token_with_caches_is_all_at_once(norm: str) -> None:
    encoder, decoder = layer(norm=norm), decoder_layer(norm=norm)
    cache, self_cache, memory_cache = KeyValueCache(), KeyValueCache(), KeyValueCache()
    pieces, decoded = [], []
    with no_grad():
        for stretch in (slice(0, 2), slice(2, 3), slice(3, 5)):
            pieces.append(encoder(X[:, stretch], causal=True, cache=cache).numpy())
            memory = (
                MEMORY if stretch.start == 0 else np.zeros_like(MEMORY)
            )  # from the second call on only the cache counts
            decoded.append(
                decoder(
                    X[:, stretch], memory, memory_key_mask=MEMORY_KEY_MASK, cache=self_cache, memory_cache=memory_cache
                ).numpy()
            )
    assert_close(np.concatenate(pieces, axis=1), encoder(X, causal=True).numpy())
    assert_close(np.concatenate(decoded, axis=1), decoder(X, MEMORY, memory_key_mask=MEMORY_KEY_MASK).numpy())
    assert (self_cache.length, memory_cache.length) == (LENGTH, SOURCE)


def test_a_mask_that_does_not_fit_the_memory_leaves_the_caches_as_they_are() -> None:
    layer = TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, rng=rng(), dtype=np.float64)
    cache, memory_cache = KeyValueCache(), KeyValueCache()
    with no_grad():
        for length in (1, 2):  # at first both caches are empty
            with pytest.raises(
                ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 4\), got \(3, 5\)"
            ):
                layer(X, MEMORY, memory_key_mask=KEY_MASK, cache=cache, memory_cache=memory_cache)
            assert (cache.length, memory_cache.length) == (length - 1, SOURCE * (length - 1))
            layer(X[:, :1], MEMORY, memory_key_mask=MEMORY_KEY_MASK, cache=cache, memory_cache=memory_cache)


def test_dropout_acts_in_three_places_in_training_and_nowhere_in_evaluation() -> None:
    dropping, plain = layer(dropout=0.5), layer()
    assert [path for path, module in dropping.named_modules() if type(module).__name__ == "Dropout"] == [
        "attention_dropout",
        "feed_forward.dropout",
        "feed_forward_dropout",
    ]
    expected = plain(X).numpy()
    for path in ("attention_dropout", "feed_forward_dropout"):
        one = copy.deepcopy(plain)
        getattr(one, path).p = 0.5
        assert not np.allclose(one(X).numpy(), expected)
    assert not np.allclose(dropping(X).numpy(), expected)
    np.testing.assert_array_equal(dropping.eval()(X).numpy(), expected)


def test_computes_in_the_dtype_of_its_parameters() -> None:
    for norm in ("pre", "post"):
        assert layer(norm=norm, dtype=np.float32)(X).dtype == np.float32
        decoder = decoder_layer(norm=norm, dtype=np.float32)
        assert decoder(X, MEMORY).dtype == decoder.cross_attention_weights(X, MEMORY).dtype == np.float32


def test_the_decoder_layer_drops_after_each_part() -> None:
    dropping, plain = decoder_layer(dropout=0.5), decoder_layer()
    expected = plain(X, MEMORY).numpy()
    for path in ("attention_dropout", "cross_attention_dropout", "feed_forward_dropout"):
        one = copy.deepcopy(plain)
        getattr(one, path).p = 0.5
        assert not np.allclose(one(X, MEMORY).numpy(), expected)
    np.testing.assert_array_equal(dropping.eval()(X, MEMORY).numpy(), expected)


def test_settings_that_no_layer_has_raise() -> None:
    for make in (layer, decoder_layer):
        with pytest.raises(ArgumentError, match="norm must be 'pre' or 'post', got 'sandwich'"):
            make(norm="sandwich")
        with pytest.raises(ArgumentError, match=r"activation must be one of relu, .* got 'step'"):
            make(activation="step")
    with pytest.raises(ArgumentError, match="does not divide d_model=6"):
        TransformerDecoderLayer(6, 4, 8, rng=rng())


def test_inputs_that_do_not_fit_the_decoder_layer_raise() -> None:
    decoder = decoder_layer()
    for x, memory in (
        (X[0], MEMORY),
        (X, MEMORY[0]),
        (X[:2], MEMORY),
        (X[..., :4], MEMORY[..., :4]),
        (X, MEMORY[..., :4]),
    ):
        with pytest.raises(
            ShapeError, match=r"needs x \(batch, target, 6\) and memory \(batch, source, 6\) with the same batch size"
        ):
            decoder(x, memory)
    with pytest.raises(ShapeError, match=r"key_mask must have the shape \(batch, key\) = \(3, 4\), got \(3, 5\)"):
        decoder(X, MEMORY, memory_key_mask=KEY_MASK)
    with pytest.raises(DTypeError, match="mask must be boolean, True = attend, got dtype float64"):
        decoder(X, MEMORY, mask=CAUSAL.astype(float))


class Tagger(Module):
    """Every kind of layer, from ids to scores."""

    def __init__(self, dropout: float = 0.0, dtype: Any = np.float64) -> None:
        generator = rng()
        self.embedding = Embedding(7, WIDTH, rng=generator, dtype=dtype)
        self.positions = PositionalEncoding(WIDTH)
        self.layers = [
            TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, norm=norm, dropout=dropout, rng=generator, dtype=dtype)
            for norm in ("pre", "post")
        ]
        self.decoders = [
            TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, norm=norm, dropout=dropout, rng=generator, dtype=dtype)
            for norm in ("pre", "post")
        ]
        self.output = Affine(WIDTH, 3, rng=generator, dtype=dtype)

    def forward(self, ids, key_mask):
        x = self.positions(self.embedding(ids))
        for each in self.layers:
            x = each(x, key_mask=key_mask)
        memory = x
        for decoder in self.decoders:
            x = decoder(x, memory, key_mask=key_mask, memory_key_mask=key_mask)
        return self.output(x)


def test_a_device_module_loads_a_host_state_dict(put) -> None:
    model, other = Tagger(), randomized(Tagger())
    for parameter in model.parameters():
        parameter.data = put(parameter.data)
    model.load_state_dict(other.state_dict())
    assert type(model.output.weight.data) is type(put(X))
    np.testing.assert_array_equal(model.state_dict()["output.weight"], other.output.weight.data)


def test_gradients_reach_every_parameter() -> None:
    model = Tagger()
    model(rng().integers(0, 7, (BATCH, LENGTH)), KEY_MASK).sum().backward()
    assert all(np.isfinite(gradient(parameter)).all() for parameter in model.parameters())


def test_errors_name_what_the_caller_passed() -> None:
    encoder = TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, rng=rng(), norm="post")
    for call in (encoder, encoder.attention_weights):
        for x in (X[0], X[..., :4]):
            with pytest.raises(ShapeError, match=r"TransformerEncoderLayer needs x of shape \(batch, length, 6\), got"):
                call(x)
    decoder = TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, rng=rng())
    for with_memory in (decoder, decoder.cross_attention_weights):
        with pytest.raises(ShapeError, match=r"^memory_key_mask must have the shape"):
            with_memory(X, MEMORY, memory_key_mask=MEMORY_KEY_MASK[:, :2])
        with pytest.raises(DTypeError, match=r"^memory_mask must be boolean"):
            with_memory(X, MEMORY, memory_mask=np.ones((LENGTH, SOURCE)))


def test_rotary_and_key_dim_are_those_of_the_attention() -> None:
    layer = TransformerEncoderLayer(WIDTH, 4, HIDDEN, rng=rng(), key_dim=1)
    assert layer.attention.query.weight.shape == (WIDTH, 4) and layer(X).shape == X.shape
    with pytest.raises(ArgumentError, match="num_heads=4 does not divide d_model=6"):
        TransformerEncoderLayer(WIDTH, 4, HIDDEN, rng=rng())
    assert TransformerEncoderLayer(8, 2, HIDDEN, rng=rng(), rotary=True).attention.rotary is not None
