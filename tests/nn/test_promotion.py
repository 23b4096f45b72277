"""A warning where a float32 layer meets values that an operation has made float64: its line, once, and no false alarm."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor
from nn import _promotion
from tests.nn.layers import rng

LAYER = nn.Affine(4, 4, rng=rng())
X = rng(1).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_promotion, "_told", set())


def told(run: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return caught


def scaled() -> Any:
    return LAYER(LAYER(X) / np.sqrt(16))


def state_of_zeros() -> Any:
    h: Any = np.zeros((3, 4))
    for _ in range(3):
        h = np.tanh(LAYER(X) + LAYER(h) + h)
    return h


def set_in_a_buffer() -> Any:
    return LAYER(Tensor(np.zeros((3, 4))).at[0].set(LAYER(X)[0]))


@pytest.mark.parametrize(
    ("run", "operation", "line"),
    [(scaled, "divide", 1), (state_of_zeros, "add", 3), (set_in_a_buffer, "set_at", 1)],
)
def test_one_warning_names_the_operation_and_the_line(run: Any, operation: str, line: int) -> None:
    (caught,) = told(lambda: [run(), run()])
    first = inspect.getsourcelines(run)[1]
    assert (caught.filename, caught.lineno, caught.category) == (__file__, first + line, UserWarning)
    assert f"'{operation}' has combined float32 values with a float64 array" in str(caught.message)


@pytest.mark.parametrize(
    "run",
    [
        lambda: LAYER(X.astype(np.float64)),  # an input is cast
        lambda: LAYER(np.tanh(Tensor(X.astype(np.float64), requires_grad=True))),  # a program in float64
        lambda: LAYER(LAYER(X).astype(np.float64) * 2),  # a cast that was asked for
        lambda: LAYER(np.cumsum(LAYER(X), axis=0, dtype=np.float64)),  # a dtype that was asked for
        lambda: LAYER(LAYER(X) / 16**0.5),
        lambda: nn.Affine(4, 4, rng=rng(), dtype=np.float64)(LAYER(X)),
        lambda: LAYER(mg.relu(LAYER(X)) * np.float32(2)),
    ],
)
def test_nothing_is_said_about_what_is_meant(run: Any) -> None:
    assert told(run) == []


def test_a_loop_walks_its_tape_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[Any] = []

    def walked(nodes: Any) -> list[Any]:
        walks.append(nodes)
        return []

    monkeypatch.setattr(_promotion, "wengert_list", walked)
    h: Any = Tensor(X.astype(np.float64), requires_grad=True)
    for _ in range(5):
        h = h + LAYER(h).astype(np.float64)  # float64 that was asked for
    assert len(walks) == 1


def test_the_results_and_gradients_are_those_without_the_warning() -> None:
    layer = nn.Affine(4, 4, rng=rng())
    told(lambda: LAYER(layer(X) / np.sqrt(16)).sum().backward())
    gradient = layer.weight.grad
    assert gradient is not None and gradient.dtype == np.float32
    layer.zero_grad()
    LAYER(layer(X) / 4).sum().backward()
    assert layer.weight.grad is not None
    np.testing.assert_allclose(layer.weight.grad.numpy(), gradient.numpy(), rtol=1e-5)
