"""Integers and booleans have no derivative: on Tensors of them NumPy's functions give what NumPy gives. Numbers by keyword."""

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import DTypeError, Tensor, UnsupportedError
from minigrad.engine.functions import PlainFunction
from minigrad.engine.registry import registry
from minigrad.engine.signatures import signature_or_none
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

numpy: Any = np  # for calls that NumPy's types forbid
I, J, B = np.array([1, 2, 12]), np.array([3, 0, 2]), np.array([True, False, True, True])
# The case that calls ufunc.at, which is refused.
LEFT_OUT = {"scatter_add: repeats"}


def whole(array: Any, dtype: Any) -> Any:
    """The array as integers or booleans, if it holds numbers with a fraction."""
    array = np.asarray(array)
    if array.dtype.kind not in "fc":
        return array
    return array.real > 0 if dtype is bool else np.rint(3 * array.real).astype(dtype)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value.numpy() if isinstance(value, Tensor) else value]


def compare(case: Case, dtype: Any) -> bool:
    """Whether NumPy could do it; then so must ours, with the same numbers."""
    arrays = [whole(array, dtype) for array in case.arrays()]
    with np.errstate(all="ignore"):
        try:
            want = case.f(*arrays)
        except Exception:  # what NumPy refuses in any of its ways is for other tests
            return False
        got = case.f(*[Tensor(array) for array in arrays])
    assert not any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in leaves(got))
    for ours, theirs in zip(leaves(got), leaves(want), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10, err_msg=f"{case.id} of {dtype}")
    return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool])
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.thorough)], ids=["sample", "all"])
def test_every_function_of_the_table_gives_numpys_answer(step: int, dtype: Any) -> None:
    cases = [case for case in CASES if case.id not in LEFT_OUT]
    composed = [case for case in cases if "quantile" in case.id or "diff" in case.id or "trapezoid" in case.id]
    compared = sum(compare(case, dtype) for case in [*cases[::step], *composed])
    assert compared > 100


NUMPYS: list[Callable[..., Any]] = [
    lambda x, y, b: x << 1, lambda x, y, b: 1 << y, lambda x, y, b: x << y, lambda x, y, b: x >> 1,
    lambda x, y, b: 1024 >> x, lambda x, y, b: x >> y, lambda x, y, b: np.left_shift(x, 2),
    lambda x, y, b: np.right_shift(5, x),
    lambda x, y, b: np.diff(b), lambda x, y, b: np.diff(b, 2), lambda x, y, b: np.ediff1d(x),
    lambda x, y, b: np.quantile(x, 0.3),
    lambda x, y, b: np.percentile(x, [20, 60]), lambda x, y, b: np.nextafter(x / 2, 1.0), lambda x, y, b: np.spacing(x / 2),
    lambda x, y, b: np.gcd(x, y), lambda x, y, b: np.lcm.reduce(x), lambda x, y, b: np.bincount(y),
    lambda x, y, b: np.packbits(b),
    lambda x, y, b: np.bitwise_count(x), lambda x, y, b: np.histogram(x, 3)[0], lambda x, y, b: np.intersect1d(x, y),
    lambda x, y, b: np.setdiff1d(x, y), lambda x, y, b: np.union1d(x, y), lambda x, y, b: np.frexp(x / 2)[1],
    lambda x, y, b: ~b,
    lambda x, y, b: np.trapezoid(b), lambda x, y, b: np.correlate(b, b, "full"), lambda x, y, b: np.vander(x),
]  # fmt: skip


@pytest.mark.parametrize("f", NUMPYS, ids=lambda f: inspect.getsource(f).count("") and str(f.__code__.co_consts))
def test_without_gradients_numpy_answers(f: Callable[..., Any]) -> None:
    want, got = f(I, J, B), f(Tensor(I), Tensor(J), Tensor(B))
    assert isinstance(got, Tensor)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("shift", [operator.lshift, operator.rshift])
def test_shifts_are_of_integers(shift: Callable[[Any, Any], Any]) -> None:
    for left, right in ((Tensor([1.0]), 1), (1.5, Tensor([1])), (Tensor([1.0], requires_grad=True), Tensor([1]))):
        with pytest.raises(DTypeError, match="shift"):
            shift(left, right)


def test_what_has_no_rule_is_refused_where_a_gradient_is_required() -> None:
    t = Tensor([1.0, 2.0], requires_grad=True)
    calls: list[Callable[[], Any]] = [
        lambda: np.nextafter(t, 1.0), lambda: np.nextafter(Tensor([1.0, 2.0]), t), lambda: np.unwrap(t), lambda: np.spacing(t),
        lambda: numpy.histogram(Tensor([1.0]), weights=t), lambda: numpy.union1d(Tensor([1.0]), t),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(UnsupportedError, match="has no derivative rule"):
            call()


# --- what is written into ---

WITH_OUT = [
    function
    for function, declared in registry.items()
    if isinstance(declared, PlainFunction)
    and not isinstance(function, np.ufunc)
    and (signature := signature_or_none(function)) is not None
    and "out" in signature.parameters
]


def test_the_functions_with_a_place_to_write_into_are_known() -> None:
    assert {np.isneginf, np.isposinf, np.argmax, np.any} <= set(WITH_OUT)


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("function", WITH_OUT, ids=lambda f: f.__name__)
def test_no_plain_function_writes_into_a_tensor(function: Any, tracked: bool) -> None:
    x, before = Tensor([[1.0, -np.inf]]), [[5.0, 6.0]]
    places = list(inspect.signature(function).parameters).index("out")
    t = Tensor(before, requires_grad=tracked)
    for call in (lambda: function(x, out=t), lambda: function(x, *[None] * (places - 1), t)):
        with pytest.raises(UnsupportedError, match=r"cannot write into a Tensor \(out=t\)"):
            call()
        assert t.tolist() == before


def test_a_plain_function_writes_into_an_array() -> None:
    x, found = Tensor([1.0, -np.inf], requires_grad=True), np.zeros(2, bool)
    assert np.isneginf(x, found) is found and found.tolist() == [False, True]


def test_ufuncs_without_a_rule_write_into_no_tensor() -> None:
    t = Tensor([1.0, 2.0])
    for call in (lambda: numpy.isnan(t, t), lambda: numpy.nextafter(t, 1.0, t), lambda: numpy.nextafter(t, 1.0, out=t)):
        with pytest.raises(UnsupportedError, match=r"cannot write into a Tensor \(out=t\)"):
            call()
    assert t.tolist() == [1, 2]


# --- numbers by keyword ---

M = np.array([[2.0, 1.0], [1.0, 3.0], [0.5, 1e-4]])
KEYWORDS: list[tuple[Callable[..., Any], str, Any]] = [
    (np.linalg.pinv, "rtol", 1e-2), (np.linalg.pinv, "rcond", 1e-2), (np.sum, "axis", 1), (np.sum, "initial", 2.0),
    (np.var, "ddof", 1), (np.round, "decimals", 1), (np.max, "initial", 2.5), (np.nan_to_num, "nan", 1.0), (np.diff, "n", 1),
    (np.roll, "axis", 0), (np.cumsum, "axis", 1), (np.sort, "axis", 0), (np.triu, "k", 1), (np.linalg.norm, "ord", 1),
]  # fmt: skip


@pytest.mark.parametrize(("f", "name", "number"), KEYWORDS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_keyword_that_takes_a_number_takes_a_tensor_of_one(f: Any, name: str, number: Any) -> None:
    more = {"shift": 1} if f is np.roll else {}
    want = f(Tensor(M, requires_grad=True), **more, **{name: number})
    got = f(Tensor(M, requires_grad=True), **more, **{name: Tensor(number)})
    np.testing.assert_array_equal(got.numpy(), want.numpy())
    assert got.requires_grad


def test_a_tracked_number_by_keyword_is_refused_in_a_sentence() -> None:
    for name in ("rtol", "rcond"):
        with pytest.raises(UnsupportedError, match=f"pinv takes plain values for '{name}', got a Tensor: use t.item"):
            numpy.linalg.pinv(Tensor(M), **{name: Tensor(1e-2, requires_grad=True)})
