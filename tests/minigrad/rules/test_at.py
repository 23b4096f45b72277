"""``t.at[index].set(v)``: what the table of cases does not ask (`cases_indexing.py` has values and derivatives)."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import DTypeError, OutOfRangeError, ShapeError, Tensor, UnsupportedError
from tests import fake_device

A = np.arange(6.0).reshape(2, 3)
HOW = ["set", "add", "multiply"]


def tracked(array: Any = A) -> Any:
    return Tensor(array, requires_grad=True)


def test_the_message_of_an_assignment_is_code_that_works() -> None:
    t = tracked() * 2.0
    with pytest.raises(UnsupportedError, match=r"t = t\.at\[index\]\.set\(v\), \.add\(v\) or \.multiply\(v\)"):
        t[0] = 1.0
    with pytest.raises(UnsupportedError, match=r"t\.at\[index\]\.set\(v\)"):
        Tensor(A)[0] = t[1]
    assert t.at[0].set(t[1]).tolist() == [[6, 8, 10], [6, 8, 10]]


@pytest.mark.parametrize("how", HOW)
def test_the_tensor_itself_stays_as_it_is(how: str) -> None:
    t, v = tracked(), tracked([10.0, 20.0, 30.0])
    changed = getattr(t.at[1], how)(v)
    assert t.tolist() == A.tolist() and v.tolist() == [10, 20, 30]
    assert changed[0].tolist() == A[0].tolist()
    (changed * changed).sum().backward()
    assert t.grad.tolist()[0] == (2 * A[0]).tolist()


def test_of_values_for_one_place_the_last_one_stays_and_has_the_gradient() -> None:
    x, v = tracked([1.0, 2.0]), tracked([5.0, 6.0, 7.0])
    y = x.at[[0, 0, 0]].set(v)
    assert y.tolist() == [7, 2]
    y.sum().backward()
    assert (x.grad.tolist(), v.grad.tolist()) == ([0, 1], [0, 0, 1])


def test_of_values_for_one_place_all_are_added_or_multiplied() -> None:
    x, v = tracked([1.0, 2.0]), tracked([5.0, 0.0, 7.0])
    assert x.at[[0, -2, 0]].add(v).tolist() == [13, 2]
    x.at[[0, -2, 0]].multiply(v).sum().backward()
    assert (x.grad.tolist(), v.grad.tolist()) == ([0, 1], [0, 35, 0])  # no division by the zero among them


def test_infinities_elsewhere_do_no_harm() -> None:
    x, v = tracked([np.inf, np.nan, 1.0]), tracked([np.inf, 2.0])
    assert x.at[[1, 1]].set(v).tolist() == [np.inf, 2, 1]
    x.at[[1, 1]].set(v)[2].backward()
    assert (x.grad.tolist(), v.grad.tolist()) == ([0, 0, 1], [0, 0])


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64, np.int32, np.bool])
def test_the_dtype_stays(how: str, dtype: Any) -> None:
    x = A.astype(dtype)
    y = getattr(Tensor(x).at[[0, 0]], how)(np.ones((2, 3), dtype))
    assert y.dtype == dtype
    want = x.copy()
    {"set": operator.setitem, "add": np.add.at, "multiply": np.multiply.at}[how](want, [0, 0], np.ones((2, 3), dtype))  # type: ignore[operator]
    np.testing.assert_array_equal(y.data, want)


def test_numbers_take_the_dtype() -> None:
    x, v = tracked(A.astype(np.float32)), tracked([1.0, 2.0, 3.0])
    y = x.at[0].set(v)
    y.sum().backward()
    assert (y.dtype, x.grad.dtype, v.grad.dtype) == (np.float32, np.float32, np.float64)
    assert Tensor([1, 2]).at[0].add(3).dtype == int


@pytest.mark.parametrize("how", HOW)
def test_what_does_not_fit_is_named(how: str) -> None:
    with pytest.raises(
        DTypeError, match=r"dtype int64 cannot take values of dtype float64: use t\.astype\('float64'\)"
    ):
        getattr(Tensor([1, 2]).at[0], how)(2.5)
    with pytest.raises(DTypeError, match="complex128"):
        getattr(tracked().at[0], how)(1j)
    with pytest.raises(ShapeError, match=r"\(4,\).*\(3,\)"):
        getattr(tracked().at[0], how)(np.ones(4))
    with pytest.raises(OutOfRangeError, match="index 5 is out of bounds"):
        getattr(tracked().at[5], how)(1.0)
    with pytest.raises(OutOfRangeError):
        getattr(tracked().at[[0, 7]], how)(1.0)


def test_an_index_may_be_a_tensor_and_is_kept_as_it_was() -> None:
    index = np.array([0, 1])
    x, v = tracked([1.0, 2.0, 3.0]), tracked([10.0, 20.0])
    y = x.at[index].set(v)
    index[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 1]
    assert x.at[Tensor([2])].add(1.0).tolist() == [1, 2, 4]
    assert x.at[x > 1.5].multiply(10.0).tolist() == [1, 20, 30]


def test_a_changed_value_is_noticed() -> None:
    v = np.array([2.0, 3.0])
    y = tracked([1.0, 2.0]).at[:].multiply(v)
    v[0] = 7.0
    with pytest.raises(mg.GraphError, match="changed in place"):
        y.sum().backward()


@pytest.mark.parametrize("how", HOW)
def test_on_a_device_the_last_value_stays_too(how: str) -> None:
    index = fake_device.asarray([1, 1, 0])
    on_host = getattr(Tensor([1.0, 2.0]).at[[1, 1, 0]], how)([3.0, 4.0, 5.0])
    on_device = getattr(Tensor(fake_device.asarray([1.0, 2.0])).at[index], how)(fake_device.asarray([3.0, 4.0, 5.0]))
    assert on_device.tolist() == on_host.tolist()


# --- drawn at random, and compared with NumPy's own assignment ---

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
KINDS = "biufc"


def drawn_index(rng: Any, shape: tuple[int, ...]) -> Any:
    """An index of one of the kinds: integers, slices, None and Ellipsis, arrays with repeats, masks, and mixtures."""

    def part(n: int) -> Any:
        start, stop = sorted(rng.integers(0, n + 1, 2).tolist())
        kinds: list[Any] = [
            int(rng.integers(-n, n)), slice(start, stop), slice(None, None, -1), slice(None),
            rng.integers(-n, n, int(rng.integers(0, 4))), rng.integers(-n, n, (2, 1)), rng.random(n) < 0.5,
            np.int64(rng.integers(-n, n)), rng.integers(-n, n, 2).tolist(),
        ]  # fmt: skip
        return kinds[int(rng.integers(len(kinds)))]

    kind = rng.integers(6)
    if kind == 0:
        return rng.random(shape) < 0.5
    if kind == 1:
        return [..., (), None, True, np.True_, (None, ...)][int(rng.integers(6))]
    parts: list[Any] = [part(n) for n in shape[: int(rng.integers(1, len(shape) + 1))]]
    if rng.random() < 0.3:
        parts.insert(int(rng.integers(len(parts) + 1)), [None, ...][int(rng.integers(2))])
    return tuple(parts) if len(parts) > 1 or rng.random() < 0.5 else parts[0]


def drawn_values(rng: Any, dtype: np.dtype[Any], picked: tuple[int, ...]) -> Any:
    """Numbers that fit and others that do not: weak ones, lists, scalars, arrays with too few or too many axes."""
    limit = 2 ** int(rng.choice([2, 7, 9, 40]))
    weak: list[Any] = [
        int(rng.integers(-limit, limit)), float(rng.normal()), -0.0, True, np.inf, [int(rng.integers(0, limit))],
        [-0.0], np.float32(-0.0), np.int64(rng.integers(-limit, limit)), 1j, 2**70,
    ]  # fmt: skip
    if rng.random() < 0.4:
        value = weak[int(rng.integers(len(weak)))]
        return value[0] if isinstance(value, list) and not picked else value  # bool([2, 3]) is what NumPy would assign
    shape = list(picked)
    if shape and rng.random() < 0.3:
        shape[int(rng.integers(len(shape)))] = 1
    shape = [[1, 1, *shape], shape[1:], shape, shape, shape, [*shape, 2]][int(rng.integers(6))]
    values = np.asarray(rng.normal(size=shape) * 3).astype(dtype if rng.random() < 0.7 else rng.choice(DTYPES))
    values[rng.random(shape) < 0.2] = -0.0
    return values.tolist() if picked and len(shape) == 1 and rng.random() < 0.2 else values


def assigned(how: str, a: Any, index: Any, values: Any) -> Any:
    """What NumPy gives: ``a[index] = v``, ``+= v`` or ``*= v``, with every value for a place that is named several times."""
    a = a.copy()
    if how == "set":
        a[index] = values
        return a
    ufunc: Any = {"add": np.add, "multiply": np.multiply}[how]
    picked = a[index][...].copy()
    ufunc(picked, values, out=picked)  # what raises here raises in a[index] += values
    values = np.asarray(values, a.dtype) if isinstance(values, (int, float)) else values  # weak
    ufunc.at(a, ... if isinstance(index, tuple) and not index else index, np.broadcast_to(values, picked.shape))
    return a


def compare_with_numpy(seed: int) -> str:
    """One comparison: the same bits, or an error of the same kind. What happened, so that the test knows that all did."""
    rng = np.random.default_rng(seed)
    how, dtype = HOW[seed % 3], np.dtype(DTYPES[seed // 3 % len(DTYPES)])
    shape = tuple(rng.integers(1, 4, int(rng.integers(1, 4))).tolist())
    a = (rng.normal(size=shape) * 4).astype(dtype)
    a[rng.random(shape) < 0.2] = -0.0
    index = drawn_index(rng, shape)
    try:
        values = drawn_values(rng, dtype, a[index].shape)
    except IndexError:  # index arrays that do not fit each other
        values = 1
    kind = "i" if isinstance(values, int) and not isinstance(values, bool) else np.asarray(values).dtype.kind
    try:
        want: Any = assigned(how, a, index, values)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        want = error
    place = f"seed {seed}: {dtype} {shape} at[{index!r}].{how}({values!r})"
    try:
        got: Any = getattr(Tensor(a, requires_grad=dtype.kind in "fc").at[index], how)(values).numpy()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        if isinstance(error, DTypeError) and KINDS.index(kind) > KINDS.index(dtype.kind):
            return "refused"  # floats among integers, which NumPy cuts off where it does not refuse them itself
        assert isinstance(want, Exception), f"{place} raises {error!r}"
        caught = next(kind for kind in (ValueError, TypeError, IndexError, OverflowError) if isinstance(want, kind))
        assert isinstance(error, caught), f"{place} raises {error!r}, NumPy {want!r}"
        return caught.__name__
    assert not isinstance(want, Exception), f"{place} gives {got}, NumPy raises {want!r}"
    assert got.dtype == want.dtype and got.shape == want.shape, place
    if dtype.kind == "c":
        got, want = got.view(got.real.dtype), want.view(want.real.dtype)
    np.testing.assert_array_equal(got, want, err_msg=place)
    if dtype.kind in "fc":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want), err_msg=place)
    return "equal"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "seeds", [range(1500), pytest.param(range(1500, 100_000), marks=pytest.mark.thorough)], ids=["sample", "all"]
)
def test_what_an_assignment_of_numpys_gives_or_raises(seeds: range) -> None:
    met = {compare_with_numpy(seed) for seed in seeds}
    assert met == {"equal", "refused", "ValueError", "TypeError", "IndexError", "OverflowError"}


def test_the_last_value_stays_in_any_layout() -> None:
    """NumPy writes in the order of memory, and so of reversed arrays the first value last."""
    x, rows, v = tracked(np.zeros(2)), np.array([0, 1, 0])[::-1], tracked(np.array([1.0, 2.0, 3.0])[::-1])
    y = x.at[rows].set(v)
    assert y.tolist() == [1, 2]
    y.sum().backward()
    assert v.grad.tolist() == [0, 1, 1]


def test_a_tracked_value_that_would_be_cut_off_is_refused() -> None:
    with pytest.raises(DTypeError, match="dtype int64 cannot take values of dtype float64"):
        Tensor([1, 2]).at[0].set(tracked([1.0, 2.0])[0])


def test_leading_axes_of_length_one_come_back_in_the_gradient() -> None:
    x, v = tracked(), tracked(np.full((1, 1, 1, 3), 2.0))
    y = x.at[[1]].set(v)
    (y * A).sum().backward()
    assert v.grad.tolist() == [[[[3, 4, 5]]]] and x.grad.tolist() == [[0, 1, 2], [0, 0, 0]]


WRITES: list[Callable[[Any], Any]] = [
    lambda t: np.put(t, [0], 1.0),
    lambda t: np.place(t, A > 1, [1.0]),
    lambda t: np.fill_diagonal(t, 1.0),
    lambda t: np.put_along_axis(t, np.zeros((2, 1), int), 1.0, 1),
    lambda t: np.add.at(t, [0], 1.0),
    lambda t: np.multiply.at(t, [0], 1.0),
]


@pytest.mark.parametrize("write", WRITES)
def test_functions_that_write_name_it(write: Callable[[Any], Any]) -> None:
    t = tracked()
    with pytest.raises(UnsupportedError, match=r"writes into an array.*\.at\["):
        write(t)
    assert t.tolist() == A.tolist()


def test_the_example_of_the_page() -> None:
    leaf = tracked([1.0, 2.0, 3.0])
    t = leaf.at[0].set(10.0)
    assert t.tolist() == [10, 2, 3]
    t = t.at[1:].add(t[:2])
    assert t.tolist() == [10, 12, 5]
    t = t.at[[2, 2]].multiply(2.0)
    assert t.tolist() == [10, 12, 20]
    t.sum().backward()
    assert leaf.grad.tolist() == [0, 5, 4]
