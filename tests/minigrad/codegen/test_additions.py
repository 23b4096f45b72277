"""Sums of the backward pass are written as a person writes them, and not a bit changes, not even the sign of a zero."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.codegen import WrittenProgram
from minigrad.codegen.paper import Paper
from minigrad.codegen.recording import Recording
from minigrad.codegen.tidy import tidied
from tests.minigrad.codegen.apart import on_the_tape

INDICES = [slice(0, 2), slice(2, 4), slice(1, 3), slice(2, None, -2)]
WEIGHTS = [np.array([-0.0, 1.5]), np.array([-0.0, -0.0]), np.array([0.0, -2.0])]


def assert_same_bytes(f: Callable[..., Any], *args: Any) -> WrittenProgram:
    """Return the program of ``f``, whose results have the bytes of the tape's."""
    program = mg.write_numpy(f, *args)
    expected = on_the_tape(f, args, tuple(range(len(args))))
    for found, right in zip(program(*args), expected, strict=True):
        assert np.asarray(found).tobytes() == np.asarray(getattr(right, "_array", right)).tobytes()
    return program


@pytest.mark.parametrize("order", list(permutations(range(4), 3)))
def test_gradients_of_parts_have_the_bits_of_the_sums_of_arrays(order: tuple[int, ...]) -> None:
    """Parts that are apart, that overlap, and that are equal; a sum of arrays has 0 for -0, except where all add -0."""
    x = np.array([0.5, -1.0, 2.0, 3.0])
    for weights in list(permutations(WEIGHTS))[::2]:
        for parts in (order, (*order, order[-1])):

            def f(x: Any, parts: Any = parts, weights: Any = (*weights, WEIGHTS[0])) -> Any:
                return sum(np.sum(w * x[INDICES[i]]) for w, i in zip(weights, parts))

            assert_same_bytes(f, x)


def test_parts_that_are_apart_add_to_one_array() -> None:
    program = assert_same_bytes(lambda x: np.sum(x[1:3]) + np.sum(x[:2] ** 2) + np.sum(x[2:] ** 3), np.arange(4.0))
    assert str(program).count("np.zeros") == 1
    assert str(program).count("] += ") == 3


def test_parts_do_not_add_to_a_sum_that_is_read_before_them() -> None:
    """A sweep never reads a sum that is not complete; here, one does."""

    def run(simplify: bool) -> Any:
        recording = Recording(Paper)
        x = recording.input(np.array([1.0, 2.0, 4.0]), "x")
        recording.backward = True
        parts = []
        for i in range(3):
            parts.append(np.zeros_like(x))
            parts[i][i] = x[i]
            if i == 1:
                total = parts[0] + parts[1]
        early = total * 1.5
        total += parts[2]
        results = (early._value, total._value)
        statements, results = tidied(recording.statements, results) if simplify else (recording.statements, results)
        values: dict[Any, Any] = {recording.inputs[0]: recording.inputs[0].data}
        for statement in statements:
            arguments = [values.get(arg, arg) if type(arg).__name__ == "Value" else arg for arg in statement.args]
            answer = statement.call(*arguments, **statement.keywords)
            values.update(dict.fromkeys(statement.outputs, answer))
        return [values[value].tolist() for value in results]

    assert run(True) == run(False) == [[1.5, 3.0, 0.0], [1.0, 2.0, 4.0]]


def test_a_part_of_a_buffer_is_added_to_in_one_statement() -> None:
    def f(x: Any, c: Any) -> Any:
        buffer = np.zeros_like(c)
        buffer[0] += c[1]
        buffer[1:] *= 2 * c[1:]
        buffer[:2] -= c[:2]
        return np.sum(x * buffer)

    program = mg.write_numpy(f, np.arange(3.0), np.array([2, 3, 5]))
    for line in ("buffer[0] += c[1]", "buffer[1:] *= 2 * c[1:]", "buffer[:2] -= c[:2]"):
        assert line in program.source.replace("zeros[", "buffer[")


@pytest.mark.parametrize("kind", range(5))
def test_a_part_that_is_not_added_to_at_once_stays_as_it_is_written(kind: int) -> None:
    def f(x: Any, c: Any) -> Any:
        buffer = np.zeros_like(c)
        buffer[:] = c
        part = buffer[0:2]
        if kind == 0:  # the part is a view, and changes before
            buffer[0:2] = c[1:]
            part += c[:2]
            buffer[0:2] = part
        elif kind == 1:  # the part goes elsewhere
            part = part + c[:2]
            buffer[1:3] = part
        elif kind == 2:  # the part is read later
            part = part * c[1:]
            buffer[0:2] = part
            return np.sum(x[:2] * part) + np.sum(x * buffer)
        elif kind == 3:  # a number that was picked earlier
            first = buffer[0]
            buffer[0] = 7
            buffer[0] = first + c[1]
        else:  # NumPy rounds here, and would refuse +=
            buffer[0:2] = part + 0.7 * c[:2]
        return np.sum(x * buffer)

    x, c = np.arange(3.0), np.array([2, 3, 5])
    program = mg.write_numpy(f, x, c)
    for factor in (1, 2):
        expected = on_the_tape(f, (x, factor * c), (0,))
        assert all(np.array_equal(a, b) for a, b in zip(program(x, factor * c), expected))


def test_signs_cancel_in_products_and_sums() -> None:
    def f(x: Any, y: Any) -> Any:
        gate = 1 / (1 + np.exp(-x))
        return np.sum(gate * (x - y) * y)

    program = assert_same_bytes(f, np.array([0.5, -0.0, 2.0]), np.array([0.5, 1.0, -0.0]))
    backward = program.source.partition("# backward")[2]
    assert "-" not in backward.replace(" - ", " ").replace("np.exp(-", "")


def test_a_negation_that_is_read_twice_stays() -> None:
    def f(x: Any, y: Any) -> Any:
        difference = x - y
        return np.sum(difference / (2 + y * y)) + np.sum(difference * y)

    assert_same_bytes(f, np.array([0.5, -0.0, 2.0]), np.array([0.5, 1.0, -0.0]))
