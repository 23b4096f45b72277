"""PyTorch's side, eager, written as its users would."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks import micro, real
from benchmarks.step import Gradients, Step
from benchmarks.workload import BATCHES, Sizes, sizes, weights_and_batches

Parameters = dict[str, Any]

FUNCTIONS = micro.Functions(
    leaf=partial(torch.tensor, requires_grad=True),
    cotangent=torch.tensor,
    relu=F.relu,
    gelu=partial(F.gelu, approximate="tanh"),
    softmax=partial(F.softmax, dim=-1),
    layer_norm=lambda x, gain, bias: F.layer_norm(x, x.shape[-1:], gain, bias),
    attention=F.scaled_dot_product_attention,
)
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


def parameters(arrays: dict[str, Any], s: Sizes, **options: Any) -> Parameters:
    """The workload's weights as PyTorch has them: queries, keys and values in one product, (out, in)."""
    P = {name: torch.tensor(array, **options) for name, array in arrays.items()}
    for layer in range(s.layers):
        P[f"Wqkv{layer}"] = torch.cat([P.pop(f"W{n}{layer}") for n in "qkv"], 1)
        P[f"bqkv{layer}"] = torch.cat([P.pop(f"b{n}{layer}") for n in "qkv"], 0)
    return {n: (p.t().contiguous() if n[0] == "W" else p).requires_grad_() for n, p in P.items()}


def gradients(P: Parameters) -> Gradients:
    """Under the workload's names and in its shapes."""
    found: Gradients = {}
    for name, p in P.items():
        g = p.grad.cpu().numpy()
        g = g.T if name[0] == "W" else g
        if "qkv" in name:
            found |= {name.replace("qkv", n): part for n, part in zip("qkv", np.split(g, 3, axis=-1))}
        else:
            found[name] = g
    return found


def layers(x: Any, P: Parameters, s: Sizes, **mask: Any) -> Any:
    """The Transformer's layers and the last LayerNorm."""
    B, L, D = x.shape
    for n in range(s.layers):
        h = F.layer_norm(x, (D,), P[f"g1{n}"], P[f"b1{n}"])
        qkv = F.linear(h, P[f"Wqkv{n}"], P[f"bqkv{n}"]).view(B, L, 3, s.H, D // s.H)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, **mask)
        x = x + F.linear(o.transpose(1, 2).reshape(B, L, D), P[f"Wo{n}"], P[f"bo{n}"])
        h = F.layer_norm(x, (D,), P[f"g2{n}"], P[f"b2{n}"])
        h = ACTIVATIONS[s.activation](F.linear(h, P[f"W1{n}"], P[f"c1{n}"]))
        x = x + F.linear(h, P[f"W2{n}"], P[f"c2{n}"])
    return F.layer_norm(x, (D,), P["gf"], P["bf"])


def classifier_loss(P: Parameters, s: Sizes, batches: dict[str, Any]) -> Callable[[int], Any]:
    positive = batches["mask"]
    mask, order = positive.to(P["E"].dtype), torch.ones(s.L, s.L, dtype=torch.bool, device=positive.device).tril()

    def loss_of(i: int) -> Any:
        attend = positive[i][:, None, None, :]
        x = F.embedding(batches["tok"][i], P["E"]) + batches["pe"]
        x = layers(x, P, s, attn_mask=attend & order if s.causal else attend)
        pooled = (x * mask[i][..., None]).sum(1) / mask[i].sum(1, keepdim=True)
        return F.cross_entropy(F.linear(pooled, P["Wc"], P["bc"]), batches["y"][i])

    return loss_of


def gpt_loss(P: Parameters, s: Sizes, batches: dict[str, Any]) -> Callable[[int], Any]:
    def loss_of(i: int) -> Any:
        x = layers(F.embedding(batches["tok"][i], P["E"]) + P["P"], P, s, is_causal=True)
        return F.cross_entropy(F.linear(x, P["E"]).flatten(0, 1), batches["y"][i].flatten())

    return loss_of


def build(work: str, *, dtype: str = "float32", device: str = "cpu", tf32: bool = False) -> Step:
    """``dtype="float64"`` is the reference of the tests."""
    if micro.is_micro(work):
        return micro.build(work, FUNCTIONS)
    if real.is_real(work):
        return real.build(work, "torch")
    if device != "cpu" and not torch.cuda.is_available():
        raise RuntimeError(f"device='{device}': PyTorch {torch.__version__} finds no GPU that it can use")
    torch.backends.cuda.matmul.allow_tf32 = tf32
    s, kind = sizes(work), getattr(torch, dtype)
    arrays, drawn = weights_and_batches(work)
    P = parameters(arrays, s, dtype=kind, device=device)
    batches = {n: torch.tensor(a, dtype=kind if n == "pe" else None, device=device) for n, a in drawn.items()}
    loss_of = (gpt_loss if s.gpt else classifier_loss)(P, s, batches)
    optimizer = torch.optim.Adam(P.values(), lr=1e-3)

    def run(i: int) -> Any:
        optimizer.zero_grad()
        loss = loss_of(i % BATCHES)
        loss.backward()
        optimizer.step()
        return loss

    step = Step(run, lambda: gradients(P))
    if device != "cpu":
        step.wait, step.device = torch.cuda.synchronize, torch.cuda.get_device_name()
        step.device_bytes = torch.cuda.max_memory_reserved
    return step


def training_step(work: str, dtype: str = "float32") -> Callable[[int], float]:
    """``step(i)`` trains on batch ``i`` and returns the loss."""
    return build(work, dtype=dtype).loss
