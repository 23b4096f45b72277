"""The DOT text: what a label says, how kinds differ, that no name breaks out of it."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GraphError, Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing
from minigrad.graph.draw.cells import numbers
from minigrad.graph.draw.drawn import DrawnEdge
from minigrad.graph.draw.looks import RAMP, worst
from minigrad.graph.draw.picture import STYLES
from tests.leaves import leaf


def line(dot: str, text: str) -> str:
    (found,) = [line for line in dot.splitlines() if text in line]
    return found


def labels(dot: str) -> list[str]:
    """What each node's label says, its lines joined by " | "."""
    found = re.findall(r"^ *n\d+ \[.* label=<(.*)> tooltip", dot, re.MULTILINE)
    return [re.sub(r"<[^>]*>", "", re.sub(r"<BR/>|</T[RD]>(?=<T[RD])", " | ", label)) for label in found]


GOLDEN = Path(__file__).parent / "golden"


def module_like(name: str) -> Any:
    return type(name, (), {})()


def small_graph() -> Drawing:
    x, weight, bias = leaf([[3.0, 4.0]], "x"), leaf([[0.3], [0.4]]), leaf([1.0])
    with mg.trace():
        with scope(module_like("Layer"), "layer"):
            y = mg.affine(x, weight, bias)
        loss = y.sum()
    loss.name = "loss"
    loss.backward()
    return draw_dot(loss, {"layer.weight": weight, "layer.bias": bias})


def without_lines(dot: str) -> str:
    """Return DOT text without the lines of the program in its tooltips."""
    return re.sub(r' at test_\w+\.py:\d+: [^"]*"', '"', dot)


def test_the_whole_text_of_a_small_graph() -> None:
    assert without_lines(small_graph().to_dot()) == (GOLDEN / "small.dot").read_text(encoding="utf-8")


# --- labels ---


def test_labels_before_and_after_backward() -> None:
    x = leaf(np.array([1.0, 2.0]), "x")
    with mg.trace():
        loss = np.tanh(x * 0).sum()
    graph = draw_dot(loss)
    assert graph.to_dot().count(">grad -<") == 4 and "grad 0" not in graph.to_dot() and "BGCOLOR" not in graph.to_dot()
    loss.backward()
    assert labels(draw_dot(loss).to_dot()) == [
        "x | (2,) float64 | |grad| 0",
        "0",
        "x * 0 multiply | (2,) float64 | |grad| 1.41",
        "np.tanh(x * 0) | (2,) float64 | |grad| 1.41",
        "loss sum | () float64 | grad 1",
    ]


@pytest.mark.parametrize(("slope", "text"), [(-0.0661, "grad -0.0661"), (-0.0, "grad 0"), (-np.inf, "grad -∞")])
def test_the_gradient_of_a_number_has_its_sign_and_that_of_an_array_is_called_a_norm(slope: float, text: str) -> None:
    b, c = leaf(1.0, "b"), leaf([1.0, 2.0], "c")
    with mg.trace():
        loss = (b * slope + c * 0.5).sum() * 0.5
    loss.backward()
    graph = draw_dot(loss)
    assert labels(graph.to_dot())[0].endswith(f"| {text}") and f"b  () float64  {text}\n" in graph.to_text()
    assert "c | (2,) float64 | |grad| 0.354" in labels(graph.to_dot())
    assert [node.signed for node in graph.nodes if node.name == "c"] == [None]


def test_operations_that_were_not_traced_say_nothing_about_their_gradient() -> None:
    x = leaf(1.0, "x")
    y = np.exp(x)
    y.backward()
    assert labels(draw_dot(y).to_dot()) == ["x | () float64 | .grad 2.72", "loss exp | () float64"]


def two_passes() -> tuple[Any, Any, Any]:
    a, b = leaf(2.0, "a"), leaf(-3.0, "b")
    with mg.trace():
        loss = (a * b + 10.0) ** 2
    loss.backward(retain_graph=True)
    loss.backward()
    return a, b, loss


def test_grad_is_the_last_pass_and_dot_grad_what_the_tensor_holds() -> None:
    a, b, loss = two_passes()
    drawing = draw_dot(loss)
    said = ["a | () float64 | grad -24, .grad -48", "b | () float64 | grad 16, .grad 32"]
    assert labels(drawing.to_dot())[:2] == said
    assert all(f">{text}<" in drawing.to_svg() for text in ("grad -24, .grad -48", "grad 16, .grad 32", "grad 8"))
    assert "a  () float64  grad -24, .grad -48\n" in drawing.to_text()
    assert labels(draw_dot(loss, tensors=True).to_dot())[:2] == [
        "a | () float64 | data 2 | grad -24",
        "b | () float64 | data -3 | grad 16",
    ]
    a.grad, b.grad = None, a.grad / -3  # it was emptied, or is the gradient of the pass after all
    assert labels(draw_dot(loss).to_dot())[:2] == ["a | () float64 | grad -24", "b | () float64 | grad 16"]


def test_the_norm_of_an_array_has_the_same_two_words() -> None:
    x = leaf(np.array([3.0, 4.0]), "x")
    with mg.trace(values=False):
        unknown = (x * x).sum() / 2
    unknown.backward()  # the contributions are not kept
    assert labels(draw_dot(unknown).to_dot())[0] == "x | (2,) float64 | |.grad| 5"
    with mg.trace():
        loss = (x * x).sum() / 2
    loss.backward()
    assert labels(draw_dot(loss).to_dot())[0] == "x | (2,) float64 | |grad| 5, |.grad| 10"
    x.grad = -x.grad / 2
    assert labels(draw_dot(loss).to_dot())[0] == "x | (2,) float64 | |grad| 5"
    assert labels(draw_dot([loss, unknown]).to_dot())[0] == "x | (2,) float64 | |.grad| 5"


def test_a_sum_in_another_order_is_no_second_gradient() -> None:
    x = leaf(np.linspace(0.1, 1.0, 50, dtype=np.float32), "x")
    with mg.trace():
        loss = sum(((k + 0.1) * x).sum() for k in range(30))
    loss.backward()
    assert ".grad" not in draw_dot(loss).to_dot()


def test_names_of_operations_and_constants() -> None:
    x, data = leaf(np.ones(2)), np.ones(2)
    with mg.trace():
        h = x * data
        y = h + np.ones(2)
    assert labels(draw_dot(y, {"h": h, "data": data}).to_dot()) == [
        "x | (2,) float64 | grad -",
        "data | (2,) float64",
        "h multiply | (2,) float64 | grad -",
        "np.ones(2) | (2,) float64",
        "y add | (2,) float64 | grad -",
    ]


def test_a_parameter_is_called_by_its_name_and_else_by_its_expression() -> None:
    parameters = {"W1": leaf(np.ones((2, 2)), "W1"), "W2": leaf(np.ones((2, 2)))}
    with mg.trace():
        y = np.tanh(np.ones(2) @ parameters["W1"]) @ parameters["W2"]
    said = [html.unescape(label).partition(" | ")[0] for label in labels(draw_dot(y).to_dot())]
    assert "W1" in said and "parameters['W2']" in said
    assert {"W1", "W2"} <= {label.partition(" | ")[0] for label in labels(draw_dot(y, parameters).to_dot())}


def test_of_several_outputs_the_edges_show_the_shapes() -> None:
    first, second = np.split(leaf(np.ones(4), "x"), 2)
    dot = draw_dot(second - first).to_dot()
    assert labels(dot)[1] == "split"
    assert "label=<[1] (2,)>" in line(dot, 'id="edge1"') and "label=<[0] (2,)>" in line(dot, 'id="edge2"')


@pytest.mark.parametrize(
    ("gradient", "word", "look"),
    [(0, "0", "dashed"), (np.nan, "nan", "penwidth=3"), (np.inf, "∞", "penwidth=3"), (-np.inf, "-∞", "penwidth=3")],
)
def test_gradients_that_are_zero_or_not_finite_stand_out(gradient: float, word: str, look: str) -> None:
    x = leaf(1.0, "x")
    y = x * 2
    assert "dashed" not in draw_dot(y).to_dot()
    x.grad = gradient
    node = line(draw_dot(y).to_dot(), "n0 [")
    assert look in node and f">.grad {word}<" in node


def test_kinds_differ_in_shape_and_in_fill() -> None:
    shapes = [(style["shape"], style["style"], style.get("peripheries")) for style in STYLES.values()]
    fills = [style["fillcolor"] for style in STYLES.values()]
    assert len(set(shapes)) == len(set(fills)) == len(STYLES) == 7
    lightness = [sum(w * int(f[i : i + 2], 16) for w, i in zip((0.3, 0.6, 0.1), (1, 3, 5))) for f in fills]
    assert min(lightness) > 190  # black letters on every one


# --- colours ---


def strip(dot: str, number: int) -> str | None:
    """The colour behind the last line of a node's label."""
    found = re.findall('BGCOLOR="(#[0-9a-f]{6})"', line(dot, f'[id="node{number}"'))
    return found[-1] if found else None


def legend(dot: str) -> dict[str, str]:
    """What the legend says of each colour."""
    table = "".join(re.findall(r"^  label=<(.*)>$", dot, re.MULTILINE))
    return dict(re.findall(r'<TD BGCOLOR="(.*?)"><FONT POINT-SIZE="9">(.*?)</FONT></TD>', table))


def test_heat_is_five_bins_of_the_norms_logarithm_around_the_median() -> None:
    x = leaf(1.0)
    with mg.trace():
        for _ in range(7):
            x = x * 10
    x.backward()
    graph = draw_dot(x)
    operations = graph.operations
    assert [node.gradient for node in operations] == [1e6, 1e5, 1e4, 1000.0, 100.0, 10.0, 1.0]
    dot = graph.to_dot()
    bins = [RAMP.index(strip(dot, node.id) or "") for node in operations]
    assert bins == [4, 4, 3, 2, 1, 0, 0]
    assert legend(dot) == dict(
        zip(RAMP, ["below 100", "100 to 1000", "1000 to 10000", "10000 to 100000", "100000 or more"])
    )


def test_the_ramp_gets_darker_and_stays_light_enough_for_black_letters() -> None:
    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))

    found = [luminance(color) for color in RAMP]
    assert found == sorted(found, reverse=True) and len(set(RAMP)) == 5
    contrasts = [(light + 0.05) / 0.05 for light in found]
    assert min(contrasts) > 7  # https://www.w3.org/TR/WCAG22/#contrast-enhanced


@pytest.mark.parametrize("gradient", [None, 0.0, np.nan, np.inf])
def test_what_has_no_logarithm_is_not_hot(gradient: float | None) -> None:
    x, w = leaf(1.0), leaf(1.0)
    y = x * w
    x.grad, w.grad = gradient, 2.0
    dot = draw_dot(y).to_dot()
    assert strip(dot, 0) is None and strip(dot, 1) == RAMP[2]


def test_without_gradients_there_is_no_legend() -> None:
    assert "\n  label=" not in draw_dot(leaf(1.0) * 2).to_dot()


def test_numbers_need_a_trace_with_values() -> None:
    message = r"draw_dot\(\.\.\., tensors=True\).*'multiply'.*with minigrad.trace\(\):"
    with pytest.raises(GraphError, match=message):
        draw_dot(leaf(1.0) * 2, tensors=True)
    with mg.trace(values=False):
        y = leaf(1.0) * 2
    with pytest.raises(GraphError, match=message):
        draw_dot(y, tensors=True)


def test_checked_edges_are_green_or_red_with_their_error() -> None:
    wrong = mg.primitive(lambda x: np.sinh(x), name="wrong_sinh").vjp(x=lambda g, x: 1.5 * g * np.cosh(x))
    x = leaf([1.0, -2.0], "x")
    with mg.trace():
        loss = np.maximum(wrong(x) * 2, np.array([-9.0, -1.0])).sum()
    graph = mg.check_edges(loss)
    lines = {
        graph.nodes[e.target].operation: line(graph.to_dot(), f'id="edge{i}"') for i, e in enumerate(graph.edges[:2])
    }
    assert 'class="wrong" color="#c62828"' in lines["wrong_sinh"]
    assert graph.edges[0].error is not None and f"<{graph.edges[0].error:.2g}>" in lines["wrong_sinh"]
    assert 'class="agrees" color="#2f7d32"' in lines["multiply"] and "label=" not in lines["multiply"]
    assert graph.to_dot().count('class="wrong"') == 1
    graph = replace(graph, edges=[replace(graph.edges[0], verdict="unclear"), *graph.edges[1:]])
    assert 'class="unclear"' in line(graph.to_dot(), 'id="edge0"')
    assert list(legend(graph.to_dot()).values()) == ["agrees", "wrong", "unclear: differences cannot tell"]


def test_the_worst_edge_is_a_wrong_one_and_an_unclear_one_only_if_there_is_nothing_else() -> None:
    def edge(verdict: str | None = None, error: float | None = None) -> DrawnEdge:
        return DrawnEdge(0, 1, "x", None, (), verdict=verdict, error=error)

    unclear, small, large, wrong = edge("unclear", 5.0), edge("agrees", 1e-9), edge("agrees", 1e-7), edge("wrong", 1e-4)
    assert worst([small, large, edge(), unclear]) is large and worst([unclear, small]) is small
    assert worst([wrong, unclear, large]) is wrong and worst([edge("wrong", 1e-3), wrong]) is not wrong
    assert worst([unclear, edge()]) is unclear and worst([edge()]) is None


def test_what_the_first_nan_reached_is_shaded_and_says_so() -> None:
    x, w = leaf([1.0, 0.0], "x"), leaf(1.0, "w")
    with mg.trace(), np.errstate(all="ignore"):
        loss = (np.log(x) * x).sum() + np.exp(w)
    found = mg.find_nan(loss)
    assert found is not None
    dot = found.graph.to_dot()
    shaded = re.findall(r'^ *n(\d+) \[.*class="\w+ tainted( culprit)?".*fillcolor="#f6c3c8"', dot, re.MULTILINE)
    marked = [(found.graph.nodes[int(i)].operation, bool(culprit)) for i, culprit in shaded]
    assert marked == [("log", True), ("multiply", False), ("sum", False), ("add", False)]
    assert "made the first -∞" in line(dot, "<B>np.log(x)</B>")
    assert list(legend(dot).values()) == ["reached by the first NaN or infinity"]


def test_the_culprit_of_a_backward_pass_is_marked_apart_from_its_victim() -> None:
    x = leaf([0.0, 4.0], "x")
    with mg.trace(), np.errstate(all="ignore"):
        loss = np.where(x.data > 0, np.sqrt(x), 0.0).sum()
        loss.backward()
    found = mg.find_nan(loss)
    assert found is not None
    dot = found.graph.to_dot()
    culprit, victim = line(dot, "<B>np.sqrt(x)</B>"), line(dot, "<B>x</B>")
    assert "derivative for x: the first nan" in culprit and 'class="operation culprit"' in culprit
    assert "tainted" in victim and "culprit" not in victim and dot.count("culprit") == 1


# --- numbers ---


def test_tensors_adds_the_numbers_as_cells() -> None:
    x, w = leaf([[1.0, -2.0], [0.5, 3.0]], "x"), leaf(3.0, "w")
    with mg.trace():
        loss = np.tanh(x * w).sum()
    dot = draw_dot(loss, tensors=True).to_dot()
    assert labels(dot)[0] == "x | (2, 2) float64 | data [[1, -2], |  [0.5, 3]] | grad -"
    loss.backward()
    dot = draw_dot(loss, tensors=True).to_dot()
    assert labels(dot)[1] == f"w | () float64 | data 3 | grad {w.grad.item():.4g}"
    assert labels(dot)[-1] == f"loss sum | () float64 | data {loss.item():.4g} | grad 1"
    assert strip(dot, 1) is not None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (np.float32(0.1), "0.1"),
        (np.array(3), "3"),
        (np.array(True), "True"),
        (np.array([1e-9, 123456.0, np.nan]), "[1e-09, 1.235e+05, nan]"),
        (np.array([-0.0, np.inf, -np.inf]), "[0, ∞, -∞]"),
        (np.array([1 + 2j]), "[1+2j]"),
        (np.zeros((0,)), "[]"),
        (np.zeros((0, 3)), "[]"),
        (np.arange(12).reshape(2, 6), "[[0, 1, 2, 3, 4, 5],\n [6, 7, 8, 9, 10, 11]]"),
        (np.arange(13.0), "[0, 1, ..., 11, 12]"),
        (np.arange(39.0).reshape(13, 3), "[[0, 1, 2],\n [3, 4, 5],\n ...,\n [33, 34, 35],\n [36, 37, 38]]"),
        (np.ones((1, 2, 2)), "[1, 1, 1, 1]"),
        (np.arange(6.0)[:, None], "[[0],\n [1],\n [2],\n [3],\n [4],\n [5]]"),
        (np.arange(7.0)[:, None], "[0, 1, 2, 3, 4, 5, 6]"),
        (np.arange(1200.0).reshape(16, 3, 5, 5), "[0, 1, ..., 1198, 1199]"),
        (np.full(12, 1.234e-50), "[" + "1.234e-50, " * 5 + "1.234e-50,\n " + "1.234e-50, " * 5 + "1.234e-50]"),
        (np.ones(20, complex), "[1+0j, 1+0j, ..., 1+0j, 1+0j]"),
        (np.array(["a"]), "[a]"),
    ],
)
def test_numbers_of_an_array(value: Any, text: str) -> None:
    assert numbers(value) == text
    with np.printoptions(linewidth=20, edgeitems=1, threshold=3, precision=1, legacy="1.13"):
        assert numbers(value) == text


def test_of_several_outputs_each_has_its_row() -> None:
    x = leaf(np.arange(4.0), "x")
    with mg.trace():
        _, second = np.split(x, 2)
        loss = (second * 2).sum()
    loss.backward()
    label = labels(draw_dot(loss, tensors=True).to_dot())[1]
    assert label == "_, second split | [0] data [0, 1] | grad - | [1] data [2, 3] | grad [2, 2]"


# --- direction and place ---


def chain(length: int) -> Tensor:
    y = leaf(1.0)
    for _ in range(length):
        y = -y
    return y


def test_a_picture_has_the_direction_that_was_asked_for() -> None:
    assert "rankdir=TB" in draw_dot(chain(2), rankdir="TB").to_dot()
    assert "rankdir=LR" in draw_dot(chain(60), rankdir="LR", max_nodes=80).to_dot()
    assert "splines" not in draw_dot(chain(2)).to_dot()


def test_only_a_value_that_one_operation_reads_once_is_drawn_beside_it() -> None:
    w, x = leaf(1.0), leaf(1.0)
    assert "rank=same" in draw_dot(x * w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(x * w + w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(w * w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(x * w, {}).to_dot()  # an input


def test_the_first_operand_of_a_first_layer_comes_before_it_and_the_other_beside_it() -> None:
    w, data = leaf(np.ones((2, 2))), np.ones((2, 2))
    with mg.trace():
        left, right = data @ w, w @ data
    for y, beside in ((left, ["W"]), (right, ["data"])):
        graph = draw_dot(y, {"W": w, "data": data})
        (row,) = re.findall(r"rank=same;(.*?)[;}]* n2", graph.to_dot())
        assert [graph.nodes[int(i)].name for i in re.findall(r"n(\d)", row)] == beside


# --- modules ---


def test_modules_are_nested_clusters_whose_titles_and_parameters_drop_the_path_around_them() -> None:
    class Affine:
        pass

    class Model:
        pass

    x, w, b, v = leaf(1.0, "x"), leaf(1.0), leaf(1.0), leaf(1.0)
    with mg.trace(), scope(Model(), "Model"):
        with scope(Model(), "layers.0"):
            with scope(Affine(), "layers.0.inner"):
                y = x * w
            y = y + b
        y = y * v
    dot = draw_dot(y, {"layers.0.inner.w": w, "layers.0.b": b, "other.v": v}).to_dot()
    order = re.findall(r"subgraph (\w+)|label=<(?:<B>)?([^<>]+)|^ +(})$", dot, re.MULTILINE)
    assert ["".join(found) for found in order] == [
        *("x",),
        *("cluster_0", "Model", "other.v", "y"),
        *("cluster_1", "layers.0: Model", "b", "y₂"),
        *("cluster_2", "inner: Affine", "w", "y₁"),
        *("}", "}", "}"),
    ]


# --- escaping ---

NASTY = ['x<b>"&', "</script><b>", "&lt;", "a\\Nb\\", "'", "日本語", 'a"]; n9 [label="', "--> {", "line\nbreak"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NASTY)
def test_a_name_cannot_break_out_of_a_label_or_a_tooltip(name: str) -> None:
    x = leaf(1.0, name)
    with mg.trace(), scope(object(), name):
        dot = draw_dot(x * 1).to_dot()
    node, cluster = line(dot, "n0 ["), line(dot, "module0")
    texts = [
        *re.findall(r"label=<<B>(.*)</B><BR/>", node),
        *re.findall(r'tooltip="input (.*)"]$', node),
        *re.findall(r"label=<(.*): object> ", cluster),
        *re.findall(r'tooltip="(.*)" style', cluster),
    ]
    assert len(texts) == 4
    for text in texts:
        assert not set(text) & set('<>"\n')
    assert [html.unescape(text).replace("\\\\", "\\") for text in texts[::2]] == [name.replace("\n", " ")] * 2


def test_characters_that_xml_forbids_are_replaced() -> None:
    x = leaf(1.0, "a\x00b\x1b\ud800\ufffe")
    assert labels(draw_dot(x * 1).to_dot())[0].startswith("a\ufffdb\ufffd\ufffd\ufffd |")


def test_long_names_are_shortened_and_whole_in_the_tooltip() -> None:
    x = leaf(1.0, "encoder." * 10 + "weight")
    node = line(draw_dot(x * 1).to_dot(), "n0 [")
    (label,) = re.findall("<B>(.*)</B>", node)
    assert len(label) > 30 and label.endswith("…") and x.name.startswith(label[:-1])
    assert f'tooltip="input {x.name}"' in node


def test_a_value_that_is_read_very_often_is_named_where_it_is_read() -> None:
    """Edges across all of a long chain would take Graphviz minutes."""
    weight = Tensor(0.5, requires_grad=True, name="weight")
    y: Any = weight
    for _ in range(9):
        y = np.tanh(y) * weight
    dot = draw_dot(y).to_dot()
    references = re.findall(r'again(\d+) \[id="again\1" .* label=<weight>', dot)
    edges = re.findall(r'(\w+) -> n\d+ \[id="edge(\d+)"', dot)
    assert len(references) == 9  # ten uses, the first from the value itself
    assert {number for source, number in edges if source == f"again{number}"} == set(references)
    assert sum(source == "n0" for source, _ in edges) == 1
    few: Any = np.tanh(weight) * weight
    assert "again" not in draw_dot(few).to_dot()
