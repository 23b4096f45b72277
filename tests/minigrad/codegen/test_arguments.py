"""A call with another shape or dtype is refused before anything is computed, for each array of each argument."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad._tree import map_leaves
from minigrad.codegen import arguments, writing
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
    assert dropped in arguments.CHECK
    monkeypatch.setattr(writing, "CHECK", arguments.CHECK.replace(dropped, "False"))
    assert any(text.startswith("the file") for text in accepted(mg.write_numpy(network, *data(16))))


@pytest.mark.parametrize("part", ["opening", "table"])
def test_an_argument_that_is_not_checked_is_noticed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = getattr(arguments.Arguments, part)

    def shorter(self: Any) -> list[str]:
        lines = method(self)
        return [line.replace(", b2)", ")") for line in lines if not line.startswith('    "b2"')]

    monkeypatch.setattr(arguments.Arguments, part, shorter)
    assert any(text.startswith("the file") for text in accepted(mg.write_numpy(network, *data(16))))
