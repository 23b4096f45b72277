"""One-head attention against PyTorch's functions on the same weights, one query or many, and the masks of all its forms."""

from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor
from nn import (
    AdditiveAttention,
    Attention,
    AttentionHead,
    ContextAttention,
    CosineScore,
    DotProductAttention,
    GlobalAttention,
    KeyValueAttention,
    Module,
    MultiplicativeAttention,
    Parameter,
    SelfAttention,
    causal_mask,
)
from nn.scores import NAMES
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
    value as value_of,
)

BATCH, QUERY, KEY = 3, 4, 5
QUERY_DIM, KEY_DIM, VALUE_DIM = 6, 4, 7
KEY_MASK = np.arange(KEY) < np.array([[5], [3], [1]])
ANY = rng(7).random((BATCH, QUERY, KEY)) < 0.6
ANY[..., 0] = True  # PyTorch gives NaN for a query with no key
MASKS = [
    {},
    {"key_mask": KEY_MASK},
    {"key_mask": KEY_MASK.astype(int)},
    {"mask": ANY},
    {"mask": ANY[0], "key_mask": KEY_MASK.astype(np.int32)},
    {"causal": True, "key_mask": KEY_MASK},
]


def normal(*shape: int, seed: int = 3) -> np.ndarray:
    return rng(seed).standard_normal(shape)


def inputs(query_dim: int = QUERY_DIM, value_dim: int = VALUE_DIM) -> list[np.ndarray]:
    shapes = ((BATCH, QUERY, query_dim), (BATCH, KEY, KEY_DIM), (BATCH, KEY, value_dim))
    return [normal(*shape, seed=seed) for seed, shape in enumerate(shapes)]


def float64(layer: type, *sizes: int, **settings):
    return randomized(layer(*sizes, rng=rng(), dtype=np.float64, **settings))


def allowed(query: int = QUERY, key_mask=None, mask=None, causal=False) -> np.ndarray:
    """What the masks mean, spelled out."""
    result = np.ones((BATCH, query, KEY), bool)
    if key_mask is not None:
        result &= (key_mask != 0)[:, None]
    if mask is not None:
        result &= mask
    if causal:
        result &= causal_mask(query, KEY)
    return result


def torch_attention(query, key, value, scale=1.0, **masks):
    mask = to_torch(allowed(query.shape[1], **masks))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)


def torch_mean(scores, value, **masks):
    """The mean of the values with these scores, where PyTorch has no function for the whole."""
    return torch.softmax(scores.masked_fill(to_torch(~allowed(scores.shape[1], **masks)), -torch.inf), -1) @ value


def torch_projections() -> Any:
    """The affine images of queries, keys and values, in PyTorch."""
    widths = {"query": (QUERY_DIM, KEY_DIM), "key": (KEY_DIM, KEY_DIM), "value": (KEY_DIM, VALUE_DIM)}
    return torch.nn.ModuleDict({name: torch.nn.Linear(*sizes) for name, sizes in widths.items()})


def projections(ours: Attention, of) -> dict[str, np.ndarray]:
    parts: dict[str, Any] = {"query": ours.query, "key": ours.key, "value": ours.value}
    return {f"{part}.{name}": a for part, affine in parts.items() for name, a in torch_state(affine, of).items()}


# Against PyTorch


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("score", ["dot", "scaled_dot"])
def test_attention_equals_pytorch(score, masks) -> None:
    ours = float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM, score=score)
    theirs = load(torch_projections(), projections(ours, value_of))
    arrays = inputs(value_dim=KEY_DIM)
    tensors, torch_tensors = twins(*arrays)
    q, k, v = (part(x) for part, x in zip(theirs.values(), torch_tensors, strict=True))
    expected = torch_attention(q, k, v, None if score == "scaled_dot" else 1.0, **masks)
    assert_same([ours(*tensors, **masks), *tensors], [expected, *torch_tensors], (ours, theirs), projections)


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("scale", [False, True])
def test_dot_product_attention_equals_pytorch(scale, masks) -> None:
    arrays = inputs(KEY_DIM)
    tensors, torch_tensors = twins(*arrays)
    q, k, v = torch_tensors
    expected = torch_attention(q, k, v, None if scale else 1.0, **masks)
    assert_same([DotProductAttention(scale)(*tensors, **masks), *tensors], [expected, *torch_tensors])


@pytest.mark.parametrize("masks", MASKS)
def test_multiplicative_attention_equals_pytorch(masks) -> None:
    """(q W) k^T is a dot product with the queries on the other side of W; the bias is one more query."""
    for bias in (False, True):
        ours, arrays = float64(MultiplicativeAttention, QUERY_DIM, KEY_DIM, bias=bias), inputs()
        tensors, torch_tensors = twins(*arrays)
        score = ours.score.query
        images = torch_tensors[0] @ to_torch(score.weight.data) + (to_torch(score.bias.data) if bias else 0)
        expected = torch_attention(images, *torch_tensors[1:], **masks)
        assert_same([ours(*tensors, **masks), *tensors], [expected, *torch_tensors])


@pytest.mark.parametrize("masks", MASKS)
def test_additive_attention_equals_pytorch(masks) -> None:
    """As many queries as one likes, whatever the number of keys: (batch, query, key) scores."""
    ours, arrays = float64(AdditiveAttention, QUERY_DIM, KEY_DIM, 8), inputs()
    tensors, torch_tensors = twins(*arrays)
    w, u, b, v = (to_torch(p.data, True) for p in ours.parameters())
    q, k, value = torch_tensors
    scores = (torch.tanh((q @ w)[:, :, None] + (k @ u + b)[:, None]) @ v)[..., 0]
    assert_same([ours(*tensors, **masks), *tensors], [torch_mean(scores, value, **masks), *torch_tensors])
    for parameter, theirs in zip(ours.parameters(), (w, u, b, v), strict=True):
        assert_close(gradient(parameter), theirs.grad.numpy())


def article_additive(ours: AdditiveAttention, query, key, value):
    """The article's form, whose scores ``V tanh(W query + U key)`` are one for each row of the sum: (batch, key, 1).

    Query i meets key i only, so it takes as many queries as keys, or a single query, which meets all.
    """
    w, u, b, v = (p.data for p in ours.parameters())
    scores = np.tanh(query @ w + key @ u + b) @ v  # (batch, key, 1)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    return weights, (weights * value).sum(1)


def test_the_articles_additive_form_agrees_for_one_query_and_only_there() -> None:
    ours, (query, key, value) = float64(AdditiveAttention, QUERY_DIM, KEY_DIM), inputs()
    weights, mean = article_additive(ours, query[:, :1], key, value)
    for one in (query[:, 0], query[:, :1]):
        assert_close(ours(one, key, value).numpy().reshape(BATCH, VALUE_DIM), mean)
        assert_close(ours.attention_weights(one, key).numpy().reshape(BATCH, KEY), weights[..., 0])
    with pytest.raises(ValueError, match="could not be broadcast"):
        article_additive(ours, query, key, value)  # 4 queries, 5 keys
    assert ours(query, key, value).shape == (BATCH, QUERY, VALUE_DIM)
    as_many = np.concatenate([query, query[:, :1]], axis=1)  # 5 queries
    scores, _ = article_additive(ours, as_many, key, value)
    assert scores.shape == (BATCH, KEY, 1)  # query i has met key i and no other
    assert ours.attention_weights(as_many, key).shape == (BATCH, KEY, KEY)


def test_self_attention_is_attention_with_one_input() -> None:
    for score in NAMES:
        ours = float64(SelfAttention, KEY_DIM, value_dim=VALUE_DIM, score=score)
        whole = float64(Attention, KEY_DIM, KEY_DIM, VALUE_DIM, score=score)
        x = normal(BATCH, KEY, KEY_DIM)
        y = ours(x, key_mask=KEY_MASK, causal=True)
        assert y.shape == (BATCH, KEY, VALUE_DIM)
        np.testing.assert_array_equal(y.numpy(), whole(x, x, x, key_mask=KEY_MASK, causal=True).numpy())
    assert SelfAttention(KEY_DIM, rng=rng())(x).shape == x.shape


@pytest.mark.parametrize("hidden_dim", [3, 8])
def test_self_attention_in_another_width_is_the_pytorch_articles(hidden_dim) -> None:
    """Queries, keys and values are ``Linear(in, hidden)`` of the input, and the scores are not scaled."""
    ours, x = float64(SelfAttention, KEY_DIM, hidden_dim), normal(BATCH, KEY, KEY_DIM)
    tensor, torch_x = Tensor(x, requires_grad=True), to_torch(x, True)
    parts = [load(torch.nn.Linear(KEY_DIM, hidden_dim), part) for part in (ours.query, ours.key, ours.value)]
    q, k, v = (part(torch_x) for part in parts)
    assert_same([ours(tensor), tensor], [torch.softmax(q @ k.swapaxes(1, 2), -1) @ v, torch_x])
    check_module(float64(SelfAttention, KEY_DIM, hidden_dim, score="additive"), x[:2], causal=True)


def test_the_dot_product_is_not_scaled_unless_asked_for() -> None:
    """As in the PyTorch article, whose classes have no scale."""
    query, key, _ = inputs(KEY_DIM)
    for form, sizes in ((Attention, (KEY_DIM,) * 3), (SelfAttention, (KEY_DIM,))):
        settings: list[dict[str, Any]] = [{}, {"score": "dot"}, {"score": "scaled_dot"}]
        default, dot, scaled = (float64(form, *sizes, **each).attention_weights(key).numpy() for each in settings)
        np.testing.assert_array_equal(default, dot)
        assert (default != scaled).any()
    unscaled = DotProductAttention().attention_weights(query, key).numpy()
    assert_close(unscaled, DotProductAttention(scale=True).attention_weights(KEY_DIM**0.5 * query, key).numpy())


def test_global_attention_equals_pytorch_with_any_score() -> None:
    query, key, value = inputs(KEY_DIM)
    theirs = torch.cosine_similarity(to_torch(query)[:, :, None], to_torch(key)[:, None], dim=-1)
    expected = torch_mean(theirs, to_torch(value), key_mask=KEY_MASK)
    for score in ("cosine", CosineScore(), lambda q, k: CosineScore()(q, k)):
        assert_close(GlobalAttention(score)(query, key, value, key_mask=KEY_MASK).numpy(), expected.numpy())


def test_key_value_attention_splits_the_state() -> None:
    ours = float64(KeyValueAttention, KEY_DIM, VALUE_DIM)
    inner = float64(AdditiveAttention, KEY_DIM, KEY_DIM)
    states = normal(BATCH, KEY, KEY_DIM + VALUE_DIM)
    keys, values = states[..., :KEY_DIM], states[..., KEY_DIM:]
    expected = inner(keys, keys, values, causal=True).numpy()
    np.testing.assert_array_equal(ours(states, causal=True).numpy(), expected)
    one = normal(BATCH, KEY_DIM + VALUE_DIM)
    np.testing.assert_array_equal(ours(one, states).numpy(), inner(one[:, :KEY_DIM], keys, values).numpy())
    with pytest.raises(ShapeError, match=r"key of width key_dim \+ value_dim = 11, got \(3, 5, 4\)"):
        ours(states, keys)


@pytest.mark.parametrize("masks", [{}, {"key_mask": KEY_MASK}, {"key_mask": KEY_MASK.astype(int)}])
def test_context_attention_equals_pytorch(masks) -> None:
    ours, x = float64(ContextAttention, KEY_DIM, 8), normal(BATCH, KEY, KEY_DIM)
    tensor, torch_x = Tensor(x, requires_grad=True), to_torch(x, True)
    w, b, u = (to_torch(p.data, True) for p in ours.parameters())
    expected = torch_mean((torch.tanh(torch_x @ w + b) @ u)[:, None], torch_x, **masks)[:, 0]
    assert_same([ours(tensor, **masks), tensor], [expected, torch_x])
    for parameter, theirs in zip(ours.parameters(), (w, b, u), strict=True):
        assert_close(gradient(parameter), theirs.grad.numpy())
    assert_close(ours.attention_weights(x, **masks).numpy()[:, None] @ x, expected.detach().numpy()[:, None])


# Shapes


@pytest.mark.parametrize("score", NAMES)
def test_one_query_or_many(score) -> None:
    ours, (query, key, _) = float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM, score=score), inputs()
    together, weights = ours(query, key).numpy(), ours.attention_weights(query, key).numpy()
    assert together.shape == (BATCH, QUERY, VALUE_DIM) and weights.shape == (BATCH, QUERY, KEY)
    for i in range(QUERY):
        assert_close(ours(query[:, i], key).numpy(), together[:, i])
        assert_close(ours.attention_weights(query[:, i], key).numpy(), weights[:, i])


def test_an_argument_says_whether_values_are_mapped() -> None:
    """The article takes (batch, key, value_dim) as they come, and maps (batch, key, key_dim), by their width."""
    ours, (query, key, value) = float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM), inputs()
    for layer in (ours, float64(Attention, QUERY_DIM, KEY_DIM, KEY_DIM)):
        weights = layer.attention_weights(query, key).numpy()
        for mapped in (layer(query, key, key), layer(query, key)):
            assert_close(mapped.numpy(), weights @ layer.value(key).numpy())
    with pytest.raises(
        ShapeError, match=r"value of width 4, got \(3, 5, 7\): map_values=False takes values of this width"
    ):
        ours(query, key, value)
    for width, given in ((VALUE_DIM, value), (KEY_DIM, key)):
        plain = float64(Attention, QUERY_DIM, KEY_DIM, width, map_values=False)
        assert_close(plain(query, key, given).numpy(), plain.attention_weights(query, key, given).numpy() @ given)
        assert "value.weight" not in plain.state_dict()
    with pytest.raises(ShapeError, match=rf"Attention needs value of width {VALUE_DIM}, got \(3, 5, {KEY_DIM}\)$"):
        float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM, map_values=False)(query, key)


@pytest.mark.parametrize("score", NAMES)
def test_gradients(score) -> None:
    ours, (query, key, _) = float64(Attention, QUERY_DIM, KEY_DIM, 2, score=score), inputs()
    check_module(ours, query[:2], key[:2], key_mask=KEY_MASK[:2])
    check_module(ours, query[:, 0], key, key_mask=KEY_MASK)


def test_gradients_of_the_other_forms() -> None:
    states = normal(2, KEY, 5)
    check_module(float64(KeyValueAttention, 3, 2), states, causal=True)
    check_module(float64(ContextAttention, 5), states, key_mask=KEY_MASK[:2])


# Masks

FORMS = {
    "Attention": (float64(Attention, KEY_DIM, KEY_DIM, VALUE_DIM), 3),
    "DotProductAttention": (DotProductAttention(), 3),
    "AdditiveAttention": (float64(AdditiveAttention, KEY_DIM, KEY_DIM), 3),
    "MultiplicativeAttention": (float64(MultiplicativeAttention, KEY_DIM, KEY_DIM), 3),
    "AttentionHead": (float64(AttentionHead, KEY_DIM, 3), 3),
    "SelfAttention": (float64(SelfAttention, KEY_DIM), 1),
    "KeyValueAttention": (float64(KeyValueAttention, 2, 2), 1),
    "ContextAttention": (float64(ContextAttention, KEY_DIM), 1),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_sentence_of_padding_gives_zeros_and_finite_gradients(form) -> None:
    ours, count = FORMS[form]
    key_mask, tensors = KEY_MASK.copy(), [Tensor(normal(BATCH, KEY, KEY_DIM), requires_grad=True) for _ in range(count)]
    key_mask[1] = False
    y = ours(*tensors, key_mask=key_mask)
    y.backward(normal(*y.shape))
    assert not y.numpy()[1].any() and y.numpy()[0].any()
    for tensor in tensors:
        assert np.isfinite(gradient(tensor)).all() and gradient(tensor)[0].any() and not gradient(tensor)[1].any()
    ours.zero_grad()
    sums = ours.attention_weights(*tensors[:2], key_mask=key_mask).numpy().sum(-1)
    assert_close(sums, np.broadcast_to(np.array([1.0, 0, 1]).reshape(-1, *[1] * (sums.ndim - 1)), sums.shape))


@pytest.mark.parametrize("form", FORMS)
def test_padding_has_no_influence(form) -> None:
    ours, count = FORMS[form]
    x = normal(BATCH, KEY, KEY_DIM)
    other = np.where(KEY_MASK[..., None], x, 1e3)
    is_token = slice(None) if form == "ContextAttention" else KEY_MASK  # what the padding itself attends to is nobody's
    with_padding, without = (ours(*[a] * count, key_mask=KEY_MASK).numpy()[is_token] for a in (other, x))
    assert_close(with_padding, without)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "ContextAttention"])
def test_causal_attention_does_not_see_the_future(form) -> None:
    ours, count = FORMS[form]
    x = normal(BATCH, KEY, KEY_DIM)
    changed = x.copy()
    changed[:, 3:] += 1
    before, after = (ours(*[a] * count, causal=True).numpy() for a in (x, changed))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).any()
    assert not np.triu(ours.attention_weights(x, causal=True).numpy(), 1).any()


@pytest.mark.parametrize(
    ("masks", "error", "words"),
    [
        ({"key_mask": KEY_MASK[:, :4]}, ShapeError, r"\(batch, key\) = \(3, 5\), got \(3, 4\)"),
        ({"mask": ANY[:2]}, ShapeError, r"\(3, 4, 5\), got \(2, 4, 5\)"),
        ({"mask": ANY.astype(np.float32)}, DTypeError, "mask must be boolean, True = attend, got dtype float32"),
        ({"key_mask": 2 * KEY_MASK.astype(int)}, OutOfRangeError, "1 .attend. and 0 only, got 2"),
    ],
)
def test_masks_that_do_not_fit_raise(masks, error, words) -> None:
    ours = float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM)
    with pytest.raises(error, match=words):
        ours(*inputs(), **masks)
    with pytest.raises(error, match=words):
        ours.attention_weights(*inputs(), **masks)


def test_inputs_that_do_not_fit_raise() -> None:
    ours, (query, key, value) = float64(Attention, QUERY_DIM, KEY_DIM, VALUE_DIM), inputs()
    calls: list[Any] = [(query[0, 0], key), (query, key[0]), (query, key, value[0]), (query[:, 0],)]
    for bad in calls:
        with pytest.raises(
            ShapeError, match=r"Attention needs query \(batch, query, width\) or \(batch, width\), key and"
        ):
            ours(*bad)
    for bad in [(query, key[:2]), (query, key, value[:, :4])]:
        with pytest.raises(ShapeError, match="one batch size, and as many values as keys"):
            ours(*bad)
    for name, wide in {"query": (key, key), "key": (query, value), "value": (query, key, query[:, [0] * KEY])}.items():
        with pytest.raises(ShapeError, match=f"Attention needs {name} of width"):
            ours(*wide)
    with pytest.raises(
        ShapeError, match=r"score must give the shape \(batch, query, key\) = \(3, 4, 5\), got \(3, 5, 1\)"
    ):
        GlobalAttention(lambda q, k: k.sum(axis=-1, keepdims=True))(query, key)
    with pytest.raises(
        ShapeError, match=r"ContextAttention needs x of shape \(batch, length, input_dim\), got \(5, 4\)"
    ):
        ContextAttention(KEY_DIM, rng=rng())(key[0])
    with pytest.raises(ArgumentError, match="score must be one of"):
        Attention(2, 2, 2, rng=rng(), score="euclid")
    with pytest.raises(ArgumentError, match="score='general' has weights: pass the module"):
        GlobalAttention("general")
    with pytest.raises(DTypeError, match=f"DotProductAttention needs a floating input, got dtype {np.dtype(int)}"):
        DotProductAttention()(np.ones((1, 2, 3), int))


def test_a_score_of_ones_own_is_trained_with_the_layer() -> None:
    class Scaled(Module):
        def __init__(self) -> None:
            self.factor = Parameter(np.array(0.5))

        def forward(self, query, key):
            return query @ key.swapaxes(-1, -2) * self.factor

    ours = GlobalAttention(Scaled())
    assert [path for path, _ in ours.named_parameters()] == ["score.factor"]
    query, key, value = inputs(KEY_DIM)
    expected = torch_attention(to_torch(query), to_torch(key), to_torch(value), 0.5)
    assert_close(ours(query, key, value).numpy(), expected.numpy())
    check_module(ours, query, key)


def test_the_dtype_is_that_of_the_parameters_or_of_the_query() -> None:
    query, key, value = inputs(KEY_DIM)
    assert Attention(KEY_DIM, KEY_DIM, VALUE_DIM, rng=rng())(query, key).dtype == np.float32
    assert AdditiveAttention(KEY_DIM, KEY_DIM, rng=rng()).attention_weights(query, key).dtype == np.float32
    assert ContextAttention(KEY_DIM, rng=rng())(key, key_mask=KEY_MASK).dtype == np.float32
    assert DotProductAttention()(query.astype(np.float32), key, value).dtype == np.float32
    assert DotProductAttention(scale=True)(query, key, key_mask=KEY_MASK).dtype == np.float64


def test_repr_names_the_score() -> None:
    assert "score: DotScore(scale=True)" in repr(DotProductAttention(scale=True))
