"""Forward mode on every sample of the case table: a push and a pull are each other's transpose."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import derivatives
from minigrad._tree import leaves
from tests.minigrad import oracle
from tests.minigrad.cases import Case
from tests.minigrad.table import CASES

pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # since NumPy 2.5
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
HOLOMORPHIC = {"fft", "ifft"}


def function_of_floats(case: Case) -> tuple[Any, list[np.ndarray]]:
    arrays = case.arrays()
    floating = [i for i, a in enumerate(arrays) if oracle.differentiable(a)]

    def f(*values: Any) -> list[Any]:
        given = list(arrays)
        for i, value in zip(floating, values, strict=True):
            given[i] = value
        return [t for t in oracle.flat(case.f(*given)) if t.dtype.kind in "fc"]

    return f, [arrays[i] for i in floating]


def directions(arrays: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    made = []
    for a in arrays:
        v = rng.standard_normal(np.shape(a)) + (1j * rng.standard_normal(np.shape(a)) if a.dtype.kind == "c" else 0)
        made.append(np.asarray(v, a.dtype))
    return made


def product(u: Any, v: Any) -> float:
    """The real pairing that makes a pull the transpose of a push."""
    return sum(float(np.sum(np.asarray(a) * np.asarray(b)).real) for a, b in zip(u, v, strict=True))


@every_case
def test_push_is_the_transpose_of_pull(case: Case) -> None:
    f, arrays = function_of_floats(case)
    v = directions(arrays)
    out, moved = mg.jvp(f, arrays, v)
    assert [(m.shape, m.dtype) for m in moved] == [(o.shape, o.dtype) for o in out]
    u = directions(out)
    pulled = mg.vjp(f, *arrays)[1](u)
    size = 1e-300 + sum(float(np.sum(np.abs(a * b))) for a, b in zip([*moved, *pulled], [*u, *v], strict=True))
    assert abs(product(u, moved) - product(pulled, v)) <= 1e-12 * size


@pytest.mark.parametrize("case", [case for case in CASES if case.order > 1], ids=lambda case: case.id)
def test_a_recorded_push_is_the_same_and_depends_on_the_inputs_as_the_pull_does(case: Case) -> None:
    f, arrays = function_of_floats(case)
    v = directions(arrays)
    out, moved = mg.jvp(f, arrays, v)
    u = directions(out)

    def by_push(*values: Any) -> Any:
        return sum(np.sum(np.real(a * m)) for a, m in zip(u, mg.jvp(f, values, v)[1]))

    def by_pull(*values: Any) -> Any:
        pulled = mg.vjp(f, *values)[1](u)
        return sum(np.sum(np.real(g * b)) for g, b in zip(pulled, v, strict=True))

    every = tuple(range(len(arrays)))
    value, first = mg.value_and_grad(by_push, every)(*arrays)
    np.testing.assert_allclose(float(value), product(u, moved), rtol=1e-10, atol=1e-10)
    for a, b in zip(first, mg.grad(by_pull, every)(*arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(b), initial=0)))


@every_case
def test_all_directions_at_once_are_the_rows_of_reverse_mode(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    f, arrays = function_of_floats(case)
    if any(a.dtype.kind == "c" for a in [*arrays, *f(*arrays)]):
        arrays = [a.astype(np.complex128) for a in arrays] if case.primitive in HOLOMORPHIC else []
    if not arrays:
        return
    every, holomorphic = tuple(range(len(arrays))), arrays[0].dtype.kind == "c"
    found = []
    for way in (derivatives._by_columns, derivatives._by_rows):
        monkeypatch.setattr(derivatives, "_by_columns", way)
        monkeypatch.setattr(derivatives, "_by_rows", way)
        found.append(mg.jacobian(f, every, holomorphic=holomorphic)(*arrays))
    for columns, rows in zip(*map(leaves, found), strict=True):
        assert (columns.shape, columns.dtype) == (rows.shape, rows.dtype)
        np.testing.assert_allclose(columns, rows, rtol=1e-10, atol=1e-12 * (1 + np.max(np.abs(rows), initial=0)))


def test_directions_beyond_what_is_pushed_at_once_are_pushed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((7, 5)), rng.standard_normal(5)
    whole = mg.jacobian(lambda x: np.tanh(A @ x))(x)
    monkeypatch.setattr(derivatives, "_AT_ONCE", 14)
    np.testing.assert_allclose(mg.jacobian(lambda x: np.tanh(A @ x))(x), whole, rtol=1e-14)
    np.testing.assert_allclose(whole, (1 - np.tanh(A @ x) ** 2)[:, None] * A, rtol=1e-12)


class Cube(mg.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def test_what_has_no_name_here_is_pushed_through_its_transposed_rule() -> None:
    """A Function, a checkpointed part, and a primitive of one's own that bears the name of another."""
    own = mg.primitive(lambda x: np.stack([x, x * x]), name="sum").vjp(x=lambda g, x: g[0] + 2 * x * g[1])
    x, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    np.testing.assert_allclose(mg.jvp(Cube.apply, (x,), (v,))[1], 3 * x**2 * v)
    np.testing.assert_allclose(mg.jvp(own, (x,), (v,))[1], [v, 2 * x * v])
    np.testing.assert_allclose(mg.jvp(lambda x: mg.checkpoint(np.sin, x), (x,), (v,))[1], np.cos(x) * v)
    for f in (Cube.apply, lambda x: mg.checkpoint(lambda x: x**3, x)):
        np.testing.assert_allclose(mg.jacobian(f)(x), np.diag(3 * x**2))
        np.testing.assert_allclose(mg.hvp(lambda x, f=f: f(x).sum(), (x,), (v,))[0], 6 * x * v)
