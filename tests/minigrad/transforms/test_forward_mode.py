"""Forward mode on every sample of the case table: a push and a pull are each other's transpose."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GraphError, UnsupportedError
from minigrad._tree import leaves
from minigrad.transforms import derivatives
from minigrad.transforms.forward_mode import push
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # since NumPy 2.5
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
HOLOMORPHIC = {"fft", "ifft"}
SMOOTH = [case for case in CASES if case.order > 1]
OF_SEVERAL = [case for case in SMOOTH if sum(map(oracle.differentiable, case.arrays())) > 1]


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


@pytest.mark.sampled(4)
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.id)
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


def one_moves(f: Any, i: int, values: Any) -> Any:
    """``f`` as a function of argument ``i`` alone."""
    return lambda x: f(*values[:i], x, *values[i + 1 :])


def check_one_moves(f: Any, arrays: list[np.ndarray], order: int) -> None:
    """While one input moves the tangent depends on all of them, as two reverse passes say."""
    v, u = directions(arrays), directions(f(*arrays))
    every = tuple(range(len(arrays)))

    def paired(a: Any, b: Any) -> Any:
        return sum(np.sum(np.real(x * y)) for x, y in zip(a, b, strict=True))

    def differentiated(h: Any, times: int) -> Any:
        """The gradient, of a product with ``v`` of the gradient before."""
        return (
            mg.grad(h, every)
            if times == 1
            else differentiated(lambda *values: paired(mg.grad(h, every)(*values), v), times - 1)
        )

    for i in every:

        def by_push(*values: Any, i: int = i) -> Any:
            return paired(u, mg.jvp(one_moves(f, i, values), [values[i]], [v[i]])[1])

        def by_pull(*values: Any, i: int = i) -> Any:
            return paired(mg.vjp(one_moves(f, i, values), values[i])[1](u), [v[i]])

        pushed, pulled = (differentiated(h, order - 1)(*arrays) for h in (by_push, by_pull))
        for a, b in zip(pushed, pulled, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(b), initial=0)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", OF_SEVERAL, ids=lambda case: case.id)
def test_a_push_along_one_input_depends_on_every_other(case: Case) -> None:
    check_one_moves(*function_of_floats(case), order=2)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.id)
def test_the_derivatives_of_a_push_do_so_too(case: Case) -> None:
    check_one_moves(*function_of_floats(case), order=3)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.id)
def test_a_jacobian_of_one_input_depends_on_every_other(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    f, arrays = function_of_floats(case)
    every = tuple(range(len(arrays)))
    if any(a.dtype.kind == "c" for a in [*arrays, *f(*arrays)]):
        with pytest.raises(UnsupportedError, match="pass holomorphic=True"):
            mg.jacobian(f, every)(*arrays)
        return
    for i in every:

        def bent(*values: Any, i: int = i) -> Any:
            parts = mg.jacobian(one_moves(f, i, values))(values[i])
            return sum(np.sum(np.sin(0.3 + part)) for part in parts) + 0 * np.sum(np.abs(values[0]))

        found = []
        for way in (derivatives._by_columns, derivatives._by_rows):
            with monkeypatch.context() as patched:
                patched.setattr(derivatives, "_by_columns", way)
                patched.setattr(derivatives, "_by_rows", way)
                found.append(mg.grad(bent, every)(*arrays))
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * (1 + np.max(np.abs(b), initial=0)))


@pytest.mark.sampled(4)
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


class Scaled(mg.Function):
    """``x * x * w`` and ``sin(x) * w``."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return x * x * w, np.sin(x) * w

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        x, w = ctx.saved_tensors
        return g * 2 * x * w + h * np.cos(x) * w, g * x * x + h * np.sin(x)


tripled = mg.primitive(lambda x, w, /: 3 * w + 0 * x, name="tripled").reference(lambda x, w, /: 3 * w)
OTHERS: dict[str, Callable[..., Any]] = {
    "a Function": lambda x, w: list(Scaled.apply(x, w)),
    "one output of a Function": lambda x, w: [Scaled.apply(x, w)[1]],
    "a checkpoint that closes over it": lambda x, w: [
        mg.checkpoint(lambda x: mg.affine(np.sin(x), np.outer(w, w), w) * w, x)
    ],
    "a checkpoint of both": lambda x, w: [mg.checkpoint(lambda x, w: mg.affine(np.sin(x), np.outer(w, w), w), x, w)],
    "an output of a split": lambda x, w: [np.split(mg.affine(x, np.outer(w, w), w), 2)[1] * w[:2]],
    "a jvp inside": lambda x, w: [mg.jvp(lambda y: mg.layer_norm(y, w, x), [x * w], [w])[1]],
    "a composition without what moves": lambda x, w: [tripled(x, w) * np.sin(w) + x],
    "nothing else": lambda x, w: [tripled(x, w)],
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("order", [2, 3])
def test_what_is_no_primitive_depends_on_every_other_too(name: str, order: int) -> None:
    rng = np.random.default_rng(1)
    check_one_moves(OTHERS[name], [rng.uniform(0.5, 1.5, 4), rng.uniform(0.5, 1.5, 4)], order)


def test_the_tangent_of_a_layer_depends_on_its_parameters() -> None:
    """The gradient by W of sum (x W)^2, while x moves along itself, is 2 x^T x W; for leaves as for arguments."""
    x, b = np.array([[1.0, 1.0]]), np.zeros(2)
    W = mg.Tensor(np.eye(2), requires_grad=True)
    np.sum(mg.jvp(lambda x: mg.affine(x, W, b), [x], [x])[1] ** 2).backward()
    assert W.grad is not None and W.grad.tolist() == [[2, 2], [2, 2]]
    assert mg.grad(lambda W: np.sum(mg.jvp(lambda x: mg.affine(x, W, b), [x], [x])[1] ** 2))(np.eye(2)).tolist() == [
        [2, 2],
        [2, 2],
    ]


def test_a_wrong_composition_is_named_in_forward_mode_too() -> None:
    for composition in (lambda x: (x, x), lambda x: 3.0, lambda x: x.detach()):
        wrong = mg.primitive(lambda x, /: x * 1.0, name="wrong").reference(composition)
        with pytest.raises(GraphError, match="the reference composition of 'wrong' must give one Tensor"):
            mg.jvp(wrong, [np.ones(2)], [np.ones(2)])


class OfArrays(mg.Function):
    """``sin(x)``, with a backward that first derivatives in reverse are right by."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x.numpy()
        return np.sin(ctx.x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return np.cos(ctx.x) * g.numpy()


def test_a_rule_that_computes_with_arrays_is_not_taken_for_zero() -> None:
    def plain(g: Any) -> Any:
        return g.data if isinstance(g, mg.Tensor) else g

    shift = mg.primitive(lambda x, /: np.roll(x, 1), name="shift").vjp(x=lambda g: np.roll(plain(g), -1))
    sine = mg.primitive(lambda x, /: np.sin(x), name="sine").vjp(x=lambda g, x: np.cos(x) * plain(g))
    x = np.array([0.5, 1.0, 2.0])
    slopes = {"OfArrays": np.diag(np.cos(x)), "sine": np.diag(np.cos(x)), "shift": np.roll(np.eye(3), 1, axis=0)}
    for f, name in ((OfArrays.apply, "OfArrays"), (shift, "shift"), (sine, "sine")):
        with pytest.raises(GraphError, match=f"derivative of '{name}' with respect to 'x' is cut off from the tape"):
            mg.jvp(f, [x], [x])
        with pytest.raises(GraphError, match="cut off from the tape"):
            mg.grad(lambda x, f=f: np.sum(mg.jvp(f, [x], [np.ones(3)])[1]))(x)
        np.testing.assert_array_equal(mg.jacobian(f)(x), slopes[name])  # by reverse passes
    for f in (OfArrays.apply, shift):  # sine's is on the tape through its x
        with pytest.raises(GraphError, match="cut off from the tape"):
            mg.grad(lambda x, f=f: np.sum(mg.grad(lambda y: np.sum(f(y) ** 2))(x)))(x)


def test_a_rule_that_is_zero_may_be_off_the_tape() -> None:
    step = mg.primitive(lambda x, /: np.floor(x), name="step").vjp(x=lambda g: np.zeros(g.shape))
    x = np.array([0.5, 1.5])
    assert mg.jvp(step, [x], [x])[1].tolist() == [0, 0]
    assert mg.grad(lambda x: np.sum(mg.grad(lambda y: np.sum(step(y) * y**2))(x)))(x).tolist() == [0, 2]


# --- what NumPy warns of


LAPACK = {
    "inv",
    "solve",
    "det",
    "slogdet",
    "cholesky",
    "eig",
    "eigh",
    "eigvalsh",
    "svd",
    "pinv",
    "lstsq",
    "qr",
    "matrix_power",
    "norm",
}  # fmt: skip  (it takes no NaN)
SPECIAL = np.array([0.0, np.inf, -np.inf, np.nan, -1.0, 1e308, 1.0, -0.0, 1e-320])


def strictly(f: Any) -> Any:
    def strict(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return f(*args, **kwargs)

    return strict


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_push_warns_no_more_than_a_pull(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case, at infinities, NaNs and zeros: what NumPy has to say, it says in the forward pass."""
    monkeypatch.setattr(derivatives, "push", strictly(push))
    rng = np.random.default_rng(seed)
    cases = [case for case in CASES if case.primitive not in LAPACK]
    assert len(cases) > 0.8 * len(CASES)
    for case in cases:
        f, arrays = function_of_floats(case)
        arrays = [rng.choice(SPECIAL, a.shape).astype(a.dtype) for a in arrays]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                out, pullback = mg.vjp(f, *arrays)
            except mg.OutOfRangeError as error:  # a weight that is negative
                assert "cov takes no negative" in str(error)
                continue
            strictly(pullback)(directions(out))
            mg.jvp(f, arrays, directions(arrays))


def test_derivatives_are_silent_and_the_function_is_not() -> None:
    zero = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mg.jvp(np.sqrt, [zero], [zero + 1])[1].tolist() == [np.inf, np.inf]
        mg.jacobian(np.sqrt)(zero)
        mg.hessian(lambda x: np.sum(np.sqrt(x)))(zero)
        mg.hvp(lambda x: np.sum(x**1.5), [zero], [zero + 1])
        mg.jvp(mg.grad(lambda x: np.sum(np.sqrt(x))), [zero], [zero + 1])
        mg.jvp(lambda x: mg.jvp(np.sqrt, [x], [x + 1])[1], [zero], [zero + 1])
        x = mg.Tensor(zero, requires_grad=True)
        for sign in (1.0, -1.0):
            (sign * np.sqrt(x)).sum().backward()  # inf, and -inf added to it
        assert x.grad is not None and np.isnan(x.grad.data).all()
    if sys.platform == "emscripten":
        return  # WebAssembly has no floating-point flags, so NumPy warns of nothing
    for transformed in (lambda x: mg.jvp(np.log, [x], [x]), mg.jacobian(np.log)):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in log") as told:
            transformed(zero)
        assert len(told) == 1
