"""In the whole program, no name stands in or over another box or another name; and no glyph of a formula is cut."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.stepper_programs import Program, explained
from tests.leaves import leaf
from tests.proof.programs import transformer

Show = Callable[..., Any]
SIZES = [(1280, 720), (1920, 1080), (390, 844)]

MEASURE = (Path(__file__).parent / "overlaps.js").read_text(encoding="utf-8")


def lstm_cell() -> tuple[Any, dict[str, Any]]:
    """An LSTM cell by hand: twelve leaves."""
    rng = np.random.default_rng(1)
    leaves = {f"W_{gate}": leaf(rng.normal(size=(3, 5)) / 2) for gate in "ifog"}
    leaves |= {f"b_{gate}": leaf(np.zeros(3)) for gate in "ifog"}
    leaves |= {
        "x": leaf([0.5, -1.0]),
        "h0": leaf([0.1, -0.2, 0.3]),
        "c0": leaf([0.4, 0.0, -0.5]),
        "target": leaf(np.ones(3)),
    }
    z = np.concatenate([leaves["x"], leaves["h0"]])
    i, f, o = (1 / (1 + np.exp(-(leaves[f"W_{gate}"] @ z + leaves[f"b_{gate}"]))) for gate in "ifo")
    g = np.tanh(leaves["W_g"] @ z + leaves["b_g"])
    c = f * leaves["c0"] + i * g
    h = o * np.tanh(c)
    loss = np.sum((h - leaves["target"]) ** 2)
    return loss, leaves


def loop_over_two() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(1)
    xs, w, b = rng.normal(size=(5, 2)), leaf(rng.normal(size=(6, 5)) / 2), leaf(np.zeros(6))
    h, c = np.zeros(3), np.zeros(3)
    for t in range(5):
        a = w @ np.concatenate([xs[t], h]) + b
        c = np.tanh(a[:3]) * c + np.exp(-(a[3:] ** 2))
        h = np.tanh(c) * a[:3]
    loss = np.sum(h**2)
    return loss, {"w": w, "b": b}


def softmax_regression() -> tuple[Any, dict[str, Any]]:
    data, y = np.random.default_rng(0).normal(size=(6, 2)), np.array([0, 0, 1, 1, 2, 2])
    w, b = leaf(np.array([[0.1, -0.2, 0.1], [0.3, 0.0, -0.3]])), leaf(np.zeros(3))
    logits = data @ w + b
    e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    loss = -np.mean(np.log(p[np.arange(6), y]))
    return loss, {"w": w, "b": b}


def two_layers() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(2)
    shapes = {"a_long_name_of_weights": (3, 4), "b1": (4,), "W2": (4, 2), "b2": (2,)}
    leaves = {name: leaf(rng.normal(size=shape)) for name, shape in shapes.items()}
    hidden = np.tanh(rng.normal(size=(5, 3)) @ leaves["a_long_name_of_weights"] + leaves["b1"])
    loss = np.mean((hidden @ leaves["W2"] + leaves["b2"]) ** 2)
    return loss, leaves


PROGRAMS: list[Program] = [lstm_cell, loop_over_two, softmax_regression, two_layers, transformer]


def overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    """Whether more than half a pixel of one covers the other."""
    wide = min(a["right"], b["right"]) - max(a["left"], b["left"])
    return wide > 0.5 and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 0.5


def holds(outer: dict[str, float], inner: dict[str, float]) -> bool:
    across = outer["left"] < inner["left"] and inner["right"] < outer["right"]
    return across and outer["top"] < inner["top"] and inner["bottom"] < outer["bottom"]


@pytest.mark.sampled(21)
@pytest.mark.parametrize("projector", [False, True], ids=["page", "projector"])
@pytest.mark.parametrize("size", SIZES, ids=["desk", "large", "phone"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_name_stands_over_no_other_box_or_name(
    program: Program,
    size: tuple[int, int],
    projector: bool,
    tmp_path: Path,
    show: Show,
    screenshot: Callable[..., None],
) -> None:
    explained(program, tmp_path / "page.html")
    page = show(tmp_path / "page.html", *size)
    if projector:
        page.keyboard.press("p")
    screenshot(page, f"overlaps-{program.__name__}-{size[0]}{'-projector' * projector}")
    found = page.evaluate(MEASURE)
    boxed = page.locator(".world .box:is(.kind-parameter, .kind-input) .name").all_text_contents()
    assert found or all(boxed)  # the boxes show all names themselves
    for each in found:
        tag, (own,) = each["tag"], [rect for rect in each["rects"] if rect["node"] == each["node"]]
        assert holds({"left": 0, "top": 0, "right": each["pane"]["width"], "bottom": each["pane"]["height"]}, tag)
        for rect in each["rects"]:
            around = holds(rect, own)
            shown = rect | {"bottom": rect["top"] + rect["head"]} if around else rect
            assert rect["node"] == each["node"] or not overlap(tag, shown), (tag["name"], rect)
        for other in each["others"]:
            assert not overlap(tag, other), (tag["name"], other["name"])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("projector", [False, True], ids=["page", "projector"])
@pytest.mark.parametrize("size", SIZES, ids=["desk", "large", "phone"])
@pytest.mark.parametrize("program", [softmax_regression, loop_over_two], ids=lambda program: program.__name__)
def test_no_glyph_of_a_formula_is_cut(
    program: Program, size: tuple[int, int], projector: bool, tmp_path: Path, show: Show
) -> None:
    """The formula looks the same if what leaves its boxes is shown."""
    image = pytest.importorskip("PIL.Image", reason="compares pictures: pip install pillow")
    explained(program, tmp_path / "page.html")
    page = show(tmp_path / "page.html", *size)
    if projector:
        page.keyboard.press("p")
    count = page.evaluate("timeline.count")

    def pixels() -> Any:
        top = page.locator(".equation").bounding_box()
        clip = {
            **top,
            "y": max(0, top["y"] - 8),
            "height": top["height"] + 12,
            "width": min(top["width"], size[0] - top["x"]),
        }
        clip["width"] -= min(120, clip["width"] / 4)  # the badge above its end is no part of it
        return np.asarray(image.open(io.BytesIO(page.screenshot(clip=clip))).convert("L"), float)

    parts = "document.querySelectorAll('.equation, .equation math').forEach"
    for step in range(1, count + 1, max(1, count // 12)):
        page.evaluate(f"go({step})")
        cut = pixels()
        page.evaluate(f"{parts}((m) => m.style.setProperty('overflow', 'visible', 'important'))")
        whole = pixels()
        page.evaluate(f"{parts}((m) => m.style.removeProperty('overflow'))")
        assert np.abs(cut - whole).max() < 40, step
