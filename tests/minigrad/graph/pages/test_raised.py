"""The page of a program that raised ends at the line that raised, with the shapes that met."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.cli.main import main
from minigrad.graph.pages.raised import raised

PROGRAM = """import numpy as np
import minigrad as mg
def layer(h, W):
    return np.tanh(h @ W)
def program():
    h = np.ones((4, 3))
    for shape in [(3, 5), (5, 2), (3, 1)]:
        W = mg.Tensor(np.ones(shape), requires_grad=True)
        h = layer(h, W)
    return h.sum()
"""


def failed(function: Any) -> Exception:
    with pytest.raises(Exception) as caught, mg.trace():
        function()
    return caught.value


def mismatch() -> None:
    x, W = mg.Tensor(np.ones((4, 3)), requires_grad=True), np.ones((5, 2))
    h = x * 2
    h @ W


def wrong_by_hand() -> None:
    x = mg.Tensor(np.ones(3), requires_grad=True)
    total = x.sum()
    raise KeyError(f"no {total.shape}")


def test_the_last_operation_has_the_shapes_that_met() -> None:
    graph, lesson = raised(failed(mismatch))
    end = graph.nodes[graph.ends[0][0]]
    assert (end.operation, end.label, end.value) == ("matmul", "h @ W", None)
    assert end.source is not None and end.source.text == "h @ W" and end.source.function == "mismatch"
    met = [(graph.nodes[e.source].label, e.argument, e.shape) for e in graph.edges if e.target == end.id]
    assert met == [("h", "x", (4, 3)), ("W", "y", (5, 2))]
    assert [node.operation for node in graph.operations()] == ["multiply", "matmul"]
    assert all("h: (4, 3), W: (5, 2)" in lesson["steps"][0]["text"][language] for language in ("en", "ja"))
    assert lesson["steps"][0]["at"] == 2 and "ShapeError" in lesson["title"]["ja"]


def test_an_error_of_the_program_itself_ends_at_its_line() -> None:
    graph, lesson = raised(failed(wrong_by_hand))
    end = graph.nodes[graph.ends[0][0]]
    assert end.operation == "KeyError" and end.source is not None and end.source.text.startswith("raise KeyError")
    assert [node.operation for node in graph.operations()] == ["sum", "KeyError"]
    assert "no ()" in lesson["steps"][0]["text"]["en"]


def test_without_a_recorded_tensor_there_is_nothing_to_show(tmp_path: Path) -> None:
    with pytest.raises(mg.GraphError, match="nothing to show for this ZeroDivisionError"):
        mg.explain(failed(lambda: 1 / 0), tmp_path / "page.html")


@pytest.mark.parametrize("target", [":program", ""])
def test_the_command_writes_the_page_and_raises_as_before(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lesson.py"
    file.write_text(PROGRAM + ("" if target else "loss = program()\n"), encoding="utf-8")
    status = main(["explain", f"{file}{target}", "--out", str(tmp_path / "page.html")])
    shown = capsys.readouterr()
    assert status == 1 and "page.html: written" in shown.out
    assert shown.err.startswith("Traceback") and "ShapeError: matmul(x: shape (4, 2)" in shown.err
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_program_that_fails_before_its_first_operation_writes_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "early.py"
    file.write_text("loss = 1 / 0\n", encoding="utf-8")
    assert main(["explain", str(file), "--out", str(tmp_path / "page.html")]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err and not (tmp_path / "page.html").exists()
