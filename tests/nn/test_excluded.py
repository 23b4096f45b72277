"""What a mask excludes is not read, forward or backward: NaN and infinite numbers there change nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import models
import nn
from minigrad import Tensor
from tests.nn.layers import rng

MASK = np.array([[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
X = rng(1).standard_normal((3, 5, 4))
MEMORY = rng(2).standard_normal((3, 2, 4))
F64: Any = {"dtype": np.float64}
# Each case is a module and a function that returns, from the module and the tokens, what the loss reads.
Read = Callable[[Any, Any], Any]


def tokens(states: Any) -> Any:
    """Select the states of the tokens that are no padding."""
    return states[MASK]


def _recurrent(name: str, options: Any) -> tuple[Any, Read]:
    def read(layer: Any, x: Any) -> Any:
        states, last = layer(x, key_mask=MASK)
        last = last if isinstance(last, tuple) else (last,)
        return np.concatenate([states.reshape(-1), *[part.reshape(-1) for part in last]])  # with the zeros at padding

    return getattr(nn, name)(4, 3, rng=rng(0), **options, **F64), read


def _attention(layer: Any) -> tuple[Any, Read]:
    return layer, lambda layer, x: tokens(layer(x, key_mask=MASK))


def _with_weights(layer: Any, heads: bool) -> tuple[Any, Read]:
    def read(layer: Any, x: Any) -> Any:
        context, weights = layer.with_weights(x, key_mask=MASK)
        return np.concatenate(
            [tokens(context).reshape(-1), tokens(weights.swapaxes(1, 2) if heads else weights).reshape(-1)]
        )

    return layer, read


def _pooled(how: str, _: Any, x: Any) -> Any:
    return nn.pool(x, MASK, how)


OPTIONS: Any = {"rng": rng(0), **F64}
BIAS = np.where(MASK, 0.0, -np.inf)[:, None, None]
CASES: dict[str, tuple[Any, Read]] = {
    **{
        f"{name}, {words}": _recurrent(name, options)
        for name in ("RNN", "GRU", "LSTM")
        for words, options in {
            "plain": {},
            "reverse": {"reverse": True},
            "two layers, both ways": {"num_layers": 2, "bidirectional": True},
        }.items()
    },
    "RNN, relu": _recurrent("RNN", {"activation": "relu"}),
    "global attention": _attention(nn.GlobalAttention("cosine")),
    "dot product": _attention(nn.DotProductAttention(scale=True)),
    "additive": _attention(nn.AdditiveAttention(4, 4, **OPTIONS)),
    "multiplicative": _attention(nn.MultiplicativeAttention(4, 4, bias=True, **OPTIONS)),
    "attention": _attention(nn.Attention(4, 4, 3, **OPTIONS)),
    "self-attention": _attention(nn.SelfAttention(4, score="additive", **OPTIONS)),
    "self-attention with weights": _with_weights(nn.SelfAttention(4, score="general", **OPTIONS), False),
    "keys and values": _attention(nn.KeyValueAttention(3, 1, **OPTIONS)),
    "local": _attention(nn.LocalAttention(2)),
    "predicted window": _attention(nn.PredictiveLocalAttention(4, 2, **OPTIONS)),
    "messages": _attention(nn.MessagePassing("cosine")),
    "messages by an additive score": _attention(nn.MessagePassing(nn.AdditiveScore(4, 4, **OPTIONS))),
    "messages along edges": (nn.MessagePassing(), lambda m, x: tokens(m(x, np.ones((5, 5)), key_mask=MASK))),
    "simplified": _with_weights(nn.SimplifiedAttention(), False),
    "multi-head": _attention(nn.MultiHeadAttention(4, 2, **OPTIONS)),
    "shared heads, rotary": _attention(nn.MultiHeadAttention(8, 4, context_dim=8, num_kv_heads=2, rotary=True, **OPTIONS)),
    "multi-head with weights": _with_weights(nn.MultiHeadAttention(4, 2, **OPTIONS), True),
    "packed": _attention(nn.PackedMultiHeadAttention(4, 2, **OPTIONS)),
    "head": _attention(nn.AttentionHead(4, 2, **OPTIONS)),
    "cross-attention": (nn.MultiHeadAttention(4, 2, **OPTIONS), lambda m, x: m(MEMORY, x, key_mask=MASK)),
    "causal, too": (nn.MultiHeadAttention(4, 2, **OPTIONS), lambda m, x: tokens(m(x, key_mask=MASK, causal=True))),
    "by a mask": (nn.MultiHeadAttention(4, 2, **OPTIONS), lambda m, x: tokens(m(x, mask=MASK[:, None, None]))),
    "by a bias": (nn.MultiHeadAttention(4, 2, **OPTIONS), lambda m, x: tokens(m(x, bias=BIAS))),
    "by a bias of each head": (
        nn.MultiHeadAttention(4, 2, **OPTIONS),
        lambda m, x: m(x[:1], bias=np.where(np.arange(5) < 3, 1.0, -np.inf) * np.ones((2, 5, 1)))[:, :3],
    ),
    "a bias for each head, too": (
        nn.MultiHeadAttention(4, 2, **OPTIONS),
        lambda m, x: tokens(m(x, key_mask=MASK, bias=rng(7).standard_normal((2, 5, 5)))),
    ),
    "one query": (nn.MultiplicativeAttention(4, 4, **OPTIONS), lambda m, x: m(MEMORY[:, 0], x, key_mask=MASK)),
    "encoder": _attention(nn.TransformerEncoderLayer(4, 2, 6, **OPTIONS)),
    "encoder, norm after": _attention(nn.TransformerEncoderLayer(4, 2, 6, norm="post", rms_norm=True, **OPTIONS)),
    "decoder": (nn.TransformerDecoderLayer(4, 2, 6, **OPTIONS), lambda m, x: tokens(m(x, MEMORY, key_mask=MASK))),
    "memory": (nn.TransformerDecoderLayer(4, 2, 6, **OPTIONS), lambda m, x: m(MEMORY, x, memory_key_mask=MASK)),
    "convolution": (nn.Conv1d(4, 2, 3, padding=1, **OPTIONS), lambda m, x: m(x.swapaxes(1, 2), key_mask=MASK)),
    "outside of every window": (nn.LocalAttention(1), lambda m, x: m(MEMORY[:1], x[:1])),
    **{f"pool, {how}": (nn.Sequential(), partial(_pooled, how)) for how in ("mean", "sum", "first")},
    "a model": (
        models.TwoLayerTransformer(models.TwoLayerConfig(4, 3, 2), **OPTIONS),
        lambda m, x: m(x, key_mask=MASK),
    ),
}  # fmt: skip


def results(module: Any, read: Read, x: np.ndarray) -> list[np.ndarray]:
    """Return what the loss reads, and the gradients of both orders of the tokens and of the parameters."""
    tokens = Tensor(x, requires_grad=True)
    inputs = [tokens, *module.parameters()]
    y = read(module, tokens)
    first = mg.autograd_grad((y * y * y).sum(), inputs, create_graph=True, allow_unused=True)
    given = [g for g in first if g is not None and g.requires_grad]
    second = mg.autograd_grad(sum((g * g).sum() for g in given), inputs, allow_unused=True)
    return [t.numpy() for t in (y, *first, *second) if t is not None]


@contextmanager
def kernels(kind: str) -> Iterator[None]:
    with ExitStack() as stack:
        if kind == "compiled":
            pytest.importorskip("numba")
            mg.compiled_kernels()
            stack.callback(mg.compiled_kernels, False)
        elif kind == "none":
            stack.enter_context(mg.reference_mode())
        yield


@pytest.mark.sampled(10)
@pytest.mark.parametrize("kind", ["numpy", "compiled", "none"])
@pytest.mark.parametrize("name", CASES)
def test_padding_is_not_read(name: str, kind: str) -> None:
    module, read = CASES[name]
    x = np.concatenate([X, X[::-1]], axis=-1) if "rotary" in name else X
    with kernels(kind):
        expected = results(module, read, np.where(MASK[..., None], x, 0.0))
        for bad in (np.nan, np.inf, -np.inf):
            found = results(module, read, np.where(MASK[..., None], x, bad))
            assert len(found) == len(expected) > 1
            for one, other in zip(found, expected):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["numpy", "compiled", "none"])
@pytest.mark.parametrize("how", ["causal", "window", "edges"])
def test_a_key_that_only_some_queries_see_does_not_reach_the_others(how: str, kind: str) -> None:
    """The last key is NaN: the queries that do not see it have the values and the gradients of a run with 0 in its place."""
    q, k, v = (rng(i).standard_normal((2, 6, 4)) for i in (3, 4, 5))
    edges = nn.causal_mask(6) & (rng(6).random((6, 6)) < 0.8)
    allowed = {"causal": nn.causal_mask(6), "window": nn.window_mask(6, 2), "edges": edges | np.eye(6, dtype=bool)}[how]
    blind = ~allowed[:, -1]
    forms: list[Callable[..., Any]] = [
        lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, allowed),
        lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, None, np.where(allowed, 0.5, -np.inf)),
        lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, np.stack([allowed] * 2)[None], num_heads=2),
        lambda q, k, v: nn.DotProductAttention()(q, k, v, mask=allowed),
        lambda q, k, v: nn.GlobalAttention("cosine").with_weights(q, k, v, mask=allowed)[0],
    ]
    h = np.concatenate([q[:, :-1], np.full((2, 1, 4), np.nan)], axis=1)
    one, other = (nn.MessagePassing("dot")(each, mask=allowed).numpy()[:, blind] for each in (h, np.nan_to_num(h)))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    if how == "window":
        forms.append(lambda q, k, v: nn.LocalAttention(2, "scaled_dot")(q, k, v))
    with kernels(kind), np.errstate(invalid="ignore"):  # the queries that see an infinite number
        for form in forms:
            runs = []
            for last in (0.0, np.nan, np.inf):
                inputs = [Tensor(t, requires_grad=True) for t in (q, k.copy(), v.copy())]
                for t in inputs[1:]:
                    t.data[:, -1] = last
                y = form(*inputs)
                assert last == 0 or not np.isfinite(y.numpy()[:, -1]).any()  # a query that sees the NaN shows it
                read = y[:, blind]
                (first,) = mg.autograd_grad((read * read * read).sum(), inputs[:1])
                runs.append([read.numpy(), first.numpy()[:, blind]])
            for run in runs[1:]:
                for one, other in zip(run, runs[0], strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_what_is_no_padding_still_shows() -> None:
    """A NaN at a token is not hidden: the results that depend on it are NaN."""
    x = X.copy()
    x[0, 1] = np.nan
    for name in ("GRU, plain", "multi-head", "self-attention", "encoder", "pool, mean", "messages"):
        module, read = CASES[name]
        first, *_ = results(module, read, x)
        assert np.isnan(first).any(), name


def test_an_edge_of_weight_0_is_no_edge() -> None:
    h = Tensor([[1.0], [np.nan], [3.0]], requires_grad=True)
    passed = nn.MessagePassing()(h, np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    np.testing.assert_array_equal(passed.numpy(), [[3.0], [1.0], [np.nan]])
    passed[:2].sum().backward()
    assert h.grad is not None and h.grad.tolist() == [[1.0], [0.0], [1.0]]
