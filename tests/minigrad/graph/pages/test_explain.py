"""The stepper's page: what it knows. What it does with that, in a browser, is in tests/browser/test_stepper.py."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, MissingExtraError, Tensor, explain
from minigrad.engine.observers import scope
from minigrad.graph.pages.depths import drawings
from minigrad.graph.pages.explain import array, page_data
from minigrad.graph.pages.html import asset, escaped_json, inline, page
from minigrad.graph.record.capture import capture
from models.two_layer_transformer import TwoLayerConfig, TwoLayerTransformer


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


def read(path: Path) -> Any:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def numbers(about: Any) -> Any:
    return np.array([float(value) for value in about["values"]]).reshape(about["shape"])


def named(data: Any, name: str) -> Any:
    (node,) = [node for node in data["nodes"] if node["name"] == name]
    return node


# --- the steps ---


def test_each_contribution_is_a_step_and_un_broadcasting_another(tmp_path: Path) -> None:
    x, row = leaf([[1.0, 2.0], [3.0, 4.0]], "x"), leaf([10.0, 20.0], "row")
    with mg.trace():
        loss = (x * row).sum()
    data = read(explain(loss, tmp_path / "page.html"))
    edges = data["edges"]
    steps = [(data["nodes"][edges[i]["target"]]["operation"], edges[i]["argument"], kind) for i, kind in data["steps"]]
    assert steps == [
        ("sum", "a", "product"),
        ("multiply", "x", "product"),
        ("multiply", "y", "product"),
        ("multiply", "y", "fit"),
    ]
    last = edges[data["steps"][-1][0]]
    np.testing.assert_array_equal(numbers(last["raw"]), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(numbers(last["amount"]), [4, 6])
    np.testing.assert_array_equal(numbers(last["sum"]), [4, 6])


def test_gradients_are_those_of_backward_to_the_last_bit_and_grad_is_not_touched(tmp_path: Path) -> None:
    x, w = leaf(np.linspace(-1, 1, 6).reshape(2, 3), "x"), leaf(0.3, "w")
    with mg.trace():
        loss = (np.tanh(x * w) * x / 3).sum() ** 2
    data = read(explain(loss, tmp_path / "page.html"))
    assert x.grad is None and w.grad is None
    loss.backward()  # the graph is still there
    for name, tensor in {"x": x, "w": w}.items():
        np.testing.assert_array_equal(numbers(named(data, name)["gradients"][0]), tensor.grad.numpy())
        arrivals = [edge for edge in data["edges"] if data["nodes"][edge["source"]]["name"] == name and edge.get("sum")]
        np.testing.assert_array_equal(
            numbers(arrivals[0]["sum"]), tensor.grad.numpy()
        )  # the last in order of the sweep


def test_the_sweep_that_came_through_is_shown_with_its_own_seed(tmp_path: Path) -> None:
    x = leaf([1.0, 2.0], "x")
    with mg.trace():
        y = x * 3.0
    y.backward(np.array([10.0, 100.0]))
    data = read(explain(y, tmp_path / "page.html"))
    assert named(data, "x")["gradients"][0]["values"] == [30, 300]


def test_contributions_to_one_tensor_add_up_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        loss = x * x + x
    data = read(explain(loss, tmp_path / "page.html"))
    sums = [data["edges"][i]["sum"]["values"][0] for i, _ in data["steps"] if data["edges"][i]["source"] == 0]
    assert sums == [1, 3, 5]


def test_several_outputs_each_have_a_gradient(tmp_path: Path) -> None:
    x = leaf(np.arange(4.0), "x")
    with mg.trace():
        first, second = np.split(x, 2)
        loss = (first * 2.0 + second * 3.0).sum()
    data = read(explain(loss, tmp_path / "page.html"))
    (split,) = [node for node in data["nodes"] if node["operation"] == "split"]
    assert [gradient["values"] for gradient in split["gradients"]] == [[2, 2], [3, 3]]
    assert named(data, "x")["gradients"][0]["values"] == [2, 2, 3, 3]


def test_formulas_numbers_source_and_module(tmp_path: Path) -> None:
    x = leaf(1.0, "x")
    with mg.trace(), scope(object(), "layer"):
        y = np.tanh(x)
    data = read(explain(y, tmp_path / "page.html"))
    (edge,) = data["edges"]
    assert edge["formula"] == {"en": "d tanh: g * (1 - y^2)", "ja": "d tanh: g * (1 - y^2)"}
    assert edge["numbers"]["en"] == "1 * (1 - 0.7616^2) = 0.42"
    node = data["nodes"][edge["target"]]
    assert node["source"][0] == "test_explain.py" and node["source"][2] == "y = np.tanh(x)"
    assert data["modules"][node["module"]] == {"name": "layer", "kind": "object", "parent": None}


def test_a_large_tensor_is_summarised() -> None:
    small, large = np.arange(64.0).reshape(8, 8), np.arange(65.0)
    assert array(small) == {"shape": (8, 8), "dtype": "float64", "values": pytest.approx(np.arange(64.0))}
    summary = array(large)
    assert summary is not None and "values" not in summary
    assert (summary["min"], summary["mean"], summary["max"]) == (0, 32, 64)
    assert summary["norm"] == pytest.approx(np.sqrt((large**2).sum()))
    assert array(np.ones(100, complex)) == {"shape": (100,), "dtype": "complex128", "norm": 10}
    assert array(None) is None and array(np.array(["text"])) is None


def test_a_small_graph_carries_all_its_numbers_for_what_if(tmp_path: Path) -> None:
    def data(size: int) -> Any:
        x = leaf(np.ones(size), "x")
        with mg.trace():
            y = x.sum()
        return read(explain(y, tmp_path / "page.html"))

    assert "values" in named(data(299), "x")["values"][0]
    assert "values" not in named(data(300), "x")["values"][0]


# --- whose sweep it is ---


def test_another_tensors_sweep_through_a_part_of_the_graph_is_not_shown(tmp_path: Path) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        h = x * x
        loss, other = h * 3.0, h * 1000.0
    loss.backward(retain_graph=True)
    other.backward(retain_graph=True)
    data = read(explain(loss, tmp_path / "page.html"))
    assert named(data, "x")["gradients"][0]["values"] == [12]


def test_a_graph_that_another_sweep_has_freed_is_refused(tmp_path: Path) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        h = x * x
        loss, other = h * 3.0, h * 1000.0
    other.backward()
    with pytest.raises(GraphError, match="freed by a backward pass from another"):
        explain(loss, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_hook_is_no_reason_to_doubt_the_sweep(tmp_path: Path) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        h = x * x
        h.register_hook(lambda g: g * 10)
        loss = h * 3.0
    loss.backward()  # frees the graph: explain could not run another
    data = read(explain(loss, tmp_path / "page.html"))
    assert named(data, "x")["gradients"][0]["values"] == [120]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Tensor(1.0), GraphError, "was not recorded"),
        (lambda: leaf(1.0), GraphError, "was given, not computed"),
        (lambda: leaf(1.0) * 2.0, GraphError, "with minigrad.trace()"),
        (lambda: traced(lambda: leaf([1.0, 2.0]) * 2.0), GraphError, "shape .2,. needs grad"),
        (lambda: traced(lambda: leaf(1.0) * 2.0, values=False), GraphError, "with minigrad.trace()"),
        (lambda: 1.0, ArgumentError, "needs a Tensor"),
    ],
)
def test_what_cannot_be_explained(make: Callable[[], Any], error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        explain(make(), tmp_path / "page.html")


def traced(compute: Callable[[], Any], **options: Any) -> Any:
    with mg.trace(**options):
        return compute()


def test_a_partly_traced_computation_says_how_much_is_missing(tmp_path: Path) -> None:
    h = leaf(1.0) * 2.0
    with mg.trace():
        loss = h * 3.0
    with pytest.raises(GraphError, match="1 of 2"):
        explain(loss, tmp_path / "page.html")


def test_wrong_arguments(tmp_path: Path) -> None:
    loss = traced(lambda: leaf(1.0) * 2.0)
    with pytest.raises(ArgumentError, match="language='en' or 'ja', got 'de'"):
        explain(loss, tmp_path / "page.html", language="de")
    with pytest.raises(ArgumentError, match="explain takes for params"):
        explain(loss, tmp_path / "page.html", params=3)


def test_without_graphviz_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match=r"minigrad\[graph\]"):
        explain(traced(lambda: leaf(1.0) * 2.0), tmp_path / "page.html")


# --- the drawings ---


def model_graph() -> Any:
    rng = np.random.default_rng(0)
    model = TwoLayerTransformer(TwoLayerConfig(3, 4, 2), rng=rng)
    with mg.trace():
        loss = model.loss(rng.normal(size=(2, 3, 3)).astype(np.float32), np.eye(2, dtype=np.float32))
    loss.backward()
    return capture(loss, model)


def test_every_node_and_edge_is_drawn_as_something_in_every_drawing() -> None:
    graph = model_graph()
    data = drawings(graph)
    modules = range(len(graph.modules))
    around = {m: {m} | (around_of(graph, m)) for m in modules}
    assert [len(drawing["shows"]) for drawing in data["drawings"]] == sorted(len(d["shows"]) for d in data["drawings"])
    for drawing in data["drawings"]:
        ids = set(re.findall(r'<g id="(\w+)"', drawing["svg"]))
        assert {f"node{i}" for i in drawing["nodes"]} == {f"node{i}" for i in range(len(drawing["shows"]))} <= ids
        assert {f"edge{i}" for i in drawing["edges"] if i >= 0} <= ids
        assert {m for m in modules if f"module{m}" in ids} == {m for m in modules if around[m] <= set(drawing["open"])}
        for node, drawn in zip(graph.nodes, drawing["nodes"]):
            box = drawing["boxes"][drawn]
            inside = node.module is not None and not around[node.module] <= set(drawing["open"])
            assert (box is not None) == (inside and any_operation(graph, box))
            assert drawing["shows"][drawn] == node.id or box in around[node.module]
        for edge, drawn in zip(graph.edges, drawing["edges"]):
            assert (drawn == -1) == (drawing["nodes"][edge.source] == drawing["nodes"][edge.target])


def around_of(graph: Any, module: int) -> set[int]:
    found: set[int] = set()
    parent = graph.modules[module].parent
    while parent is not None:
        found.add(parent)
        parent = graph.modules[parent].parent
    return found


def any_operation(graph: Any, box: int | None) -> bool:
    return box is not None and any(
        node.operation and node.module is not None and (box == node.module or box in around_of(graph, node.module))
        for node in graph.nodes
    )


def test_a_large_model_is_first_shown_with_closed_modules() -> None:
    x = leaf(0.5, "x")
    with mg.trace(), scope(object(), "model"):
        h = x
        for i in range(10):
            with scope(object(), f"layers.{i}"):
                for _ in range(10):
                    h = np.tanh(h)
    data = drawings(capture(h))
    assert data["open"] == [0]
    (first,) = [drawing for drawing in data["drawings"] if drawing["open"] == [0]]
    assert len(first["shows"]) == 11
    assert [0, 3] in [drawing["open"] for drawing in data["drawings"]]  # one layer alone can be opened


def test_labels_leave_room_for_a_sum_of_two() -> None:
    x = leaf(0.5, "x")
    with mg.trace():
        y = x * x
    y.backward()
    (drawing,) = drawings(capture(y))["drawings"]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawing["svg"])
    assert texts[:3] == ["x", "0.5", "grad &#45;0.0000 + &#45;0.0000 = &#45;0.0000"]
    assert texts[3:] == ["multiply", "0.25", "|grad| 0.0000e&#45;0"]
    assert "title" not in drawing["svg"] and "<!--" not in drawing["svg"]


# --- the page ---


NASTY = "x</script><b>&'\"<!--"


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    x = leaf(1.0)
    with mg.trace(), scope(object(), NASTY):
        y = x * 2.0
    text = explain(y, tmp_path / "page.html", {NASTY: x}).read_text(encoding="utf-8")
    assert NASTY not in text and "<b>" not in text
    assert "<" not in text[text.index('id="data">') + 10 :].partition("</script>")[0]
    assert text.count("</script>") == 2 and text.count("<script") == 2
    assert named(read(tmp_path / "page.html"), NASTY)["kind"] == "parameter"


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = explain(traced(lambda: leaf(1.0) * 2.0), tmp_path / "page.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./-]+", text)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }  # names of XML vocabularies, not addresses
    assert "default-src 'none'" in text and "unsafe" not in text
    assert not re.search(r'<[^>]* (on\w+|style|src|href)="', text)


def test_both_languages_have_the_same_words() -> None:
    words = json.loads(asset("stepper_words.json"))
    assert words["en"].keys() == words["ja"].keys()
    for name, text in words["en"].items():
        assert set(re.findall(r"{(\w+)}", text)) == set(re.findall(r"{(\w+)}", words["ja"][name])), name
    files = ("panel.js", "quiz.js", "editing.js", "stepper.js", "header.html", "stepper.html")
    used = set(re.findall(r'word\("(\w+)"|data-(?:word|label)="(\w+)"', "".join(map(asset, files))))
    assert {a or b for a, b in used} <= words["en"].keys()


def test_the_language_of_the_page(tmp_path: Path) -> None:
    loss = traced(lambda: leaf(1.0) * 2.0)
    path = explain(loss, tmp_path / "page.html", language="ja")
    assert '<html lang="ja">' in path.read_text(encoding="utf-8") and read(path)["language"] == "ja"


def test_json_loses_no_digit_and_knows_nan(tmp_path: Path) -> None:
    values = [0.1, 1 / 3, 1e-300, float("nan"), float("inf"), -float("inf"), 1 + 2j, np.float32(0.1), np.int64(3), True]
    back = json.loads(escaped_json({"a": values, "b": np.array([[1.5, np.nan]])}))
    assert back["a"][:3] == values[:3]
    assert back["a"][3:] == ["NaN", "Infinity", "-Infinity", "1.0+2.0i", float(np.float32(0.1)), 3, True]
    assert back["b"] == [[1.5, "NaN"]]


@pytest.mark.parametrize(("script", "style"), [("a</SCRIPT>", ""), ("<!-- a", ""), ("", "p {}</style>")])
def test_a_script_or_style_that_would_end_early_is_refused(script: str, style: str) -> None:
    with pytest.raises(ValueError, match="would end it there"):
        page("title", "", script, {}, style)


def test_inline_takes_the_prolog_and_the_size_away() -> None:
    prolog = '<?xml version="1.0"?>\n<!DOCTYPE svg>\n'
    svg = '<svg width="8pt" height="9pt"\n viewBox="0 0 8 9" style="a: b"><g width="1"/></svg>'
    assert inline(prolog + svg) == '<svg\n viewBox="0 0 8 9"><g width="1"/></svg>'


def test_a_graph_of_two_thousand_operations_takes_a_moment() -> None:
    x = leaf(0.5, "x")
    with mg.trace():
        for _ in range(2000):
            x = np.tanh(x)
    x.backward()
    assert len(page_data(capture(x))["steps"]) == 2000


def test_a_graph_that_no_page_could_show_is_refused_in_words(tmp_path: Path) -> None:
    x = Tensor(1.0, requires_grad=True)
    y: Any = x
    with mg.trace():
        for _ in range(2600):
            y = np.tanh(y)
    with pytest.raises(GraphError, match="explain shows at most 2500 nodes at once, and this graph has 2601"):
        mg.explain(y, tmp_path / "page.html")
    assert x.grad is None
