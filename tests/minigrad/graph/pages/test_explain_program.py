"""The stretches of the program that a page shows, and where the operations are in them."""

from types import SimpleNamespace
from typing import Any

from minigrad._source import SourceLine
from minigrad.graph.pages.explain import LONGEST, MOST_LINES, program

TEXT = """import numpy as np


def helper(x):
    return np.tanh(x)


w = leaf(0.5)
x = leaf(2.0)
y = w * x
# far
# away
# from
# it
# are
# many
# lines
# more
loss = helper(y)
""".splitlines(keepends=True)


def graph(texts: dict[str, list[str]], places: list[tuple[str, int]]) -> Any:
    nodes = [SimpleNamespace(source=SourceLine(file, line, "f", "")) for file, line in places]
    everything = [*nodes, SimpleNamespace(source=None)]
    return SimpleNamespace(nodes=everything, programs=texts, edges=[], ends=[], operations=lambda: [])


def parts(graph: Any) -> tuple[list[Any], list[list[int] | None]]:
    return program(graph)


def text_at(files: list[Any], span: list[int]) -> str:
    number, line, column, end_line, end_column = span
    lines = files[number]["lines"][line - files[number]["first"] : end_line - files[number]["first"] + 1]
    return str(lines[0][column:end_column]) if len(lines) == 1 else "\n".join(lines)


def test_functions_are_whole_and_other_lines_have_those_around() -> None:
    files, spans = parts(graph({"/home/lesson.py": TEXT}, [("/home/lesson.py", 5), ("/home/lesson.py", 19)]))
    assert {file["name"] for file in files} == {"lesson.py"}  # no path of a machine
    shown = ["\n".join(file["lines"]) for file in files]
    assert shown[0] == "def helper(x):\n    return np.tanh(x)"
    assert shown[1].endswith("loss = helper(y)") and "w * x" not in shown[1]
    assert spans[-1] is None
    assert [text_at(files, span) for span in spans[:2] if span] == ["return np.tanh(x)", "loss = helper(y)"]


def test_stretches_that_meet_are_one() -> None:
    files, _ = parts(graph({"a.py": TEXT}, [("a.py", 5), ("a.py", 10), ("a.py", 9)]))
    assert [(file["first"], len(file["lines"])) for file in files] == [(4, 11)]


def test_no_more_lines_than_a_class_can_follow() -> None:
    long = [f"x{i} = tanh(x)\n" for i in range(3000)]
    files, spans = parts(graph({"a.py": long}, [("a.py", i) for i in range(1, 3000, 20)]))
    assert sum(len(file["lines"]) for file in files) <= MOST_LINES
    assert spans[0] is not None and spans[-2] is None


def test_of_a_long_function_only_the_lines_around() -> None:
    long = ["def f(x):\n", *["    x = tanh(x)\n" for _ in range(3 * LONGEST)]]
    files, _ = parts(graph({"a.py": long}, [("a.py", 100)]))
    assert len(files[0]["lines"]) < 20


def test_what_is_no_python_or_has_no_text_is_no_trouble() -> None:
    files, spans = parts(graph({"a.py": ["%timeit x = (\n"]}, [("a.py", 1), ("gone.py", 3), ("a.py", 7)]))
    assert [file["lines"] for file in files] == [["%timeit x = ("]]
    assert spans[0] is not None and spans[1:] == [None, None, None]
