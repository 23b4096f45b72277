"""The page of a drawing: what it is told about each node, and what it holds without a drawing. See also tests/browser."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing
from minigrad.graph.pages import viewer
from minigrad.graph.pages.viewer import page_data
from tests.minigrad.graph.draw.test_dot import NASTY


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


class Layer:
    pass


def small_graph(name: str = "x") -> Drawing:
    x = leaf([1.0, 2.0], name)
    with mg.trace(), scope(Layer(), "layer"):
        loss = np.tanh(x).sum(axis=0)
    loss.backward()
    return draw_dot(loss)


def written(graph: Drawing, path: Path, **options: Any) -> tuple[str, Any]:
    assert graph.to_html(path, **options) == path
    text = path.read_text(encoding="utf-8")
    (data,) = re.findall('<script type="application/json" id="data">(.*)</script>', text)
    return text, json.loads(data)


def test_what_the_page_tells_about_a_node() -> None:
    graph = small_graph()
    of_x, of_tanh, _ = page_data(graph)["nodes"]
    assert of_x["title"] == "x" and dict(of_x["facts"])["kind"] == ["input"]
    facts = dict(of_tanh["facts"])
    assert of_tanh["title"] == "np.tanh(x)" and facts["shape"] == "(2,) float64" and facts["path"] == "layer"
    file, code = facts["source"].split("\n")
    assert re.fullmatch(r"test_viewer\.py:\d+", file) and code == "loss = np.tanh(x).sum(axis=0)"
    assert facts["gradient"] == "1.41421" and facts["value"] == "[0.7616, 0.964]" and facts["cotangent"] == "[1, 1]"
    assert facts["bytes"] == "16 bytes" and re.fullmatch(r"[\d.]+ (µs|ms|s)", facts["seconds"])
    assert dict(page_data(graph)["nodes"][2]["facts"])["call"] == "axis=0, keepdims=False"


def test_a_single_number_has_its_gradient_and_not_a_norm() -> None:
    b = leaf(1.0, "b")
    with mg.trace():
        y = b * -0.0661
    y.backward()
    facts = page_data(draw_dot(y))["nodes"][0]["facts"]
    assert ("cotangent", "-0.0661") in facts and "gradient" not in dict(facts)


def test_before_backward_no_gradient_has_arrived() -> None:
    x = leaf(1.0, "x")
    with mg.trace():
        y = x * 2
    assert dict(page_data(draw_dot(y))["nodes"][0]["facts"])["gradient"] == ["none"]


def test_what_the_page_tells_about_checks_changes_nan_and_boxes() -> None:
    graph = small_graph()
    for edge in graph.edges:
        edge.error, edge.verdict = 0.5, "wrong"
    graph.depth = 0
    box = page_data(graph.drawn())["nodes"][1]
    facts = dict(box["facts"])
    assert box["title"] == "layer: Layer" and facts["count"] == ["operations", 2]
    assert facts["derivative"] == ["wrongBy", "0.5"] and "source" not in facts
    with np.errstate(all="ignore"), mg.trace():
        found = mg.find_nan(np.log(leaf(0.0)) * 1)
    assert found is not None
    assert dict(page_data(found.graph)["nodes"][1]["facts"])["tainted"] == ["yes"]
    added = page_data(draw_dot(leaf(1.0) * 1).diff(draw_dot(np.exp(leaf(1.0)))))
    assert [dict(node["facts"]).get("change") for node in added["nodes"]] == [None, ["added"], ["removed"]]


def test_every_word_is_there_in_both_languages(tmp_path: Path) -> None:
    _, data = written(small_graph(), tmp_path / "graph.html")
    english, japanese = data["words"]["en"], data["words"]["ja"]
    assert english.keys() == japanese.keys()
    assert all(
        re.findall(r"\{\w\}", english[word]) == sorted(re.findall(r"\{\w\}", japanese[word])) for word in english
    )
    text = Path(viewer.__file__).read_text(encoding="utf-8")
    facts = set(re.findall(r'\(\(?"(\w+)",', text)) - {"DRAWING"}
    assert {"kind", "seconds", "bytes", "gradient", "change"} <= facts <= english.keys()
    from minigrad.graph.draw.depict import STYLES
    from minigrad.graph.draw.looks import WORDS

    assert {*STYLES, *WORDS} <= english.keys()


def test_the_page_is_one_file_with_the_drawing_and_a_policy(tmp_path: Path) -> None:
    text, data = written(small_graph(), tmp_path / "graph.html", language="ja")
    assert '<html lang="ja">' in text and data["language"] == "ja" and "Content-Security-Policy" in text
    assert text.count("<svg") == 1 and 'id="node2"' in text and "viewBox" in text and "DRAWING" not in text
    assert "https://" not in text.replace("http://www.w3.org", "") and "label=<" not in text
    assert small_graph().render(tmp_path / "other.html").read_text(encoding="utf-8").count("<svg") == 1


@pytest.mark.parametrize("name", NASTY)
def test_a_name_stays_text(name: str, tmp_path: Path) -> None:
    text, data = written(small_graph(name), tmp_path / "graph.html")
    assert data["nodes"][0]["title"] == name
    assert "</script><b>" not in text and "<b>" not in text


def test_another_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="language='en' or 'ja', got 'fr'"):
        small_graph().to_html(tmp_path / "graph.html", language="fr")
    assert list(tmp_path.iterdir()) == []
