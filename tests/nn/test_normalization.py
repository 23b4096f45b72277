"""LayerNorm against PyTorch's."""

import numpy as np
import pytest
import torch

from minigrad import ArgumentError, ShapeError, Tensor
from nn import LayerNorm
from tests.nn.layers import assert_same, check_module, load, norm_state, randomized, rng, to_torch, value


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_equals_pytorch(shape, eps) -> None:
    ours = randomized(LayerNorm(5, eps=eps, dtype=np.float64))
    theirs = load(torch.nn.LayerNorm(5, eps=eps), norm_state(ours, value))
    x = rng(2).standard_normal(shape)
    tensor, torch_tensor = Tensor(x, requires_grad=True), to_torch(x, True)
    assert_same([ours(tensor), tensor], [theirs(torch_tensor), torch_tensor], (ours, theirs), norm_state)


def test_starts_as_plain_normalization() -> None:
    y = LayerNorm(8)(rng().standard_normal((4, 8)) * 3 + 5).numpy()
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(y.std(-1), 1, rtol=1e-5)


def test_gradients() -> None:
    check_module(randomized(LayerNorm(5)), rng(2).standard_normal((3, 5)))


def test_bad_input() -> None:
    for shape in ((3, 4), ()):
        with pytest.raises(ShapeError, match=r"LayerNorm\(5\) needs x of shape \(\.\.\., 5\), got"):
            LayerNorm(5)(np.ones(shape))
    for eps in (-1e-5, float("nan")):
        with pytest.raises(ArgumentError, match="eps"):
            LayerNorm(5, eps=eps)
    with pytest.raises(ArgumentError, match="d_model must be a positive integer, got 0"):
        LayerNorm(0)
