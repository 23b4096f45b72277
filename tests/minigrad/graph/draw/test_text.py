"""The graph as a tree of text."""

import numpy as np

import minigrad as mg
from minigrad import draw_dot
from minigrad.graph.draw.text import write_text
from tests.leaves import leaf

GOLDEN = """\
loss: sum  () float64  grad -1
└─ h * h - x * 2: subtract  (2,) float64  |grad| 1.41
   ├─ h * h: multiply  (2,) float64  |grad| 1.41
   │  ├─ h: tanh  (2,) float64  |grad| 2.82
   │  │  └─ x * w: multiply  (2,) float64  |grad| 0.0196
   │  │     ├─ x  (2,) float64  |grad| 2.79
   │  │     └─ w  () float64  grad -0.0197
   │  └─ ^ h
   └─ x * 2: multiply  (2,) float64  |grad| 1.41
      ├─ x  (2,) float64  |grad| 2.79
      └─ 2
"""


def test_the_tree_of_a_small_program() -> None:
    x, w = leaf([1.0, 2.0], "x"), leaf(3.0, "w")
    with mg.trace():
        h = np.tanh(x * w)
        loss = (h * h - x * 2).sum()
    loss.name = "loss"
    loss.backward(-1.0)
    text = draw_dot(loss).to_text()
    assert text == GOLDEN
    assert draw_dot(loss).to_text() == text


def test_before_backward_the_gradient_is_not_zero_but_unknown() -> None:
    x = leaf(1.0, "x")
    with mg.trace():
        y = np.exp(x)
    assert draw_dot(y).to_text() == "y: exp  () float64  grad -\n└─ x  () float64  grad -\n"


def test_outputs_of_one_operation_are_numbered() -> None:
    x = leaf(np.arange(3.0), "x")
    first, _, third = np.split(x, 3)
    text = draw_dot((first * third).sum()).to_text()
    assert text.splitlines()[2:] == ["   ├─ [0] split 1", "   │  └─ x  (3,) float64  grad -", "   └─ [2] ^ split 1"]


def test_several_tensors_are_several_trees() -> None:
    x = leaf(2.0, "x")
    y = np.exp(x)
    z = y * x
    text = write_text(draw_dot([z, y]))
    assert text.splitlines() == [
        "loss: multiply  () float64",
        "├─ exp 1  () float64",
        "│  └─ x  () float64  grad -",
        "└─ x  () float64  grad -",
    ]


def test_a_long_chain_is_cut_into_trees() -> None:
    x = leaf(1.0, "x")
    y = x
    for _ in range(3000):
        y = y * x
    text = draw_dot(y).to_text()
    lines = text.splitlines()
    assert max(map(len, lines)) < 120
    multiplied = [line for line in lines if "multiply" in line and " v " not in line]
    assert len(multiplied) == 3000
    references = [line.partition(" v ")[2] for line in lines if " v " in line]
    assert references == [line.partition("  ")[0] for line in lines if line.startswith("multiply")]
    assert len(references) == (3000 - 1) // 25  # a tree has 24 levels under its first line


def test_a_name_stays_on_its_line_and_sends_nothing_to_the_terminal() -> None:
    with mg.trace():
        loss = leaf(1.0, "a\nb\x1b[31m\u202e猫") * 2
    assert "a\ufffdb\ufffd[31m\ufffd猫  ()" in draw_dot(loss).to_text()
