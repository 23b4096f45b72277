"""Sums of the backward pass are written as a person writes them, and not a bit changes, not even the sign of a zero."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.codegen import WrittenProgram
from minigrad.codegen.paper import Paper, recorded
from minigrad.codegen.program import Arguments, parameter_names
from minigrad.codegen.record import Recording, Value, replaced
from minigrad.codegen.simplify import simplified
from tests.minigrad.codegen import ordinary_programs
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("weights", list(product(WEIGHTS, repeat=2))[::2])
def test_gradients_of_parts_have_the_bits_of_the_sums_of_arrays(weights: Any) -> None:
    """Parts that are apart, that overlap, and that are equal; a sum of arrays has 0 for -0, except where all add -0."""
    x = np.array([0.5, -1.0, 2.0, 3.0])
    for parts in [*product(range(4), repeat=2), *list(product(range(4), repeat=3))[::7], (0, 0, 0), (0, 0, 0, 1)]:

        def f(x: Any, parts: Any = parts) -> Any:
            return sum(np.sum(w * x[INDICES[i]]) for w, i in zip((*weights, *weights), parts))

        assert_same_bytes(f, x)


def test_a_part_that_is_the_gradient_of_two_arguments_stays() -> None:
    """The sum ``a + b`` hands the same array to both."""
    assert_same_bytes(lambda a, b: np.sum((a + b)[:2] ** 2) + np.sum(a[2:] ** 3), np.arange(4.0), np.ones(4))


def test_parts_are_added_in_the_order_of_the_tape() -> None:
    """The part of ``c`` is computed first and added last, and the sums round."""
    k = np.array([1.0, 2.0, 3.0, 4.0])

    def f(a: Any) -> Any:
        c = a + k
        return np.sum(a[:2] * 1.0) + np.sum(a[2:]) + np.sum(a[:2] * 1e16) + np.sum(c[:2] * -1e16)

    assert_same_bytes(f, k)


def test_parts_that_are_apart_add_to_one_array() -> None:
    program = assert_same_bytes(lambda x: np.sum(x[1:3]) + np.sum(x[:2] ** 2) + np.sum(x[2:] ** 3), np.arange(4.0))
    assert str(program).count("np.zeros") == 1
    assert str(program).count("] += ") == 3


def run(statements: Any, inputs: Any, results: Any) -> Any:
    """Run statements, and return the values of the results."""
    values: dict[Any, Any] = {value: value.data for value in inputs}
    for statement in statements:
        arguments = [values.get(arg, arg) if type(arg) is Value else arg for arg in statement.args]
        answer = statement.call(*arguments, **statement.keywords)
        values.update(dict.fromkeys(statement.outputs, answer))
    return [values[value].tolist() for value in results]


@pytest.mark.parametrize("kind", range(8))
def test_what_no_sweep_does_is_right_too(kind: int) -> None:
    recording = Recording(Paper)
    x = recording.input(np.array([1.0, 2.0, 4.0]), "x")
    recording.backward = True
    parts = []
    for i in range(3):
        parts.append(np.zeros_like(x))
        parts[i][i] = x[i]
    a, b, c = parts
    if kind == 0:  # a sum is read before the last part is added
        total = a + b
        early = total * 1.5
        total += c
    elif kind == 1:  # a part is read before another one is added
        early = a * 1.5
        a += b
        total = a + 0.5
    elif kind == 2:  # zeros are written into twice
        a[:2] = x[1:]
        a += c
        early, total = x, a
    elif kind == 3:  # what is negated changes
        double = x * 2.0
        early = -double
        double += x
        total = a + early
    elif kind == 4:  # a negation changes
        early = -(x * 2.0)
        early += x
        total = a + early
    elif kind == 5:  # what two signs give changes
        total = x * 2.0
        negated = -total
        early = -negated
        early += x
    elif kind == 6:  # a sum changes with its view that lacks the axis
        total = np.sum(np.reshape(x, (1, 3)) * 3.0, axis=0, keepdims=True)
        early = np.reshape(total, (3,))
        early += x
    else:  # a view of the sum is written into
        early = a + b
        view = early[1:]
        view += x[1:] * 3.0
        total = early * 1.0
    results = early._value, total._value
    expected = run(recording.statements, recording.inputs, results)
    statements, tidy = simplified(recording.statements, results)
    assert run(statements, recording.inputs, tidy) == expected


def test_the_recording_stays_as_it_is() -> None:
    """Passes return new statements, so that a recording can be written in several ways."""

    def f(x: Any, W: Any, c: Any) -> Any:
        buffer = np.zeros_like(c)
        buffer[:2] += -c[1:] * 1.0
        h = np.tanh(np.tanh(np.stack([buffer, c]) @ W + x) @ W + x)
        gate = np.sin(h)
        return np.sum(gate * c + (1 - gate) * h) + np.sum(x[1:]) - np.sum(x[:2] * -buffer[1:])

    arguments = Arguments(parameter_names(f, 3), [np.arange(3.0), np.ones((3, 3)), np.ones(3)])
    run = recorded(f, arguments, [0, 1], Recording(Paper))

    def state() -> str:
        values = {v: i for i, v in enumerate(dict.fromkeys(v for s in run.statements for v in (*s.values, *s.outputs)))}
        parts = [(s.call, s.args, s.keywords, s.target, s.outputs, s.name) for s in run.statements]
        kept = [(v.memory.writes, np.asarray(v.data).tobytes(), values.get(v.cotangent_of)) for v in values]  # type: ignore[arg-type]
        return str(
            (replaced(lambda leaf: values[leaf] if type(leaf) is Value else leaf, parts), kept, len(run.statements))
        )

    before = state()
    counts = {len(simplified(run.statements, run.results)[0]) for _ in range(2)}
    assert state() == before
    assert len(counts) == 1


def test_a_bias_is_summed_without_an_axis_that_goes_again() -> None:
    """Also where the sum is written to later, by the contribution of another use."""

    def f(x: Any, b: Any) -> Any:
        return np.sum(np.tanh(x + b)) + np.sum(np.sin(2 * x + b))

    text = str(assert_same_bytes(f, np.arange(6.0).reshape(2, 3), np.ones(3)))
    assert "keepdims" not in text
    assert ".copy()" not in text


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


@pytest.mark.parametrize("kind", range(6))
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
        elif kind == 4:  # NumPy takes this, and refuses +=
            buffer[0:2] = part + c[None, :2]
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
        return np.sum(gate * (-y + x) * y)

    program = assert_same_bytes(f, np.array([0.5, -0.0, 2.0]), np.array([0.5, 1.0, -0.0]))
    text = "\n".join(line for line in str(program).splitlines() if not line.lstrip().startswith("# back through"))
    forward, _, backward = text.partition("# backward")
    assert any("-y + x" in line and "#" not in line for line in forward.splitlines())  # the user's own
    assert "-" not in backward.replace(" - ", " ")


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.sum((x - y) / (2 + y * y)) + np.sum((x - y) * y),
        lambda x, y: np.sum((1 / (y - x)) ** 2),  # the gradient of y is read, and negated for x
        lambda x, y: np.sum(np.exp(-x) * y) + np.sum((y - np.exp(-x)) ** 2),
        lambda x, y: -(2 * (-x[0])) + np.sum(y),  # a product of constants
    ],
)
def test_no_sign_is_lost(f: Callable[..., Any]) -> None:
    assert_same_bytes(f, np.array([0.5, -0.0, 2.0]), np.array([0.7, 1.0, -0.0]))


def test_two_signs_are_none() -> None:
    program = assert_same_bytes(lambda angle, x: np.sum((1 - np.cos(angle)) * x), 0.3, np.array([0.5, -0.0, 2.0]))
    assert "dangle = x.sum() * np.sin(angle)" in str(program)


def test_a_gradient_of_equal_numbers_is_made_at_once() -> None:
    for f, text in (
        (lambda x: np.sum(x), "dx = np.ones((2, 3))"),
        (lambda x: np.sum(x) * 2.5, "dx = np.full((2, 3), 2.5)"),
        (lambda x: np.sum(x[1]) * 2 + np.sum(np.sin(x[0])), "dx[1] = 2.0"),
    ):
        program = assert_same_bytes(f, np.arange(6.0).reshape(2, 3))
        assert text in str(program)
        assert "copy" not in str(program)
    single = mg.write_numpy(lambda x: np.sum(x), np.ones(3, np.float32))
    assert "dx = np.ones(3, np.float32)" in str(single)
    assert single(np.ones(3, np.float32))[1].dtype == np.float32


def test_a_number_is_written_as_one_only_where_numpy_computes_the_same_with_it() -> None:
    counts = np.array([3, 1, 2])
    program = assert_same_bytes(lambda x: np.sum(x * counts) + np.sum(x[:2]) + x[0] * 3.0, np.arange(3.0))
    assert "np.float64" not in str(program)

    def f(x: Any, c: Any) -> Any:
        buffer = np.copy(c)
        buffer += np.float64(0.1)  # computes with 0.1 in float64
        return np.sum(x * buffer * np.float64(0.7))

    x, c = np.random.default_rng(0).normal(size=(2, 50)).astype(np.float32)
    program = mg.write_numpy(f, x, c, argnum=0)
    for found, right in zip(program(x, c), on_the_tape(f, (x, c), (0,)), strict=True):
        assert np.asarray(found).tobytes() == right.tobytes()


def test_zeros_of_both_signs_are_not_one_number() -> None:
    signs = np.array([1.0, -1.0, 1.0])
    assert_same_bytes(lambda x: np.sum(np.copysign(x, x * (np.zeros_like(x) * signs))), np.array([0.5, 1.0, 2.0]))


def test_gradients_of_rows_are_added_to_a_view_without_a_name() -> None:
    rows = np.array([2, 0, 2])
    program = assert_same_bytes(lambda x: np.sum(np.sin(x[rows]) * x[rows]), np.arange(6.0).reshape(3, 2))
    assert "np.add.at(dx.reshape(-1), " in str(program)


def test_a_view_that_is_added_to_by_an_operator_has_a_name() -> None:
    def rule(g: Any, x: Any) -> Any:
        found = np.zeros_like(x)
        flat = found.reshape(-1)
        flat += g.reshape(-1) * 2.0
        return found

    own = mg.primitive(lambda x: x * 2.0, name="own_double").vjp(x=rule)
    assert_same_bytes(lambda x: np.sum(np.sin(own(x))), np.arange(6.0).reshape(2, 3))


def test_what_is_added_to_a_negation_stays() -> None:
    def f(v: Any, y: Any, k: Any) -> Any:
        t = np.exp(-v)
        return np.sum(t * k) + np.sum((y - t) ** 2)

    assert_same_bytes(f, np.array([0.5, 2.0]), np.array([0.7, 1.0]), np.array([3.0, -1.0]))


def test_signs_of_complex_products_stay() -> None:
    """A complex product of -a has other zeros than the negated product of a."""

    def f(x: Any) -> Any:
        return np.sum(np.real(1 / (1 + np.exp(-x))))

    assert_same_bytes(f, np.array([0.5 + 0j, 0.0 - 0j, complex(1.0, -0.0)]))


def test_a_sum_keeps_the_layout_in_which_it_was_added() -> None:
    """The order of its elements in memory is that in which they are summed for ``scale``."""

    def f(scale: Any, A: Any, C: Any) -> Any:
        B = scale * A.T
        return np.sum(B * C + np.sin(B))

    random = np.random.default_rng(0)
    assert_same_bytes(f, np.float64(1.5), random.normal(size=(30, 40)), random.normal(size=(40, 30)))


def test_a_sum_is_not_put_off_until_what_it_reads_has_changed() -> None:
    def rule(g: Any, x: Any) -> Any:
        buffer = np.zeros_like(x)
        buffer[:1] = g[:1] * 3.0
        found = buffer * 2.0
        buffer[1:] = g[1:]
        found += buffer
        return found

    own = mg.primitive(lambda x: x * 1.0, name="own_sum").vjp(x=rule)
    assert_same_bytes(lambda x: np.sum(np.sin(own(x))), np.array([0.5, -1.0, 2.0]))


def _range_of_a_buffer(x: Any) -> Any:
    buffer, part = np.zeros_like(x.numpy()), slice(0, 2)
    np.add.at(buffer, part, 1.0)  # type: ignore[arg-type]
    return np.sum(x * buffer)


def _out_of_functions(x: Any) -> Any:
    buffer = np.ones_like(x.numpy())
    np.maximum(buffer, 2.0, out=buffer)
    np.sin(buffer, out=buffer)
    return np.sum(x * buffer)


def _filled(x: Any) -> Any:
    buffer = np.zeros_like(x.numpy())
    buffer.fill(3.0)
    return np.sum(x * buffer) * (2.0 in x.numpy())


def _at_a_tensor(x: Any) -> Any:
    return np.sum(x * x.numpy()[mg.Tensor([1, 0, 2])])


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (_range_of_a_buffer, "np.add.at(buffer, slice(0, 2, None), 1.0)"),
        (_out_of_functions, "np.maximum(buffer, 2.0, out=buffer)"),
        (_filled, "buffer[...] = 3.0"),
        (_at_a_tensor, "x[np.array([1, 0, 2])]"),
        (
            lambda x: np.sum(np.sin(x * np.ones_like(np.stack([x.numpy()] * 2)))),
            "np.ones((2, 3))",
        ),  # no number in its place
        (lambda x: np.reshape(np.sum(x * x, keepdims=True), ()), "keepdims=True"),
        (lambda x: np.sum(x * np.max(x.numpy()) + np.max(x.numpy())), "x * top + top"),
        (lambda x: np.sum(x) * np.sum(x), "total * total"),  # the same operation on the same value runs once
    ],
)
def test_writes_and_parts_are_written_as_they_were_called(function: Any, line: str) -> None:
    program = mg.write_numpy(function, np.array([0.5, -1.0, 2.0]))
    assert line in program.source
    for x in (np.array([0.5, -1.0, 2.0]), np.array([4.0, -1.0, 2.0])):
        found, expected = program(x), on_the_tape(function, (x,), (0,))
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("frequency response", "(u * u + v * v + origin)"),  # a sum inside of a rule is no addition in place
        ("causal language model", "np.reshape(dz2.reshape(-1, 12) @ up.T, (3, 6, 6))"),  # of an array that was added to
    ],
)
def test_a_part_of_a_line_gets_no_line_of_its_own(name: str, part: str) -> None:
    program = ordinary_programs.PROGRAMS[name]
    assert part in mg.write_numpy(program.function, *program.examples(0)).source


def test_a_product_in_place_is_seen_through_another_name_of_the_array() -> None:
    def turned(x: Any, a: Any) -> Any:
        b = np.copy(a)
        other = b
        b @= np.array([[0.0, 1.0], [1.0, 1.0]])
        return np.sum(x * other)

    program = mg.write_numpy(turned, np.ones((2, 2)), np.arange(4.0).reshape(2, 2), argnum=0)
    assert "b @= " in program.source
    assert program(np.ones((2, 2)), np.eye(2))[1].tolist() == [[0.0, 1.0], [1.0, 1.0]]
