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
    with pytest.raises(DTypeError, match=r"dtype int64 cannot take values of dtype float64: t\.astype\('float64'\)"):
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
