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
