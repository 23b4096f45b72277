"""The formulas that replace NumPy's, over the whole range, in units in the last place of the exact result."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from tests.lazy import scipy
from tests.minigrad.rules.test_ranges import whole_range

Exact = Callable[..., Decimal]
DIGITS = Context(prec=60, Emax=10**9, Emin=-(10**9))
LOG_2 = Decimal(2).ln(DIGITS)


def units(got: Any, want: list[Any], size: list[Any] | None = None) -> float:
    """Return the largest error in units in the last place of ``size``, by default of the result itself."""
    dtype: Any = got.dtype.type
    worst = 0.0
    for a, true, large in zip(got.tolist(), want, want if size is None else size, strict=True):
        if abs(true) > Fraction(float(np.finfo(dtype).max)):
            assert math.isinf(a) and (a > 0) == (true > 0), (a, true)
            continue
        unit = Fraction(float(np.spacing(min(np.abs(dtype(float(large))), np.finfo(dtype).max / 2))))
        worst = max(worst, float(abs(Fraction(a) - Fraction(true)) / unit))
    return worst


def gradients(f: Any, *arrays: Any) -> list[Any]:
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    with np.errstate(all="ignore"):
        f(*tensors).backward(np.ones(np.broadcast_shapes(*map(np.shape, arrays)), arrays[0].dtype))
    return [t.grad.numpy() for t in tensors if t.grad is not None]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [-2, 0, 1, 2, 3, 4, 3.0])
def test_a_small_whole_power_is_within_two_units(n: float, dtype: Any) -> None:
    x = whole_range(dtype)
    x = np.concatenate([x[x != 0], np.random.default_rng(0).normal(size=2000).astype(dtype)])
    exact = [Fraction(v) for v in x.tolist()]
    with np.errstate(all="ignore"):
        got = (Tensor(x) ** n).numpy()
    assert got.dtype == dtype and units(got, [v ** int(n) for v in exact]) < 2
    (slope,) = gradients(lambda t: t**n, x)
    assert units(slope, [int(n) * v ** (int(n) - 1) if n else Fraction(0) for v in exact]) < 3.5


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0.5, -0.5])
def test_a_root_is_within_two_units(n: float, dtype: Any) -> None:
    x = np.abs(whole_range(dtype))
    with localcontext(DIGITS):
        exact = [Decimal(v) ** Decimal(n) if v else Decimal(0) for v in x.tolist()]
        slopes = [Decimal(n) * Decimal(v) ** Decimal(n - 1) if v else Decimal(0) for v in x.tolist()]
    positive = np.flatnonzero(x)
    with np.errstate(all="ignore"):
        got = (Tensor(x) ** n).numpy()
    assert units(got[positive], [exact[i] for i in positive]) < 2
    (slope,) = gradients(lambda t: t**n, x)
    assert units(slope[positive], [slopes[i] for i in positive]) < 4
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(Tensor(x[x == 0]) ** n, np.power(x[x == 0], n))
        np.testing.assert_array_equal(
            Tensor(np.array([-0.0, np.inf, np.nan])) ** n, np.power([-0.0, np.inf, np.nan], n)
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_numbers_of_whole_powers_are_numpys() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0])
    for n in (-2, 0, 1, 2, 3, 4):
        np.testing.assert_array_equal(Tensor(x) ** n, np.power(x, n))
        np.testing.assert_array_equal(np.signbit((Tensor(x) ** n).numpy()), np.signbit(np.power(x, n)))
    whole = np.array([3, -2])
    assert (Tensor(whole) ** 3).tolist() == [27, -8] and (Tensor(whole) ** 3.0).dtype == np.float64
    assert np.power(Tensor(np.array([2], np.float32)), 3, dtype=np.float64).dtype == np.float64


def pairs(dtype: Any) -> tuple[Any, Any]:
    x = whole_range(dtype)
    x = x[np.abs(x) < np.finfo(dtype).max / 4]
    return np.concatenate([x, x, x]), np.concatenate([np.roll(x, 7), np.zeros_like(x), x * dtype(1.0009765625)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("base", ["e", "2"])
def test_the_logarithm_of_a_sum_of_exponentials(base: str, dtype: Any) -> None:
    """The shares relative to themselves; the value relative to the larger argument or the added logarithm."""
    function, unit = (np.logaddexp, Decimal(1)) if base == "e" else (np.logaddexp2, LOG_2)
    x, y = pairs(dtype)
    with localcontext(DIGITS):
        gaps = [max(-abs(Decimal(a) - Decimal(b)), Decimal(-1200)) * unit for a, b in zip(x.tolist(), y.tolist())]
        added = [(1 + d.exp()).ln() / unit for d in gaps]
        want = [max(Decimal(a), Decimal(b)) + c for a, b, c in zip(x.tolist(), y.tolist(), added)]
        shares = [(1 if a >= b else d.exp()) / (1 + d.exp()) for a, b, d in zip(x.tolist(), y.tolist(), gaps)]
    got = function(Tensor(x), y).numpy()
    size = [max(abs(w), c) for w, c in zip(want, added)]
    assert units(got, want, size) <= max(units(function(x, y), want, size) + 1, 2)
    (gradient,) = gradients(lambda t: function(t, y), x)
    assert units(gradient, shares, [s * max(Decimal(1), -d) for s, d in zip(shares, gaps)]) < 3.5


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
def test_infinite_arguments_of_a_large_logarithm_of_a_sum(function: Any) -> None:
    ends = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.7e308, -1.7e308]
    x, y = (np.tile(a, 6).ravel() for a in np.meshgrid(ends, ends))
    with np.errstate(all="raise", over="ignore", under="ignore"):
        got = function(Tensor(x), y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, function(x, y))
    for order in ((x, y), (y, x)):
        large, small = (gradients(lambda t, o=o: function(t, o), a)[0] for a, o in ((order), (order[::-1])))
        np.testing.assert_allclose(large + small, np.where(np.isnan(x) | np.isnan(y), np.nan, 1), rtol=1e-15)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sigmoid_is_within_three_units(dtype: Any) -> None:
    for x in (whole_range(dtype), np.linspace(-87, 87, 9999).astype(dtype), np.linspace(-9, 9, 9999).astype(dtype)):
        with localcontext(DIGITS):
            ends = [min(max(Decimal(v), Decimal(-1500)), Decimal(1500)) for v in x.tolist()]
            shares = [1 / (1 + (-v).exp()) for v in ends]
            slopes = [a / (1 + v.exp()) for a, v in zip(shares, ends)]
        for form in (mg.sigmoid(x), mg.sigmoid.function(x)):
            assert units(form, shares) < 3
        (slope,) = gradients(mg.sigmoid, x)
        assert units(slope, slopes) < 5


def test_the_error_function_is_within_two_units() -> None:
    x = np.concatenate([whole_range(np.float64), np.linspace(-6.5, 6.5, 70_001)])
    got = mg.erf(x)
    np.testing.assert_array_equal(got, -mg.erf(-x))
    np.testing.assert_array_equal(mg.erf(np.array([np.inf, -np.inf, np.nan])), [1, -1, np.nan])
    true = np.array([math.erf(v) for v in x.tolist()])  # to one unit
    assert (np.abs(got - true) / np.spacing(np.abs(true))).max() <= 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_derivative_of_arctan2(dtype: Any) -> None:
    x, y = pairs(dtype)
    (slope,) = gradients(lambda t: np.arctan2(t, y), x)
    squares = [Fraction(a) ** 2 + Fraction(b) ** 2 for a, b in zip(x.tolist(), y.tolist())]
    want = [Fraction(b) / s if s else Fraction(0) for b, s in zip(y.tolist(), squares)]
    normal = [
        i for i, w in enumerate(want) if abs(w) > float(np.finfo(dtype).tiny) and abs(y[i]) > np.finfo(dtype).tiny
    ]
    assert units(slope[normal], [want[i] for i in normal]) < 4
    assert np.isfinite(slope[[abs(w) < float(np.finfo(dtype).max) for w in want]]).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parts", [slice(None), slice(1, None, 2)], ids=["whole range", "moderate"])
def test_the_length_of_a_vector(parts: slice, dtype: Any) -> None:
    """Squares of the whole range overflow, so NumPy's hypot computes it; moderate squares are added."""
    x, y = pairs(dtype)
    if parts.step:
        info = np.finfo(dtype)
        with np.errstate(over="ignore"):
            squares = x * x + y * y
        both = (squares > 4 * info.tiny / info.eps) & (squares < info.max / 4)
        x, y = np.tile(x[both], 9), np.tile(y[both], 9)
    with localcontext(DIGITS):
        want = [(Decimal(a) ** 2 + Decimal(b) ** 2).sqrt() for a, b in zip(x.tolist(), y.tolist())]
    got = np.hypot(Tensor(x), y).numpy()
    assert x.size > 256 and units(got, want) < 1.25
    ends = np.tile(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], dtype), 99)
    np.testing.assert_array_equal(np.hypot(Tensor(ends), ends[::-1].copy()), np.hypot(ends, ends[::-1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "fabs"])
def test_a_faster_form_gives_numpys_numbers(name: str, dtype: Any) -> None:
    """Within two units of NumPy's, in any layout, at zeros, infinities and NaN; other dtypes and keywords go to NumPy."""
    function = getattr(np, name)
    x = np.concatenate([whole_range(dtype), np.random.default_rng(0).normal(size=2000).astype(dtype)])
    x = x[: x.size // 2 * 2].reshape(2, -1)
    with np.errstate(all="ignore"):
        for given in (x, x.T, x[:, ::2], x[x != 0], np.array([[0.0, -0.0, np.inf, -np.inf, np.nan]] * 99, dtype)):
            got, want = function(Tensor(given)).numpy(), function(given)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=2 * np.finfo(dtype).eps, atol=0)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    whole = np.arange(300, dtype=np.int16)
    assert function(Tensor(whole)).dtype == function(whole).dtype


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_derivative_of_a_remainder_is_numpys_quotient(dtype: Any) -> None:
    random = np.random.default_rng(0)
    x, y = (np.round(random.normal(size=5000) * 8, 2).astype(dtype) for _ in range(2))
    x[:4], y[:4], y[y == 0] = [-1, 1, 0, -0.0], [np.inf, -np.inf, 3, -3], 1
    (slope,) = gradients(lambda t: np.remainder(x, t), y)
    np.testing.assert_array_equal(slope, -np.floor_divide(x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sinc_far_and_near(dtype: Any) -> None:
    x = np.concatenate([np.linspace(-0.3, 0.3, 501), 10.0 ** np.linspace(-30, -2, 99)]).astype(dtype)
    (slope,) = gradients(np.sinc, x)
    with localcontext(DIGITS):
        u = [
            (Decimal("3.14159265358979323846264338327950288419716939937510582097494") * Decimal(v)) for v in x.tolist()
        ]
        rows = [[(-1) ** k * 2 * k * v ** (2 * k) / math.factorial(2 * k + 1) for k in range(1, 30)] for v in u]
        want = [sum(row, Decimal(0)) / Decimal(v) if v else Decimal(0) for row, v in zip(rows, x.tolist())]
    assert units(slope, want, [max(abs(w), Decimal("0.05") * abs(Decimal(v))) for w, v in zip(want, x.tolist())]) < 50


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logit_and_expit_of_scipy(dtype: Any) -> None:
    special = pytest.importorskip("minigrad.scipy_special", exc_type=ImportError)
    x = np.abs(whole_range(dtype))
    small = x[(x > 0) & (x < 0.5)]
    x = np.concatenate([small, 1 - small[small > np.finfo(dtype).eps], 0.5 + small / 2, 0.5 - small / 2])
    x = x[(x > 0) & (x < 1)]
    assert x.size > 256
    with localcontext(DIGITS):
        want = [(Decimal(v) / (1 - Decimal(v))).ln() if v != 0.5 else Decimal(0) for v in x.tolist()]
    assert units(special.logit(x), want) < 4
    ends = np.tile(np.array([0.0, 1.0, -0.5, 1.5, np.nan, np.inf], dtype), 50)
    np.testing.assert_array_equal(special.logit(ends), scipy.special.logit(ends))
    x = whole_range(dtype)
    np.testing.assert_array_equal(special.expit(x), mg.sigmoid.function(x))


def series_of_bessel(x: Decimal, order: int) -> Decimal:
    """Return I_n(x), the sum of (x/2)^(2k + n) / (k! (k + n)!)."""
    total, term, k = Decimal(0), (x / 2) ** order / math.factorial(order) if order else Decimal(1), 0
    while term and abs(term) > abs(total) * Decimal("1e-30"):
        total, k = total + term, k + 1
        term *= (x / 2) ** 2 / (k * (k + order))
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["i1", "i1e"])
def test_the_slope_of_a_modified_bessel_function(name: str, dtype: Any) -> None:
    special = pytest.importorskip("minigrad.scipy_special", exc_type=ImportError)
    x = np.concatenate([np.linspace(-20, 20, 161), 10.0 ** np.linspace(-30, 0, 61), [0.0]]).astype(dtype)
    want, size = [], []
    with localcontext(DIGITS):
        for number in map(Decimal, x.tolist()):
            i0, i1, i2 = (series_of_bessel(number, order) for order in range(3))
            falling = (-abs(number)).exp() if name == "i1e" else Decimal(1)
            size.append(falling * (i0 + i2) / 2)
            want.append(size[-1] - (falling * abs(i1) if name == "i1e" else 0))
    (slope,) = gradients(getattr(special, name), x)
    assert units(slope, want, size) < (2 if dtype == np.float32 else 6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trigamma_is_within_three_units(dtype: Any) -> None:
    special = pytest.importorskip("minigrad.scipy_special", exc_type=ImportError)
    x = np.concatenate([np.linspace(0.01, 30, 300), 10.0 ** np.linspace(-18, 18, 73)]).astype(dtype)
    terms = [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66)]
    want = []
    with localcontext(DIGITS):
        for number in map(Decimal, x.tolist()):
            far = number + 1000
            tail = 1 / far + 1 / (2 * far**2)
            tail += sum((b.numerator / (b.denominator * far ** (2 * k + 3)) for k, b in enumerate(terms)), Decimal(0))
            want.append(tail + sum((1 / (number + k) ** 2 for k in range(1000)), Decimal(0)))
    assert units(special.polygamma(1, x), want) < 3
    ends = np.array([np.inf, 0.0, -0.0, -1.0, -0.5, np.nan])
    for given in (ends, ends[:1], ends[1:2], ends[5:]):
        np.testing.assert_array_equal(special.polygamma(1, given), scipy.special.polygamma(1, given))
