"""Graphviz' SVG as a page needs it: ids, classes and tooltips of every element, and no name that becomes markup."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph import Drawing
from minigrad.graph.draw.graphviz import adapted
from minigrad.graph.draw.picture import FONT
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
    return mg.draw_dot(loss, model, rankdir="TB", max_nodes=80)


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


DRAWINGS = [two_layers, cells, lanes, checked]


def groups(svg: str) -> dict[str, ET.Element]:
    found = [group for group in ET.fromstring(svg).iter(f"{SVG}g") if group.get("id") != "graph0"]
    assert len({group.get("id") for group in found}) == len(found)
    return {str(group.get("id")): group for group in found}


def title(group: ET.Element) -> str:
    first = next(iter(group))
    assert first.tag == f"{SVG}title"
    return first.text or ""


def attribute(line: str, name: str) -> str:
    """The text of an attribute in a line of DOT."""
    found = re.search(rf'\b{name}="([^"]*)"', line)
    return re.sub(r"\\+", lambda m: "\\" * (len(m[0]) // 4), html.unescape(found[1])) if found else ""


@pytest.mark.parametrize("draw", DRAWINGS)
def test_every_part_of_the_picture_is_a_group_with_its_id_classes_tooltip_and_label(
    draw: Callable[[], Drawing],
) -> None:
    picture = draw().drawn().picture()
    found = groups(draw().to_svg())
    written = [
        line for line in picture.dot().splitlines() if re.search(r' \[(?!.*style="?invis)', line) and "id=" in line
    ]
    assert found.keys() == {attribute(line, "id") for line in written}
    for line in written:
        group = found[attribute(line, "id")]
        assert (group.get("class") or "").split()[1:] == attribute(line, "class").split()
        assert title(group) == attribute(line, "tooltip")
        texts = "".join("".join(text.itertext()) for text in group.iter(f"{SVG}text"))
        label = re.search(r"label=<(.*)>(?= \w+=|\])", line)
        assert texts == (html.unescape(re.sub(r"<[^>]*>", "", label[1])).replace(r"\\", "\\") if label else "")


def test_the_shape_comes_first_and_has_the_colours() -> None:
    found = groups(two_layers().to_svg())
    for group in found.values():
        kind, *classes = (group.get("class") or "").split()
        if kind == "node" and "parameter" in classes:
            assert group[1].tag == f"{SVG}path" and group[1].get("fill") == "#ffdf9e"
        if kind == "cluster":
            assert group[1].tag == f"{SVG}path" and 0.03 < float(group[1].get("fill-opacity", 1)) < 0.05
    assert any("parameter" in str(group.get("class")) for group in found.values())


def test_the_legend_has_its_colours() -> None:
    (whole,) = ET.fromstring(checked().to_svg())
    assert [text.text for text in whole.findall(f"{SVG}text")] == [
        *("derivative", "agrees", "wrong", "unclear: differences cannot tell"),
    ]
    fills = [shape.get("fill") for shape in whole.findall(f"{SVG}polygon")]
    assert fills[1:] == ["#cfead0", "#f7d0d0", "#e6e6e6"]  # after the background
    x = leaf(1.0, "x")
    assert not ET.fromstring(mg.draw_dot(x * 2).to_svg())[0].findall(f"{SVG}text")


def test_the_whole_has_a_name_a_font_that_readers_have_and_no_links() -> None:
    svg = cells().to_svg()
    root = ET.fromstring(svg)
    assert root.get("aria-label") == "the computation of loss"
    assert {text.get("font-family") for text in root.iter(f"{SVG}text")} == {FONT}
    assert not re.search("<a[ >]|xlink|<!|<[?]", svg)


@pytest.mark.parametrize("name", NASTY)
def test_a_name_stays_text(name: str) -> None:
    x = leaf(1.0, name)
    svg = mg.draw_dot(x * 2.0).to_svg()
    clean = re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub(r"[\t\r\n]+", " ", name))
    assert title(groups(svg)["node0"]) == f"input {clean}"
    shown = [text.text for text in groups(svg)["node0"].iter(f"{SVG}text")]
    assert clean in shown
    assert not [e for e in ET.fromstring(svg).iter() if e.tag in (f"{SVG}script", f"{SVG}b", f"{SVG}image")]


def test_the_same_drawing_gives_the_same_picture() -> None:
    assert cells().to_svg() == cells().to_svg()


def test_what_is_wrong_looks_wrong() -> None:
    wrong = next(group for group in groups(checked().to_svg()).values() if "wrong" in str(group.get("class")).split())
    assert 'stroke="#c62828"' in ET.tostring(wrong, encoding="unicode") and "0.33" in "".join(wrong.itertext())


def test_an_svg_that_graphviz_wrote_without_tooltips_is_adapted_too() -> None:
    written = (
        b'<?xml version="1.0"?><svg width="8pt" height="9pt" viewBox="0.00 0.00 8.00 9.00" xmlns="http://www.w3.org/2000/svg">'
        b'<g id="graph0" class="graph"><title>minigrad</title><polygon fill="white"/>'
        b'<g id="node0" class="node"><title>n0</title><path d="M0,0"/></g></g></svg>'
    )
    assert title(groups(adapted(written, "a <name>"))["node0"]) == ""


def test_a_tooltip_names_the_call_and_its_line() -> None:
    with mg.trace():
        loss = np.tanh(leaf([1.0, 2.0], "x")).sum(axis=0)
    found = [title(group) for group in groups(mg.draw_dot(loss).to_svg()).values()]
    line = (
        r"operation np\.tanh\(leaf\(.*\)\) tanh\(\) at test_svg\.py:\d+: loss = np\.tanh\(leaf\(.*\)\)\.sum\(axis=0\)"
    )
    assert any(re.fullmatch(line, each) for each in found) and "input x" in found
