"""Functions in float16 against PyTorch's half precision, and what float16 has no numbers for."""

import contextlib
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from minigrad._float16 import masked_softmax
from tests import fake_device
from tests.lazy import torch
from tests.nn.layers import rng

F = torch.nn.functional


def arrays(*shapes: tuple[int, ...], scale: float = 1.0) -> list[np.ndarray]:
    return [(scale * rng(i).standard_normal(shape)).astype(np.float16) for i, shape in enumerate(shapes)]


MASK = np.tri(5, 6, dtype=bool)
FUNCTIONS: dict[str, tuple[Any, Any, list[np.ndarray]]] = {
    "softmax": (mg.softmax, lambda x: F.softmax(x, -1), arrays((3, 40), scale=3)),
    "log_softmax": (mg.log_softmax, lambda x: F.log_softmax(x, -1), arrays((3, 40), scale=3)),
    "gelu": (mg.gelu, F.gelu, arrays((3, 40), scale=2)),
    "gelu, far out": (
        lambda x: mg.gelu(x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
        arrays((3, 40), scale=500),
    ),
    "layer_norm": (
        mg.layer_norm,
        lambda x, w, b: F.layer_norm(x, (64,), w, b),
        arrays((3, 64), (64,), (64,), scale=2),
    ),
    "layer_norm, far out": (  # the sum of squares is beyond 65504
        mg.layer_norm,
        lambda x, w, b: F.layer_norm(x, (64,), w, b),
        [*arrays((3, 64), scale=500), *arrays((64,), (64,))],
    ),
    "rms_norm, far out": (
        nn.functional.rms_norm,
        lambda x, w: F.rms_norm(x, (64,), w, 1e-6),
        [*arrays((3, 64), scale=500), *arrays((64,))],
    ),
    "affine": (
        mg.affine,
        lambda x, w, b: F.linear(x, w.T, b),
        arrays((2, 7, 30), (30, 20), (20,)),
    ),
    "attention": (
        lambda q, k, v: nn.functional.scaled_dot_product_attention(q, k, v, MASK),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.tensor(MASK)),
        arrays((2, 5, 8), (2, 6, 8), (2, 6, 4)),
    ),
    "attention with a bias": (
        lambda q, k, v, b: nn.functional.scaled_dot_product_attention(q, k, v, MASK, bias=b),
        lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, b.masked_fill(~torch.tensor(MASK), -torch.inf)),
        arrays((2, 5, 8), (2, 6, 8), (2, 6, 4), (2, 5, 6)),
    ),
    "cross_entropy": (
        lambda x: nn.cross_entropy(x, np.arange(6)),
        lambda x: F.cross_entropy(x.float(), torch.arange(6)),
        arrays((6, 40), scale=3),
    ),
}


@pytest.mark.parametrize("how", ["kernels", "reference", "fake"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_pytorch_in_half_precision(name: str, how: str) -> None:
    ours, theirs, given = FUNCTIONS[name]
    put = fake_device.asarray if how == "fake" else np.asarray
    inputs = [Tensor(put(a), requires_grad=True) for a in given]
    with mg.reference_mode() if how == "reference" else contextlib.nullcontext():
        result = ours(*inputs)
        cotangent = rng(9).standard_normal(result.shape).astype(result.dtype)
        result.backward(put(cotangent))
    exact = [torch.tensor(a.astype(np.float64), requires_grad=True) for a in given]  # rounded once at the end
    half = [torch.tensor(a, requires_grad=True) for a in given]
    for tensors in (exact, half):
        out = theirs(*tensors)
        out.backward(torch.tensor(cotangent).to(out.dtype))
        results = [out.detach().numpy(), *[t.grad.numpy() for t in tensors]]
        got = [result.numpy(), *[t.grad.numpy() for t in inputs if t.grad is not None]]
        assert len(got) == len(results)
        for mine, other in zip(got, results):
            tolerance = 4e-3 * np.abs(other.astype(np.float64)).max()
            np.testing.assert_allclose(mine.astype(np.float64), other.astype(np.float64), rtol=4e-3, atol=tolerance)


@pytest.mark.parametrize("how", ["kernels", "reference", "fake"])
def test_what_float16_has_no_numbers_for(how: str) -> None:
    """A query without keys, an eps of 1e-12, more than 65504 equal classes."""
    put = fake_device.asarray if how == "fake" else np.asarray
    q, k, v = (Tensor(put(a), requires_grad=True) for a in arrays((2, 3, 4), (2, 5, 4), (2, 5, 4)))
    mask = np.arange(5) < np.array([5, 0, 2])[:, None]
    with mg.reference_mode() if how == "reference" else contextlib.nullcontext():
        out = nn.functional.scaled_dot_product_attention(q, k, v, put(mask))
        out.sum().backward()
        flat = Tensor(put(np.ones((2, 4), np.float16)))
        norms = [nn.LayerNorm(4, eps=1e-12, eps_outside=outside, dtype=np.float16) for outside in (False, True)]
        for norm in norms:
            for p in norm.parameters():
                p.data = put(p.data)
        normed = [norm(flat).numpy() for norm in norms]
        wide = mg.log_softmax(Tensor(put(np.zeros((1, 70_000), np.float16))))
        scores = Tensor(put(np.zeros((2, 3), np.float16)))
        rows = masked_softmax(scores, put(np.array([[True, False, True], [False] * 3])))
        nothing, much = (Tensor(put(np.full((1, 2, 4), value, np.float16))) for value in (0, 500))
        cosine = nn.CosineScore()(nothing, much)
    assert rows.numpy().tolist() == [[0.5, 0, 0.5], [0] * 3] and cosine.numpy().tolist() == [[[0, 0]] * 2]
    assert out.numpy()[:, 1].tolist() == [[0.0] * 4] * 2 and np.isfinite(out.numpy()).all()
    assert all(t.grad is not None and np.isfinite(t.grad.numpy()).all() for t in (q, k, v))
    assert all(a.tolist() == [[0.0] * 4] * 2 and a.dtype == np.float16 for a in normed)
    assert wide.numpy()[0, 0] == np.float16(-np.log(70_000))


@pytest.mark.parametrize("put", [np.asarray, fake_device.asarray], ids=["host", "fake"])
def test_gradients_are_sums_of_many(put: Any) -> None:
    """In float16 a running sum of ones stops at 2048."""
    ones = np.ones((8192, 3), np.float16)
    bias, table = (Tensor(put(np.zeros(shape, np.float16)), requires_grad=True) for shape in ((3,), (2, 3)))
    (put(0 * ones) + bias).backward(put(ones))
    np.take(table, put(np.zeros(8192, np.int64)), axis=0).backward(put(ones))
    assert bias.grad is not None and bias.grad.tolist() == [8192.0] * 3
    assert table.grad is not None and table.grad.tolist() == [[8192.0] * 3, [0.0] * 3]


@pytest.mark.parametrize("how", ["kernels", "reference", "fake"])
@pytest.mark.parametrize(("function", "scale"), [(mg.softmax, 1 / 8192), (mg.log_softmax, 1)])
def test_derivatives_sum_in_float32_too(function: Any, scale: float, how: str) -> None:
    """Of 8192 equal numbers, along an axis on which NumPy adds one by one: the sum of the outputs does not change."""
    put = fake_device.asarray if how == "fake" else np.asarray
    x = Tensor(put(np.zeros((8192, 2), np.float16)), requires_grad=True)
    with mg.reference_mode() if how == "reference" else contextlib.nullcontext():
        result = function(x, axis=0)
        result.backward(put(np.ones(x.shape, np.float16)))
    assert x.grad is not None and x.grad.dtype == np.float16
    assert np.abs(x.grad.numpy()).max() < 4e-3 * scale


@pytest.mark.parametrize("how", ["kernels", "reference", "fake"])
def test_dropout_keeps_the_mean(how: str) -> None:
    """Its scale, 1 / 0.7, is not a number of float16: rounded, it would be too large in every element."""
    put = fake_device.asarray if how == "fake" else np.asarray
    (x,) = arrays((1000,))
    layers = [nn.Dropout(0.3, rng=rng(7)) for _ in range(2)]
    wide = layers[0](Tensor(x.astype(np.float32)))
    with mg.reference_mode() if how == "reference" else contextlib.nullcontext():
        got = layers[1](Tensor(put(x)))
    np.testing.assert_array_equal(got.numpy(), wide.numpy().astype(np.float16))


@pytest.mark.parametrize("name", ["cross_entropy", "negative_log_likelihood", "mean_squared_error", "binary"])
def test_losses_of_float16_are_float32(name: str) -> None:
    x = rng().random((4, 3)).astype(np.float16)
    losses: dict[str, Any] = {
        "cross_entropy": lambda x: nn.cross_entropy(x, np.array([0, 1, 2, 0]), label_smoothing=0.1),
        "negative_log_likelihood": lambda x: nn.negative_log_likelihood(x, np.array([0, 1, 2, 0])),
        "mean_squared_error": lambda x: nn.mean_squared_error(x, np.zeros((4, 3))),
        "binary": lambda x: nn.binary_cross_entropy_with_logits(x, np.zeros((4, 3))),
    }
    t, wide = (Tensor(a, requires_grad=True) for a in (x, x.astype(np.float32)))
    got, expected = losses[name](t), losses[name](wide)
    assert got.dtype == np.float32 and got.item() == expected.item()
    got.backward(), expected.backward()
    assert t.grad is not None and wide.grad is not None and t.grad.dtype == np.float16
    np.testing.assert_array_equal(t.grad.data, wide.grad.data.astype(np.float16))
