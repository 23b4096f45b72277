"""The page that `minigrad learn check` writes of a wrong answer, in a real browser: it opens where the answer went wrong."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minigrad.learn.checker import Job, check
from minigrad.learn.page import write_page
from minigrad.learn.tasks import find
from tests.minigrad.learn.measure_diagnosis import answers, written

WRONG = next(one for one in answers() if one.name == "6.4/03_constant_variance.py")


def test_it_opens_at_the_step_whose_gradient_is_wrong(
    tmp_path: Path, show: Callable[..., Any], screenshot: Callable[..., None]
) -> None:
    (verdict,) = check([Job(find("6.4"), written(WRONG, tmp_path), 7)])
    found = re.search(r"file://(\S+)#step=(\d+)$", write_page(verdict, "en") or "")
    assert found is not None
    page = show(found[1], 1280, 800)
    assert page.evaluate("state.step") == 0 and "This is your own" in page.inner_text("#lesson-section")
    page.goto(f"{page.url.partition('#')[0]}#step={found[2]}")
    page.reload()
    assert page.evaluate("state.step") == int(found[2]) and page.evaluate(
        "lesson.data.steps.some(({ at }) => at === state.step)"
    )
    assert page.evaluate("graph.nodes[graph.edges[graph.steps[state.step - 1][1]].source].name") == "x"
    assert "Gradient of x: your program gave" in page.inner_text("#lesson-section")
    page.select_option("#language", "ja")
    assert "x の勾配：あなたのプログラムの答えは" in page.inner_text("#lesson-section")
    screenshot(page, "answer")
