"""A page is a path, and shows itself where it is read. In a browser: tests/browser/test_play.py."""

import html
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph.pages import html as pages
from minigrad.graph.pages.attention_maps import AttentionMaps, Layer
from minigrad.graph.pages.html import Page


def test_a_page_is_a_path(tmp_path: Path) -> None:
    page = Page(tmp_path / "explain.html")
    assert isinstance(page, Path) and page == tmp_path / "explain.html" and hash(page) == hash(Path(page))
    assert str(page) == os.fspath(page) and page.parent == tmp_path
    assert pickle.loads(pickle.dumps(page)) == page
    page.write_text("x", encoding="utf-8")
    assert page.with_suffix(".txt").name == "explain.txt" and page.is_file()


def test_it_shows_itself(tmp_path: Path) -> None:
    page = Page(tmp_path / 'a "page".html')
    text = '<!DOCTYPE html><p title="a">&amp; 日本語</p>'
    page.write_text(text, encoding="utf-8")
    shown = page._repr_html_()
    assert shown is not None and html.unescape(shown.split('srcdoc="')[1].split('"')[0]) == text
    assert page.iframe('a"b.html', height=300).startswith('<iframe src="a&quot;b.html"')
    assert 'height="300"' in page.iframe("x.html", height=300)


def test_where_there_is_nothing_to_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(tmp_path / "explain.html")
    assert page._repr_html_() is None  # not written yet: it prints as a path
    assert Page(tmp_path)._repr_html_() is None
    page.write_text("x" * 100, encoding="utf-8")
    monkeypatch.setattr(pages, "MOST_INLINE", 50)
    assert page._repr_html_() == "<p>explain.html is too large to be shown here: open the file in a browser.</p>"


def test_whatever_writes_a_page_or_a_table_shows_it_in_a_notebook(tmp_path: Path) -> None:
    weights = np.full((2, 3, 3), 1 / 3, np.float32)
    maps = AttentionMaps([Layer("", 1, ["<a>", "b", "c"], ["a", "b", "c"], weights)])
    assert maps._repr_html_().startswith("<iframe srcdoc=")
    assert isinstance(maps.to_html(tmp_path / "maps.html"), Page)
    x = mg.Tensor([0.5], requires_grad=True)
    with mg.profile() as found:
        (x * 2.0).sum().backward()
    assert "<pre>" in found._repr_html_() and "multiply" in found._repr_html_()
    flow = mg.grad_flow({"x": x})
    assert flow._repr_html_() is None
    flow.step()
    assert str(flow._repr_html_()).startswith("<pre>")
