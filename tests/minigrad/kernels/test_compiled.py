"""The kernels that numba compiles, held to the plain forms that stand beside them."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import MissingExtraError, Tensor
from minigrad.engine.registry import primitives
from minigrad.kernels import switches, threads as _threads
from models import ClassifierConfig, TransformerClassifier
from tests.minigrad.rules import test_cases
from tests.minigrad.rules.cases import Case as Sample, cases_of

DTYPES = [np.float32, np.float64]
TOLERANCE = {np.float32: 4e-6, np.float64: 1e-13}


@pytest.fixture(autouse=True)
def switched_on() -> Iterator[None]:
    """The compiled kernels, and NumPy's again afterwards."""
    threads = _threads.num_threads()
    mg.compiled_kernels()
    try:
        yield
    finally:
        mg.compiled_kernels(False)
        _threads.set_num_threads(threads)


class Case(NamedTuple):
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]


def labels(*shape: int, classes: int = 7) -> Any:
    return np.random.default_rng(5).integers(0, classes, shape)


CASES = {
    "gelu": Case(mg.gelu, ((4, 7),)),
    "gelu by tanh": Case(lambda x: mg.gelu(x, approximate="tanh"), ((4, 77),)),
    "layer_norm": Case(mg.layer_norm, ((2, 4, 7), (7,), (7,))),
    "layer_norm of many rows": Case(lambda x, g, b: mg.layer_norm(x, g, b, eps=0.1), ((300, 37), (37,), (37,))),
    "cross_entropy": Case(lambda x: mg.cross_entropy(x, labels(2, 4)), ((2, 4, 7),)),
    "cross_entropy, summed": Case(lambda x: mg.cross_entropy(x, labels(4), reduction="sum"), ((4, 7),)),
    "cross_entropy, each": Case(lambda x: mg.cross_entropy(x, labels(4), reduction="none"), ((4, 7),)),
}


def inputs(case: Case, dtype: Any, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [2 * rng.standard_normal(shape).astype(dtype) for shape in case.shapes]


def first_order(function: Callable[..., Any], arrays: list[Any], g: Any = None) -> list[Any]:
    """The value, and the gradients for a cotangent of random numbers (or ``g``)."""
    tensors = [Tensor(a, requires_grad=True, copy=False) for a in arrays]
    y = function(*tensors)
    cotangent = np.random.default_rng(9).standard_normal(y.shape).astype(y.dtype) if g is None else g
    return [y.numpy(), *mg.autograd_grad(y, tensors, cotangent)]


def second_order(function: Callable[..., Any], arrays: list[Any]) -> list[Any]:
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    y = function(*tensors)
    cotangent = Tensor(np.random.default_rng(9).standard_normal(y.shape).astype(y.dtype), requires_grad=True)
    gradients = mg.autograd_grad(y, tensors, cotangent, create_graph=True)
    total = sum(((gradient * gradient).sum() for gradient in gradients), start=(y * y).sum())
    return list(mg.autograd_grad(total, [*tensors, cotangent]))


def arrays_of(results: list[Any]) -> list[Any]:
    return [np.asarray(r._array if isinstance(r, Tensor) else r) for r in results]


def assert_same(results: list[Any], expected: list[Any], dtype: Any) -> None:
    for got, wanted in zip(arrays_of(results), arrays_of(expected), strict=True):
        assert got.dtype == wanted.dtype == dtype
        assert got.shape == wanted.shape
        finite = np.abs(wanted[np.isfinite(wanted)])
        np.testing.assert_allclose(
            got, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * max(finite.max(initial=0), 1)
        )


def assert_as_plain(function: Callable[..., Any], arrays: list[Any], g: Any = None) -> None:
    with mg.reference_mode():
        expected = first_order(function, arrays, g)
    assert_same(first_order(function, arrays, g), expected, arrays[0].dtype.type)


# --- values and derivatives ---


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_and_both_orders_are_those_of_the_plain_forms(case: Case, dtype: Any) -> None:
    arrays = inputs(case, dtype)
    before = [a.copy() for a in arrays]
    assert_as_plain(case.function, arrays)
    with mg.reference_mode():
        expected = second_order(case.function, arrays)
    assert_same(second_order(case.function, arrays), expected, dtype)
    for a, b in zip(arrays, before):
        np.testing.assert_array_equal(a, b)


PRIMITIVES = ["gelu", "layer_norm", "cross_entropy"]


@pytest.mark.parametrize("case", cases_of(PRIMITIVES), ids=lambda case: case.id)
def test_the_case_table(case: Sample) -> None:
    """What is asked of every primitive, with PyTorch and finite differences to compare with."""
    for dtype in DTYPES:
        test_cases.test_kernels_agree_with_the_plain_rules(case, dtype)
    test_cases.test_an_input_used_twice(case)
    if case.order:
        test_cases.test_finite_differences(case)
    if case.torch:
        test_cases.test_torch(case)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_primitive_has_its_kernel_in_place(name: str) -> None:
    kernels = primitives[name].kernels
    assert kernels[np.ndarray] is kernels["compiled"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_other_layouts(case: Case) -> None:
    def strided(a: Any) -> Any:
        return np.repeat(a, 2, axis=-1)[..., ::2]

    def unaligned(a: Any) -> Any:
        memory = np.zeros(a.nbytes + 1, np.uint8)
        view = memory[1:].view(a.dtype).reshape(a.shape)
        view[...] = a
        return view

    def locked(a: Any) -> Any:
        a = a.copy()
        a.flags.writeable = False
        return a

    for layout in (np.asfortranarray, strided, unaligned, locked):
        assert_as_plain(case.function, [layout(a) for a in inputs(case, np.float32)])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cotangents_that_belong_to_somebody_else(case: Case) -> None:
    """Read-only ones whose elements are one number in memory, and those of another layout; none is written to."""
    arrays = inputs(case, np.float32)
    shape = case.function(*map(Tensor, arrays)).shape
    one = np.broadcast_to(np.float32(1.5), shape)
    assert_as_plain(case.function, arrays, one)
    transposed = np.asarray(np.random.default_rng(1).standard_normal(shape[::-1]).astype(np.float32).T)
    before = transposed.copy()
    assert_as_plain(case.function, arrays, transposed)
    np.testing.assert_array_equal(transposed, before)


ROWWISE = ["layer_norm", "cross_entropy, each"]
ELEMENTWISE = ["gelu", "gelu by tanh"]


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (0, 3), (2, 0, 3), (129, 2), (256, 16), (3, 65)])
@pytest.mark.parametrize("name", ROWWISE + ELEMENTWISE)
def test_odd_shapes(name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal(shape).astype(np.float32)]
    function = CASES[name].function
    if name == "layer_norm":  # with an eps that is not small: rows of one element have no variance, and 1 / sqrt(eps)
        # would multiply rounding errors
        arrays += [rng.standard_normal(shape[-1]).astype(np.float32) for _ in range(2)]
        function = CASES["layer_norm of many rows"].function
    if name == "cross_entropy, each":
        these = labels(*shape[:-1], classes=shape[-1])
        function = lambda x: mg.cross_entropy(x, these, reduction="sum")
    assert_as_plain(function, arrays)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_empty_rows_and_arrays_without_axes(name: str) -> None:
    assert_as_plain(CASES[name].function, [np.zeros((3, 0), np.float32)])
    assert_as_plain(CASES[name].function, [np.array(0.7, np.float32)])


@pytest.mark.parametrize("special", [(math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf), (-math.nan,)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ROWWISE, *ELEMENTWISE])
def test_what_is_not_finite(name: str, dtype: Any, special: tuple[float, ...]) -> None:
    """NaN and infinite numbers come out where they do in the plain form, and nowhere else."""
    case = CASES[name]
    arrays = inputs(case, dtype)
    for i, value in enumerate(special):
        arrays[0][..., 1, 2 + 3 * i] = value
    if name in ROWWISE:
        arrays[0][..., -1, :] = special[0]  # a whole row of it
    with np.errstate(all="ignore"):
        assert_as_plain(case.function, arrays)


@pytest.mark.parametrize("name", ["layer_norm", *ELEMENTWISE])
def test_cotangents_that_are_not_finite(name: str) -> None:
    """An infinite one may give inf where a composition, which adds inf and -inf on its way, gives NaN."""
    case = CASES[name]
    arrays = inputs(case, np.float32)
    g = np.ones(case.function(*map(Tensor, arrays)).shape, np.float32)
    g[..., 1, 2], g[..., 2, 1] = math.nan, math.inf
    with np.errstate(all="ignore"):
        got = arrays_of(first_order(case.function, arrays, g))
        with mg.reference_mode():
            expected = arrays_of(first_order(case.function, arrays, g))
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))
        np.testing.assert_allclose(a[np.isfinite(a)], b[np.isfinite(b)], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e30])
@pytest.mark.parametrize("name", [*ROWWISE, *ELEMENTWISE])
def test_large_numbers(name: str, scale: float) -> None:
    arrays = inputs(CASES[name], np.float32)
    arrays[0] *= np.float32(scale)
    with np.errstate(all="ignore"):
        assert_as_plain(CASES[name].function, arrays)


def test_logits_that_are_large_but_close() -> None:
    """The largest is subtracted first: x - (largest + log(sum)) would lose what is behind the point."""
    x = (30000 + np.random.default_rng(0).integers(-40, 40, (5, 33)) / 16).astype(np.float32)
    near = (x - 30000).astype(np.float64)
    these = labels(5, classes=33)
    expected = np.log(np.exp(near).sum(axis=-1)) - near[np.arange(5), these]
    np.testing.assert_allclose(mg.cross_entropy(x, these, reduction="none"), expected, rtol=1e-6)


def test_the_sum_of_a_row_is_right_to_the_last_digits_and_no_share_is_subnormal() -> None:
    """The gradient of a logit that lies far below the largest is exp of the difference, over the sum."""
    lowest = math.log(np.finfo(np.float32).tiny)
    x = np.linspace(0, 1.1 * lowest, 4001).astype(np.float32)
    pairs = np.stack([np.zeros_like(x), x], axis=-1)
    summed = lambda t: mg.cross_entropy(t, np.zeros(len(x), int), reduction="sum")
    gradient = first_order(summed, [pairs], np.float32(1))[1].numpy()[:, 1]
    e = np.exp(x.astype(np.float64))
    large = x > lowest + 1
    np.testing.assert_allclose(gradient[large], (e / (1 + e))[large], rtol=3e-7)
    assert np.all((gradient == 0) | (gradient >= np.finfo(np.float32).tiny))


# --- the error function ---


def truth(x: Any, function: Callable[[float], float]) -> Any:
    return np.array([function(v) for v in x.astype(np.float64)])


@pytest.mark.parametrize("dtype, error", [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_gelu_far_from_zero(dtype: Any, error: float) -> None:
    """Relative to the result, which the plain forms lose on the far left."""
    x = np.linspace(-6, 6, 2001).astype(dtype)
    gelu = truth(x, lambda v: v * math.erfc(-v * math.sqrt(0.5)) / 2)
    if dtype == np.float32:  # NumPy's kernels compute float64
        np.testing.assert_allclose(mg.gelu(x), gelu, rtol=20 * error)
    np.testing.assert_allclose(mg.gelu(x), gelu, atol=error * 2, rtol=error)
    u = math.sqrt(2 / math.pi)
    by_tanh = truth(x, lambda v: v / (1 + math.exp(-2 * u * (v + 0.044715 * v**3))))
    np.testing.assert_allclose(mg.gelu(x, approximate="tanh"), by_tanh, atol=error * 2, rtol=2 * error)


# --- errors, and what is left to NumPy ---


@pytest.mark.parametrize(
    "call",
    [
        lambda: mg.gelu(np.zeros(3), approximate="no"),
        lambda: mg.layer_norm(np.zeros((2, 3)), np.zeros(4), np.zeros(3)),
        lambda: mg.cross_entropy(np.zeros((2, 3), np.float32), np.array([0, 3])),
        lambda: mg.cross_entropy(np.zeros((2, 3), np.float32), np.array([0.0, 1.0])),
        lambda: mg.cross_entropy(np.zeros((2, 3), np.float32), np.array([0, 1, 2])),
        lambda: mg.cross_entropy(np.zeros((2, 3), np.float32), np.array([0, 1]), reduction="median"),
    ],
)
def test_errors_are_those_of_the_plain_forms(call: Callable[[], Any]) -> None:
    with mg.reference_mode(), pytest.raises(Exception) as plain:
        call()
    with pytest.raises(type(plain.value)) as compiled:
        call()
    assert str(compiled.value) == str(plain.value)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, np.int64])
def test_other_dtypes_are_computed_as_without(dtype: Any) -> None:
    x = np.arange(-4, 5).reshape(3, 3).astype(dtype)
    got = mg.gelu(x)
    mg.compiled_kernels(False)
    expected = mg.gelu(x)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got.astype(float), expected.astype(float), rtol=1e-3 if dtype == np.float16 else 1e-12)


def test_integers_among_the_operands() -> None:
    x, ones = np.random.default_rng(0).standard_normal((4, 3)), np.ones(3, np.int64)
    got = mg.layer_norm(x, ones, ones)
    with mg.reference_mode():
        np.testing.assert_allclose(got, mg.layer_norm(x, ones, ones), rtol=1e-12)


# --- threads ---


LARGE = {
    **{name: Case(CASES[name].function, ((30000,),)) for name in ELEMENTWISE},
    "layer_norm": Case(mg.layer_norm, ((401, 67), (67,), (67,))),
    "cross_entropy": Case(lambda x: mg.cross_entropy(x, labels(401, classes=67)), ((401, 67),)),
}


def assert_same_bits_in_any_number_of_threads(work: Callable[[], list[Any]]) -> None:
    results = []
    for threads in (1, 2, 3):
        _threads.set_num_threads(threads)
        results.append(work())
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small arrays be divided as large ones are."""
    monkeypatch.setattr(_threads, "_LARGE", 1)
    monkeypatch.setattr(_threads, "BLOCK", 64)


@pytest.mark.parametrize("case", [*CASES.values(), *LARGE.values()], ids=[*CASES, *(f"large {name}" for name in LARGE)])
def test_any_number_of_threads_gives_the_same_bits(case: Case, divided: None) -> None:
    arrays = inputs(case, np.float32)
    assert_same_bits_in_any_number_of_threads(lambda: arrays_of(first_order(case.function, arrays)))


def test_layer_norm_returns_only_the_gradients_that_are_needed() -> None:
    from minigrad.kernels.compiled.neural import _layer_norm_backward, _layer_norm_forward

    x, ones, zeros = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones(4, np.float32), np.zeros(4, np.float32)
    ans, saved = _layer_norm_forward(x, ones, zeros)
    for needs in ((True, False, False), (False, True, False), (False, False, True)):
        found = _layer_norm_backward(np.ones_like(ans), needs, saved, x, ones)
        assert tuple(gradient is not None for gradient in found) == needs


def test_adam_step_in_any_number_of_threads(divided: None) -> None:
    start = np.random.default_rng(0).standard_normal((4, 30000)).astype(np.float32)

    def work() -> list[Any]:
        p, g, m, v = np.abs(start)
        step(p, g, m, v)
        return [p, m, v]

    assert_same_bits_in_any_number_of_threads(work)


# --- Adam and training ---


def step(p: Any, g: Any, m: Any, v: Any) -> None:
    from minigrad.kernels.compiled.adam import adam_step

    adam_step(p, g, m, v, 0.1, 0.9, 0.99, 1e-8, 1 - 0.9**3, 1 - 0.99**3)


@pytest.mark.parametrize("shape", [(1,), (4097,), (3, 5), (0,)])
def test_adam_step(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    p, g, m = (rng.standard_normal(shape).astype(np.float32) for _ in range(3))
    v = rng.random(shape).astype(np.float32)
    mean, square = 0.9 * m + (1 - 0.9) * g, 0.99 * v + (1 - 0.99) * g * g
    wanted = p - 0.1 * mean / (1 - 0.9**3) / (np.sqrt(square / (1 - 0.99**3)) + 1e-8)
    g.flags.writeable = False
    step(p, g, m, v)
    for got, expected in ((p, wanted), (m, mean), (v, square)):
        np.testing.assert_allclose(got, expected, rtol=4e-6, atol=4e-6)


def test_adam_step_of_other_layouts_and_dtypes() -> None:
    start = np.random.default_rng(0).random((4, 3, 5)).astype(np.float32)
    expected = start.copy()
    step(*expected)
    for change in (np.asfortranarray, lambda a: np.repeat(a, 2, axis=-1)[:, ::2], lambda a: a.astype(np.float64)):
        for position in range(4):
            arrays = list(start.copy())
            arrays[position] = change(arrays[position])
            step(*arrays)
            for got, wanted in zip(arrays, expected):
                np.testing.assert_allclose(got, wanted, rtol=1e-5)


def losses(dtype: Any) -> list[float]:
    model = TransformerClassifier(
        ClassifierConfig(vocab_size=40, num_classes=3, d_model=16, num_heads=2, num_layers=2, activation="gelu"),
        rng=np.random.default_rng(0),
        dtype=dtype,
    )
    optimizer = nn.Adam(model.parameters(), lr=3e-3)
    rng = np.random.default_rng(1)
    tokens, classes = rng.integers(1, 40, (20, 6, 9)), rng.integers(0, 3, (20, 6))
    mask = np.arange(9) < rng.integers(4, 10, (20, 6, 1))
    history = []
    for x, y, keep in zip(tokens, classes, mask):
        optimizer.zero_grad()
        loss = mg.cross_entropy(model(x, keep), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-4), (np.float64, 1e-10)])
def test_training_goes_the_same_way(dtype: Any, tolerance: float) -> None:
    got = losses(dtype)
    mg.compiled_kernels(False)
    with mg.reference_mode():
        expected = losses(dtype)
    np.testing.assert_allclose(got, expected, rtol=tolerance)
    assert got[-1] != got[0]


# --- the switch ---


def test_switching_off_puts_numpys_kernels_back() -> None:
    mg.compiled_kernels(False)
    before = {name: p.kernels.get(np.ndarray) for name, p in primitives.items()}
    assert not switches.compiled()
    mg.compiled_kernels()
    mg.compiled_kernels()  # a second time changes nothing
    assert switches.compiled()
    mg.compiled_kernels(False)
    mg.compiled_kernels(False)
    assert {name: p.kernels.get(np.ndarray) for name, p in primitives.items()} == before
    assert not any(None in p.kernels.values() for p in primitives.values())


def test_a_graph_keeps_the_kernels_it_was_recorded_with() -> None:
    for first in (True, False):
        mg.compiled_kernels(first)
        x = Tensor(np.random.default_rng(0).standard_normal((3, 4)), requires_grad=True)
        y = mg.layer_norm(mg.gelu(mg.softmax(x)), np.ones(4), np.zeros(4))
        mg.compiled_kernels(not first)
        y[0, 0].backward()
        with mg.reference_mode():
            z = mg.layer_norm(mg.gelu(mg.softmax(x)), np.ones(4), np.zeros(4))
            (expected,) = mg.autograd_grad(z[0, 0], [x])
        assert x.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    mg.compiled_kernels(False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"compiled_kernels\(\) needs numba: pip install numba$"):
        mg.compiled_kernels()
    assert not switches.compiled()


def test_importing_minigrad_does_not_import_numba() -> None:
    code = "import sys, minigrad, nn, models; assert not {'numba', 'llvmlite'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_folder_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    from minigrad.kernels.compiled.arithmetic import compiled

    njit = numba.njit

    def read_only(*args: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*args, **options)

    monkeypatch.setattr(numba, "njit", read_only)

    @compiled("r1 n")
    def pick(x: Any, i: int) -> Any:
        return x[i]

    assert pick.run(np.array([1.0, 2.0], np.float32), 1) == 2.0
