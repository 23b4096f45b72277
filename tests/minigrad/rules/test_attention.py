"""The bias of attention against PyTorch's float mask: every shape that broadcasts, what excludes a key, and memory."""

import contextlib
import math
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import minigrad as mg
from minigrad import ShapeError, Tensor
from minigrad.kernels.numpy import attention as kernel
from minigrad.rules.neural import LOWEST
from tests.lazy import torch
from tests.minigrad.rules.cases import torch_attention

INF = math.inf
HOW = ["kernels", "compiled", "reference"]


@pytest.fixture(params=HOW)
def how(request: pytest.FixtureRequest) -> Iterator[Any]:
    """What to compute in: each kernel for NumPy's arrays, and the plain rule."""
    if request.param == "compiled":
        pytest.importorskip("numba", reason="the compiled kernels need numba")
        mg.compiled_kernels()
    yield mg.reference_mode if request.param == "reference" else contextlib.nullcontext
    mg.compiled_kernels(False)


@st.composite
def calls(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[int, ...]]]:
    """The shapes of query, key, value and bias, and the settings."""
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    heads, queries, keys = (draw(st.integers(1, 3)) for _ in range(3))
    full = (*batch, heads, queries, keys)
    own = [draw(st.sampled_from([1, n])) for n in full][draw(st.integers(0, len(full))) :]
    shapes = [(*batch, n, heads * width) for n, width in ((queries, 2), (keys, 2), (keys, 3))]
    options = {"heads": heads, "scale": draw(st.sampled_from([None, 0.3, -1.5, 0.0]))}
    return options | {"mask": draw(st.booleans())}, [*shapes, tuple(own)]


def results(f: Any, arrays: list[Any], cotangent: Any = None) -> list[Any]:
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    y = f(*tensors)
    g = np.ones(y.shape, y.dtype) if cotangent is None else cotangent
    return [y.numpy(), *(t.numpy() for t in mg.autograd_grad((y * g).sum(), tensors))]


def assert_as_pytorch(call: tuple[dict[str, Any], list[tuple[int, ...]]], size: float, how: Any) -> None:
    options, shapes = call
    rng = np.random.default_rng(0)
    *qkv, bias = (size * rng.standard_normal(shape) for shape in shapes)
    queries, keys = qkv[0].shape[-2], qkv[1].shape[-2]
    mask = np.tri(queries, keys, dtype=bool) if options["mask"] else None
    scale, heads = options["scale"], options["heads"]
    g = rng.standard_normal((*qkv[0].shape[:-1], qkv[2].shape[-1]))
    with how():
        attend = lambda q, k, v, b: mg.scaled_dot_product_attention(q, k, v, mask, b, scale=scale, num_heads=heads)
        got = results(attend, [*qkv, bias], g)
    theirs = [torch.tensor(a, requires_grad=True) for a in (*qkv, bias)]
    q, k, v, b = theirs
    y = torch_attention(q, k, v, None if mask is None else torch.tensor(mask), b, scale=scale, heads=heads)
    for ours, expected in zip(got, [y, *torch.autograd.grad(y, theirs, torch.tensor(g))], strict=True):
        assert ours.shape == tuple(expected.shape)
        np.testing.assert_allclose(ours, expected.detach().numpy(), rtol=1e-10, atol=1e-10 * max(1, size**2))


@settings(max_examples=120, deadline=None)
@given(call=calls(), size=st.sampled_from([1.0, 40.0]))
def test_a_bias_of_any_shape_that_broadcasts_is_pytorchs(call: Any, size: float) -> None:
    for how in (contextlib.nullcontext, mg.reference_mode):
        assert_as_pytorch(call, size, how)


@settings(max_examples=60, deadline=None)
@given(call=calls(), size=st.sampled_from([1.0, 40.0]))
def test_compiled_kernels_take_it_too(call: Any, size: float) -> None:
    pytest.importorskip("numba", reason="the compiled kernels need numba")
    mg.compiled_kernels()
    try:
        assert_as_pytorch(call, size, contextlib.nullcontext)
    finally:
        mg.compiled_kernels(False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("low", [-INF, LOWEST, -1e35])
@pytest.mark.parametrize("size", [1.0, 50.0])
def test_a_bias_that_excludes_is_a_mask(how: Any, low: float, size: float) -> None:
    """Whole rows of it give zeros, and no gradient is NaN."""
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        qkv = [(size * rng.standard_normal((3, 4, 4))).astype(dtype) for _ in range(3)]
        for shape in ((4, 4), (3, 1, 1, 4), (1, 4), (3, 2, 4, 4)):
            seen = rng.random(shape) < 0.5
            seen.reshape(-1, shape[-1])[0] = False
            bias = np.where(seen, 0, low).astype(dtype)
            with how():
                masked = results(lambda q, k, v, m=seen: mg.scaled_dot_product_attention(q, k, v, m, num_heads=2), qkv)
                biased = results(
                    lambda q, k, v, b: mg.scaled_dot_product_attention(q, k, v, None, b, num_heads=2), [*qkv, bias]
                )
            for got, expected in zip(biased, masked):
                tolerance = 100 * float(np.finfo(dtype).eps)
                np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * size**2)
            assert np.isfinite(biased[-1]).all() and not biased[-1][~seen].any()


def test_a_bias_that_excludes_everything_has_second_derivatives(how: Any) -> None:
    q, bias = (Tensor(a, requires_grad=True) for a in (np.ones((2, 3, 2)), np.full((3, 3), -INF)))
    with how():
        y = mg.scaled_dot_product_attention(q, q, q, bias=bias)
        first = mg.autograd_grad((y * y).sum(), [q, bias], create_graph=True)
        second = mg.autograd_grad(sum((g * g).sum() for g in first), [q, bias])
    for found in (y, *first, *second):
        np.testing.assert_array_equal(found.numpy(), np.zeros(found.shape))


def test_nan_in_a_bias_is_not_hidden(how: Any) -> None:
    bias = np.zeros((3, 3))
    bias[1, 2] = np.nan
    with how():
        y = mg.scaled_dot_product_attention(*np.ones((3, 3, 2)), None, bias)
    np.testing.assert_array_equal(np.isnan(y), [[False] * 2, [True] * 2, [False] * 2])


def test_it_may_be_given_in_any_way(how: Any) -> None:
    q, k, v, bias = np.random.default_rng(2).standard_normal((4, 3, 3)).astype(np.float32)
    mask, attend = np.tri(3, dtype=bool), mg.scaled_dot_product_attention
    with how():
        expected = attend(q, k, v, mask, bias)
        assert expected.dtype == np.float32
        for found in (
            attend(q, k, v, bias=bias, mask=mask),
            attend(q, k, v, mask, bias=bias),
            attend(query=q, key=k, value=v, mask=mask.tolist(), bias=Tensor(bias)).numpy(),
            attend(q, k, value=v, bias=bias, mask=Tensor(mask)).numpy(),
        ):
            np.testing.assert_array_equal(found, expected)
        whole = np.arange(3) - np.arange(3)[:, None]
        of_integers, of_floats = (attend(q, k, v, None, each) for each in (whole, whole.astype(np.float32)))
        np.testing.assert_allclose(of_integers, of_floats, rtol=1e-6)
        assert attend(q, k, v, None, 0.5).dtype == attend(q, k, v, None, whole).dtype == np.float32


@pytest.mark.parametrize("shape", [(5, 1, 1, 4), (2, 2, 1, 4), (3, 1, 3, 4), (1, 3, 2, 4, 4)])
def test_a_bias_does_not_make_the_scores_larger(how: Any, shape: tuple[int, ...]) -> None:
    x = Tensor(np.ones((3, 4, 4)), requires_grad=True)
    words = r"bias must have a shape that broadcasts to \(\.\.\., heads, query, key\) = \(3, 2, 4, 4\), got"
    with how(), pytest.raises(ShapeError, match=words):
        mg.scaled_dot_product_attention(x, x, x, bias=np.zeros(shape), num_heads=2)


def test_the_gradient_of_a_shared_bias_takes_no_memory_of_the_batchs_size() -> None:
    """A block's part is added up at once: the scores of all sequences together are kept once, for the backward pass."""
    rng = np.random.default_rng(3)
    qkv = [Tensor(rng.standard_normal((64, 64, 16)).astype(np.float32), requires_grad=True) for _ in range(3)]
    bias = Tensor(np.zeros((4, 64, 64), np.float32), requires_grad=True)
    scores = 64 * 4 * 64 * 64 * 4  # bytes
    loss = mg.scaled_dot_product_attention(*qkv, None, bias, num_heads=4).sum()
    tracemalloc.start()
    loss.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * scores


def assert_as_plain(f: Any, arrays: list[Any], cotangent: Any = None, absolute: float = 1e-11) -> None:
    found = results(f, arrays, cotangent)
    with mg.reference_mode():
        expected = results(f, arrays, cotangent)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=absolute)


@pytest.fixture(params=[1 << 24, 0], ids=["weights kept", "weights computed again"])
def strips(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five queries a strip, of sequences of any length: 13 queries make two strips and a shorter one."""
    for name, value in {"LONG": 1, "_STRIP": 1, "_FEWEST": 5, "_KEPT": request.param}.items():
        monkeypatch.setattr(kernel, name, value)


def long_masks() -> dict[str, Any]:
    """Of scores (2, 2, 13, 17)."""
    rng, causal = np.random.default_rng(4), np.tri(13, 17, 4, dtype=bool)
    nobody = causal.copy()
    nobody[3:11] = False  # wholly masked rows: the end of a strip, all of the next one, the beginning of the last
    lengths = np.arange(17) < np.array([9, 17])[:, None]
    band = np.abs(np.arange(13)[:, None] - np.arange(17)) <= 2
    return {
        "none": None,
        "causal": causal,
        "wholly masked rows": nobody,
        "padding": lengths[:, None, None],
        "padding before": lengths[:, None, None, ::-1],
        "causal and padding": causal & lengths[:, None, None],
        "a band": band,
        "by heads": rng.random((2, 2, 13, 17)) < 0.3,
        "nothing": np.zeros((13, 17), bool),
        "of queries": rng.random((1, 1, 13, 1)) < 0.5,
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1.0, 40.0])
@pytest.mark.parametrize(("batch", "biased"), [(2, False), (2, True), (1, True)])
@pytest.mark.parametrize("mask", long_masks().values(), ids=long_masks())
def test_strips_of_queries_are_the_plain_rule_at_both_orders(
    strips: None, mask: Any, batch: int, biased: bool, size: float
) -> None:
    rng = np.random.default_rng(5)
    arrays = [size * rng.standard_normal((batch, *shape)) for shape in ((13, 6), (17, 6), (17, 4))]
    own = mask if mask is None or mask.ndim == 2 else mask[:batch]
    bias = rng.standard_normal((2, 13, 17)) if biased else None
    if bias is not None:
        bias[:, 2] = -INF
    cotangent, other = rng.standard_normal((batch, 13, 4)), rng.standard_normal((batch, 13, 6))

    def attend(q: Any, k: Any, v: Any) -> Any:
        return mg.scaled_dot_product_attention(q, k, v, own, bias, num_heads=2)

    def second(q: Any, k: Any, v: Any) -> Any:
        y = attend(q, k, v)
        (first,) = mg.autograd_grad((y * cotangent).sum(), [q], create_graph=True)
        return (first * other).sum() + (y * y).sum()

    assert_as_plain(attend, arrays, cotangent, 1e-9 * size**2)
    assert_as_plain(second, arrays, None, 1e-9 * size**3)


def test_a_bias_of_a_long_sequence_has_its_gradient(strips: None) -> None:
    rng = np.random.default_rng(6)
    arrays = [rng.standard_normal(shape) for shape in ((2, 13, 6), (2, 17, 6), (2, 17, 4), (13, 17), (2, 1, 17))]
    for own in (3, 4):
        call = lambda q, k, v, b: mg.scaled_dot_product_attention(
            q, k, v, np.tri(13, 17, 4, dtype=bool), b, num_heads=2
        )
        assert_as_plain(call, [*arrays[:3], arrays[own]])


@pytest.mark.parametrize(("queries", "keys"), [(512, 512), (530, 700)])
def test_long_sequences_are_the_plain_rule(queries: int, keys: int) -> None:
    """At the lengths of the kernel itself, around the ends of its strips."""
    rng = np.random.default_rng(7)
    arrays = [rng.standard_normal((1, n, 4)) for n in (queries, keys, keys)]
    mask = np.tri(queries, keys, keys - queries, dtype=bool)
    mask[120:300:7] = False
    assert_as_plain(lambda q, k, v: mg.scaled_dot_product_attention(q, k, v, mask, num_heads=2), arrays)


def test_the_memory_of_long_attention_is_linear_in_the_length() -> None:
    length, heads = 2048, 5
    qkv = [Tensor(np.ones((1, length, 5), np.float32), requires_grad=True) for _ in range(3)]
    mask, weights = np.tri(length, dtype=bool), 4 * heads * length**2  # bytes
    tracemalloc.start()
    mg.scaled_dot_product_attention(*qkv, mask, num_heads=heads).sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < weights / 10
