"""Constants have the names of the user's program, and no name of a program hides what its text uses."""

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad.codegen.program import AS_ARRAY, CHECK, CHECK_SIZES, RESERVED
from minigrad.codegen.text import number_text
from tests.minigrad.codegen.apart import on_the_tape, same_bits

RNG = np.random.default_rng(0)
rows = RNG.normal(size=(3, 8))


class Table(nn.Module):
    def __init__(self) -> None:
        self.table = RNG.normal(size=(3, 8))
        self.weight = nn.Parameter(np.ones(8))

    def forward(self, x: Any) -> Any:
        return np.sin(x * self.weight) * self.table


def closure() -> Callable[..., Any]:
    targets = RNG.normal(size=8)
    return lambda x: np.sum((x - targets) ** 2)


def helper(x: Any, weights: Any) -> Any:
    return np.sum(np.tanh(x) * weights)


def with_default(x: Any, scale: Any = rows + 1) -> Any:
    return np.sum(np.sin(x) * scale)


def with_variable(x: Any) -> Any:
    positions = np.cos(np.arange(8.0))
    return np.sum((x - positions) ** 3)


def with_tensor(x: Any) -> Any:
    centre = mg.Tensor(np.cos(np.arange(8.0)))
    return np.sum((x - centre) ** 3)


def without_a_name(x: Any) -> Any:
    a = np.sum(x * np.arange(8) ** 2) + np.sum(np.where(np.arange(8) % 2 == 0, x * x, x))
    return a + np.sum(x * np.cos(np.arange(8.0))) + np.sum(np.sin(x) * np.cos(np.arange(16.0)).reshape(2, 8))


def with_taken_names(x: Any, positions: Any) -> Any:
    def shifted(x: Any, y: Any) -> Any:
        return np.sin(x + y)

    loss = shifted(positions, np.cos(np.arange(8.0)))
    return np.sum(loss * x)


@pytest.mark.parametrize(
    ("f", "count", "names"),
    [
        (closure(), 1, ["targets"]),
        (lambda x: np.sum(x * rows), 1, ["rows"]),
        (lambda x: helper(x, np.cos(np.arange(8.0))), 1, ["weights"]),
        (with_default, 1, ["scale"]),
        (with_variable, 1, ["positions"]),
        (with_tensor, 1, ["centre"]),
        (lambda x: np.sum(x * rows + x * rows), 1, ["rows"]),  # written once
        (without_a_name, 1, ["integers", "mask", "vector", "matrix"]),
        (with_taken_names, 2, ["y"]),
        (lambda x, rows: np.sum(x * rows) + helper(x, globals()["rows"]), 2, ["weights"]),
        (lambda x, weights: np.sum(x * weights) + helper(x, np.cos(np.arange(8.0))), 2, ["weights2"]),
    ],
)
def test_a_constant_has_the_name_that_the_user_gave_it(f: Any, count: int, names: list[str]) -> None:
    program = mg.write_numpy(f, *RNG.normal(size=(count, 8)))
    assert [*program.constants] == names
    assert all(f"\n{name} = np." in program.source and name in str(program) for name in names)
    arguments = RNG.normal(size=(count, 8))
    namespace: dict[str, Any] = {}
    exec(program.source, namespace)
    expected = on_the_tape(f, [*arguments], tuple(range(count)))
    assert same_bits([*program(*arguments)], expected)
    assert same_bits([*namespace["step"](*arguments)], expected)


def test_a_constant_of_a_module_has_the_name_of_its_attribute() -> None:
    model = Table()
    program = mg.write_numpy(nn.loss_of(model, np.sum), model.state_dict(), np.ones((3, 8)), argnum=0)
    assert [*program.constants] == ["table"]


def in_a_list(x: Any) -> Any:
    größe, waves = 8, [np.sin(x * k) for k in (1.0, 2.5)]  # Python counts the bytes before an expression
    return np.sum(waves[0] * waves[1]) / größe


def test_an_element_of_a_list_has_the_name_of_the_list() -> None:
    assert "waves2 = np.sin(" in str(mg.write_numpy(in_a_list, RNG.normal(size=8)))


def times_two_constants(x: Any) -> Any:
    two = np.ones_like(x) * 2.0
    three = np.ones_like(x) * 3.0
    return np.sum(x * (two * three))


def test_two_constants_that_meet_keep_their_names() -> None:
    """As numbers, both would make a number: the gradient needs an array."""
    program, x = mg.write_numpy(times_two_constants, np.arange(8.0)), np.arange(8.0)
    assert "= two * three" in str(program)
    assert same_bits([*program(x)], on_the_tape(times_two_constants, (x,), (0,)))


def names_of_python(len: Any, x: Any) -> Any:
    range = np.cos(x[0])
    for map in x:
        len = np.sin(len) * map + range
    return np.sum(len)


@pytest.mark.parametrize("sizes", [[], [(np.ones(4), np.ones((15, 4)))]])
def test_the_names_of_python_stay_free(sizes: Any) -> None:
    arguments = np.full(3, 0.5), RNG.normal(size=(10, 3))
    program = mg.write_numpy(names_of_python, *arguments, sizes=sizes)
    assert "def step(len_, x):" in str(program)
    assert "in range(" in str(program)
    assert same_bits([*program(*arguments)], on_the_tape(names_of_python, arguments, (0, 1)))
    keys = mg.write_numpy(lambda p: np.sum(np.tanh(p["range"] * p["len"])), {"range": np.ones(2), "len": np.ones(2)})
    assert "p_range * p_len" in str(keys)


@pytest.mark.parametrize("text", [CHECK, CHECK_SIZES, AS_ARRAY], ids=["check", "check of sizes", "as_array"])
def test_what_a_check_calls_keeps_its_name(text: str) -> None:
    """A constant of a program stands beside the checks: `zip = np.array(...)` would break them."""
    (code,) = [part for part in compile(text, "", "exec").co_consts if hasattr(part, "co_names")]
    assert {name for name in code.co_names if callable(getattr(builtins, name, None))} <= RESERVED


def test_a_number_that_is_one_over_another_is_written_so() -> None:
    for number in (
        1 / 6,
        -1 / 30,
        1 / 1500,
        0.5,
        0.0625,
        0.1,
        0.3,
        -0.7,
        1e-12,
        5e-324,
        1 / 3 + 2**-54,
        0.0,
        -0.0,
        2.5,
    ):
        text = number_text(number)
        assert np.float64(eval(text)).tobytes() == np.float64(number).tobytes()
        assert ("/" in text) == (number in (1 / 6, -1 / 30, 1 / 1500))
    program = mg.write_numpy(lambda x: np.sum(np.exp(x * -(1 / 6)) / (1 / 3) - x ** (1 / 7)), np.ones(2))
    for text in ("np.exp(x * (-1 / 6))", "/ (1 / 3)", "x ** (1 / 7)"):
        assert text in str(program)
