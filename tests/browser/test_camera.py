"""What the stepper's camera shows, measured in the page: at each step both ends of the step's edge are in sight, no label
covers another or leaves its box, and no text is smaller than 12 px."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.stepper_programs import PROGRAMS, Program, explained, fan_out, loop, straight, transformer

Show = Callable[..., Any]
SIZES = [(1280, 800), (390, 844)]

MEASURE = """() => {
  const found = [];
  const pane = find("graph").getBoundingClientRect();
  const at = timeline.at(state.step);
  const ends = [...document.querySelectorAll("[data-end]")];
  const kinds = new Set(ends.map((end) => end.dataset.end));
  const needed = at === null ? [] : at.kind === "forward" && operandsOf(at.target).length === 0 ? ["target"] : ["source", "target"];
  for (const kind of needed) if (!kinds.has(kind)) found.push(`no ${kind}`);
  for (const end of ends) {
    const { left, right, top, bottom } = end.querySelector("rect:not(.shadow)").getBoundingClientRect();
    if (left < pane.left - 1 || right > pane.right + 1 || top < pane.top - 1 || bottom > pane.bottom + 1) found.push(`${end.dataset.end} is outside`);
  }
  const seen = (r) => r.right > pane.left && r.left < pane.right && r.bottom > pane.top && r.top < pane.bottom;
  const labels = [...document.querySelectorAll("svg.scene .label")]
    .filter((label) => label.textContent !== "" && getComputedStyle(label).visibility === "visible")
    .map((label) => ({ label, r: label.getBoundingClientRect() })).filter(({ r }) => seen(r));
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  labels.forEach((a, i) => labels.slice(i + 1).forEach((b) => {
    if (overlap(a.r, b.r)) found.push(`'${a.label.textContent}' and '${b.label.textContent}' overlap`);
  }));
  for (const { label, r } of labels) {
    const box = label.closest(".box");
    const size = parseFloat(getComputedStyle(label).fontSize) * (box ? camera.scale : 1);
    if (size < 11.99) found.push(`'${label.textContent}' is ${size} px high`);
    if (box === null) continue;
    const shape = box.querySelector(".shape").getBoundingClientRect();
    if (r.left < shape.left - 1 || r.right > shape.right + 1 || r.top < shape.top - 2 || r.bottom > shape.bottom + 2) found.push(`'${label.textContent}' leaves its box`);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
  return [found, labels.length];
}"""


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
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        page.evaluate(f"for (let i = 0; i < 11; i++) document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))")
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
    look(page)
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
    name = page.locator(".box.operand .name, .box.applies .name").evaluate_all("parts => parts.map((part) => part.textContent)")
    assert any(text.endswith("…") and text.startswith("WWW") for text in name)
    assert long in page.locator("svg.scene").evaluate("svg => [...svg.querySelectorAll('title')].map((t) => t.textContent).join()")
