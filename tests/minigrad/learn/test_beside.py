"""Two programs beside each other: which values belong to a line, which lines meet, and how the rows are set."""

from pathlib import Path
from typing import Any

import numpy as np

from minigrad.learn.beside import ProgramLine, beside, meet, values_by_line

PROGRAM = """import numpy as np

def outer(x):
    y = 2 * x
    y[0] = 7.0
    z = inner(
        y,
    )
    return z, x + 1.0, "text", 3

def inner(y):
    return y * y
"""


def test_a_line_computes_what_it_assigns_writes_into_and_returns(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(PROGRAM, str(path), "exec"), names)
    found = values_by_line(lambda: names["outer"](np.array([1.0, 2.0])), str(path))
    assert {line: [list(value) for value in values] for line, values in found.items() if values} == {
        4: [[2, 4]],
        5: [[7, 4]],
        6: [[49, 16]],
        9: [[49, 16], [2, 3]],
        12: [[49, 16]],
    }


def line(text: str, *values: float) -> ProgramLine:
    return ProgramLine(text, [np.array(value) for value in values])


def test_lines_with_the_same_numbers_stand_in_a_row_and_the_others_between_them() -> None:
    left = [line("a = 1.0", 1), line("b = 5.0", 5), line("return a + b, a - b", 6, -4)]
    right = [line("p = 1.0", 1), line("q = 9.0", 9), line("r = -4.0", -4), line("s = 6.0", 6 + 1e-12)]
    assert beside(left, right, 80).splitlines() == [
        "a = 1.0             <=> p = 1.0",
        "b = 5.0              |  q = 9.0",
        "return a + b, a - b <=> r = -4.0",
        "                    <=> s = 6.0",
    ]


def test_neither_program_changes_its_order() -> None:
    left, right = [line("a", 1), line("b", 2), line("c", 3)], [line("C", 3), line("A", 1), line("B", 2)]
    assert beside(left, right, 80).splitlines() == ["   |  C", "a <=> A", "b <=> B", "c"]


def test_a_line_for_which_there_is_no_room_has_a_row_of_its_own() -> None:
    left = [line("a = 1.0", 1), line("b = " + "1.0 + " * 12 + "1.0", 13)]
    right = [line("p = 1.0", 1), line("q = 13.0", 13)]
    assert beside(left, right, 40).splitlines() == [
        f"{'a = 1.0':24} <=> p = 1.0",
        left[1].text,
        f"{'':24} <=> q = 13.0",
    ]
    assert len(beside(left, right, 120).splitlines()) == 2


def test_a_line_that_computes_other_numbers_too_is_another_one() -> None:
    """The turns of two loops may have one number in common."""
    left, right = (
        [line("h = f(h)", 0, 1, 2), line("g = 1.0", 1)],
        [line("k = k + 3", 0, 3, 6), line("h = f(h)", 0, 1, 2)],
    )
    assert [[meet(one, other) for other in right] for one in left] == [[False, True], [False, True]]
