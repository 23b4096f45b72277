"""Linear algebra, the functions of neural networks, and SciPy's special functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchmarks.functions.inputs import (
    between,
    column_vector,
    cube,
    heads,
    labels,
    matrices,
    normal,
    positive_matrices,
    row_vector,
    tall,
    tenth,
    true_or_false,
)
from benchmarks.functions.lazy import F, mg, nn, scipy_special, special, torch
from benchmarks.functions.work import add

positive = between(0.5, 2)
unit = between(-0.9, 0.9)

# Linear algebra, on stacks of 10 x 10 matrices
for name in ("inv", "det", "pinv", "norm"):
    add(
        name,
        lambda x, name=name: getattr(np.linalg, name)(x),
        lambda x, name=name: getattr(torch.linalg, name)(x),
        normal if name == "norm" else matrices,
    )
add("norm, axis=-1", lambda x: np.linalg.norm(x, axis=-1), lambda x: torch.linalg.norm(x, dim=-1))
add("solve", lambda x, y: np.linalg.solve(x, y), lambda x, y: torch.linalg.solve(x, y), matrices, matrices)
add(
    "lstsq",
    lambda a, b: np.linalg.lstsq(a, b)[0],
    lambda a, b: torch.linalg.lstsq(a, b[:, None])[0][:, 0],
    tall,
    tenth,
)
add("slogdet", lambda x: np.linalg.slogdet(x)[1], lambda x: torch.linalg.slogdet(x)[1], positive_matrices)
add("matrix_power", lambda x: np.linalg.matrix_power(x, 3), lambda x: torch.linalg.matrix_power(x, 3), matrices)
add(
    "cholesky",
    lambda x: np.linalg.cholesky(x + np.swapaxes(x, 1, 2)),
    lambda x: torch.linalg.cholesky(x + x.mT),
    positive_matrices,
)
add("qr", lambda x: np.linalg.qr(x)[1], lambda x: torch.linalg.qr(x)[1], matrices)
add("svd", lambda x: np.linalg.svd(x)[1], lambda x: torch.linalg.svd(x)[1], matrices)
# The sum is symmetric: for a matrix that is not, libraries differ in which half the gradient belongs to.
add("eigh", lambda x: np.linalg.eigh(x + np.swapaxes(x, 1, 2))[0], lambda x: torch.linalg.eigh(x + x.mT)[0], matrices)
add(
    "eigvalsh",
    lambda x: np.linalg.eigvalsh(x + np.swapaxes(x, 1, 2)),
    lambda x: torch.linalg.eigvalsh(x + x.mT),
    matrices,
)
add(
    "eig",
    lambda x: np.real(np.linalg.eig(x)[0]).sum(-1),
    lambda x: torch.linalg.eig(x)[0].real.sum(-1),
    positive_matrices,
)

# Neural networks


@functools.cache
def dropout_layer() -> Any:
    """Return the layer, which a model makes once. A new one with its generator would take as long as a small call."""
    return nn.Dropout(0.1, rng=np.random.default_rng(0))


add("relu", lambda x: mg.relu(x), lambda x: F.relu(x))
add("sigmoid", lambda x: mg.sigmoid(x), lambda x: torch.sigmoid(x))
add("silu", lambda x: mg.silu(x), lambda x: F.silu(x))
add("gelu", lambda x: mg.gelu(x), lambda x: F.gelu(x))
add("gelu, tanh", lambda x: mg.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh"))
add("erf", lambda x: mg.erf(x), lambda x: torch.erf(x))
add("softmax", lambda x: mg.softmax(x), lambda x: F.softmax(x, -1))
add("log_softmax", lambda x: mg.log_softmax(x), lambda x: F.log_softmax(x, -1))
add(
    "layer_norm",
    lambda x, w, b: mg.layer_norm(x, w, b),
    lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
    normal,
    row_vector,
    row_vector,
)
add(
    "rms_norm",
    lambda x, w: nn.functional.rms_norm(x, w),
    lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6),
    normal,
    row_vector,
)
add(
    "affine",
    lambda x, w, b: mg.affine(x, w, b),
    lambda x, w, b: F.linear(x, w.T, b),
    normal,
    lambda r, n: normal(r, n).T.copy(),
    column_vector,
)
add(
    "attention",
    lambda q, k, v: mg.scaled_dot_product_attention(q, k, v),
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    heads,
    heads,
    heads,
)
add("dropout", lambda x: dropout_layer()(x), lambda x: F.dropout(x, 0.1), random=True)
add("pool", lambda x: nn.pool(x), lambda x: x.mean(1), cube)
add("cross_entropy", lambda t, x: nn.cross_entropy(x, t), lambda t, x: F.cross_entropy(x, t), labels, normal)
add(
    "negative_log_likelihood",
    lambda t, x: nn.negative_log_likelihood(x, t),
    lambda t, x: F.nll_loss(x, t),
    labels,
    normal,
)
add("mean_squared_error", lambda x, y: nn.mean_squared_error(x, y), lambda x, y: F.mse_loss(x, y), normal, normal)
add(
    "binary_cross_entropy",
    lambda t, x: nn.binary_cross_entropy(x, t),
    lambda t, x: F.binary_cross_entropy(x, t.to(x.dtype)),
    true_or_false,
    between(0.1, 0.9),
)
add(
    "binary_cross_entropy_with_logits",
    lambda t, x: nn.binary_cross_entropy_with_logits(x, t),
    lambda t, x: F.binary_cross_entropy_with_logits(x, t.to(x.dtype)),
    true_or_false,
    normal,
)

# Special functions of SciPy
for name, in_torch, made in (
    ("erf", "erf", normal),
    ("erfc", "erfc", normal),
    ("erfcx", "erfcx", positive),
    ("erfinv", "erfinv", unit),
    ("expit", "expit", normal),
    ("logit", "logit", between(0.1, 0.9)),
    ("log_ndtr", "log_ndtr", normal),
    ("ndtr", "ndtr", normal),
    ("ndtri", "ndtri", between(0.1, 0.9)),
    ("entr", "entr", positive),
    ("gammaln", "gammaln", positive),
    ("psi", "psi", positive),
    ("i0", "i0", normal),
    ("i0e", "i0e", normal),
    ("i1", "i1", normal),
    ("i1e", "i1e", normal),
    ("gamma", None, positive),
    ("rgamma", None, positive),
    ("log_expit", None, normal),
    ("j0", None, normal),
    ("j1", None, normal),
    ("y0", None, positive),
    ("y1", None, positive),
    ("erfcinv", None, between(0.1, 1.9)),
):
    add(
        f"special.{name}",
        lambda x, name=name: getattr(special, name)(x),
        None if in_torch is None else lambda x, name=in_torch: getattr(torch.special, name)(x),
        made,
    )
add("special.xlogy", lambda x, y: special.xlogy(x, y), lambda x, y: torch.special.xlogy(x, y), positive, positive)
add("special.xlog1py", lambda x, y: special.xlog1py(x, y), lambda x, y: torch.special.xlog1py(x, y), positive, positive)
add("special.rel_entr", lambda x, y: special.rel_entr(x, y), None, positive, positive)
add("special.kl_div", lambda x, y: special.kl_div(x, y), None, positive, positive)
add("special.beta", lambda x, y: special.beta(x, y), None, positive, positive)
add("special.betaln", lambda x, y: special.betaln(x, y), None, positive, positive)
add("special.jv", lambda x: special.jv(1.5, x), None, positive)
add("special.iv", lambda x: special.iv(1.5, x), None, positive)
add("special.polygamma", lambda x: scipy_special.polygamma(1, x), lambda x: torch.special.polygamma(1, x), positive)
add("special.zeta", lambda x: scipy_special.zeta(2.5, x), None, between(2, 4))
add("special.loggamma", lambda x: special.loggamma(x), None, positive)
add("special.gammainc", lambda x: special.gammainc(2.0, x), None, positive)
add("special.gammaincc", lambda x: special.gammaincc(2.0, x), None, positive)
add("special.betainc", lambda x: special.betainc(2.0, 3.0, x), None, between(0.1, 0.9))
