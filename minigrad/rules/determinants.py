"""Determinants, for stacks of matrices. A determinant is a polynomial: all its derivatives exist for singular matrices, too."""

from typing import Any

import numpy as np

from ..engine.methods import values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from .about import about
from .decompositions import _column, _h, _row, _t
from .linalg import identity

_SMALL = 0.01  # of the largest singular value; the derivatives with respect to larger ones lose two digits per order


def _cofactors(a: Array, det: Array) -> Array:
    """Return the derivative of the determinant, ``det(a) a^-T``. It is a polynomial, so it exists for singular matrices too.

    ``det(a)`` and the inverse come from the same LU factors. Their errors cancel, however small a nonzero determinant is
    (Stewart, "On the adjugate matrix", 1998). If a determinant is 0, the singular value decomposition a = U S V^H gives
    det(U) det(V^H) conj(U) cofactors(S) conj(V^H).
    """
    if hasattr(a, "backward"):
        return _cofactors_of_tensor(a)
    if np.all(det != 0):
        return np.expand_dims(det, (-2, -1)) * _t(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    others = np.prod(np.where(identity(s.shape[-1], s) > 0, 1, _row(s)), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return np.conjugate(u) * _row(others * _column(sign)) @ np.conjugate(vh)


def _cofactors_of_tensor(a: Array) -> Array:
    """Return the cofactors in a form whose derivatives of all orders are right: group the matrices of a stack by their rank.

    The derivatives of ``det(a) a^-T`` are differences of terms that grow like powers of the condition number.
    """
    values, shape = values_of(a), a.shape
    if not values.size:
        return 0 * a
    known, n = np.isfinite(values).all(axis=(-2, -1), keepdims=True), shape[-1]
    s = np.linalg.svd(np.where(known, values, 0), compute_uv=False).reshape(-1, n)
    ranks = np.where(known.reshape(-1), np.sum(s > _SMALL * s[:, :1], axis=-1), n)
    stack, found, order = np.reshape(a, (-1, n, n)), [], []
    for rank in np.unique(ranks).tolist():
        (places,) = np.nonzero(ranks == rank)
        found.append(_split_cofactors(stack[places], rank) if rank < n else _regular_cofactors(stack[places]))
        order.append(places)
    return np.reshape(np.concatenate(found)[np.argsort(np.concatenate(order))], shape)


def _regular_cofactors(a: Array) -> Array:
    return np.expand_dims(np.linalg.det(a), (-2, -1)) * _t(np.linalg.inv(a))


def _split_cofactors(a: Array, rank: int) -> Array:
    """Return the cofactors of matrices (k, n, n) of which all singular values from number ``rank`` on are small.

    With the constants U, V of a = U S V^H, the matrix U^H a V has the blocks A, B in its upper rows and C, D in its lower
    ones, where A holds the large singular values. Its adjugate is a polynomial in the Schur complement T = D - C A^-1 B,
    which may be 0.
    """
    center = values_of(a)
    u, s, vh = np.linalg.svd(center)
    m = _row(s) * identity(s.shape[-1], u) + _h(u) @ (a - center) @ _h(vh)  # its value is exactly diagonal
    upper, lower = m[:, :rank], m[:, rank:]
    inverse, b, c = np.linalg.inv(upper[..., :rank]), upper[..., rank:], lower[..., :rank]
    adjugate, det = _adjugate(lower[..., rank:] - c @ inverse @ b)
    right, left = inverse @ b, c @ inverse
    top = np.concatenate(
        [np.expand_dims(det, (-2, -1)) * inverse + right @ adjugate @ left, -right @ adjugate], axis=-1
    )
    whole = np.concatenate([top, np.concatenate([-adjugate @ left, adjugate], axis=-1)], axis=-2)
    scale = np.linalg.det(upper[..., :rank]) * (np.linalg.det(u) * np.linalg.det(vh))
    return np.conjugate(u) @ (np.expand_dims(scale, (-2, -1)) * _t(whole)) @ np.conjugate(vh)


def _adjugate(a: Array) -> tuple[Array, Array]:
    """Return the adjugate and the determinant without a division by a (the Faddeev-LeVerrier algorithm)."""
    n = a.shape[-1]
    eye = identity(n, a)
    adjugate = eye + 0 * a
    for k in range(1, n):
        product = a @ adjugate
        adjugate = np.expand_dims(np.trace(product, axis1=-2, axis2=-1) / k, (-2, -1)) * eye - product
    return adjugate, np.trace(a @ adjugate, axis1=-2, axis2=-1) / n


def _slogdet_rule(g: dict[int, Array], ans: Any, a: Array) -> Any:
    """Return ``a^-T`` times the cotangent of the logarithm plus, for a complex determinant, that of its angle."""
    turn = 0
    if 0 in g and np.iscomplexobj(a):
        z = g[0] * ans[0]
        turn = 0.5 * (z - np.conjugate(z))  # i Im(z)
    return np.expand_dims(g.get(1, 0) + turn, (-2, -1)) * _t(np.linalg.inv(a))


det = primitive(np.linalg.det, lambda a, /: np.linalg.det(a)).vjp(
    a=lambda g, ans, a: np.expand_dims(g, (-2, -1)) * _cofactors(a, ans)
)
slogdet = primitive(np.linalg.slogdet, lambda a, /: np.linalg.slogdet(a)).vjp(a=_slogdet_rule)
about(det, formulas={"a": "g * y * inv(a)^T"})
about(slogdet, formulas={"a": "g * inv(a)^T, with the gradient g of the logarithm"})
