"""The fake device refuses what CuPy refuses and computes what NumPy computes.

Whatever is asked of the `device` fixture is asked of real CuPy too, where there is a GPU (`pytest -m cuda`), so that the
fake cannot drift from what it stands for. The tests without it are about strictness beyond CuPy's.
"""

import copy
import math
import operator
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests import fake_device

Put = Callable[[Any], Any]
HOST = np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def host_syncs() -> Iterator[list[str]]:
    """The log of the fake device, empty at first."""
    fake_device.host_syncs.clear()
    yield fake_device.host_syncs


def same(got: Any, want: Any) -> None:
    """`got`, of the device, holds what NumPy has in `want`."""
    if isinstance(want, tuple | list):
        assert isinstance(got, tuple | list)
        for one_got, one_want in zip(got, want, strict=True):
            same(one_got, one_want)
        return
    assert not isinstance(got, np.ndarray | np.generic), "left the device"
    np.testing.assert_allclose(got.get(), want, rtol=1e-12)
    assert (got.shape, got.dtype) == (np.shape(want), np.asarray(want).dtype)


# --- no host array, no conversion ---


def test_no_implicit_conversion(put: Put) -> None:
    x = put(HOST)
    for convert in (np.asarray, np.array, np.float64, lambda a: np.array([a, a]), HOST.copy().__iadd__):
        with pytest.raises(TypeError):
            convert(x)


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.ipow]


@pytest.mark.parametrize("host", [HOST, HOST[0], np.asarray(2.0)], ids=["same shape", "1-D", "0-D"])
@pytest.mark.parametrize("operate", [*BINARY, *IN_PLACE])
def test_operators_refuse_host_arrays(put: Put, operate: Callable[..., Any], host: np.ndarray) -> None:
    x = put(HOST)
    with pytest.raises(TypeError):
        operate(x, host)
    with pytest.raises(TypeError):
        operate(host.copy(), x)
    same(x, HOST)


REFUSED: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "x @ host": lambda x, host: x @ host.T,
    "host @ x": lambda x, host: host @ x.T,
    "compare": lambda x, host: x < host,
    "ufunc": lambda x, host: np.maximum(x, host),
    "ufunc out": lambda x, host: np.exp(x, out=host),
    "ufunc in": lambda x, host: np.add(host, host, out=x),
    "reduce out": lambda x, host: np.sum(x, axis=0, out=host[0]),
    "list operand": lambda x, host: x + [1.0, 2.0, 3.0],
    "where": lambda x, host: np.where(x > 2, x, host),
    "where list": lambda x, host: np.where(x > 2, x, [1.0, 2.0, 3.0]),
    "where host condition": lambda x, host: np.where(host > 2, x, x),
    "dot": lambda x, host: np.dot(x, host.T),
    "dot list": lambda x, host: np.dot(x, [1.0, 2.0, 3.0]),
    "concatenate": lambda x, host: np.concatenate([x, host]),
    "stack": lambda x, host: np.stack([host, x]),
    "assign": lambda x, host: x.__setitem__(0, host[0]),
    "assign list": lambda x, host: x.__setitem__(0, [1.0, 2.0, 3.0]),
    "assign to host": lambda x, host: host.__setitem__(0, x[0]),
}


@pytest.mark.parametrize("mix", REFUSED.values(), ids=REFUSED)
def test_functions_refuse_host_arrays(put: Put, mix: Callable[..., Any]) -> None:
    x, host = put(HOST), HOST.copy()
    with pytest.raises((TypeError, ValueError)):  # CuPy says ValueError to an assignment
        mix(x, host)
    same(x, HOST)
    np.testing.assert_array_equal(host, HOST)


LACKING: dict[str, Callable[[Any], Any]] = {  # found on an H200, with CuPy 14.2
    "eye": lambda x: np.eye(3, like=x),
    "full": lambda x: np.full((2,), 1.0, like=x),
    "ones": lambda x: np.ones((2,), like=x),
    "full_like, subok": lambda x: np.full_like(x, 1.0, subok=True),
    "median padding": lambda x: np.pad(x, 1, "median"),
    "product of a number": lambda x: np.tensordot(x, x[0, 0], ([], [])),
    "stacks of systems": lambda x: np.linalg.solve(x[:, :2], np.stack([x, x])),
    "windows of one axis twice": lambda x: np.lib.stride_tricks.sliding_window_view(x, (1, 1), (0, 0)),
}


@pytest.mark.parametrize("call", LACKING.values(), ids=LACKING)
def test_a_device_lacks_what_numpy_has(put: Put, call: Callable[..., Any]) -> None:
    x = put(HOST)
    with pytest.raises((TypeError, ValueError)):
        call(x)


def test_habits_that_differ_from_numpys(put: Put) -> None:
    x = put(HOST)
    assert np.zeros_like(x, shape=()).shape == HOST.shape
    padded: Any = np.pad(x[0], (2, 6), "wrap")
    assert padded.get()[-3:].tolist() == HOST[0][[1, 2, 0]].tolist()  # NumPy: 0, 1, 2


UPLOADED: dict[str, Callable[[Any], Any]] = {  # CuPy would move these host arrays to the GPU by itself
    "index": lambda x: x[np.array([1, 0])],
    "mask": lambda x: x[HOST > 2],
    "assignment by index": lambda x: x.__setitem__(np.array([1, 0]), 0.0),
    "assignment by mask": lambda x: x.__setitem__(x > 2, HOST[HOST > 2]),
    "take": lambda x: np.take(x, np.array([1, 0])),
    "take of a host table": lambda x: np.take(HOST, x.astype(int)),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, HOST),
    "searchsorted": lambda x: np.searchsorted(x[0], HOST),
    "0-d comparison": lambda x: x == np.asarray(2.0),
    "copyto": lambda x: np.copyto(x, HOST),
    "keyword": lambda x: np.copyto(x, 0.0, where=HOST > 2),
    "nested": lambda x: np.select([x > 2], [HOST]),
}


@pytest.mark.parametrize("mix", UPLOADED.values(), ids=UPLOADED)
def test_fake_refuses_hidden_uploads(mix: Callable[..., Any]) -> None:
    x = fake_device.asarray(HOST)
    with pytest.raises(TypeError, match=r"numpy\.ndarray|Implicit conversion"):
        mix(x)
    same(x, HOST)


def test_asarray_and_get_copy(put: Put) -> None:
    host = HOST.copy()
    x = put(host)
    host[0, 0] = 7.0
    same(x, HOST)
    back = x.get()
    back[0, 0] = 7.0
    same(x, HOST)
    assert type(back) is np.ndarray
    assert put(x) is x


@pytest.mark.parametrize("host", [np.array(["a"]), np.array([None]), np.zeros(2, np.longdouble), np.zeros(2, "M8[s]")])
def test_unsupported_dtypes(put: Put, host: np.ndarray) -> None:
    with pytest.raises(ValueError, match="Unsupported dtype"):
        put(host)


# --- functions ---

UNKNOWN: dict[str, Callable[[Any], Any]] = {
    "block": lambda x: np.block([x, x]),
    "insert": lambda x: np.insert(x, 0, 1.0),
    "nanquantile": lambda x: np.nanquantile(x, 0.5),
    "linalg.vector_norm": lambda x: np.linalg.vector_norm(x),
    "linalg.trace": lambda x: np.linalg.trace(x),
    "linalg.outer": lambda x: np.linalg.outer(x[0], x[0]),
    "linalg.multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "vecdot": lambda x: np.vecdot(x, x),
    "spacing": lambda x: np.spacing(x),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_functions_are_named(put: Put, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        UNKNOWN[name](put(HOST))


UNEXPECTED: dict[str, Callable[[Any], Any]] = {
    "ufunc where": lambda x: np.exp(x, where=x > 2),
    "ufunc order": lambda x: np.add(x, x, order="C"),
    "sum where": lambda x: np.sum(x, where=x > 2),
    "sum initial": lambda x: x.sum(initial=1.0),
    "max initial": lambda x: np.max(x, axis=0, initial=0.0),
    "var correction": lambda x: np.var(x, correction=1),
    "reduce initial": lambda x: np.add.reduce(x, initial=1.0),
    "take mode": lambda x: np.take(x, 1, mode="clip"),
    "reshape shape": lambda x: np.reshape(x, shape=(3, 2)),
    "einsum out": lambda x: np.einsum("ij->i", x, out=x[:, 0]),
    "zeros_like device": lambda x: np.zeros_like(x, device="cpu"),
    "astype casting": lambda x: x.astype(np.float32, casting="safe"),
    "item index": lambda x: x.item(0),
}


@pytest.mark.parametrize("call", UNEXPECTED.values(), ids=UNEXPECTED)
def test_keywords_of_numpy_alone(put: Put, call: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        call(put(HOST))


@pytest.mark.parametrize("name", ["maximum", "minimum", "logical_or", "subtract"])
def test_only_add_and_multiply_reduce(put: Put, name: str) -> None:
    x, ufunc = put(HOST), getattr(np, name)
    for call in (lambda: ufunc.reduce(x), lambda: ufunc.accumulate(x), lambda: ufunc.reduceat(x, put([0]))):
        with pytest.raises(NotImplementedError):
            call()
    same(np.add.reduce(x), HOST.sum(axis=0))
    same(np.multiply.reduce(x, axis=1, keepdims=True), HOST.prod(axis=1, keepdims=True))
    same(np.add.accumulate(x, axis=1), HOST.cumsum(axis=1))


def test_out_is_one_device_array(put: Put) -> None:
    x, out = put(HOST), put(np.zeros((2, 3)))
    assert np.exp(x, out=out) is out
    same(out, np.exp(HOST))
    matrix = put(np.zeros((2, 2)))
    assert np.matmul(x, x.T, out=matrix) is matrix
    same(matrix, HOST @ HOST.T)
    total = put(np.zeros(3))
    assert np.sum(x, axis=0, out=total) is total
    same(total, HOST.sum(axis=0))
    with pytest.raises(ValueError, match="exactly one"):
        np.modf(x, out=(out, put(np.zeros((2, 3)))))


def test_repeats_are_of_the_host() -> None:
    x = fake_device.asarray(HOST)  # CuPy 14.0; by 14.2 it has learnt to read them
    with pytest.raises(ValueError, match="repeats"):
        np.repeat(x, fake_device.asarray([1, 2]), axis=0)
    same(np.repeat(x, [1, 2], axis=0), HOST.repeat([1, 2], axis=0))


def test_supported_names_exist_in_numpy() -> None:
    for name in fake_device._FUNCTIONS:
        assert callable(operator.attrgetter(name)(np)), name
    for name in fake_device._UFUNCS:
        assert isinstance(getattr(np, name), np.ufunc), name
    assert fake_device._MISSING.keys() <= fake_device._FUNCTIONS | fake_device._CREATING
    assert fake_device._HOST_VALUED | fake_device._SYNCHRONISING | fake_device._JOINING <= fake_device._FUNCTIONS


SAME: dict[str, Callable[[Any], Any]] = {
    "operators": lambda x: ((x + 1.0) * x - 2 / (x + 1) + np.float64(2.0) * x) ** 2 % 5 // 2 + 2**x - (-x) + abs(+x),
    "comparisons": lambda x: [x < 2, x <= 2, x == 2, x != 2, x >= 2, x > 2, ~(x > 2) & (x < 5) | (x == 1) ^ (x < 1)],
    "matmul": lambda x: [x @ x.T, x[0] @ x[0], x @ x[0]],
    "divmod": lambda x: divmod(x, 2.0),
    "shift": lambda x: x.astype(int) << 2 >> 1,
    "weak scalars": lambda x: x.astype(np.float32) * 2.0,
    "strong scalars": lambda x: x.astype(np.float32) * np.float64(2.0),
    "frexp": lambda x: np.frexp(x),
    "reductions": lambda x: [x.sum(), x.mean(0), x.var(axis=1, ddof=1), x.std(), x.min(), x.max(-1, keepdims=True)],
    "more reductions": lambda x: [x.prod(), x.any(), x.all(axis=0), x.argmax(), x.argmin(axis=1), np.count_nonzero(x)],
    "scans": lambda x: [x.cumsum(), x.cumprod(axis=1), np.diff(x)],
    "shapes": lambda x: [x.reshape(3, 2), x.reshape((-1,)), x.ravel(), x.T, x.transpose(1, 0), x.swapaxes(0, 1), x.mT],
    "more shapes": lambda x: [np.expand_dims(x, 1), x[None].squeeze(0), np.broadcast_to(x, (2, 2, 3)), x.repeat(2, 1)],
    "join and split": lambda x: [np.concatenate([x, x], axis=1), np.stack([x, x]), *np.split(x, [1], axis=1)],
    "where": lambda x: [np.where(x > 2, x, 0.0), np.clip(x, 1.0, None), x.clip(1.0, 3.0), np.nan_to_num(x)],
    "einsum": lambda x: [np.einsum("ij,kj->ik", x, x), np.tensordot(x, x, axes=([0, 1], [0, 1])), np.trace(x @ x.T)],
    "sort": lambda x: [np.sort(-x), np.argsort(-x, axis=1), x.round(1), np.diagonal(x), x.conj(), np.tril(x)],
    "created": lambda x: [np.arange(3, like=x), np.asarray(HOST, like=x), np.zeros((2, 0), like=x)],
    "likes": lambda x: [np.zeros_like(x), np.ones_like(x, dtype=np.int32), np.full_like(x, 2.0, shape=(4,))],
    "complex": lambda x: [(x * 1j).real, (x * 1j).imag, np.angle(x * 1j), np.conjugate(x * 1j), x.imag],
    "linalg": lambda x: [*np.linalg.slogdet(x @ x.T), np.linalg.inv(x @ x.T), np.linalg.norm(x, axis=1)],
    "truth": lambda x: [np.array_equal(x, x), np.allclose(x, x + 1)],
    "no warning": lambda x: [np.log(x * 0), 1 / (x * 0), np.sqrt(-x)],
    "copies": lambda x: [x.copy(), x.flatten(), x.astype(np.float32), x.view(np.int64), np.copy(x)],
}


@pytest.mark.parametrize("compute", SAME.values(), ids=SAME)
def test_same_as_numpy(put: Put, compute: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        want = compute(HOST)
    same(compute(put(HOST)), want)


def test_zero_dimensional_results_stay_on_the_device(put: Put) -> None:
    x = put(HOST)
    for result in (x.sum(), np.max(x), x[0, 1], next(iter(x[0])), np.add(x[0, 0], 1.0), np.linalg.matrix_rank(x @ x.T)):
        assert isinstance(result, type(x))
        assert result.shape == ()
    assert [type(part) for part in np.linalg.slogdet(x @ x.T)] == [type(x)] * 2
    assert type(np.linalg.slogdet(x @ x.T)) is tuple, "CuPy has no namedtuples"
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    assert np.result_type(x, np.float32) == np.float64


# --- indices ---

INDICES: dict[str, Callable[[Put], Any]] = {
    "integer": lambda put: 1,
    "negative": lambda put: (-1, -2),
    "slices": lambda put: (slice(None), slice(None, None, -1)),
    "ellipsis": lambda put: (..., 1),
    "new axes": lambda put: (None, 0, None),
    "full": lambda put: (0, 2),
    "array": lambda put: put([1, 0, 1]),
    "negative array": lambda put: put([-1, 0]),
    "second axis": lambda put: (slice(None), put([[2, 0], [1, 1]])),
    "after ellipsis": lambda put: (..., put([2, 0])),
    "two arrays": lambda put: (put([0, 1]), put([2, 1])),
    "array and integer": lambda put: (0, put([2, 1])),
    "0-d array": lambda put: put(1),
    "list": lambda put: [1, 0],
    "empty list": lambda put: [],
    "mask": lambda put: put(HOST > 2),
    "row mask": lambda put: put(np.array([True, False])),
    "mask and slice": lambda put: (slice(None), put(np.array([True, False, True]))),
    "bool": lambda put: True,
}


@pytest.mark.parametrize("make", INDICES.values(), ids=INDICES)
def test_indices(put: Put, make: Callable[..., Any]) -> None:
    want, index, host_index = HOST.copy(), make(put), make(np.asarray)
    x = put(want)
    same(x[index], np.asarray(want[host_index]))
    x[index] = 9.0
    want[host_index] = 9.0
    same(x, want)
    x[index] = x[index] * 2.0
    want[host_index] *= 2.0
    same(x, want)


@pytest.mark.parametrize("bad", [2, -3, (0, 3), np.int64(5)])
def test_integers_out_of_range_raise(put: Put, bad: Any) -> None:
    with pytest.raises(IndexError):
        put(HOST)[bad]


def test_index_arrays_out_of_range_wrap(put: Put) -> None:
    x, far = put(HOST), put([2, -3, 7])
    same(x[far], HOST[[0, 1, 1]])
    same(x[:, far], HOST[:, [2, 0, 1]])
    same(x[..., far], HOST[..., [2, 0, 1]])
    same(x[far, far], HOST[[0, 1, 1], [2, 0, 1]])
    same(np.take(x, far, axis=0), HOST[[0, 1, 1]])
    same(x.take(put([6, -7])), HOST.ravel()[[0, 5]])
    same(np.take_along_axis(x, put([[3], [-4]]), axis=1), HOST[[0, 1], [0, 2]][:, None])
    x[put([2])] = 9.0
    same(x[0], np.full(3, 9.0))
    np.put(x, put([6]), put([4.0]))
    same(x[0], np.array([4.0, 9.0, 9.0]))
    cube, mask = np.arange(24.0).reshape(2, 3, 4), np.eye(2, 3, dtype=bool)
    same(put(cube)[put(mask), put([7, -5])], cube[mask, [3, 3]])


def test_views_share_and_index_arrays_copy(put: Put) -> None:
    x = put(HOST)
    x[0][1] = 7.0
    x[1, 2][...] = 8.0
    x.T[0] = put([5.0, 6.0])
    x.reshape(6)[2:3].fill(4.0)
    same(x, np.array([[5.0, 7.0, 4.0], [6.0, 4.0, 8.0]]))
    for index in (put(0), put([0]), True):
        x[index][...] = 0.0
    same(x[0], np.array([5.0, 7.0, 4.0]))
    assert x.base is None
    assert x[0].base is not None


@pytest.mark.parametrize("bad", [lambda put: put([0.0, 1.0]), lambda put: "a"])
def test_indices_of_other_kinds_raise(put: Put, bad: Callable[..., Any]) -> None:
    with pytest.raises((IndexError, ValueError)):
        put(HOST)[bad(put)]


def test_a_device_array_is_no_index_of_the_host(put: Put) -> None:
    with pytest.raises(TypeError):
        [1, 2][put(1)]


def test_fake_refuses_a_device_array_as_bound() -> None:
    one = fake_device.asarray(1)
    with pytest.raises(TypeError):
        fake_device.asarray(HOST)[:one]


# --- scatter ---


def test_add_at(put: Put) -> None:
    x = put(np.zeros(3))
    np.add.at(x, put([0, 0, 2, 3]), put([1.0, 2.0, 3.0, 4.0]))
    same(x, np.array([7.0, 0.0, 3.0]))
    np.add.at(x, put(np.array([True, False, True])), 1.0)
    same(x, np.array([8.0, 0.0, 4.0]))
    np.maximum.at(x, put([1, 1]), put([5.0, 2.0]))
    same(x, np.array([8.0, 5.0, 4.0]))


@pytest.mark.parametrize("dtype", [np.int64, np.complex64, np.complex128])
def test_add_at_knows_few_dtypes(dtype: type) -> None:
    x = fake_device.asarray(np.zeros(3, dtype))  # CuPy 14.0; by 14.2 it has learnt int64
    with pytest.raises(TypeError, match="only supports"):
        np.add.at(x, fake_device.asarray([0]), 1)


def test_add_at_takes_one_index(put: Put) -> None:
    x = put(HOST)
    indices: list[Any] = [(put([0]), put([1])), slice(1), [0, 1]]
    for index in indices:
        with pytest.raises(TypeError):
            np.add.at(x, index, 1.0)
    with pytest.raises(NotImplementedError):
        np.multiply.at(x, put([0]), 2.0)
    flat = np.ravel_multi_index((put([0, 1]), put([1, 5])), (2, 3))  # the way round
    np.add.at(x.reshape(-1), flat, 1.0)
    same(x, np.array([[0.0, 2.0, 2.0], [3.0, 4.0, 6.0]]))


# --- in place, and other types ---


@pytest.mark.parametrize("operate", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow])
def test_in_place_keeps_the_object(put: Put, operate: Callable[..., Any]) -> None:
    x, want = put(HOST), HOST.copy()
    assert operate(x, 2.0) is x
    same(x, operate(want, 2.0))
    row = put(HOST)[0]
    assert operate(x, row + 1.0) is x
    same(x, operate(want, HOST[0] + 1.0))
    with pytest.raises(TypeError):
        operate(put(np.arange(3)), 0.5)  # no float into an integer array


def test_matmul_is_not_in_place(put: Put) -> None:
    x = y = put(np.eye(2))
    x @= put(np.ones((2, 2)))
    assert x is not y
    same(y, np.eye(2))


class Wrapper:
    """As a Tensor: it answers for its own operations."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> str:
        return f"wrapped {ufunc.__name__}"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> str:
        return f"wrapped {func.__name__}"

    def __radd__(self, other: Any) -> str:
        return "wrapped radd"


class Deferred(Wrapper):
    __array_ufunc__ = None  # type: ignore[assignment]


def test_other_types_get_their_turn(put: Put) -> None:
    x = put(HOST)
    other: Any = Wrapper()
    assert x * other == "wrapped multiply"
    assert np.add(x, other) == "wrapped add"
    assert np.concatenate([x, other]) == "wrapped concatenate"
    assert x + Deferred() == "wrapped radd"
    with pytest.raises(TypeError):
        x += other
    with pytest.raises(TypeError):
        x[0] = other
    with pytest.raises(TypeError):
        x + object()


# --- attributes, conversions and waits ---


def test_attributes(put: Put) -> None:
    x = put(HOST)
    for name in ("shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides"):
        assert getattr(x, name) == getattr(HOST, name), name
    assert (x.flags.c_contiguous, x.T.flags.c_contiguous, x.T.flags.f_contiguous) == (True, False, True)
    for name in ("ctypes", "resize", "setflags", "anything"):
        assert not hasattr(x, name), name
    assert not hasattr(x.flags, "writeable")
    with pytest.raises(AttributeError):
        x.anything = 1
    with pytest.raises(TypeError):
        hash(x)
    assert weakref.ref(x)() is not None
    assert x.astype(float, copy=False) is x
    assert len(x) == 2
    with pytest.raises(TypeError):
        len(x.sum())


def test_device_is_named() -> None:
    assert str(fake_device.asarray(HOST).device) == "fake:0"


def test_what_computes_takes_arrays_of_the_current_device_only() -> None:
    first = fake_device.asarray(HOST)
    with fake_device.FakeDevice(1):
        second = fake_device.asarray(first)
        assert str((second + second).device) == str(second[0].T.device) == "fake:1"
        with pytest.raises(ValueError, match="must be same as the current device: fake:0, not fake:1"):
            np.stack([second, first])
    with pytest.raises(ValueError, match="fake:1, not fake:0"):
        np.add(first, second)
    same(second, HOST)
    assert fake_device.asarray(first) is first


def test_set_uploads(put: Put) -> None:
    x = put(np.zeros((2, 3)))
    x.set(HOST)
    same(x, HOST)


def test_copies_are_apart(put: Put) -> None:
    x = put(HOST)
    for other in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        other[0, 0] = 7.0
    same(x, HOST)


WAITS: dict[str, Callable[[Any], Any]] = {
    "get": lambda x: x.get(),
    "item": lambda x: x[0, 0].item(),
    "tolist": lambda x: x.tolist(),
    "float": lambda x: float(x[0, 0]),
    "int": lambda x: int(x[0, 0]),
    "bool": lambda x: bool(x[0, 0]),
    "complex": lambda x: complex(x[0, 0]),
    "math": lambda x: math.exp(x[0, 0]),
    "repr": repr,
    "format": lambda x: f"{x[0, 0]:.2f}",
    "pickle": lambda x: pickle.dumps(x),
    "if": lambda x: 1 if (x > 2).any() else 0,
    "in": lambda x: 1.0 in x[0],
    "mask": lambda x: x[x > 2],
    "assignment by mask": lambda x: x.__setitem__(x > 2, 0.0),
    "list of bools": lambda x: x[[True, False]],
    "bool as an index": lambda x: x[True],
    "nonzero": lambda x: x.nonzero(),
    "where": lambda x: np.where(x > 2),
    "unique": lambda x: np.unique(x),
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_waits_are_noted(host_syncs: list[str], wait: Callable[..., Any]) -> None:
    x = fake_device.asarray(HOST)
    assert host_syncs == []
    wait(x)
    assert host_syncs != []


def test_a_wait_can_be_forbidden(host_syncs: list[str]) -> None:
    x = fake_device.asarray(HOST)
    with fake_device.no_waiting():
        x += 1.0
        for wait in WAITS.values():
            with pytest.raises(AssertionError, match="the host waits for the device"):
                wait(x)
    assert host_syncs == []
    float(x[0, 0])
    assert host_syncs == ["get"]


def test_a_training_step_need_not_wait(host_syncs: list[str]) -> None:
    x, ids = fake_device.asarray(HOST), fake_device.asarray([1, 0])
    for row in x[ids]:
        x += np.where(row > 2, np.exp(-row), 0.0).sum(keepdims=True) / len(x)
    x[ids] = np.concatenate([x, x])[:2] @ np.ones_like(x, shape=(3, 3))
    copy.deepcopy(x)
    copy.copy(x)
    assert np.shape(x) == (2, 3)
    assert host_syncs == []


def test_conversions(put: Put) -> None:
    x = put(HOST)
    assert (x[1, 2].item(), float(x[1, 2]), int(x[1, 2]), complex(x[1, 2])) == (5.0, 5.0, 5, 5 + 0j)
    assert x.tolist() == HOST.tolist()
    assert (repr(x), f"{x[1, 2]:.2f}", x.tobytes()) == (repr(HOST), "5.00", HOST.tobytes())
    assert x[1, 2]
    assert not x[0, 0]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError):
        operator.index(put(1))
