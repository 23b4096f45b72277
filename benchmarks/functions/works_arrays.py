"""Reductions, functions of shape and place, and products."""

from __future__ import annotations

import numpy as np

from benchmarks.functions.inputs import (
    batch_of_matrices,
    between,
    column_vector,
    cube,
    heads,
    kernel,
    knots,
    labels,
    normal,
    places,
    row_vector,
    tenth,
    triples,
    vector,
)
from benchmarks.functions.lazy import F, mg, torch
from benchmarks.functions.work import add

positive = between(0.5, 2)

# Reductions
for name in ("sum", "mean", "max", "min", "prod", "std", "var"):
    in_torch = {"max": "amax", "min": "amin"}.get(name, name)
    data = between(0.9, 1.1) if name == "prod" else normal
    options = {"correction": 0} if name in ("std", "var") else {}
    add(
        f"{name}, axis=-1",
        lambda x, name=name: getattr(np, name)(x, axis=-1),
        lambda x, name=in_torch, options=options: getattr(torch, name)(x, dim=-1, **options),
        data,
    )
    add(
        f"{name}, axis=0",
        lambda x, name=name: getattr(np, name)(x, axis=0),
        lambda x, name=in_torch, options=options: getattr(torch, name)(x, dim=0, **options),
        data,
    )
add("sum", lambda x: np.sum(x), lambda x: torch.sum(x))
add("mean", lambda x: np.mean(x), lambda x: torch.mean(x))
add("max", lambda x: np.max(x), lambda x: torch.max(x))
add("var", lambda x: np.var(x), lambda x: torch.var(x, correction=0))
add("average", lambda x, w: np.average(x, axis=-1, weights=w), None, normal, positive)
add("cov", lambda x: np.cov(x), lambda x: torch.cov(x))
add("corrcoef", lambda x: np.corrcoef(x), lambda x: torch.corrcoef(x))
add("polyfit", lambda x, y: np.polyfit(x, y, 3), None, knots, tenth)
add("polyval", lambda p, x: np.polyval(p, x), None, kernel, between(-1, 1))
add("interp", lambda x, xp, fp: np.interp(x, xp, fp), None, normal, knots, tenth)
add("ptp", lambda x: np.ptp(x, axis=-1), None)
for name in ("nansum", "nanmean", "nanmax", "nanmin", "nanprod", "nanstd", "nanvar"):
    add(
        name,
        lambda x, name=name: getattr(np, name)(x, axis=-1),
        lambda x, name=name: getattr(torch, name)(x, dim=-1),
        between(0.9, 1.1) if name == "nanprod" else normal,
        has_torch=name in ("nansum", "nanmean"),
    )
add("cumsum", lambda x: np.cumsum(x, axis=-1), lambda x: torch.cumsum(x, -1))
add("cumsum, axis=0", lambda x: np.cumsum(x, axis=0), lambda x: torch.cumsum(x, 0))
add("cumprod", lambda x: np.cumprod(x, axis=-1), lambda x: torch.cumprod(x, -1), between(0.9, 1.1))
add("median", lambda x: np.median(x, axis=-1), lambda x: torch.quantile(x, 0.5, dim=-1))
add("quantile", lambda x: np.quantile(x, 0.3, axis=-1), lambda x: torch.quantile(x, 0.3, dim=-1))
add("sort", lambda x: np.sort(x, axis=-1), lambda x: torch.sort(x, -1)[0])
add("partition", lambda x: np.partition(x, 5, axis=-1), None)
add("diff", lambda x: np.diff(x), lambda x: torch.diff(x))
add("gradient", lambda x: np.gradient(x, axis=-1), lambda x: torch.gradient(x, dim=-1)[0])
add("trapezoid", lambda x: np.trapezoid(x), lambda x: torch.trapezoid(x))
add("logsumexp", lambda x: mg.logsumexp(x, axis=-1), lambda x: torch.logsumexp(x, -1))

# Shapes and places
add("reshape", lambda x: x.reshape(-1), lambda x: x.reshape(-1))
add("transpose", lambda x: np.transpose(x), lambda x: x.T)
add("swapaxes", lambda x: np.swapaxes(x, 0, 1), lambda x: torch.swapaxes(x, 0, 1))
add("expand_dims", lambda x: np.expand_dims(x, 1), lambda x: torch.unsqueeze(x, 1))
add("squeeze", lambda x: np.squeeze(x[None], 0), lambda x: torch.squeeze(x[None], 0))
add("broadcast_to", lambda x: np.broadcast_to(x, (2, *x.shape)), lambda x: torch.broadcast_to(x, (2, *x.shape)))
add("copy", lambda x: np.copy(x), lambda x: torch.clone(x))
add("flip", lambda x: np.flip(x, -1), lambda x: torch.flip(x, (-1,)))
add("roll", lambda x: np.roll(x, 3, axis=-1), lambda x: torch.roll(x, 3, -1))
add("repeat", lambda x: np.repeat(x, 3, axis=0), lambda x: torch.repeat_interleave(x, 3, 0))
add("tile", lambda x: np.tile(x, (2, 1)), lambda x: torch.tile(x, (2, 1)))
add("pad", lambda x: np.pad(x, 1), lambda x: F.pad(x, (1, 1, 1, 1)))
add("pad, reflect", lambda x: np.pad(x, 1, "reflect"), lambda x: F.pad(x[None], (1, 1, 1, 1), "reflect")[0])
add("concatenate", lambda x, y: np.concatenate([x, y]), lambda x, y: torch.cat([x, y]), normal, normal)
add("stack", lambda x, y: np.stack([x, y]), lambda x, y: torch.stack([x, y]), normal, normal)
add("split", lambda x: np.split(x, 2, axis=1)[0], lambda x: torch.tensor_split(x, 2, 1)[0])
add("tril", lambda x: np.tril(x), lambda x: torch.tril(x))
add("triu", lambda x: np.triu(x), lambda x: torch.triu(x))
add("diagonal", lambda x: np.diagonal(x, axis1=0, axis2=1), lambda x: torch.diagonal(x))
add("x[1:, ::2]", lambda x: x[1:, ::2], lambda x: x[1:, ::2])
add(
    "x[i], rows",
    lambda i, x: x[i[:, 0]],
    lambda i, x: x[i[:, 0]],
    lambda r, n: places(r, n) % normal(r, n).shape[0],
    normal,
)
add(
    "take, embedding",
    lambda i, x: np.take(x, i, axis=0),
    lambda i, x: F.embedding(i, x),
    labels,
    lambda r, n: normal(r, n).T.copy(),
)
add(
    "take_along_axis",
    lambda i, x: np.take_along_axis(x, i, -1),
    lambda i, x: torch.take_along_dim(x, i, -1),
    places,
    normal,
)
add(
    "at[].set",
    lambda x, y: x.at[1:].set(y[1:]) if hasattr(x, "at") else x,
    lambda x, y: torch.cat([x[:1], y[1:]]),
    normal,
    normal,
)
add(
    "at[].add",
    lambda x, y: x.at[1:].add(y[1:]) if hasattr(x, "at") else x,
    lambda x, y: x + F.pad(y[1:], (0, 0, 1, 0)),
    normal,
    normal,
)
add(
    "at[].multiply",
    lambda x, y: x.at[1:].multiply(y[1:]) if hasattr(x, "at") else x,
    lambda x, y: torch.cat([x[:1], x[1:] * y[1:]]),
    normal,
    normal,
)
add(
    "sliding_window_view",
    lambda x: np.lib.stride_tricks.sliding_window_view(x, 5, axis=1).sum(-1),
    lambda x: x.unfold(1, 5, 1).sum(-1),
)

# Products
add("x @ y", lambda x, y: x @ y, lambda x, y: x @ y, normal, lambda r, n: normal(r, n).T.copy())
add("x @ y, batched", lambda x, y: x @ y, lambda x, y: x @ y, batch_of_matrices, batch_of_matrices)
add("x @ vector", lambda x, y: x @ y, lambda x, y: x @ y, normal, row_vector)
add("dot", lambda x, y: np.dot(x, y), lambda x, y: torch.dot(x, y), vector, vector)
add("vdot", lambda x, y: np.vdot(x, y), lambda x, y: torch.vdot(x, y), vector, vector)
add("inner", lambda x, y: np.inner(x, y), lambda x, y: torch.inner(x, y), normal, normal)
add("outer", lambda x, y: np.outer(x, y), lambda x, y: torch.outer(x, y), column_vector, row_vector)
add(
    "tensordot",
    lambda x, y: np.tensordot(x, y, 1),
    lambda x, y: torch.tensordot(x, y, 1),
    cube,
    lambda r, n: normal(r, n).T.copy(),
)
add("kron", lambda x, y: np.kron(x, y), lambda x, y: torch.kron(x, y), normal, lambda r, n: r.standard_normal((2, 2)))
add("cross", lambda x, y: np.cross(x, y), lambda x, y: torch.linalg.cross(x, y), triples, triples)
add(
    "convolve",
    lambda x, k: np.convolve(x, k),
    lambda x, k: F.conv1d(x[None, None], k.flip(0)[None, None], padding=8)[0, 0],
    vector,
    kernel,
)
for subscripts, *made in (
    ("ij,kj->ik", normal, normal),
    ("bij,bjk->bik", batch_of_matrices, batch_of_matrices),
    ("bhid,bhjd->bhij", heads, heads),
    ("ij,ij->i", normal, normal),
    ("i,j->ij", column_vector, row_vector),
    ("ij->ji", normal),
    ("ij->i", normal),
):
    add(
        f"einsum {subscripts}",
        lambda *xs, how=subscripts: np.einsum(how, *xs),
        lambda *xs, how=subscripts: torch.einsum(how, *xs),
        *made,
    )
