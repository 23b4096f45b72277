"""Least squares."""

from typing import Any

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array
from .about import about


def _lstsq(a: Array, b: Array, /, rcond: Any = None) -> Any:
    return np.linalg.lstsq(a, b, rcond)


def _columns(g: Any, ans: Any, a: Array, b: Array, rcond: Any) -> tuple[Any, Any, Any, Any]:
    """Return the cotangent of the solution, the solution and the residual as matrices, and the pseudoinverse of ``a``."""
    x = ans[0]
    gx = g.get(0, 0 * x)
    if b.ndim == 1:
        gx, x, b = gx[:, None], x[:, None], b[:, None]
    eps = np.finfo(x.dtype).eps
    cut = max(a.shape) * eps if rcond is None else eps if rcond == -1 else rcond
    return gx, x, b - a @ x, np.linalg.pinv(a, cut)


def _lstsq_rule_a(g: Any, ans: Any, a: Array, b: Array, rcond: Any) -> Array:
    """Differentiate ``x = pinv(a) @ b`` for a constant rank; the sums of squares (output 1) move only with the data."""
    gx, x, left, p = _columns(g, ans, a, b, rcond)
    back = p.T @ gx
    ga = (
        np.conjugate(left @ (gx.T @ p @ np.conjugate(p.T)) + (np.conjugate(p.T) @ x) @ (gx.T - gx.T @ p @ a))
        - back @ x.T
    )
    if 1 in g and ans[1].size:
        ga = ga - 2 * (np.conjugate(left) * g[1]) @ x.T
    if 3 in g:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        ga = ga + np.conjugate(u * g[3] @ vh)
    return ga


def _lstsq_rule_b(g: Any, ans: Any, a: Array, b: Array, rcond: Any) -> Array:
    gx, _, left, p = _columns(g, ans, a, b, rcond)
    gb = p.T @ gx
    if 1 in g and ans[1].size:
        gb = gb + 2 * np.conjugate(left) * g[1]
    return np.reshape(gb, b.shape)


lstsq = primitive(np.linalg.lstsq, _lstsq).vjp(a=_lstsq_rule_a, b=_lstsq_rule_b)
about(
    lstsq,
    formulas={
        "a": (
            "(b - a @ x) @ g^T @ pinv(a) @ pinv(a)^T - pinv(a)^T @ g @ x^T, "
            "with the solution x of full rank and its gradient g"
        ),
        "b": "pinv(a)^T @ g, with the gradient g of the solution",
    },
)
