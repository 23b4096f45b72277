"""Clipping by norm and by value, in place."""

import math

import numpy as np
import pytest

from minigrad import ArgumentError
from nn import Parameter, clip_grad_norm, clip_grad_value
from tests.lazy import torch
from tests.nn.layers import rng, to_torch


def with_gradients(dtype=np.float64) -> list[Parameter]:
    """Random gradients of different sizes; the second tensor has none."""
    generator, tensors = rng(), []
    for i, shape in enumerate([(3, 4), (4,), (), (2, 1, 3)]):
        tensor = Parameter(np.zeros(shape), dtype=dtype)
        tensor.grad = 10.0**i * generator.standard_normal(shape) if i != 1 else None
        tensors.append(tensor)
    return tensors


def gradients(tensors) -> list[np.ndarray]:
    return [t.grad.numpy().copy() for t in tensors if t.grad is not None]


def test_clip_grad_norm_scales_all_gradients_together() -> None:
    tensors = with_gradients()
    before = gradients(tensors)
    expected = math.sqrt(sum((g * g).sum() for g in before))
    assert clip_grad_norm(tensors, 2.0) == pytest.approx(expected, rel=1e-12)
    for g, was in zip(gradients(tensors), before, strict=True):
        np.testing.assert_allclose(g, was * 2 / expected, rtol=1e-12)
    assert clip_grad_norm(tensors, math.inf) == pytest.approx(2.0, rel=1e-12)


def test_clip_grad_norm_equals_pytorch() -> None:
    tensors = with_gradients()
    torch_tensors = [to_torch(p.data, True) for p in tensors]
    for p, torch_p in zip(tensors, torch_tensors, strict=True):
        torch_p.grad = None if p.grad is None else to_torch(p.grad.numpy())
    torch_norm = torch.nn.utils.clip_grad_norm_(torch_tensors, 0.5)
    assert clip_grad_norm(tensors, 0.5) == pytest.approx(torch_norm.item(), rel=1e-12)
    for p, torch_p in zip(tensors, torch_tensors, strict=True):
        if p.grad is not None:  # PyTorch adds 1e-6 to the norm
            np.testing.assert_allclose(p.grad.numpy(), torch_p.grad.numpy(), rtol=1e-8)


def test_a_small_norm_changes_nothing_and_a_tied_gradient_counts_once() -> None:
    tied = Parameter([1.0, 1.0])
    tied.grad = [3.0, 4.0]
    assert clip_grad_norm([tied, tied], 6.0) == 5.0
    assert tied.grad is not None and tied.grad.tolist() == [3.0, 4.0]
    assert clip_grad_norm([Parameter([1.0])], 1.0) == 0.0


def test_squares_too_large_for_float32_are_no_infinite_norm() -> None:
    p = Parameter([1.0, 1.0], dtype=np.float32)
    p.grad = [3e30, 4e30]
    assert clip_grad_norm([p], 10.0) == pytest.approx(5e30)
    assert p.grad is not None
    np.testing.assert_allclose(p.grad.numpy(), [6, 8], rtol=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_raises_and_nothing_is_scaled(bad) -> None:
    tensors = with_gradients(np.float32)
    tensors[3].name = "culprit"
    assert tensors[3].grad is not None
    tensors[3].grad.data[1, 0, 2] = bad
    before = gradients(tensors)
    with pytest.raises(ArgumentError, match=r"'culprit' of shape \(2, 1, 3\) .* is not finite .*: nothing was scaled"):
        clip_grad_norm(tensors, 1.0)
    for g, was in zip(gradients(tensors), before, strict=True):
        np.testing.assert_array_equal(g, was)


def test_clip_grad_value() -> None:
    tensors = with_gradients()
    expected = [np.clip(g, -0.5, 0.5) for g in gradients(tensors)]
    clip_grad_value(tensors, 0.5)
    for g, clipped in zip(gradients(tensors), expected, strict=True):
        np.testing.assert_array_equal(g, clipped)


@pytest.mark.parametrize("clip", [clip_grad_norm, clip_grad_value])
@pytest.mark.parametrize("limit", [0, -1.0, math.nan])
def test_a_limit_must_be_positive(clip, limit) -> None:
    with pytest.raises(ArgumentError, match="must be positive"):
        clip(with_gradients(), limit)


@pytest.mark.parametrize("clip", [clip_grad_norm, clip_grad_value])
def test_a_gradient_on_the_tape_is_replaced_and_not_written_to(clip) -> None:
    p = Parameter([3.0])
    (p * p * p).sum().backward(create_graph=True)
    on_tape = p.grad
    assert on_tape is not None and on_tape.requires_grad
    clip([p], 1.0)
    assert on_tape.tolist() == [27.0] and p.grad is not None and p.grad.tolist() == [1.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_norm_of_large_and_of_small_gradients(dtype) -> None:
    """Their squares leave the range of the dtype, and the norm does not."""
    info = np.finfo(dtype)
    for scale in (info.smallest_subnormal, info.tiny, info.tiny**0.5, 1.0, info.max**0.5, info.max / 20):
        p = Parameter(np.zeros((40, 3)), dtype=dtype)
        p.grad = g = (np.ones((40, 3)) * scale).astype(dtype)
        expected = math.sqrt(120) * float(g[0, 0])
        assert math.isclose(clip_grad_norm([p], math.inf), expected, rel_tol=1e-6)
    p.grad = np.zeros((40, 3), dtype)
    assert clip_grad_norm([p], 1.0) == 0
    empty = Parameter(np.zeros((0, 3)), dtype=dtype)
    empty.grad = np.zeros((0, 3), dtype)
    assert clip_grad_norm([empty], 1.0) == 0
