"""What the tests of mixed precision share: small models, and an optimizer with its MixedPrecision."""

from typing import Any

import numpy as np

import minigrad as mg
import nn
from nn import MixedPrecision, Module, Parameter
from tests.nn.layers import rng


class Net(Module):
    """Two layers with a norm between."""

    def __init__(self, seed: int = 0) -> None:
        generator = rng(seed)
        self.hidden, self.norm = nn.Affine(4, 16, rng=generator), nn.LayerNorm(16)
        self.output = nn.Affine(16, 2, rng=generator)

    def forward(self, x: Any) -> Any:
        return self.output(mg.gelu(self.norm(self.hidden(x))))


class Weights(Module):
    """Nothing but a vector."""

    def __init__(self, values: Any) -> None:
        self.w = Parameter(np.array(values, np.float32))

    def forward(self) -> Any:
        return self.w


def mixed(model: Module, make: Any = lambda p: nn.SGD(p, 0.1), **settings: Any) -> tuple[Any, MixedPrecision]:
    optimizer = make(model.parameters())
    return optimizer, MixedPrecision(model, optimizer, **settings)


def gradients(model: Module) -> dict[str, np.ndarray]:
    return {path: p.grad.numpy() for path, p in model.named_parameters() if p.grad is not None}
