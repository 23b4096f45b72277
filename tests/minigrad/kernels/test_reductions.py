"""``np.sum``, ``np.mean``, ``np.max`` and ``np.min`` of Tensors: NumPy's numbers, whoever computes them."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.kernels import choose
from minigrad.kernels.numpy import reductions as kernels, sums
from minigrad.rules import reductions

SHAPES = [
    (7,),
    (1,),
    (5, 6),
    (1, 9),
    (4, 1),
    (3, 4, 5),
    (2, 3, 1000),
    (2, 5000),
    (40, 64),
    (130, 65),
    (3000, 3),
    (9, 9, 120),
    (40, 256),
    (3, 4000),
    (20, 512),
    (3, 4, 750),
    (20, 521),
]
FUNCTIONS = [np.sum, np.mean, np.max, np.min]


def arrays(shape: tuple[int, ...], dtype: Any) -> list[Any]:
    drawn = np.random.default_rng(0).normal(size=shape).astype(dtype)
    spoilt = drawn.copy()
    spoilt.flat[drawn.size // 2], spoilt.flat[0] = np.nan, -np.inf
    whole = np.round(drawn)  # with ties
    return [
        drawn,
        spoilt,
        whole,
        np.asfortranarray(drawn),
        np.repeat(drawn, 2, axis=-1)[..., ::2],
        np.full_like(drawn, 0.1),
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_numbers(function: Any, shape: tuple[int, ...], dtype: Any) -> None:
    axes = [None, 0, -1, len(shape) - 1, tuple(range(len(shape)))[::-1], -len(shape)]
    found = arrays(shape, dtype) if np.issubdtype(dtype, np.floating) else [np.arange(np.prod(shape)).reshape(shape)]
    for array, axis, keepdims in itertools.product(found, axes, (False, True)):
        expected = function(array, axis=axis, keepdims=keepdims)
        got = function(mg.Tensor(array, requires_grad=array.dtype.kind == "f"), axis=axis, keepdims=keepdims).numpy()
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        if (
            function in (np.max, np.min)
            or array.size < sums.LEAST
            or axis is None
            or dtype not in (np.float32, np.float64)
        ):
            np.testing.assert_array_equal(got, expected, strict=False)
            continue
        with np.errstate(invalid="ignore"):
            # A sum may be a product: 256 equal numbers in eight lanes lose 5 eps, and what no lane takes goes one row after
            # the other, as NumPy's own sum over rows does.
            exact = function(array.astype(np.longdouble), axis=axis, keepdims=keepdims)
            numpys = np.nanmax(np.where(np.isfinite(exact), np.abs(expected - exact), 0))
            bound = 6 * np.finfo(dtype).eps * function(np.abs(array), axis=axis, keepdims=keepdims) + 2 * numpys
            close = np.isfinite(exact) & (np.abs(got - exact) <= bound)
            assert np.all(close | (got == exact) | (np.isnan(got) & np.isnan(exact)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
@pytest.mark.parametrize("shape", [(), (0, 3), *SHAPES])
def test_the_method_records_what_the_primitive_records(shape: tuple[int, ...], dtype: Any) -> None:
    """``x.sum()`` has a short form: the same bits, gradient and keywords."""
    array: Any = np.random.default_rng(0).normal(size=shape).astype(dtype)
    several: tuple[Any, ...] = tuple(range(len(shape)))
    for axis, keepdims in itertools.product((None, 0, -1, several), (False, True)):
        if axis == -1 and not shape:
            continue
        records: list[Any] = []
        for operation in (reductions.sum, lambda t, **keywords: t.sum(**keywords)):
            x = mg.Tensor(array, requires_grad=True)
            y = operation(x, axis=axis, keepdims=keepdims)
            (entry,) = mg.tape(y)
            records.append([y.numpy(), y.dtype, y.shape, entry.primitive, entry.keywords, entry.kept, entry.shape])
            y.backward(np.ones(y.shape, dtype))
            records[-1].append(x.grad)
        for got, expected in zip(*records, strict=True):
            if isinstance(got, np.ndarray):
                np.testing.assert_array_equal(got, expected, strict=True)
            elif isinstance(got, mg.Tensor):
                np.testing.assert_array_equal(got.numpy(), expected.numpy(), strict=True)
            else:
                assert got == expected


@pytest.mark.parametrize("axis", [2, -3, (0, 0), 1.0, [0]])
def test_the_method_says_what_the_primitive_says(axis: Any) -> None:
    x = mg.Tensor(np.ones((2, 3)), requires_grad=True)
    said = []
    for operation in (reductions.sum, lambda t, **keywords: t.sum(**keywords)):
        with pytest.raises(mg.MinigradError) as error:
            operation(x, axis=axis)
        said.append((type(error.value), str(error.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_keywords_are_numpys(function: Any) -> None:
    array = np.random.default_rng(0).normal(size=(4, 5))
    kept = array > -1
    kept[:, 0] = True
    options: dict[str, Any] = {"where": kept} | ({} if function is np.mean else {"initial": 0.5})
    np.testing.assert_array_equal(
        function(mg.Tensor(array), axis=1, **options).numpy(), function(array, axis=1, **options)
    )


@pytest.mark.parametrize("function", [np.max, np.min])
@pytest.mark.parametrize(("shape", "axis"), [((3, 0), -1), ((0, 3), 0), ((0,), None)])
def test_the_extreme_of_nothing_is_refused_as_ever(function: Any, shape: Any, axis: Any) -> None:
    with pytest.raises(mg.MinigradError, match="no identity"):
        function(mg.Tensor(np.ones(shape)), axis=axis)
    assert function(mg.Tensor(np.ones((0, 3))), axis=1).shape == (0,)


def test_the_mean_of_nothing_is_numpys() -> None:
    for shape, axis in (((0, 3), 1), ((3, 0), 1), ((0,), None)):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            got: Any = np.mean(mg.Tensor(np.ones(shape)), axis=axis)
            np.testing.assert_array_equal(got.numpy(), np.mean(np.ones(shape), axis=axis))


@pytest.mark.parametrize("axis", [2, -3, (0, 0)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_axis_that_is_not_there_is_refused_as_ever(function: Any, axis: Any) -> None:
    for keepdims in (False, True):
        with pytest.raises(mg.MinigradError):
            function(mg.Tensor(np.ones((2, 3))), axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("axis", [1.0, np.True_, np.array([1])])
def test_an_axis_that_is_no_integer_is_refused_at_once(axis: Any) -> None:
    with pytest.raises(mg.DTypeError):
        np.max(mg.Tensor(np.ones((2, 3)), requires_grad=True), axis=axis)


@pytest.mark.parametrize("function", [np.max, np.min])
def test_the_extreme_over_no_axes_is_the_array(function: Any) -> None:
    x = mg.Tensor(np.random.default_rng(0).normal(size=(100, 100)), requires_grad=True)
    function(x, axis=()).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), 1.0)


def test_who_computes() -> None:
    rows = np.ones((2, 3), np.float32)
    of_rows = reductions.max.kernels[np.ndarray].forward
    mean, total = (each.kernels[np.ndarray].forward for each in (reductions.mean, reductions.sum))
    assert of_rows(rows, axis=-1) is not NotImplemented
    assert of_rows(rows, axis=1, keepdims=True) is not NotImplemented
    left: list[tuple[Any, dict[str, Any]]] = [
        (rows, {}),
        (rows, {"axis": 0}),
        (rows.T, {"axis": 1}),
        (rows, {"axis": 1, "initial": 0.0}),
        (np.ones((2, kernels._LONG + 1)), {"axis": 1}),
        (rows[:, :1], {"axis": 1}),
        (rows[0], {"axis": 0}),
    ]
    for array, keywords in left:
        assert of_rows(array, **keywords) is NotImplemented
    for axis in (1.0, True, np.int64(1), np.array([1]), (1,)):  # of most of which NumPy says what is wrong
        assert of_rows(rows, axis=axis) is NotImplemented
        assert mean(rows, axis=axis) is total(rows, axis=axis) is NotImplemented
    for keepdims in (None, 1, np.True_, "yes"):
        assert of_rows(rows, axis=1, keepdims=keepdims) is NotImplemented
        assert mean(rows, axis=1, keepdims=keepdims) is total(rows, axis=1, keepdims=keepdims) is NotImplemented
    assert choose(reductions.max, [rows.astype(rows.dtype.newbyteorder())]) is None
    assert mean(rows, axis=1) is not NotImplemented
    assert mean(rows, axis=1, dtype=np.float64) is NotImplemented
    assert mean(np.broadcast_to(np.float32(1), kernels._EXACT + 1)) is NotImplemented
    assert total(rows, axis=1) is not NotImplemented
    assert total(rows, axis=1, initial=1.0) is NotImplemented
