"""Programs for all sizes: right at sizes they were not written at, each axis on its own, or refused."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests.minigrad.codegen.apart import on_the_tape, same_bits
from tests.minigrad.codegen.test_slide import network


def data(n: int, outputs: int = 1, inputs: int = 3, hidden: int = 8) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(n + 10 * outputs)
    shapes = [(n, inputs), (n, outputs), (inputs, hidden), (hidden,), (hidden, outputs), (outputs,)]
    return tuple(random.normal(size=shape) for shape in shapes)


PARAMETERS = (2, 3, 4, 5)


@pytest.mark.parametrize(
    ("sizes", "others"),
    [
        ([data(48)], [data(1), data(5), data(300)]),
        ([data(48, 2)], [data(1, 1), data(5, 3), data(48, 1), data(16, 7), data(300, 2)]),
        ([data(48, 2, 5)], [data(5, 2, 3), data(5, 2, 11), data(7, 1, 1)]),
        ([data(48, 2, 5, 9), data(20, 5, 4, 2)], [data(16, 1, 3, 20), data(3, 8, 3, 8), data(2, 2, 2, 2)]),
    ],
)
def test_right_at_sizes_it_was_not_written_at(sizes: list[Any], others: list[Any]) -> None:
    program = mg.write_numpy(network, *data(16), argnum=PARAMETERS, sizes=sizes)
    for arguments in (data(16), *sizes, *others):
        assert same_bits(program(*arguments), on_the_tape(network, arguments, PARAMETERS))


def test_an_axis_that_never_differed_is_checked() -> None:
    program = mg.write_numpy(network, *data(16), argnum=PARAMETERS, sizes=[data(48)])
    with pytest.raises(mg.ShapeError, match=r"y has shape \(16, 2\): this program was written for \('len\(x\)', 1\)"):
        program(*data(16, 2))


def test_sizes_that_agree_in_all_examples_must_agree() -> None:
    program = mg.write_numpy(network, *data(16), argnum=PARAMETERS, sizes=[data(48)])
    x, _, *rest = data(16)
    with pytest.raises(mg.ShapeError, match="y has shape"):
        program(x, data(17)[1], *rest)


def test_two_sizes_that_the_examples_do_not_tell_apart_are_refused() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.mean(x) + np.sum(y)

    with pytest.raises(mg.UnsupportedError, match="give an example in which these differ"):
        mg.write_numpy(f, np.ones(3), np.ones(9), sizes=[(np.ones(5), np.ones(25))])
    program = mg.write_numpy(f, np.ones(3), np.ones(9), sizes=[(np.ones(5), np.ones(25)), (np.ones(4), np.ones(5))])
    assert same_bits(program(np.ones(6), np.ones(7)), on_the_tape(f, (np.ones(6), np.ones(7)), (0, 1)))


def test_the_gradient_of_an_argument_that_is_not_read_has_its_size() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.tanh(x))

    def arguments(n: int) -> tuple[Any, Any]:
        return np.linspace(0, 1, n), np.ones((n, 2))

    program = mg.write_numpy(f, *arguments(3), sizes=[arguments(5)])
    for n in (3, 5, 8):
        assert same_bits(program(*arguments(n)), on_the_tape(f, arguments(n), (0, 1)))


def test_other_dtypes_are_no_other_sizes() -> None:
    with pytest.raises(mg.UnsupportedError, match="differ in sizes only"):
        mg.write_numpy(np.sum, np.ones(3), sizes=[(np.ones(4, np.float32),)])


def test_an_array_of_the_function_may_grow_only_as_a_range_or_with_one_number() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.tanh(x * np.arange(len(x))) - np.full(len(x), 0.5))

    def g(x: Any) -> Any:
        return np.sum(x * np.cos(np.arange(len(x))))

    program = mg.write_numpy(f, np.ones(3), sizes=[(np.ones(5),)])
    assert "np.arange(len(x))" in program.source
    assert same_bits(program(np.ones(7)), on_the_tape(f, (np.ones(7),), (0,)))
    with pytest.raises(mg.UnsupportedError, match="an array that is no argument differs between the examples"):
        mg.write_numpy(g, np.ones(3), sizes=[(np.ones(5),)])


def test_examples_with_other_axes_are_no_other_sizes() -> None:
    with pytest.raises(mg.UnsupportedError, match="x has other dtypes or axes"):
        mg.write_numpy(lambda x: np.sum(x), np.ones(3), sizes=[(np.ones((3, 2)),)])
