"""The DOT text: what a label says, how kinds differ, that no name breaks out of it."""

import html
import re
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, draw_dot
from minigrad._tape import scope
from minigrad.graph.dot import STYLES


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


def line(dot: str, text: str) -> str:
    (found,) = [line for line in dot.splitlines() if text in line]
    return found


def labels(dot: str) -> list[str]:
    """What each node's label says, its lines joined by " | "."""
    found = re.findall(r"^ *n\d+ \[.* label=<(.*)> tooltip", dot, re.MULTILINE)
    return [re.sub(r"<(?!BR/)[^>]*>", "", label).replace("<BR/>", " | ") for label in found]


GOLDEN = """\
digraph minigrad {
  graph [rankdir=LR fontname="Helvetica,Arial,sans-serif" fontsize=11 nodesep=0.2 ranksep=0.3 labeljust=l]
  node [fontname="Helvetica,Arial,sans-serif" fontsize=11 height=0.3 width=0.3 margin="0.09,0.04"]
  edge [fontname="Helvetica,Arial,sans-serif" fontsize=9 color="#5a5a5a" arrowsize=0.6]
  n0 [id="node0" class="input" shape=note style="filled" fillcolor="#c4dff5" color="#28618f" \
label=<<B>x</B><BR/><FONT POINT-SIZE="9">(1, 2) float64</FONT><BR/><FONT POINT-SIZE="9">grad 0.5</FONT>> \
tooltip="input x"]
  n4 [id="node4" class="loss" shape=octagon style="filled" fillcolor="#c5e3bf" color="#2f6b2f" margin="0.03,0.02" \
label=<<B>loss</B> = sum<BR/><FONT POINT-SIZE="9">() float64</FONT><BR/><FONT POINT-SIZE="9">grad 1</FONT>> \
tooltip="loss loss sum(keepdims=False)"]
  subgraph cluster_0 {
    graph [id="module0" class="module" label=<layer: Layer> tooltip="layer" style="rounded,filled" \
fillcolor="#0000000a" color="#b0b0b0" fontcolor="#4a4a4a" margin=8]
    n1 [id="node1" class="parameter" shape=cylinder style="filled" fillcolor="#ffdf9e" color="#8a6414" \
label=<<B>weight</B><BR/><FONT POINT-SIZE="9">(2, 1) float64</FONT><BR/><FONT POINT-SIZE="9">grad 5</FONT>> \
tooltip="parameter layer.weight"]
    n2 [id="node2" class="parameter" shape=cylinder style="filled" fillcolor="#ffdf9e" color="#8a6414" \
label=<<B>bias</B><BR/><FONT POINT-SIZE="9">(1,) float64</FONT><BR/><FONT POINT-SIZE="9">grad 1</FONT>> \
tooltip="parameter layer.bias"]
    n3 [id="node3" class="operation" shape=box style="rounded,filled" fillcolor="#ffffff" color="#4a4a4a" \
label=<<B>affine</B><BR/><FONT POINT-SIZE="9">(1, 1) float64</FONT><BR/><FONT POINT-SIZE="9">grad 1</FONT>> \
tooltip="operation affine()"]
    { rank=same; n1; n2; n3; n3 -> n2 [style=invis] }
  }
  n0 -> n3 [id="edge0" tooltip="x"]
  n1 -> n3 [id="edge1" tooltip="weight"]
  n2 -> n3 [id="edge2" tooltip="bias" constraint=false]
  n3 -> n4 [id="edge3" tooltip="a" weight=4]
}
"""


def test_the_whole_text_of_a_small_graph() -> None:
    class Layer:
        pass

    x, weight, bias = leaf([[3.0, 4.0]], "x"), leaf([[0.3], [0.4]]), leaf([1.0])
    with mg.trace():
        with scope(Layer(), "layer"):
            y = mg.affine(x, weight, bias)
        loss = y.sum()
    loss.name = "loss"
    loss.backward()
    assert draw_dot(loss, {"layer.weight": weight, "layer.bias": bias}).to_dot() == GOLDEN


# --- labels ---


def test_labels_before_and_after_backward() -> None:
    x = leaf(np.array([1.0, 2.0]), "x")
    with mg.trace():
        loss = np.tanh(x * 0).sum()
    graph = draw_dot(loss)
    assert graph.to_dot().count(">grad -<") == 4 and "grad 0" not in graph.to_dot()
    loss.backward()
    assert labels(draw_dot(loss).to_dot()) == [
        "x | (2,) float64 | grad 0",
        "0",
        "multiply | (2,) float64 | grad 1.41",
        "tanh | (2,) float64 | grad 1.41",
        "sum | () float64 | grad 1",
    ]


def test_operations_that_were_not_traced_say_nothing_about_their_gradient() -> None:
    x = leaf(1.0, "x")
    y = np.exp(x)
    y.backward()
    assert labels(draw_dot(y).to_dot()) == ["x | () float64 | grad 2.72", "exp | () float64"]


def test_names_of_operations_and_constants() -> None:
    x, data = leaf(np.ones(2)), np.ones(2)
    with mg.trace():
        h = x * data
        y = h + np.ones(2)
    assert labels(draw_dot(y, {"h": h, "data": data}).to_dot()) == [
        "input | (2,) float64 | grad -",
        "data | (2,) float64",
        "h = multiply | (2,) float64 | grad -",
        "(2,) float64",
        "add | (2,) float64 | grad -",
    ]


def test_of_several_outputs_the_edges_show_the_shapes() -> None:
    first, second = np.split(leaf(np.ones(4), "x"), 2)
    dot = draw_dot(second - first).to_dot()
    assert labels(dot)[1] == "split"
    assert "label=<[1] (2,)>" in line(dot, 'id="edge1"') and "label=<[0] (2,)>" in line(dot, 'id="edge2"')


@pytest.mark.parametrize(
    ("gradient", "word", "look"), [(0, "0", "dashed"), (np.nan, "nan", "penwidth=3"), (np.inf, "inf", "penwidth=3")]
)
def test_gradients_that_are_zero_or_not_finite_stand_out(gradient: float, word: str, look: str) -> None:
    x = leaf(1.0, "x")
    y = x * 2
    assert "dashed" not in draw_dot(y).to_dot()
    x.grad = gradient
    node = line(draw_dot(y).to_dot(), "n0 [")
    assert look in node and f">grad {word}<" in node


def test_kinds_differ_in_shape_and_in_fill() -> None:
    def told(pattern: str) -> list[tuple[str, ...]]:
        return [tuple(re.findall(pattern, style)) for style in STYLES.values()]

    shapes, fills = told(r'shape=\w+|style="[^"]*"|peripheries=2'), told('fillcolor="(#[0-9a-f]{6})"')
    assert len(set(shapes)) == len(set(fills)) == len(STYLES) == 6
    lightness = [sum(w * int(f[i : i + 2], 16) for w, i in zip((0.3, 0.6, 0.1), (1, 3, 5))) for (f,) in fills]
    assert min(lightness) > 190  # black letters on every one


# --- direction and place ---


def chain(length: int) -> Tensor:
    y = leaf(1.0)
    for _ in range(length):
        y = -y
    return y


def test_up_to_25_nodes_lie_left_to_right_more_from_top_to_bottom() -> None:
    assert "rankdir=LR" in draw_dot(chain(24)).to_dot()
    assert "rankdir=TB" in draw_dot(chain(25)).to_dot()
    assert "rankdir=TB" in draw_dot(chain(2), rankdir="TB").to_dot()
    assert "splines" not in draw_dot(chain(2)).to_dot()


def test_parameters_of_a_large_graph_without_modules_are_not_forced_into_a_row() -> None:
    w = leaf(1.0)
    y = chain(30) * w
    assert "rank=same" not in draw_dot(y, {"w": w}).to_dot()
    with mg.trace(), scope(object(), "model"):
        y = chain(30) * w
    assert "rank=same" in draw_dot(y, {"w": w}).to_dot()


def test_only_a_value_that_one_operation_reads_once_is_drawn_beside_it() -> None:
    w, x = leaf(1.0), leaf(1.0)
    assert "rank=same" in draw_dot(x * w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(x * w + w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(w * w, {"w": w}).to_dot()
    assert "rank=same" not in draw_dot(x * w, {}).to_dot()  # an input


def test_data_come_before_the_first_layer_and_its_parameters_beside_it() -> None:
    w, data = leaf(np.ones((2, 2))), np.ones((2, 2))
    with mg.trace():
        left, right = data @ w, w @ data
    for y, beside in ((left, ["W"]), (right, ["W", "data"])):
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
        *("cluster_0", "Model", "other.v", "multiply"),
        *("cluster_1", "layers.0: Model", "b", "add"),
        *("cluster_2", "inner: Affine", "w", "multiply"),
        *("}", "}", "}"),
    ]


# --- escaping ---

NASTY = ['x<b>"&', "</script><b>", "&lt;", "a\\Nb\\", "'", "日本語", 'a"]; n9 [label="', "--> {", "line\nbreak"]


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
    assert len(label) == 36 and label.startswith("encoder.") and label.endswith(".weight")
    assert f'tooltip="input {x.name}"' in node
