"""The stepper on a stage: projector mode is the lesson, what is asked stays hidden, and the overview plays the whole run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from benchmarks import looks
from minigrad import explain
from tests.browser.stepper_programs import fan_out, opened
from tests.leaves import leaf

Show = Callable[..., Any]
READ_IN_SIGHT = """(() => {
  const { target, edge } = timeline.at(state.step);
  const read = operandsOf(target).filter((one) => equation.readsLetter(graph.edges[edge], graph.edges[one].argument));
  const boxes = read.flatMap((one) => view.lineWith([one])?.about.from ?? []);
  return boxes.every((i) => camera.isInside(view.boxes[i].about, view.pane));
})()"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"

ASKS = {
    "title": "One operation",
    "steps": [
        {"at": "forward of u", "stop": True, "text": "A product."},
        {
            "at": "forward of y",
            "text": "It is 42.",
            "question": {
                "kind": "choice",
                "text": "What is `y`?",
                "hides": True,
                "choices": [{"text": "13", "feedback": "That is the sum."}, {"text": "42", "right": True}],
            },
        },
        {"at": "backward of y", "question": {"kind": "value"}},
    ],
}


def asking(tmp_path: Path, show: Show, *size: int) -> Any:
    x = mg.Tensor(3.0, requires_grad=True, name="x")
    with mg.trace():
        u = 2 * x
        y = 7 * u
    explain(y, tmp_path / "page.html", {"x": x, "u": u}, lesson=ASKS)
    return show(tmp_path / "page.html", *(size or (1280, 720)))


def everything(page: Any) -> str:
    """All that can be read on the page."""
    fields = "[...document.querySelectorAll('input')].map((one) => one.value + one.ariaValueText).join(' ')"
    return str(page.inner_text("body") + page.evaluate(fields))


def test_the_page_shows_no_value_that_the_lesson_asks_for(tmp_path: Path, show: Show) -> None:
    page = asking(tmp_path, show)
    for step in (0, 1, 2):
        page.evaluate(f"go({step})")
        assert "y = ?" in page.inner_text("#play-section")
        shown = everything(page).replace("1342", "").replace("13\n42", "").replace("13 42", "")
        assert "= 42" not in shown and "It is" not in shown
    assert "A product." not in page.inner_text("#lesson-section")  # a stop shows no text of the one before
    assert "=?" in "".join(page.locator("#title-section math").all_text_contents())
    page.click("[data-key=choice0]")
    assert "That is the sum." in page.inner_text("#lesson-section") and "y = ?" in everything(page)
    page.click("[data-key=choice1]")
    assert "It is 42." in page.inner_text("#lesson-section") and "y = 42" in page.inner_text("#play-section")


def test_the_answer_of_a_choice_is_shown_on_demand_and_counts_as_wrong(tmp_path: Path, show: Show) -> None:
    page = asking(tmp_path, show)
    page.evaluate("go(2)")
    page.click("[data-key=reveal-choice]")
    assert "✓ 42" in page.inner_text("#lesson-section") and "It is 42." in page.inner_text("#lesson-section")
    assert page.evaluate("[quiz.score().right, quiz.score().asked]") == [0, 1]
    assert page.locator("[data-key=reveal-choice]").count() == 0


def test_the_projector_mode_is_the_lesson(tmp_path: Path, show: Show) -> None:
    page = asking(tmp_path, show)
    page.keyboard.press("p")
    page.click("[data-key=stop-next]")
    page.click("[data-key=stop-next]")
    card = page.locator("#card")
    assert "What is y?" in card.inner_text() and card.locator("[data-key=reveal-choice]").is_visible()
    assert (
        page.locator("#code-pane .line:visible").all_text_contents()
        == page.locator("#code-pane .line.now").all_text_contents()
    )
    page.click("[data-key=stop-next]")
    assert card.locator("#answer").is_visible() and card.locator("[data-key=reveal]").is_visible()
    page.fill("#answer", "7")
    page.press("#answer", "Enter")
    assert card.locator(".right").is_visible()
    for one in ("#title-section", "#code-pane", "#graph", "#card", "#next"):
        box = page.locator(one).bounding_box()
        assert box["height"] > 20 and box["y"] >= 0 and box["y"] + box["height"] <= 721
    page.keyboard.press("p")
    assert page.locator("#panel #quiz-section").is_visible() and page.locator("body > #lesson-section").is_visible()


def test_the_overview_plays_the_whole_run_and_stops_at_its_end(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show, reduced_motion="no-preference")
    page.evaluate("state.seconds = 1.2")
    page.keyboard.press("o")
    page.wait_for_function("() => state.step > timeline.turn && view.pulses.querySelector('.pulse')")
    assert page.evaluate("state.scene") == 0
    widths = page.locator(".pulse").evaluate_all("(all) => all.map((one) => Number(one.dataset.wide))")
    assert all(1.5 <= wide <= 14 for wide in widths)
    page.wait_for_function("() => state.playing === null")
    assert page.evaluate("state.step === timeline.count") and page.locator("svg.scene .box.has").count() == 9
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("state.step === timeline.count - 1")


def test_the_key_of_the_overview_ends_it_and_a_lesson_that_asks_has_none(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    page.keyboard.press("o")
    assert page.evaluate("state.whole && state.playing !== null")
    page.keyboard.press("o")
    assert page.evaluate("state.playing === null && !state.whole")
    page = asking(tmp_path, show)
    page.keyboard.press("o")
    assert page.evaluate("state.playing === null && state.step === 0")
    assert "asks for numbers" in page.text_content("#live")


# Plays the overview with a clock of its own; a step takes `slow` ms to be drawn. Gives the time, the steps, and what was said.
PLAYED = """(slow) => {
  let [now, waiting] = [0, null];
  performance.now = () => now;
  window.clearTimeout = () => { waiting = null; };
  window.setTimeout = (act, wait) => { waiting = { act, wait }; return 1; };
  const [steps, said] = [[], []];
  overview();
  while (waiting !== null) {
    const { act, wait } = waiting;
    waiting = null;
    now += wait;
    setText(find("live"), "");
    act();
    steps.push(state.step);
    said.push(find("live").textContent);
    now += slow;
  }
  return [now / 1000, steps, said];
}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("steps", [145, 201])
@pytest.mark.parametrize("slow", [0, 30])
def test_the_overview_takes_ten_seconds(steps: int, slow: int, tmp_path: Path, show: Show) -> None:
    x = leaf(0.5, "x")
    y = x
    with mg.trace():
        for _ in range(steps // 2 - 1):  # two steps each
            y = np.sin(y)
        y = y * y  # three steps
    page = show(explain(y, tmp_path / "explain.html"))
    assert page.evaluate("timeline.count") == steps
    seconds, seen, said = page.evaluate(PLAYED, slow)
    assert seconds == pytest.approx(10, abs=0.15) and seen[-1] == steps
    if steps == 145 and slow == 0:
        assert seen == list(range(1, 146))
    assert max(np.diff(seen)) <= 3
    assert not any(said[:-1]) and said[-1].startswith(f"Step {steps} of {steps}")  # only the end is said


def test_the_key_of_the_overview_shows_the_run_while_it_plays(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    page.keyboard.press(" ")
    assert page.evaluate("state.playing !== null && !state.whole")
    page.keyboard.press("o")
    assert page.evaluate("state.playing !== null && state.whole && state.step === 0")


COVERED = """() => [...document.querySelectorAll(".cards .card")].flatMap((card) => {
  const rect = card.querySelector("rect");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  const others = view.boxes.filter((box) => box.index !== Number(card.dataset.box));
  const own = { left: x, top: y, right: x + width, bottom: y + height };
  return others.filter((box) => overlap(own, camera.rect(box.about))).map((box) => `${card.textContent} covers ${box.names}`);
})"""


def cell() -> tuple[Any, dict[str, Any]]:
    """The gates of an LSTM."""

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    w = {gate: leaf(np.arange(15.0).reshape(3, 5) / 9 - k, f"W_{gate}") for k, gate in enumerate("ifog")}
    b = {gate: leaf(np.zeros(3), f"b_{gate}") for gate in "ifog"}
    z, c0 = np.array([0.5, -1.0, 0.1, -0.2, 0.3]), np.array([0.4, 0.0, -0.5])
    i = sigmoid(w["i"] @ z + b["i"])
    f = sigmoid(w["f"] @ z + b["f"])
    o = sigmoid(w["o"] @ z + b["o"])
    g = np.tanh(w["g"] @ z + b["g"])
    c = f * c0 + i * g
    h = o * np.tanh(c)
    return np.sum(h**2), {f"W_{gate}": one for gate, one in w.items()} | {f"b_{gate}": one for gate, one in b.items()}


def test_a_card_in_projector_mode_covers_no_other_box_and_none_that_can_be_read(tmp_path: Path, show: Show) -> None:
    page = opened(cell, tmp_path, show, 1280, 720)
    page.keyboard.press("p")
    for step in range(1, page.evaluate("timeline.count") + 1):
        page.evaluate(f"go({step})")
        assert page.evaluate(COVERED) == []
        carded = page.locator(".cards .card").evaluate_all("(all) => all.map((card) => Number(card.dataset.box))")
        whole = "(boxes) => boxes.filter((i) => view.boxes[i].heats.childElementCount > 0 && view.boxes[i].isNamed)"
        assert page.evaluate(whole, carded) == []


def alone(program: Callable[[], Any]) -> Callable[[], tuple[Any, dict[str, Any]]]:
    """Return the program without its leaves, as opened() wants it."""
    return lambda: (program(), {})


CALLED = "[...document.querySelectorAll('.box:not(.absent) .name, .tags .card')].map((one) => one.textContent)"


def test_the_whole_gpt_block_has_all_names_and_readable_maps_on_a_projector(tmp_path: Path, show: Show) -> None:
    """A name in several lines would leave no room for a map of cells that a class can see."""
    page = opened(alone(looks.gpt_block), tmp_path, show, 1280, 720)
    page.keyboard.press("p")
    for step in (0, page.evaluate("timeline.count")):
        page.evaluate(f"go({step})")
        page.wait_for_timeout(100)  # the formula may have changed the size of the graph
        names = page.evaluate(CALLED)
        for name in ("embedding.weight", "embedding", "attention_norm", "layers.0.add", "feed_forward_norm"):
            assert name in names, (step, name)
        cells = page.evaluate("view.boxes.filter(({ cell }) => cell !== null).map(({ cell }) => cell * camera.scale)")
        assert len(cells) >= 12 and min(cells) > 5


def test_a_box_that_had_a_card_has_its_name_at_a_later_step(tmp_path: Path, show: Show) -> None:
    page = opened(alone(looks.lstm_cell), tmp_path, show, 390, 844)
    last = page.evaluate("timeline.count")
    page.evaluate(f"go({last})")
    names = page.evaluate(CALLED)
    page.evaluate("go(timeline.steps.findIndex((_, i) => places.ofNode(timeline.at(i + 1).target) === 0) + 1)")
    for _ in range(6):
        page.keyboard.press("-")
    carded = "view.boxes.filter(({ group }) => 'carded' in group.dataset).length"
    assert page.evaluate(carded) > 0
    page.evaluate(f"go({last})")
    assert page.evaluate(carded) == 0 and page.evaluate(CALLED) == names


def test_the_whole_view_marks_the_box_in_which_a_step_happens(tmp_path: Path, show: Show) -> None:
    """Also a closed box: its contents are those of the scenes in it."""
    with mg.trace():
        loss = looks.two_layers()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    marked = """(step) => {
      go(step);
      const target = timeline.at(step).target;
      const inner = places.path(places.ofNode(target), 0).map(({ scene }) => scene);
      wholeProgram();
      const box = view.boxes.find(({ now }) => now.node === target || inner.includes(now.scene));
      return [getComputedStyle(box.shape).fill, getComputedStyle(document.querySelector("#title-section")).backgroundColor];
    }"""
    for step in range(1, page.evaluate("timeline.count") + 1, 3):
        fill, ground = page.evaluate(marked, step)
        assert fill == ground, step


def test_the_whole_view_holds_all_boxes_when_its_pane_changes(tmp_path: Path, show: Show) -> None:
    """The strip of a loop's gradients goes with the loop, and the pane grows."""
    with mg.trace():
        loss = looks.lstm_loop()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    for step in (page.evaluate("timeline.turn") + 30, page.evaluate("timeline.count") - 60):
        page.evaluate(f"go({step})")
        page.evaluate("wholeProgram()")
        page.wait_for_function("!view.svg.classList.contains('flying')")
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        )
        assert page.evaluate("view.boxes.every(({ about }) => camera.isInside(about, view.pane))")
        page.set_viewport_size({"width": 1280, "height": 700 if step % 2 else 680})
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        )
        assert page.evaluate("view.boxes.every(({ about }) => camera.isInside(about, view.pane))")


@pytest.mark.parametrize("program", [looks.lstm_cell, looks.gpt_block], ids=["lstm_cell", "gpt_block"])
def test_the_projector_shows_the_operands_of_a_formula_and_covers_none_of_it(
    program: Callable[[], Any], tmp_path: Path, show: Show
) -> None:
    with mg.trace():
        loss = program()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    page.keyboard.press("p")
    kinds = page.evaluate("timeline.steps.map((_, i) => [i + 1, timeline.at(i + 1)])")
    products = [step for step, at in kinds if at["kind"] == "product"]
    seen = 0
    for step in products[:-1]:
        page.evaluate(f"go({step})")
        page.evaluate(PAINTED)
        badge, formula = page.locator("#title-section .badge").bounding_box(), page.locator(".equation .map")
        for part in [one.bounding_box() for one in formula.all()]:
            beside = part["x"] >= badge["x"] + badge["width"] or badge["x"] >= part["x"] + part["width"]
            assert beside or part["y"] >= badge["y"] + badge["height"] - 1, step
        if page.evaluate("graph.nodes[timeline.at(state.step).target].operation") in ("matmul", "affine"):
            assert page.evaluate(READ_IN_SIGHT), step
            seen += 1
    assert seen >= 8


def test_the_last_step_shows_the_whole_program_and_says_that_all_gradients_are_known(
    tmp_path: Path, show: Show
) -> None:
    page = opened(fan_out, tmp_path, show)
    page.evaluate("go(timeline.count)")
    page.evaluate(PAINTED)
    assert "all gradients are known" in page.inner_text(".kicker") and page.evaluate("state.scene") == 0
    assert page.evaluate("view.boxes.every(({ about }) => camera.isInside(about, view.pane))")
    assert page.locator(".cards .card").count() == 0


def test_a_legend_says_what_the_colours_mean_in_projector_mode(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    assert not page.locator("#legend").is_visible()
    page.keyboard.press("p")
    assert page.inner_text("#legend").split() == ["value", "gradient"]  # numbers have no cells
    with mg.trace():
        loss = looks.softmax_regression()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "arrays.html"), 1280, 720)
    page.keyboard.press("p")
    for step in (0, page.evaluate("timeline.count")):
        page.evaluate(f"go({step})")
        assert page.inner_text("#legend").split() == ["value", "gradient", "+", "−"]
        assert page.locator("#legend .cell").count() == 2 and page.locator("#legend").is_visible()
    page.evaluate("(find('language').value = 'ja', find('language').dispatchEvent(new Event('change')))")
    assert page.inner_text("#legend").split() == ["値", "勾配", "+", "−"]


def test_a_closed_box_shows_the_operation_inside_of_it_and_how_far_it_is(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.softmax_regression()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    inside = page.evaluate(
        """timeline.steps.findIndex(
             (_, i) => i >= timeline.turn && places.ofNode(timeline.at(i + 1).target) !== 0) + 1"""
    )
    page.evaluate(f"go({inside})")
    page.keyboard.press("Escape")  # the whole program, at this step
    operation = page.evaluate("graph.nodes[timeline.at(state.step).target].operation")
    assert page.locator(".box.opens", has_text=f"{operation} 1/").count() == 1
    page.evaluate("go(1)")
    page.keyboard.press("Escape")
    assert page.locator(".box.within").count() == 1  # its border flows


def test_the_line_at_work_is_one_line_and_no_line_is_sliced_at_the_top(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.gpt_block()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    sliced = """(() => {
      const head = document.querySelector("#code-pane h3").getBoundingClientRect().bottom;
      return [...document.querySelectorAll("#code-pane .line")].map((row) => row.getBoundingClientRect())
        .filter(({ top, bottom }) => top < head - 1 && bottom > head + 1).length;
    })()"""
    count = page.evaluate("timeline.count")
    for step in (0, 1, count // 3, count // 2, count):
        page.evaluate(f"go({step})")
        assert page.evaluate(sliced) == 0, step
    several = page.locator("#code-pane .line.now").count()  # the call of the embedding has several lines
    page.keyboard.press("p")
    assert several > 1 and page.locator("#code-pane .line:visible").count() == 1
    assert page.evaluate("getComputedStyle(document.querySelector('.line.now code'), '::after').content") == '" …"'
