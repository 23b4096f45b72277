"""A drawing fits a slide: its size is estimated before its layout, and decides on direction and detail."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad.graph import Drawing
from minigrad.graph.draw.fit import READABLE, SLIDE, scale
from minigrad.graph.draw.graphviz import lay_out
from models import ClassifierConfig, TransformerClassifier
from tests.leaves import leaf


def chain(length: int) -> Drawing:
    x = long_name = leaf([1.0, 2.0], "x")
    with mg.trace():
        for _ in range(length):
            long_name = np.tanh(long_name) * x
    return mg.draw_dot(long_name.sum(), max_nodes=200)


def wide() -> Drawing:
    """Many values for one operation."""
    values = [leaf([1.0], f"a_long_name_of_value_{i}") for i in range(12)]
    with mg.trace():
        y: Any = np.concatenate(values)
    return mg.draw_dot(y.sum())


def numbers() -> Drawing:
    """Cells with several lines."""
    x, w = leaf(np.ones((5, 2)), "x"), leaf(np.full((2, 6), 0.125), "w")
    with mg.trace():
        y: Any = np.tanh(x[:2] @ w).sum()
    y.backward()
    return mg.draw_dot(y, tensors=True)


def classifier(**how: Any) -> Drawing:
    rng = np.random.default_rng(0)
    model = TransformerClassifier(ClassifierConfig(vocab_size=50, num_classes=4), rng=rng)
    ids, mask = rng.integers(0, 50, size=(2, 9)), np.arange(9) < np.array([[9], [6]])
    with mg.trace():
        loss = nn.cross_entropy(model(ids, mask), np.array([3, 1]))
    loss.backward()
    return mg.draw_dot(loss, model, **how)


def size(drawing: Drawing, rankdir: str) -> tuple[float, float]:
    drawing.rankdir = rankdir
    svg = lay_out(drawing.drawn().picture(), "svg").decode()
    ((width, height),) = re.findall(r'viewBox="0 0 (\S+) (\S+)"', svg)
    return float(width), float(height)


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
@pytest.mark.parametrize(
    "draw", [lambda: chain(2), lambda: chain(12), wide, numbers, classifier, lambda: classifier(max_nodes=80)]
)
def test_the_estimate_is_about_what_graphviz_needs(draw: Callable[[], Drawing], rankdir: str) -> None:
    drawing = draw()
    found, expected = drawing.drawn().picture().estimate()[rankdir], size(drawing, rankdir)
    assert scale(found) == pytest.approx(scale(expected), rel=0.3)
    assert max(found) == pytest.approx(max(expected), rel=0.3)


def test_a_classifier_fits_a_slide_and_shows_its_input() -> None:
    drawing = classifier()
    drawn = drawing.drawn()
    assert {"embedding", "layers.0", "layers.1", "output"} <= {n.label for n in drawn.nodes if n.boxed}
    assert "ids" in [node.label for node in drawn.nodes]
    width, height = size(drawing, drawn.picture().rankdir)
    assert width * READABLE <= SLIDE[0] and height * READABLE <= SLIDE[1]
    assert "ids" in [node.label for node in classifier(depth=0).drawn().nodes]


def test_a_row_is_drawn_as_long_as_it_fits_and_then_what_fits_better() -> None:
    assert [chain(length).picture().rankdir for length in (1, 2, 6)] == ["LR", "LR", "TB"]
    assert wide().picture().rankdir == "LR"
    assert "rankdir=TB" in chain(6).to_dot() and "rankdir=LR" in chain(1).to_dot()


def test_what_cannot_be_simplified_is_drawn_as_it_is() -> None:
    x, y = leaf(0.5, "x"), leaf(0.25, "y")
    rng = np.random.default_rng(0)
    with mg.trace():
        for i in rng.integers(4, size=60):
            x, y = y, (x * y, np.tanh(x), x + y, np.sin(y))[i]
    drawing = mg.draw_dot(x + y)
    assert len(drawing.drawn().nodes) == len(drawing.nodes)
    assert not drawing.drawn().picture().readable()


def test_a_title_does_not_repeat_the_frames_around_it() -> None:
    dot = classifier(max_nodes=80).to_dot()
    titles = re.findall(r"^ *n\d+ \[.* label=<(.*)> tooltip", dot, re.MULTILINE)
    said = {re.sub(r"<[^>]*>", "", re.split("<BR/>|</TD>", title)[0]) for title in titles}
    assert {"attention", "layer_norm", "affine", "relu", "add", "x add", "weight", "bias", "ids", "constant"} <= said
    assert not [title for title in said if "TransformerEncoderLayer" in title or "attention." in title]
