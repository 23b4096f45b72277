"""``bias=``, what is added to the scores, in every attention: against PyTorch's float mask, masks, and the formula."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, check_grads, detect_anomaly, no_grad, reference_mode
from minigrad.device import to_host
from minigrad.engine.fitting import unbroadcast
from nn import functional
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, gradient, load, randomized, rng, to_torch

BATCH, LENGTH, WIDTH, HEADS = 3, 4, 4, 2
F64: Any = {"rng": rng(), "dtype": np.float64}
MASK = np.tri(LENGTH, dtype=bool) | (np.arange(LENGTH) == 2)
MASK[1] = False  # a query that sees nothing
KEY_MASK = np.array([[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]])
Form = tuple[Callable[[], Any], int]  # and how many inputs it has


def multi_head(**settings: Any) -> Callable[[], Any]:
    return lambda: nn.MultiHeadAttention(WIDTH, HEADS, **F64, **settings)


LOCAL_P = "predictive local"  # its window depends on how many keys the masks leave, and its rows do not sum to 1
ONE_HEAD: dict[str, Form] = {
    "global": (lambda: nn.GlobalAttention(), 3),
    "dot": (lambda: nn.DotProductAttention(scale=True), 3),
    "additive": (lambda: nn.AdditiveAttention(WIDTH, WIDTH, **F64), 3),
    "multiplicative": (lambda: nn.MultiplicativeAttention(WIDTH, WIDTH, **F64), 3),
    "attention": (lambda: nn.Attention(WIDTH, WIDTH, 3, **F64), 2),
    "self": (lambda: nn.SelfAttention(WIDTH, **F64), 1),
    "key-value": (lambda: nn.KeyValueAttention(3, 1, **F64), 2),
    "local": (lambda: nn.LocalAttention(2), 2),
    LOCAL_P: (lambda: nn.PredictiveLocalAttention(WIDTH, 5, **F64), 2),
    "message passing": (lambda: nn.MessagePassing("cosine"), 1),
    "simplified": (lambda: nn.SimplifiedAttention(), 1),
    "head": (lambda: nn.AttentionHead(WIDTH, 3, **F64), 3),
}
MANY_HEADS: dict[str, Form] = {
    "multi-head": (multi_head(), 3),
    "uneven": (multi_head(key_dim=3, value_dim=5), 3),
    "grouped": (multi_head(num_kv_heads=1), 2),
    "rotary": (multi_head(rotary=True), 1),
    "packed": (lambda: nn.PackedMultiHeadAttention(WIDTH, HEADS, **F64), 1),
    "encoder layer": (lambda: nn.TransformerEncoderLayer(WIDTH, HEADS, 5, **F64), 1),
    "decoder layer": (lambda: nn.TransformerDecoderLayer(WIDTH, HEADS, 5, **F64), 2),
}
EVERY = pytest.mark.parametrize("name", [*ONE_HEAD, *MANY_HEADS])


def made(name: str) -> tuple[Any, list[np.ndarray], tuple[int, ...]]:
    """The layer, its inputs, and the shape of its scores."""
    make, count = (ONE_HEAD | MANY_HEADS)[name]
    scores = (BATCH, *[HEADS] * (name in MANY_HEADS), LENGTH, LENGTH)
    return randomized(make()), list(rng(5).standard_normal((count, BATCH, LENGTH, WIDTH))), scores


def derivatives(layer: Any, tensors: list[Tensor], **masks: Any) -> list[np.ndarray]:
    """The result, and the gradients of the tensors and of the weights."""
    leaves = [*tensors, *layer.parameters()]
    for leaf in leaves:
        leaf.grad = None
    y = layer(*tensors[: len(tensors) - ("bias" in masks)], **masks)
    y.backward(rng(9).standard_normal(y.shape))
    return [y.numpy(), *(gradient(t) for t in leaves)]


def leaves_of(arrays: list[np.ndarray]) -> list[Tensor]:
    return [Tensor(a, requires_grad=True) for a in arrays]


@EVERY
@pytest.mark.parametrize("low", [-np.inf, np.finfo(np.float64).min])
def test_minus_infinity_is_a_mask(name: str, low: float) -> None:
    """Values, weights and all gradients, those of a query that sees nothing too."""
    if name == LOCAL_P:
        return check_local_p_keeps_its_window(low)
    layer, arrays, _ = made(name)
    expected = derivatives(layer, leaves_of(arrays), mask=MASK)
    bias = Tensor(np.where(MASK, 0, low), requires_grad=True)
    found = derivatives(layer, [*leaves_of(arrays), bias], bias=bias)
    d_bias = found.pop(1 + len(arrays))
    for got, want in zip(found, expected, strict=True):
        assert_close(got, want)
    assert np.isfinite(d_bias).all() and not d_bias[~MASK].any()
    masked, biased = (layer.attention_weights(arrays[0], **each).numpy() for each in ({"mask": MASK}, {"bias": bias}))
    assert_close(biased, masked)


@EVERY
def test_minus_infinity_is_no_anomaly(name: str) -> None:
    layer, arrays, _ = made(name)
    bias = Tensor(np.where(MASK, 0, -np.inf), requires_grad=True)
    with detect_anomaly():
        assert len(derivatives(layer, [*leaves_of(arrays), bias], bias=bias)) > len(arrays)


def check_local_p_keeps_its_window(low: float) -> None:
    """A bias is none of the masks by which the length is counted."""
    layer, arrays, _ = made(LOCAL_P)
    everything = layer.attention_weights(arrays[0]).numpy()
    biased = layer.attention_weights(arrays[0], bias=np.where(MASK, 0, low)).numpy()
    assert not biased[:, ~MASK].any()
    np.testing.assert_array_equal((biased > 0), (everything > 0) & MASK)


@EVERY
def test_it_is_added_to_the_scores(name: str) -> None:
    """``softmax(s + b)`` is ``softmax(s) * exp(b)``, divided by its sum; beside the masks."""
    layer, arrays, scores = made(name)
    masks: Any = {"key_mask": KEY_MASK, "mask": MASK}
    plain = layer.attention_weights(arrays[0], **masks).numpy()
    for shape in (scores, scores[1:], scores[-2:], scores[-1:], (), (BATCH, *[1] * (len(scores) - 2), LENGTH)):
        bias = rng(3).standard_normal(shape)
        product = plain * np.exp(bias)
        if name == LOCAL_P:  # both are multiplied by one Gaussian, so that only the ratios are to be seen
            got = layer.attention_weights(arrays[0], bias=bias, **masks).numpy()
            crossed = [a[..., :, None] * b[..., None, :] for a, b in ((got, product), (product, got))]
            assert_close(*crossed)
            continue
        product /= np.maximum(product.sum(axis=-1, keepdims=True), 1e-300)
        assert_close(layer.attention_weights(arrays[0], bias=bias, **masks).numpy(), product)
        assert_close(layer.attention_weights(arrays[0], bias=bias.tolist(), **masks).numpy(), product)


@pytest.mark.sampled(2)
@EVERY
def test_it_is_differentiable_in_every_shape(name: str) -> None:
    """A bias that is broadcast gets the sum of what one with all axes gets; in the kernels and in the plain rules."""
    layer, arrays, scores = made(name)
    for shape in (scores, scores[1:], scores[-2:], scores[-1:], (), (BATCH, *[1] * (len(scores) - 2), LENGTH)):
        bias = rng(3).standard_normal(shape)
        for mode in (contextlib.nullcontext, reference_mode):
            with mode():
                own, whole = (Tensor(np.broadcast_to(bias, s), requires_grad=True) for s in (shape, scores))
                found, expected = (derivatives(layer, [*leaves_of(arrays), b], bias=b, mask=MASK) for b in (own, whole))
            expected[1 + len(arrays)] = unbroadcast(expected[1 + len(arrays)], shape)
            for got, want in zip(found, expected, strict=True):
                assert_close(got, want)


@pytest.mark.sampled(3)
@EVERY
def test_its_second_derivatives(name: str) -> None:
    layer, arrays, scores = made(name)
    arrays = [a[:2] for a in arrays]
    masks: Any = {"key_mask": KEY_MASK[:2], "mask": MASK}
    check_grads(lambda *t: layer(*t[:-1], bias=t[-1], **masks), [*arrays, rng(3).standard_normal(scores[1:])])


def test_one_query() -> None:
    ours, x = randomized(nn.ContextAttention(WIDTH, 3, **F64)), rng(2).standard_normal((BATCH, LENGTH, WIDTH))
    bias = rng(3).standard_normal((BATCH, 1, LENGTH))
    product = ours.attention_weights(x).numpy() * np.exp(bias[:, 0])
    weights = product / product.sum(axis=-1, keepdims=True)
    assert_close(ours.attention_weights(x, bias=bias).numpy(), weights)
    check_grads(lambda x, b: ours(x, bias=b, key_mask=KEY_MASK), [x, bias])
    dot = nn.DotProductAttention()
    assert_close(dot(x[:, 0], x, bias=bias).numpy(), dot(x[:, :1], x, bias=bias).numpy()[:, 0])


# --- against PyTorch ---


@pytest.mark.parametrize("axes", [(), (BATCH,), (BATCH, HEADS)], ids=["one", "batch", "heads"])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_the_function_is_pytorchs_with_a_float_mask(axes: tuple[int, ...], scale: float | None) -> None:
    for shape in ((*axes, 4, 6), (4, 6), (*[1] * len(axes), 4, 1)):
        arrays = [rng(2).standard_normal((*axes, *own)) for own in ((4, 3), (6, 3), (6, 2))]
        arrays.append(rng(3).standard_normal(shape))
        ours, theirs = leaves_of(arrays), [to_torch(a, True) for a in arrays]
        y = functional.scaled_dot_product_attention(*ours[:3], bias=ours[3], scale=scale)
        mask = theirs[3].expand(*axes, 4, 6)
        torch_y = torch.nn.functional.scaled_dot_product_attention(*theirs[:3], attn_mask=mask, scale=scale)
        assert_same([y, *ours], [torch_y, *theirs])


def test_multi_head_attention_is_pytorchs_with_a_float_mask() -> None:
    ours = randomized(multi_head()())
    theirs = load(torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), ours)
    arrays = list(rng(2).standard_normal((3, BATCH, LENGTH, WIDTH)))
    for shape in ((BATCH, HEADS, LENGTH, LENGTH), (LENGTH, LENGTH), (HEADS, LENGTH, LENGTH)):
        arrays.append(rng(3).standard_normal(shape))
        tensors, torch_tensors = leaves_of(arrays), [to_torch(a, True) for a in arrays]
        bias = torch_tensors[3].expand(BATCH, HEADS, LENGTH, LENGTH).reshape(-1, LENGTH, LENGTH)
        y = ours(*tensors[:3], bias=tensors[3])
        torch_y, _ = theirs(*torch_tensors[:3], attn_mask=bias)
        assert_same([y, *tensors], [torch_y, *torch_tensors])
        arrays.pop()


# --- what it is for ---


def test_a_relative_bias_is_learned() -> None:
    """One number for each distance, as in T5 (Raffel et al. 2020, arXiv:1910.10683, section 2.1)."""
    ours, x = randomized(multi_head()()), rng(2).standard_normal((BATCH, LENGTH, WIDTH))
    places = np.arange(LENGTH)
    distance = LENGTH - 1 + places - places[:, None]
    check_grads(
        lambda table: ours(x, bias=table[:, distance], causal=True), [rng(3).standard_normal((HEADS, 2 * LENGTH - 1))]
    )


def test_alibi_as_documented() -> None:
    """Slopes times the key's place: under a causal softmax the distance and the place differ by a number for each query."""
    ours, x = randomized(multi_head()()), rng(2).standard_normal((BATCH, LENGTH, WIDTH))
    assert ours.__doc__ is not None
    lines = [line.strip() for line in ours.__doc__.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("slopes = "))
    names: dict[str, Any] = {"np": np, "num_heads": HEADS, "length": LENGTH, "attention": ours, "x": x}
    exec("\n".join(lines[start : start + 2]), names)
    places = np.arange(LENGTH)
    distance = places[:, None] - places
    slopes = np.array([2.0**-4, 2.0**-8])  # of two heads, in the paper's geometric sequence
    expected = ours(x, mask=distance >= 0, bias=-slopes[:, None, None] * distance)
    assert_close(names["y"].numpy(), expected.numpy())


def test_a_bias_in_decoding_with_a_cache() -> None:
    """Each step gives the rows of its tokens, over all keys so far."""
    ours, x = randomized(multi_head(rotary=True)()), rng(2).standard_normal((BATCH, LENGTH, WIDTH))
    places = np.arange(LENGTH)
    alibi = -np.array([0.5, 0.25])[:, None, None] * abs(places - places[:, None])
    expected = ours(x, causal=True, bias=alibi).numpy()
    with no_grad():
        cache, found = nn.KeyValueCache(), []
        for start, stop in ((0, 2), (2, 3), (3, 4)):
            with pytest.raises(ShapeError, match="bias must have a shape that broadcasts"):
                ours(x[:, start:stop], causal=True, cache=cache, bias=np.zeros((1, stop + 1)))
            bias = alibi[:, start:stop, :stop]
            found.append(ours(x[:, start:stop], causal=True, cache=cache, bias=bias).numpy())
    assert_close(np.concatenate(found, axis=1), expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_decoder_layer_takes_one_for_the_memory(norm: str) -> None:
    layer = randomized(nn.TransformerDecoderLayer(WIDTH, HEADS, 5, norm=norm, **F64))
    x, memory = rng(2).standard_normal((2, BATCH, LENGTH, WIDTH))
    memory = memory[:, :3]
    seen = rng(4).random((HEADS, LENGTH, 3)) < 0.6
    bias = np.where(seen, 0, -np.inf)
    assert_close(layer(x, memory, memory_bias=bias).numpy(), layer(x, memory, memory_mask=seen[None]).numpy())
    weights = layer.cross_attention_weights(x, memory, memory_bias=bias)
    assert not weights.numpy()[:, ~seen].any()
    check_grads(lambda b: layer(x[:1], memory[:1], memory_bias=b), [rng(3).standard_normal((HEADS, LENGTH, 3))])
    cache = nn.KeyValueCache()
    with no_grad(), pytest.raises(ShapeError, match=r"^memory_bias must have a shape"):
        layer(x, memory, memory_bias=np.zeros((LENGTH, LENGTH)), cache=cache)
    assert not cache.length


# --- dtypes, devices, errors ---


@EVERY
def test_it_is_taken_in_the_dtype_of_the_layer(name: str) -> None:
    layer, arrays, _ = made(name)
    layer.astype(np.float32)
    bias = Tensor(np.zeros((LENGTH, LENGTH)), requires_grad=True)
    y = layer(*(a.astype(np.float32) for a in arrays), bias=bias)
    y.sum().backward()
    assert y.dtype == np.float32 and gradient(bias).dtype == np.float64
    distance = np.arange(LENGTH) - np.arange(LENGTH)[:, None]
    expected = layer(*(a.astype(np.float32) for a in arrays), bias=distance * 1.0)
    np.testing.assert_array_equal(
        layer(*(a.astype(np.float32) for a in arrays), bias=distance).numpy(), expected.numpy()
    )


@EVERY
def test_on_a_device(name: str, put: Any) -> None:
    """An array goes where the inputs are, and a Tensor that is there gets its gradient there."""
    found: list[Any] = []
    bias = rng(3).standard_normal((LENGTH, LENGTH))
    for to in (np.asarray, put):
        layer, arrays, _ = made(name)
        for parameter in layer.parameters():
            parameter.data = to(parameter.data)
        inputs = [Tensor(to(a)) for a in arrays]
        there = Tensor(to(bias), requires_grad=True)
        y = layer(*inputs, bias=there)
        y.backward(to(rng(9).standard_normal(y.shape)))
        assert type(gradient(there)) is type(y.data) is type(to(bias))
        found.append([y.numpy(), layer(*inputs, bias=bias).numpy(), to_host(gradient(there))])
    for host, device in zip(*found, strict=True):
        assert_close(device, host)


@EVERY
def test_what_is_no_bias_is_refused(name: str) -> None:
    layer, arrays, scores = made(name)
    with pytest.raises(DTypeError, match=r"bias must hold real numbers, .* got dtype bool: pass mask= for booleans"):
        layer(*arrays, bias=MASK)
    with pytest.raises(DTypeError, match=r"mask must be boolean, .* mask\.astype\(bool\) .* key_mask= .* bias="):
        layer(*arrays, mask=Tensor(np.zeros((LENGTH, LENGTH)), requires_grad=True))
    axes = r"\(batch, heads, query, key\)" if name in MANY_HEADS else r"\(batch, query, key\)"
    for shape in ((LENGTH, LENGTH + 1), (2, *scores), (2, *scores[1:])):
        with pytest.raises(
            ShapeError, match=rf"^bias must have a shape that broadcasts to {axes} = .*, got \("
        ) as raised:
            layer(*arrays, bias=np.zeros(shape))
        assert str(raised.value).endswith(f"got {shape}")


def test_a_given_adjacency_has_no_scores() -> None:
    with pytest.raises(ArgumentError, match="bias is added to scores, which an adjacency matrix replaces"):
        nn.MessagePassing()(np.ones((3, 2)), np.ones((3, 3)), bias=np.zeros((3, 3)))
