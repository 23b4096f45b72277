"""The stepper's page: what it knows. What it does with that, in a browser, is in tests/browser/test_stepper.py."""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, Tensor, explain
from minigrad.engine.observers import scope
from minigrad.graph.pages.explain import SCRIPTS
from minigrad.graph.pages.html import asset, escaped_json, page
from tests.leaves import leaf


def read(path: Path) -> Any:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    return unpacked(json.loads(found[1]))


def unpacked(data: Any) -> Any:
    """What assets/unpack.js makes of a page's data."""
    pool = data["arrays"]
    flat = {dtype: np.frombuffer(base64.b64decode(text), dtype) for dtype, text in pool["parts"].items()}
    flat["c"], at, known = np.array(pool["texts"]), Counter[str](), []
    for kind in (pool["kinds"][number] for number in pool["kindOf"]):
        about = {"shape": kind["shape"], "dtype": kind["dtype"]}
        for name, dtype, size, axes in kind["fields"]:
            numbers = flat[dtype][at[dtype] : at[dtype] + size].tolist()
            at[dtype] += size
            about[name] = numbers if axes else numbers[0]
        known.append(about)

    def array(number: int | None) -> Any:
        return None if number is None else known[number]

    def rows(about: Any) -> list[Any]:
        found = [about["same"] | about["facts"][fact] for fact in about["of"]]
        for name, column in about["columns"].items():
            for row, entry in zip(found, column, strict=True):
                row[name] = entry
                if name in ("value", "raw", "amount", "sum", "weights"):
                    row[name] = array(entry)
                elif name in ("values", "gradients"):
                    row[name] = [array(number) for number in entry]
        return found

    nodes, edges = rows(data["nodes"]), rows(data["edges"])
    steps = [["forward", number] for number, node in enumerate(nodes) if node["operation"] is not None]
    for number in data.pop("sweep"):
        steps += [[kind, number] for kind in ("product", "fit") if kind == "product" or edges[number]["amount"]]
    return data | {"nodes": nodes, "edges": edges, "steps": steps}


def backward(data: Any) -> Any:
    return data["steps"][data["turn"] :]


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
    assert [(kind, data["nodes"][i]["operation"]) for kind, i in data["steps"][: data["turn"]]] == [
        ("forward", "multiply"),
        ("forward", "sum"),
    ]
    steps = [(data["nodes"][edges[i]["target"]]["operation"], edges[i]["argument"], kind) for kind, i in backward(data)]
    assert steps == [
        ("sum", "a", "product"),
        ("multiply", "x", "product"),
        ("multiply", "y", "product"),
        ("multiply", "y", "fit"),
    ]
    last = edges[data["steps"][-1][1]]
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


def test_forward_steps_have_the_values_that_python_computes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    plain = [0.5, 1.25]
    tensors: list[Any] = [leaf(0.5, "a"), leaf(1.25, "b")]
    with mg.trace():
        for _ in range(60):
            i, j, what = (int(n) for n in (*rng.integers(len(plain), size=2), rng.integers(4)))
            (a, x), (b, y) = (plain[i], tensors[i]), (plain[j], tensors[j])
            plain.append((a * b, a + b, a - 2 * b, math.tanh(a))[what])
            tensors.append((x * y, x + y, x - 2 * y, np.tanh(x))[what])
        loss = sum(tensors[1:], tensors[0])
    data = read(explain(loss, tmp_path / "page.html"))
    loss.backward()
    values = [data["nodes"][number]["values"][0]["values"][0] for _, number in data["steps"][: data["turn"]]]
    assert values[-1] == pytest.approx(sum(plain), rel=1e-12)
    for value in plain[2:]:
        assert min(abs(value - found) for found in values) <= 1e-12 * max(1, abs(value))
    for name, tensor in {"a": tensors[0], "b": tensors[1]}.items():
        assert named(data, name)["gradients"][0]["values"] == [tensor.grad.numpy()]


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
    sums = [data["edges"][i]["sum"]["values"][0] for _, i in backward(data) if data["edges"][i]["source"] == 0]
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


def test_formula_equation_and_module(tmp_path: Path) -> None:
    x = leaf(1.0, "x")
    with mg.trace(), scope(object(), "layer"):
        y = np.tanh(x)
    data = read(explain(y, tmp_path / "page.html"))
    (edge,) = data["edges"]
    assert edge["answer"] == "y"
    one_less_square = ["row", ["num", "1"], ["op", "−"], ["sup", ["ref", "ans"], ["num", "2"]]]
    assert edge["equation"] == ["row", ["ref", "g"], ["op", "·"], ["paren", one_less_square]]
    assert edge["elementwise"]
    node = data["nodes"][edge["target"]]
    assert data["modules"][node["module"]] == {"name": "layer"}


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
    with pytest.raises(GraphError, match="a backward pass from another tensor has freed the graph"):
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
    assert [node["name"] for node in data["nodes"] if node["hooked"]] == ["h"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Tensor(1.0), GraphError, "was not recorded"),
        (lambda: leaf(1.0), GraphError, "was given, not computed"),
        (lambda: leaf(1.0) * 2.0, GraphError, "with minigrad.trace()"),
        (lambda: traced(lambda: leaf([1.0, 2.0]) * 2.0), GraphError, "shape .2,. needs the argument grad"),
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
    with pytest.raises(ArgumentError, match=r"explain takes .* for params, got int"):
        explain(loss, tmp_path / "page.html", params=3)
    with pytest.raises(ArgumentError, match=r"check=True, False or None.*got 'yes'"):
        explain(loss, tmp_path / "page.html", check="yes")  # type: ignore[arg-type]


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
    vocabularies = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[\w./-]+", text)) <= vocabularies  # names of XML's, not addresses
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]
    assert not re.search(r'<[^>]* (on\w+|style|src|href)="', text)


def test_both_languages_have_the_same_words(tmp_path: Path) -> None:
    words = read(explain(traced(lambda: leaf(1.0) * 2.0), tmp_path / "page.html"))["words"]
    assert words["en"].keys() == words["ja"].keys()
    for name, text in words["en"].items():
        assert set(re.findall(r"{(\w+)}", text)) == set(re.findall(r"{(\w+)}", words["ja"][name])), name
    files = ["header.html", "stepper.html", "stepper.js", "elements.js", *(f"{script}.js" for script in SCRIPTS)]
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


@pytest.mark.thorough
def test_a_graph_of_thousands_of_operations_without_modules_is_shown(tmp_path: Path) -> None:
    x = leaf(0.5, "x")
    y: Any = x
    with mg.trace():
        for _ in range(2600):
            y = np.tanh(y)
    path = explain(y, tmp_path / "page.html")
    data = read(path)
    assert data["turn"] == 2600 and len(data["steps"]) == 5200
    assert all(edge["check"] is None for edge in data["edges"])  # by default only small graphs are checked
    y.backward()
    assert named(data, "x")["gradients"][0]["values"] == [x.grad.numpy()]


@pytest.mark.parametrize(("check", "checked"), [(None, True), (True, True), (False, False)])
def test_checks_can_be_turned_off(check: bool | None, checked: bool, tmp_path: Path) -> None:
    data = read(explain(traced(lambda: leaf(1.0) * 2.0), tmp_path / "page.html", check=check))
    assert (data["edges"][0]["check"] is not None) == checked


@pytest.mark.thorough
def test_a_thousand_operations_fit_into_a_megabyte(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = leaf(0.5, "x"), leaf(0.3, "y")
    with mg.trace():
        for _ in range(1000):
            x, y = y, (x * y, np.tanh(x), x + y, np.sin(y))[rng.integers(4)]
        loss = x + y
    assert explain(loss, tmp_path / "page.html").stat().st_size < 1_000_000


@pytest.mark.usefixtures("no_graphviz")
def test_the_page_needs_no_graphviz(tmp_path: Path) -> None:
    assert read(explain(traced(lambda: leaf(1.0) * 2.0), tmp_path / "page.html"))["scenes"]


class Counts(mg.Function):
    """A function that gives something else each time, so that no finite difference can be taken."""

    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        Counts.calls += 1
        return x * Counts.calls

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def test_an_operation_that_cannot_run_again_is_counted_as_not_compared(tmp_path: Path) -> None:
    x = leaf([1.0, 2.0], "x")
    with mg.trace():
        loss = (Counts.apply(x) * x).sum()
    edges = read(explain(loss, tmp_path / "page.html"))["edges"]
    assert [(edge["check"] is None, edge["unchecked"]) for edge in edges] == [(True, True)] + [(False, False)] * 3


def test_values_without_names_have_the_same_names_in_all_texts(tmp_path: Path) -> None:
    """Two have one shape: a version tells them apart, in boxes and in messages, and ``show`` takes these names."""
    space: dict[str, Any] = {"x": leaf(np.ones(3)), "y": leaf(np.ones(3)), "__name__": "a_program"}
    with np.errstate(all="ignore"):
        with mg.trace():
            exec("loss = ((x * y) / [1.0, 0.0, 2.0]).sum()", space)
        data = read(explain(space["loss"], tmp_path / "page.html", show={"input (3,)₂": (1, 3)}))
    nodes = data["nodes"]
    assert [node["name"] for node in nodes if node["operation"] is None] == [
        "input (3,)",
        "input (3,)₂",
        "constant (3,)",
    ]
    (why,) = [node["why"] for node in nodes if node["why"] is not None]
    assert "constant (3,)" in why["en"]
    with pytest.raises(ArgumentError, match=r"It has input \(3,\), input \(3,\)₂, "):
        explain(space["loss"], tmp_path / "page.html", show={"input 0": (1, 3)})
