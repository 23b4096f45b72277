"""PyTorch's side of the training step, eager, written as its users would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workload import BATCHES, SIZES, weights_and_batches


def training_step(work: str, dtype: str = "float32") -> Callable[[int], float]:
    """``step(i)`` trains on batch ``i`` and returns the loss; ``dtype="float64"`` is the reference of the tests."""
    import torch
    import torch.nn.functional as F

    s, kind = SIZES[work], getattr(torch, dtype)
    arrays, batches = weights_and_batches(work)
    P: dict[str, Any] = {name: torch.tensor(array, dtype=kind) for name, array in arrays.items()}
    for layer in "01":  # queries, keys and values in one product
        P["Wqkv" + layer] = torch.cat([P.pop(f"W{n}{layer}") for n in "qkv"], 1)
        P["bqkv" + layer] = torch.cat([P.pop(f"b{n}{layer}") for n in "qkv"], 0)
    P = {n: (p.t().contiguous() if n[0] == "W" else p).requires_grad_() for n, p in P.items()}  # torch: (out, in)
    tok, labels, positive = torch.tensor(batches["tok"]), torch.tensor(batches["y"]), torch.tensor(batches["mask"])
    mask, positions = positive.to(kind), torch.tensor(batches["pe"], dtype=kind)
    optimizer = torch.optim.Adam(P.values(), lr=1e-3)

    def activation(x: Any) -> Any:
        return F.relu(x) if s.activation == "relu" else F.gelu(x, approximate="tanh")

    def loss_of(i: int) -> Any:
        x = F.embedding(tok[i], P["E"]) + positions
        attend = positive[i][:, None, None, :]
        for n in "01":
            h = F.layer_norm(x, (s.D,), P["g1" + n], P["b1" + n])
            qkv = F.linear(h, P["Wqkv" + n], P["bqkv" + n]).view(s.B, s.L, 3, s.H, s.D // s.H)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            o = F.scaled_dot_product_attention(q, k, v, attn_mask=attend)
            x = x + F.linear(o.transpose(1, 2).reshape(s.B, s.L, s.D), P["Wo" + n], P["bo" + n])
            h = F.layer_norm(x, (s.D,), P["g2" + n], P["b2" + n])
            x = x + F.linear(activation(F.linear(h, P["W1" + n], P["c1" + n])), P["W2" + n], P["c2" + n])
        x = F.layer_norm(x, (s.D,), P["gf"], P["bf"])
        pooled = (x * mask[i][..., None]).sum(1) / mask[i].sum(1, keepdim=True)
        return F.cross_entropy(F.linear(pooled, P["Wc"], P["bc"]), labels[i])

    def step(i: int) -> float:
        optimizer.zero_grad()
        loss = loss_of(i % BATCHES)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step
