"""A decoder as it is built today, with RMSNorm, SwiGLU, rotary positions, and keys and values that heads share.

Touvron et al. 2023, arXiv:2302.13971, section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real.work import F, Work, drawn, is_table, minigrad_training, models, nn, torch, torch_training
from benchmarks.step import Step
from benchmarks.workload import BATCHES


@dataclass(frozen=True)
class Sizes:
    """Batch, tokens, width, heads, heads of keys and values, width inside, layers, vocabulary."""

    B: int = 16
    L: int = 128
    D: int = 128
    H: int = 4
    KV: int = 2
    hidden: int = 344
    layers: int = 4
    V: int = 65


def data(s: Sizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, ids and the ids that follow them, each (8, B, L)."""
    shared = s.D * s.KV // s.H
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (s.V, s.D),
        "norm.weight": (s.D,),
        "output.weight": (s.D, s.V),
    }
    for n in range(s.layers):
        widths = {"attention.query": s.D, "attention.key": shared, "attention.value": shared, "attention.output": s.D}
        widths |= {"feed_forward.hidden": s.hidden, "feed_forward.gate": s.hidden}
        shapes |= {f"layers.{n}.{name}.weight": (s.D, width) for name, width in widths.items()}
        shapes[f"layers.{n}.feed_forward.output.weight"] = (s.hidden, s.D)
        shapes |= {f"layers.{n}.{name}_norm.weight": (s.D,) for name in ("attention", "feed_forward")}
    tokens = np.random.RandomState(8).randint(0, s.V, (BATCHES, s.B, s.L + 1)).astype(np.int64)
    return drawn(shapes), tokens[..., :-1], tokens[..., 1:]


def decoder_minigrad(s: Sizes) -> Step:
    weights, ids, following = data(s)
    config = models.GPTConfig(
        s.V, s.L, s.D, s.H, s.layers, s.hidden, positions="rotary", activation="swiglu", rms_norm=True, bias=False,
        tied=False, num_kv_heads=s.KV,
    )  # fmt: skip
    model = models.GPT(config, rng=np.random.default_rng(0))
    model.load_state_dict(weights)

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(model(ids[i % BATCHES]), following[i % BATCHES])

    return minigrad_training(model, loss_of, nn.AdamW(model.parameters(), lr=1e-3), clip=1.0)


def decoder_torch(s: Sizes) -> Step:
    weights, *batches = data(s)
    ids, following = map(torch.tensor, batches)
    turned = {name: array if array.ndim == 1 or is_table(name) else array.T for name, array in weights.items()}
    P = {name: torch.tensor(np.ascontiguousarray(array), requires_grad=True) for name, array in turned.items()}
    width = s.D // s.H
    angles = np.arange(s.L)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    cos, sin = (torch.tensor(f(angles).astype(np.float32)) for f in (np.cos, np.sin))

    def heads(x: Any, count: int) -> Any:
        return x.view(s.B, s.L, count, width).transpose(1, 2)

    def rotated(x: Any) -> Any:
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def loss_of(i: int) -> Any:
        x = F.embedding(ids[i % BATCHES], P["embedding.weight"])
        for n in range(s.layers):
            p = {name.removeprefix(f"layers.{n}."): t for name, t in P.items()}
            h = F.rms_norm(x, (s.D,), p["attention_norm.weight"], 1e-5)
            q, k, v = (F.linear(h, p[f"attention.{name}.weight"]) for name in ("query", "key", "value"))
            q, k, v = rotated(heads(q, s.H)), rotated(heads(k, s.KV)), heads(v, s.KV)
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + F.linear(o.transpose(1, 2).reshape(s.B, s.L, s.D), p["attention.output.weight"])
            h = F.rms_norm(x, (s.D,), p["feed_forward_norm.weight"], 1e-5)
            h = F.silu(F.linear(h, p["feed_forward.hidden.weight"])) * F.linear(h, p["feed_forward.gate.weight"])
            x = x + F.linear(h, p["feed_forward.output.weight"])
        scores = F.linear(F.rms_norm(x, (s.D,), P["norm.weight"], 1e-5), P["output.weight"])
        return F.cross_entropy(scores.flatten(0, 1), following[i % BATCHES].flatten())

    def gradients(P: dict[str, Any]) -> dict[str, Any]:
        return {name: p.grad.numpy() if turned[name] is weights[name] else p.grad.numpy().T for name, p in P.items()}

    return torch_training(P, loss_of, torch.optim.AdamW(P.values(), lr=1e-3), gradients, clip=1.0)


WORKS = {
    "decoder": Work(
        "decoder with RMSNorm, SwiGLU and rotary positions, training step", decoder_minigrad, decoder_torch, Sizes()
    )
}
