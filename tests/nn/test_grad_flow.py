"""`minigrad.grad_flow` on modules: with `fit`, and the page's graph, whose elements are found by the paths of parameters."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import nn
from minigrad import Tensor, grad_flow

X = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
Y = X[:, :1] * 2


class Net(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        rng = np.random.default_rng(1)
        sizes = [3] + [4] * (layers - 1) + [1]
        self.layers = [nn.Affine(a, b, rng=rng) for a, b in itertools.pairwise(sizes)]

    def forward(self, x: Any) -> Tensor:
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)


def loss(model: Net, batch: Any) -> Tensor:
    x, y = batch
    return ((model(x) - y) ** 2).mean()


def test_fit_calls_on_step_after_each_update_with_the_gradients_there() -> None:
    model = Net()
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    history = nn.fit(model, nn.Batches([X, Y], 8, seed=0), loss, optimizer, epochs=2, progress=False, on_step=flow.step)
    assert flow.steps == list(range(len(history.losses))) == list(range(6))
    gradients, updates = flow.norms("gradient"), flow.norms("update")
    assert list(gradients) == ["layers.0", "layers.1"]
    for layer in gradients:
        np.testing.assert_allclose(updates[layer], 0.1 * gradients[layer], rtol=1e-5)
    assert [flag for flag in flow.flags() if flag.kind == "dead"] == []


def test_what_is_clipped_is_seen_clipped() -> None:
    model = Net()
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    batches = nn.Batches([X, Y], 8, seed=0)
    nn.fit(model, batches, loss, optimizer, epochs=1, progress=False, clip_norm=0.01, on_step=flow.step)
    np.testing.assert_allclose(np.hypot(*flow.norms().values()), 0.01, rtol=1e-4)


def noted(model: Net) -> tuple[grad_flow, Tensor]:
    flow = grad_flow(model)
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss(model, (X, Y)).backward()
        optimizer.step()
        flow.step()
    with minigrad.trace():
        traced = loss(model, (X, Y))
    return flow, traced


def data_of(path: Path) -> Any:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(data)


def test_the_elements_of_the_page_are_those_of_the_parameters(tmp_path: Path) -> None:
    flow, traced = noted(Net())
    data = data_of(flow.to_html(tmp_path / "flow.html", traced))
    for name in ("gradient", "parameter", "update"):
        by_parameter = flow.norms(name, "parameter")
        np.testing.assert_allclose(data["norms"][name], list(by_parameter.values()), rtol=1e-3)
    titles = dict(re.findall(r'<g id="((?:node|module)\d+)"(.*?)</g>', data["svg"].replace("\n", " ")))
    for place, parameter in enumerate(flow.names):
        (element,) = (id for id, places in data["elements"].items() if id.startswith("node") and places == [place])
        assert f"parameter {parameter}" in titles[element]
    modules = {id: places for id, places in data["elements"].items() if id.startswith("module")}
    assert sorted(modules.values()) == [[0, 1], [2, 3]]
    for id, places in modules.items():
        assert f"layers.{places[0] // 2}" in titles[id]


def test_a_large_model_is_drawn_as_boxes_that_stand_for_all_in_them(tmp_path: Path) -> None:
    flow, traced = noted(Net(40))
    data = data_of(flow.to_html(tmp_path / "flow.html", traced))
    assert sorted(places for places in data["elements"].values()) == [[2 * i, 2 * i + 1] for i in range(40)]
    assert all(id.startswith("node") for id in data["elements"])


def test_without_a_tensor_the_page_has_no_graph(tmp_path: Path) -> None:
    flow, _ = noted(Net())
    assert "svg" not in data_of(flow.to_html(tmp_path / "flow.html"))


def test_a_tensor_of_another_kind_is_refused(tmp_path: Path) -> None:
    flow, _ = noted(Net())
    with pytest.raises(minigrad.ArgumentError, match=r"grad_flow\.to_html needs a Tensor"):
        flow.to_html(tmp_path / "flow.html", X)  # type: ignore[arg-type]
