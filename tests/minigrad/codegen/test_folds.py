"""Loops of the user's function become loops of the program, to the bit; what is unclear stays written out."""

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import leaves, map_leaves
from minigrad.codegen import writing
from tests.minigrad.codegen import ordinary_programs
from tests.minigrad.codegen.apart import on_the_tape, outcomes_apart, same_bits


def rnn(xs, U, W, b, v):
    h = np.zeros((2, 4))
    for t in range(20):
        h = np.tanh(xs[t] @ U + h @ W + b)
    return np.sum(h @ v)


def rnn_of_floats(xs, U, W, b, v):
    h, loss = np.zeros((2, 4), np.float32), 0.0
    for t in range(20):
        h = np.tanh(xs[t] @ U + h @ W + b)
        loss = loss + np.sum(h @ v)
    return loss


def rnn_of_a_list(xs, U, W, b, v):
    h = b
    for x in xs:
        h = np.tanh(x @ U + h @ W + b)
    return np.sum(h @ v)


def pendulum(angle, speed, gravity):
    for _ in range(15):
        speed = speed - 0.1 * gravity * np.sin(angle)
        angle = angle + 0.1 * speed
    return angle * angle + speed


def lstm(xs, W, U, b):
    h, c = np.zeros((2, 3)), np.zeros((2, 3))
    for t in range(9):
        z = xs[t] @ W + h @ U + b
        gate = 1 / (1 + np.exp(-z[:, 0:3]))
        c = gate * c + (1 - gate) * np.tanh(z[:, 3:6])
        h = gate * np.tanh(c)
    return np.sum(h * h) + np.sum(c)


def power_iteration(A, x):
    for _ in range(8):
        y = A @ x
        x = y / np.sqrt(np.sum(y * y))
    return x @ (A @ x)


def first_turn_differs(x, w):
    for t in range(10):
        x = np.cos(x) if t == 0 else np.sin(w * x) + x
    return np.sum(x)


def last_turn_differs(x, w):
    for t in range(10):
        x = np.sin(w * x) + x if t < 9 else np.exp(x) * w
    return np.sum(x)


def skips_two_turns(x, w):
    hs = [x, np.sin(x)]
    for _ in range(12):
        hs.append(np.tanh(w * hs[-1]) + hs[-2])
    return np.sum(hs[-1])


def two_loops(x, w):
    for _ in range(6):
        x = np.sin(w * x) + x
    for _ in range(7):
        x = np.tanh(x - w) * x
    return np.sum(x)


def nested_loops(x, w):
    for _ in range(5):
        for _ in range(4):
            x = np.sin(w * x) + x
        x = x / np.sqrt(np.sum(x * x))
    return np.sum(x * w)


def swaps(a, b):
    for _ in range(9):
        a, b = b, np.sin(a) + b
    return np.sum(a * b)


def reads_the_old_value(x, w):
    for _ in range(8):
        new = np.sin(w * x)
        x, w = new, w + x * new
    return np.sum(x * w)


def every_turn_is_used(x, w):
    xs = []
    for _ in range(7):
        x = np.sin(w * x)
        xs.append(x)
    return np.sum(np.stack(xs[::-1]) * w) + np.sum(xs[2])


def writes_into_a_buffer(data, w):
    buffer = np.zeros_like(data)
    for t in range(6):
        buffer[t] = data[t] * data[5 - t]
        buffer[5 - t] += data[t]
    return np.sum(buffer * w)


def writes_to_the_old_value(data, w):
    for _ in range(6):
        old = np.copy(data)
        data = np.sin(data) * old
        old[0] = 1.0
        data = data + old
    return np.sum(data * w)


def writes_to_two_turns(data, w):
    total = np.zeros_like(data)
    for _ in range(7):
        data = np.copy(data)
        view = data[:2]
        doubled = data + data
        view[:] = total[1]
        total = total + np.sin(doubled)
        data = doubled if np.ndim(data) else data
    return np.sum(total * w)


def writes_to_what_the_first_turn_reads(data, w):
    def changed(buffer):
        buffer[0] = buffer[0] + 1.5
        return buffer[1]

    buffer = np.copy(data)
    part = buffer[:2]
    for _ in range(6):
        part = part * 2.0 + changed(buffer)
    return np.sum(part * w)


def keeps_a_value_of_the_first_turn(x, w):
    first: Any = None
    for _ in range(8):
        y = np.sin(w * x) + w
        first = y if first is None else first
        x = first * y
    return np.sum(x)


def constants_that_differ(x, w):
    for t in range(8):
        x = np.sin(w * x) * np.sum(np.full_like(x, t))
    return np.sum(x)


def numbers(x, w):
    old, total = x, w
    for _ in range(8):
        new = np.sin(total * x)
        old, x, total = x, new * old + x * new, total + x * new + old
    return x * total + old


def index_grows_by_two(x, w):
    for t in range(8):
        w = np.sin(w) + x[2 * t] - x[15 - t]
    return np.sum(w)


def carries_its_argument_and_picks_from_it(x, w):
    total, part = 0.0, x * w
    for t in range(6):
        total = total + np.sin(part[t]) * w[t]
    for _ in range(6):
        part = np.tanh(part) + w
    return total * np.sum(part)


def layers(params, x):
    for W, b in params:
        x = np.tanh(x @ W + b)
    return np.sum(x * x)


def checked(x):
    for _ in range(6):
        if np.sum(x) > 0:
            x = x - 0.1 * np.sin(x)
    return np.sum(x)


def float_factors(x, w):
    for t in range(6):
        x = x + np.sin(x * w) * (0.5 * t)
    return np.sum(x)


def three_turns(data, w):
    for _ in range(3):
        y = np.sin(data) + data
        data = y / np.sqrt(np.sum(y * y))
    return np.sum(data * w)


def two_turns(data, w):
    for _ in range(2):
        y = np.sin(data) + data
        data = y / np.sqrt(np.sum(y * y))
    return np.sum(data * w)


def picks_from_the_first_turn(data, w):
    first: Any = None
    for t in range(6):
        y = np.sin(data * w) + data
        first = y if first is None else first
        w = first[t] * y
    return np.sum(w)


def picks_from_a_turn(data, w):
    hs = []
    for _ in range(6):
        w = np.sin(data * w) + data
        hs.append(w)
    for t in range(6):
        w = np.tanh(w) * hs[2][t]
    return np.sum(w)


def a_number_of_each_turn(data, w):
    firsts = []
    for _ in range(6):
        w = np.sin(data * w) + data
        firsts.append(w[0])
        w = w * w[0]
    return np.sum(w * firsts[2]) + firsts[4]


def own_or_last_value(x, w):
    last: Any = None
    for _ in range(8):
        y = np.sin(w * x) + w
        x = (y if last is None else last) * y
        last = y
    return np.sum(x)


def numbers_before_a_write(data, w):
    buffer = np.copy(data)
    parts = [buffer[t] for t in range(6)]
    buffer[:] = data * 2.0
    for t in range(6):
        w = np.sin(w) * parts[t] + buffer[t]
    return np.sum(w)


def frozen_sums(x, w):
    for t in range(8):
        x = np.where(x > 0.5, np.sum(np.full_like(x, t)), np.sin(w * x))
    return np.sum(x * w)


def named_layers(params, x):
    for name in ("a", "b", "c", "d", "e"):
        x = np.tanh(x @ params[name]) + x
    return np.sum(x)


def layers_in_lists(params, x):
    for W in (params[0], *(each[0] for each in params[1:])):
        x = np.tanh(x @ W) + x
    return np.sum(x)


def layers_with_brackets_in_their_names(params, x):
    for i in range(8):
        x = np.tanh(x @ params[f"w[{i}]"]) + x
    return np.sum(x)


def picks_later_from_the_first_turn(x, w):
    first: Any = None
    for t in range(6):
        y = np.sin(w * x)
        parts = [y[i] for i in range(6)]
        first = parts if first is None else first
        w = w + y * sum(parts) * first[t]
    return np.sum(w)


def signs_of_zero(x, w):
    for t in range(8):
        w = np.sin(w) + x + np.copysign(1.0, w * w * (-1.0 * t))
    return np.sum(w)


def floats_of_integers(data, w):
    whole = np.floor(data * 10).astype(int)
    for t in range(1, 8):
        w = np.sin(w) * (whole * float(t + 1)) / 7
    return np.sum(w)


def fewer_axes(data, w):
    for _ in range(5):
        data = np.sin(np.sum(np.swapaxes(data, -1, -2), axis=0))
    return np.sum(data * w)


def starts_with_a_number(x, w):
    h: Any = 0.5
    for _ in range(6):
        h = np.sum(np.where(x > 0.7, h, w))
    return h * h


def starts_with_true(x, w):
    flag: Any = True
    for t in range(6):
        flag = np.logical_and(flag, x[t] > 0.0)
        w = np.sin(w) * np.where(flag, x[t], 1.0)
    return np.sum(w)


def lines_that_are_alike(x, w):
    x = np.sin(w * x) + x
    x = np.sin(w * x) + x
    x = np.sin(w * x) + x
    x = np.sin(w * x) + x
    return np.sum(x)


Shapes = list[Any]
RNN: Shapes = [(20, 2, 3), (3, 4), (4, 4), (4,), (4,)]
LOOPS: dict[Callable[..., Any], Shapes] = {
    rnn: RNN,
    rnn_of_a_list: [[(2, 3)] * 12, (3, 4), (4, 4), (4,), (4,)],
    rnn_of_floats: RNN,
    pendulum: [(), (), ()],
    lstm: [(9, 2, 3), (3, 6), (3, 6), (6,)],
    power_iteration: [(4, 4), (4,)],
    first_turn_differs: [(3,), (3,)],
    last_turn_differs: [(3,), (3,)],
    skips_two_turns: [(3,), (3,)],
    two_loops: [(3,), (3,)],
    nested_loops: [(3,), (3,)],
    swaps: [(3,), (3,)],
    reads_the_old_value: [(3,), (3,)],
    every_turn_is_used: [(3,), (3,)],
    writes_into_a_buffer: [(6,), (6,)],
    writes_to_the_old_value: [(3,), (3,)],
    writes_to_two_turns: [(3,), (3,)],
    writes_to_what_the_first_turn_reads: [(4,), (2,)],
    keeps_a_value_of_the_first_turn: [(3,), (3,)],
    constants_that_differ: [(3,), (3,)],
    numbers: [(), ()],
    index_grows_by_two: [(16,), (3,)],
    carries_its_argument_and_picks_from_it: [(6,), (6,)],
    layers: [[((3, 3), (3,))] * 8, (2, 3)],
    checked: [(4,)],
    float_factors: [(3,), (3,)],
    three_turns: [(3,), (3,)],
    two_turns: [(3,), (3,)],
    picks_from_the_first_turn: [(6,), (6,)],
    picks_from_a_turn: [(6,), (6,)],
    a_number_of_each_turn: [(6,), (6,)],
    own_or_last_value: [(3,), (3,)],
    numbers_before_a_write: [(6,), (3,)],
    frozen_sums: [(3,), (3,)],
    named_layers: [dict.fromkeys("abcde", (3, 3)), (2, 3)],
    layers_in_lists: [[(3, 3), *[[(3, 3)]] * 8], (2, 3)],
    layers_with_brackets_in_their_names: [{f"w[{i}]": (3, 3) for i in range(8)}, (2, 3)],
    picks_later_from_the_first_turn: [(6,), (6,)],
    signs_of_zero: [(3,), (3,)],
    floats_of_integers: [(3,), (3,)],
    fewer_axes: [(2, 2, 2, 2, 2, 2, 3), (3, 2)],
    starts_with_a_number: [(3,), (3,)],
    starts_with_true: [(6,), (3,)],
    lines_that_are_alike: [(3,), (3,)],
}
OF_DATA = (
    writes_to_what_the_first_turn_reads,
    writes_into_a_buffer,
    writes_to_the_old_value,
    writes_to_two_turns,
    three_turns,
    two_turns,
    picks_from_the_first_turn,
    picks_from_a_turn,
    a_number_of_each_turn,
    numbers_before_a_write,
    floats_of_integers,
    fewer_axes,
)  # no gradient of data
UNFOLDED = {
    float_factors,
    two_turns,
    a_number_of_each_turn,
    named_layers,
    layers_with_brackets_in_their_names,
    floats_of_integers,
    fewer_axes,
    lines_that_are_alike,
}


def example(f: Callable[..., Any], seed: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    dtype = np.float32 if f is rnn_of_floats else np.float64

    def drawn(shape: Any) -> Any:
        if isinstance(shape, dict):
            return {key: drawn(each) for key, each in shape.items()}
        if isinstance(shape, list) or (shape and isinstance(shape[0], tuple)):
            return type(shape)([drawn(item) for item in shape])
        return np.asarray(random.uniform(0.2, 1.2, size=shape), dtype)

    return tuple(map(drawn, LOOPS[f]))


def argnum(f: Callable[..., Any]) -> tuple[int, ...]:
    return (1,) if f in OF_DATA else tuple(range(len(LOOPS[f])))


def written(f: Callable[..., Any]) -> str:
    return str(mg.write_numpy(f, *example(f, 0), argnum=argnum(f)))


def lines(text: str) -> list[str]:
    """Return the lines of a program that are statements, without its first two."""
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")][2:]


@pytest.mark.thorough
def test_every_loop_gives_the_bits_of_the_tape_on_new_data(tmp_path: Any) -> None:
    programs = {f.__name__: mg.write_numpy(f, *example(f, 0), argnum=argnum(f)) for f in LOOPS}
    calls = {f.__name__: [example(f, seed) for seed in range(4)] for f in LOOPS}
    outcomes = outcomes_apart(tmp_path, programs, calls)
    for f in LOOPS:
        for arguments, found in zip(calls[f.__name__], outcomes[f.__name__]):
            expected = on_the_tape(f, arguments, argnum(f))
            assert not isinstance(expected, Exception), expected
            plain = map_leaves(lambda leaf: np.asarray(getattr(leaf, "_array", leaf)), list(expected))
            assert same_bits(list(found), plain), f.__name__


@pytest.mark.thorough
def test_loops_fold_and_what_is_unclear_does_not() -> None:
    for f in LOOPS:
        assert ("for " in re.sub(" *#.*", "", written(f))) == (f not in UNFOLDED), f.__name__


@pytest.mark.thorough
def test_an_rnn_of_twenty_steps_is_short() -> None:
    program = mg.write_numpy(rnn, *example(rnn, 0), argnum=(1, 2, 3, 4))
    text = str(program)
    assert len(lines(text)) <= 40
    assert "    for t in range(20):\n        h = np.tanh(xs[t] @ U + h @ W + b)\n        hs.append(h)\n" in text
    assert re.search(
        r"for t in reversed\(range\(.*\)\):\n.*\n        dz\d* = dh\d* \* \(1 - hs\[t\] \* hs\[t\]\)\n", text
    )
    assert len(lines(str(mg.write_numpy(rnn, *example(rnn, 0))))) <= 60


def test_forward_and_backward_fold() -> None:
    for f, count in ((rnn, 2), (pendulum, 2), (lstm, 2), (power_iteration, 2), (two_loops, 4), (layers, 2)):
        assert len(re.findall(r"^ *for ", written(f), re.MULTILINE)) == count, f.__name__


def test_the_checks_of_a_loop_are_still_listed() -> None:
    program = mg.write_numpy(checked, *example(checked, 0))
    assert len(program.checks) == 6
    with pytest.raises(ValueError, match="was True"):
        program(-example(checked, 0)[0])


def test_turns_that_branch_differently_are_checked_each_in_its_own_way() -> None:
    def f(x: Any, w: Any) -> Any:
        for t in range(8):
            high = x[t] > 0.7
            w = np.sin(w) * x[t] if high or w[0] > 100 else np.sin(w)
        return np.sum(w)

    x = np.array([0.1, 0.9, 0.9, 0.1, 0.1, 0.9, 0.1, 0.9])
    assert len(mg.write_numpy(f, x, np.ones(3)).checks) == 12


def test_turns_with_other_answers_are_checked_each_in_its_own_way() -> None:
    def f(x: Any, w: Any) -> Any:
        answers = []
        for t in range(8):
            answers.append(bool(x[t] > 0.7))
            w = np.sin(w) + x[t]
        return np.sum(w) * len(answers)

    x, w = np.array([0.1, 0.9, 0.9, 0.1, 0.1, 0.9, 0.1, 0.9]), np.ones(3)
    program = mg.write_numpy(f, x, w)
    assert len(program.checks) == 8
    assert same_bits([*program(x, w)], on_the_tape(f, (x, w), (0, 1)))
    with pytest.raises(ValueError, match="was True"):
        program(np.sort(x), w)


def test_a_value_with_a_name_keeps_it_before_a_loop() -> None:
    def f(x: Any, w: Any) -> Any:
        start = np.cos(x)
        h = start
        for _ in range(8):
            h = np.tanh(h + w)
        return np.sum(h)

    text = str(mg.write_numpy(f, np.ones(3), np.ones(3)))
    assert "    start = np.cos(x)\n    h = start\n    hs = []\n    for " in re.sub(" *#.*\n", "", text)


@pytest.mark.thorough
def test_a_turn_may_be_of_any_length() -> None:
    source = ["def f(x):\n", "    for _ in range(6):\n", *["        x = np.sin(x)\n"] * 301, "    return np.sum(x)\n"]
    linecache.cache["<a long turn>"] = sum(map(len, source)), None, source, "<a long turn>"
    namespace: dict[str, Any] = {"np": np}
    exec(compile("".join(source), "<a long turn>", "exec"), namespace)
    text = str(mg.write_numpy(namespace["f"], np.ones(1)))
    assert text.count("    for ") == 2
    assert len(lines(text)) < 2000  # 3,600 if the turns were written out


def test_a_loop_of_fixed_length_folds_with_free_sizes_too() -> None:
    second = [np.ones((5, 5)), np.ones(5)]
    assert "for _ in range(8):" in str(mg.write_numpy(power_iteration, *example(power_iteration, 0), sizes=[second]))


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", ordinary_programs.PROGRAMS)
def test_a_folded_program_has_the_bits_of_the_unfolded_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = ordinary_programs.PROGRAMS[name]
    programs = []
    for _ in range(2):
        try:
            programs.append(mg.write_numpy(ordinary.function, *ordinary.examples(0)))
        except mg.UnsupportedError:
            return
        monkeypatch.setattr(writing, "folded", lambda statements, results, paths: (statements, results))
    folded, plain = programs
    for seed in range(3):
        try:
            expected = leaves(list(plain(*ordinary.examples(seed))))
        except ValueError:
            with pytest.raises(ValueError):
                folded(*ordinary.examples(seed))
        else:
            assert same_bits(leaves(list(folded(*ordinary.examples(seed)))), expected), seed
