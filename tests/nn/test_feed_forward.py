"""The feed-forward network against PyTorch's functions."""

import numpy as np
import pytest
import torch

from minigrad import ArgumentError, Tensor
from nn import FeedForward, Module
from tests.nn.layers import assert_same, check_module, linear_state, load, prefixed, randomized, rng, to_torch, value

ACTIVATIONS = {"relu": torch.nn.ReLU(), "gelu": torch.nn.GELU(), "gelu_tanh": torch.nn.GELU(approximate="tanh")}


class Identity(Module):
    def forward(self, x):
        return x


def state(layer: FeedForward, of) -> dict[str, np.ndarray]:
    return prefixed("0", linear_state(layer.hidden, of)) | prefixed("2", linear_state(layer.output, of))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_equals_pytorch(activation) -> None:
    ours = randomized(FeedForward(3, 7, activation=activation, rng=rng(), dtype=np.float64))
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 7), ACTIVATIONS[activation], torch.nn.Linear(7, 3))
    load(theirs, state(ours, value))
    x = rng(2).standard_normal((2, 4, 3))
    tensor, torch_tensor = Tensor(x, requires_grad=True), to_torch(x, True)
    assert_same([ours(tensor), tensor], [theirs(torch_tensor), torch_tensor], (ours, theirs), state)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients(activation) -> None:
    check_module(FeedForward(3, 5, activation=activation, rng=rng()), rng(2).standard_normal((4, 3)))


def test_dropout_acts_on_the_hidden_layer_in_training_only() -> None:
    layer, x = FeedForward(3, 500, dropout=0.5, rng=rng()), rng(2).standard_normal((4, 3))
    layer.output = Identity()  # type: ignore[assignment]
    dropping, whole = layer(x).numpy(), layer.eval()(x).numpy()
    assert 0.4 < (dropping == 0)[whole > 0].mean() < 0.6
    np.testing.assert_allclose(dropping[dropping != 0], 2 * whole[dropping != 0], rtol=1e-6)


def test_an_unknown_activation_raises() -> None:
    with pytest.raises(ArgumentError, match="activation must be one of relu, gelu, gelu_tanh, got 'swish'"):
        FeedForward(3, 7, activation="swish", rng=rng())
