"""Where other libraries meet a Tensor: what works gives NumPy's numbers, and else the last sentence names the remedy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

import minigrad as mg
from minigrad import Tensor
from tests.lazy import scipy

TABLE = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
V = np.array([2.0, 5.0])


def tracked(values: Any = V) -> Tensor:
    return Tensor(values, requires_grad=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("left", [TABLE, TABLE["a"], pd.array([1.0, 2.0])], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("values", [V, 2.0], ids=["vector", "number"])
@pytest.mark.parametrize(
    "op", [lambda x, t: x * t, lambda x, t: x - t, lambda x, t: x / t, lambda x, t: x**t, np.multiply]
)
def test_a_pandas_object_on_the_left(left: Any, values: Any, op: Any) -> None:
    got = op(left, tracked(values))
    assert isinstance(got, Tensor) and got.requires_grad
    np.testing.assert_allclose(got.data, op(np.asarray(left), values))
    mg.check_grads(lambda t: op(left, t), [np.asarray(values)], order=2)


def test_an_index_of_pandas_on_the_left() -> None:
    assert (pd.Index([1.0, 2.0]) * tracked()).data.tolist() == [2.0, 10.0]


def test_a_pandas_object_keeps_its_own_arithmetic_with_plain_tensors() -> None:
    assert isinstance(TABLE["a"] * Tensor(V), pd.Series)


WHOLE: dict[str, Any] = {"Float64": float, "Float32": np.float32, "Int64": np.int64, "UInt8": np.uint8, "boolean": bool}


@pytest.mark.parametrize(("name", "dtype"), WHOLE.items())
def test_nullable_columns_without_gaps(name: str, dtype: Any) -> None:
    column = pd.array([1, 0, 1], dtype=name)
    want = np.array([1, 0, 1]).astype(dtype)
    for value in (column, pd.Series(column)):
        assert Tensor(value).dtype == want.dtype
        np.testing.assert_array_equal(Tensor(value).data, want)
        np.testing.assert_array_equal((tracked([1.0, 2.0, 3.0]) * value).data, np.array([1.0, 2.0, 3.0]) * want)
    table = pd.DataFrame({"x": column, "y": column})
    assert Tensor(table).dtype == want.dtype and Tensor(table).shape == (3, 2)
    mixed = Tensor(pd.DataFrame({"x": column, "y": [0.5, 1.5, 2.5], "x2": column}))
    np.testing.assert_array_equal(mixed.data, np.stack([want, [0.5, 1.5, 2.5], want], axis=-1))
    np.testing.assert_array_equal(np.matmul(tracked([1.0, 1.0, 1.0]), table).data, [want.sum(dtype=float)] * 2)


@pytest.mark.parametrize("name", WHOLE)
def test_gaps_are_an_error_that_names_the_column(name: str) -> None:
    column = pd.array([1, None, None], dtype=name)
    for value, which in (
        (column, f"of dtype {name}"),
        (pd.Series(column, name="age"), "the column 'age'"),
        (pd.DataFrame({"y": [1.0, 2.0, 3.0], "age": column}), "the column 'age'"),
    ):
        for use in (Tensor, lambda value: tracked(2.0) * value):
            with pytest.raises(mg.DTypeError, match=rf"{which} has 2 gap\(s\).*fillna.*dropna"):
                use(value)
    with pytest.raises(mg.DTypeError, match="no numbers"):
        Tensor(pd.DataFrame({"x": ["a", "b"]}))


def filled(t: Any) -> Any:
    a = np.zeros(2)
    a[0] = t
    return np.sum(a)


COVERED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an item of an array": (filled, r"a\.at\[i\]\.set\(t\)"),
    "full_like": (lambda t: np.sum(np.full_like(np.ones(2), t)), r"np\.full_like writes.*np\.broadcast_to\(t, shape\)"),
    "full": (lambda t: np.sum(np.full(2, t)), r"np\.broadcast_to\(t, shape\)"),
    "copyto": (lambda t: np.copyto(np.ones(2), t), r"np\.copyto writes.*np\.where"),
    "sparse": (
        lambda t: np.sum(scipy.sparse.csr_array(np.eye(2)) @ np.stack([t, t])),
        r"^scipy\.sparse asked.*S\.toarray\(\)",
    ),
    "pandas": (lambda t: pd.DataFrame(np.stack([t, t])), r"^pandas\.core asked.*t\.numpy\(\).*no_grad\(\)"),
    "array": (lambda t: np.array([t, t]), r"np\.stack\(\[\.\.\.\]\).*no_grad\(\)"),
}


@pytest.mark.parametrize(("f", "message"), COVERED.values(), ids=COVERED)
def test_the_last_sentence_is_ours(f: Any, message: str) -> None:
    with pytest.raises(mg.UnsupportedError, match=message):
        mg.grad(f)(2.0)


def test_an_error_that_the_function_raises_itself_is_left_alone() -> None:
    def f(t: Any) -> Any:
        try:
            np.zeros(2)[0] = float(t)
        except TypeError as error:
            raise ValueError("mine") from error

    with pytest.raises(ValueError, match="mine") as error:
        mg.grad(f)(2.0)
    assert not isinstance(error.value, mg.MinigradError)


def test_scipy_over_the_input_of_a_model() -> None:
    """The gradient depends on the parameter, so it stays on its tape; the error says how to get arrays."""
    w = tracked([1.0, 3.0])

    def f(x: Any) -> Any:
        return np.sum((w * x - 1.0) ** 2)

    with pytest.raises(ValueError, match="scalar") as error:
        scipy.optimize.minimize(mg.value_and_grad(f), np.zeros(2), jac=True)
    assert "with mg.no_grad():" in str(error.value.__cause__)
    with pytest.raises(mg.UnsupportedError, match=r"with mg\.no_grad\(\):"):
        pd.DataFrame(mg.grad(lambda x: np.sum(f(x)))(np.ones((3, 2))))
    with mg.no_grad():
        found = scipy.optimize.minimize(mg.value_and_grad(f), np.zeros(2), jac=True)
        assert type(mg.grad(f)(V)) is np.ndarray
    np.testing.assert_allclose(found.x, [1.0, 1 / 3], atol=1e-6)
    penalty = np.sum(mg.grad(f)(V) ** 2)  # and a penalty on the gradient reaches the parameter
    (g,) = mg.autograd_grad(penalty, w)
    np.testing.assert_allclose(g.data, mg.grad(lambda w: np.sum((2 * w * (w * V - 1)) ** 2))(w.data))


def test_a_constant_gradient_has_no_derivative() -> None:
    x = tracked()
    (g,) = mg.autograd_grad((3 * x).sum(), x, create_graph=True)
    with pytest.raises(mg.GraphError, match=r"linear function is a constant.*t\.requires_grad"):
        mg.autograd_grad((g * g).sum(), x)
