"""Pictures: by whichever Graphviz there is, in the formats a path can name."""

import html
import re
import shutil
import struct
import subprocess
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, draw_dot
from minigrad.engine.observers import scope
from minigrad.errors import MissingExtraError
from minigrad.graph import Drawing
from minigrad.graph.draw import graphviz
from tests.leaves import leaf

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "drawing a graph (not as text) needs pygraphviz: pip install pygraphviz"


def small_graph() -> Drawing:
    x, w = leaf(np.ones((2, 3)), "x"), leaf(np.ones((3, 1)))
    with mg.trace(), scope(object(), "model"):
        y = np.tanh(x @ w).mean()
    y.backward()
    return draw_dot(y, {"w": w})


def test_svg_is_well_formed_and_has_a_view_box_instead_of_a_size() -> None:
    root = ET.fromstring(small_graph().to_svg())
    assert root.tag == f"{SVG}svg"
    assert "width" not in root.attrib and "height" not in root.attrib
    assert len(root.attrib["viewBox"].split()) == 4
    assert root.attrib["style"].startswith("width: 100%; max-width: ")


def test_both_edges_of_a_tensor_used_twice_are_drawn() -> None:
    x = leaf(1.0)
    assert draw_dot(x * x).to_svg().count('class="edge"') == 2


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".svg", b"<svg "),
        (".png", b"\x89PNG\r\n\x1a\n"),
        (".pdf", b"%PDF-"),
        (".dot", b"digraph minigrad {"),
        (".gv", b"digraph minigrad {"),
        (".PNG", b"\x89PNG\r\n\x1a\n"),
        (".txt", b"y: mean  () float64"),
    ],
)
def test_render_writes_the_format_of_the_suffix(tmp_path: Path, suffix: str, start: bytes) -> None:
    for path in (tmp_path / f"a{suffix}", str(tmp_path / f"b{suffix}")):
        assert small_graph().render(path) == Path(path)
        assert Path(path).read_bytes().startswith(start)


def test_a_png_has_144_dots_per_inch() -> None:
    graph = draw_dot(leaf(1.0, "x") * 1)
    width, _ = struct.unpack(">II", graph._lay_out("png")[16:24])
    (page,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", graph._lay_out("pdf"))
    points = float(page) - 72  # half an inch of margin on each side
    assert width == pytest.approx(2 * points, rel=0.05)


@pytest.mark.parametrize("name", ["graph.jpg", "graph", "svg"])
def test_another_suffix_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArgumentError, match=r"names no format; end the path in one of .svg, .png, .pdf, .dot, .gv"):
        small_graph().render(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# --- programs ---


@pytest.mark.usefixtures("no_graphviz")
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_without_graphviz_a_sentence_names_what_a_picture_needs_and_the_dot_text_is_written(
    tmp_path: Path, suffix: str
) -> None:
    graph = small_graph()
    with pytest.warns(UserWarning, match=rf"^{re.escape(SENTENCE)} \(.*graph.dot has the DOT text instead.\)$"):
        written = graph.render(tmp_path / f"graph{suffix}")
    assert [written] == list(tmp_path.iterdir()) == [tmp_path / "graph.dot"]
    assert written.read_text(encoding="utf-8") == graph.to_dot()


@pytest.mark.usefixtures("no_graphviz")
def test_without_graphviz_notebooks_show_the_tree_and_the_sentence(tmp_path: Path) -> None:
    graph = small_graph()
    with pytest.raises(MissingExtraError, match=re.escape(SENTENCE)):
        graph.to_svg()
    tree = html.escape(graph.to_text())
    assert graph._repr_html_() == f"<p>{SENTENCE}</p><pre>{tree}</pre>"
    assert graph.render(tmp_path / "graph.txt").read_text(encoding="utf-8") == graph.to_text()


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program called `dot` that comes first in the PATH; without pygraphviz."""
    if sys.platform == "win32":
        pytest.skip("the stand-in for dot is a shell script")
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setitem(sys.modules, "pygraphviz", None)


def test_the_dot_program_of_the_system_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph, folder = small_graph(), tmp_path / "bin"
    folder.mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 9"><g id="graph0"><title/><path d="M0,0"/></g></svg>'
    stand_in(folder, monkeypatch, f"cat > {folder}/text; echo \"$@\" > {folder}/options; printf '%s' '{svg}'")
    for suffix in (".png", ".pdf"):
        assert graph.render(tmp_path / f"graph{suffix}").read_text() == svg
        assert (folder / "options").read_text() == f"-T{suffix[1:]}\n" and "x @ w" in (folder / "text").read_text()
    assert 'viewBox="0 0 8 9"' in graph.to_svg() and 'd="M0,0"' in graph.to_svg()
    assert (folder / "options").read_text() == "-Tsvg\n" and "x @ w" in (folder / "text").read_text()


def test_a_file_of_the_user_is_not_imported_by_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygraphviz", reason="needs pygraphviz: pip install pygraphviz")
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.chdir(tmp_path)
    for name in ("pygraphviz.py", "threading.py"):
        Path(name).write_text("raise RuntimeError('a file of the user')", encoding="utf-8")
    assert small_graph().to_svg().startswith("<svg")


def test_a_dot_program_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(tmp_path, monkeypatch, "echo 'Format: \"png\" not recognized' >&2; exit 1")
    with pytest.raises(GraphError, match='dot failed: Format: "png" not recognized'):
        small_graph()._lay_out("png")
    assert "dot failed: Format" in small_graph()._repr_html_() and "np.tanh(x @ w)" in small_graph()._repr_html_()


def test_notebooks_show_the_svg_which_fits_or_scrolls_and_is_never_clipped() -> None:
    graph = small_graph()
    root = ET.fromstring(graph._repr_html_())
    assert root.tag == "div" and "overflow-x: auto" in root.attrib["style"] and "height" not in root.attrib["style"]
    (svg,) = root
    assert svg.tag == f"{SVG}svg" and {"width", "height"}.isdisjoint(svg.attrib)
    width = float(svg.attrib["viewBox"].split()[2])
    style = dict(part.split(": ") for part in svg.attrib["style"].split("; "))
    assert style["width"] == "100%" and style["height"] == "auto" and "overflow" not in style
    assert float(style["max-width"][:-2]) == pytest.approx(width, abs=1)
    assert float(style["min-width"][:-2]) == pytest.approx(0.7 * width, abs=1)
    assert repr(graph) == "Graph(1 input, 1 parameter, 2 operations, 1 loss; 4 edges)"


def test_a_graph_too_large_to_be_laid_out_says_so_and_writes_its_text(tmp_path: Path) -> None:
    y = leaf(1.0)
    for _ in range(2500):
        y = -y
    graph = draw_dot(y, max_nodes=10_000)
    with pytest.raises(GraphError, match=r"2501 nodes.*to_dot"):
        graph.to_svg()
    with pytest.warns(UserWarning, match=r"2501 nodes, and a layout of more than 2500 .* has the DOT text instead"):
        assert graph.render(tmp_path / "graph.svg") == tmp_path / "graph.dot"
    assert (tmp_path / "graph.dot").read_text(encoding="utf-8") == graph.to_dot()
    assert "a layout of more than 2500" in graph._repr_html_()


def test_importing_minigrad_imports_no_layout_program() -> None:
    code = "import sys, minigrad; print(sorted({'graphviz', 'pygraphviz', 'matplotlib'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_without_processes_pygraphviz_draws_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a web page. There the site has a module of that name, which draws by Graphviz in WebAssembly."""
    drawn = types.SimpleNamespace(
        AGraph=lambda string: types.SimpleNamespace(draw=lambda format, prog: string.encode())
    )
    monkeypatch.setitem(sys.modules, "pygraphviz", drawn)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert graphviz.typeset("digraph {}", "svg") == b"digraph {}"
