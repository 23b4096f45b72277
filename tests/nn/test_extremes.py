"""Norms and scores at extreme scales and offsets beside float64, and settings that are numbers of NumPy."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
import nn.functional as F
from minigrad import Tensor
from tests.nn.layers import rng

ONES, ZEROS = np.ones(8), np.zeros(8)
NORMS: dict[str, Any] = {
    "layer_norm": lambda x, eps: mg.layer_norm(x, ONES.astype(x.dtype), ZEROS.astype(x.dtype), eps=eps),
    "LayerNorm, eps outside": lambda x, eps: nn.LayerNorm(8, eps=eps, eps_outside=True, dtype=x.dtype)(x),
    "rms_norm": lambda x, eps: F.rms_norm(x, ONES.astype(x.dtype), eps=eps),
    "batch_norm": lambda x, eps: F.batch_norm(x, ONES.astype(x.dtype), ZEROS.astype(x.dtype), eps=eps),
    "group_norm": lambda x, eps: F.group_norm(x, 2, ONES.astype(x.dtype), ZEROS.astype(x.dtype), eps=eps),
    "instance norm": lambda x, eps: F.group_norm(
        x.reshape(2, 2, 12), 2, np.ones(2, x.dtype), np.zeros(2, x.dtype), eps=eps
    ).reshape(x.shape),
    "cosine score": lambda x, eps: nn.CosineScore()(x[None, :3], x[None, 3:]),
    "cosine loss": lambda x, eps: nn.cosine_loss(x[:3], x[3:], eps=eps, reduction="none"),
}


def orders(norm: Any, x: np.ndarray, eps: float, size: float) -> list[np.ndarray]:
    """Return the values, and the gradients of both orders of a loss, as for x / size."""
    t = Tensor(x / size if x.dtype == np.float64 else x, requires_grad=True)
    y = norm(t, eps)
    weights = rng(5).standard_normal(y.shape).astype(y.dtype)
    (first,) = mg.autograd_grad((y * weights).sum(), [t], create_graph=True)
    (second,) = mg.autograd_grad((first * rng(6).standard_normal(x.shape).astype(x.dtype)).sum(), [t])
    return [y.numpy(), first.numpy(), second.numpy()]


@pytest.mark.parametrize("kind", ["numpy", "compiled", "none"])
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(
    ("scale", "eps"), [(1e19, 1e-5), (1e30, 1e-5), (3e38, 1e-5), (1e-25, 0.0), (1e-30, 0.0), (1e-25, 1e-5)]
)
def test_large_and_small_numbers(name: str, scale: float, eps: float, kind: str) -> None:
    """The squares of these float32 numbers are infinite or 0, and the results are those of float64."""
    x = rng(7).uniform(-1, 1, (6, 8)).astype(np.float32)
    x *= np.float32(scale)
    if eps and scale < 1 and "cosine" in name:
        eps = 1e-27
    with ExitStack() as stack:
        if kind == "compiled":
            pytest.importorskip("numba")
            mg.compiled_kernels()
            stack.callback(mg.compiled_kernels, False)
        elif kind == "none":
            stack.enter_context(mg.reference_mode())
        found = orders(NORMS[name], x, eps, 1.0)
        expected = orders(NORMS[name], x.astype(np.float64), eps, 1.0)
        for order, (one, other) in enumerate(zip(found, expected)):
            assert one.dtype == np.float32
            top = np.abs(other).max()
            if 1e-30 < top < 1e37:  # what float32 can hold
                np.testing.assert_allclose(
                    one / top, other / top, atol=(2e-5, 2e-5, 1e-4)[order], err_msg=f"order {order}"
                )


@pytest.mark.parametrize("kind", ["numpy", "none"])
def test_offsets_and_ordinary_rows_beside_extreme_ones(kind: str) -> None:
    x = rng(8).standard_normal((4, 8)).astype(np.float32) * np.array([[1e25], [1.0], [1e-3], [1e3]], np.float32)
    x[3] += 1e6
    with mg.reference_mode() if kind == "none" else ExitStack():
        for name in ("layer_norm", "rms_norm", "LayerNorm, eps outside"):
            found, expected = (NORMS[name](Tensor(each), 1e-5).numpy() for each in (x, x.astype(np.float64)))
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_float16_norms_beside_float64() -> None:
    """In float16, 256 squared is infinite and an eps of 1e-8 is 0."""
    for scale in (1e-3, 1.0, 300.0, 3e4):
        x = (rng(9).uniform(-1, 1, (6, 8)) * scale).astype(np.float16)
        for name, norm in NORMS.items():
            found, expected = (np.asarray(norm(Tensor(each), 1e-6).numpy()) for each in (x, x.astype(np.float64)))
            assert found.dtype == np.float16
            np.testing.assert_allclose(found, expected, atol=6e-3, err_msg=name)
    zeros = Tensor(np.zeros((6, 8), np.float16), requires_grad=True)
    for name, norm in NORMS.items():
        y = norm(zeros, 1e-8)
        assert np.isfinite(y.numpy()).all(), name
        (slopes,) = mg.autograd_grad(norm(zeros, 1e-3).sum(), [zeros])  # a slope of 1e8 is infinite
        assert np.isfinite(slopes.numpy()).all(), name


def test_a_cosine_does_not_depend_on_the_lengths() -> None:
    cases: Any = ((np.float32, 1e-42), (np.float64, 1e-310))
    for dtype, tiny in cases:
        x = np.array([[[3.0, 4.0], [0.0, 0.0]]], dtype) * dtype(tiny)
        score = nn.CosineScore()(Tensor(x), Tensor(np.array([[[3.0, 4.0], [4.0, -3.0]]], dtype) * dtype(1e30)))
        np.testing.assert_allclose(score.numpy(), [[[1, 0], [0, 0]]], atol=2e-2 if dtype == np.float32 else 1e-12)
    zero = Tensor(np.zeros((1, 1, 3)), requires_grad=True)
    nn.CosineScore()(zero, Tensor(np.ones((1, 1, 3)))).sum().backward()
    assert zero.grad is not None and not zero.grad.numpy().any()


def test_the_statistics_of_a_tall_batch() -> None:
    x = (1000 + rng(0).standard_normal((300_000, 2)) * [1, 0.01]).astype(np.float32)
    norm = nn.BatchNorm(2, momentum=1.0)
    norm(x)
    images = np.ascontiguousarray(x.reshape(30, 100, 100, 2).transpose(0, 3, 1, 2))
    of_images = nn.BatchNorm(2, momentum=1.0)
    of_images(images)
    for each in (norm, of_images):
        assert each.running_mean.dtype == each.running_var.dtype == np.float32
        np.testing.assert_allclose(each.running_mean.numpy(), x.mean(axis=0, dtype=np.float64), rtol=1e-7)
        np.testing.assert_allclose(each.running_var.numpy(), x.var(axis=0, ddof=1, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.array])
@pytest.mark.parametrize("reference", [True, False])
def test_a_setting_may_be_a_number_of_numpy(reference: bool, kind: Any) -> None:
    """It is a Python number from then on: a number of NumPy would make float64 of float32 arrays."""
    x, labels = rng(1).standard_normal((5, 8)).astype(np.float32), np.array([0, 1, 2, 3, 4])
    two: Any = np.int64(2)
    w, b, share = ONES.astype(np.float32), ZEROS.astype(np.float32), kind(0.25)
    forms = [
        lambda: nn.LayerNorm(8, eps=share)(x),
        lambda: nn.LayerNorm(8, eps=share, eps_outside=True)(x),
        lambda: nn.RMSNorm(8, eps=share)(x),
        lambda: nn.GroupNorm(2, 8, eps=share)(x),
        lambda: nn.BatchNorm(8, eps=share, momentum=share)(x),
        lambda: F.layer_norm(x, w, b, eps=share),
        lambda: F.rms_norm(x, w, eps=share),
        lambda: F.batch_norm(x, w, b, eps=share),
        lambda: F.group_norm(x, 2, w, b, eps=share),
        lambda: nn.cross_entropy(x, labels, label_smoothing=share),
        lambda: nn.cross_entropy(x, labels, label_smoothing=share, weight=ONES),
        lambda: nn.huber_loss(x, x + 1, delta=share),
        lambda: nn.hinge_loss(x, labels, margin=share),
        lambda: nn.cosine_loss(x, x + 1, eps=share),
        lambda: F.scaled_dot_product_attention(x, x, x, scale=share),
        lambda: nn.PredictiveLocalAttention(8, two, rng=rng(0))(x[None]),
    ]
    with mg.reference_mode() if reference else ExitStack():
        for form in forms:
            assert form().dtype == np.float32
    norm = nn.BatchNorm(8, momentum=share)
    norm(x)
    assert type(norm.momentum) is float and {each.dtype for each in norm.state_dict().values()} == {
        np.dtype(np.float32)
    }
    p: Any = np.float32(0.25)
    assert type(nn.Dropout(p, rng=rng(0)).p) is float
    weight = nn.Parameter(np.ones(3, np.float32))
    (weight * weight).sum().backward(create_graph=True)
    nn.clip_grad_norm([weight], share)
    assert weight.grad is not None and weight.grad.dtype == np.float32
