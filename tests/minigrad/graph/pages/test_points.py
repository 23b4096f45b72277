"""Which data a program has, what its answer to them is, and what is asked for and cannot be shown."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, Tensor
from minigrad.graph.pages.explain import page_data
from minigrad.graph.record.capture import capture
from tests.leaves import leaf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 2))
LABELS = np.array([0, 1, 2, 2, 1, 0])
BITS = np.array([[0.0], [1], [1], [0], [1], [1]])
T = np.linspace(-1, 1, 5)


def data(program: Callable[[], Any], show: Any = None) -> Any:
    with mg.trace():
        loss = program()
    page = page_data(capture(loss), False, show)
    found = page["data"]
    if found is not None:
        names = [node["name"] for node in page["nodes"]]
        found |= {"input": names[found["input"]], "answer": found["answer"] and names[found["answer"]]}
    return found


def regression() -> Any:
    w = leaf(RNG.normal(size=(2, 3)), "w")
    p = mg.softmax(X @ w)
    return -np.log(p[np.arange(6), LABELS]).mean()


def two_layers() -> Any:
    w, v = leaf(RNG.normal(size=(2, 4)), "w"), leaf(RNG.normal(size=(4, 1)), "v")
    z = np.tanh(X @ w) @ v
    p = 1 / (1 + np.exp(-z))
    return -(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)).mean()


def logits() -> Any:
    w = leaf(RNG.normal(size=(2, 1)), "w")
    z = X @ w
    return np.logaddexp(0, -(2 * BITS - 1) * z).mean()


def line() -> Any:
    w, b = leaf(0.5, "w"), leaf(0.1, "b")
    f = w * T + b
    return ((f - np.sin(T)) ** 2).mean()


def parabola() -> Any:
    w, b = leaf(0.5, "w"), leaf(0.1, "b")
    f = w * T**2 + b * T
    return ((f - np.sin(T)) ** 2).mean()


def test_classes_in_an_index_and_their_probabilities() -> None:
    found = data(regression)
    assert (found["kind"], found["input"], found["answer"], found["others"]) == ("points", "X", "p", [])
    assert found["targets"].tolist() == LABELS.tolist() and found["classes"] == ["0", "1", "2"]


def test_two_classes_have_a_level_between_them() -> None:
    found = data(two_layers)
    assert (found["answer"], found["classes"], found["level"]) == ("p", ["0", "1"], 0.5)
    assert found["targets"].tolist() == BITS[:, 0].tolist()  # and not 1 - BITS, which comes in later
    found = data(logits, {"points": (X, BITS)})
    assert (found["answer"], found["level"]) == ("z", 0.0)
    found = data(logits, {"points": (X, 2 * BITS - 1)})
    assert (found["classes"], found["level"]) == (["-1", "1"], 0.0)


def test_one_hot_targets_are_classes() -> None:
    w = leaf(RNG.normal(size=(2, 3)), "w")
    found = data(lambda: ((mg.softmax(X @ w) - np.eye(3)[LABELS]) ** 2).mean(), {"points": (X, np.eye(3)[LABELS])})
    assert found["targets"].tolist() == LABELS.tolist()


def test_numbers_are_a_curve() -> None:
    for show in (None, {"points": (T, np.sin(T))}, {"points": (Tensor(T), list(np.sin(T)))}):
        found = data(line, show)
        assert (found["input"], found["answer"], found["classes"], found["others"]) == ("T", "f", None, [])
        np.testing.assert_allclose(found["targets"], np.sin(T))


def test_what_numpy_has_made_of_the_data_is_named() -> None:
    assert data(parabola) is None  # the shapes do not say which array is which
    found = data(parabola, {"points": (T, np.sin(T))})
    assert (found["answer"], found["others"]) == ("f", ["T ** 2"])


def test_images_are_found_by_their_shape_or_by_show() -> None:
    images, layer = RNG.normal(size=(6, 1, 5, 5)).astype(np.float32), nn.Conv2d(1, 2, 5, rng=np.random.default_rng(0))
    flat, w = RNG.normal(size=(6, 16)), leaf(RNG.normal(size=(16, 3)), "w")

    def convolved() -> Any:
        scores = layer(images).reshape(6, 2)
        return nn.cross_entropy(scores, LABELS % 2)

    found = data(convolved)
    assert (found["kind"], found["input"], found["answer"]) == ("images", "images", "scores")
    assert found["targets"].tolist() == (LABELS % 2).tolist()
    found = data(lambda: nn.cross_entropy(flat @ w, LABELS), {"flat": (4, 4)})
    assert (found["kind"], found["input"], found["answer"]) == ("images", "flat", "flat @ w")
    assert data(lambda: nn.cross_entropy(flat @ w, LABELS)) is None


def test_other_arrays_are_no_data() -> None:
    noise, w = RNG.normal(size=(6, 3)), leaf(RNG.normal(size=(2, 3)), "w")
    assert data(lambda: nn.cross_entropy(X @ w + noise, LABELS)) is None
    assert data(lambda: (X @ w).sum()) is None
    assert data(lambda: leaf(1.0, "x") * 2.0) is None


def test_a_state_of_units_is_no_data() -> None:
    """A row for each unit: a parameter has as many entries along an axis, or the rows meet on the way to the answer."""
    state, target = np.array([0.4, 0.0, -0.5]), np.array([0.0, 1.0, 0.0])
    gate, w, W = leaf(RNG.normal(size=3), "gate"), leaf(0.5, "w"), leaf(RNG.normal(size=(4, 5)), "W")

    def gated() -> Any:
        return ((gate * state - target) ** 2).sum()

    def mixed() -> Any:
        h = (W @ np.concatenate([w * state, np.ones(2)]))[:3]
        return ((h - target) ** 2).sum()

    assert data(gated) is None and data(mixed) is None


def test_the_arrays_of_a_loop_are_no_data() -> None:
    """One expression reads them in turn, whatever their number; the same array in each round is x."""
    w = leaf(RNG.normal(size=(2, 3)), "w")

    def rounds(*batches: Any) -> Any:
        return sum(nn.cross_entropy(x @ w, LABELS) for x in batches)

    assert data(lambda: rounds(X, X + 1)) is None and data(lambda: rounds(*(X + i for i in range(30)))) is None
    assert data(lambda: rounds(X))["kind"] == data(lambda: rounds(X, X))["kind"] == "points"


def test_many_arrays_that_the_text_reads_hide_no_data() -> None:
    w, terms = leaf(RNG.normal(size=(2, 3)), "w"), [RNG.normal(size=(3, 2)) for _ in range(12)]
    added = " + ".join(f"(v * terms[{i}]).sum()" for i in range(12))

    def program() -> Any:
        extra = eval(added, {"v": w.T, "terms": terms})
        return nn.cross_entropy(X @ w, LABELS) + 0.01 * extra

    assert data(program)["kind"] == "points"


def test_a_value_called_points_may_still_be_an_image() -> None:
    points, w = RNG.normal(size=(2, 16)), leaf(RNG.normal(size=(16, 1)), "w")
    assert data(lambda: (points @ w).sum(), {"points": (4, 4)})["kind"] == "images"


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ((RNG.normal(size=(6, 4)), LABELS), r"x with one or two features.* got float64 of shape \(6, 4\)"),
        ((X, LABELS[:4]), r"a target for each of the 6 examples of x, got int64 of shape \(4,\)"),
        ((X, np.array(list("abcdef"))), r"a target for each .* got <U1"),
        (
            (X + 1, LABELS),
            r"x of shape \(6, 2\), and this computation has not read such an array.* It has read: X \(6, 2\)",
        ),
        ((X[:3], LABELS[:3]), r"Give the x that the program reads inside of the trace"),
        (([[1, 2], [3]], LABELS), r"takes a pair of arrays, \(x, y\), got .*inhomogeneous"),
    ],
)
def test_points_that_cannot_be_shown(points: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        data(regression, {"points": points})


@pytest.mark.parametrize("points", [X, "points", (X, LABELS, LABELS), None, 3])
def test_what_is_no_pair_of_arrays(points: Any) -> None:
    with pytest.raises(ArgumentError, match=r"show\['points'\] .*pair"):
        data(regression, {"points": points})
