"""The run written out, in the stepper: its lines and the steps lead to each other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.stepper_programs import broadcasting, opened, press, straight

Show = Callable[..., Any]


def test_a_line_leads_to_its_step_and_a_step_to_its_line(tmp_path: Path, show: Show, screenshot: Any) -> None:
    page = opened(broadcasting, tmp_path, show)
    assert not page.locator("#written-pane").is_visible()
    page.locator("#tab-written").click()
    assert page.locator("#written-pane").is_visible() and not page.locator("#code-pane").is_visible()
    page.locator("#written-pane .line", has_text="dw = x.T @ dz").click()
    step = page.evaluate("state.step")
    assert page.evaluate("timeline.at(state.step).kind") == "product"
    assert page.evaluate(
        "[timeline.at(state.step).target, timeline.at(state.step).source].map((n) => graph.nodes[n].name)"
    ) == [
        "x @ w",
        "w",
    ]
    now = page.locator('#written-pane .line.now[aria-current="step"]')
    assert now.locator("code").text_content() == "dw = x.T @ dz"
    screenshot(page, "written")
    page.locator("#written-pane [data-line]", has_text="dx = dz @ w.T").click()
    assert now.locator("code").text_content() == "dx = dz @ w.T" and page.evaluate("state.step") < step
    press(page, "Home")
    assert now.count() == 0
    press(page, "ArrowRight")
    assert now.locator("code").text_content() == "h = np.tanh(x @ w + b)"
    page.locator("#tab-code").click()
    assert page.locator("#code-pane").is_visible() and not page.locator("#written-pane").is_visible()


def test_the_marked_line_is_in_sight_in_a_small_window(tmp_path: Path, show: Show) -> None:
    page = opened(broadcasting, tmp_path, show, 1000, 480)
    page.locator("#tab-written").click()
    press(page, "End")
    pane, line = page.locator("#written-pane").bounding_box(), page.locator("#written-pane .line.now").bounding_box()
    assert pane["y"] <= line["y"] and line["y"] + line["height"] <= pane["y"] + pane["height"]


def test_a_run_that_is_not_written_out_says_why_in_both_languages(tmp_path: Path, show: Show) -> None:
    page = opened(straight, tmp_path, show)
    page.locator("#tab-written").click()
    assert "619 operations" in page.locator("#written-pane").text_content()
    page.locator("#language").select_option("ja")
    assert "演算が 619 個" in page.locator("#written-pane").text_content()
