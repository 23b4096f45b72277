"""PyTorch's GPT that writes: modules, ``no_grad`` and a cache of keys and values, as its users have them.

Imported in PyTorch's process only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from benchmarks.workload import Sizes

Cache = list[Any]  # for each layer the keys and values so far, or None


class Block(nn.Module):  # type: ignore[misc]
    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.heads = s.H
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(s.D), nn.LayerNorm(s.D)
        self.packed, self.output = nn.Linear(s.D, 3 * s.D), nn.Linear(s.D, s.D)
        self.feed_forward = nn.Sequential(nn.Linear(s.D, 4 * s.D), nn.GELU(), nn.Linear(4 * s.D, s.D))

    def forward(self, x: Any, past: Any) -> tuple[Any, Any]:
        B, L, D = x.shape
        packed = self.packed(self.attention_norm(x)).view(B, L, 3, self.heads, D // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.output(o.transpose(1, 2).reshape(B, L, D))
        return x + self.feed_forward(self.feed_forward_norm(x)), (k, v)


class GPT(nn.Module):  # type: ignore[misc]
    def __init__(self, s: Sizes, weights: dict[str, Any]) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(s.V, s.D), nn.Embedding(s.L, s.D)
        self.blocks = nn.ModuleList([Block(s) for _ in range(s.layers)])
        self.norm = nn.LayerNorm(s.D)
        self._load({name: torch.tensor(array) for name, array in weights.items()})

    def _load(self, P: dict[str, Any]) -> None:
        """Weights under the workload's names, (in, out)."""
        pairs = [(self.embedding.weight, P["E"]), (self.positions.weight, P["P"])]
        pairs += [(self.norm.weight, P["gf"]), (self.norm.bias, P["bf"])]
        for n, block in enumerate(self.blocks):
            first, _, second = block.feed_forward
            packed = [torch.cat([P[f"{kind}{part}{n}"] for part in "qkv"], -1) for kind in "Wb"]
            for module, (weight, bias) in {
                block.attention_norm: (P[f"g1{n}"], P[f"b1{n}"]),
                block.feed_forward_norm: (P[f"g2{n}"], P[f"b2{n}"]),
                block.packed: packed,
                block.output: (P[f"Wo{n}"], P[f"bo{n}"]),
                first: (P[f"W1{n}"], P[f"c1{n}"]),
                second: (P[f"W2{n}"], P[f"c2{n}"]),
            }.items():
                pairs += [(module.weight, weight.t() if weight.ndim == 2 else weight), (module.bias, bias)]
        with torch.no_grad():
            for parameter, value in pairs:
                parameter.copy_(value)

    def forward(self, ids: Any, caches: Cache) -> Any:
        """The scores of the token after each of ``ids``; ``caches`` grow by their keys and values."""
        seen = 0 if caches[0] is None else caches[0][0].shape[2]
        x = self.embedding(ids) + self.positions(torch.arange(seen, seen + ids.shape[1]))
        for n, block in enumerate(self.blocks):
            x, caches[n] = block(x, caches[n])
        return F.linear(self.norm(x), self.embedding.weight)

    def new_caches(self) -> Cache:
        return [None] * len(self.blocks)

    def write(self, ids: Any, count: int, choose: Callable[[Any], Any]) -> Any:
        """(batch, count) tokens, each chosen from the scores (batch, vocabulary) by ``choose``."""
        caches, tokens = self.new_caches(), []
        with torch.no_grad():
            for _ in range(count):
                ids = choose(self(ids, caches)[:, -1])
                tokens.append(ids)
        return torch.cat(tokens, 1)
