"""Pictures: complete, well-formed, and no text outside of its box."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph import Drawing
from minigrad.graph.draw.dot import write_dot
from minigrad.graph.draw.labels import Cell, Letters, Lines, Table
from minigrad.graph.draw.layered import text_width
from minigrad.graph.draw.svg import write_svg
from models import TwoLayerConfig, TwoLayerTransformer
from tests.leaves import leaf
from tests.minigrad.graph.draw.test_dot import NASTY

SVG = "{http://www.w3.org/2000/svg}"


def two_layers() -> Drawing:
    rng = np.random.default_rng(0)
    model = TwoLayerTransformer(TwoLayerConfig(4, 5, 2), rng=rng)
    with mg.trace():
        loss = model.loss(rng.standard_normal((3, 6, 4)), np.eye(2)[[0, 1, 1]])
        loss.backward()
    return mg.draw_dot(loss, model)


def cells() -> Drawing:
    w, x = leaf(1.5, "w"), leaf(0.25, "x")
    with mg.trace():
        loss = (w * x + w).tanh()
        loss.backward()
    return mg.draw_dot(loss, {"w": w}, tensors=True)


def lanes() -> Drawing:
    x = leaf(2.0, "x")
    with mg.trace():
        y = x**3
        y.backward(create_graph=True)
        assert x.grad is not None
        first = x.grad
    return mg.draw_dot([first, y], tensors=True)


def checked() -> Drawing:
    cube = mg.primitive(lambda x, /: x**3, name="wrong_cube").vjp(x=lambda g, x: 2 * g * x**2)
    with mg.trace():
        loss = (cube(leaf(0.5, "x")) * 2.0).tanh()
    return mg.check_edges(loss)


def circles() -> Drawing:
    """A module that is called twice, as one box: a line leads back into it."""
    model = TwoLayerTransformer(TwoLayerConfig(4, 5, 2), rng=np.random.default_rng(0))
    with mg.trace():
        loss = model.loss(np.ones((3, 6, 4)), np.eye(2)[[0, 1, 1]])
    return mg.draw_dot(loss, model, depth=0)


DRAWINGS = [two_layers, cells, lanes, checked, circles]


def drawn(drawing: Drawing) -> tuple[str, ET.Element]:
    text = write_svg(drawing.drawn().picture(explained=True))
    return text, ET.fromstring(text)


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_every_node_edge_and_module_is_drawn_once(draw: Callable[[], Drawing], rankdir: str) -> None:
    drawing = draw()
    drawing.rankdir = rankdir
    shown = drawing.drawn()
    _, root = drawn(drawing)
    ids = [group.get("id") for group in root.iter(f"{SVG}g") if group.get("id") not in (None, "graph0")]
    expected = {f"node{node.id}" for node in shown.nodes} | {f"edge{i}" for i in range(len(shown.edges))}
    expected |= {f"module{module.id}" for module in shown.modules}
    assert len(ids) == len(set(ids))
    others = {re.sub(r"\d+", "", str(i)) for i in set(ids) - expected}
    assert expected <= set(ids) and others <= {"origin", "again", "graph-legend"}


def box(group: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the outline, which comes first."""
    shape = next(e for e in group if e.tag in (f"{SVG}path", f"{SVG}polygon"))
    if shape.tag == f"{SVG}polygon":
        points = [tuple(map(float, p.split(","))) for p in str(shape.get("points")).split()]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
    else:
        path = re.sub(r"A\S+ \S+ \S+ \S+ \S+ ", "M", str(shape.get("d")))
        pairs = re.findall(r"M([-\d.]+)[, ]([-\d.]+)", path)
        xs = [float(x) for x, _ in pairs] + [float(x) for x in re.findall(r"H([-\d.]+)", path)]
        ys = [float(y) for _, y in pairs] + [float(y) for y in re.findall(r"V([-\d.]+)", path)]
    return min(xs), min(ys), max(xs), max(ys)


def text_extent(text: ET.Element) -> tuple[float, float]:
    """Left and right of a text, in a font as wide as we measure with."""
    width = text_width(text.text or "", float(text.get("font-size", 0)))
    for span in text:
        size = float(span.get("font-size", text.get("font-size", 0)))
        width += text_width(span.text or "", size) * (1.1 if span.get("font-weight") else 1)
        width += text_width(span.tail or "", float(text.get("font-size", 0)))
    middle = float(text.get("x", 0))
    return middle - width / 2, middle + width / 2


@pytest.mark.parametrize("draw", DRAWINGS)
def test_texts_stay_in_their_boxes(draw: Callable[[], Drawing]) -> None:
    _, root = drawn(draw())
    count = 0
    for group in root.iter(f"{SVG}g"):
        if (group.get("class") or "").split(" ")[0] not in ("node", "cluster"):
            continue
        left, top, right, bottom = box(group)
        for text in group.iter(f"{SVG}text"):
            count += 1
            low, high = text_extent(text)
            assert left <= low + 0.5 and high <= right + 0.5, "".join(text.itertext())
            assert top < float(text.get("y", 0)) < bottom
            written = "".join(text.itertext())
            room = right - left
            assert text.get("textLength") or 0.62 * float(text.get("font-size", 0)) * len(written) <= room
            assert float(text.get("textLength", 0)) <= room
    assert count


@pytest.mark.sampled(2)
@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_nodes_do_not_overlap_and_stand_in_their_modules(draw: Callable[[], Drawing], rankdir: str) -> None:
    drawing = draw()
    drawing.rankdir = rankdir
    shown = drawing.drawn()
    _, root = drawn(drawing)
    boxes = {
        str(group.get("id")): box(group)
        for group in root.iter(f"{SVG}g")
        if group.get("id", "")[:4] in ("node", "modu")
    }
    for node in shown.nodes:
        left, top, right, bottom = boxes[f"node{node.id}"]
        inside, module = set(), node.module
        while module is not None:
            inside.add(module)
            module = shown.modules[module].parent
        for number, (low, high, far, deep) in ((m.id, boxes[f"module{m.id}"]) for m in shown.modules):
            if number in inside:
                assert low <= left and right <= far and high <= top and bottom <= deep
            else:
                assert right <= low or far <= left or bottom <= high or deep <= top
        for other in shown.nodes[node.id + 1 :]:
            low, high, far, deep = boxes[f"node{other.id}"]
            assert right <= low or far <= left or bottom <= high or deep <= top


@pytest.mark.parametrize("draw", DRAWINGS)
def test_lines_begin_and_end_at_their_nodes(draw: Callable[[], Drawing]) -> None:
    drawing = draw()
    shown = drawing.drawn()
    _, root = drawn(drawing)
    groups = {str(group.get("id")): group for group in root.iter(f"{SVG}g")}
    for number, edge in enumerate(shown.edges):
        path = next(groups[f"edge{number}"].iter(f"{SVG}path"))
        points = [tuple(map(float, p)) for p in re.findall(r"(-?[\d.]+),(-?[\d.]+)", str(path.get("d")))]
        for node, (x, y) in ((edge.source, points[0]), (edge.target, points[-1])):
            left, top, right, bottom = box(groups[f"node{node}"])
            assert left - 12 <= x <= right + 12 and top - 12 <= y <= bottom + 12  # an arrowhead away


@pytest.mark.parametrize("name", NASTY)
def test_a_name_stays_text(name: str) -> None:
    x = leaf(1.0, name)
    _, root = drawn(mg.draw_dot(x * 2.0))
    shown = "".join(next(g for g in root.iter(f"{SVG}g") if g.get("id") == "node0").itertext())
    clean = re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub(r"[\t\r\n]+", " ", name))
    assert f"input {clean}" in shown
    assert not [e for e in root.iter() if e.tag in (f"{SVG}script", f"{SVG}b", f"{SVG}image")]


def test_the_same_drawing_gives_the_same_picture() -> None:
    assert drawn(cells())[0] == drawn(cells())[0]


def test_what_is_wrong_looks_wrong() -> None:
    text, root = drawn(checked())
    wrong = next(group for group in root.iter(f"{SVG}g") if "wrong" in (group.get("class") or "").split())
    assert 'stroke="#c62828"' in ET.tostring(wrong, encoding="unicode") and "0.33" in "".join(wrong.itertext())
    assert "unclear: differences cannot tell" in text


def without_marks(label: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", label)).replace(r"\\", "\\")


@pytest.mark.parametrize("draw", DRAWINGS)
def test_one_picture_says_the_same_as_dot_and_as_svg(draw: Callable[[], Drawing]) -> None:
    picture = draw().drawn().picture(explained=True)
    dot, root = write_dot(picture), ET.fromstring(write_svg(picture))
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    names = re.findall(r'\[id="(\w+)"', dot)
    assert len(names) == len(set(names)) and set(names) == groups.keys() - {"graph0", "graph-legend"}
    for name in names:
        statement = next(line for line in dot.splitlines() if f'[id="{name}"' in line)
        classes = re.findall(r' class="([^"]*)"', statement)
        assert (groups[name].get("class") or "").split()[1:] == (classes[0].split() if classes else [])
        label = re.findall(r" label=<(.*)>(?: tooltip=| class=| \w+=|\])", statement)
        texts = "".join("".join(text.itertext()) for text in groups[name].iter(f"{SVG}text"))
        assert texts == (without_marks(label[0]) if label else "")


def test_labels_are_measured_as_they_are_nested() -> None:
    letters = Letters(10)
    assert Lines([[("ab\na", letters)]]).size() == (text_width("ab", 10), 25.0)

    def table(title: str) -> Table:
        cells = [Cell(Lines([[(text, letters)]])) for text in "ab"]
        return Table([[Cell(Lines([[(title, letters)]]), span=2)], cells], spacing=0.0, padding=1.0)

    assert table("i").size()[0] == pytest.approx(text_width("ab", 10) + 4)
    assert table("wwwwwwww").size()[0] == pytest.approx(text_width("wwwwwwww", 10) + 2)


def test_a_label_of_dot_says_only_what_differs() -> None:
    base = Letters(10, "red")
    lines = Lines([[("a\\b", base), ("<", Letters(10, "red", bold=True))], [("x\ny", Letters(9, "blue"))]])
    small = '<FONT COLOR="blue"><FONT POINT-SIZE="9">x<BR/>y</FONT></FONT>'
    assert lines.dot(base) == f"a\\\\b<B>&lt;</B><BR/>{small}"
    table = Table([[Cell(lines, "white", "black", span=2)]], padding=1.0)
    cell = f'<TD COLSPAN="2" BORDER="1" COLOR="black" BGCOLOR="white">{lines.dot(base)}</TD>'
    assert table.dot(base) == f'<TABLE BORDER="0" CELLPADDING="1"><TR>{cell}</TR></TABLE>'
