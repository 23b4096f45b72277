"""Labels of generated programs. Python is the oracle: each label that is an expression has the value of its node."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph.record.capture import capture
from tests.minigrad.graph.record.true_labels import CONSTRUCTS, alone, judged, program, run


def wrong(text: str) -> list[str]:
    graph, found = judged(text)
    return [n.label for n in graph.nodes if found[n.id] in ("wrong", "nameless")]


@pytest.mark.parametrize("which", CONSTRUCTS)
def test_each_construct(which: str) -> None:
    assert wrong(alone(which)) == []


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(8, 400))]
)
def test_generated_programs(seed: int) -> None:
    assert wrong(program(seed)) == []


def test_the_oracle_finds_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = leaf(0.5)\nh = x\nfor _ in range(3):\n    h = np.sin(h)\nloss = h * 2\n"
    assert wrong(text) == []
    monkeypatch.setattr("minigrad.graph.record.names._small", lambda number: f"[{number}]")
    assert wrong(text) != []


def test_labels_of_nested_loops_and_methods() -> None:
    text = """
class Neuron:
    def __init__(self, w):
        self.w = leaf(w)
    def out(self, x):
        z = self.w * x
        return np.tanh(z)
C = [[0.0, 0.0], [0.0, 0.0]]
x = leaf(0.5)
for i in range(2):
    for j in range(2):
        for k in range(2):
            C[i][j] += x * (i + j + k)
neurons = [Neuron(0.1), Neuron(0.2)]
acts = [n.out(x) for n in neurons]
loss = C[0][1] * C[1][1] + acts[0] * acts[1]
"""
    graph = capture(run(text)["loss"])
    labels = [node.label for node in graph.operations]
    assert labels[:3] == ["x * (i + j + k) · i=0, k=0", "C[0][1] · k=0", "x * (i + j + k) · i=0, k=1"]  # j is 1 in all
    assert {f"{name} · Neuron {i}" for name in ("z", "np.tanh(z)") for i in (1, 2)} <= set(labels)
    assert [n.label for n in graph.nodes if n.kind == "input"] == ["x", "self.w · Neuron 1", "self.w · Neuron 2"]


def test_one_array_is_one_node() -> None:
    text = """
x = leaf([0.5, 0.25])
E = np.array([[1.0, 2.0], [3.0, 4.0]])
total = 0
for row in E:
    total = total + (row * x).sum() + (row + x).sum()
for t in range(2):
    total = total + (E[t] * x).sum() + (E @ x).sum()
    new = np.ones(2)
    total = total + (new * x).sum()
loss = total
"""
    constants = [n for n in capture(run(text)["loss"]).nodes if n.kind == "constant" and n.shape]
    assert [node.label for node in constants] == ["row₁", "row₂", "E", "new · t=0", "new · t=1"]


def test_an_element_of_a_comprehension_is_named_by_its_expression_and_its_round() -> None:
    text = (
        "x = leaf(0.5)\nus = [x * v if v else v for v in (0.0, 1.5, 2.5)]\nws = [x * v for v in (1.5, 2.5) if v > 2]\n"
    )
    labels = [node.label for node in capture(run(text + "loss = us[1] * us[2] * ws[0]")["loss"]).operations]
    assert labels[:2] == ["x * v · v=1.5", "(x * v)₁ · v=2.5"]


def test_rounds_are_noted_only_in_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("a loop variable was read outside of a trace")

    monkeypatch.setattr("minigrad.graph.record.trace.place_of", refuse)
    x = mg.Tensor(np.ones(2), requires_grad=True)
    for _ in range(3):
        x = x * 2
    x.sum().backward()
