"""The layers of a Transformer as PyTorch's users write them with its functions, under the names of minigrad's parameters.

Queries, keys and values are one product (in cross-attention keys and values are), whose weight is named after its parts:
``"layers.0.attention.query+key+value.weight"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.real.work import F, is_table, torch

Parameters = dict[str, Any]


def layer_shapes(path: str, D: int, hidden: int, *, cross: bool = False) -> dict[str, tuple[int, ...]]:
    """The parameters of one encoder layer, or of one decoder layer, by minigrad's names."""
    shapes: dict[str, tuple[int, ...]] = {}
    for attention in ("attention", "cross_attention") if cross else ("attention",):
        shapes |= {f"{path}.{attention}_norm.weight": (D,), f"{path}.{attention}_norm.bias": (D,)}
        for part in ("query", "key", "value", "output"):
            shapes |= {f"{path}.{attention}.{part}.weight": (D, D), f"{path}.{attention}.{part}.bias": (D,)}
    shapes |= {f"{path}.feed_forward_norm.weight": (D,), f"{path}.feed_forward_norm.bias": (D,)}
    shapes |= {f"{path}.feed_forward.hidden.weight": (D, hidden), f"{path}.feed_forward.hidden.bias": (hidden,)}
    return shapes | {f"{path}.feed_forward.output.weight": (hidden, D), f"{path}.feed_forward.output.bias": (D,)}


def parameters(arrays: dict[str, Any]) -> Parameters:
    """minigrad's weights as PyTorch has them: packed, and (out, in)."""
    found = dict(arrays)
    for query in [name for name in arrays if name.endswith("attention.query.weight")]:
        path = query.removesuffix("query.weight")
        parts = ("key", "value") if path.endswith("cross_attention.") else ("query", "key", "value")
        for kind in ("weight", "bias"):
            packed = [found.pop(f"{path}{part}.{kind}") for part in parts]
            found[f"{path}{'+'.join(parts)}.{kind}"] = np.concatenate(packed, axis=-1)
    turned = {name: array.T if _is_turned(name, array) else array for name, array in found.items()}
    return {name: torch.tensor(np.ascontiguousarray(array), requires_grad=True) for name, array in turned.items()}


def gradients(P: Parameters) -> dict[str, Any]:
    """Of PyTorch's parameters, under minigrad's names and in its shapes."""
    found: dict[str, Any] = {}
    for name, p in P.items():
        g = p.grad.numpy()
        g = g.T if _is_turned(name, g) else g
        path, _, rest = name.rpartition(".")
        path, _, parts = path.rpartition(".")
        if "+" in parts:
            each = parts.split("+")
            found |= {f"{path}.{part}.{rest}": one for part, one in zip(each, np.split(g, len(each), axis=-1))}
        else:
            found[name] = g
    return found


def _is_turned(name: str, array: Any) -> bool:
    return array.ndim == 2 and not is_table(name)


def affine(x: Any, P: Parameters, path: str) -> Any:
    return F.linear(x, P[f"{path}.weight"], P[f"{path}.bias"])


def norm(x: Any, P: Parameters, path: str, eps: float = 1e-5) -> Any:
    return F.layer_norm(x, x.shape[-1:], P[f"{path}.weight"], P[f"{path}.bias"], eps)


def attention(x: Any, P: Parameters, path: str, heads: int, memory: Any = None, **mask: Any) -> Any:
    """Of ``x`` to itself, or to ``memory``."""
    B, L, D = x.shape
    if memory is None:
        packed = affine(x, P, f"{path}.query+key+value").view(B, L, 3, heads, D // heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4)
    else:
        q = affine(x, P, f"{path}.query").view(B, L, heads, D // heads).transpose(1, 2)
        packed = affine(memory, P, f"{path}.key+value").view(B, memory.shape[1], 2, heads, D // heads)
        k, v = packed.permute(2, 0, 3, 1, 4)
    o = F.scaled_dot_product_attention(q, k, v, **mask)
    return affine(o.transpose(1, 2).reshape(B, L, D), P, f"{path}.output")


def feed_forward(x: Any, P: Parameters, path: str, activation: Any, dropout: float = 0.0) -> Any:
    h = activation(affine(x, P, f"{path}.hidden"))
    return affine(dropped(h, dropout), P, f"{path}.output")


def dropped(x: Any, p: float) -> Any:
    return F.dropout(x, p) if p else x
