"""The page of a drawing: one file with the SVG, without a script, whose tooltips describe the nodes. See also tests/browser."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing
from tests.minigrad.graph.draw.test_dot import NASTY


class Layer:
    pass


def small_graph(name: str = "x") -> Drawing:
    x: Any = Tensor([1.0, 2.0], requires_grad=True, name=name)
    with mg.trace(), scope(Layer(), "layer"):
        loss = np.tanh(x).sum(axis=0)
    loss.backward()
    return draw_dot(loss)


def test_the_page_is_one_file_with_the_drawing_and_a_policy(tmp_path: Path) -> None:
    path = small_graph().to_html(tmp_path / "graph.html")
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 1 and 'id="node2"' in text and "viewBox" in text and "<title>loss</title>" in text
    assert "https://" not in text.replace("http://www.w3.org", "") and "default-src 'none'" in text
    assert small_graph().render(tmp_path / "other.html").read_text(encoding="utf-8") == text


def test_a_tooltip_names_the_call_and_its_line(tmp_path: Path) -> None:
    text = small_graph().to_html(tmp_path / "graph.html").read_text(encoding="utf-8")
    found = re.findall("<title>(.*?)</title>", text)
    line = r"at test_drawing_page\.py:\d+: loss = np\.tanh\(x\)\.sum\(axis=0\)"
    assert any(re.fullmatch(rf"operation np\.tanh\(x\) tanh\(\) {line}", title) for title in found)
    assert "input x" in found


@pytest.mark.parametrize("name", NASTY)
def test_a_name_stays_text(name: str, tmp_path: Path) -> None:
    text = small_graph(name).to_html(tmp_path / "graph.html").read_text(encoding="utf-8")
    assert "</script><b>" not in text and "<b>" not in text


def test_a_graph_too_large_for_a_layout_is_a_tree_of_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minigrad.graph.draw.graphviz.MOST_NODES", 2)
    text = small_graph().to_html(tmp_path / "graph.html").read_text(encoding="utf-8")
    assert "takes too long" in text and "└─ np.tanh(x)" in text and "<svg" not in text
