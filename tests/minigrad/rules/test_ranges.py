"""Every activation, its first and its second derivative: finite and right from the smallest to the largest number."""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn

Function = Callable[[Any], Any]
C, K = 2 * math.sqrt(2 / math.pi), 0.044715


def sigma(x: float) -> float:
    e = math.exp(-min(abs(x), 1e4))
    return 1 / (1 + e) if x >= 0 else e / (1 + e)


def density(x: float) -> float:
    return math.exp(-min(x * x, 1e4) / 2) / math.sqrt(2 * math.pi) if abs(x) < 1e2 else 0.0


def bent(x: float) -> tuple[float, float, float]:
    """Of gelu by tanh, ``x sigma(u)``: the values of u and of its derivatives, where they matter."""
    x = max(min(x, 50.0), -50.0)
    return C * (x + K * x**3), C * (1 + 3 * K * x * x), 6 * C * K * x


def of_tanh(x: float) -> tuple[float, float, float]:
    u, du, ddu = bent(x)
    s, q = sigma(u), sigma(-u)
    x_sq = x * s * q if s * q else 0.0
    return x * s, s + x_sq * du, 2 * s * q * du + x_sq * ((q - s) * du * du + ddu)


def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-min(abs(x), 1e4)))


def sech2(x: float) -> float:
    return 1 / math.cosh(x) ** 2 if abs(x) < 300 else 0.0


# The value and two derivatives in float64, without a difference of large numbers.
EXACT: dict[str, tuple[Function, Callable[[float], tuple[float, float, float]]]] = {
    "relu": (mg.relu, lambda x: (max(x, 0.0), float(x > 0), 0.0)),
    "sigmoid": (mg.sigmoid, lambda x: (sigma(x), sigma(x) * sigma(-x), sigma(x) * sigma(-x) * (sigma(-x) - sigma(x)))),
    "silu": (mg.silu, lambda x: (x * sigma(x), sigma(x) * (1 + x * sigma(-x)),
                                 sigma(x) * sigma(-x) * (2 + x * (sigma(-x) - sigma(x))))),
    "gelu": (mg.gelu, lambda x: (x * (math.erfc(-x * math.sqrt(0.5)) / 2),
                                 math.erfc(-x * math.sqrt(0.5)) / 2 + x * density(x),
                                 (2 - min(x * x, 1e4)) * density(x))),
    "gelu by tanh": (lambda x: mg.gelu(x, approximate="tanh"), of_tanh),
    "softplus": (lambda x: np.logaddexp(x, 0.0), lambda x: (softplus(x), sigma(x), sigma(x) * sigma(-x))),
    "logsigmoid": (lambda x: -np.logaddexp(-x, 0.0), lambda x: (-softplus(-x), sigma(-x), -sigma(x) * sigma(-x))),
    "tanh": (np.tanh, lambda x: (math.tanh(x), sech2(x), -2 * math.tanh(x) * sech2(x))),
    "erf": (mg.erf, lambda x: (math.erf(x), 2 / math.sqrt(math.pi) * math.exp(-min(x * x, 1e4)),
                               -4 * x / math.sqrt(math.pi) * math.exp(-min(x * x, 1e4)) if abs(x) < 90 else 0.0)),
}  # fmt: skip
ROUNDINGS = {"plain": 4.0, "numpy": 10.0, "compiled": 4.0}  # of max(1, the value); gelu by tanh in NumPy has 9


@contextlib.contextmanager
def form_of(form: str) -> Iterator[None]:
    if form == "compiled":
        pytest.importorskip("numba", reason="needs numba")
        mg.compiled_kernels()
    try:
        with mg.reference_mode() if form == "plain" else contextlib.nullcontext():
            yield
    finally:
        if form == "compiled":
            mg.compiled_kernels(False)


def whole_range(dtype: Any) -> Any:
    """Zeros, subnormal numbers, all magnitudes, the largest, and many where the functions bend."""
    info = np.finfo(dtype)
    low, high = math.log10(float(info.tiny)), math.log10(float(info.max))
    magnitudes = np.concatenate([10.0 ** np.linspace(low, high - 0.001, 90), 10.0 ** np.linspace(-2, 2.9, 120)])
    ends = [0.0, float(info.tiny), float(info.smallest_subnormal), float(info.max)]
    x = np.concatenate([magnitudes, ends]).astype(dtype)
    return np.concatenate([x[np.isfinite(x)], -x[np.isfinite(x)]])


# The compiled loops are of float32 alone.
FORMS = [
    (form, t)
    for form in ROUNDINGS
    for t in (np.float16, np.float32, np.float64)
    if form != "compiled" or t == np.float32
]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("name", EXACT)
def test_what_has_no_compiled_loop_has_the_bits_of_the_numpy_kernel(name: str, dtype: Any) -> None:
    found = []
    for form in ("numpy", "compiled"):
        t = mg.Tensor(whole_range(dtype), requires_grad=True)
        with form_of(form):
            y = EXACT[name][0](t)
            y.backward(np.ones(t.shape, dtype))
        assert t.grad is not None
        found.append((y.numpy(), t.grad.numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("form", "dtype"), FORMS)
@pytest.mark.parametrize("name", EXACT)
def test_finite_and_right_over_the_whole_range(name: str, dtype: Any, form: str) -> None:
    f, exact = EXACT[name]
    x = whole_range(dtype)
    want = np.array([exact(float(v)) for v in x]).T
    t = mg.Tensor(x, requires_grad=True)
    with form_of(form):
        y = f(t)
        y.backward(np.ones_like(x))
        assert t.grad is not None
        got = [y.numpy(), t.grad.numpy(), mg.elementwise_grad(mg.elementwise_grad(f))(x)]
    eps = float(np.finfo(dtype).eps)
    with np.errstate(over="ignore"):
        rounded = want.astype(dtype)
    for order, (ours, true) in enumerate(zip(got, want, strict=True)):
        assert ours.dtype == dtype and np.isfinite(ours[np.isfinite(rounded[order])]).all(), (
            order,
            x[~np.isfinite(ours)],
        )
        error = np.abs(ours.astype(float) - true) / np.maximum(1, np.abs(true)) / eps
        assert error.max() <= ROUNDINGS[form], (order, error.max(), x[error.argmax()])


@pytest.mark.parametrize("form", ROUNDINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_slope_of_sigmoid_keeps_what_is_small(dtype: Any, form: str) -> None:
    """``ans * (1 - ans)`` is 0 from 17 on in float32."""
    x = np.linspace(-80, 80, 161).astype(dtype)
    t = mg.Tensor(x, requires_grad=True)
    with form_of(form):
        mg.sigmoid(t).backward(np.ones_like(x))
    want = [sigma(v) * sigma(-v) for v in x.tolist()]
    assert t.grad is not None
    np.testing.assert_allclose(t.grad.numpy(), want, rtol=4 * float(np.finfo(dtype).eps))


TARGETS = [0.0, 1.0, 0.5, 0.9, 1e-6, 1 - 1e-6]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", TARGETS)
def test_binary_cross_entropy_with_logits_to_four_units_in_the_last_place(target: float, dtype: Any) -> None:
    """The loss relative to itself, and so the derivatives where nothing cancels: all of them where t is 0 or 1."""
    z = whole_range(dtype)
    z = z[np.abs(z) < np.finfo(dtype).max / 2]
    t = np.full_like(z, target)
    eps, tiny, exact_t = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny), float(t[0])

    def loss(z: Any) -> Any:
        return nn.binary_cross_entropy_with_logits(z, t, reduction="none")

    first = mg.elementwise_grad(loss)
    got = [loss(z).numpy(), first(z), mg.elementwise_grad(first)(z)]
    of_logits = [float(v) for v in z]
    slopes = {0.0: sigma, 1.0: lambda v: -sigma(-v)}
    want = [
        [
            (1 - exact_t) * max(v, 0.0) + exact_t * max(-v, 0.0) + math.log1p(math.exp(-min(abs(v), 1e4)))
            for v in of_logits
        ],
        [slopes.get(target, lambda v: sigma(v) - exact_t)(v) for v in of_logits],
        [sigma(v) * sigma(-v) for v in of_logits],
    ]
    for order, (ours, true) in enumerate(zip(got, want, strict=True)):
        scale = np.ones_like(z) if order == 1 and target not in slopes else np.maximum(np.abs(true), tiny)
        error = np.abs(ours.astype(float) - true) / scale.astype(float) / eps
        assert error.max() <= 4, (order, error.max(), z[error.argmax()])


def test_binary_cross_entropy_by_its_targets() -> None:
    t = mg.Tensor([0.2, 0.7], requires_grad=True)
    nn.binary_cross_entropy_with_logits([3.0, -4.0], t, reduction="sum").backward()
    assert t.grad is not None and t.grad.tolist() == [-3.0, 4.0]


def test_binary_cross_entropy_of_a_small_probability() -> None:
    p = np.array([1e-9, 1e-20], np.float32)
    losses = nn.binary_cross_entropy(p, [0, 0], reduction="none").numpy()
    np.testing.assert_allclose(losses, p, rtol=2e-7)


def test_label_smoothing_far_from_zero() -> None:
    """A number added to all logits changes nothing, to the rounding of the logits themselves."""
    logits = np.random.default_rng(0).integers(-40, 40, (5, 33)).astype(np.float32) / 16
    near = nn.cross_entropy(logits.astype(np.float64), np.arange(5), label_smoothing=0.3, reduction="none").numpy()
    far = nn.cross_entropy(logits + np.float32(2**18), np.arange(5), label_smoothing=0.3, reduction="none").numpy()
    np.testing.assert_allclose(far, near, rtol=1e-6)
