"""The pages of the lessons in examples/lessons, stepped through in a real browser, in both languages."""

import contextlib
import io
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.examples.lessons.test_lessons import TO_RUN


@pytest.mark.sampled(14)
@pytest.mark.parametrize("path", TO_RUN)
def test_a_lessons_pages_are_stepped_through_and_answered(path: Path, tmp_path: Path, show: Callable[..., Any]) -> None:
    pytest.importorskip("matplotlib", exc_type=ImportError).use("Agg")
    from matplotlib import pyplot

    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(path))
    pyplot.close("all")
    for which, language in (("open", "en"), ("close", "ja")):  # both in both take twice as long
        page = show(tmp_path / "out/lessons" / f"{path.name[:2]}_{which}.html", 1280, 800)
        page.select_option("#language", language)
        taught = page.evaluate("original.lesson")
        said = page.locator("#lesson-section").inner_text
        assert plain(taught["intro"][language]) in said()
        for step in taught["steps"]:
            answer(page, step, language)
            assert page.evaluate("state.step") == step["at"]
            for paragraph in (step["text"] or {}).get(language, "").split("\n\n"):
                assert plain(paragraph) in said()


def answer(page: Any, step: dict[str, Any], language: str) -> None:
    """Go to a step of a lesson and answer what is asked there; the number of a value is the page's own."""
    question = step["question"] or {"kind": "none"}
    page.evaluate(f"go({step['at'] - (question['kind'] == 'edge')})")
    if question["kind"] == "choice":
        right = [choice["right"] for choice in question["choices"]].index(True)
        page.click(f"[data-key=choice{right}]")
        assert plain(question["choices"][right]["feedback"][language]) in page.inner_text("#lesson-section")
    elif question["kind"] == "value":
        assert page.evaluate("quiz.hides(state.step)")
        assert plain(step["text"][language]) not in page.inner_text("#lesson-section")
        page.fill("#answer", page.evaluate("String(mistakes.question(state.step).right)"))
        page.press("#answer", "Enter")
        assert not page.evaluate("quiz.hides(state.step)")
    elif question["kind"] == "edge":
        assert page.evaluate("quiz.asksEdge()")
        page.locator(f"[data-key=edge{page.evaluate('timeline.at(state.step + 1).edge')}]").click()


def plain(text: str) -> str:
    return text.replace("`", "")
