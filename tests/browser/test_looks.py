"""Nothing is wrong with what the pages show: names, cuts, sizes of text; and no glyph of a formula is cut.

``python -m benchmarks looks`` looks at the lessons, too, at every stop.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from benchmarks import looks

Show = Callable[..., Any]
SIZES = [(1280, 720), (1920, 1080), (390, 844)]


def page_of(program: Callable[[], Any], folder: Path) -> None:
    with mg.trace():
        loss = program()
    loss.backward(retain_graph=True)
    mg.explain(loss, folder / "page.html", lesson=LESSON)


LESSON = {
    "title": "The loss",
    "steps": [
        {"at": "backward", "text": "All values are known.", "stop": True},
        {"at": "backward of loss", "question": {"kind": "value"}, "text": "The first slope."},
    ],
}


@pytest.mark.sampled(24)
@pytest.mark.parametrize("mode", looks.LOOKS, ids=lambda mode: "-".join(map(str, mode)))
@pytest.mark.parametrize("window", looks.WINDOWS)
@pytest.mark.parametrize("program", looks.PROGRAMS, ids=lambda program: program.__name__)
def test_nothing_is_wrong_with_what_a_page_shows(
    program: Callable[[], Any],
    window: str,
    mode: tuple[bool, str, str],
    tmp_path: Path,
    show: Show,
    screenshot: Callable[..., None],
) -> None:
    projector, theme, language = mode
    page_of(program, tmp_path)
    page = show(tmp_path / "page.html", *looks.WINDOWS[window], color_scheme=theme)
    names, wrong, _ = looks.look(page, window, projector, language)
    page.evaluate("go(0)")
    screenshot(page, f"looks-{program.__name__}-{window}-{'projector' * projector}-{theme}-{language}")
    assert names > 0 and wrong == []


def test_what_is_wrong_is_found(tmp_path: Path, show: Show) -> None:
    page_of(looks.softmax_regression, tmp_path)
    page = show(tmp_path / "page.html", 1280, 720)
    seen = f"() => {{ {looks.SEEN} return seen(); }}"
    assert page.evaluate(seen)[1] == []
    page.evaluate("view.boxes[0].texts.name.textContent = 'log…'")
    page.evaluate("view.boxes[1].texts.name.textContent = 'a name that is much wider than the box that it is in'")
    page.evaluate("view.boxes[2].texts.name.textContent = ''")
    page.evaluate("view.boxes[3].texts.name.style.fontSize = '.5em'")
    _, wrong, smallest = page.evaluate(seen)
    for part in ("is cut", "leaves its box", "has no name"):
        assert any(part in sentence for sentence in wrong)
    assert smallest < 12


@pytest.mark.sampled(12)
@pytest.mark.parametrize("projector", [False, True], ids=["page", "projector"])
@pytest.mark.parametrize("size", SIZES, ids=["desk", "large", "phone"])
@pytest.mark.parametrize("program", [looks.softmax_regression, looks.lstm_loop], ids=lambda program: program.__name__)
def test_no_glyph_of_a_formula_is_cut(
    program: Callable[[], Any], size: tuple[int, int], projector: bool, tmp_path: Path, show: Show
) -> None:
    """The formula looks the same if what leaves its boxes is shown."""
    image = pytest.importorskip("PIL.Image", reason="compares pictures: pip install pillow")
    page_of(program, tmp_path)
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
