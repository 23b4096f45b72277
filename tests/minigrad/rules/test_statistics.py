"""Least squares, polynomials and covariances of Tensors: NumPy's options, its warnings and its errors."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas  # type: ignore[import-untyped]
import pytest

import minigrad as mg
from minigrad import Tensor

NP: Any = np
RNG = np.random.default_rng(0)
X, Y, W, REPEATS = RNG.normal(size=8), RNG.normal(size=(8, 2)), RNG.uniform(1, 2, 8), np.array([2, 1, 0, 1, 1, 3, 1, 1])
M = RNG.normal(size=(3, 8))
Z = M + 1j * RNG.normal(size=M.shape)


def tracked(a: Any) -> Tensor:
    return Tensor(a, requires_grad=True)


def arrays(result: Any) -> list[Any]:
    return [getattr(part, "data", part) for part in (result if isinstance(result, tuple) else (result,))]


def floating(result: Any) -> list[Any]:
    parts = result if isinstance(result, tuple) else (result,)
    return [part for part in parts if isinstance(part, Tensor) and part.dtype.kind in "fc" and part.size]


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "lstsq": (np.linalg.lstsq, (M.T, Y)),
    "lstsq of a vector": (np.linalg.lstsq, (M.T, X)),
    "lstsq underdetermined": (np.linalg.lstsq, (M[:2, :5], X[:2])),
    "lstsq square": (np.linalg.lstsq, (M[:, :3], Y[:3])),
    "lstsq complex": (np.linalg.lstsq, (Z.T, Y + 1j)),
    "lstsq of real and complex": (np.linalg.lstsq, (M.T, Y + 1j * X[:, None])),
    "lstsq rcond": (lambda a, b: np.linalg.lstsq(a, b, rcond=-1), (M.T, Y)),
    "polyfit": (lambda x, y: NP.polyfit(x, y, 3), (X, X**2)),
    "polyfit of degree 0": (lambda x, y: NP.polyfit(x, y, 0), (X, X**2)),
    "polyfit of two": (lambda x, y: NP.polyfit(x, y, 2), (X, Y)),
    "polyfit w": (lambda x, y, w: NP.polyfit(x, y, 2, w=w), (X, Y, W)),
    "polyfit full": (lambda x, y: NP.polyfit(x, y, 2, full=True), (X, Y)),
    "polyfit cov": (lambda x, y: NP.polyfit(x, y, 2, cov=True), (X, Y)),
    "polyfit cov of one": (lambda x, y: NP.polyfit(x, y, 2, cov=True), (X, X**3)),
    "polyfit unscaled": (lambda x, y: NP.polyfit(x, y, 2, cov="unscaled"), (X, Y)),
    "polyfit rcond": (lambda x, y: NP.polyfit(x, y, 2, rcond=1e-5), (X, Y)),
    "polyval": (NP.polyval, (X, Y)),
    "polyval of several": (NP.polyval, (M, X)),
    "cov": (np.cov, (M,)),
    "cov complex": (np.cov, (Z,)),
    "cov of two": (np.cov, (M, X)),
    "cov of a row": (lambda m, y: np.cov(m.T, y[None], rowvar=False), (M, X)),
    "cov columns": (lambda m: np.cov(m, rowvar=False), (M.T,)),
    "cov bias": (lambda m: np.cov(m, bias=True), (M,)),
    "cov ddof": (lambda m: np.cov(m, ddof=3, bias=True), (M,)),
    "cov fweights": (lambda m: np.cov(m, fweights=REPEATS), (M,)),
    "cov aweights": (lambda m, w: np.cov(m, aweights=w), (M, W)),
    "cov weights": (lambda m, w: np.cov(m, fweights=REPEATS, aweights=w, ddof=0), (M, W)),
    "cov both weights": (lambda m, w: np.cov(m, fweights=REPEATS, aweights=w), (M, W)),
    "cov of a vector": (np.cov, (X,)),
    "corrcoef": (np.corrcoef, (M,)),
    "corrcoef complex": (np.corrcoef, (Z,)),
    "corrcoef columns": (lambda x, y: np.corrcoef(x, y, rowvar=False), (M.T, Y)),
    "corrcoef of a vector": (np.corrcoef, (X,)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "args"), CALLS.values(), ids=CALLS)
def test_values_and_derivatives(f: Any, args: Any) -> None:
    for got, want in zip(arrays(f(*map(tracked, args))), arrays(f(*args)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
        assert np.asarray(got).dtype == np.asarray(want).dtype or np.asarray(want).dtype.kind == "i"
    mg.check_grads(lambda *args: floating(f(*args)), args, order=2)
    tangents = tuple(np.cos(a) if a.dtype.kind == "f" else np.cos(a.real) * a for a in args)
    forward = mg.jvp(lambda *args: floating(f(*args)), args, tangents)[1]
    h = 1e-6
    moved = [floating(f(*(tracked(a + s * h * t) for a, t in zip(args, tangents)))) for s in (1, -1)]
    for got, after, before in zip(forward, *moved, strict=True):
        np.testing.assert_allclose(got, (after.data - before.data) / (2 * h), rtol=1e-5, atol=1e-7)


def test_third_derivatives() -> None:
    mg.check_grads(np.polyval, [X[:3], X], order=3)
    mg.check_grads(np.cov, [M[:2, :4]], order=3)
    mg.check_grads(lambda a, b: np.linalg.lstsq(a, b)[0], [M[:2].T, X], order=3)


def test_the_dtypes_are_numpys() -> None:
    for dtype in (np.float32, np.float64, int):
        x, y = np.arange(6).astype(dtype), np.array([1, 0, 2, 5, 3, 4]).astype(dtype)
        for f in (lambda x, y: NP.cov(x, y), lambda x, y: NP.corrcoef(x, y), lambda x, y: NP.cov(x, y, dtype=np.float32),
                  lambda x, y: NP.polyfit(x, y, 1), NP.polyval):  # fmt: skip
            got, want = f(Tensor(x), Tensor(y)), f(x, y)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)


def test_a_rank_that_is_too_small() -> None:
    """The least-norm solution of matrices of one rank is differentiable along them: a = u v^T."""
    u, v, b = X[:4], X[4:7], X[2:6]
    mg.check_grads(lambda u, v, b: np.linalg.lstsq(np.outer(u, v), b, rcond=1e-10)[0], [u, v, b], order=2)
    found = np.linalg.lstsq(np.outer(tracked(u), v), b)
    assert found[1].shape == (0,) and int(found[2]) == 1
    with pytest.warns(np.exceptions.RankWarning):
        NP.polyfit(tracked(np.ones(4)), b, 2)


@pytest.mark.parametrize(
    "m", [np.zeros((0, 3)), np.ones((2, 1)), np.array(3.0), np.ones(0), np.ones((2, 0))], ids=np.shape
)
def test_no_degrees_of_freedom(m: Any) -> None:
    found = []
    for value in (m, tracked(m)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.append((arrays(np.cov(value))[0], {str(one.message) for one in said}))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert np.shape(found[0][0]) == np.shape(found[1][0])
    assert ("Degrees of freedom <= 0 for slice" in found[0][1]) == ("Degrees of freedom <= 0 for slice" in found[1][1])


def test_perfect_correlation_has_second_derivatives() -> None:
    """NumPy cuts coefficients at 1; the largest coefficient has slope 0 and a curvature."""
    x = np.array([1.0, 2.0, 4.0, 3.0])

    def r(t: Any) -> Any:
        return np.corrcoef(x, 2 * x + t * np.array([0.0, 1.0, 0.0, 0.0]))[0, 1]

    assert abs(mg.grad(r)(0.0)) < 1e-12
    h = 1e-3
    curvature = (r(h) - 2 * r(0.0) + r(-h)) / h**2
    assert mg.grad(mg.grad(r))(0.0) == pytest.approx(curvature, rel=1e-3) and curvature < -0.01


def test_like_pandas() -> None:
    table = pandas.DataFrame(M.T, columns=["a", "b", "c"])
    np.testing.assert_allclose(NP.cov(tracked(M)).data, table.cov())
    np.testing.assert_allclose(NP.corrcoef(tracked(M)).data, table.corr())
    np.testing.assert_allclose(NP.cov(tracked(M)[0], table["b"])[0, 1].data, table["a"].cov(table["b"]))


BAD: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "cov axes": (lambda t: np.cov(t[None, None]), ValueError, "cov takes at most two axes for m"),
    "cov axes of y": (lambda t: np.cov(t, t[None, None]), ValueError, "at most two axes for y"),
    "cov ddof": (lambda t: np.cov(t, ddof=0.5), ValueError, "integer for ddof"),
    "cov fweights": (lambda t: NP.cov(t, fweights=W), TypeError, "whole numbers for fweights"),
    "cov negative": (lambda t: np.cov(t, aweights=-W), IndexError, "no negative aweights"),
    "cov shape": (lambda t: np.cov(t, aweights=W[:3]), ValueError, r"aweights of shape \(8,\)"),
    "cov tracked fweights": (lambda t: np.cov(X, fweights=np.round(abs(t))), TypeError, "fweights of cov are whole"),
    "polyfit deg": (lambda t: NP.polyfit(t, t, -1), ValueError, "deg >= 0"),
    "polyfit list": (lambda t: NP.polyfit(t, t, [1, 0]), TypeError, "polyfit"),
    "polyfit x": (lambda t: NP.polyfit(t[None], t, 1), ValueError, "1-D array of at least one point for x"),
    "polyfit y": (lambda t: NP.polyfit(t, t[:3], 1), ValueError, "one row of y"),
    "polyfit w": (lambda t: NP.polyfit(t, t, 1, w=W[:3]), ValueError, "one weight w"),
    "polyfit cov": (lambda t: NP.polyfit(t[:3], t[:3], 2, cov=True), ValueError, "cov='unscaled'"),
    "polyval poly1d": (lambda t: NP.polyval(t, np.poly1d([1.0, 2.0])), TypeError, "poly1d"),
    "polyval p": (lambda t: NP.polyval(t[0], X), ValueError, "1-D array of coefficients"),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD.values(), ids=BAD)
def test_bad_arguments(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        call(tracked(X))
    assert isinstance(error.value, mg.MinigradError)
