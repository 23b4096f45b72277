"""The builder of pages: what a browser makes of its content security policy and of data that tries to break out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minigrad.graph.pages.html import page

NASTY = 'x</script><b id="broken">&<!-- \u2028 猫'
SCRIPT = 'document.querySelector("p").textContent = pageData().name;'


def test_data_arrives_as_it_was_and_stays_text(tmp_path: Path, show: Callable[..., Any]) -> None:
    path = tmp_path / "page.html"
    data = {"name": NASTY, "x": [0.1, 1 / 3, float("nan"), float("-inf")]}
    path.write_text(page(NASTY, "<p></p>", SCRIPT, data, "p { color: rgb(1, 2, 3) }"), encoding="utf-8")
    shown = show(path)
    assert shown.title() == NASTY
    assert shown.locator("p").text_content() == NASTY
    assert shown.locator("#broken").count() == 0
    assert shown.evaluate("pageData().x.map(Number).map(String)") == ["0.1", "0.3333333333333333", "NaN", "-Infinity"]
    assert shown.evaluate("getComputedStyle(document.querySelector('p')).color") == "rgb(1, 2, 3)"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "smuggled",
    [
        "<script>document.title = 'broken'</script>",
        "<img src='x' onerror=\"document.title = 'broken'\">",
        "<img src='https://example.org/x.png'>",
        "<style>p { color: red }</style>",
        "<p style='color: red'></p>",
    ],
)
def test_nothing_but_its_own_script_and_style_is_run(smuggled: str, tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("fine", f"<p></p>{smuggled}", SCRIPT, {"name": "shown"}), encoding="utf-8")
    shown = browser.new_page()
    said: list[str] = []
    shown.on("console", lambda message: said.append(message.text))
    shown.goto(path.as_uri())
    assert shown.locator("p").first.text_content() == "shown"
    assert shown.title() == "fine"
    assert (
        shown.evaluate("[...document.querySelectorAll('p')].map(p => getComputedStyle(p).color)")[-1] == "rgb(0, 0, 0)"
    )
    assert any("Content Security Policy" in text for text in said)
    shown.close()
