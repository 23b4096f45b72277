"""The feed-forward network against PyTorch's functions."""

from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, silu
from nn import FeedForward, Module
from tests.lazy import based_on, torch
from tests.nn.layers import assert_equals_pytorch, check_module, load, randomized, rng

functional = torch.nn.functional

ACTIVATIONS: dict[str, Any] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "swiglu": functional.silu,
}


@based_on(torch.nn.Module)
class Theirs:
    def __init__(self, activation: str, bias: bool) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.hidden, self.output = torch.nn.Linear(3, 7, bias), torch.nn.Linear(7, 3, bias)
        if activation == "swiglu":
            self.gate = torch.nn.Linear(3, 7, bias)

    def forward(self, x):
        h = self.activation(self.hidden(x))
        return self.output(h * self.gate(x) if hasattr(self, "gate") else h)


class Identity(Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_equals_pytorch(activation, bias) -> None:
    ours = randomized(FeedForward(3, 7, activation=activation, bias=bias, rng=rng(), dtype=np.float64))
    theirs = load(Theirs(activation, bias), ours)
    x = rng(2).standard_normal((2, 4, 3))
    assert_equals_pytorch(ours, theirs, x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients(activation) -> None:
    check_module(FeedForward(3, 5, activation=activation, rng=rng()), rng(2).standard_normal((4, 3)))


def test_swiglu_by_hand() -> None:
    """(silu(x W) * (x V)) W_2: Shazeer 2020, eq. 6. Two thirds of the width make as many parameters as without a gate."""
    layer = randomized(FeedForward(3, 4, activation="swiglu", bias=False, rng=rng(), dtype=np.float64))
    x = rng(2).standard_normal((5, 3))
    w, v, out = (part.weight.data for part in (layer.hidden, layer.gate, layer.output))
    np.testing.assert_allclose(layer(x).numpy(), (x @ w / (1 + np.exp(-x @ w)) * (x @ v)) @ out, rtol=1e-12)
    assert layer.num_parameters == FeedForward(3, 6, bias=False, rng=rng()).num_parameters


def test_the_other_weights_of_a_seed_do_not_depend_on_the_gate() -> None:
    gated, plain = (FeedForward(3, 4, activation=a, rng=rng()).state_dict() for a in ("swiglu", "relu"))
    assert all(np.array_equal(gated[name], plain[name]) for name in plain) and len(gated) == len(plain) + 2


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_float32_stays_float32(activation) -> None:
    layer = FeedForward(3, 4, activation=activation, rng=rng())
    layer(np.ones((2, 3))).sum().backward()
    assert layer(np.ones((2, 3))).dtype == np.float32
    assert all(p.grad is not None and p.grad.dtype == np.float32 for p in layer.parameters())


def test_dropout_acts_on_the_hidden_layer_in_training_only() -> None:
    layer, x = FeedForward(3, 500, dropout=0.5, rng=rng()), rng(2).standard_normal((4, 3))
    layer.output = Identity()  # type: ignore[assignment]
    dropping, whole = layer(x).numpy(), layer.eval()(x).numpy()
    assert 0.4 < (dropping == 0)[whole > 0].mean() < 0.6
    np.testing.assert_allclose(dropping[dropping != 0], 2 * whole[dropping != 0], rtol=1e-6)


def test_an_unknown_activation_raises() -> None:
    """Also a function, a value that cannot be a name, and one that is assigned later."""
    with pytest.raises(
        ArgumentError, match="activation must be one of relu, gelu, gelu_tanh, silu, swiglu, got 'swish'"
    ):
        FeedForward(3, 7, activation="swish", rng=rng())
    wrong: list[Any] = [np.tanh, silu, ["relu"], None, 3]
    layer = FeedForward(3, 7, rng=rng())
    for value in wrong:
        with pytest.raises(ArgumentError, match="activation must be one of relu,"):
            FeedForward(3, 7, activation=value, rng=rng())
        layer.activation = value
        with pytest.raises(ArgumentError, match="activation must be one of relu,"):
            layer(np.ones((1, 3), np.float32))
    layer.activation = "swiglu"
    with pytest.raises(ArgumentError, match="swiglu needs the map gate"):
        layer(np.ones((1, 3), np.float32))
    layer.activation = "silu"
    np.testing.assert_allclose(
        layer(np.ones((1, 3), np.float32)).numpy(),
        FeedForward(3, 7, activation="silu", rng=rng())(np.ones((1, 3), np.float32)).numpy(),
    )
