"""What the stepper's camera shows, measured in the page: at each step both ends of the step's edge are in sight, no label
covers another or leaves its box, and no text is smaller than 12 px."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.stepper_programs import PROGRAMS, Program, explained, fan_out, loop, straight, transformer

Show = Callable[..., Any]
SIZES = [(1280, 800), (390, 844)]

MEASURE = (Path(__file__).parent / "measure.js").read_text(encoding="utf-8")


def look(page: Any) -> None:
    found, labels = page.evaluate(MEASURE)
    assert labels > 0
    assert found == [], page.evaluate("state.step")


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_step_is_in_sight(program: Program, size: tuple[int, int], tmp_path: Path, show: Show) -> None:
    explained(program, tmp_path / "page.html")
    page = show(tmp_path / "page.html", *size)
    count = page.evaluate("timeline.count")
    for step in range(0, count + 1, max(1, count // 40) if count > 60 else 1):
        page.evaluate(f"go({step})")
        look(page)


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
@pytest.mark.parametrize("program", [loop, straight, transformer], ids=lambda program: program.__name__)
def test_after_eleven_quick_presses(program: Program, size: tuple[int, int], tmp_path: Path, show: Show) -> None:
    explained(program, tmp_path / "page.html")
    page = show(tmp_path / "page.html", *size)
    page.evaluate("go(timeline.turn)")
    down = "new KeyboardEvent('keydown', { key, bubbles: true })"
    eleven = f"(key) => {{ for (let i = 0; i < 11; i++) document.body.dispatchEvent({down}); }}"
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        page.evaluate(eleven, key)
        look(page)
    assert page.evaluate("state.step - timeline.turn") == 11


def test_it_opens_on_what_the_first_step_computes(tmp_path: Path, show: Show) -> None:
    explained(straight, tmp_path / "page.html")
    page = show(tmp_path / "page.html", 1280, 800)
    assert page.evaluate("camera.isInside(view.first(), view.pane)")


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_fit_fits_and_hides_what_is_too_small(size: tuple[int, int], tmp_path: Path, show: Show) -> None:
    explained(straight, tmp_path / "page.html")
    page = show(tmp_path / "page.html", *size)
    page.evaluate("go(timeline.turn + 60)")
    page.locator("#fit").click()
    assert page.evaluate("view.scene.boxes.every((box) => camera.isInside(box, view.pane))")
    assert page.evaluate("camera.scale") < 12 / 13
    assert page.evaluate(MEASURE)[0] == []
    ends = page.evaluate("[timeline.at(state.step).target, timeline.at(state.step).source].map(labelOf)")
    tags = page.locator(".tag .label, .chip .label").all_text_contents()
    assert tags and all(
        any(end.startswith(tag.strip(" …")[:8]) for end in ends) for tag in tags
    )  # they say where it is
    page.keyboard.press("ArrowRight")
    assert page.evaluate("camera.scale") >= 12 / 13 - 1e-9
    look(page)


def test_zoom_keeps_labels_readable(tmp_path: Path, show: Show) -> None:
    explained(fan_out, tmp_path / "page.html")
    page = show(tmp_path / "page.html", 1280, 800)
    for key in "---" + "+" * 7:
        page.locator("#graph").focus()
        page.keyboard.press(key)
        found, _ = page.evaluate(MEASURE)
        assert [one for one in found if "px" in one or "overlap" in one or "leaves" in one] == []


def test_a_long_name_is_shortened_in_its_box_and_whole_in_its_title(tmp_path: Path, show: Show) -> None:
    explained(fan_out, tmp_path / "page.html")
    page = show(tmp_path / "page.html", 1280, 800)
    long = "WWWW" * 20
    page.evaluate(f"graph.nodes.find(({{ name }}) => name === 'u').name = '{long}'; go(3)")
    look(page)
    name = page.locator(".box.operand .name, .box.applies .name").evaluate_all(
        "parts => parts.map((part) => part.textContent)"
    )
    assert any(text.endswith("…") and text.startswith("WWW") for text in name)
    assert long in page.locator("svg.scene").evaluate(
        "svg => [...svg.querySelectorAll('title')].map((t) => t.textContent).join()"
    )
