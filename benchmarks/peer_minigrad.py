"""minigrad's side: the models and the optimizer that users get."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import minigrad
import nn
from benchmarks import calls, micro, real
from benchmarks.step import Gradients, Step
from benchmarks.workload import BATCHES, Sizes, sizes, weights_and_batches
from minigrad.device import to_device, to_host
from models import GPT, ClassifierConfig, GPTConfig, TransformerClassifier

FUNCTIONS = micro.Functions(
    leaf=partial(minigrad.Tensor, requires_grad=True),
    cotangent=np.asarray,
    relu=minigrad.relu,
    gelu=partial(minigrad.gelu, approximate="tanh"),
    softmax=minigrad.softmax,
    layer_norm=minigrad.layer_norm,
    attention=minigrad.scaled_dot_product_attention,
)


class CausalClassifier(TransformerClassifier):
    """The classifier with layers in which no token sees those after it."""

    def forward(self, ids: Any, mask: Any = None) -> minigrad.Tensor:
        x, key_mask = self._embedded(ids, mask)
        for layer in self.layers:
            x = layer(x, key_mask=key_mask, causal=True)
        assert self.norm is not None
        return self.output(nn.pool(self.norm(x), key_mask))


def model_of(work: str | Sizes, dtype: Any = np.float32) -> nn.Module:
    """The workload's model with the workload's initial weights."""
    s = sizes(work)
    settings: dict[str, Any] = {"d_model": s.D, "num_heads": s.H, "num_layers": s.layers, "activation": s.activation}
    rng = np.random.default_rng(0)
    model: nn.Module
    if s.gpt:
        model = GPT(GPTConfig(s.V, s.L, **settings), rng=rng, dtype=dtype)
    else:
        kind = CausalClassifier if s.causal else TransformerClassifier
        model = kind(ClassifierConfig(s.V, s.C, **settings), rng=rng, dtype=dtype)
    weights, _ = weights_and_batches(work)
    model.load_state_dict({path: weights[name].astype(dtype) for path, name in names(s).items()})
    return model


def names(s: Sizes) -> dict[str, str]:
    """The workload's name of each of the model's parameters."""
    found = {"embedding.weight": "E", "norm.weight": "gf", "norm.bias": "bf"}
    found |= {"positions.weight": "P"} if s.gpt else {"output.weight": "Wc", "output.bias": "bc"}
    parts = {
        "attention.query": "Wq bq",
        "attention.key": "Wk bk",
        "attention.value": "Wv bv",
        "attention.output": "Wo bo",
        "attention_norm": "g1 b1",
        "feed_forward_norm": "g2 b2",
        "feed_forward.hidden": "W1 c1",
        "feed_forward.output": "W2 c2",
    }
    for layer in range(s.layers):
        for path, pair in parts.items():
            weight, bias = pair.split()
            found[f"layers.{layer}.{path}.weight"] = f"{weight}{layer}"
            found[f"layers.{layer}.{path}.bias"] = f"{bias}{layer}"
    return found


def build(work: str, *, dtype: str = "float32", device: str = "cpu", tf32: bool = False) -> Step:
    """``tf32`` is CuPy's to decide: the worker sets CUPY_TF32 before CuPy is imported."""
    if work in calls.CALLS:
        return calls.build(work)
    if micro.is_micro(work):
        return micro.build(work, FUNCTIONS)
    if real.is_real(work):
        return real.build(work, "minigrad")
    s, model = sizes(work), model_of(work, np.dtype(dtype)).to(device)
    _, batches = weights_and_batches(work)
    tok, labels, mask = (to_device(batches[n], device) if n in batches else None for n in ("tok", "y", "mask"))
    optimizer = nn.Adam(model.parameters(), lr=1e-3)

    def run(i: int) -> minigrad.Tensor:
        i %= BATCHES
        optimizer.zero_grad()
        scores = model(tok[i]) if s.gpt else model(tok[i], mask[i])  # type: ignore[index]
        loss = nn.cross_entropy(scores, labels[i])  # type: ignore[index]
        loss.backward()
        optimizer.step()
        return loss

    def gradients() -> Gradients:
        called = names(s)
        return {called[path]: to_host(p.grad.data).copy() for path, p in model.named_parameters() if p.grad is not None}

    step = Step(run, gradients)
    if device != "cpu":
        _say_what_the_gpu_does(step)
    return step


def _say_what_the_gpu_does(step: Step) -> None:
    cupy = minigrad.errors.import_extra("cupy", "gpu", "device='cuda'")
    step.wait = cupy.cuda.Device().synchronize
    step.device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    step.device_bytes = cupy.get_default_memory_pool().total_bytes


def training_step(work: str, dtype: str = "float32") -> Callable[[int], float]:
    """``step(i)`` trains on batch ``i`` and returns the loss."""
    return build(work, dtype=dtype).loss
