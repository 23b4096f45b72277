"""The slides of a lesson on a projector: everything is in sight and large enough, and the keys turn them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SIZES = """() => [...document.querySelectorAll("section")].map(slide => {
  const on = slide.querySelector(".on");
  const cut = on.scrollHeight > on.clientHeight || on.scrollWidth > on.clientWidth || slide.scrollHeight > innerHeight;
  return [cut, parseFloat(getComputedStyle(slide).fontSize)];
})"""
AT = "() => Math.round(scrollY / innerHeight)"


@pytest.fixture(
    scope="module",
    params=[pytest.param(("10", "en"), marks=pytest.mark.thorough), ("05", "en"), ("06", "ja")],
    ids=lambda one: "-".join(one),
)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib", exc_type=ImportError)
    number, language = request.param
    file = tmp_path_factory.mktemp("slides") / "slides.html"
    told = [str(int(number)), "--language", language, "--out", str(file)]
    # A process of its own: the slides drive a browser, and the tests have one already.
    subprocess.run([sys.executable, "examples/slides.py", "--lesson", *told], check=True, capture_output=True, cwd=ROOT)
    return file


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (1024, 768)])
def test_each_slide_is_in_sight_and_large_enough(page: Path, width: int, height: int, show: Callable[..., Any]) -> None:
    found = show(page, width, height).evaluate(SIZES)
    assert len(found) > 30
    assert not any(cut for cut, _ in found)
    sizes = sorted(size for _, size in found)
    high = min(height, width * 9 / 16)  # a slide is as wide as 16:9
    assert sizes[0] >= high / 45  # 16 px of 720, where a table is long
    assert sizes[len(sizes) // 4] >= high / 24  # three of four slides: 30 px of 720


@pytest.mark.sampled(2)
def test_keys_turn_the_slides(page: Path, show: Callable[..., Any]) -> None:
    shown = show(page, 1280, 720)
    last = shown.evaluate("document.querySelectorAll('section').length") - 1
    at = 0
    for key, move in (
        ("ArrowRight", 1),
        (" ", 1),
        ("PageDown", 1),
        ("ArrowLeft", -1),
        ("Shift+ ", -1),
        ("End", last),
        ("ArrowDown", 0),
    ):
        shown.keyboard.press(key.replace("Shift+ ", "Shift+Space").replace(" ", "Space"))
        at = last if key == "End" else at + move
        shown.wait_for_function(f"Math.round(scrollY / innerHeight) === {at}")
        assert shown.evaluate(AT) == at
    shown.keyboard.press("Home")
    shown.wait_for_function("scrollY === 0")
