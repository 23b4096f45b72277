"""The checker, on rules with planted errors: what it lets pass, no other test would catch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GradientError, Tensor, check_grads, primitive

RNG = np.random.default_rng(0)
X, ROW, MATRIX = RNG.uniform(0.5, 2, (3, 4)), RNG.standard_normal(4), RNG.standard_normal((4, 2))


def constant(x: Any) -> Any:
    """The numbers alone, as of an array saved by the forward pass: second order cannot see through it."""
    return x.data if isinstance(x, Tensor) else x


def times(x: Any, y: Any, /) -> Any:
    return x * y


def sine(**rules: Any) -> Any:
    return primitive(lambda x, /: np.sin(x), name="sine").vjp(**rules)


def product(**rules: Any) -> Any:
    return primitive(times, name="product").vjp(**rules)


PLANTED: dict[str, tuple[Callable[..., Any], list[np.ndarray], int]] = {
    "0.1 % too large": (sine(x=lambda g, x: g * np.cos(x) * 1.001), [X], 1),
    "wrong sign": (sine(x=lambda g, x: -g * np.cos(x)), [X], 1),
    "one element wrong": (sine(x=lambda g, x: g * np.cos(x) * (1 + (x == X[0, 1]))), [X], 1),
    "zero": (sine(x=lambda g: np.zeros_like(g)), [X], 1),
    "the cotangent is forgotten": (sine(x=lambda g, x: np.cos(x) + 0 * g), [X], 1),
    "answer for input": (sine(x=lambda g, ans: g * np.cos(ans)), [X], 1),
    "first row instead of the sum over rows": (product(x=lambda g, y: g * y, y=lambda g, x: (g * x)[0]), [X, ROW], 1),
    "mean instead of the sum over rows": (product(x=lambda g, y: g * y, y=lambda g, x: g * x / 3), [X, ROW], 1),
    "ignores its second argument": (product(x=lambda g, y: g * y, y=lambda g: np.zeros_like(g)), [X, ROW], 1),
    "swapped arguments": (product(x=lambda g, x: g * x, y=lambda g, y: g * y), [X, ROW], 1),
    "second order sees a constant": (sine(x=lambda g, x: g * np.cos(constant(x))), [X], 2),
    "second order ignores the cotangent": (product(x=lambda g, y: constant(g) * y, y=lambda g, x: g * x), [X, ROW], 2),
    "second order 0.1 % too large": (
        sine(x=lambda g, x: g * sine(x=lambda g, x: 1.001 * g * np.cos(x))(x + np.pi / 2)), [X], 2
    ),
    "second order of one argument": (product(x=lambda g, y: g * constant(y), y=lambda g, x: g * x), [X, ROW], 2),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("f", "args", "order"), PLANTED.values(), ids=PLANTED)
def test_planted_errors_are_found(f: Callable[..., Any], args: list[np.ndarray], order: int) -> None:
    for seed in range(20):  # not by luck of the direction
        if order > 1:
            check_grads(f, args, order - 1, seed=seed)
        with pytest.raises(GradientError, match=f"^order {order}, argument"):
            check_grads(f, args, order, seed=seed)


def test_a_planted_third_order_error() -> None:
    def curve(x: Any) -> Any:
        return sine(x=lambda g, x: g * sine(x=lambda g, x: g * np.cos(constant(x)))(x + np.pi / 2))(x)

    check_grads(curve, [X], 2)
    with pytest.raises(GradientError, match=r"^order 3"):
        check_grads(curve, [X], 3)
    check_grads(np.sin, [X], 3)


def test_the_message_names_the_argument_and_both_numbers() -> None:
    wrong = product(x=lambda g, y: g * y, y=lambda g, x: 2 * g * x)
    with pytest.raises(GradientError) as error:
        check_grads(wrong, [np.array(3.0), np.array(5.0)], 1)
    words = str(error.value).split()
    assert "argument 1" in str(error.value)
    exact, numeric = float(words[words.index("is") + 1].rstrip(",")), float(words[-1])
    assert exact == pytest.approx(2 * numeric)
    assert isinstance(error.value, mg.MinigradError) and isinstance(error.value, AssertionError)


def test_right_derivatives_pass() -> None:
    check_grads(lambda x, w: np.tanh(x @ w).sum(axis=0), [X, MATRIX], 3)
    check_grads(lambda x: x * 1e6, [X])
    check_grads(lambda x: x * 1e-6, [X])
    check_grads(lambda x: np.sum(x) * 0, [X])


SIZES = [1e-12, 1e-8, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e8, 1e12]
RIGHT: dict[str, Callable[[Any], Any]] = {
    "log": np.log,
    "the mean of squares": lambda x: (x**2).mean(),
    "cube": lambda x: x**3,
    "reciprocal": lambda x: 1 / x,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "arctan": np.arctan,
    "variance": np.var,
    "norm": np.linalg.norm,
    "product": np.prod,
    "logsumexp": mg.logsumexp,
    "softmax": mg.softmax,
    "gelu": mg.gelu,
    "layer_norm": lambda x: mg.layer_norm(x, np.ones(3), np.zeros(3)),
    "matrix product": lambda x: x[:2, None] @ x[None, :2],
    "beside a large number": lambda x: x + 1e8,
    "what cancels": lambda x: (x + 1.0) ** 2 - 1.0,
}
RULES: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "log": (np.log, lambda g, x: g / x),
    "square": (np.square, lambda g, x: 2 * g * x),
    "cube": (lambda x: x**3, lambda g, x: 3 * g * x * x),
    "reciprocal": (lambda x: 1 / x, lambda g, x: -g / (x * x)),
    "sqrt": (np.sqrt, lambda g, x: 0.5 * g / np.sqrt(x)),
    "the mean of squares": (lambda x: (x**2).mean(), lambda g, x: 2 * g * x / 3),
    "beside a large number": (lambda x: x + 1e8, lambda g, x: g + 0 * x),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("f", RIGHT.values(), ids=RIGHT)
def test_right_derivatives_pass_at_every_size(f: Callable[[Any], Any], size: float) -> None:
    check_grads(f, [np.array([1.0, 1.7, 0.6]) * size])


@pytest.mark.parametrize("factor", [1.01, -1, 0.5])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("f", "rule"), RULES.values(), ids=RULES)
def test_wrong_factors_are_found_at_every_size(
    f: Callable[[Any], Any], rule: Callable[[Any, Any], Any], size: float, factor: float
) -> None:
    wrong = primitive(lambda x, /: f(x), name="wrong").vjp(x=lambda g, x: factor * rule(g, x))
    with pytest.raises(GradientError, match=r"^order 1, argument 0"):
        check_grads(wrong, [np.array([1.0, 1.7, 0.6]) * size], 1)


def test_a_small_number_is_not_hidden_behind_large_ones() -> None:
    x = np.array([1e8, 1.0, 1e-8])
    square = primitive(lambda x, /: x * x, name="square").vjp(x=lambda g, x: g * x * np.where(x < 1e-3, 1, 2))
    with pytest.raises(GradientError):
        check_grads(square, [x], 1)
    total = primitive(lambda x, /: np.sum(x), name="total").vjp(x=lambda g, x: g * np.where(x < 1e-3, 0.99, 1))
    with pytest.raises(GradientError):
        check_grads(total, [np.array([1.0, 1e-5])], 1)


@pytest.mark.parametrize("turns", [40.0, 80.0, 120.0, 160.0])
def test_a_small_error_is_not_hidden_by_a_first_step_that_is_too_large(turns: float) -> None:
    fast = primitive(lambda x, /: np.sin(turns * x), name="fast").vjp(
        x=lambda g, x: 1.001 * g * turns * np.cos(turns * x)
    )
    with pytest.raises(GradientError):
        check_grads(fast, [X], 1)


def test_where_differences_cannot_tell_nothing_is_called_wrong() -> None:
    check_grads(mg.relu, [np.array([0.0])])
    check_grads(np.abs, [np.array([0.0, 1.0])], 1)
    check_grads(np.sin, [np.array(1e15)], 1)


def test_a_function_that_computes_in_float32_is_rounded_so() -> None:
    check_grads(lambda x: np.sin(x.astype(np.float32)), [X], 1)
    wrong = sine(x=lambda g, x: g * np.cos(x) * 1.1)
    with pytest.raises(GradientError):
        check_grads(lambda x: wrong(x.astype(np.float32)), [X], 1)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (np.log, r"^order 1: the value of the function is infinite or NaN at these arguments: pass others$"),
        (
            lambda x: np.where(x == 0, 1.0, np.sin(x) / x),
            r"^order 1, argument 0: .* is nan, and finite differences give",
        ),
    ],
)
def test_what_is_infinite_or_nan_is_refused(f: Callable[[Any], Any], message: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(GradientError, match=message):
        check_grads(f, [np.array([0.0, 1.0])])


def test_the_tolerance_may_be_given() -> None:
    slightly = sine(x=lambda g, x: g * np.cos(x) * 1.001)
    check_grads(slightly, [X], 1, rtol=0.01)
    with pytest.raises(GradientError):
        check_grads(slightly, [X], 1)


def test_what_it_takes() -> None:
    """Nested containers, Tensors, numbers, float32 and nothing that it changes."""
    check_grads(lambda p: {"a": [p["w"] @ p["b"], p["none"]], "b": p["b"] * 2}, [{"w": X, "b": ROW, "none": None}])
    check_grads(np.exp, [Tensor(X, requires_grad=True)])
    check_grads(lambda x, y: x * y, [2.0, 3.0])
    check_grads(np.exp, [X.astype(np.float32)])
    check_grads(np.exp, [X + 1j])
    frozen = X.copy()
    frozen.flags.writeable = False
    check_grads(lambda x: x**3, [frozen])
    with pytest.raises(GradientError, match="argument 1"):
        check_grads(product(x=lambda g, y: g * y, y=lambda g, x: -g * x), [[X][0], ROW], 1)
    with pytest.raises(mg.ArgumentError, match="order >= 1, got 0"):
        check_grads(np.exp, [X], order=0)


def test_a_function_of_integers_is_refused() -> None:
    """A dependence that stays on integers is flat; one on an untracked path is an error of the derivative."""
    with pytest.raises(GradientError):
        check_grads(lambda x: x * constant(x), [X], 1)


def test_a_function_may_close_over_a_tracked_tensor() -> None:
    weight = Tensor([2.0, 3.0], requires_grad=True)
    check_grads(lambda x: np.tanh(x * weight) * weight, [np.array([0.5, -0.25])])
    assert weight.grad is None


def test_what_is_infinite_nearby_is_no_anomaly() -> None:
    """Differences leave the domain of the root. What they find there is not recorded, so nothing stops at it."""
    with mg.detect_anomaly():
        check_grads(lambda x: np.sqrt(x).sum(), (np.array([1e-30, 1.0]),))
