"""Every primitive on every sample of the case table: values, derivatives, dtypes, layouts, kernels, devices."""

import contextlib
import functools
import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Primitive, Tensor
from minigrad.engine.registry import registry
from tests import house
from tests.lazy import resolve
from tests.minigrad.kernels.fast_paths import of_any_size
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

F32 = np.dtype(np.float32)
pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # since NumPy 2.5


def held_by(*modules: Any) -> dict[str, Primitive]:
    """The primitives that these modules and the registry hold, by name."""
    found = [value for module in modules for value in vars(module).values()] + list(registry.values())
    return {p.name: p for p in found if isinstance(p, Primitive)}


FACADE = house.imported("minigrad.rules", Path(mg.rules.__file__))  # no file of nn's alone: tests/nn has their cases
RULES = [importlib.import_module(name) for name in FACADE if name.startswith("minigrad.rules.")]


@functools.cache
def all_primitives() -> dict[str, Primitive]:
    """All of them, SciPy's too."""
    return held_by(mg, *RULES, resolve("minigrad.scipy_special"), resolve("minigrad.rules.scipy_special"))


every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def floating_inputs(case: Case) -> list[int]:
    return [i for i, a in enumerate(case.arrays()) if oracle.differentiable(a)]


def test_every_primitive_has_a_case() -> None:
    assert all_primitives().keys() == {case.primitive for case in CASES}
    assert len({case.id for case in CASES}) == len(CASES)
    assert all(case.order or case.torch for case in CASES)  # at a kink PyTorch, elsewhere also finite differences


FORMULAS = {"power", "logaddexp", "logaddexp2"}  # not computed by NumPy's ufunc; test_exactness.py has their errors


@pytest.mark.sampled(4)
@every_case
def test_case_reaches_its_primitive_and_numpys_value(case: Case) -> None:
    want = case.f(*case.arrays())
    got = case.f(*oracle.inputs_of(case.arrays()))
    recorded = {entry.primitive.name for t in oracle.flat(got) for entry in mg.tape(t)}
    assert case.primitive in recorded
    assert type(got) is (type(want) if isinstance(want, list | tuple) else Tensor)
    for t, a in zip(oracle.flat(got), oracle.flat(want), strict=True):
        units = 4 if recorded & FORMULAS and a.dtype.kind == "f" else 0
        np.testing.assert_allclose(t.data, a, rtol=units * np.finfo(a.dtype).eps if units else 0)
        assert (t.shape, t.dtype, type(t.data)) == (np.shape(a), a.dtype, np.ndarray)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [case for case in CASES if case.order], ids=lambda case: case.id)
def test_finite_differences(case: Case) -> None:
    arrays, floating = case.arrays(), floating_inputs(case)

    def f(*values: Any) -> Any:
        given = list(arrays)
        for i, value in zip(floating, values, strict=True):
            given[i] = value
        return case.f(*given)

    mg.check_grads(f, [arrays[i] for i in floating], case.order)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [case for case in CASES if case.torch], ids=lambda case: case.id)
def test_torch(case: Case) -> None:
    assert case.torch is not None
    want = oracle.by_torch(case.torch, case.arrays())
    first_order = oracle.by_backward(case.f, case.arrays())
    both_orders = oracle.by_create_graph(case.f, case.arrays())
    oracle.assert_agrees(first_order, want)
    oracle.assert_agrees(both_orders if case.order else both_orders._replace(second=[]), want)


@pytest.mark.sampled(4)
@every_case
def test_float32_stays_float32(case: Case) -> None:
    """The output has NumPy's dtype, every gradient its input's, and the numbers are those of float64 to rounding."""
    arrays = case.arrays(F32)
    exact = oracle.by_create_graph(case.f, [a.astype(np.float64) if a.dtype == F32 else a for a in arrays])
    got = oracle.by_create_graph(case.f, arrays)
    with mg.reference_mode():
        numpys = [a.dtype for a in oracle.flat(case.f(*arrays))]
    assert [a.dtype for a in got.values] == numpys and set(numpys) <= {F32, np.dtype(np.complex64)}
    assert {a.dtype for part in (got.first, got.second) for a in part} == {F32}
    assert {a.dtype for a in oracle.by_backward(case.f, arrays).first} == {F32}
    oracle.assert_agrees(got, exact, rtol=2e-4, dtypes=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("double", ["all but the first", "the last"])
@pytest.mark.parametrize("case", [case for case in CASES if len(floating_inputs(case)) > 1], ids=lambda case: case.id)
def test_mixed_precision(case: Case, double: str) -> None:
    """float32 beside float64: NumPy's dtype comes out, and each gradient has its own input's."""
    arrays, floating = case.arrays(F32), floating_inputs(case)
    exact = oracle.by_create_graph(case.f, [a.astype(np.float64) if a.dtype == F32 else a for a in arrays])
    for i in floating[1:] if double == "all but the first" else floating[-1:]:
        arrays[i] = arrays[i].astype(np.float64)
    with mg.reference_mode():
        values = [a.dtype for a in oracle.flat(case.f(*arrays))]
    for got in (oracle.by_backward(case.f, arrays), oracle.by_create_graph(case.f, arrays)):
        assert [a.dtype for a in got.values] == values
        assert [a.dtype for a in got.first] == [arrays[i].dtype for i in floating]
        assert [a.dtype for a in got.second] in ([], [a.dtype for a in got.first])
        oracle.assert_agrees(got, exact, rtol=2e-4, dtypes=False)


def reversed_axes(a: np.ndarray) -> np.ndarray:
    """Negative strides."""
    return np.ascontiguousarray(np.flip(a))[(slice(None, None, -1),) * a.ndim]


def strided(a: np.ndarray) -> np.ndarray:
    """Every second element of a larger array."""
    larger = np.full([2 * n for n in a.shape], 77, a.dtype)
    larger[(slice(None, None, 2),) * a.ndim] = a
    return larger[(slice(None, None, 2),) * a.ndim]


def read_only(a: np.ndarray) -> np.ndarray:
    """Whoever writes to it raises."""
    a.flags.writeable = False
    return a


LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [reversed_axes, strided, read_only, np.asfortranarray]


@pytest.mark.sampled(4)
@every_case
def test_layouts(case: Case) -> None:
    want = oracle.by_create_graph(case.f, case.arrays())
    for layout in LAYOUTS:
        arrays = [layout(a) if a.ndim else a for a in case.arrays()]
        oracle.assert_agrees(oracle.by_backward(case.f, arrays), want)
        oracle.assert_agrees(oracle.by_create_graph(case.f, arrays), want)
        for a, before in zip(arrays, case.arrays(), strict=True):
            np.testing.assert_array_equal(a, before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_case
def test_kernels_agree_with_the_plain_rules(case: Case, dtype: Any) -> None:
    """As they are, and where they take an array of any size: the arrays of the table are small."""
    for compute in (oracle.by_backward, oracle.by_create_graph):
        with mg.reference_mode():
            want = compute(case.f, case.arrays(dtype))
        for sizes in (contextlib.nullcontext, of_any_size):
            with sizes():
                got = compute(case.f, case.arrays(dtype))
            oracle.assert_agrees(got, want, rtol=1e-10 if dtype is np.float64 else 1e-4)


@pytest.mark.sampled(4)
@every_case
def test_an_input_used_twice(case: Case) -> None:
    """Contributions to one input are added up, whoever owns the arrays: f(x) + 2 f(x) is 3 f(x)."""

    def thrice(*inputs: Any) -> list[Any]:
        return [a + 2.0 * b for a, b in zip(oracle.flat(case.f(*inputs)), oracle.flat(case.f(*inputs)), strict=True)]

    want = oracle.by_create_graph(lambda *inputs: [3.0 * a for a in oracle.flat(case.f(*inputs))], case.arrays())
    oracle.assert_agrees(oracle.by_backward(thrice, case.arrays()), want)
    oracle.assert_agrees(oracle.by_create_graph(thrice, case.arrays()), want)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [case for case in CASES if len(floating_inputs(case)) > 1], ids=lambda case: case.id)
def test_some_inputs_need_no_gradient(case: Case) -> None:
    """Each input alone, the others plain arrays or untracked tensors, gets the gradient that it has among all."""
    want = oracle.by_backward(case.f, case.arrays()).first
    for number, i in enumerate(floating_inputs(case)):
        for untracked in (lambda a: a, Tensor):
            inputs: list[Any] = [untracked(a) if oracle.differentiable(a) else a for a in case.arrays()]
            inputs[i] = Tensor(case.arrays()[i], requires_grad=True)
            loss = oracle.project(case.f(*inputs), 1)
            loss.backward()
            oracle.assert_close(oracle.gradients([inputs[i]]), [want[number]])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [case for case in CASES if not case.host_only], ids=lambda case: case.id)
def test_on_a_device(case: Case, put: Callable[[Any], Any]) -> None:
    device = type(put(np.zeros(1)))
    want = oracle.by_create_graph(case.f, case.arrays())
    oracle.assert_agrees(oracle.by_backward(case.f, case.arrays(), put), want)
    oracle.assert_agrees(oracle.by_create_graph(case.f, case.arrays(), put), want)
    inputs = oracle.inputs_of(case.arrays(), put)
    outputs = oracle.flat(case.f(*inputs))
    oracle.project(outputs, 1, put).backward()
    arrays = [t.data for t in outputs] + [t.grad.data for t in inputs if isinstance(t, Tensor) and t.grad is not None]
    assert {type(a) for a in arrays} == {device}


# --- what a derivative is by convention, where there is no one answer ---

ZERO, ONE, NAN, INF = np.array(0.0), np.array(1.0), float("nan"), float("inf")
CONVENTIONS: list[tuple[str, Callable[..., Any], list[Any], list[Any]]] = [
    ("abs at its kink, 0", np.abs, [0.0], [0.0]),
    ("relu at its kink, 0", mg.relu, [[0.0, -0.0]], [[0.0, 0.0]]),
    ("sign: derivative 0 everywhere", np.sign, [[-2.0, 0.0, 2.0]], [[0.0, 0.0, 0.0]]),
    ("a tie of maximum is shared", np.maximum, [2.0, 2.0], [0.5, 0.5]),
    ("a tie of minimum is shared", np.minimum, [[1.0, 2.0], [1.0, 3.0]], [[0.5, 1.0], [0.5, 0.0]]),
    ("maximum of x and x is x", lambda x: np.maximum(x, x), [3.0], [1.0]),
    ("ties of max sum to 1", np.max, [[1.0, 3.0, 3.0]], [[0.0, 0.5, 0.5]]),
    ("ties of min, per row", lambda x: x.min(axis=1).sum(), [[[1.0, 1.0], [1.0, 2.0]]], [[[0.5, 0.5], [1.0, 0.0]]]),
    ("clip on a bound passes the gradient", lambda x, a: np.clip(x, a, 2.0), [[1.0, 2.0], 1.0], [[1.0, 1.0], 0.0]),
    ("clip, lower bound > upper bound: the upper counts", np.clip, [0.0, 2.0, 1.0], [0.0, 0.0, 1.0]),
    ("sqrt at 0", np.sqrt, [0.0], [INF]),
    ("x ** 0 is constant", lambda x: x**0, [[0.0, -1.0, 2.0]], [[0.0, 0.0, 0.0]]),
    ("x ** [0, 1, 2] at 0", lambda x, y: x**y, [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    ("an integer power of a negative number", lambda x: x ** np.array([2, 3]), [[-2.0, -2.0]], [[-4.0, 12.0]]),
    ("the derivative in y of (-2) ** y", lambda x: (-2.0) ** x, [2.0], [NAN]),
    ("std of equal numbers", np.std, [[4.0, 4.0]], [[0.0, 0.0]]),
    ("std of one number", np.std, [4.0], [0.0]),
    ("var of one number", np.var, [4.0], [0.0]),
    ("tanh of large values", np.tanh, [[1000.0, -1000.0]], [[0.0, 0.0]]),
    ("gelu of large values", mg.gelu, [[30.0, -30.0, 1e200, -1e200]], [[1.0, 0.0, 1.0, 0.0]]),
    ("approximate gelu of large values", lambda x: mg.gelu(x, approximate="tanh"), [[30.0, -30.0]], [[1.0, 0.0]]),
    ("erf of large values", mg.erf, [[30.0, -30.0, INF]], [[0.0, 0.0, 0.0]]),
    ("sqrt in two where", lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0), [[4.0, -1.0]], [[0.25, 0.0]]),
    ("softmax of -inf", lambda x: mg.softmax(x)[0], [[1.0, -INF]], [[0.0, 0.0]]),
    ("cross_entropy of large logits", lambda x: mg.cross_entropy(x, np.array(1)), [[1e4, -1e4]], [[1.0, -1.0]]),
]


@pytest.mark.parametrize(("f", "inputs", "want"), [c[1:] for c in CONVENTIONS], ids=[c[0] for c in CONVENTIONS])
def test_conventions(f: Callable[..., Any], inputs: list[Any], want: list[Any]) -> None:
    for create_graph in (False, True):
        tensors = [Tensor(x, requires_grad=True) for x in inputs]
        f(*tensors).sum().backward(create_graph=create_graph)
        for t, expected in zip(tensors, want, strict=True):
            assert t.grad is not None
            np.testing.assert_allclose(t.grad.data, expected, rtol=1e-12, atol=1e-100)


@pytest.mark.parametrize(
    ("f", "x", "want"),
    [
        (np.abs, 0.0, 0.0),
        (np.tanh, 1000.0, 0.0),
        (mg.relu, 0.0, 0.0),
        (lambda x: x**2, 0.0, 2.0),
        (lambda x: x**1, 0.0, 0.0),
        (mg.gelu, 30.0, 0.0),
        (mg.gelu, -1e200, 0.0),
        (mg.erf, 30.0, 0.0),
        (lambda x: np.abs(x) ** 2, 0.0, 0.0),  # a smooth function through a kink
        (lambda x: np.linalg.norm(x * np.ones(2)) ** 2, 0.0, 0.0),
        (lambda x: np.std(x * np.array([1.0, -1.0])) ** 2, 0.0, 0.0),
        (lambda x: np.hypot(x, x) ** 2, 0.0, 0.0),
        (lambda x: np.sum((x * np.ones(2)) ** 2), 0.0, 4.0),  # the same without one
        (lambda x: np.var(x * np.array([1.0, -1.0])), 0.0, 2.0),
    ],
)
def test_second_order_conventions(f: Callable[..., Any], x: float, want: float) -> None:
    assert mg.grad(mg.grad(f))(x) == pytest.approx(want, abs=1e-100)


# --- what an empty slice has ---


@pytest.mark.parametrize("f", [np.mean, np.var, np.std])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_mean_of_nothing(f: Callable[..., Any]) -> None:
    """NumPy warns and gives NaN; the gradient has no elements, or is NaN where nothing but freedom is divided by 0."""
    empty, single = Tensor(np.zeros((0, 3)), requires_grad=True), Tensor([1.0], requires_grad=True)
    f(empty, axis=0).sum().backward()
    assert empty.grad is not None and empty.grad.shape == (0, 3)
    if f is not np.mean:
        f(single, ddof=1).backward()
        assert single.grad is not None and math.isnan(single.grad.item())


@pytest.mark.parametrize(("dtype", "ulps"), [(np.float64, 4), (np.float32, 4)])
def test_erf_is_accurate(dtype: Any, ulps: int) -> None:
    x = np.linspace(-7, 7, 5001).astype(dtype)
    want = np.array([math.erf(v) for v in x.tolist()])
    np.testing.assert_allclose(mg.erf(x), want, rtol=ulps * np.finfo(dtype).eps, atol=0)
    assert np.isnan(mg.erf(np.array([NAN]))).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_erf_and_gelu_have_no_end(dtype: Any) -> None:
    """Nor do they warn: what overflows on the way has the sign of x."""
    large = np.array([40.0, 3e3, 6e4] + ([1e30, 1e38] if dtype is not np.float16 else []), dtype)
    np.testing.assert_array_equal(
        mg.erf(np.array([large, -large])), np.array([np.ones_like(large), -np.ones_like(large)])
    )
    np.testing.assert_array_equal(mg.gelu(np.array([large, -large])), [large, 0 * large])
    assert mg.erf(dtype(np.inf)) == 1


# --- complex numbers: right, or refused ---


@pytest.mark.parametrize(
    "f",
    [
        np.exp,
        mg.erf,
        mg.gelu,
        np.abs,
        np.conjugate,
        np.var,
        np.std,
        np.sum,
        np.square,
        lambda z: z * z.T,
        lambda z: z / (z + 3),
    ],
)
def test_complex_is_right_or_refused(f: Callable[..., Any]) -> None:
    z = np.array([[0.3 + 1j, -2 + 0.5j], [1 - 1j, 0.1 + 2j]])
    try:
        f(Tensor(z, requires_grad=True)).sum().backward()
    except mg.MinigradError:
        return
    mg.check_grads(f, [z])
