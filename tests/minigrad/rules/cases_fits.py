"""Sample calls of least squares, polynomials and covariances. Importing this module adds them to the table."""

from typing import Any

import numpy as np

from tests.lazy import torch
from tests.minigrad.rules.cases import apart, case, normal, positive
from tests.minigrad.rules.cases_linalg import complex_parts

LA: Any = np.linalg  # NumPy's stubs do not know that a Tensor may stand for an array
NP: Any = np


def solution(a: Any, b: Any) -> Any:
    return torch.linalg.lstsq(a, b if b.ndim > 1 else b[:, None]).solution.reshape(a.shape[1:] + b.shape[1:])


def sums(a: Any, b: Any) -> Any:
    return ((a @ solution(a, b) - b) ** 2).sum(0)


case("lstsq", lambda a, b: LA.lstsq(a, b)[0], normal(5, 3), normal(5, 2), label="matrix", torch=solution)
case("lstsq", lambda a, b: LA.lstsq(a, b)[0], normal(5, 3), normal(5), label="vector", torch=solution)
case("lstsq", lambda a, b: LA.lstsq(a, b)[0], normal(2, 4), normal(2, 3), label="wide",
     torch=lambda a, b: torch.linalg.pinv(a) @ b)  # fmt: skip
case("lstsq", lambda a, b: LA.lstsq(a, b)[1], normal(5, 3), normal(5, 2), label="sums of squares", torch=sums)
case("lstsq", lambda a, b: LA.lstsq(a, b)[3] + 0 * b[0, 0], normal(5, 3), normal(5, 2), label="singular values",
     torch=lambda a, b: torch.linalg.svdvals(a) + 0 * b[0, 0])  # fmt: skip
case("lstsq", lambda a, b: LA.lstsq(a, b, rcond=1e-3)[0], normal(3, 3), normal(3), label="square rcond",
     torch=lambda a, b: torch.linalg.solve(a, b))  # fmt: skip
case("lstsq", complex_parts(lambda a, b: LA.lstsq(a, b)[0]), normal(2, 4, 2), normal(2, 4, 3), label="complex")
case("lstsq", complex_parts(lambda a, b: LA.lstsq(a, b)[1]), normal(2, 4, 2), normal(2, 4, 3), label="complex sums")


def in_its_dtype(f: Any) -> Any:
    """NumPy computes these at least in double precision; the table wants the dtype of the input."""
    return lambda m, *others: f(m, *others).astype(np.result_type(m, *others))


def vander(x: Any, order: int) -> Any:
    return torch.stack([x**k for k in reversed(range(order))], -1)


def fitted(x: Any, y: Any, w: Any = None) -> Any:
    left, right = vander(x, 3), y
    if w is not None:
        left, right = left * w[:, None], right * (w if y.ndim == 1 else w[:, None])
    return torch.linalg.pinv(left) @ right


def spread(x: Any, y: Any) -> Any:
    left = vander(x, 3)
    return torch.linalg.inv(left.T @ left) * ((left @ fitted(x, y) - y) ** 2).sum() / (len(x) - 3)


case("lstsq", in_its_dtype(lambda x, y: NP.polyfit(x, y, 2)), apart(6), normal(6), label="polyfit", torch=fitted)
case(
    "lstsq",
    in_its_dtype(lambda x, y: NP.polyfit(x, y, 2)),
    apart(6),
    normal(6, 2),
    label="polyfit of two",
    torch=fitted,
)
case(
    "lstsq",
    in_its_dtype(lambda x, y, w: NP.polyfit(x, y, 2, w=w)),
    apart(6),
    normal(6),
    positive(6),
    label="polyfit w",
    torch=fitted,
)
case(
    "lstsq",
    in_its_dtype(lambda x, y: NP.polyfit(x, y, 2, cov=True)[1]),
    apart(6),
    normal(6),
    label="polyfit cov",
    torch=spread,
)
case("multiply", NP.polyval, normal(4), normal(2, 3), label="polyval", torch=lambda p, x: vander(x, 4) @ p)
case("multiply", NP.polyval, normal(3), normal(), label="polyval at a number", torch=lambda p, x: vander(x, 3) @ p)


def covariance(m: Any, w: Any = None, y: Any = None) -> Any:
    return torch.cov(m if y is None else torch.cat([m, y]), aweights=w)


case("matmul", in_its_dtype(NP.cov), normal(3, 5), label="cov", torch=torch.cov)
case("matmul", in_its_dtype(NP.cov), normal(5), label="cov of one", torch=torch.cov)
case("matmul", in_its_dtype(NP.cov), normal(2, 5), normal(1, 5), label="cov of two arrays",
     torch=lambda m, y: covariance(m, y=y))  # fmt: skip
case("matmul", in_its_dtype(lambda m: np.cov(m, rowvar=False, bias=True)), normal(5, 3), label="cov columns",
     torch=lambda m: torch.cov(m.T, correction=0))  # fmt: skip
case("matmul", in_its_dtype(lambda m, w: np.cov(m, aweights=w)), normal(3, 5), positive(5), label="cov aweights",
     torch=lambda m, w: torch.einsum("in,jn,n->ij", m - (m @ w / w.sum())[:, None], m - (m @ w / w.sum())[:, None], w)
     / (w.sum() - (w * w).sum() / w.sum()))  # fmt: skip
case("matmul", in_its_dtype(lambda m: np.cov(m, fweights=np.array([1, 0, 2, 1, 3]), ddof=2)), normal(3, 5),
     label="cov fweights")  # fmt: skip
case("matmul", in_its_dtype(NP.corrcoef), normal(3, 5), label="corrcoef", torch=torch.corrcoef)
case("matmul", in_its_dtype(NP.corrcoef), normal(2, 5), normal(5), label="corrcoef of two arrays",
     torch=lambda x, y: torch.corrcoef(torch.cat([x, y[None]])))  # fmt: skip
