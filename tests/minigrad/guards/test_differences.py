"""Finite differences: what they say they may be off by is what they are off by, or more."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad.guards.differences import Differences, direction, jitter, weights

KIND = np.finfo(np.float64)
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[float, ...]]] = {
    "square": (lambda x: x * x, lambda x: 2 * x, (1e-8, 1.0, 1e4, 1e8, -3e5)),
    "exp": (np.exp, np.exp, (1e-8, -1.0, 30.0, 300.0, -300.0)),
    "log": (np.log, lambda x: 1 / x, (1e-8, 0.3, 1.001, 1e8)),
    "sin": (np.sin, np.cos, (1e-8, 1.0, 1e4, 1e8)),
    "tanh": (np.tanh, lambda x: np.cosh(x) ** -2.0, (1e-8, 1.0, 5.0, 8.0, 25.0, 1e8)),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / (x * x), (1e-8, -2.0, 1e8)),
    "arcsin near its edge": (np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)), (0.5, 1 - 1e-6, 1 - 1e-9)),
    "a small number beside a large one": (lambda x: x + 1e8, lambda x: 1 + 0 * x, (1e-8, 1e-3, 1.0)),
    "a narrow step": (
        lambda x: np.tanh((x - 1) * 1e6),
        lambda x: 1e6 * np.cosh((x - 1) * 1e6) ** -2.0,
        (1.0, 1 + 1e-6),
    ),
}
CASES = [(name, x) for name, (_, _, points) in FUNCTIONS.items() for x in points]


def differences(f: Callable[[Any], Any], x: Any, v: Any) -> Differences:
    return Differences(lambda t: f(x + t * v), f(x), KIND)


@pytest.mark.parametrize(("name", "point"), CASES)
def test_the_error_is_no_smaller_than_the_truth(name: str, point: float) -> None:
    f, slope, _ = FUNCTIONS[name]
    x = np.array([point])
    v = direction(x, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        for coarse_first in (False, True):
            found = differences(f, x, v)
            for _ in found.steps(coarse_first):
                off = abs(found.best.slope - slope(x) * v)
                assert not found.reliable.all() or (off <= found.error + found.doubt).all()


@pytest.mark.parametrize(("name", "point"), [case for case in CASES if case[0] != "tanh" or case[1] < 20])
def test_the_error_is_small_where_the_derivative_can_be_seen(name: str, point: float) -> None:
    f, slope, _ = FUNCTIONS[name]
    x = np.array([point])
    v = direction(x, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        found = differences(f, x, v)
        list(found.steps(coarse_first=True))
        assert found.reliable.all() and (found.error < 1e-2 * abs(slope(x) * v)).all()


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (abs, "bend"),
        (lambda x: np.maximum(x, 0), "bend"),
        (lambda x: 3 * x + (x > 0), "bend"),
        (np.cbrt, "curvature"),
        (np.sqrt, "infinite"),
    ],
)
def test_a_kink_a_jump_and_an_edge_are_told_from_a_slope(f: Callable[[Any], Any], why: str) -> None:
    with np.errstate(invalid="ignore"):
        found = differences(f, np.zeros(1), np.ones(1))
        list(found.steps(coarse_first=False))
    assert not found.reliable.any() and found.why_unreliable() == why


def test_a_kink_that_is_near_is_seen_through_only_by_small_steps() -> None:
    x, v = np.array([1.0]), np.ones(1)
    found = differences(lambda x: np.maximum(x, 1 - 1e-9), x, v)
    list(found.steps(coarse_first=False))
    assert found.reliable.all() and found.best.step < 1e-9 and abs(found.best.slope - 1) < 1e-4


def test_each_number_is_moved_in_proportion() -> None:
    x = np.array([1e-8, -3.7, 1e8, 5e300, math.inf, math.nan, 0.0])
    v = direction(x, np.random.default_rng(1))
    assert (abs(v[:4]) >= abs(x[:4]) / 2).all() and (abs(v[:4]) <= 2 * abs(x[:4])).all()
    assert v[4] == v[5] == 0 and 0 < abs(v[6]) <= 2
    assert 2.5 < direction(np.array([-5.0]), np.random.default_rng(1)) <= 10.0  # of a number the derivative itself
    moves = jitter(np.ones(50), np.random.default_rng(1))
    assert np.unique(moves).size == 50 and (abs(moves) >= 1).all()  # each element moves, however small the step


def test_a_step_does_not_hide_a_period() -> None:
    x = np.arange(2**44, 2**44 + 9) / 1.0
    found = differences(lambda x: x % 3, x, direction(x, np.random.default_rng(0)))
    list(found.steps(coarse_first=False))
    assert not found.reliable.any()


def test_large_and_small_numbers_count_alike_and_drowned_ones_little() -> None:
    x, scale = np.array([1.0, 1.0, 1.0]), np.array([1e8, 1e-8, 1e-8])
    found = differences(lambda x: x * scale + np.array([0.0, 0.0, 1e12]), x, x)
    u = abs(weights(found, np.random.default_rng(0)) * scale)
    assert u[:2].max() < 4 * u[:2].min() and u[2] < 1e-6 * u[1]
