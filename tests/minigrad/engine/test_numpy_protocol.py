"""NumPy's own functions, operators and methods on Tensors: the same primitives, or a refusal, never a silent detach."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, UnsupportedError
from minigrad.engine import functions
from tests import fake_device

A = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]])


def tracked(array: Any = A) -> Any:
    return Tensor(array, requires_grad=True)


def ops(t: Any) -> list[str]:
    return [entry.primitive.name for entry in mg.tape(t)]


SPELLINGS: dict[str, list[Callable[[Any], Any]]] = {
    "exp": [np.exp, lambda t: t.exp()],
    "log": [np.log, lambda t: t.log()],
    "sqrt": [np.sqrt, lambda t: t.sqrt()],
    "tanh": [np.tanh, lambda t: t.tanh()],
    "absolute": [np.abs, np.absolute, abs],
    "negative": [np.negative, operator.neg],
    "positive": [np.positive, operator.pos],
    "add": [lambda t: np.add(t, A), lambda t: t + A, lambda t: A + t, lambda t: t + A.tolist()],
    "subtract": [lambda t: np.subtract(t, 1), lambda t: t - 1],
    "multiply": [lambda t: np.multiply(2.0, t), lambda t: 2.0 * t, lambda t: t * np.float64(2)],
    "divide": [lambda t: np.true_divide(t, 2), lambda t: np.divide(t, 2), lambda t: t / 2],
    "floor_divide": [lambda t: np.floor_divide(t, 2), lambda t: t // 2],
    "remainder": [lambda t: np.mod(t, 2), lambda t: np.remainder(t, 2), lambda t: t % 2],
    "power": [lambda t: np.power(t, 2), lambda t: t**2, lambda t: pow(t, 2)],
    "matmul": [lambda t: np.matmul(t, A.T), lambda t: t @ A.T, lambda t: t @ A.T.tolist()],
    "sum": [lambda t: np.sum(t, 0), lambda t: np.sum(a=t, axis=0), lambda t: t.sum(0), lambda t: t.sum(axis=0)],
    "mean": [lambda t: np.mean(t, -1), lambda t: t.mean(-1)],
    "var": [lambda t: np.var(t, axis=1, ddof=1), lambda t: t.var(axis=1, ddof=1),
            lambda t: np.var(t, 1, correction=1), lambda t: t.var(1, correction=1)],
    "std": [lambda t: np.std(t, keepdims=True), lambda t: t.std(keepdims=True), lambda t: t.std(keepdims=True, correction=0)],
    "max": [np.max, np.amax, lambda t: t.max(), lambda t: np.max(a=t)],
    "min": [np.min, np.amin, lambda t: t.min()],
    "reshape": [
        lambda t: np.reshape(t, (3, 2)), lambda t: np.reshape(t, shape=(3, 2)), lambda t: t.reshape(3, 2),
        lambda t: t.reshape((3, -1)), lambda t: t.reshape([3, 2]),
    ],
    "transpose": [np.transpose, lambda t: np.transpose(a=t, axes=(1, 0)), lambda t: t.T, lambda t: t.transpose(1, 0)],
    "swapaxes": [lambda t: np.swapaxes(t, 0, 1), lambda t: t.swapaxes(0, 1), lambda t: t.mT],
    "expand_dims": [lambda t: np.expand_dims(t, 0), lambda t: np.expand_dims(a=t, axis=0)],
    "broadcast_to": [lambda t: np.broadcast_to(t, (4, 2, 3)), lambda t: np.broadcast_to(array=t, shape=(4, 2, 3))],
    "concatenate": [lambda t: np.concatenate([t, A]), lambda t: np.concatenate((t, A), axis=0)],
    "stack": [lambda t: np.stack([A, t]), lambda t: np.stack(arrays=(A, t), axis=0)],
    "take": [lambda t: np.take(t, [0, 2], 1), lambda t: np.take(a=t, indices=[0, 2], axis=1), lambda t: t.take([0, 2], 1)],
    "clip": [
        lambda t: np.clip(t, 0, 1), lambda t: np.clip(a=t, a_min=0, a_max=1), lambda t: np.clip(t, min=0, max=1),
        lambda t: t.clip(0, 1),
    ],
    "getitem": [lambda t: t[:, 1], lambda t: t[..., Tensor(1)], lambda t: t[:, np.int64(1)]],
    "where": [lambda t: np.where(t > 0, t, 0.0), lambda t: np.where(t.data > 0, t, 0.0)],
    "astype": [lambda t: t.astype("f4"), lambda t: np.astype(t, np.float32)],
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_spellings_are_one_primitive(name: str) -> None:
    first, *others = [spell(tracked()) for spell in SPELLINGS[name]]
    assert ops(first) == [name] and first.requires_grad
    for other in others:
        assert ops(other) == [name]
        np.testing.assert_array_equal(other.data, first.data)
    for one in [first, *others]:
        one.backward(np.ones(one.shape))


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
OTHERS: dict[str, Callable[[Any], Any]] = {
    "ndarray": lambda a: a,
    "float64": lambda a: np.float64(2),
    "float": lambda a: 2.0,
    "int": lambda a: 2,
    "0-d": lambda a: np.array(2.0),
    "list": lambda a: a.tolist(),
    "Tensor": Tensor,
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("operate", OPERATORS)
def test_operators_from_both_sides(operate: Callable[..., Any], other: Callable[[Any], Any]) -> None:
    x = np.abs(A) + 0.5
    y = other(x + 1)
    for left, right in ((tracked(x), y), (y, tracked(x))):
        result = operate(left, right)
        values = [v.data if isinstance(v, Tensor) else v for v in (left, right)]
        assert isinstance(result, Tensor) and len(ops(result)) == 1
        np.testing.assert_array_equal(result.data, operate(*[np.asarray(v) for v in values]))
        result.sum().backward()


COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons_give_plain_booleans(compare: Callable[..., Any]) -> None:
    t, y = tracked(), np.array([1.0, 0.0, 0.5])
    for got in (compare(t, y), compare(t, Tensor(y))):
        assert type(got) is np.ndarray and got.dtype == bool
    np.testing.assert_array_equal(compare(t, y), compare(A, y))
    np.testing.assert_array_equal(compare(y, t), compare(y, A))
    np.testing.assert_array_equal(compare(t, 0.5), compare(A, 0.5))
    np.testing.assert_array_equal(compare(np.float64(0.5), t), compare(0.5, A))


PLAIN: dict[Any, Callable[[Any], Any]] = {
    np.allclose: lambda x: np.allclose(x, b=x), np.isclose: lambda x: np.isclose(A, x),
    np.array_equal: lambda x: np.array_equal(x, A), np.array_equiv: lambda x: np.array_equiv(A, x),
    np.argmax: lambda x: np.argmax(x, axis=1), np.argmin: lambda x: np.argmin(a=x), np.argsort: lambda x: np.argsort(x),
    np.ix_: lambda x: np.ix_(x[0] > 0, x[:, 0]), np.unravel_index: lambda x: np.unravel_index(x[0].astype(int) % 4, (2, 2)),
    np.ravel_multi_index: lambda x: np.ravel_multi_index(tuple(x.astype(int) % 2), (2, 2)),
    np.diag_indices_from: lambda x: np.diag_indices_from(x[:2, :2]), np.isin: lambda x: np.isin(x, [0.0, 1.0]),
    np.argpartition: lambda x: np.argpartition(x, 1), np.digitize: lambda x: np.digitize(x, [0.0, 1.0]),
    np.searchsorted: lambda x: np.searchsorted(x[0][:1], [0.0, 2.0]), np.any: lambda x: np.any(x, axis=0),
    np.all: lambda x: np.all(x), np.result_type: lambda x: np.result_type(x, np.float32),
    np.can_cast: lambda x: np.can_cast(x.dtype, np.float32),
    np.may_share_memory: lambda x: np.may_share_memory(x, A + 1), np.shares_memory: lambda x: np.shares_memory(x, A + 1),
    np.count_nonzero: lambda x: np.count_nonzero(x, axis=0), np.array2string: lambda x: np.array2string(x, precision=2),
}  # fmt: skip


@pytest.mark.parametrize("function", functions.VALUES, ids=lambda f: f.__name__)
def test_plain_functions_give_what_numpy_gives(function: Any) -> None:
    two: set[Any] = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
    two |= {np.logical_and, np.logical_or, np.logical_xor}
    call = PLAIN.get(function) or ((lambda x: function(x, A[0])) if function in two else function)
    want, got = call(A), call(tracked())
    assert type(got) is type(want)
    for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        np.testing.assert_array_equal(a, b)


def test_creation_functions_give_untracked_tensors() -> None:
    for got, want in [
        (np.zeros_like(tracked()), np.zeros_like(A)),
        (np.ones_like(tracked(), dtype=np.float32), np.ones_like(A, dtype=np.float32)),
        (np.full_like(tracked(), 7.0, shape=(2,)), np.full_like(A, 7.0, shape=(2,))),
    ]:
        assert isinstance(got, Tensor) and not got.requires_grad and got.dtype == want.dtype
        np.testing.assert_array_equal(got.data, want)
    assert np.empty_like(tracked()).shape == A.shape
    bits = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift}
    assert set(functions.TENSORS) - bits == {np.zeros_like, np.ones_like, np.empty_like}


@pytest.mark.parametrize("x", [np.array([True, True, False]), np.array([6, 5, -4]), np.array([6, 5, 4], np.uint8)])
@pytest.mark.parametrize("operate", [operator.and_, operator.or_, operator.xor])
def test_bits(operate: Callable[..., Any], x: np.ndarray) -> None:
    y = x[::-1].copy()
    for got in (
        operate(Tensor(x), y),
        operate(x, Tensor(y)),
        operate(Tensor(x), Tensor(y)),
        operate(x.tolist(), Tensor(y)),
    ):
        assert isinstance(got, Tensor) and not got.requires_grad
        np.testing.assert_array_equal(got.data, operate(x, y))
    inverted = ~Tensor(x)
    assert isinstance(inverted, Tensor) and inverted.dtype == x.dtype
    np.testing.assert_array_equal(inverted.data, ~x)


def test_bits_of_masks_and_shifts() -> None:
    t = tracked()
    mask = Tensor(A > 0) & (t > -1) | ~Tensor(A < 3)
    np.testing.assert_array_equal(mask.data, A > 0)
    np.testing.assert_array_equal(np.where(mask, t, 0.0).data, np.where(A > 0, A, 0.0))
    np.testing.assert_array_equal(t[mask].data, A[A > 0])
    np.testing.assert_array_equal(np.left_shift(Tensor([1, 2]), 3).data, [8, 16])
    mask &= False
    assert isinstance(mask, Tensor) and not mask.any()
    for bad in (lambda: t & t, lambda: ~t, lambda: 1 | t):
        with pytest.raises(mg.DTypeError, match=r"np\.(bitwise_\w+|invert): ufunc"):
            bad()


UNKNOWN: dict[str, Callable[[Any], Any]] = {
    "np.i0": lambda t: np.i0(t),
    "np.nextafter": lambda t: np.nextafter(t, 1.0),
    "np.unwrap": lambda t: np.unwrap(p=t),
    "np.frexp": lambda t: np.frexp(t),
    "np.histogram": lambda t: np.histogram(t),
    "np.save": lambda t: np.save("nowhere", t),
    "np.subtract.reduce": lambda t: np.subtract.reduce(t),
    "np.divide.accumulate": lambda t: np.divide.accumulate(t),
    "np.hypot.reduce": lambda t: np.hypot.reduce(t),
    "np.add.reduceat": lambda t: np.add.reduceat(t, [0]),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_functions_without_a_rule_are_named(name: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"{name}\b.*t\.numpy\(\)") as error:
        UNKNOWN[name](tracked())
    assert isinstance(error.value, TypeError)


KEYWORDS: dict[str, Callable[[Any], Any]] = {
    "out": lambda t: np.exp(t, out=np.zeros_like(A)),
    "out of an ndarray": lambda t: np.add(A, A, out=t),
    "out as a tuple": lambda t: np.add(t, 1, out=(np.zeros_like(A),)),
    "positional out": lambda t: np.add(t, 1, np.zeros_like(A)),
    "sum out": lambda t: np.sum(t, axis=0, out=np.zeros(3)),
    "sum out Tensor": lambda t: np.sum(A, axis=0, out=t),
    "concatenate out": lambda t: np.concatenate([t, A], out=np.zeros((4, 3))),
    "concatenate dtype": lambda t: np.concatenate([t, A], dtype=np.float32),
    "where": lambda t: np.add(t, 1, where=A > 0),
    "cumsum out": lambda t: np.cumsum(t, out=np.zeros(6)),
    "var mean": lambda t: np.var(t, mean=A.mean()),
    "reshape copy": lambda t: np.reshape(t, (3, 2), copy=True),
    "take out": lambda t: np.take(t, [0], 0, np.zeros((1, 3))),
    "axis Tensor": lambda t: np.sum(t, axis=Tensor([0])),
    "subok": lambda t: np.exp(t, subok=False),
    "astype copy": lambda t: np.astype(t, np.float32, copy=False),
    "unknown method keyword": lambda t: t.sum(where=A > 0),
}


@pytest.mark.parametrize("call", KEYWORDS.values(), ids=KEYWORDS)
def test_keywords_without_a_meaning_here_raise(call: Callable[[Any], Any]) -> None:
    t = tracked()
    with pytest.raises(TypeError):
        call(t)
    np.testing.assert_array_equal(t.data, A)


def test_defaults_may_be_spelled_out() -> None:
    t: Any = tracked()
    for y in (
        np.sum(t, axis=None, dtype=None, out=None),
        np.max(t, None, None),
        np.var(t, ddof=0, dtype=None),
        np.reshape(t, (3, 2), order="C"),
        np.take(t, [0], mode="raise"),
        np.transpose(t, axes=None),
    ):
        assert isinstance(y, Tensor) and y.requires_grad


def test_where_with_one_argument_is_nonzero_or_refused() -> None:
    for t in (Tensor(A > 0), Tensor([1.0, 0.0])):
        try:
            got = np.where(t)
        except UnsupportedError:
            continue
        for a, b in zip(got, np.where(t.data), strict=True):
            np.testing.assert_array_equal(a, b)


def test_dtype_and_casting_of_a_ufunc() -> None:
    t = tracked(A.astype(np.float32))
    y = np.multiply(t, t, dtype=np.float64)
    assert y.dtype == np.float64
    loss: Any = np.sum(y, dtype=np.float32)
    loss.backward()
    assert t.grad is not None and t.grad.dtype == np.float32
    np.testing.assert_array_equal(t.grad.data, 2 * t.data)


@pytest.mark.parametrize("dtype", "efdgFD")
@pytest.mark.parametrize("exponent", [2, 2.0, True, 3, -1, 0.5, 0])
def test_a_power_has_the_bits_of_numpys_the_first_time_and_later(dtype: str, exponent: float) -> None:
    rng = np.random.default_rng(0)
    numbers = [rng.normal(size=1000) * 10.0 ** rng.integers(-200, 200, 1000) for _ in range(2 if dtype in "FD" else 1)]
    with np.errstate(all="ignore"):
        array: Any = np.append(
            numbers[0] + (1j * numbers[1] if dtype in "FD" else 0), [0.0, -0.0, np.inf, np.nan]
        ).astype(dtype)
        x: Any = Tensor(array, requires_grad=True)
        rtol = (
            2.5 * float(np.finfo(dtype).eps) if exponent == 3 and dtype in "fd" else 0
        )  # a product, see test_exactness.py
        for _ in range(2):
            found = (x**exponent).numpy()
            assert found.dtype == np.power(array, exponent).dtype
            np.testing.assert_allclose(found, np.power(array, exponent), rtol=rtol)
            np.testing.assert_array_equal(found, np.power(x, exponent).numpy())


def test_in_place_operators_rebind() -> None:
    x = tracked()
    y = x * 1.0
    saved, before = y, y.data.copy()
    z = y * y
    y += 10.0
    y *= x
    assert y is not saved
    np.testing.assert_array_equal(saved.data, before)
    z.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.data, 2 * A)


INTO = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
]
BITS = [operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift]


@pytest.mark.parametrize("update", [*INTO, operator.imatmul])
def test_an_array_cannot_absorb_what_is_tracked(update: Callable[..., Any]) -> None:
    a = np.eye(3)
    with pytest.raises(UnsupportedError, match=r"off from the tape: write a = a - t .*t\.detach\(\)"):
        update(a, tracked(np.ones((3, 3))))
    np.testing.assert_array_equal(a, np.eye(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("update", [*INTO, operator.imatmul])
def test_an_array_takes_an_untracked_tensor_as_its_array(update: Callable[..., Any], dtype: Any) -> None:
    a, b = np.full((3, 3), 7.0, dtype), np.arange(1.0, 10.0, dtype=dtype).reshape(3, 3)
    same, want = a, update(a.copy(), b)
    got = update(a, Tensor(b))
    assert got is same and type(got) is np.ndarray and got.dtype == dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("update", BITS)
def test_an_array_of_integers_takes_an_untracked_tensor(update: Callable[..., Any]) -> None:
    a = np.array([5, 6])
    assert update(a, Tensor([3, 1])) is a
    np.testing.assert_array_equal(a, update(np.array([5, 6]), np.array([3, 1])))


def test_parts_of_an_array_and_out_take_an_untracked_tensor() -> None:
    a, t = np.zeros((2, 3)), Tensor([1.0, 2.0, 3.0])
    a[0] -= t
    a[:, 1:] += t[1:]
    a[1, 0] += t[2]
    assert a.tolist() == [[-1, 0, 0], [3, 2, 3]]
    out = np.add(a, t, out=a, where=Tensor([True, False, False]))
    assert out is a and a.tolist() == [[0, 0, 0], [4, 2, 3]]
    assert np.exp(Tensor([0.0]), out=np.zeros(1)).tolist() == [1.0]
    assert np.add.reduce(Tensor(A), axis=0, out=np.zeros(3)).tolist() == A.sum(0).tolist()


def test_the_line_of_every_tutorial() -> None:
    w, x = tracked([3.0, -2.0]), np.array([[1.0, 2.0], [0.5, -1.0]])
    for step in range(40):
        loss = ((x @ w - [1.0, 2.0]) ** 2).mean()
        loss.backward()
        leaf = w.data
        w.data -= 0.2 * w.grad
        assert w.data is leaf and w.requires_grad and w.is_leaf
        w.grad = None
        assert step or loss.item() > 1
    assert loss.item() < 1e-3


@pytest.mark.parametrize("write", [lambda w, g: w.__isub__(g), lambda w, g: np.subtract(w[:1], g[:1], out=w[:1])])
def test_a_write_through_data_is_noticed(write: Callable[..., Any]) -> None:
    w = tracked([3.0, -2.0])
    loss = (w * w).sum()
    write(w.data, Tensor([1.0, 1.0]))
    with pytest.raises(mg.GraphError, match="changed in place"):
        loss.backward()


def test_a_write_into_a_plain_operand_is_noticed() -> None:
    a, w = np.ones(2), tracked([3.0, -2.0])
    loss = (w * a).sum()
    a -= Tensor([0.5, 0.5])
    with pytest.raises(mg.GraphError, match="changed in place"):
        loss.backward()


def test_a_tensor_is_never_the_place_to_write() -> None:
    t: Any
    for t in (Tensor(A), tracked()):
        with pytest.raises(UnsupportedError, match=r"np\.exp cannot write into a Tensor \(out=t\).*t\.data"):
            np.exp(A, out=t)


def assign(index: Any, value: Any) -> None:
    np.zeros((2, 3))[index] = value


LEAKS: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray, "array": np.array, "array of a list": lambda t: np.array([t, t]),
    "array of numbers": lambda t: np.array([t[0, 0], t[0, 1]]), "nested": lambda t: np.array([[t[0, 0]], [1.0]]),
    "float64": lambda t: np.float64(t[0, 0]), "Tensor of a list": lambda t: Tensor([t[0, 0], t[0, 1]]),
    "float": lambda t: float(t[0, 0]), "int": lambda t: int(t[0, 0]), "complex": lambda t: complex(t[0, 0]),
    "math": lambda t: math.exp(t[0, 0]), "index": lambda t: [1, 2][t[0, 0]], "range": lambda t: range(t[0, 0]),
    "sequence assignment": lambda t: assign(slice(None), [t[0], t[1]]),
    "row assignment": lambda t: assign(0, t[0]),
    "asarray of a list in an operation": lambda t: t[0] * [t[0, 0], 1.0, 2.0],
    "ndarray method": lambda t: A.dot(t.T), "mean of a list": lambda t: np.mean([t, t]),
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_nothing_detaches_silently(leak: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"t\.(numpy|item)\(\)"):
        leak(tracked())


@pytest.mark.parametrize("convert", [float, int, complex, math.exp])
def test_the_message_of_a_conversion_begins_with_the_way_out(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"^write t\.item\(\) for the number: \w+\(t\) would cut the tensor"):
        convert(tracked().sum())
    assert float(tracked().sum().detach()) == A.sum()


@pytest.mark.parametrize("leak", [lambda a, t: operator.setitem(a, 0, t), lambda a, t: np.sum(a, initial=t)])
def test_an_element_of_an_array_cannot_be_tracked(leak: Callable[..., Any]) -> None:
    """NumPy puts its own words on top; the reason is the cause that Python prints with it."""
    a = np.zeros(3)
    with pytest.raises((TypeError, ValueError)) as error:
        leak(a, tracked()[0, 0])
    reason = error.value if isinstance(error.value, UnsupportedError) else error.value.__cause__
    assert isinstance(reason, UnsupportedError) and "t.item()" in str(reason) and "np.stack" in str(reason)
    assert not a.any()


def test_an_untracked_tensor_is_an_array_to_numpy() -> None:
    t = Tensor(A)
    assert type(np.asarray(t)) is np.ndarray and np.asarray(t, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array([t, t]), np.array([A, A]))
    a = np.zeros(3)
    a[:] = t[0]
    a[1] = t[1, 0]
    np.testing.assert_array_equal(a, [1.0, 3.0, 0.5])


def test_subclasses_take_part() -> None:
    class Parameter(Tensor):
        """As `nn` will have it."""

    p = Parameter(A, requires_grad=True)
    for y in (p * p, np.exp(p), np.concatenate([p, p]), A + p, np.where(A > 0, p, A)):
        assert type(y) is Tensor and y.requires_grad
    np.concatenate([p[:1], p]).sum().backward()
    assert p.grad is not None and p.grad.data.tolist() == [[2, 2, 2], [1, 1, 1]]


def test_device_and_host_do_not_mix() -> None:
    t = Tensor(fake_device.asarray(A), requires_grad=True)
    for mix in (
        lambda: t + A,
        lambda: A * t,
        lambda: t @ A.T,
        lambda: np.concatenate([t, Tensor(A)]),
        lambda: t + tracked(),
    ):
        with pytest.raises(TypeError):
            mix()
    for y in (t + 1.0, 2.0 * t, fake_device.asarray(A) * t, t * fake_device.asarray(A)):
        assert isinstance(y, Tensor) and isinstance(y.data, fake_device.FakeArray) and y.requires_grad
    with pytest.raises(UnsupportedError, match=r"t\.numpy\(\)"):
        np.asarray(t.detach())
    np.testing.assert_array_equal(t.numpy(), A)
    assert "device=fake:0" in repr(t)
