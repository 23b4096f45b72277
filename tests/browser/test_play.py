"""Play, quiz and lesson on the stepper's page, in a real browser: what the page computes is what Python computes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, explain
from minigrad.graph.pages.html import asset
from minigrad.graph.pages.lesson import lesson_program, lessons

Show = Callable[..., Any]
VALUES = {"x": 0.5, "w": -1.2, "b": 0.3}


def neuron(values: dict[str, float]) -> tuple[Any, dict[str, Any]]:
    leaves = {name: Tensor(value, requires_grad=True, name=name) for name, value in values.items()}
    x, w, b = leaves.values()
    with mg.trace():
        h = np.tanh(w * x + b)
        loss: Any = (h * x - 1.0) ** 2 + 0.1 * w * w
    loss.backward()
    return loss, leaves


def taught(name: str, path: Path, **options: Any) -> Any:
    """A page of one of the lessons that come with minigrad; gives its `loss`."""
    program = path.parent / f"{name}.py"
    program.write_text(lesson_program(name), encoding="utf-8")
    variables: dict[str, Any] = {}
    exec(compile(program.read_text(encoding="utf-8"), str(program), "exec"), variables)
    explain(variables["loss"], path, lesson=name, **options)
    return variables["loss"]


@pytest.fixture
def page(tmp_path: Path, show: Show) -> Any:
    loss, _ = neuron(VALUES)
    return show(explain(loss, tmp_path / "explain.html"), 1280, 800)


def node(page: Any, name: str) -> int:
    return int(page.evaluate(f"graph.nodes.findIndex((node) => node.name === {name!r})"))


def number(page: Any, code: str) -> float:
    return float(page.evaluate(code))


def slide(page: Any, name: str, value: float) -> None:
    page.locator(f"[data-key=slider{node(page, name)}]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", value
    )


def assert_is_run(page: Any, values: dict[str, float]) -> None:
    """The page's numbers are those of a run of Python's with these values."""
    loss, leaves = neuron(values)
    assert number(page, "play.loss()") == pytest.approx(loss.item(), rel=1e-9, abs=1e-12)
    for name, tensor in leaves.items():
        found = number(page, f"graph.nodes[{node(page, name)}].gradients[0].values[0]")
        assert found == pytest.approx(tensor.grad.item(), rel=1e-9, abs=1e-12)
        now = number(page, f"graph.nodes[{node(page, name)}].values[0].values[0]")
        assert now == pytest.approx(values[name], rel=1e-9, abs=1e-12)


# --- sliders ---


def test_a_slider_for_each_leaf_is_in_sight(page: Any) -> None:
    assert page.locator("#play-section input[type=range]").count() == 3
    for name in VALUES:
        box = page.locator(f"[data-key=slider{node(page, name)}]").bounding_box()
        assert box["y"] + box["height"] < 800 and box["width"] >= 60


def test_a_slider_moves_everything_and_what_was_stays_beside_it(page: Any, screenshot: Callable[..., None]) -> None:
    page.evaluate("go(timeline.count)")
    before = page.locator("#play-section").inner_text()
    slider = page.locator(f"[data-key=slider{node(page, 'w')}]").element_handle()
    loss = number(page, "play.loss()")
    slide(page, "w", 0.7)
    assert_is_run(page, VALUES | {"w": 0.7})
    ghosts = page.locator("#play-section del").all_inner_texts()
    assert f"{loss:.4g}" in ghosts and "-1.2" in ghosts
    assert f"{number(page, 'play.loss()'):.4g}" in page.locator("#play-loss strong").inner_text()
    assert slider.evaluate("(one) => one.isConnected")  # it is still the one under the finger
    screenshot(page, "play-slider")
    page.locator("#play-reset").click()
    assert page.locator("#play-section").inner_text() == before
    assert page.evaluate("graph === original")


def test_a_value_can_be_typed(page: Any) -> None:
    field = page.locator(f"[data-key=field{node(page, 'x')}]")
    field.fill("1,5")  # a decimal comma
    field.press("Tab")
    page.wait_for_timeout(50)
    assert_is_run(page, VALUES | {"x": 1.5})
    field.fill("much")
    field.press("Enter")
    page.wait_for_timeout(50)
    assert "Please type a number." in page.locator("#play-section").inner_text()
    assert_is_run(page, VALUES | {"x": 1.5})


def test_the_arrow_keys_move_a_slider_and_not_the_steps(page: Any) -> None:
    page.locator(f"[data-key=slider{node(page, 'b')}]").focus()
    page.keyboard.press("ArrowRight")
    now = number(page, f"graph.nodes[{node(page, 'b')}].values[0].values[0]")
    assert 0.3 < now < 1.3
    assert page.evaluate("state.step") == 0
    assert page.evaluate("document.activeElement.dataset.key") == f"slider{node(page, 'b')}"
    assert_is_run(page, VALUES | {"b": now})


def test_the_equation_of_the_step_keeps_its_numbers(page: Any) -> None:
    step = page.evaluate(f"timeline.arrivals({node(page, 'b')}, 0).at(-1).step")
    page.evaluate(f"go({step})")
    before = page.evaluate(f"equation.text({step})")
    slide(page, "x", 1.25)
    after = page.evaluate(f"equation.text({step})")
    assert before != after and after.count("=") == before.count("=")
    raw = number(page, f"graph.edges[timeline.at({step}).edge].raw.values[0]")
    assert f"{raw:.4g}" in after


def test_arrays_element_by_element(tmp_path: Path, show: Show) -> None:
    def run(values: list[list[float]]) -> tuple[Any, Any]:
        w = Tensor(values, requires_grad=True, name="w")
        with mg.trace():
            loss = (np.tanh(w @ np.array([0.5, -1.0])) ** 2).sum()
        loss.backward()
        return loss, w

    loss, _ = run([[1.0, 2.0], [3.0, 0.25]])
    page = show(explain(loss, tmp_path / "explain.html"), 1280, 800)
    assert page.locator("#play-section input[type=range]").count() == 1
    index = page.locator("#play-section .index")
    index.fill("0, -1")
    index.press("Enter")
    assert index.input_value() == "[0, 1]" and index.evaluate("(one) => one === document.activeElement")
    index.fill("2, 0")  # there is no such element
    index.press("Enter")
    assert index.input_value() == "[0, 1]"
    page.evaluate(f"select({node(page, 'w')})")
    cells = page.locator("#node-section .choose .map").first
    box = cells.bounding_box()
    cells.click(position={"x": 0.75 * box["width"], "y": 0.75 * box["height"]})
    assert index.input_value() == "[1, 1]"
    assert page.locator(f"[data-key=field{node(page, 'w')}]").input_value() == "0.25"
    slide(page, "w", -0.5)
    again, w = run([[1.0, 2.0], [3.0, -0.5]])
    assert number(page, "play.loss()") == pytest.approx(again.item(), rel=1e-9)
    found = page.evaluate(f"graph.nodes[{node(page, 'w')}].gradients[0].values")
    np.testing.assert_allclose(found, w.grad.numpy().ravel(), rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda x: np.linalg.svd(x, compute_uv=False).sum(), "cannot compute the operation 'svd'"),
        (lambda x: (np.tanh(x) * np.ones((100, 60, 2, 2))).sum(), "up to 20000 can be moved"),
    ],
)
def test_where_nothing_can_be_edited_one_sentence_says_why(
    f: Callable[[Any], Any], why: str, tmp_path: Path, show: Show
) -> None:
    x = Tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True, name="x")
    with mg.trace():
        loss = f(x)
    page = show(explain(loss, tmp_path / "explain.html"), 1280, 800)
    said = page.locator("#play-section p:visible").all_inner_texts()
    assert len(said) == 1 and why in said[0]
    assert page.locator("#play-section input:visible").count() == 0


def test_an_array_at_the_end_can_be_played_with_but_not_descended(tmp_path: Path, show: Show) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    with mg.trace():
        y: Any = np.exp(x)
    y.backward(np.array([1.0, 2.0]))
    page = show(explain(y, tmp_path / "explain.html"), 1280, 800)
    slide(page, "x", 0.5)
    end = page.evaluate("graph.nodes[graph.end[0]].values[0].values")
    np.testing.assert_allclose(end, np.exp([0.5, 2.0]), rtol=1e-12)
    assert page.locator("#rate:visible, #descend:visible").count() == 0


# --- gradient descent ---


def test_descent_is_that_of_python(page: Any, screenshot: Callable[..., None]) -> None:
    page.locator("#rate").fill("0.2")
    page.locator("#descend").click()
    page.locator("#descend10").click()
    values, losses = dict(VALUES), []
    for _ in range(11):
        loss, leaves = neuron(values)
        losses.append(loss.item())
        values = {name: values[name] - 0.2 * tensor.grad.item() for name, tensor in leaves.items()}
    assert_is_run(page, values)
    np.testing.assert_allclose(page.evaluate("play.losses"), [*losses, neuron(values)[0].item()], rtol=1e-9)
    assert page.locator("#loss-plot circle").count() == 12
    label = page.locator("#loss-plot .loss-plot").get_attribute("aria-label")
    assert (
        label == f"The loss over 11 steps of gradient descent: from {losses[0]:.4g} to {neuron(values)[0].item():.4g}"
    )
    screenshot(page, "play-descent")
    slide(page, "x", 0.5)  # another start, another history
    assert page.locator("#loss-plot .loss-plot").is_hidden()
    page.locator("#play-reset").click()
    assert_is_run(page, VALUES)


def test_descent_leaves_alone_what_does_not_learn(page: Any) -> None:
    page.locator("#play-section .leaf").filter(has_text="x").locator("input[type=checkbox]").first.uncheck()
    page.locator("#descend").click()
    _, leaves = neuron(VALUES)
    moved = {name: VALUES[name] - (0 if name == "x" else 0.1 * leaves[name].grad.item()) for name in VALUES}
    assert_is_run(page, moved)


def test_a_learning_rate_that_is_too_large_is_said(page: Any) -> None:
    page.locator("#rate").fill("1e200")
    page.locator("#descend10").click()
    assert "smaller learning rate" in page.locator("#play-section [role=status]").inner_text()
    assert np.isfinite(number(page, "play.loss()"))
    page.locator("#rate").fill("fast")
    page.locator("#descend").click()
    assert page.locator("#play-section [role=status]").inner_text() == "Please type a number."


# --- quiz ---


@pytest.fixture
def paths(tmp_path: Path, show: Show) -> Any:
    """w is read twice: a = w * x, b = w + 1, loss = a * b. In the quiz, where the backward pass begins."""
    w, x = (Tensor(value, requires_grad=True, name=name) for value, name in ((2.0, "w"), (3.0, "x")))
    with mg.trace():
        a = w * x
        b = w + 1
        loss = a * b
    page = show(explain(loss, tmp_path / "explain.html", {"a": a, "b": b, "loss": loss}), 1280, 800)
    page.locator("#quiz").check()
    page.evaluate("go(timeline.turn)")
    return page


def edge(page: Any, target: str, source: str) -> int:
    code = (
        f"graph.edges.findIndex((edge) => edge.target === {node(page, target)} && edge.source === {node(page, source)})"
    )
    return int(page.evaluate(code))


def step_of(page: Any, target: str, source: str) -> int:
    code = f"timeline.steps.findIndex(([kind, number]) => kind === 'product' && number === {edge(page, target, source)}) + 1"
    return int(page.evaluate(code))


def said(page: Any) -> str:
    return str(page.locator("#quiz-section [role=status]").inner_text())


def answer(page: Any, text: str) -> None:
    page.locator("#answer").fill(text)
    page.keyboard.press("Enter")


def test_which_edge_next(paths: Any, screenshot: Callable[..., None]) -> None:
    page = paths
    assert "Along which edge does the gradient flow next?" in page.locator("#quiz-section").inner_text()
    page.locator(f"[data-key=edge{edge(page, 'a', 'w')}], [data-key=edge{edge(page, 'b', 'w')}]").first.click()
    assert said(page).startswith("✗ Not yet: ∂loss/∂") and page.evaluate("state.step === timeline.turn")
    screenshot(page, "quiz-edge")
    page.locator(f"[data-key=edge{page.evaluate('timeline.at(timeline.turn + 1).edge')}]").click()
    assert said(page).startswith("✓ Yes: from loss to ")
    assert page.evaluate("state.step === timeline.turn + 1")
    assert page.locator("#score").inner_text() == "Score: 0 of 1 right at the first try"


def test_an_edge_that_is_ready_too_is_right_and_a_box_is_no_answer(paths: Any) -> None:
    page = paths
    box = page.evaluate(f"places.boxOf(0, 0, {node(page, 'w')})")
    page.locator(f"[data-box='{box}']").first.click()
    assert page.evaluate("state.selected") == node(page, "w") and page.evaluate("quiz.score().asked") == 0
    next_edge = page.evaluate("timeline.at(timeline.turn + 1).edge")
    ready = page.evaluate("quiz.candidates().filter((edge) => quiz.isReady(edge))")
    (other,) = [one for one in ready if one != next_edge]
    page.locator(f"[data-key=edge{other}]").click()  # ready too, though the page takes the other first
    assert said(page).startswith("✓ That edge is ready too")
    assert page.evaluate("quiz.score()") == {"right": 1, "asked": 1}


def test_a_wrong_number_is_told_its_mistake(paths: Any, screenshot: Callable[..., None]) -> None:
    page = paths
    last = max(step_of(page, "a", "w"), step_of(page, "b", "w"))
    page.evaluate(f"go({last})")
    assert "∂ ?" in page.locator("#graph").text_content() and "15" not in page.locator("main").inner_text()
    answer(page, "9")
    assert said(page) == "✗ You forgot a path: w reaches loss along 2 paths, and their contributions are added up."
    screenshot(page, "quiz-path")
    answer(page, "2")
    assert said(page) == "✗ That is the value of w, not its gradient."
    answer(page, "12")
    assert said(page) == "✗ Not quite: the answer is not 12."
    answer(page, "fifteen")
    assert said(page) == "Please type a number."
    page.locator("#language").select_option("ja")
    answer(page, "6")
    assert said(page).startswith("✗ 道を忘れています：w から loss へは 2 本の道があり")
    answer(page, "15")
    assert said(page) == "✓ 正解：15" and page.locator("#answer").count() == 0
    assert page.evaluate("document.activeElement.id") == "next"
    assert page.evaluate("quiz.score()") == {"right": 0, "asked": 1}


def test_the_local_derivative_is_not_the_gradient(paths: Any) -> None:
    page = paths
    page.evaluate(f"go({step_of(page, 'a', 'x')})")
    answer(page, "2")
    assert said(page) == "✗ That is ∂a/∂x, not ∂loss/∂x: the incoming gradient ∂loss/∂a is missing as a factor."
    answer(page, "6")
    assert said(page) == "✓ Right: 6"


def test_a_hint_is_the_rule_and_comes_into_sight(tmp_path: Path, show: Show) -> None:
    """Where a gradient is only made to fit an operand's shape there is no rule, and no hint is offered."""
    b = Tensor([1.0, 2.0], requires_grad=True, name="b")
    x = Tensor(np.arange(6.0).reshape(3, 2), requires_grad=True, name="x")
    with mg.trace():
        loss = ((x + b) ** 2).sum()
    page = show(explain(loss, tmp_path / "explain.html"), 1250, 620)
    page.locator("#quiz").check()
    kinds = page.evaluate("timeline.steps.map(([kind]) => kind)")
    fit = kinds.index("fit") + 1
    page.evaluate(f"go({fit})")
    assert page.locator("#answer").is_visible() and not page.locator("[data-key=hint]").count()
    page.evaluate(f"go({fit - 1})")
    page.locator("[data-key=hint]").click()
    rule = page.locator(".small-print")
    page.wait_for_function("document.querySelector('.small-print').getBoundingClientRect().bottom <= innerHeight + 1")
    assert rule.is_visible()


def test_what_is_more_than_a_name_stands_in_parentheses(page: Any) -> None:
    page.locator("#quiz").check()
    page.evaluate(f"go({step_of(page, 'h', 'w * x + b')})")
    assert page.locator("#quiz-section .question").inner_text() == "What is ∂loss/∂(w * x + b)?"


def test_the_score_counts_what_was_right_at_once(paths: Any) -> None:
    page = paths
    page.evaluate("go(timeline.turn + 1)")
    right = number(page, "mistakes.question(state.step).right")
    answer(page, str(right))
    page.evaluate("go(timeline.turn + 2)")
    page.locator("text=Show it").click()
    page.evaluate("go(timeline.turn + 1)")
    assert not page.evaluate("quiz.hides(state.step)")  # once is enough
    page.evaluate("go(timeline.turn + 3)")
    page.locator("text=Hint").click()
    answer(page, str(number(page, "mistakes.question(state.step).right")))
    assert page.locator("#score").inner_text() == "Score: 1 of 3 right at the first try"


# --- lessons ---


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", lessons())
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_lesson_from_stop_to_stop(
    name: str, size: tuple[int, int], tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    taught(name, tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", *size)
    seen = [page.locator("#lesson-section .said").inner_text()]
    for language in ("en", "ja"):
        page.locator("#language").select_option(language)
        page.evaluate("go(0)")
        for stop in page.evaluate("lesson.places()"):
            page.locator("[data-key=stop-next]").click()
            assert page.evaluate("state.step") == stop
            seen.append(page.locator("#lesson-section").inner_text())
            wide = "[...document.querySelectorAll('#lesson-section, #quiz-section, #play-section')]"
            assert page.evaluate(f"{wide}.every((part) => part.scrollWidth <= part.clientWidth + 1)")
        assert page.locator("[data-key=stop-next]").is_disabled()
    assert len(set(seen)) == len(seen)
    screenshot(page, f"lesson-{name}-{size[0]}")


def test_playing_stops_where_the_lesson_does(tmp_path: Path, show: Show) -> None:
    taught("two_paths", tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.locator("#speed").select_option("16")
    page.locator("#play").click()
    first = page.evaluate("lesson.places()[0]")
    page.locator(f"#count:text-is('{first} / {page.evaluate('timeline.count')}')").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("[state.step, state.playing]") == [first, None]


def test_a_lesson_asks(tmp_path: Path, show: Show) -> None:
    taught("two_paths", tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.evaluate("go(timeline.turn)")
    assert "∂loss/∂w = ?" in page.locator("#play-section").inner_text()  # what is asked for is not told beside
    page.locator("#lesson-section button:text-is('one')").click()
    assert page.locator("#lesson-section [role=status]").inner_text().startswith("✗ Follow the lines")
    page.locator("#lesson-section button:text-is('two')").click()
    assert page.locator("#lesson-section [role=status]").inner_text().startswith("✓ Right: one along each path")
    assert page.locator("#lesson-section [aria-pressed=true]").inner_text() == "✓ two"
    page.evaluate(f"go({step_of(page, 'loss', 'a')})")
    assert not page.locator("#quiz").is_checked() and page.evaluate("quiz.hides(state.step)")
    assert "∂loss/∂a = b" not in page.locator("#lesson-section").inner_text()
    answer(page, "3")
    assert "∂loss/∂a = b" in page.locator("#lesson-section").inner_text()
    page.evaluate("go(timeline.count)")
    assert "∂loss/∂w = 15" in page.locator("#play-section").inner_text()


def test_no_word_is_said_in_two_files() -> None:
    files = [json.loads(asset(f"{name}_words.json")) for name in ("stepper", "play")]
    for language in ("en", "ja"):
        assert not files[0][language].keys() & files[1][language].keys()
    assert files[1]["en"].keys() == files[1]["ja"].keys()


def test_hostile_words_stay_words(tmp_path: Path, show: Show) -> None:
    loss, _ = neuron(VALUES)
    text = "<img src=x onerror=alert(1)> `<b>code</b>` {loss}"
    lesson = {"title": text, "intro": text, "steps": [{"at": 1, "text": text, "stop": True}]}
    page = show(explain(loss, tmp_path / "explain.html", lesson=lesson))
    page.evaluate("go(1)")
    assert page.locator("#lesson-section img, #lesson-section b").count() == 0
    assert page.locator("#lesson-section h2").inner_text() == text
    assert page.locator("#lesson-section .said code").inner_text() == "<b>code</b>"


# --- inside other pages ---


@pytest.mark.sampled(2)
@pytest.mark.parametrize("inline", [True, False])
def test_a_page_inside_another(inline: bool, tmp_path: Path, show: Show) -> None:
    loss, _ = neuron(VALUES)
    path = explain(loss, tmp_path / "a page.html")
    html = path._repr_html_() if inline else path.iframe("a page.html")
    assert html is not None
    (tmp_path / "outer.html").write_text(f"<!DOCTYPE html><title>o</title><h1>Notes</h1>{html}", encoding="utf-8")
    page = show(tmp_path / "outer.html", 1280, 900)
    frame = page.frame_locator("iframe")
    assert frame.locator("#count").inner_text().startswith("0 / ")
    frame.locator("#next").click()
    assert frame.locator("#count").inner_text().startswith("1 / ")
    frame.locator("#play-section").scroll_into_view_if_needed()
    frame.locator("#descend").click()
    assert frame.locator("#loss-plot .loss-plot").is_visible()
