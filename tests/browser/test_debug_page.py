"""The page of a debugged training: each step shows its numbers, by a click or by its number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import minigrad as mg


def test_each_step_can_be_chosen(tmp_path: Path, show: Callable[..., Any]) -> None:
    w = mg.Tensor([1.0, 2.0], requires_grad=True)
    with mg.debugging(quiet=True) as watched:
        for _ in range(1000):  # more steps than columns
            w.zero_grad()
            (w * w).sum().backward()
            w.data *= 0.999
    page = show(watched.page(tmp_path / "debug.html"))
    page.locator(".step").first.locator("rect").first.click(force=True)
    assert (
        page.locator("#chosen").inner_text().startswith("Step 0: loss 5; gradients of 1 parameters, the largest 3.16")
    )
    for step in (1, 2, 777):
        page.locator("#step").fill(str(step))
        loss = 5 * 0.999 ** (2 * step)
        assert page.locator("#chosen").inner_text().startswith(f"Step {step}: loss {loss:.4g};")
        assert page.locator(".step.chosen").count() == 2  # in the loss and in the river
    page.locator("#step").fill("1000")  # there is no such step
    assert page.locator("#chosen").inner_text().startswith("Step 777")
