"""0-d arrays, also as the NumPy scalars that rules may get for them, and axes of length 0."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.engine.tape import Entry
from minigrad.rules.dropout import dropout
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

Function = Callable[..., Any]
LA: Any = np.linalg

# --- 0-d arrays -----------------------------------------------------------------------------------------------------


def as_scalar(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def first_elements(case: Case) -> list[np.ndarray]:
    return [a.reshape(-1)[:1].reshape(()) for a in case.arrays() if a.size]


def check_scalars(entry: Entry) -> None:
    """The rules give the same for a 0-d array and for the NumPy scalar of the same value."""
    g = np.asarray(np.random.default_rng(0).uniform(0.5, 1.5, entry.shape), entry.dtype)
    want, arrays = entry.plan.pull(entry, g), entry.kept
    entry.kept = [a if i in entry.plan.constants else as_scalar(a) for i, a in enumerate(arrays or ())]
    found = entry.plan.pull(entry, as_scalar(g))
    entry.kept = arrays
    for a, b in zip(found, want, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("small", [False, True], ids=["as it is", "0-d"])
@pytest.mark.filterwarnings("ignore")
def test_every_rule_takes_numpy_scalars(case: Case, small: bool) -> None:
    """Also with 0-d inputs, where NumPy admits them; values and derivatives are then checked, too."""
    arrays = first_elements(case) if small else case.arrays()
    if small and (len(arrays) < len(case.inputs) or case.primitive.endswith("_at")):  # NumPy's ufunc.at crashes
        arrays = case.arrays()
        small = False
    try:
        want = case.f(*arrays)
    except Exception:  # NumPy refuses 0-d inputs: so may a Tensor
        assert small
        return
    outputs = oracle.flat(case.f(*oracle.inputs_of(arrays)))
    for t, a in zip(outputs, oracle.flat(want), strict=True):
        np.testing.assert_allclose(t.data, a, rtol=1e-12)
        for entry in mg.tape(t) if t.requires_grad else []:
            if entry.primitive.rules and set(entry.plan.names).isdisjoint({"saved"}) and not _has_parts(entry):
                check_scalars(entry)
    if small and case.order and all(np.isfinite(a).all() for a in oracle.flat(want)):
        floating = [i for i, a in enumerate(arrays) if oracle.differentiable(a)]
        mg.check_grads(
            lambda *given: case.f(*[given[floating.index(i)] if i in floating else a for i, a in enumerate(arrays)]),
            [arrays[i] for i in floating],
            case.order,
        )


def _has_parts(entry: Entry) -> bool:
    """Whether a rule takes the cotangents of several outputs."""
    return entry.primitive.name in ("split", "modf", "slogdet", "eigh", "eig", "svd", "qr", "lstsq")


AT: list[tuple[str, Function, float, float]] = [  # the function of t = 3, its derivative, and the second one
    ("multiply", lambda t: t.at[...].multiply(5.0) ** 2, 150.0, 50.0),
    ("multiply ()", lambda t: t.at[()].multiply(5.0) ** 2, 150.0, 50.0),
    ("multiply under a mask", lambda t: t.at[t > 0].multiply(5.0) ** 2, 150.0, 50.0),
    ("multiply by itself", lambda t: t.at[...].multiply(t), 6.0, 2.0),
    ("add", lambda t: t.at[...].add(5.0) ** 2, 16.0, 2.0),
    ("add itself, under a mask", lambda t: t.at[t > 0].add(t) ** 2, 24.0, 8.0),
    ("set", lambda t: t.at[...].set(5.0) ** 2 + t, 1.0, 0.0),
    ("set itself", lambda t: t.at[()].set(t * t) + t, 7.0, 2.0),
    ("set under a mask", lambda t: t.at[t > 0].set(t * t), 6.0, 2.0),
    ("set nothing", lambda t: t.at[t < 0].set(7.0) ** 2, 6.0, 2.0),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("f", "first", "second"), [a[1:] for a in AT], ids=[a[0] for a in AT])
def test_at_of_a_0d_tensor(f: Function, first: float, second: float, dtype: Any) -> None:
    for x in (dtype(3.0), np.array(3.0, dtype)):
        found = mg.grad(f)(x)
        assert (found, mg.grad(mg.grad(f))(x), mg.hessian(f)(x)) == (first, second, second)
        assert mg.jvp(f, [x], [np.ones((), dtype)])[1] == first and found.dtype == dtype


def test_dropout_of_a_0d_tensor() -> None:
    """The cotangent of a product of numbers is a NumPy scalar."""
    f = dropout
    assert (
        mg.grad(lambda t: f(t * 2.0, key=0, step=0, threshold=0) * 3.0 + f(t, key=0, step=1, threshold=0))(1.5) == 7.0
    )


# --- axes of length 0 -----------------------------------------------------------------------------------------------

EMPTY: list[tuple[str, Function, tuple[int, ...]]] = [
    *[(f"einsum {s}", lambda x, s=s: np.einsum(s, x), (2, 0)) for s in ("ij->", "ij->i", "ij->j", "ij->ji")],
    ("einsum of two", lambda x: np.einsum("ij,kj->ik", x, x), (2, 0)),
    ("einsum of two, summed", lambda x: np.einsum("ij,kl->", x, x), (0, 2)),
    ("einsum of a diagonal", lambda x: np.einsum("ii->i", x), (0, 0)),
    *[
        (f"{f.__name__} of {shape} axis={axis}", lambda x, f=f, axis=axis: f(x, axis=axis), shape)
        for f in (np.median, np.nanmedian)
        for shape, axis in [((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), -1), ((2, 0, 3), 1), ((2, 0, 3), (0, 1))]
    ],
    ("median keepdims", lambda x: np.median(x, axis=0, keepdims=True), (0, 3)),
    ("nanquantile", lambda x: np.nanquantile(x, 0.5, axis=0), (0, 3)),
    ("nanpercentile of several", lambda x: np.nanpercentile(x, [20, 50], axis=0), (0, 3)),
    *[(f"norm {o} of {shape}", lambda x, o=o: LA.norm(x, o), shape)
      for o, shape in [(np.inf, (0,)), (np.inf, (0, 3)), (1, (3, 0)), (2, (3, 0)), (2, (0, 0)), ("nuc", (3, 0))]],
    ("norm inf of rows", lambda x: LA.norm(x, np.inf, axis=1), (2, 0)),
    ("matrix_norm 2", lambda x: LA.matrix_norm(x, ord=2), (2, 0, 3)),
    ("unique along an axis", lambda x: np.unique(x, axis=-1), (3, 0)),
    ("take", lambda x: np.take(x, np.array([], int), axis=1), (3, 0)),
    ("det", LA.det, (2, 0, 0)), ("inv", LA.inv, (2, 0, 0)), ("max of an empty stack", lambda x: np.max(x, axis=1), (0, 3)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("f", "shape"), [e[1:] for e in EMPTY], ids=[e[0] for e in EMPTY])
def test_what_numpy_answers_for_no_elements(f: Function, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns under several names
        want = f(x)
        found = f(Tensor(x, requires_grad=True))
    assert found.requires_grad
    np.testing.assert_array_equal(found.data, want)

    def loss(v: Any) -> Any:
        return np.sum(f(v) ** 2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = mg.grad(loss)(x), mg.grad(lambda v: np.sum(mg.grad(loss)(v)))(x)
        moved = mg.jvp(f, [x], [x])[1]
    assert first.shape == second.shape == shape
    assert np.shape(moved) == np.shape(want)
