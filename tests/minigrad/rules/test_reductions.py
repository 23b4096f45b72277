"""Sorting, products and sums of exponentials where a fast formula could differ from the plain one."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from minigrad.kernels.numpy import reductions as kernel

INF, NAN = np.inf, np.nan


def gradient(f: Any, x: Any, g: Any) -> Any:
    t = Tensor(x, requires_grad=True)
    f(t).backward(g)
    assert t.grad is not None
    return t.grad.numpy()


def with_ties(dtype: Any) -> Any:
    """Rows of few values, and for floats their ends."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2 if dtype == np.bool_ else 9, (40, 60)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[:, ::7] = random.choice([NAN, -NAN, INF, -INF, 0.0, -0.0, np.finfo(dtype).tiny / 2], x[:, ::7].shape)
        x[3], x[4], x[5] = NAN, 0.0, -INF
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [np.sort, lambda x: np.partition(x, 7)])
def test_cotangents_go_back_to_their_elements(f: Any, dtype: Any) -> None:
    x = with_ties(dtype)
    g = np.random.default_rng(1).standard_normal(x.shape).astype(dtype)
    want, sorted_g = np.empty_like(g), np.take_along_axis(g, np.argsort(f(x), axis=-1, kind="stable"), -1)
    np.put_along_axis(want, np.argsort(x, axis=-1, kind="stable"), sorted_g, -1)
    np.testing.assert_array_equal(gradient(f, x, g), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_median_of_equal_elements_belongs_to_the_middle_ones_in_order(dtype: Any) -> None:
    x = np.nan_to_num(with_ties(dtype), posinf=5, neginf=-5)
    order = np.argsort(x, axis=-1, kind="stable")[:, 29:31]
    want = np.zeros_like(x)
    np.put_along_axis(want, order, 0.5, -1)
    np.testing.assert_array_equal(gradient(lambda t: np.median(t, axis=-1), x, np.ones(40, dtype)), want)


# --- products ---


def nearest(number: Fraction | int) -> float:
    try:
        return float(number)
    except OverflowError:
        return INF if number > 0 else -INF


def exact(x: Any, g: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of prod and cumprod along the rows, and for cumprod the sums of the absolute terms."""
    tables: tuple[list[Any], list[Any], list[Any]] = [], [], []
    for row, of_row in zip(x.tolist(), g.tolist(), strict=True):
        a, b = [Fraction(v) for v in row], [Fraction(v) for v in of_row]
        places = range(len(a))
        terms = [[b[j] * math.prod(a[:i] + a[i + 1 : j + 1]) for j in places[i:]] for i in places]
        tables[0].append([nearest(math.prod(a[:i] + a[i + 1 :])) for i in places])
        tables[1].append([nearest(sum(t, Fraction(0))) for t in terms])
        tables[2].append([nearest(sum(map(abs, t), Fraction(0))) for t in terms])
    return np.array(tables[0]), np.array(tables[1]), np.array(tables[2])


def products(dtype: Any) -> Any:
    """Rows whose products stay in range, and rows with every end of the range."""
    random = np.random.default_rng(0)
    x = random.normal(size=(14, 12)).astype(dtype)
    info = np.finfo(dtype)
    x[8:] = random.choice([0.0, -0.0, info.tiny, info.smallest_subnormal, 1.5, -2.0, info.max / 4, 1 / 4], (6, 12))
    return x


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("rows", [slice(0, 8), slice(8, 14), slice(0, 14)], ids=["safe", "ends", "both"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_in_every_range(dtype: Any, rows: slice, axis: int) -> None:
    """The quotient is as exact as the product of the others, and products that leave the range are as before."""
    x = products(dtype)[rows]
    g = np.random.default_rng(1).normal(size=x.shape).astype(dtype)
    others, running, sizes = exact(x, g)
    if axis == 0:
        x, g, others, running, sizes = (np.ascontiguousarray(a.T) for a in (x, g, others, running, sizes))
    of_one = np.ones(len(x) if axis else x.shape[1], dtype)

    def both() -> list[Any]:
        return [gradient(lambda t: np.prod(t, axis), x, of_one), gradient(lambda t: np.cumprod(t, axis), x, g)]

    with np.errstate(all="ignore"):
        fast = both()
        with mg.reference_mode():
            plain = both()
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    for got, before, true, size in zip(fast, plain, (others, running), (np.abs(others), sizes), strict=True):
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(before))
        fine = np.isfinite(before) & (size > 1e3 * tiny) & np.isfinite(size)
        error, error_before = (np.abs(a[fine].astype(float) - true[fine]) / size[fine] / eps for a in (got, before))
        assert np.max(error, initial=0) <= np.max(error_before, initial=0) + 1, (error.max(), error_before.max())


@pytest.mark.parametrize("f", [lambda t: np.prod(t, -1), lambda t: np.cumprod(t, -1)])
def test_large_cotangents_of_products_do_not_overflow(f: Any) -> None:
    """``g * ans`` would: the others are multiplied first."""
    x = np.full((2, 2), 2.0**40, np.float32)
    g = np.full(f(x).shape, 2.0**60, np.float32)
    assert np.isfinite(gradient(f, x, g)).all()


def all_others(a: Any, axis: int | None) -> Any:
    """Return the product of the others for each element, from sums of logarithms in double precision."""
    logs = np.log(a.astype(np.float64))
    return np.exp(logs.sum(axis, keepdims=True) - logs)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize(("dtype", "n"), [(np.float32, 2000), (np.float64, 16000)])
def test_long_products_are_divided_and_exact(
    dtype: Any, n: int, axis: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logarithms of n factors add up to more than the range, and the products in between do not leave it."""
    x = np.random.default_rng(0).uniform(0.9, 1.1, (n, 4)).astype(dtype)
    x = x if axis == 0 else np.ascontiguousarray(x.T)
    monkeypatch.setattr("minigrad.rules.reductions._prod_rule", None)
    got = gradient(lambda t: np.prod(t, axis), x, np.ones(() if axis is None else 4, dtype))
    np.testing.assert_allclose(got, all_others(x, axis), rtol=4 * math.sqrt(n) * float(np.finfo(dtype).eps), atol=0)


@pytest.mark.parametrize(
    "row",
    [
        np.repeat([2.0**-60, 2.0**60], 20), np.repeat([2.0**60, 2.0**-60], 20), np.full(4000, 1.05), [0.0, 1.0], [NAN, 1.0],
        [INF, 1.0], [2.0**-140, 2.0]
    ],
)  # fmt: skip
def test_products_near_the_ends_of_the_range_are_not_divided(row: Any) -> None:
    """Two rows are in range, and the first product that leaves it is found, wherever it is."""
    fine = np.ones(len(row))
    for a in (np.array([fine, row], np.float32), np.array([row, fine], np.float32)):
        with np.errstate(all="ignore"):
            assert not kernel._stays_normal(a, 1)
            assert not kernel._stays_normal(a.T, 0)
            assert not kernel._stays_normal(a, None)
            assert not kernel._stays_normal(np.stack([a, a]), -1)


@pytest.mark.parametrize("g", [[1e-30, 0, 1e-30], [1, 0, 1e-30], [1e30, 0, 1], [0, 0, 0]])
@pytest.mark.parametrize("a", [[1e-4, 1e-14, 1e3], [1e-2, 1e-30, 1], [1e10, 1e20, 1e-20], [1, 2, 3]])
def test_no_term_of_a_running_product_is_lost(a: list[float], g: list[float]) -> None:
    x, of = np.array([a], np.float32), np.array([g], np.float32)
    _, want, sizes = exact(x, of)
    got = gradient(lambda t: np.cumprod(t, -1), x, of)
    in_range = (sizes == 0) | ((sizes > 1e-37) & (sizes < 1e38))
    np.testing.assert_array_less(np.abs(got - want)[in_range], 1e-6 * sizes[in_range] + 1e-45)


@pytest.mark.parametrize(
    "turn", [lambda a: a, np.asfortranarray, lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[:, ::2]]
)
@pytest.mark.parametrize(
    ("shape", "axis"), [((90, 400), 0), ((90, 400), -1), ((400, 90), 1), ((3, 40, 300), 1), ((0, 9), 0)]
)
@pytest.mark.parametrize("f", [np.cumsum, np.cumprod])
def test_running_sums_of_rows_are_numpys(f: Any, shape: tuple[int, ...], axis: int, turn: Any) -> None:
    a, g = (turn(array) for array in np.random.default_rng(0).uniform(0.9, 1.1, (2, *shape)).astype(np.float32))
    np.testing.assert_array_equal(f(Tensor(a), axis=axis).numpy(), f(a, axis=axis))
    want = np.flip(np.cumsum(np.flip(g, axis), axis), axis)
    np.testing.assert_array_equal(gradient(lambda t: np.cumsum(t, axis), a, g), want)


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize("dx", [1.0, 2, np.float32(0.5), np.array(3.0)])
def test_the_trapezoidal_rule_weighs_the_ends_by_half_a_step(n: int, dx: Any) -> None:
    y = np.random.default_rng(0).standard_normal((5, n)).astype(np.float32)
    got: Any = np.trapezoid(Tensor(y), dx=dx)
    want = np.trapezoid(y.astype(np.float64), dx=float(dx))
    size = np.trapezoid(np.abs(y.astype(np.float64)), dx=float(dx))
    assert got.dtype == np.trapezoid(y, dx=dx).dtype
    assert (np.abs(got.numpy() - want) <= 3e-7 * size).all()
    y[0, 0], y[1, -1] = INF, NAN
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(np.trapezoid(Tensor(y), dx=dx).numpy(), np.trapezoid(y, dx=dx), rtol=1e-4, atol=1e-4)


# --- exponentials ---


def scores(dtype: Any) -> Any:
    """Rows of moderate scores, of one that is certain, far from 0, far apart, and with infinities and NaN."""
    random = np.random.default_rng(0)
    x = random.normal(size=(16, 33))
    x[1, 3], x[2, 4], x[3] = 29.0, 300.0, -29.0
    x[4] += 1e4
    x[5] -= 1e4
    x[6] *= 1e3
    x[7, ::2] = float(np.finfo(dtype).tiny)
    x[8] *= 60
    x[9, :5], x[10, 0], x[11, ::3], x[12], x[13, 7], x[14, 2:4] = -INF, INF, INF, -INF, NAN, (INF, -INF)
    return x.astype(dtype)


LABELS = np.arange(16) * 2
OF_ROWS: dict[str, Any] = {
    "softmax": mg.softmax,
    "log_softmax": mg.log_softmax,
    "logsumexp": lambda t: mg.logsumexp(t, axis=-1),
    "logsumexp, keepdims": lambda t: mg.logsumexp(t, axis=1, keepdims=True),
    "cross_entropy": lambda t: mg.cross_entropy(t, LABELS[: len(t)], reduction="none"),
    "negative_log_likelihood": lambda t: nn.negative_log_likelihood(t, LABELS[: len(t)], reduction="none"),
}


def value_and_gradient(f: Any, x: Any) -> list[Any]:
    t = Tensor(x, requires_grad=True)
    y = f(t)
    y.backward(np.cos(np.arange(y.size)).reshape(y.shape).astype(x.dtype))
    assert t.grad is not None
    return [y.numpy(), t.grad.numpy()]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OF_ROWS)
def test_sums_of_exponentials_are_as_exact_as_the_plain_ones(name: str, dtype: Any, turned: bool) -> None:
    x = scores(dtype)
    x = np.ascontiguousarray(x.T).T if turned else x
    f = OF_ROWS[name]
    with np.errstate(all="ignore"):
        fast = value_and_gradient(f, x)
        with mg.reference_mode():
            plain, true = value_and_gradient(f, x), value_and_gradient(f, x.astype(np.longdouble))
    for got, before, want in zip(fast, plain, true, strict=True):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(before))
        fine = np.isfinite(before)
        np.testing.assert_array_equal(got[~fine], before[~fine])
        error, error_before = (
            np.abs(a[fine] - want[fine]) / np.maximum(np.abs(want[fine]), 1) / np.finfo(dtype).eps
            for a in (got, before)
        )
        assert error.max() <= error_before.max() + 1, (error.max(), error_before.max())


@pytest.mark.parametrize("value", [INF, -INF])
def test_the_logsumexp_of_an_infinite_row_does_not_warn(value: float) -> None:
    x = np.full((3, 4), value)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(mg.logsumexp(Tensor(x), axis=-1).numpy(), np.full(3, value))


def test_second_order() -> None:
    x = scores(np.float64)[:3, :5] / 9
    for name in ("log_softmax", "logsumexp"):
        mg.check_grads(OF_ROWS[name], [x])
    mg.check_grads(lambda t: nn.negative_log_likelihood(t * t, [1, 4, 0]), [x])
    mg.check_grads(lambda t: np.nansum(t * t, axis=0, where=x > 0), [x])


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("n", [3, 4, 9])
def test_slopes_at_uneven_coordinates_have_numpys_bits(n: int, edge_order: Any) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        coordinates, values = np.cumsum(rng.uniform(0.1, 1, n)), rng.normal(size=n)
        found = np.gradient(mg.Tensor(values), coordinates, edge_order=edge_order)
        np.testing.assert_array_equal(found.numpy(), np.gradient(values, coordinates, edge_order=edge_order))


# --- counts are never float16, which ends at 65504 ---

MANY = np.random.default_rng(0).uniform(0.5, 1.5, (70000, 2)).astype(np.float16)
ONES = np.ones_like(MANY)
WITH_NAN = np.where(np.arange(140000).reshape(70000, 2) % 9 == 5, NAN, MANY).astype(np.float16)
COUNTED: list[tuple[str, Any, np.ndarray]] = [
    ("mean", np.mean, MANY), ("average", np.average, MANY), ("var", np.var, MANY), ("nanmean", np.nanmean, WITH_NAN),
    ("nanvar", np.nanvar, WITH_NAN), ("mean where", lambda x: np.mean(x, where=MANY > 0.7), MANY),
    ("max", np.max, ONES), ("min", np.min, ONES), ("nanmax", np.nanmax, np.where(WITH_NAN == 0, ONES, WITH_NAN * 0 + 1)),
    ("norm inf", lambda x: np.linalg.norm(x.reshape(-1), np.inf), ONES), ("maximum of rows", lambda x: np.max(x, axis=0), ONES),
    ("logsumexp", mg.logsumexp, MANY), ("mean of columns", lambda x: x.mean(axis=0), MANY),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")  # NumPy's own variance of float16
@pytest.mark.parametrize(("f", "x"), [c[1:] for c in COUNTED], ids=[c[0] for c in COUNTED])
def test_a_count_above_the_largest_float16(f: Any, x: np.ndarray) -> None:
    """The gradients are those of float64, to the rounding of numbers as small as 1 / 140000."""
    want = mg.grad(lambda v: np.sum(f(v)))(x.astype(np.float64))
    for found in (
        mg.grad(lambda v: np.sum(f(v)))(x),
        mg.grad(lambda w: np.sum(w * mg.grad(lambda v: np.sum(f(v)))(Tensor(x))))(x),  # the rules on Tensors
    ):
        assert found.dtype == np.float16
        np.testing.assert_allclose(found.astype(np.float64), want, rtol=5e-3, atol=6e-8)


def test_a_quantile_of_many_float16() -> None:
    x = np.arange(70000) % 1000 / np.float16(1000)
    for f in (np.quantile, np.nanquantile):
        assert abs(float(f(Tensor(x.astype(np.float16)), 0.3)) - 0.3) < 2e-3
