"""Affine against PyTorch's Linear."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from nn import Affine
from tests.lazy import torch
from tests.nn.layers import assert_equals_pytorch, check_module, load, randomized, rng


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3), (0, 3)])
def test_equals_pytorch(shape) -> None:
    ours = randomized(Affine(3, 5, rng=rng(), dtype=np.float64))
    theirs = load(torch.nn.Linear(3, 5), ours)
    x = rng(2).standard_normal(shape)
    assert_equals_pytorch(ours, theirs, x)


def test_without_bias() -> None:
    layer = Affine(3, 5, rng=rng(), bias=False, dtype=np.float64)
    x = rng(2).standard_normal((4, 3))
    np.testing.assert_allclose(layer(x).numpy(), x @ layer.weight.data, rtol=1e-14)
    assert [path for path, _ in layer.named_parameters()] == ["weight"]


@pytest.mark.parametrize("bias", [True, False])
def test_gradients(bias) -> None:
    check_module(Affine(3, 2, rng=rng(), bias=bias), rng(2).standard_normal((4, 3)))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int64, bool])
def test_computes_in_the_dtype_of_its_parameters(dtype) -> None:
    layer, x = Affine(3, 2, rng=rng()), np.array([[1, 0, 1]], dtype)
    result = layer(x)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.numpy(), layer(x.astype(np.float32)).numpy())


def test_the_gradient_comes_back_in_the_dtype_of_the_input() -> None:
    x = Tensor(np.ones((2, 3)), requires_grad=True)
    Affine(3, 2, rng=rng())(x).sum().backward()
    assert x.grad is not None and x.grad.dtype == np.float64


def test_bad_input() -> None:
    layer = Affine(3, 2, rng=rng())
    for shape in ((4, 2), (3, 4), ()):
        with pytest.raises(ShapeError, match=r"Affine\(3, 2\) needs x of shape \(\.\.\., 3\), got"):
            layer(np.ones(shape))
    with pytest.raises(DTypeError, match="complex128"):
        layer(np.ones((1, 3), complex))
    for sizes in ((0, 2), (2, -1), (2.0, 2), (True, 2)):
        with pytest.raises(ArgumentError, match=r"(in|out)_features must be a positive integer"):
            Affine(*sizes, rng=rng())
