"""The drawings of a debugged training: the loss, the river of gradients, and the page."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad.debug.finding import DebugFinding
from minigrad.debug.river import COLUMNS, GradientRiver, loss_svg
from minigrad.guards.gradients import sum_of_squares


def step_of(*gradients: tuple[object, np.ndarray]) -> list[tuple[object, float, int]]:
    return [(key, sum_of_squares(array), array.size) for key, array in gradients]


def test_a_step_has_the_percentiles_of_the_root_mean_squares() -> None:
    rng = np.random.default_rng(0)
    gradients = [(i, scale * rng.normal(size=(3, i + 1))) for i, scale in enumerate(np.geomspace(1e-3, 1e3, 11))]
    river = GradientRiver()
    river.add(step_of(*gradients))
    sizes = np.sort([np.sqrt(np.mean(array**2)) for _, array in gradients])
    step = river.steps[0]
    np.testing.assert_allclose([step.low, step.high, step.most], [sizes[1], sizes[9], sizes[10]])
    assert (step.key, step.number) == (10, 11)


def test_a_gradient_that_is_not_finite_is_the_largest() -> None:
    river = GradientRiver()
    river.add(step_of(("a", np.array([1e9])), ("b", np.array([np.nan])), ("c", np.array([1.0]))))
    assert river.steps[0].key == "b"
    assert "#d03030" in river.svg()


def test_a_step_without_gradients_is_drawn_at_the_bottom() -> None:
    river = GradientRiver()
    river.add([])
    river.add(step_of(("a", np.zeros(3))))
    assert [step.most for step in river.steps] == [0.0, 0.0]
    assert "nan" not in river.svg()


def test_long_trainings_are_drawn_in_groups_and_keep_their_spike() -> None:
    river = GradientRiver()
    for step in range(10 * COLUMNS):
        river.add(step_of(("w", np.array([1000.0 if step == 1234 else 1.0]))))
    drawing = river.svg()
    assert drawing.count("<g ") == COLUMNS
    assert 'data-step="1234"' in drawing
    losses = [1000.0 if step == 777 else 1.0 for step in range(10 * COLUMNS)]
    assert 'data-step="777" data-first="770" data-last="779"><title>step 777: loss 1000</title>' in loss_svg(losses)


def test_the_height_of_a_loss_is_proportional_to_its_logarithm_if_it_spans_decades() -> None:
    heights = re.findall(r",([\d.]+)", re.search(r'points="([^"]*)"', loss_svg([1.0, 100.0, 1e4]))[1])  # type: ignore[index]
    assert ">Loss, log scale<" in loss_svg([1.0, 100.0, 1e4]) and ">Loss<" in loss_svg([1.0, 100.0])
    top, middle, bottom = map(float, heights[::-1])
    assert middle == pytest.approx((top + bottom) / 2)


def test_watching_notes_every_step_and_the_norm_agrees() -> None:
    a, b = mg.Tensor([3.0, 4.0], requires_grad=True), mg.Tensor([[0.5]], requires_grad=True)
    with mg.debugging(quiet=True) as watched:
        for _ in range(3):
            (a * a).sum().backward()
            a.zero_grad()
            ((a * b) ** 2).sum().backward()
            a.zero_grad()
            b.zero_grad()
    assert [step.number for step in watched.river.steps] == [1, 2] * 3
    assert watched.river.steps[0].most == pytest.approx(np.sqrt(np.mean([6.0**2, 8.0**2])))
    assert watched.river.steps[0].key == id(a)
    assert watched.river._repr_html_().startswith("<svg")


PROGRAM = """
import numpy as np
import minigrad as mg

letters = ".abc"
rng = np.random.default_rng(0)
table = mg.Tensor(rng.normal(size=(4, 3)), requires_grad=True)
pixels, tokens = rng.random((5, 6, 6)), rng.integers(0, 4, (5, 7))
weights = mg.Tensor(rng.normal(size=36), requires_grad=True)
for _ in range(3):
    loss = (table[tokens] ** 2).sum() + (pixels.reshape(5, 36) @ weights).sum()
    loss.backward()
    table.zero_grad()
    weights.zero_grad()
"""


@pytest.mark.parametrize(("language", "heading"), [("en", r"The batch of step \d"), ("ja", r"ステップ \d のバッチ")])
def test_the_page_has_the_curves_the_batch_and_the_stepper(tmp_path: Path, language: str, heading: str) -> None:
    with mg.debugging(quiet=True) as watched:
        exec(compile(PROGRAM, str(tmp_path / "training.py"), "exec"), {"__name__": "__main__"})
    place = str(tmp_path / "training.py"), 12
    watched.findings = [DebugFinding("no update", 1, "likely", [place], ["loss ="], "", {"first": 0, "last": 2})]
    page = watched.page(tmp_path / "debug.html", language)
    assert page is not None
    text = page.read_text(encoding="utf-8")
    assert re.search(heading, text)
    assert (language == "ja") == ("勾配の大きさ" in text)
    assert text.count("<svg xmlns") == 2  # the loss and the river
    assert text.count('viewBox="0 0 6 6"') == 5  # each row of 36 pixels is a picture
    assert text.count('stroke="#d03030" stroke-width="2"') == 2  # the step of the finding is marked
    assert re.search(r'<iframe name="#step=\d"', text)  # the stepper opens at an operation
    inner = unescape(re.search(r' srcdoc="([^"]*)"', text)[1])  # type: ignore[index]
    scripts = re.findall(r"script-src ([^;]*);", text)[0]
    assert re.findall(r"script-src ([^;]*);", inner)[0] in scripts  # or else the browser would not run the stepper


def test_the_page_writes_tokens_with_the_vocabulary_of_the_program(tmp_path: Path) -> None:
    space: dict[str, object] = {"__name__": "__main__"}
    with mg.debugging(quiet=True) as watched:
        exec(compile(PROGRAM, str(tmp_path / "training.py"), "exec"), space)
    page = watched.page(tmp_path / "debug.html")
    assert page is not None
    row = np.asarray(space["tokens"])[0]
    assert "".join(".abc"[i] for i in row) in page.read_text(encoding="utf-8")


def test_the_losses_of_two_lines_are_two_curves() -> None:
    """A GAN's: 999 steps of each in turn, drawn in groups. The step that is marked can be clicked."""
    losses = [1.0 if step % 2 else -2.0 - step for step in range(1998)]
    svg = loss_svg(losses, mark=5, lines=["of line 30", "of line 38"] * 999)
    first, second = (
        [float(point.split(",")[1]) for point in text.split()] for text in re.findall(r'points="([^"]+)"', svg)
    )
    assert len(set(second)) == 1 and max(first) > max(second) and first == sorted(first)
    assert "of line 30" in svg and 'data-step="5"' in svg
    assert loss_svg([1.0, 2.0]).count("<polyline") == 1
