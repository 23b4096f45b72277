"""FirstBad: what counts as a step, and which step is the bad one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.cli.first_bad import FirstBad
from minigrad.graph.watch.provenance import find_nan

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def leaf(value: Any) -> Any:
    return Tensor(value, requires_grad=True, name="w")


def sweeping(inside: Callable[[Any], Any]) -> Any:
    """The square, by a rule that asks ``inside`` for the derivative."""
    return mg.primitive(lambda x, /: x * x, name="square_by_sweeping").vjp(x=lambda g, x: g * inside(x))


def by_forward_mode(x: Any) -> Any:
    return mg.jvp(lambda x: x * x, (x,), (np.ones_like(x),))[1]


def by_rows(x: Any) -> Any:
    return mg.jacobian(lambda x: np.sum(x * x))(x)  # one row, so in reverse


def by_a_sweep(x: Any) -> Any:
    return mg.grad(lambda x: (x * x).sum())(x)


INSIDE = [by_forward_mode, by_rows, by_a_sweep]


@pytest.mark.parametrize("inside", INSIDE)
def test_what_a_rule_sweeps_is_no_step_of_the_program(inside: Callable[[Any], Any]) -> None:
    square, w = sweeping(inside), leaf([1.0, 2.0])
    with FirstBad() as watch:
        for number in range(3):
            square(w).sum().backward()
            assert watch.steps == number + 1
    np.testing.assert_array_equal(w.grad.numpy(), [6.0, 12.0])
    assert watch.tensor() is None and watch.step is None


@pytest.mark.parametrize("inside", INSIDE)
def test_what_is_bad_inside_of_a_rule_alone_accuses_no_step(inside: Callable[[Any], Any]) -> None:
    square, w = sweeping(lambda x: np.nan_to_num(inside(x * np.inf)) * 0.0 + 2 * x), leaf([1.0, 2.0])
    with FirstBad() as watch:
        for _ in range(2):
            square(w).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [4.0, 8.0])
    assert watch.steps == 2 and watch.tensor(failed=True) is None and watch.step is None


@pytest.mark.parametrize("inside", INSIDE)
def test_the_step_around_such_a_rule_is_the_bad_one(inside: Callable[[Any], Any]) -> None:
    square, w = sweeping(lambda x: inside(x) * (np.inf if x[0] == 3.0 else 1.0)), leaf([1.0, 2.0])
    with FirstBad() as watch:
        for _ in range(3):
            square(w).sum().backward()
            w.data += 1.0
        loss = watch.tensor()
    assert watch.step == 2 and loss is not None
    found = find_nan(loss)
    assert found is not None and found.node.operation == "square_by_sweeping" and found.edge is not None


@pytest.mark.parametrize("inside", INSIDE)
def test_what_the_program_sweeps_itself_is_a_step(inside: Callable[[Any], Any]) -> None:
    with FirstBad() as watch:
        inside(np.array([1.0, 2.0]))
        inside(np.array([1.0, 2.0]))
    assert watch.steps == 2


@pytest.mark.parametrize("thrown_away", [False, True])
def test_a_sum_of_contributions_that_overflows_is_bad(thrown_away: bool) -> None:
    w = leaf([1e-9])
    with FirstBad() as watch:
        for factor in (1.0, 1e308):
            loss = (w * factor + w * factor).sum()
            loss.backward()
            assert np.isfinite(loss.item())
            if factor == 1.0 or thrown_away:
                w.grad = None
        bad = watch.tensor()
    if thrown_away:
        assert bad is None and watch.step is None
        return
    assert watch.step == 1 and bad is not None
    found = find_nan(bad)
    assert found is not None and "their sum with the other contributions to the gradient of x ('w')" in found.cause


def test_the_output_that_is_bad_stands_for_an_operation_of_several() -> None:
    w = leaf([1.0, np.nan])
    with FirstBad() as watch:
        parts: list[Any] = np.split(w * 1.0, 2)
        parts[1].backward()
        loss = watch.tensor()
    assert watch.step == 0 and loss is not None and np.isnan(loss.item())


def test_a_rule_whose_shape_is_wrong_accuses_no_step() -> None:
    broken, w = mg.primitive(lambda x, /: x * 2, name="broken").vjp(x=lambda g: g[:1]), leaf([1.0, 2.0, 3.0])
    with FirstBad() as watch, pytest.raises(mg.GraphError, match="shape"):
        broken(w).sum().backward()
    assert watch.tensor(failed=True) is None
