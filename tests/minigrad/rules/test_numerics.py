"""What derivatives are where there is no one answer, complex numbers, and results that are not all differentiable.

Of the functions in rules/elementwise, reductions, sorting, calculus and methods.
"""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, UnsupportedError

INF, NAN = math.inf, math.nan
Function = Callable[..., Any]
numpy: Any = np  # for calls that NumPy's types forbid

CONVENTIONS: list[tuple[str, Function, list[Any], list[Any]]] = [
    ("hypot at the origin", np.hypot, [0.0, 0.0], [0.0, 0.0]),
    ("hypot without overflow", np.hypot, [3e200, 4e200], [0.6, 0.8]),
    ("hypot of an infinite number", np.hypot, [INF, -1.0], [1.0, 0.0]),
    ("hypot of infinite numbers", np.hypot, [-INF, INF], [-(0.5**0.5), 0.5**0.5]),
    ("arctan2 at the origin", np.arctan2, [0.0, 0.0], [0.0, 0.0]),
    ("arctan2 without underflow", np.arctan2, [3e-200, 4e-200], [1.6e199, -1.2e199]),
    ("arctan2 of infinite numbers", np.arctan2, [[1.0, INF, -INF], [INF, 2.0, INF]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ("fabs at its kink, 0", np.fabs, [[0.0, -2.0]], [[0.0, -1.0]]),
    ("copysign of 0", np.copysign, [[0.0, -2.0], [-1.0, 3.0]], [[0.0, -1.0], [0.0, 0.0]]),
    ("copysign to -0", np.copysign, [2.0, -0.0], [-1.0, 0.0]),
    ("floor + ceil + rint at their jumps", lambda x: np.floor(x) + np.ceil(x) + np.rint(x), [[1.0, 0.5]], [[0.0, 0.0]]),
    ("trunc: derivative 0 everywhere", np.trunc, [[1.0, -0.5]], [[0.0, 0.0]]),
    ("heaviside around its step at 0", np.heaviside, [[-1.0, 0.0, 1.0], 0.5], [[0.0, 0.0, 0.0], 1.0]),
    ("a tie of fmax is shared", np.fmax, [2.0, 2.0], [0.5, 0.5]),
    ("a tie of fmin is shared", np.fmin, [2.0, 2.0], [0.5, 0.5]),
    ("nan_to_num replaces NaN and inf", np.nan_to_num, [[NAN, INF, -INF, 1.0]], [[0.0, 0.0, 0.0, 1.0]]),
    ("cbrt at 0", np.cbrt, [0.0], [INF]),
    ("arcsin at 1", np.arcsin, [[1.0, -1.0]], [[INF, INF]]),
    ("arccos at 1", np.arccos, [1.0], [-INF]),
    ("arccosh at 1", np.arccosh, [1.0], [INF]),
    ("arctanh at 0.5", np.arctanh, [[0.5, -0.5]], [[4 / 3, 4 / 3]]),
    ("arcsinh of large values", np.arcsinh, [[1e200, -1e200]], [[1e-200, 1e-200]]),
    ("sinc at 0", np.sinc, [[0.0, 1e-5, 1.0]], [[0.0, -(math.pi**2) * 1e-5 / 3 * (1 - math.pi**2 * 1e-11), -1.0]]),
    ("0 ** y for y >= 0", lambda x, y: x**y, [[0.0, 0.0], [0.0, 1.5]], [[0.0, 0.0], [0.0, 0.0]]),
    ("0 ** -1", lambda x, y: x**y, [0.0, -1.0], [-INF, -INF]),
    ("float_power of a negative", lambda x: np.float_power(x, 3), [-2.0], [12.0]),
    ("an array exponent of unsigned integers", lambda x: x ** np.array([0, 1], np.uint8), [[1e300, 2.0]], [[0.0, 1.0]]),
    ("logaddexp of -inf", np.logaddexp, [-INF, 3.0], [0.0, 1.0]),
    ("logaddexp of inf", np.logaddexp, [3.0, INF], [0.0, 1.0]),
    ("logaddexp of -inf twice", np.logaddexp, [-INF, -INF], [0.5, 0.5]),
    ("logaddexp2 of numbers far apart", np.logaddexp2, [1e4, -1e4], [1.0, 0.0]),
    ("logaddexp keeps small shares", np.logaddexp, [0.0, 100.0], [math.exp(-100), 1.0]),
    ("logsumexp of large values", mg.logsumexp, [[1e4, 1e4, -1e4]], [[0.5, 0.5, 0.0]]),
    ("logsumexp of -inf", mg.logsumexp, [[-INF, 2.0]], [[0.0, 1.0]]),
    ("logsumexp of only -inf", mg.logsumexp, [[-INF, -INF]], [[0.5, 0.5]]),
    ("logsumexp of inf", mg.logsumexp, [[INF, 2.0, INF]], [[0.5, 0.0, 0.5]]),
    ("ties of ptp", np.ptp, [[1.0, 3.0, 3.0]], [[-1.0, 0.5, 0.5]]),
    ("ptp of equal numbers", np.ptp, [[2.0, 2.0]], [[0.0, 0.0]]),
    ("the initial value takes part in a tie", lambda x: np.max(x, initial=3.0), [[1.0, 3.0]], [[0.0, 0.5]]),
    ("the initial value is the only maximum", lambda x: np.max(x, initial=4.0), [[1.0, 3.0]], [[0.0, 0.0]]),
    ("nanstd of equal numbers", np.nanstd, [[4.0, NAN, 4.0]], [[0.0, 0.0, 0.0]]),
    ("nansum of only NaN", np.nansum, [[NAN, NAN]], [[0.0, 0.0]]),
    ("prod with one zero", np.prod, [[0.0, 2.0, 3.0]], [[6.0, 0.0, 0.0]]),
    ("prod with two zeros", np.prod, [[0.0, 2.0, 0.0]], [[0.0, 0.0, 0.0]]),
    ("prod without intermediate overflow", np.prod, [[1e200, 1e-200, 1e200, 0.0]], [[0.0, 0.0, 0.0, 1e200]]),
    ("np.sort(x)[0] at a tie: the sort is stable", lambda x: np.sort(x)[0], [[2.0, 1.0, 1.0]], [[0.0, 1.0, 0.0]]),
    ("median of an even number of elements", np.median, [[4.0, 1.0, 2.0, 9.0]], [[0.5, 0.0, 0.5, 0.0]]),
    ("median of equal numbers", lambda x: np.median(x), [[2.0, 2.0, 2.0]], [[0.0, 1.0, 0.0]]),
    ("unique takes the first of equal elements", lambda x: np.unique(x), [[2.0, 1.0, 2.0]], [[1.0, 1.0, 0.0]]),
    ("interp at a knot", lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]), [[1.0, 2.0, 0.0]], [[4.0, 0.0, 1.0]]),
    ("interp beyond equal knots", lambda f: np.interp(3.0, [0.0, 1.0, 1.0], f), [[1.0, 2.0, 4.0]], [[0.0, 0.0, 1.0]]),
    ("interp to an infinite value", lambda x: np.interp(x, [0.0, 1.0, 2.0], [1.0, 2.0, INF]), [[0.5, 1.5]], [[1.0, INF]]),
    ("running maximum", np.maximum.accumulate, [[1.0, 3.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 0.0, 1.0, 1.0]]),
    ("running minimum", lambda x: np.minimum.accumulate(x, axis=1), [[[2.0, 3.0], [3.0, 1.0]]], [[[2.0, 0.0], [1.0, 1.0]]]),
    ("angle of 0", lambda x: np.angle(x * (1 + 1j)), [0.0], [0.0]),
    ("abs of complex 0", lambda x: np.abs(x * (1 + 1j)), [0.0], [0.0]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, about the inf and NaN of the values
@pytest.mark.parametrize(("f", "inputs", "want"), [c[1:] for c in CONVENTIONS], ids=[c[0] for c in CONVENTIONS])
def test_conventions(f: Function, inputs: list[Any], want: list[Any]) -> None:
    for create_graph in (False, True):
        tensors = [Tensor(x, requires_grad=True) for x in inputs]
        f(*tensors).sum().backward(create_graph=create_graph)
        for t, expected in zip(tensors, want, strict=True):
            got = np.zeros(t.shape) if t.grad is None else t.grad.data
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


SECOND: list[tuple[str, Function, float, float]] = [
    ("tanh", np.tanh, 1000.0, 0.0), ("arctan", np.arctan, 1e200, 0.0), ("sinc", np.sinc, 0.0, -(math.pi**2) / 3),
    ("logaddexp", lambda x: np.logaddexp(x, 0.0), 1000.0, 0.0), ("logaddexp", lambda x: np.logaddexp(x, 0.0), 0.0, 0.25),
    ("logaddexp2", lambda x: np.logaddexp2(x, 0.0), 0.0, 0.25 * math.log(2)),
    ("square of prod", lambda x: np.prod(x * np.array([1.0, 2.0])), 0.0, 4.0),
    ("hypot", lambda x: np.hypot(x, 0.0), 0.0, 0.0), ("x ** 2.0", lambda x: x ** np.array(2.0), 0.0, 2.0),
    ("x ** 1.0", lambda x: x ** np.array(1.0), 0.0, 0.0), ("cumprod", lambda x: np.cumprod(np.stack([x, x, x]))[1], 0.0, 2.0),
    ("logsumexp of large", lambda x: mg.logsumexp(np.stack([x, x * 0 + 1e4])), 1e4, 0.25),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "want"), [c[1:] for c in SECOND], ids=[c[0] for c in SECOND])
def test_second_order(f: Function, x: float, want: float) -> None:
    assert mg.grad(mg.grad(f))(x) == pytest.approx(want, rel=1e-12, abs=1e-100)


def test_mixed_derivative_of_power_at_exponent_zero() -> None:
    """d2 x**y / dx dy = x**(y-1) (1 + y log x), which is 1/x at y = 0."""
    mixed = mg.grad(lambda y: mg.grad(lambda x: x**y)(Tensor(2.0)))
    assert mixed(np.array(0.0)) == pytest.approx(0.5)


def test_third_derivative_of_a_product() -> None:
    x = np.array([0.0, 0.0, 5.0, 0.0])
    f = mg.grad(lambda a: mg.grad(lambda b: mg.grad(np.prod)(b)[0])(a)[1])  # d/dx of d2 prod / dx0 dx1 = x2 x3
    np.testing.assert_array_equal(f(x), [0.0, 0.0, 0.0, 5.0])


COMPLEX: list[Function] = [
    np.real, np.imag, np.conjugate, np.angle, np.abs, np.tan, np.sinh, np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan,
    np.arcsinh, np.arccosh, np.arctanh, np.log, np.log2, np.log1p, np.sqrt, np.expm1, np.exp2, np.reciprocal, np.prod,
    np.cumprod, np.cumsum, np.mean, np.nanmean, np.nanvar, np.nansum, mg.logsumexp, np.sort, np.diff, np.sinc,
    lambda z: z**2, lambda z: z**0.5, lambda z: z**z, lambda z: 2**z, lambda z: z.real * z.imag, lambda z: (z * z.conj()).real,
    lambda z: np.convolve(z.ravel(), z[0]), lambda z: np.correlate(z.ravel(), z[0]), np.nan_to_num, np.sign, np.max,
    lambda z: np.std(z, axis=0), lambda z: np.average(z, axis=1, weights=z * 2), lambda z: np.gradient(z, axis=0, edge_order=1),
    lambda z: np.interp(np.abs(z), np.array([0.1, 1.0, 2.3]), z.ravel()[:3])
]  # fmt: skip
REFUSED = {"nan_to_num", "sign"}


@pytest.mark.parametrize("f", COMPLEX)
def test_complex(f: Function) -> None:
    z = np.array([[0.3 + 0.4j, -0.6 + 0.5j], [0.5 - 0.7j, 0.1 + 0.2j]])
    if getattr(f, "__name__", "") in REFUSED:
        with pytest.raises(UnsupportedError, match="complex"):
            f(Tensor(z, requires_grad=True)).sum().backward()
    else:
        mg.check_grads(f, [z])


def test_unique_gives_plain_indices_and_counts() -> None:
    a = np.array([[3.0, 1.0], [1.0, 3.0], [3.0, 1.0]])
    for axis in (None, 0):
        for flags in [(True, False, False), (False, True, True), (True, True, True)]:
            want, got = (
                numpy.unique(a, *flags, axis=axis),
                numpy.unique(Tensor(a, requires_grad=True), *flags, axis=axis),
            )
            assert isinstance(got[0], Tensor) and got[0].requires_grad
            np.testing.assert_array_equal(got[0].data, want[0])
            for found, expected in zip(got[1:], want[1:], strict=True):
                assert type(found) is np.ndarray
                np.testing.assert_array_equal(found, expected)


def test_returned_counts_of_an_unweighted_average() -> None:
    mean, count = np.average(Tensor(np.arange(6.0).reshape(2, 3)), axis=1, returned=True)
    np.testing.assert_array_equal(mean.data, [1.0, 4.0])
    np.testing.assert_array_equal(count.data, [3.0, 3.0])


@pytest.mark.parametrize("f", [lambda x: np.float_power(x, 2), lambda x: np.interp(x, [0.0, 1.0], [2.0, 3.0])])
def test_numpys_own_double_precision(f: Function) -> None:
    x = Tensor(np.array([0.5, 0.25], np.float32), requires_grad=True)
    y = f(x)
    assert y.dtype == np.float64 == f(x.data).dtype
    y.sum().backward()
    assert x.grad is not None and x.grad.dtype == np.float32


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [np.median, lambda x: np.quantile(x, [0.2, 0.7]), np.nanmedian, np.sort, np.maximum.accumulate,
                               np.fmin, lambda x: np.nanquantile(x, 0.3)])  # fmt: skip
@pytest.mark.parametrize("values", [[1.0, NAN, 3.0, 2.0], [NAN, NAN], [1.0], [2.0, 1.0]])
def test_values_with_nan(f: Function, values: list[float]) -> None:
    a = np.array(values)
    arguments = (a, a[::-1]) if f is np.fmin else (a,)
    np.testing.assert_array_equal(f(Tensor(a), *arguments[1:]).data, f(*arguments))


def test_empty_logsumexp_says_so() -> None:
    with pytest.raises(mg.MinigradError, match="logsumexp"):
        mg.logsumexp(Tensor(np.zeros((0, 3))), axis=0)


LOW: Any = "low"  # no method of quantiles
MISTAKES: list[tuple[Function, type[Exception], str]] = [
    (lambda t: np.diff(t, axis=2), mg.OutOfRangeError, "axis=2"),
    (lambda t: np.diff(t, n=-1), mg.ArgumentError, "n >= 0"),
    (lambda t: np.median(t, axis=(0, 0)), mg.OutOfRangeError, "each once"),
    (lambda t: np.quantile(t, 1.5), mg.ArgumentError, "0 ... 1"),
    (lambda t: np.quantile(t, 0.5, method=LOW), mg.ArgumentError, "'lower'.*got 'low'"),
    (lambda t: np.quantile(t, 0.5, method="inverted_cdf", weights=t), UnsupportedError, "weights"),
    (lambda t: np.linspace(t, 1.0, -1), mg.ArgumentError, "num >= 0, got -1"),
    (lambda t: np.linspace(t, 1.0, device="cpu"), UnsupportedError, "device"),
    (lambda t: np.cumulative_sum(t[None]), mg.ArgumentError, "several axes"),
    (lambda t: np.std(t, ddof=1, correction=2), mg.ArgumentError, "ddof=1 and correction=2"),
    (lambda t: np.median(t, overwrite_input=True), UnsupportedError, "overwrite_input"),
    (lambda t: np.gradient(t, 1.0, 2.0, 3.0), mg.ArgumentError, "spacing"),
    (lambda t: np.gradient(t, np.arange(3.0), axis=0), mg.ShapeError, "coordinates"),
    (lambda t: np.gradient(t[:1], axis=0), mg.ShapeError, "2 points"),
    (lambda t: numpy.gradient(t, edge_order=3), mg.ArgumentError, "edge_order"),
    (lambda t: np.interp(t, [0.0, 1.0], [1.0]), mg.ShapeError, "one length"),
    (lambda t: np.convolve(t, t), mg.ShapeError, "1-D"),
    (lambda t: numpy.convolve(t[0], t[0], "all"), mg.ArgumentError, "mode"),
    (lambda t: np.average(t, weights=[1.0, 2.0]), mg.ShapeError, "weights"),
    (lambda t: np.average(t, axis=0, weights=[1.0, -1.0]), mg.ArgumentError, "sum to zero"),
    (lambda t: np.trapezoid(t.sum()), mg.ShapeError, "0-d"),
    (lambda t: np.sum(t, where=t > 0, out=t), UnsupportedError, "out"),
    (lambda t: np.sort(t, order="f"), UnsupportedError, "order"),
    (lambda t: np.nan_to_num(t, copy=False), UnsupportedError, "copy"),
    (lambda t: np.subtract.reduce(t), UnsupportedError, "np.subtract.reduce"),
    (lambda t: np.add.reduceat(t, [0, 1]), UnsupportedError, "np.add.reduceat"),
    (lambda t: np.add.reduce(t, out=t), UnsupportedError, "out"),
    (lambda t: np.frexp(t), UnsupportedError, "np.frexp"),
    (lambda t: np.nextafter(t, 1.0), UnsupportedError, "np.nextafter"),
    (lambda t: np.spacing(t), UnsupportedError, "np.spacing"),
    (lambda t: np.i0(t), UnsupportedError, "np.i0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_mistakes(call: Function, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(Tensor(np.arange(1.0, 9.0).reshape(2, 4), requires_grad=True))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("form", ["plain", "numpy", "compiled"])
@pytest.mark.parametrize("mean", [0.0, 1e2, 1e4])
def test_layer_norm_far_from_zero_is_as_accurate_in_every_form(form: str, mean: float) -> None:
    """The mean of a row has a rounding error, relative to the mean, not to what is left of the row without it."""
    rng = np.random.default_rng(0)
    arrays = [(rng.standard_normal(n) + m).astype(np.float32) for n, m in (((300, 37), mean), (37, 1.0), (37, 0.0))]
    g = rng.standard_normal((300, 37)).astype(np.float32)

    def derivatives(dtype: Any) -> list[Any]:
        inputs = [Tensor(a.astype(dtype), requires_grad=True) for a in arrays]
        y = mg.layer_norm(*inputs)
        y.backward(g)
        return [y.numpy(), *[t.grad.numpy() for t in inputs if t.grad is not None]]

    want = derivatives(np.float64)
    if form == "compiled":
        pytest.importorskip("numba", reason="needs numba")
        mg.compiled_kernels()
    try:
        with mg.reference_mode() if form == "plain" else contextlib.nullcontext():
            got = derivatives(np.float32)
    finally:
        if form == "compiled":
            mg.compiled_kernels(False)
    for ours, exact in zip(got, want, strict=True):
        assert np.abs(ours - exact).max() < 2e-6 * np.abs(exact).max()


# --- interpolation where knots are equal, and where knots or values are infinite ---

KNOTS: dict[str, tuple[list[float], list[float]]] = {
    "equal at the right end": ([0, 1, 2, 2], [1, 2, 4, 8]), "equal at the left end": ([0, 0, 1], [3, 5, 7]),
    "equal inside": ([0, 1, 1, 1, 2], [1, 2, 3, 4, 5]), "all equal": ([1, 1], [2, 3]), "one": ([1], [2]),
    "infinite value": ([0, 1, 2], [1, 2, INF]), "infinite values": ([0, 1, 2], [-INF, 2, INF]),
    "equal infinite values": ([0, 1, 2], [-INF, -INF, 1]), "opposite infinite values": ([0, 1, 2], [INF, -INF, 1]),
    "infinite knot": ([0, 1, INF], [1, 2, 4]), "infinite knots": ([-INF, 1, INF], [1, 2, 4]),
    "only infinite knots": ([-INF, INF], [2, 2]), "NaN": ([0, 1, 2], [1, 2, NAN]),
}  # fmt: skip


@pytest.mark.parametrize(("knots", "values"), KNOTS.values(), ids=KNOTS)
def test_interp_gives_numpys_values_and_weights(knots: list[float], values: list[float]) -> None:
    """The derivatives by the values are the weights of the two knots around x, whatever the values are."""
    xp, fp = np.array(knots, float), np.array(values, float)
    x = np.array([-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 3.0, INF, -INF, NAN])
    np.testing.assert_array_equal(np.interp(Tensor(x), xp, fp).data, np.interp(x, xp, fp))
    for one in x[:-1]:
        weights = mg.grad(lambda f, one=one: np.interp(one, xp, f))(fp)
        if np.isfinite(xp[0]) or np.isfinite(xp[-1]) or len(xp) > 2:  # else both ends are infinitely far
            np.testing.assert_allclose(weights, [np.interp(one, xp, unit) for unit in np.eye(len(xp))], atol=1e-15)
        if np.isfinite(np.interp(one, xp, fp)) and np.isfinite(fp).all():
            assert np.isfinite(mg.grad(lambda v: np.interp(v, xp, fp))(one))
            assert np.isfinite(mg.grad(lambda q, one=one: np.interp(one, q, fp))(xp)).all()


def test_an_infinite_slope_of_interp_moves_no_knot_that_has_no_share() -> None:
    found = [
        mg.grad(lambda q, x=x: np.interp(x, q, [1.0, 2.0, INF]))(np.array([0.0, 1.0, 2.0])) for x in (0.5, 1.0, 1.5)
    ]
    np.testing.assert_array_equal(found, [[-0.5, -0.5, 0.0], [0.0, -INF, 0.0], [0.0, -INF, -INF]])


# --- lengths of infinite vectors ---


def test_the_derivative_of_an_infinite_length_is_the_direction() -> None:
    half = 0.5**0.5
    for z, want in [
        (complex(INF, 0), 1),
        (complex(-INF, 5), -1),
        (complex(2, INF), -1j),
        (complex(INF, -INF), half + half * 1j),
    ]:
        for found in (
            mg.grad(np.abs)(z),
            mg.grad(lambda z: np.abs(z)[0])(np.array([z, 3 + 4j]))[0],
            mg.grad(lambda z: np.sum(np.abs(z)))(np.array([3 + 4j, z]))[1],
        ):
            np.testing.assert_allclose(found, want)
    np.testing.assert_array_equal(mg.hessian(lambda v: np.hypot(v[0], v[1]))(np.array([INF, 1.0])), 0)
    np.testing.assert_array_equal(mg.hessian(lambda v: np.arctan2(v[0], v[1]))(np.array([INF, 1.0])), 0)
    np.testing.assert_allclose(
        mg.grad(lambda x: np.sum(np.hypot(x, 4.0)))(np.array([3.0, INF, NAN], np.float32)), np.array([0.6, 1.0, NAN])
    )
    assert np.isnan(mg.grad(lambda x: np.arctan2(x, INF))(NAN)) and mg.grad(lambda z: np.angle(z))(complex(INF, 1)) == 0
