"""``np.linalg`` of square systems and of the matrix decompositions, for stacks of matrices.

Where a derivative does not exist, the rules do not invent one:

* Eigenvectors and singular vectors are determined up to a sign, and those of complex matrices up to a phase. A loss must not
  depend on this choice. If it does, real vectors give the derivative for the computed sign, and complex ones raise
  UnsupportedError.
* The vectors of equal eigenvalues or equal singular values have no derivative: the gradient is NaN or infinite if the loss
  reads them, that is, if their cotangent is not 0. The other vectors have a first derivative, and those of eigh have all.
  Eigenvalues and singular values without the vectors always have a first derivative, and beside equal ones no second one.
* ``cholesky``, ``eigh`` and ``eigvalsh`` read one triangle of their matrix, so the gradient lies in that triangle.

The formulas are from M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008). Those for complex vectors are from Z.-Q. Wan and S.-X. Zhang, arXiv:1909.02659. They are written for
the cotangent ``conj(g)``, which pairs with dA as tr(conj(g)^H dA).
"""

from typing import Any

import numpy as np

from ..device import is_device_array
from ..engine.functions import PlainFunction, composite
from ..engine.methods import values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import UnsupportedError
from .about import about, reads
from .linalg import identity
from .neural import largest


@reads("x.T")
def _t(x: Array) -> Array:
    """Return the transpose of each matrix."""
    return np.swapaxes(x, -1, -2)


def _h(x: Array) -> Array:
    """Return the conjugate transpose of each matrix."""
    return np.conjugate(np.swapaxes(x, -1, -2))


def _row(x: Array) -> Array:
    return np.expand_dims(x, -2)


def _column(x: Array) -> Array:
    return np.expand_dims(x, -1)


# --- inverse and systems of equations -------------------------------------------------------------------------------


def _solve(a: Array, b: Array, /) -> Array:
    """Solve stacks of systems; CuPy does not broadcast one stack to the other."""
    if b.ndim > 1 and a.shape[:-2] != b.shape[:-2]:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    return np.linalg.solve(a, b)


def _solve_rule_b(g: Array, a: Array, b_shape: tuple[int, ...]) -> Array:
    """Return ``a^-T g``; only a 1-D b is a vector, as in NumPy 2."""
    return _solve(_t(a), _column(g))[..., 0] if len(b_shape) == 1 else _solve(_t(a), g)


def _solve_rule_a(g: Array, ans: Array, a: Array, b_shape: tuple[int, ...]) -> Array:
    """Return ``-(a^-T g) x^T``."""
    return solve_rules(g, None, ans, a, b_shape)[0]


def solve_rules(g: Array, needs: Any, ans: Array, a: Array, b_shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return both cotangents from one system of equations: ``-(a^-T g) x^T`` and ``a^-T g``."""
    w = _solve_rule_b(g, a, b_shape)
    return -_column(w) * _row(ans) if len(b_shape) == 1 else -w @ _t(ans), w


def _pinv(a: Array, /, rcond: Any = None, rtol: Any = 1e-15) -> Array:
    """Call NumPy's pinv; as there, ``rtol=None`` means the length of the larger side times the precision."""
    if rcond is None:
        rcond = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol
    return np.linalg.pinv(a, rcond)


def _pinv_rule(g: Array, ans: Array, a: Array) -> Array:
    """Apply Golub and Pereyra, "The differentiation of pseudo-inverses ..." (1973), eq. 4.12, for a constant rank."""
    p, c = ans, np.conjugate(g)
    rows, columns = p @ _h(p) @ (c - c @ a @ p), (c - p @ a @ c) @ _h(p) @ p
    return _t(rows + columns - p @ _t(g) @ p)


inv = primitive(np.linalg.inv, lambda a, /: np.linalg.inv(a)).vjp(a=lambda g, ans: -_t(ans) @ g @ _t(ans))
solve = primitive(np.linalg.solve, _solve).vjp(a=_solve_rule_a, b=_solve_rule_b)
pinv = primitive(np.linalg.pinv, _pinv).vjp(a=_pinv_rule)
about(solve, formulas={"a": "-(inv(a)^T @ g) @ y^T", "b": "inv(a)^T @ g"})
about(pinv, formulas={"a": "g, put into Golub and Pereyra's formula for pseudo-inverses"})


# --- Cholesky and QR ------------------------------------------------------------------------------------------------


def _half_triangle(like: Array) -> Array:
    """Return 1 below the diagonal, 1/2 on it and 0 above it."""
    eye = identity(like.shape[-1], like)
    return np.tril(np.ones_like(eye)) - 0.5 * eye


def _into_triangle(g: Array, lower: bool) -> Array:
    """Move the gradient of a Hermitian matrix into the one triangle that the function reads."""
    half = _half_triangle(g)
    return (g + _h(g)) * (half if lower else _t(half))


def _cholesky_forward(a: Array, /, upper: bool = False) -> Array:
    if upper and not isinstance(a, np.ndarray):  # CuPy's cholesky has no such keyword
        return _h(np.linalg.cholesky(_h(a)))
    return np.linalg.cholesky(a, upper=True) if upper else np.linalg.cholesky(a)


def _cholesky_rule(g: Array, ans: Array, upper: bool) -> Array:
    """Return ``L^-H F(L^H conj(g)) L^-1``, where F takes the lower triangle and half of the diagonal."""
    if upper:
        return _h(_cholesky_rule(_h(g), _h(ans), False))
    inner = _t(ans) @ g * _half_triangle(g)
    inverse = np.linalg.inv(ans)
    return _into_triangle(_t(inverse) @ inner @ np.conjugate(inverse), True)


def _qr_forward(a: Array, /, mode: Any = "reduced") -> Any:
    if mode not in ("reduced", "r"):
        raise UnsupportedError(
            f"qr of a Tensor takes mode='reduced' or 'r', got {mode!r}, whose result has no derivative"
        )
    return np.linalg.qr(a, mode)


def _qr_rule(g: Any, ans: Any, a: Array, mode: str) -> Array:
    """Return ``(Q' + Q copyltu(M)) R^-H`` with ``M = R R'^H - Q'^H Q`` for cotangents Q' and R' (arXiv:1009.6112).

    The formula is by Walter and Lehmann. The columns of ``a`` beyond the square are the product ``Q R2``.
    """
    (q, r), g = (ans, g) if mode == "reduced" else (np.linalg.qr(a), {1: g})
    gq = np.conjugate(g[0]) if 0 in g else np.zeros_like(q)
    gr = np.conjugate(g[1]) if 1 in g else np.zeros_like(r)
    k = q.shape[-1]
    beyond = q @ gr[..., k:]
    gq = gq + a[..., k:] @ _h(gr[..., k:])
    r, gr = r[..., :k], gr[..., :k]
    m = (r @ _h(gr) - _h(gq) @ q) * _half_triangle(r)
    square = _h(np.linalg.solve(r, _h(gq + q @ (m + _h(m)))))
    return np.conjugate(np.concatenate([square, beyond], axis=-1))


cholesky = primitive(np.linalg.cholesky, _cholesky_forward).vjp(a=_cholesky_rule)
qr = primitive(np.linalg.qr, _qr_forward).vjp(a=_qr_rule)
about(
    cholesky,
    formulas={"a": "L^-T @ F(L^T @ g) @ L^-1, where F keeps the lower triangle and half of the diagonal"},
)
about(qr, formulas={"a": "g, the gradients of Q and R, combined by solving with R"})


# --- eigenvalues and singular values --------------------------------------------------------------------------------


def _check_phase(name: str, turning: Array, inner: Array) -> None:
    """Raise if the loss depends on the phase of a complex vector; ``turning`` is its derivative with respect to the phase."""
    turning, inner = values_of(turning), values_of(inner)
    if np.iscomplexobj(turning) and inner.size:
        rounding = float(np.finfo(turning.dtype).eps) ** 0.5
        if bool(np.max(np.abs(np.imag(turning))) > rounding * (1 + np.max(np.abs(inner)))):
            raise UnsupportedError(
                f"the vectors of a complex {name} are determined up to a phase, and this loss depends on the phase: "
                "it has no derivative. Use a function without the phase, such as np.abs(v) or v @ v.conj().mT"
            )


def _gaps(w: Array, diagonal: Array) -> Array:
    """Return ``w_j - w_i``, and ``diagonal`` on the diagonal."""
    return _row(w) - _column(w) + diagonal


def _read(*cotangents: Array) -> Any:
    """Return which vectors, the columns of matrices, the loss reads: those with a cotangent that is not 0.

    If no Tensor has one, forward mode asks for the rule at 0, and all count.
    """
    read: Any = sum(np.any(values_of(g) != 0, axis=-2) for g in cotangents) > 0
    return read | ~np.any(read) if any(hasattr(g, "backward") for g in cotangents) else read


def _over_gaps(x: Array, gaps: Array, read: Any) -> Array:
    """Return ``x / gaps``, and 0 where x is 0 because the loss reads no vector of this pair. Equal values else give NaN.

    The derivative of a term that was left out is NaN, as ``where`` differentiates the quotient, too.
    """
    return np.where((values_of(gaps) == 0) & ~read, 0, x / gaps)


def _nan_of_higher_order(w: Array, gaps: Array) -> Any:
    """Return 0, whose derivative is NaN where a gap is 0 to rounding: vectors of equal values give sums without derivatives."""
    if not hasattr(gaps, "backward"):
        return 0
    values = values_of(gaps)
    size = _column(largest(np.abs(values_of(w))))
    equal = np.abs(values) <= 4 * np.finfo(values.dtype).eps * size
    return np.sqrt(~equal + 0 * gaps) - ~equal  # the derivative of the root at 0 is infinite


def _eigh_rule(g: dict[int, Array], ans: Any, a: Array, UPLO: Any) -> Array:
    """Return ``V (diag(w') + (V^H V') / (w_j - w_i)) V^H`` for the cotangents w' and V'."""
    w, v = ans
    eye = identity(w.shape[-1], v)
    gaps, whole = _gaps(w, eye), 0
    inner = eye * _row(g[0]) + _nan_of_higher_order(w, gaps) if 0 in g else 0 * eye
    if 1 in g:
        rotated, read = _t(v) @ g[1], _read(g[1])
        _check_phase("eigh", np.sum(rotated * eye, axis=-1), rotated)
        if hasattr(v, "backward") and _only_apart(values_of(w), read):
            columns = np.flatnonzero(read.reshape(-1, w.shape[-1]).any(axis=0)).tolist()
            whole = _by_columns(g[1], w, v, a, UPLO, columns)
        else:
            inner = inner + _over_gaps(rotated, gaps, _row(read)) * (1 - eye) + _nan_of_higher_order(w, gaps)
    if 0 in g or not hasattr(whole, "backward"):  # else a sum over all vectors would be differentiated, too
        whole = whole + np.conjugate(v) @ inner @ _t(v)
    return _into_triangle(whole, UPLO == "L")


def _only_apart(w: Array, read: Any) -> bool:
    """Return whether some eigenvalues are nearly equal, but those of the vectors that are read are not."""
    if is_device_array(w) or not w.size:  # a device is not asked
        return False
    size = largest(np.abs(w))
    gaps = np.abs(_gaps(w, identity(w.shape[-1], w) * _column(size)))
    close = np.min(gaps, axis=-2) <= 1e-3 * size
    return bool(close.any() and not (close & read).any())


def _by_columns(g: Array, w: Array, v: Array, a: Array, UPLO: Any, columns: list[int]) -> Array:
    """Return the sum of ``(w_k - A)^+ V'_k v_k^H`` over some columns k, for which A and w_k, v_k alone are differentiated."""
    eye = identity(w.shape[-1], v)
    half = np.tril(a, -1) if UPLO == "L" else _h(np.triu(a, 1))
    hermitian, size = half + _h(half) + np.real(a) * eye, _column(largest(np.abs(values_of(w))))
    total: Any = 0
    for k in columns:
        value, vector = w[..., k : k + 1, None], v[..., k : k + 1]
        across = np.conjugate(vector) @ _t(vector)
        some = g[..., k : k + 1] - across @ g[..., k : k + 1]
        total = total + np.linalg.solve(value * eye - np.conjugate(hermitian) + size * across, some) @ _t(vector)
    return total


def _eigvalsh_rule(g: Array, a: Array, UPLO: Any) -> Array:
    w, v = np.linalg.eigh(a, UPLO)
    inner = _nan_of_higher_order(w, _gaps(w, eye := identity(w.shape[-1], v)))
    return _into_triangle(np.conjugate(v) @ (eye * _row(g) + inner) @ _t(v), UPLO == "L")


def _eig_rule(g: dict[int, Array], ans: Any) -> Array:
    """Apply the rule of eigh with V^-1 instead of V^H; the columns of V keep length 1."""
    w, v = ans
    eye = identity(w.shape[-1], v)
    gaps = np.conjugate(_gaps(w, eye))
    inner = eye * _row(np.conjugate(g[0]) if 0 in g else 0 * w) + _nan_of_higher_order(w, gaps)
    if 1 in g:
        rotated = _h(v) @ np.conjugate(g[1])
        along = np.diagonal(rotated, axis1=-2, axis2=-1)
        _check_phase("eig", along, rotated)
        lengthening = _h(v) @ v * _row(0.5 * (along + np.conjugate(along)))
        inner = inner + _over_gaps(rotated - lengthening, gaps, _row(_read(g[1]))) * (1 - eye)
    return np.conjugate(np.linalg.solve(_h(v), inner @ _h(v)))


def _svd_rule(g: Any, ans: Any, a: Array, full_matrices: bool, compute_uv: bool) -> Array:
    """Differentiate ``a = U diag(s) V^H``; X is ``skew(U^H U')`` and Y is ``skew(V^H V')`` for the cotangents U' and V'."""
    u, s, vh = ans if compute_uv else np.linalg.svd(a, full_matrices=False)
    g = g if compute_uv else {1: g}
    k = s.shape[-1]
    eye = identity(k, u)
    inner = eye * _row(g.get(1, 0 * s)) + _nan_of_higher_order(s, _gaps(s, eye * _row(s)))
    if 0 not in g and 2 not in g:
        return np.conjugate(u[..., :k] @ inner @ vh[..., :k, :])
    gu, gv = np.conjugate(g.get(0, 0 * u)), _t(g.get(2, 0 * vh))
    if full_matrices:
        _check_completion(gu[..., k:], gv[..., k:])
    u, v, gu, gv = u[..., :k], _h(vh)[..., :k], gu[..., :k], gv[..., :k]
    x, y = _h(u) @ gu, _h(v) @ gv
    x, y = x - _h(x), y - _h(y)
    _check_phase("svd", np.sum((x + y) * eye, axis=-1), x + y)
    read = _row(_read(gu, gv))
    either = read | _t(read)
    sums = _row(s) + _column(s) + (0 if np.iscomplexobj(u) else eye)  # the diagonal of x - y is 0 for real matrices
    inner = inner + 0.5 * (_over_gaps(x + y, _gaps(s, eye), either) * (1 - eye) + _over_gaps(x - y, sums, either))
    ga = u @ inner @ _h(v)
    if u.shape[-2] > k:
        ga = ga + _over_gaps(gu - u @ (_h(u) @ gu), _row(s), read) @ _h(v)
    if v.shape[-2] > k:
        ga = ga + u @ _h(_over_gaps(gv - v @ (_h(v) @ gv), _row(s), read))
    return np.conjugate(ga)


def _check_completion(gu: Array, gv: Array) -> None:
    if np.any(values_of(gu) != 0) | np.any(values_of(gv) != 0):
        raise UnsupportedError(
            "the vectors that svd(full_matrices=True) adds to make U and V square are arbitrary and have no derivative, "
            "but this loss depends on them: pass full_matrices=False"
        )


eigh = primitive(np.linalg.eigh, lambda a, /, UPLO="L": np.linalg.eigh(a, UPLO)).vjp(a=_eigh_rule)
eigvalsh = primitive(np.linalg.eigvalsh, lambda a, /, UPLO="L": np.linalg.eigvalsh(a, UPLO)).vjp(a=_eigvalsh_rule)
eig = primitive(np.linalg.eig, lambda a, /: np.linalg.eig(a)).vjp(a=_eig_rule)
svd = primitive(
    np.linalg.svd,
    lambda a, /, full_matrices=True, compute_uv=True: np.linalg.svd(a, full_matrices, compute_uv),
).vjp(a=_svd_rule)
_OF_VECTORS = (
    "(diag(gw) + (V^T @ gV) / (w_j - w_i)) @ V^T, with the gradients gw of the eigenvalues and gV of the eigenvectors"
)
about(eigh, formulas={"a": f"V @ {_OF_VECTORS}"})
about(eig, formulas={"a": f"V^-T @ {_OF_VECTORS}"})
about(eigvalsh, formulas={"a": "V @ diag(g) @ V^T, with the eigenvectors V"})
about(
    svd,
    formulas={
        "a": "U @ (diag(gs) + t) @ V^T, with the gradient gs of the singular values and the part t from U and V",
    },
)


# --- compositions ---------------------------------------------------------------------------------------------------


def _tensorinv(a: Any, ind: int = 2) -> Any:
    """Invert the matrix whose rows are the first ``ind`` axes."""
    rows, columns = np.shape(a)[:ind], np.shape(a)[ind:]
    return np.reshape(np.linalg.inv(np.reshape(a, (int(np.prod(rows)), -1))), columns + rows)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Return the x with ``tensordot(a, x, x.ndim) == b``."""
    if axes is not None:
        last = [int(i) % np.ndim(a) for i in axes]
        a = np.transpose(a, [i for i in range(np.ndim(a)) if i not in last] + last)
    x_shape = np.shape(a)[np.ndim(b) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (-1, int(np.prod(x_shape)))), np.reshape(b, -1)), x_shape)


# The derivative of eigvals needs the vectors of eig, and NumPy's eigvals may order the values differently.
composite(np.linalg.eigvals, lambda a: np.linalg.eig(a)[0])
composite(np.linalg.svdvals, lambda x, /: np.linalg.svd(x, compute_uv=False))
composite(np.linalg.tensorinv, _tensorinv)
composite(np.linalg.tensorsolve, _tensorsolve)
PlainFunction(np.linalg.matrix_rank, gives_tensor=False)
