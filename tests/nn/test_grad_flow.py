"""`minigrad.grad_flow` on modules, with `fit`."""

import itertools
from typing import Any

import numpy as np

import nn
from minigrad import Tensor, grad_flow

X = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
Y = X[:, :1] * 2


class Net(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        rng = np.random.default_rng(1)
        sizes = [3] + [4] * (layers - 1) + [1]
        self.layers = [nn.Affine(a, b, rng=rng) for a, b in itertools.pairwise(sizes)]

    def forward(self, x: Any) -> Tensor:
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)


def loss(model: Net, batch: Any) -> Tensor:
    x, y = batch
    return ((model(x) - y) ** 2).mean()


def test_fit_calls_on_step_after_each_update_with_the_gradients_there() -> None:
    model = Net()
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    history = nn.fit(model, nn.Batches([X, Y], 8, seed=0), loss, optimizer, epochs=2, progress=False, on_step=flow.step)
    assert flow.steps == list(range(len(history.losses))) == list(range(6))
    gradients, updates = flow.norms("gradient"), flow.norms("update")
    assert list(gradients) == ["layers.0", "layers.1"]
    for layer in gradients:
        np.testing.assert_allclose(updates[layer], 0.1 * gradients[layer], rtol=1e-5)
    assert [flag for flag in flow.flags() if flag.kind == "dead"] == []


def test_what_is_clipped_is_seen_clipped() -> None:
    model = Net()
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    batches = nn.Batches([X, Y], 8, seed=0)
    nn.fit(model, batches, loss, optimizer, epochs=1, progress=False, clip_norm=0.01, on_step=flow.step)
    np.testing.assert_allclose(np.hypot(*flow.norms().values()), 0.01, rtol=1e-4)
