"""Loops over free sizes: right at numbers of turns that the program was not written at, or stopped; some are refused."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests.minigrad.codegen.apart import on_the_tape, same_bits
from tests.minigrad.codegen.looping import PROGRAMS, Looping, drawn


def written(looping: Looping) -> Any:
    return mg.write_numpy(looping.function, *looping.arrays(10, 3), sizes=[looping.arrays(*looping.second)])


@pytest.mark.sampled(15)
@pytest.mark.parametrize("looping", PROGRAMS, ids=lambda each: each.function.__name__)
def test_right_for_other_numbers_of_turns(looping: Looping) -> None:
    program = written(looping)
    assert re.search(r"^ *for \w+ in .*(len|shape)", str(program), re.MULTILINE)
    for turns in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 31):
        for batch in (3, 1, 2, 5):
            arguments = looping.arrays(turns, batch)
            expected = on_the_tape(looping.function, arguments, tuple(range(len(arguments))))
            try:
                found = program(*arguments)
            except ValueError as error:
                assert turns < looping.least
                assert "this program was written for" in str(error)
            else:
                assert same_bits(found, expected), (turns, batch)


def test_the_loops_of_an_rnn_are_as_long_as_the_argument() -> None:
    text = str(written(PROGRAMS[0]))
    assert "    for t in range(len(xs)):\n        h = np.tanh(xs[t] @ U + h @ W + b)\n        hs.append(h)\n" in text
    assert "    if len(xs) < 3:\n        raise ValueError('this program was written for len(xs) >= 3')\n" in text
    assert "    for t in reversed(range(1, len(xs) - 1)):\n" in text


def even_and_odd(x, w):
    for t in range(len(x)):
        w = np.sin(w) + x[t] if t % 2 else np.cos(w) * x[t]
    return np.sum(w)


def every_second(x, w):
    for t in range(0, len(x), 2):
        w = np.sin(w) + x[t]
    return np.sum(w)


def the_middle(x, w):
    hs = []
    for row in x:
        w = np.sin(w) + row
        hs.append(w)
    return np.sum(hs[-1] * hs[len(x) // 2])


def triangle(x, w):
    for t in range(len(x)):
        for s in range(t):
            w = np.sin(w) + x[t] * x[s]
    return np.sum(w)


def both_axes(x, w):
    for t in range(len(x)):
        for i in range(x.shape[1]):
            w = np.sin(w) + x[t, i]
    return np.sum(w)


def fractions(x, w):
    for t in range(len(x)):
        w = w + x[t] * (t / len(x))
    return np.sum(np.sin(w))


def few_rows_differ(x, w):
    for t in range(len(x)):
        w = np.sin(w) + x[t] if len(x) > 5 else np.cos(w) * x[t]
    return np.sum(w)


def many_rows_differ(x, w):
    for t in range(len(x)):
        w = np.sin(w) + x[t] if len(x) < 16 else np.cos(w) * x[t]
    return np.sum(w)


def at_most_eight_turns(x, w):
    for _ in range(min(len(x), 8)):
        w = np.sin(w) * 2
    return np.sum(w * x[0])


def odd_lengths_differ(x, w):
    for row in x:
        w = np.sin(w) + row
    return np.sum(w) if len(x) % 2 else np.sum(w + w)


ALIKE = "its turns are not alike"
OTHER = r"for len\(x\) = \d+.*computes something else than \w+"


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("function", "second", "reason"),
    [
        (even_and_odd, (15, 7), ALIKE),
        (even_and_odd, (16, 7), "5, 8 in the examples is no product of sizes|its turns are not alike"),
        (every_second, (15, 7), "5, 8 in the examples is no product of sizes"),
        (every_second, (16, 7), "5, 8 in the examples is no product of sizes"),
        (the_middle, (15, 7), "differ in more than numbers|its turns are not alike"),
        (triangle, (15, 7), ALIKE),
        (both_axes, (15, 7), ALIKE),
        (fractions, (15, 7), ALIKE),
        (few_rows_differ, (15, 7), OTHER),
        (many_rows_differ, (15, 7), OTHER),
        (at_most_eight_turns, (15, 7), OTHER),
        (odd_lengths_differ, (12, 7), OTHER),
        (odd_lengths_differ, (15, 7), ALIKE),
    ],
)
def test_what_is_unclear_is_refused(function: Callable[..., Any], second: tuple[int, int], reason: str) -> None:
    with pytest.raises(mg.UnsupportedError, match=reason) as caught:
        mg.write_numpy(function, *drawn((10, 3), (3,)), sizes=[drawn(second, second[1:])])
    assert "line " in str(caught.value) or "for len" in str(caught.value)


def test_turns_with_other_answers_in_the_shorter_example_only_are_refused() -> None:
    def f(x: Any, w: Any) -> Any:
        answers = []
        for row in x:
            answers.append(bool(row[0] > 0))
            w = np.sin(w) + row
        return np.sum(w) + 0.0 * len(answers)

    short, long = np.ones((10, 3)), np.ones((15, 3))
    short[3:6] = -1.0
    with pytest.raises(mg.UnsupportedError, match=ALIKE):
        mg.write_numpy(f, short, np.ones(3), sizes=[(long, np.ones(3))])
    assert len(mg.write_numpy(f, np.abs(short), np.ones(3), sizes=[(long, np.ones(3))]).checks) == 1


def test_lengths_that_grow_together_are_refused() -> None:
    rnn = PROGRAMS[0]
    with pytest.raises(mg.UnsupportedError, match=r"10, 15 may be .*: give an example in which these differ"):
        mg.write_numpy(rnn.function, *rnn.arrays(10, 3), sizes=[rnn.arrays(15, 8)])
    program = mg.write_numpy(rnn.function, *rnn.arrays(10, 3), sizes=[rnn.arrays(15, 8), rnn.arrays(12, 3)])
    expected = on_the_tape(rnn.function, rnn.arrays(7, 5), tuple(range(6)))
    assert same_bits(program(*rnn.arrays(7, 5)), expected)


def test_a_size_that_is_always_one_more_than_another_is_checked() -> None:
    grid = next(each for each in PROGRAMS if each.function.__name__ == "steps_of_a_grid")
    program = written(grid)
    times, u, w = grid.arrays(8, 3)
    with pytest.raises(mg.ShapeError, match=r"u has shape \(8, 3\)|times has shape"):
        program(times[:-1], u, w)
    namespace: dict[str, Any] = {}
    exec(program.source, namespace)
    with pytest.raises(ValueError, match="shape"):
        namespace["step"](times[:-1], u, w)


def test_examples_whose_lists_have_other_lengths_are_refused() -> None:
    def f(rows: Any) -> Any:
        return sum(np.sum(np.sin(row)) for row in rows)

    with pytest.raises(mg.UnsupportedError, match="their lists or dicts have other arrays"):
        mg.write_numpy(f, [np.ones(3)] * 4, sizes=[([np.ones(3)] * 5,)])
