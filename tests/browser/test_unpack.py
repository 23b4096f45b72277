"""The page reads its packed data as they were before: assets/unpack.js against what page_data gave."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.graph.pages.explain import packed, page_data
from minigrad.graph.pages.html import asset, page, plain
from minigrad.graph.record.capture import capture


def small() -> Any:
    """Several outputs, large arrays, broadcasting, casts, complex numbers, NaN."""
    x = Tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    large, row = (
        Tensor(np.ones(400), requires_grad=True),
        Tensor(np.array([0.1, 1 / 3, 7], np.float32), requires_grad=True),
    )
    first, second = np.split(x * row, 2)
    loss = (first * second).sum() + large.sum() * 2.0 + np.log(x[0, 0] - 1.0)
    return loss + np.real(np.sum(np.fft.fft(x)))


def long() -> Any:
    x = Tensor(0.5, requires_grad=True)
    y: Any = x
    for i in range(1200):
        y = np.tanh(y) * x if i % 7 else y + x
    return y


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("compute", [small, long])
def test_what_is_unpacked_is_what_was_packed(compute: Callable[[], Any], browser: Any, tmp_path: Path) -> None:
    with mg.trace():
        loss = compute()
    loss.backward()
    data = page_data(capture(loss))
    assert (len(data["nodes"]) + len(data["edges"]) > 3000) == (compute is long)
    want = json.loads(json.dumps(plain(data)))
    path = tmp_path / "data.html"
    path.write_text(page("data", "", asset("unpack.js"), packed(data)), encoding="utf-8")
    shown = browser.new_page()
    shown.goto(path.as_uri())
    found = shown.evaluate(
        """([ofNode, ofEdge]) => {
          const pick = (names) => (row) => Object.fromEntries(names.map((name) => [name, row[name]]));
          const { nodes, edges, ...rest } = unpacked(pageData());
          const found = { ...rest, nodes: nodes.map(pick(ofNode)), edges: edges.map(pick(ofEdge)) };
          const words = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
          return JSON.parse(JSON.stringify(found, words)); // NaN is a word in JSON
        }""",
        [list(want["nodes"][0]), list(want["edges"][0])],
    )
    shown.close()
    assert found.keys() == want.keys()
    for name, about in want.items():
        assert found[name] == about, name
