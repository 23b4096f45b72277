"""The river above a loop: how large the gradients of each round are, as far as the backward pass has come."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg

Show = Callable[..., Any]
ROUNDS = 12


def recurrence(path: Path, last: float = 1.0) -> None:
    """h = w h, so the gradient that reaches round t is w ** (ROUNDS - 1 - t), times ``last``."""
    w = mg.Tensor([0.5, 0.5], requires_grad=True, name="w")
    h: Any = np.array([2.0, 3.0])
    with mg.trace():
        for _t in range(ROUNDS):
            h = w * h
        loss = np.sum(h) * last
    mg.explain(loss, path)


def columns(page: Any) -> dict[int, str]:
    found = page.evaluate("[...document.querySelectorAll('#river g')].map((g) => [+g.dataset.round, g.textContent])")
    return {int(number): text for number, text in found}


def test_it_fills_with_the_gradients_of_the_rounds(tmp_path: Path, show: Show) -> None:
    recurrence(tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    page.evaluate("go(timeline.turn)")
    assert page.locator("#river").is_hidden()  # no gradient has arrived
    page.evaluate("go(timeline.count)")
    texts = columns(page)
    assert sorted(texts) == list(range(ROUNDS))
    for number, text in texts.items():
        largest = float(re.search(r"the largest, ([\d.e-]+), ", text)[1])  # type: ignore[index]
        np.testing.assert_allclose(largest, 0.5 ** (ROUNDS - 1 - number), rtol=1e-3)
        assert text.startswith(f"for _t = {number}:")
    heights = page.evaluate("[...document.querySelectorAll('#river .mark')].map((mark) => +mark.getAttribute('y'))")
    np.testing.assert_allclose(np.diff(heights), np.full(ROUNDS - 1, heights[1] - heights[0]), atol=1e-9)
    assert heights[0] > heights[-1]  # on a logarithmic scale a constant factor is a straight line


def test_a_column_leads_to_the_step_of_its_largest_gradient(tmp_path: Path, show: Show) -> None:
    recurrence(tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    page.evaluate("go(timeline.count)")
    page.locator("#river g[data-round='7'] rect").first.click()
    assert page.evaluate("state.iteration") == 8  # the product in round 8 hands it to the value of round 7
    assert page.evaluate("labelOf(state.selected)") == "h · _t=7"
    assert sorted(columns(page)) == list(range(7, ROUNDS))
    page.locator("#language").select_option("ja")
    assert "最大は" in columns(page)[7] and page.locator("#river span").inner_text() == "勾配"


def test_what_is_not_finite_is_marked_at_the_top(tmp_path: Path, show: Show) -> None:
    recurrence(tmp_path / "page.html", last=float("inf"))
    page = show(tmp_path / "page.html")
    page.evaluate("go(timeline.count)")
    marks = page.locator("#river .mark.odd")
    assert marks.count() == ROUNDS
    assert {mark.get_attribute("y") for mark in marks.all()} == {"0"}


def test_a_program_without_a_loop_has_none(tmp_path: Path, show: Show) -> None:
    w = mg.Tensor([0.5], requires_grad=True)
    with mg.trace():
        loss = np.sum(np.exp(w * 2))
    mg.explain(loss, tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    page.evaluate("go(timeline.count)")
    assert page.locator("#river").is_hidden()
