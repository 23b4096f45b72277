"""minigrad's side of the training step: the model and the optimizer that users get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nn
from benchmarks.workload import BATCHES, SIZES, weights_and_batches
from models import ClassifierConfig, TransformerClassifier


def classifier(work: str, dtype: Any = np.float32) -> TransformerClassifier:
    """The workload's model with the workload's initial weights."""
    s = SIZES[work]
    config = ClassifierConfig(s.V, s.C, s.D, s.H, activation=s.activation)
    model = TransformerClassifier(config, rng=np.random.default_rng(0), dtype=dtype)
    weights, _ = weights_and_batches(work)
    model.load_state_dict({name: array.astype(dtype) for name, array in state_dict(weights).items()})
    return model


def state_dict(weights: dict[str, Any]) -> dict[str, Any]:
    """The workload's weights under the model's names."""
    state = {"embedding.weight": weights["E"], "norm.weight": weights["gf"], "norm.bias": weights["bf"]}
    state |= {"output.weight": weights["Wc"], "output.bias": weights["bc"]}
    affine = {
        "attention.query": "Wq bq",
        "attention.key": "Wk bk",
        "attention.value": "Wv bv",
        "attention.output": "Wo bo",
    }
    affine |= {"attention_norm": "g1 b1", "feed_forward_norm": "g2 b2"}
    affine |= {"feed_forward.hidden": "W1 c1", "feed_forward.output": "W2 c2"}
    for n in "01":
        for path, names in affine.items():
            weight, bias = names.split()
            state[f"layers.{n}.{path}.weight"] = weights[weight + n]
            state[f"layers.{n}.{path}.bias"] = weights[bias + n]
    return state


def training_step(work: str, dtype: str = "float32") -> Callable[[int], float]:
    """``step(i)`` trains on batch ``i`` and returns the loss."""
    model = classifier(work, np.dtype(dtype))
    _, batches = weights_and_batches(work)
    optimizer = nn.Adam(model.parameters(), lr=1e-3)

    def step(i: int) -> float:
        i %= BATCHES
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(batches["tok"][i], batches["mask"][i]), batches["y"][i])
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step
