"""Small programs for drawings and pages: each returns a loss, and names for its leaves. Lines of this file are shown."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
import models
import nn

Named = tuple[Any, dict[str, Any]]


def leaf(value: Any, name: str | None = None) -> Any:
    return mg.Tensor(value, requires_grad=True, name=name)


def neuron() -> Named:
    w, x, b = leaf(0.5), leaf(0.8), leaf(0.1)
    u = w * x + b
    s = np.tanh(u)
    return s * s + u * w, {"w": w, "x": x, "b": b}


def layer_by_hand() -> Named:
    rng = np.random.default_rng(0)
    x, w, b = leaf(rng.normal(size=(4, 3))), leaf(rng.normal(size=(3, 2))), leaf(rng.normal(size=2))
    h = np.tanh(x @ w + b)
    return ((h - 1.0) ** 2).mean(), {"x": x, "w": w, "b": b}


def loop() -> Named:
    w, start = leaf([[0.5, 0.1], [-0.3, 0.4]]), leaf([0.1, 0.2])
    h = start
    for i in range(40):
        h = np.tanh(h @ w + 0.01 * i)
    return (h * h).sum(), {"w": w, "start": start}


def square(v: Any) -> Any:
    return v * v


def called_twice() -> Named:
    a, b = leaf(2.0), leaf(3.0)
    return np.sqrt(square(a) + square(b)), {"a": a, "b": b}


def reused_module() -> Named:
    rng = np.random.default_rng(1)
    block = nn.Sequential(nn.Affine(3, 3, rng=rng), nn.LayerNorm(3))
    x = leaf(rng.normal(size=(2, 3)).astype(np.float32), "x")
    return (block(np.tanh(block(x))) ** 2).mean(), dict(block.named_parameters())


def transformer() -> Named:
    rng = np.random.default_rng(0)
    model = models.TwoLayerTransformer(models.TwoLayerConfig(3, 4, 2, std=0.5), rng=rng)
    loss = model.loss(rng.normal(size=(2, 3, 3)).astype(np.float32), np.eye(2, dtype=np.float32))
    return loss, dict(model.named_parameters())


def second_order() -> Named:
    x = leaf(0.7)
    y = np.sin(x) * x
    (slope,) = mg.autograd_grad(y, [x], create_graph=True)
    return slope * slope, {"x": x}


def indexing() -> Named:
    x = leaf(np.arange(12.0).reshape(3, 4) / 10)
    picked = x[1:, ::2]
    left, right = np.split(x.T.reshape(2, 6), 2, axis=1)
    return np.einsum("ij,kj->", picked, picked) + x[0].max() + (left * right).sum(), {"x": x}


def hostile_names() -> Named:
    重み, x = leaf(0.5, "重み"), leaf(1.5, "</script><b onclick=alert(1)>")
    予測 = 重み * x
    return (予測 - 1.0) ** 2, {"重み": 重み}


def not_a_number() -> Named:
    x, y = leaf(1.0), leaf(2.0)
    with warnings.catch_warnings(action="ignore"):
        r = np.sqrt(x - y)
    return r * x + y, {"x": x, "y": y}


def classifier() -> Named:
    rng = np.random.default_rng(2)
    table, cell = nn.Embedding(7, 4, rng=rng), nn.GRU(4, 5, rng=rng)
    out = nn.Affine(5, 3, rng=rng)
    hidden, _ = cell(table(np.array([[1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1]])))
    names = {"table": table.weight, "out": out.weight}
    return nn.cross_entropy(out(hidden[:, -1]), np.array([0, 2])), names


def image() -> Named:
    rng = np.random.default_rng(3)
    net = nn.Sequential(nn.Conv2d(1, 2, 3, rng=rng), nn.MaxPool2d(2), nn.Flatten())
    return (mg.relu(net(rng.normal(size=(1, 1, 6, 6)).astype(np.float32))) ** 2).sum(), dict(net.named_parameters())


PROGRAMS: list[Callable[[], Named]] = [
    neuron, layer_by_hand, loop, called_twice, reused_module, transformer, second_order, indexing, hostile_names,
    not_a_number, classifier, image,
]  # fmt: skip
