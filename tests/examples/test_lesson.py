"""The lesson of ten nodes, run as a user runs it, its numbers against the closed forms."""

import math
from pathlib import Path

import pytest

import lesson
import minigrad as mg
from tests.examples.processes import command


def test_it_has_ten_nodes_and_the_gradients_of_the_closed_forms() -> None:
    loss, params = lesson.lesson()
    dw, db = mg.autograd_grad(loss, [params["w"], params["b"]])
    x, w, b = 0.8, 1.5, -0.5
    h = math.tanh(w * x + b)
    y = math.tanh(w * h + b)
    to_second = 2 * y * (1 - y * y)
    to_first = to_second * w * (1 - h * h)
    assert len(mg.draw_dot(loss).nodes) == 10
    assert loss.item() == pytest.approx(y * y, rel=1e-15)
    assert dw.item() == pytest.approx(to_second * h + to_first * x, rel=1e-14)
    assert db.item() == pytest.approx(to_second + to_first, rel=1e-14)


def test_a_run_prints_its_numbers_and_writes_the_graph_and_the_page(tmp_path: Path) -> None:
    done = command("lesson.py", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "loss: multiply  () float64  grad 1\n├─ y: tanh",
        "d loss / d w = 0.896770\nd loss / d b = 1.281495",
        "12 local derivatives against finite differences: 0 wrong",
    ):
        assert words in done.stdout
    assert "<svg" in (tmp_path / "here" / "graph.svg").read_text(encoding="utf-8")
    assert "lesson.py" in (tmp_path / "here" / "explain.html").read_text(encoding="utf-8")


def test_quick_writes_nothing(tmp_path: Path) -> None:
    done = command("lesson.py", "--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())
