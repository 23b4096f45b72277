"""Residual connections and sequences of modules against PyTorch's, and what residuals do to the gradient of a deep net."""

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError, Tensor, relu
from nn import Affine, Dropout, LayerNorm, Module, MultiHeadAttention, Residual, Sequential
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_equals_pytorch, check_module, gradient, load, randomized, rng


class Scale(Module):
    """The one-number layer of the article: x times a weight."""

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def forward(self, x):
        return x * self.weight


@pytest.mark.parametrize(
    ("weight", "plain", "residual"), [(100.0, 1e6, 1_020_100.0), (0.01, 1e-6, 0.010201)], ids=["large", "small"]
)
def test_a_chain_of_three_layers(weight, plain, residual) -> None:
    """The gradient is w * w * w; with residuals around the second and the third layer, w * (1 + w) * (1 + w)."""
    for wrap, expected in ((lambda m: m, plain), (Residual, residual)):
        x = Tensor(1.0, requires_grad=True)
        Sequential(Scale(weight), *(wrap(Scale(weight)) for _ in range(2)))(x).backward()
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-12)


def test_residual_hands_on_what_else_it_gets() -> None:
    attention = MultiHeadAttention(6, 2, rng=rng(), dtype=np.float64)
    x, memory = rng(1).standard_normal((2, 4, 6)), rng(2).standard_normal((2, 5, 6))
    mask = np.arange(5) < np.array([[5], [3]])
    expected = x + attention(x, memory, key_mask=mask).numpy()
    np.testing.assert_array_equal(Residual(attention)(x, memory, key_mask=mask).numpy(), expected)


def net() -> Sequential:
    generator = rng()
    block = Sequential(
        Affine(5, 8, rng=generator, dtype=np.float64), relu, Affine(8, 5, rng=generator, dtype=np.float64)
    )
    return randomized(Sequential(Residual(block), LayerNorm(5, dtype=np.float64)))


def test_equals_pytorch() -> None:
    class TorchResidual(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, module) -> None:
            super().__init__()
            self.module = module

        def forward(self, x):
            return x + self.module(x)

    block = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5))
    theirs, ours = torch.nn.Sequential(TorchResidual(block), torch.nn.LayerNorm(5)), net()
    load(theirs, ours)
    x = rng(2).standard_normal((3, 5))
    assert_equals_pytorch(ours, theirs, x)


def test_gradients() -> None:
    check_module(Residual(Affine(3, 3, rng=rng())), rng(2).standard_normal((4, 3)))


def test_a_deep_net_keeps_its_gradient_with_residuals() -> None:
    norms = []
    for wrap in (lambda m: m, Residual):
        generator = rng()
        deep = Sequential(
            *(wrap(Sequential(Affine(16, 16, rng=generator, dtype=np.float64), np.tanh)) for _ in range(50))
        )
        for p in deep.parameters():
            p.data *= 0.3
        x = Tensor(rng(1).standard_normal((4, 16)), requires_grad=True)
        deep(x).sum().backward()
        norms.append(np.linalg.norm(gradient(x)))
    assert norms[0] < 1e-20 and 0.1 < norms[1] < 1e4


def test_sequential_finds_its_parameters_and_can_be_indexed() -> None:
    model = net()
    assert [path for path, _ in model.named_parameters()][:2] == [
        "layers.0.module.layers.0.weight",
        "layers.0.module.layers.0.bias",
    ]
    assert len(model) == 2 and list(model)[1] is model[1] is model.layers[1] and isinstance(model[-1], LayerNorm)
    assert not any(m.training for m in Sequential(Dropout(0.5, rng=rng())).eval().modules())
    x = rng(2).standard_normal((3, 5))
    assert_close(model(x).numpy(), model[1](model[0](Tensor(x))).numpy())
    assert Sequential()(x) is x


def test_bad_input() -> None:
    with pytest.raises(
        ShapeError, match=r"Residual's module must keep the shape: got \(3, 2\) for x of shape \(3, 5\)"
    ):
        Residual(Affine(5, 2, rng=rng()))(np.ones((3, 5)))
    with pytest.raises(ArgumentError, match=r"Sequential takes modules and functions, got \[.*\] as argument 1"):
        Sequential(relu, [relu])  # type: ignore[arg-type]
