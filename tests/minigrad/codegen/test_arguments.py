"""A call with another shape or dtype is refused before anything is computed, for each array of each argument."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import leaves, map_leaves
from minigrad.codegen import program as program_module
from tests.minigrad.codegen import ordinary_programs
from tests.minigrad.codegen.test_sizes import PARAMETERS, data
from tests.minigrad.codegen.test_slide import network

PROGRAMS = {
    name: program
    for name, program in ordinary_programs.PROGRAMS.items()
    if name not in ("message passing", "label smoothing")
}
OTHER = {
    "f8": "f4",
    "f4": "f8",
    "f2": "f4",
    "i8": "i4",
    "i4": "i8",
    "b1": "i8",
    "c16": "c8",
    "c8": "c16",
    "u1": "i8",
    "i1": "i8",
}


def changed(array: Any) -> Iterator[tuple[Any, type[Exception], type[Exception]]]:
    """Yield an array with one thing changed, and the errors that the program and the saved file raise for it."""
    shape = np.shape(array)
    for i in range(len(shape)):
        yield np.resize(array, (*shape[:i], shape[i] + 1, *shape[i + 1 :])), mg.ShapeError, ValueError
    yield np.asarray(array)[None], mg.ShapeError, ValueError
    if shape and shape[0]:
        yield np.asarray(array)[0], mg.ShapeError, ValueError
    yield np.asarray(array, OTHER[array.dtype.str[1:]]), mg.DTypeError, TypeError


def accepted(program: Any) -> list[str]:
    """Return the changes that a program or its saved file does not refuse at once."""
    examples, names = program._arguments.examples, [leaf.name for leaf in program._arguments.leaves]
    saved: dict[str, Any] = {}
    exec(program.source, saved)
    found = []

    def refuses(call: Callable[..., Any], args: Any, kind: type[Exception]) -> bool:
        try:
            call(*args)
        except Exception as error:
            return isinstance(error, kind) and "program was written for" in str(error)
        return False

    for number, (name, leaf) in enumerate(zip(names, program._arguments.leaves)):
        for array, kind, plain_kind in changed(leaf.array):
            places = iter(range(len(names)))

            def put(old: Any, places: Any = places, number: int = number, array: Any = array) -> Any:
                return array if isinstance(old, (np.ndarray, np.generic)) and next(places) == number else old

            args = [map_leaves(put, example) for example in examples]
            for where, call, error in (("program", program, kind), ("file", saved["step"], plain_kind)):
                if not refuses(call, args, error):
                    found.append(f"the {where} takes {name} as {array.dtype}{array.shape}")
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if i % 6 == 0 else pytest.mark.thorough) for i, name in enumerate(PROGRAMS)],
)
def test_another_shape_or_dtype_of_any_argument_is_refused(name: str) -> None:
    program = PROGRAMS[name]
    assert not accepted(mg.write_numpy(program.function, *program.examples(0)))


def test_with_free_sizes_the_other_axes_and_dtypes_are_refused() -> None:
    program = mg.write_numpy(network, *data(16, 2), argnum=PARAMETERS, sizes=[data(48, 2)])
    found = accepted(program)
    assert not found  # a free axis of one argument alone does not fit the others


@pytest.mark.parametrize("dropped", ["array.shape != shape", "array.dtype != dtype"])
def test_a_check_that_is_dropped_is_noticed(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dropped in program_module.CHECK
    monkeypatch.setattr(program_module, "CHECK", program_module.CHECK.replace(dropped, "False"))
    assert any(text.startswith("the file") for text in accepted(mg.write_numpy(network, *data(16))))


@pytest.mark.parametrize("part", ["_opening", "table"])
def test_an_argument_that_is_not_checked_is_noticed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = getattr(program_module.Arguments, part)

    def shorter(self: Any) -> list[str]:
        lines = method(self)
        return [line.replace(", b2)", ")") for line in lines if not line.startswith('    "b2"')]

    monkeypatch.setattr(program_module.Arguments, part, shorter)
    assert any(text.startswith("the file") for text in accepted(mg.write_numpy(network, *data(16))))


class Subclass(np.ndarray):
    pass


class Converted:
    """A value of another library, which NumPy converts to an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([0.5, 2.0], dtype)


def squares(tree: Any) -> Any:
    return sum((np.sum(leaf * leaf) for leaf in leaves(tree) if not isinstance(leaf, (int, str))), 0.0)


EXAMPLES: dict[str, Any] = {
    "float": 2.0,
    "float64": np.float64(2.0),
    "float32": np.float32(2.0),
    "0-d": np.array(2.0),
    "tensor": mg.Tensor([0.5, 2.0]),
    "tracked": mg.Tensor([0.5, 2.0], requires_grad=True),
    "subclass": np.array([0.5, 2.0]).view(Subclass),
    "memory": memoryview(np.ones(2).data),
    "another library": Converted(),
    "list": [1.0, 2.0],
    "tuple": (1.0, np.ones(2), mg.Tensor(3.0)),
    "dict": {"value": 1.0, "key": 2.0, "as_array": 3.0},
    "nested": {"a": [1.0, {"b": np.float32(3.0)}], "n": 3, "s": "x", "none": None, "t": True},
    "large dict": {f"p.{i}": float(i) if i % 2 else np.full(2, float(i)) for i in range(14)},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_program_takes_what_its_examples_were(name: str) -> None:
    example = EXAMPLES[name]
    program = mg.write_numpy(squares, example)
    saved: dict[str, Any] = {}
    exec(program.source, saved)
    arrays = [np.asarray(leaf.array, float) for leaf in program._arguments.leaves]
    for call in (program, saved["step"]):
        value, gradient = call(example)
        assert value == sum(np.sum(array * array) for array in arrays)
        found = leaves(gradient)
        assert [np.shape(g) for g in found] == [np.shape(array) for array in arrays]
        assert all(np.array_equal(g, 2 * array) for g, array in zip(found, arrays, strict=True))


def test_another_type_of_the_same_name_is_refused() -> None:
    other = type("Converted", (), {"__array__": Converted.__array__})
    program = mg.write_numpy(squares, Converted())
    with pytest.raises(mg.DTypeError, match="is a Converted: pass a NumPy array"):
        program(other())


def test_a_complex_number_is_taken_as_it_was_given() -> None:
    program = mg.write_numpy(lambda z: np.abs(z) ** 2, 3 + 4j)
    saved: dict[str, Any] = {}
    exec(program.source, saved)
    for call in (program, saved["step"]):
        value, gradient = call(3 + 4j)
        assert abs(value - 25) < 1e-12
        assert abs(abs(gradient) - 10) < 1e-12


def test_a_number_in_an_argument_of_another_kind_is_refused() -> None:
    saved: dict[str, Any] = {}
    exec(mg.write_numpy(squares, {"a": 2.0, "b": np.ones(2)}).source, saved)
    wrong = [({"a": "2", "b": np.ones(2)}, "a is a str"), ({"a": 2, "b": np.ones(2)}, "a is a int")]
    for argument, message in [*wrong, ({"a": 2.0, "b": [1.0, 1.0]}, "b is a list")]:
        with pytest.raises(TypeError, match=message):
            saved["step"](argument)
    with pytest.raises(ValueError, match=r"b has shape \(3,\)"):
        saved["step"]({"a": 2.0, "b": np.ones(3)})
