"""Linear algebra and Fourier transforms: conventions, refusals, and what no case of the table can say."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp  # type: ignore[import-untyped]

import minigrad as mg
from minigrad import Tensor
from minigrad.errors import ArgumentError, ShapeError, UnsupportedError

LA: Any = np.linalg
FFT: Any = np.fft
VECDOT: Any = np.vecdot


def gradient(f: Callable[..., Any], x: Any) -> np.ndarray:
    result: np.ndarray = mg.grad(f)(np.asarray(x))
    return result


# --- at 0 and at ties ---


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("order", [None, 2, 1, 3, 0.5, -1, 0, np.inf, -np.inf])
def test_a_vector_norm_at_0_has_gradient_0(order: Any) -> None:
    np.testing.assert_array_equal(gradient(lambda x: LA.norm(x, order), np.zeros(3)), np.zeros(3))
    np.testing.assert_array_equal(
        mg.grad(lambda x: (mg.grad(lambda y: LA.norm(y, order))(x) ** 2).sum())(np.zeros(3)), 0
    )


@pytest.mark.parametrize("order", [None, "fro", "nuc", 2, -2, 1, np.inf])
def test_a_matrix_norm_at_0_has_gradient_0(order: Any) -> None:
    np.testing.assert_array_equal(gradient(lambda x: LA.norm(x, order), np.zeros((2, 3))), np.zeros((2, 3)))


def test_only_the_row_that_is_0_has_gradient_0() -> None:
    found = gradient(lambda x: LA.norm(x, axis=1, keepdims=True).sum(), [[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_ties_of_the_maximum_norm_share() -> None:
    np.testing.assert_array_equal(gradient(lambda x: LA.norm(x, np.inf), [2.0, -2.0, 1.0]), [0.5, -0.5, 0.0])


def test_equal_singular_values_share_the_spectral_norm() -> None:
    np.testing.assert_allclose(gradient(lambda x: LA.norm(x, 2), np.eye(2)), 0.5 * np.eye(2), atol=1e-15)


def test_second_order_of_a_norm_where_an_element_is_0() -> None:
    """The Hessian of |x| is (1 - x x^T / |x|^2) / |x|."""
    x = np.array([0.0, 2.0])
    rows = [mg.grad(lambda v, i=i: mg.grad(LA.norm)(v)[i])(x) for i in range(2)]
    np.testing.assert_allclose(rows, [[0.5, 0.0], [0.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [None, 0, -1])
@mp.workprec(200)
def test_the_gradient_of_the_2_norm_to_four_units_in_the_last_place(axis: Any, dtype: Any) -> None:
    """Compare x / |x| with exact arithmetic, at every size whose squares are normal numbers."""
    info = np.finfo(dtype)
    for exponent in range(info.minexp // 2 + 8, info.maxexp // 2 - 8, 7):
        x = np.ldexp(np.random.default_rng(exponent & 255).standard_normal((5, 7)), exponent).astype(dtype)
        found = vjp_of_ones(axis, x)
        numbers = np.array([[mp.mpf(float(v)) for v in row] for row in x])
        exact = numbers / np.sqrt(np.sum(numbers**2, axis=axis, keepdims=True))
        off = abs((found.astype(object) - exact) / np.spacing(abs(found)).astype(object))
        assert found.dtype == dtype and off.max() < 4


def test_the_2_norm_of_many_numbers_to_two_units_in_the_last_place() -> None:
    x = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)
    exact = LA.norm(x.astype(np.float64))
    assert abs(LA.norm(Tensor(x)).item() - exact) < 2 * np.spacing(np.float32(exact))


def vjp_of_ones(axis: int | None, x: np.ndarray) -> Any:
    value, pull = mg.vjp(lambda x: LA.norm(x, axis=axis), x)
    return pull(np.ones_like(value))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_2_norm_at_the_ends_of_the_range_is_that_of_the_plain_rules(dtype: Any) -> None:
    info = np.finfo(dtype)
    ends = [0.0, -0.0, info.smallest_subnormal, -info.tiny, 1.0, info.max, -info.max, np.inf, -np.inf, np.nan]
    pairs = np.array([(a, b) for a in ends for b in ends], dtype)
    with np.errstate(all="ignore"):
        found = vjp_of_ones(-1, pairs)
        with mg.reference_mode():
            plain = vjp_of_ones(-1, pairs)
    np.testing.assert_array_equal(np.isfinite(found) | ~np.isfinite(plain), True)  # no new NaN or infinity
    np.testing.assert_allclose(
        found[np.isfinite(plain)], plain[np.isfinite(plain)], rtol=4 * info.eps, atol=info.smallest_subnormal
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@mp.workprec(200)
def test_the_gradient_of_cholesky_of_graded_matrices(dtype: Any) -> None:
    """The entries differ by many powers of ten. Compare with the same formula in exact arithmetic."""
    random = np.random.default_rng(0)
    for decades in range(5):
        half = random.standard_normal((4, 4))
        a = (half @ half.T + 4 * np.eye(4)) * np.logspace(0, -decades, 4) * np.logspace(0, -decades, 4)[:, None]
        a, g = np.asarray((a + a.T) / 2, dtype), random.standard_normal((4, 4)).astype(dtype)
        lower = mp.cholesky(mp.matrix(a.tolist()))
        half_triangle = np.tril(np.ones((4, 4))) - 0.5 * np.eye(4)
        inner = np.array((lower.T * mp.matrix(g.tolist())).tolist()) * half_triangle
        exact = (lower**-1).T * mp.matrix(inner.tolist()) * lower**-1
        exact = np.array((exact + exact.T).tolist(), dtype=float) * half_triangle
        _, pull = mg.vjp(LA.cholesky, a)
        assert abs(pull(g)[0] - exact).max() < 4 * np.finfo(dtype).eps * abs(exact).max()


def test_both_gradients_of_solve_take_one_system(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    solve = LA.solve
    a, b = (Tensor(np.random.default_rng(i).standard_normal((2, 3, 3)), requires_grad=True) for i in range(2))
    y = LA.solve(a, b)

    def counted(*arrays: Any) -> Any:
        calls.append(arrays)
        return solve(*arrays)

    monkeypatch.setattr(LA, "solve", counted)
    y.sum().backward()
    assert len(calls) == 1


# --- determinants of singular matrices ---


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_derivative_of_a_singular_determinant_are_the_cofactors(rank: int) -> None:
    rng = np.random.default_rng(rank)
    a = np.round(rng.standard_normal((3, rank)) * 4) @ np.round(rng.standard_normal((rank, 3)) * 4)
    minors = [[(-1) ** (i + j) * LA.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(gradient(LA.det, a), minors, atol=1e-10)


def derivatives_by_leibniz(a: np.ndarray, order: int) -> np.ndarray:
    """Differentiate the sum of signed products, one factor for each row: remove the factors of ``order`` rows."""
    n = len(a)
    found = np.zeros((n, n) * order)
    for columns in itertools.permutations(range(n)):
        sign = round(LA.det(np.eye(n)[list(columns)]))
        for rows in itertools.permutations(range(n), order):
            rest = math.prod([a[i, columns[i]] for i in range(n) if i not in rows])
            found[tuple(k for i in rows for k in (i, columns[i]))] += sign * rest
    return found


_RANDOM = np.random.default_rng(3)
DETERMINANTS = {
    "zero": np.zeros((2, 2)), "zero 3 x 3": np.zeros((3, 3)),
    "rank 1": np.diag([1.0, 0.0, 0.0]), "rank 2": np.diag([1.0, 1.0, 0.0]),
    "singular to rounding": np.array([[0.1, 0.3], [0.3, 0.9]]),
    "I - P": np.eye(3) - np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]]),
    "nearly singular": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0 + 1e-9]]),
    "small singular values": np.diag([1.0, 1e-7, 1e-9, 1e-100]), "small": 1e-80 * np.array([[1.0, 2.0], [2.0, 4.0]]),
    "4 x 4 of rank 2": _RANDOM.standard_normal((4, 2)) @ _RANDOM.standard_normal((2, 4)),
    "regular": _RANDOM.standard_normal((4, 4)),
    "Hilbert": 1 / (np.arange(5)[:, None] + np.arange(1, 6)), "1 x 1": np.zeros((1, 1)),
}  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("a", DETERMINANTS.values(), ids=DETERMINANTS)
def test_the_determinant_is_a_polynomial_in_all_orders(a: np.ndarray) -> None:
    forwards = mg.jvp(lambda x: mg.jvp(LA.det, [x], [np.ones_like(a)])[1], [a], [np.eye(len(a))])[1]
    exact = [derivatives_by_leibniz(a, order) for order in (1, 2, 3)]
    found = [gradient(LA.det, a), mg.hessian(LA.det)(a), mg.jacobian(mg.hessian(LA.det))(a)]
    for order, one in enumerate(found, 1):
        scale = LA.norm(a, 2) ** (len(a) - order) if a.any() else 0
        np.testing.assert_allclose(one, exact[order - 1], rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(forwards, np.einsum("ijkk->", exact[1]), rtol=0, atol=1e-13)


def test_second_derivatives_of_determinants_in_a_stack() -> None:
    """Neither a singular matrix nor one of NaN changes those of another matrix."""
    a = np.stack(
        [np.eye(3), np.diag([1.0, 1.0, 0.0]), np.full((3, 3), np.nan), np.zeros((3, 3)), DETERMINANTS["I - P"]]
    )
    with np.errstate(invalid="ignore"):
        found = mg.hessian(lambda x: LA.det(x).sum())(a)
    for i in (0, 1, 3, 4):
        np.testing.assert_allclose(found[i, :, :, i], derivatives_by_leibniz(a[i], 2), atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_second_derivatives_of_a_singular_determinant_in_other_dtypes(dtype: Any) -> None:
    a = np.array([[1, 2], [2, 4]], dtype)
    second = [mg.grad(lambda x, i=i: np.real(mg.grad(lambda y: np.real(LA.det(y)))(x)[i]))(a) for i in [(0, 0), (0, 1)]]
    np.testing.assert_allclose(second, [[[0, 0], [0, 1]], [[0, 0], [-1, 0]]], atol=10 * np.finfo(dtype).eps)
    assert second[0].dtype == dtype


# --- triangles and degenerate spectra ---


@pytest.mark.parametrize("f", [LA.cholesky, LA.eigvalsh, lambda a: LA.eigh(a)[0]])
def test_the_gradient_lies_in_the_triangle_that_is_read(f: Callable[..., Any]) -> None:
    a = np.array([[4.0, 9.0], [1.0, 3.0]])
    found = gradient(lambda x: (f(x) ** 3).sum(), a)
    assert found[0, 1] == 0 and found[1, 0] != 0
    mg.check_grads(f, [a])


def test_vectors_of_equal_eigenvalues_give_nan() -> None:
    weights = np.arange(9.0).reshape(3, 3)
    assert not np.isfinite(gradient(lambda a: (LA.eigh(a)[1] * weights).sum(), np.eye(3))).all()
    assert not np.isfinite(gradient(lambda a: (LA.svd(a)[0] * weights).sum(), np.eye(3))).all()


def test_equal_eigenvalues_alone_have_a_gradient() -> None:
    np.testing.assert_allclose(gradient(lambda a: LA.eigh(a)[0].sum(), np.eye(3)), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(gradient(lambda a: LA.svd(a)[1].sum(), np.eye(3)), np.eye(3), atol=1e-15)


TURN = LA.qr(_RANDOM.standard_normal((4, 4)))[0]
WEIGHTS = _RANDOM.standard_normal((4, 4))
BESIDE_EQUAL = {
    "diagonal": np.diag([4.0, 1.0, 1.0]), "two pairs": np.diag([4.0, 1.0, 1.0, 1.0]), "0 twice": np.diag([4.0, 0.0, 0.0]),
    "turned": TURN * np.array([4.0, 1.0, 1.0, -2.0]) @ TURN.T, "complex": np.diag([4.0 + 0j, 1.0, 1.0]),
}  # fmt: skip


def of_last_vector(a: Any) -> Any:
    """Of the vector of the largest eigenvalue alone, which is simple; without its sign and phase."""
    v = LA.eigh(a)[1][..., -1:]
    return np.sum(np.real(WEIGHTS[: a.shape[-1], : a.shape[-1]] * (v @ np.conjugate(v).mT)))


@pytest.mark.parametrize("a", BESIDE_EQUAL.values(), ids=BESIDE_EQUAL)
def test_a_simple_eigenvector_beside_equal_eigenvalues_has_its_derivatives(a: np.ndarray) -> None:
    """The oracle is perturbation theory with the pseudo-inverse of w - A, and finite differences for the second order."""
    n = len(a)
    w, v = LA.eigh(a)
    vector, reduced = v[:, -1], LA.pinv(w[-1] * np.eye(n) - a)
    for i, j in [(0, 0), (1, 0), (2, 1), (n - 1, 0)]:
        move = np.zeros_like(a)
        move[i, j] = move[j, i] = 1.0
        change = reduced @ move @ vector
        outer = np.outer(change, vector.conj())
        want = np.sum(np.real(WEIGHTS[:n, :n] * (outer + outer.conj().T)))
        found = gradient(of_last_vector, a)
        np.testing.assert_allclose(np.real(found[i, j] + (i != j) * found[j, i]), want, atol=1e-13)
        np.testing.assert_allclose(mg.jvp(of_last_vector, [a], [move])[1], want, atol=1e-13)

        def slope(x: Any, move: np.ndarray = move) -> Any:
            return np.sum(np.real(mg.grad(of_last_vector)(x) * move))

        step = 1e-5 * (1 + np.tril(WEIGHTS[:n, :n]))
        numeric = (slope(a + step) - slope(a - step)) / 2
        np.testing.assert_allclose(np.sum(np.real(mg.grad(slope)(a) * step)), numeric, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
@pytest.mark.parametrize("values", [[3.0, 1.0, 1.0], [3.0, 1.0, 0.0], [3.0, 0.0, 0.0]])
def test_singular_vectors_beside_equal_or_zero_singular_values(shape: tuple[int, int], values: list[float]) -> None:
    a = np.zeros(shape)
    a[range(3), range(3)] = values

    def f(x: Any) -> Any:
        u, _, vh = LA.svd(x, full_matrices=False)
        return np.sum(WEIGHTS[: shape[0], : shape[1]] * (u[:, :1] @ vh[:1]))

    mg.check_grads(f, [a], order=1)


def test_a_simple_vector_of_eig_beside_equal_eigenvalues() -> None:
    a = np.array([[3.0, 0.5, 0.3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def f(x: Any) -> Any:
        return LA.eig(x)[1][1:, 0] / LA.eig(x)[1][0, 0]

    mg.check_grads(f, [a], order=1)
    np.testing.assert_allclose(mg.jvp(f, [a], [np.ones((3, 3))])[1], [0.5, 0.5])


def test_a_matrix_of_a_stack_that_the_loss_does_not_read() -> None:
    for f in (lambda x: LA.eigh(x)[1][0, :, -1], lambda x: LA.svd(x)[0][0, :, 0], lambda x: LA.eig(x)[1][0, :, 0]):
        found = gradient(
            lambda x, f=f: np.sum(f(x) ** 2 * np.arange(3)), np.stack([np.diag([4.0, 2.0, 1.0]), np.eye(3)])
        )
        np.testing.assert_array_equal(found[1], 0)
        assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "f",
    [LA.eigvalsh, lambda a: LA.eigh(a)[0], LA.svdvals, lambda a: LA.svd(a)[1], lambda a: np.real(LA.eigvals(a))],
)
@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.eye(2), np.diag([2.0, 2.0 + 4e-16])], ids=["0", "1", "to rounding"])
def test_second_derivatives_at_equal_values_are_nan_rather_than_wrong(f: Callable[..., Any], a: np.ndarray) -> None:
    """The sum of squares is a polynomial, but the vectors that the rule reads have no derivative."""
    assert np.isnan(mg.hessian(lambda x: np.sum(f(x) ** 2))(a)).any()


COMPLEX = np.array([[2.0, 1 + 1j, 0.5j], [1 - 1j, -1.0, 0.3], [-0.5j, 0.3, 0.4]])


@pytest.mark.parametrize(
    "f", [lambda a: LA.eigh(a)[1], lambda a: LA.eig(a)[1], lambda a: LA.svd(a)[0], lambda a: LA.svd(a)[2]]
)
def test_a_loss_that_depends_on_the_phase_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="phase"):
        mg.grad(lambda a: np.sum(np.real(f(a) * (1 + 2j))))(COMPLEX)


def test_a_loss_that_depends_on_the_added_vectors_is_refused() -> None:
    a = np.random.default_rng(0).standard_normal((4, 2))
    with pytest.raises(UnsupportedError, match="full_matrices=False"):
        mg.grad(lambda x: (LA.svd(x)[0] ** 3).sum())(a)
    used = gradient(lambda x: (LA.svd(x)[0][:, :2] ** 4).sum(), a)
    np.testing.assert_allclose(used, gradient(lambda x: (LA.svd(x, full_matrices=False)[0] ** 4).sum(), a))


# --- what is refused ---

REFUSED: list[tuple[str, Callable[[Tensor], Any], type[Exception], str]] = [
    ("lstsq of a stack", lambda a: LA.lstsq(a[None], np.ones(2)), mg.errors.LinAlgError, "lstsq.*two-dimensional"),
    ("lstsq rcond", lambda a: LA.lstsq(a, np.ones(2), rcond=a[0, 0]), UnsupportedError, "rcond"),
    ("qr complete", lambda a: LA.qr(a, mode="complete"), UnsupportedError, "complete"),
    ("svd hermitian", lambda a: LA.svd(a, hermitian=True), UnsupportedError, "hermitian"),
    ("pinv hermitian", lambda a: LA.pinv(a, hermitian=True), UnsupportedError, "hermitian"),
    ("einsum out", lambda a: np.einsum("ij->i", a, out=np.zeros(2)), UnsupportedError, "out"),
    ("einsum dtype", lambda a: np.einsum("ij->i", a, dtype=np.float32), UnsupportedError, "dtype"),
    ("einsum subscripts", lambda a: np.einsum("ijk->i", a), ShapeError, "einsum"),
    ("einsum labels", lambda a: np.einsum(a, [0, 99]), ArgumentError, "0 ... 51"),
    ("dot out", lambda a: np.dot(a, a, out=np.zeros((2, 2))), UnsupportedError, "out"),
    ("dot shapes", lambda a: np.dot(a, np.ones(3)), ShapeError, "dot"),
    ("vecdot keepdims", lambda a: VECDOT(a, a, keepdims=True), UnsupportedError, "keepdims"),
    ("linalg.outer", lambda a: LA.outer(a, a), ShapeError, "1-D"),
    ("linalg.cross", lambda a: LA.cross(a, a), ShapeError, "3"),
    ("multi_dot of one", lambda a: LA.multi_dot([a]), ArgumentError, "two"),
    ("multi_dot of a vector", lambda a: LA.multi_dot([a, np.ones(2), a]), ShapeError, "matrices"),
    ("inv of no square", lambda a: LA.inv(a[:1]), LA.LinAlgError, "square"),
    ("inv of a singular matrix", lambda a: LA.inv(a - a), LA.LinAlgError, "[Ss]ingular"),
    ("cholesky", lambda a: LA.cholesky(-a @ a.T), LA.LinAlgError, "definite"),
    ("norm order", lambda a: LA.norm(a, "nonsense"), ValueError, "norm"),
    ("fft norm", lambda a: FFT.fft(a, norm="nonsense"), ValueError, "norm"),
    ("fft out", lambda a: FFT.fft(a, out=np.zeros((2, 2), complex)), UnsupportedError, "out"),
    ("fftn lengths", lambda a: FFT.fftn(a, s=(2, 2), axes=(0,)), ArgumentError, r"s=\(2, 2\) and the axes \(0,\)"),
]


@pytest.mark.parametrize(("f", "kind", "message"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refusals(f: Callable[[Tensor], Any], kind: type[Exception], message: str) -> None:
    t = Tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    with pytest.raises(kind, match=message) as caught:
        f(t)
    assert isinstance(caught.value, mg.MinigradError)


# --- named results, plain values ---


@pytest.mark.parametrize("name", ["slogdet", "eigh", "eig", "svd", "qr"])
def test_named_tuples_stay_named(name: str) -> None:
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    got, want = getattr(LA, name)(Tensor(a, requires_grad=True)), getattr(LA, name)(a)
    assert type(got) is type(want) and got._fields == want._fields
    assert all(isinstance(part, Tensor) for part in got)


def test_matrix_rank_is_a_plain_number() -> None:
    assert LA.matrix_rank(Tensor(np.eye(3), requires_grad=True)) == 3


def test_dot_with_a_number() -> None:
    np.testing.assert_array_equal(
        gradient(lambda x: np.dot(x, 2.0).sum() + np.inner(3.0, x).sum(), np.ones(2)), [5.0, 5.0]
    )


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
def test_cross_of_two_components_is_what_numpy_makes_of_it() -> None:
    """A right gradient up to NumPy 2.4, which warns; later versions refuse, and the error says so."""
    rng = np.random.default_rng(0)
    u, v, w = rng.standard_normal((4, 2)), rng.standard_normal(2), rng.standard_normal(3)
    for a, b in [(u, v), (v, w), (w, u)]:
        try:
            np.cross(a, b)
        except ValueError:
            with pytest.raises(ShapeError, match=r"cross\(a: shape .* 3-dimensional vectors"):
                np.cross(Tensor(a, requires_grad=True), b)
        else:
            mg.check_grads(np.cross, [a, b])


# --- complex arguments: the derivative is df/dx - i df/dy ---


@pytest.mark.parametrize(
    "f",
    [
        FFT.fft, FFT.ifft, FFT.irfft, FFT.hfft, FFT.fft2, lambda a: np.abs(FFT.fft(a)) ** 2, LA.inv, LA.det,
        LA.cholesky, LA.qr, LA.pinv, LA.norm, lambda a: LA.norm(a, 1), lambda a: LA.norm(a, "nuc"),
        lambda a: LA.norm(a, 3, axis=0), LA.eigvalsh, LA.eigvals, LA.svdvals, lambda a: np.vdot(a, a),
        lambda a: np.einsum("ij,kj", a, a),
        lambda a: LA.solve(a, a[0]), LA.slogdet, lambda a: LA.matrix_power(a, 3), np.vecdot,
    ],
)  # fmt: skip
def test_complex_arguments(f: Callable[..., Any]) -> None:
    a = COMPLEX + 2 * np.eye(3)
    mg.check_grads(f, [a, a + 0.1j] if f is np.vecdot else [a])


def test_vecmat_conjugates() -> None:
    x, a = COMPLEX[1], COMPLEX
    np.testing.assert_allclose(np.vecmat(Tensor(x), a).data, np.vecmat(x, a))
    mg.check_grads(np.vecmat, [x, a])


def test_the_convention_for_complex_gradients() -> None:
    """Of a holomorphic function it is the derivative itself, and of |z|^2 it is 2 conj(z)."""
    z = np.array([1.0 + 2j])
    np.testing.assert_allclose(mg.grad(lambda z: np.real(FFT.fft(z * z)[0]))(z), 2 * z)
    np.testing.assert_allclose(mg.grad(lambda z: LA.norm(z) ** 2)(z), 2 * np.conj(z))
