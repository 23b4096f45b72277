"""The stepper's page in a real browser: every press is one step, and the numbers it ends with are those of `.grad`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, explain
from minigrad.engine.observers import scope
from models.transformer_classifier import ClassifierConfig, TransformerClassifier
from models.two_layer_transformer import TwoLayerConfig, TwoLayerTransformer

Show = Callable[..., Any]
STEPS = "backward.steps.length"


def leaf(value: Any, name: str) -> Any:
    return Tensor(value, requires_grad=True, name=name)


def lesson(path: Path, **options: Any) -> dict[str, Any]:
    """Ten operations on three scalars, of which x and w are used more than once. Without a sweep: explain runs it."""
    leaves = {"x": leaf(0.5, "x"), "w": leaf(-1.2, "w"), "b": leaf(0.3, "b")}
    x, w, b = leaves.values()
    with mg.trace():
        loss = (np.tanh(w * x + b) * x - 1.0) ** 2 + 0.1 * w * w
    explain(loss, path, leaves, **options)
    loss.backward()
    return leaves


def arrays(path: Path) -> dict[str, Any]:
    """Broadcasting, a cast, an array that is used twice, and one too large to be shown."""
    rng = np.random.default_rng(0)
    leaves = {
        "x": leaf(rng.normal(size=(3, 4)), "x"),
        "row": leaf(rng.normal(size=4), "row"),
        "column": leaf(rng.normal(size=(3, 1)).astype(np.float32), "column"),
        "big": leaf(rng.normal(size=(4, 50)), "big"),
    }
    x, row, column, big = leaves.values()
    with mg.trace():
        h = np.tanh(x * row + column)
        loss = ((h @ big).sum(axis=1) * h.mean(axis=1)).sum()
    loss.backward()
    explain(loss, path, leaves)
    return leaves


def press(page: Any, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def find(page: Any, name: str) -> str:
    """In JavaScript: the number of the node of that name."""
    return f"graph.nodes.findIndex((node) => node.name === {name!r})"


def shown_gradient(page: Any, name: str) -> Any:
    """The gradient as the panel shows it, with all digits, read from the page's text."""
    page.locator("#digits").set_checked(True)
    page.evaluate(f"select({find(page, name)})")
    text = page.locator("#node-section dt:text-is('Gradient') + dd pre").last.text_content()
    return np.array([float(number) for number in text.replace("[", " ").replace("]", " ").split()])


def picture(page: Any) -> Any:
    """All that the reader sees of a step: each part of the drawing, how it looks and what it says, and the panel."""
    return page.evaluate(
        """() => [[...document.querySelectorAll("svg *")].map((part) => {
                     const { stroke, strokeWidth, fill, visibility } = getComputedStyle(part);
                     const text = part.children.length === 0 ? part.textContent : "";
                     return [text, part.ariaLabel, stroke, strokeWidth, fill, visibility].join();
                 }),
                 find("step-section").innerHTML, find("node-section").innerHTML,
                 find("count").textContent, find("next").disabled, find("back").disabled]"""
    )


def text_of_node(page: Any, name: str) -> str:
    return str(page.evaluate(f"drawing.drawn({find(page, name)}).group.textContent")).replace("\n", "")


# --- stepping ---


def test_each_press_is_one_contribution_and_the_end_is_grad(
    tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    leaves = lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    assert page.evaluate(STEPS) == 14  # contributions: two each of two multiplies and two adds ..., none of constants
    for step in range(1, 15):
        page.keyboard.press("ArrowRight")
        assert page.locator("#count").text_content() == f"{step} / 14"
        assert page.locator(".edge.now").count() == 1
        assert page.locator(".edge.past").count() == step - 1
        if step == 9:
            screenshot(page, "stepper-lesson")
    assert page.locator("#next").is_disabled()
    for name, tensor in leaves.items():
        assert shown_gradient(page, name) == pytest.approx([tensor.grad.item()], rel=1e-12, abs=0)


def test_a_press_fills_in_the_gradient_of_its_operand_and_of_nothing_else(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    gradients = "drawing.nodes.map((part) => part.gradient?.textContent)"
    before = page.evaluate(gradients)
    assert sum(text not in (None, "grad –") for text in before) == 1  # the loss
    for _ in range(14):
        page.locator("#next").click()
        after = page.evaluate(gradients)
        changed = [i for i, (a, b) in enumerate(zip(before, after)) if a != b]
        receiver = page.evaluate("drawing.current.nodes[backward.receiver(state.step)]")
        assert changed == [receiver]
        assert page.evaluate(f"document.querySelector('#node{receiver}').matches('.receives')")
        before = after


def test_contributions_to_one_tensor_add_up_visibly(tmp_path: Path, show: Show) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        loss = 0.61 * x + 0.22 * x
    explain(loss, tmp_path / "explain.html", {"x": x})
    page = show(tmp_path / "explain.html")
    press(page, "End")
    assert text_of_node(page, "x").endswith("grad 0.22 + 0.61 = 0.83")
    assert page.locator("#step-section .sum").inner_text().split() == ["0.22", "+", "0.61", "=", "0.83"]
    assert page.locator("#step-section .note").all_inner_texts() == ["complete"]
    press(page, "ArrowLeft")
    assert page.locator("#count").text_content() == "3 / 4"


def test_back_restores_exactly(tmp_path: Path, show: Show) -> None:
    arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", reduced_motion="reduce")  # colours change at once
    count = page.evaluate(STEPS)
    seen = [picture(page)]
    for _ in range(count):
        press(page, "ArrowRight")
        seen.append(picture(page))
    assert len({str(s) for s in seen}) == count + 1
    for step in reversed(range(count)):
        page.locator("#back").click() if step % 2 else press(page, "ArrowLeft")
        assert picture(page) == seen[step]


def test_arrays_un_broadcast_in_a_step_of_their_own(
    tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    leaves = arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    kinds = page.evaluate("backward.steps.map(({ edge, kind }) => [graph.edges[edge].source, kind])")
    fitted = [page.evaluate(f"graph.nodes[{node}].name") for node, kind in kinds if kind == "fit"]
    assert fitted == ["column", "row"]
    step = next(i + 1 for i, (_, kind) in enumerate(kinds) if kind == "fit")
    press(page, "ArrowRight", step - 1)
    assert "its shape" in page.locator("#step-section").inner_text().lower()
    assert text_of_node(page, "column").endswith("grad –")  # not before it fits
    press(page, "ArrowRight")
    said = page.locator("#step-section").inner_text()
    assert "broadcast from (3, 1) to (3, 4)" in said and "summed over axis 1" in said
    assert "cast from float64 to the operand's float32" in said
    screenshot(page, "stepper-broadcast")
    press(page, "End")
    for name in ("x", "row", "column"):
        found = shown_gradient(page, name).reshape(leaves[name].shape)
        np.testing.assert_allclose(found, leaves[name].grad.numpy(), rtol=1e-12, atol=0)


def test_a_large_tensor_is_summarised(tmp_path: Path, show: Show) -> None:
    leaves = arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    press(page, "End")
    page.evaluate(f"select({find(page, 'big')})")
    said = page.locator("#node-section").inner_text()
    gradient = leaves["big"].grad.numpy()
    assert "shape (4, 50), float64" in said
    for number in (gradient.min(), gradient.mean(), gradient.max(), np.linalg.norm(gradient)):
        assert f"{number:.4g}" in said


def test_the_panel_says_what_the_rule_did(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    tanh = page.evaluate(
        "backward.steps.findIndex(({ edge }) => graph.nodes[graph.edges[edge].target].operation === 'tanh')"
    )
    press(page, "ArrowRight", tanh + 1)
    said = page.locator("#step-section").inner_text()
    assert "d tanh: g * (1 - y^2)" in said
    assert "-1.146 * (1 - (-0.2913)^2) = -1.048" in said
    assert "test_stepper.py:" in said and "np.tanh(w * x + b)" in said


def test_jump_to_where_a_gradient_is_complete(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.evaluate(f"drawing.drawn({find(page, 'b')}).group.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    assert page.locator("#node-section h2").inner_text() == "b"
    page.locator("text=Go to where it is complete").click()
    assert "Added to the gradient of b" in page.locator("#step-section").inner_text()
    assert "complete" in page.locator("#node-section").inner_text()


def test_play_runs_to_the_end_and_pauses(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.locator("#speed").fill("5")
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "Pause"
    page.locator("#count:text-is('14 / 14')").wait_for()
    assert page.locator("#play").inner_text() == "Play"
    page.evaluate("go(0)")
    page.locator("#play").click()
    page.locator("#play").click()
    step = page.locator("#count").inner_text()
    page.wait_for_timeout(200)
    assert page.locator("#count").inner_text() == step


# --- quiz, languages, keys ---


def test_quiz_wrong_hint_right(tmp_path: Path, show: Show, screenshot: Callable[..., None]) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.locator("#quiz").check()
    press(page, "ArrowRight", 6)
    # (h x - 1)^2: the answer is 2 (h x - 1)
    assert "grad ?" in page.locator(".receives").text_content()
    hidden = page.locator("#panel").inner_text()
    assert "-2.291" not in hidden and "d power" not in hidden
    page.locator("#answer").fill("3.5")
    page.keyboard.press("Enter")
    assert page.locator("#verdict").inner_text() == "Not yet: 3.5 is not it."
    page.locator("text=Hint").click()
    assert "d power/d x: g * y * x^(y - 1)" in page.locator("#step-section").inner_text()
    assert "-2.291" not in page.locator("#panel").inner_text()
    screenshot(page, "stepper-quiz")
    page.locator("#answer").fill("-2.29")
    page.locator("text=Check").click()
    assert page.locator("#verdict").inner_text() == "Right: -2.291"
    assert page.locator("#answer").count() == 0
    assert "-2.291" in page.locator("#step-section").inner_text()
    assert page.evaluate("document.activeElement.id") == "next"
    press(page, "ArrowRight")
    assert "-2.291" not in page.locator("#step-section .sum").all_inner_texts()
    page.locator("text=Show it").click()
    assert "The rule gives" in page.locator("#step-section").inner_text()


def test_quiz_asks_for_an_element_of_an_array(tmp_path: Path, show: Show) -> None:
    arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.locator("#quiz").check()
    press(page, "ArrowRight", 2)
    asked = page.evaluate("quiz.asked(state.step)")
    assert asked["index"] in page.locator("#quiz-section").inner_text()
    page.locator("#answer").fill("no number")
    page.keyboard.press("Enter")
    assert page.locator("#verdict").inner_text() == "Please type a number."
    page.locator("#answer").fill(f"{asked['value']:.3g}")
    page.keyboard.press("Enter")
    assert page.locator("#verdict").inner_text().startswith("Right")


def test_the_language_can_be_switched(tmp_path: Path, show: Show, screenshot: Callable[..., None]) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", reduced_motion="reduce")
    press(page, "ArrowRight", 9)
    step = picture(page)
    page.locator("#language").select_option("ja")
    assert page.locator("#next").inner_text() == "次へ"
    assert "規則が与える値" in page.locator("#step-section").inner_text()
    assert page.evaluate("document.documentElement.lang") == "ja"
    assert page.locator("#graph").get_attribute("aria-label").startswith("計算グラフ")
    assert page.locator("#count").text_content() == "9 / 14"
    screenshot(page, "stepper-japanese")
    page.locator("#language").select_option("en")
    assert picture(page) == step


def test_it_opens_in_the_language_that_was_asked_for(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html", language="ja")
    page = show(tmp_path / "explain.html")
    assert page.locator("#next").inner_text() == "次へ"
    assert page.title().startswith("逆伝播")
    assert page.locator("h1").inner_text() == page.title()


def test_keyboard_only(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    order = []
    for _ in range(12):
        press(page, "Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('class')"))
    assert order == [
        "language", "next", "play", "speed", "timeline", "search", "quiz", "digits", "smaller", "whole", "larger", "graph",
    ]  # fmt: skip
    press(page, "ArrowRight", 3)
    assert page.locator("#count").text_content() == "3 / 14"
    press(page, "Home")
    assert page.locator("#count").text_content() == "0 / 14"
    press(page, "ArrowUp")  # from the loss to the node before it
    assert page.evaluate("state.selected") < page.evaluate("graph.end[0]")
    assert page.evaluate("document.activeElement.matches('.node.selected')")
    press(page, "/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("b")
    press(page, "ArrowRight")  # moves in the text, not in the backward pass
    assert page.locator("#count").text_content() == "0 / 14"
    press(page, "Escape")
    assert page.locator("#search").input_value() == ""
    assert page.evaluate("document.activeElement.matches('.node')")
    press(page, " ")
    assert page.locator("#play").get_attribute("aria-pressed") == "true"
    press(page, "Escape")
    assert page.locator("#play").get_attribute("aria-pressed") == "false"
    press(page, "Tab", 0)
    press(page, "+")
    assert page.evaluate("drawing.shownScale") > page.evaluate("(drawing.zoom(null), drawing.shownScale)")


def test_search_goes_from_match_to_match(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.locator("#search").fill("MULTIPLY")
    assert page.locator(".match").count() == 4
    seen = set()
    for i in range(4):
        press(page, "Enter")
        assert page.locator("#found").inner_text() == f"{i + 1} / 4"
        seen.add(page.evaluate("state.selected"))
    assert len(seen) == 4 and page.locator(".selected").count() == 1
    press(page, "Enter")
    assert page.locator("#found").inner_text() == "1 / 4"
    page.locator("#search").fill("nowhere")
    assert page.locator("#found").inner_text() == "none"


def test_screen_readers_hear_each_step_and_what_each_node_is(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    press(page, "ArrowRight", 6)
    live = page.locator("#live")
    assert live.get_attribute("aria-live") == "polite"
    assert live.text_content() == "Step 6 of 14. power, argument x: -2.291. Gradient of subtract 8: -2.291."
    assert page.locator("[role=button]:not([aria-label])").count() == 0
    unnamed = """() => [...document.querySelectorAll("input, select, button")].filter((control) =>
        !control.textContent.trim() && !control.ariaLabel && !control.closest("label")).map((control) => control.id)"""
    assert page.evaluate(unnamed) == []


def test_reduced_motion(tmp_path: Path, show: Show) -> None:
    lesson(tmp_path / "explain.html")
    animation = "getComputedStyle(document.querySelector('.edge.now path')).animationName"
    for wish, name in {"reduce": "none", "no-preference": "flow"}.items():
        page = show(tmp_path / "explain.html", reduced_motion=wish)
        press(page, "ArrowRight")
        assert page.evaluate(animation) == name


# --- what if ---


def test_an_edited_leaf_gives_the_gradients_of_another_run(
    tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    lesson(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", reduced_motion="reduce")
    press(page, "ArrowRight", 14)
    page.evaluate(f"select({find(page, 'x')})")
    before = picture(page)
    page.locator("#node-section .edit input").fill("1.5")
    press(page, "Enter")
    page.locator("text=The numbers follow from values edited in this page.").wait_for()
    again = {name: leaf(value, name) for name, value in {"x": 1.5, "w": -1.2, "b": 0.3}.items()}
    x, w, b = again.values()
    loss = (np.tanh(w * x + b) * x - 1.0) ** 2 + 0.1 * w * w
    loss.backward()
    assert page.locator("#count").text_content() == "14 / 14"
    assert float(page.evaluate("graph.nodes[graph.end[0]].values[0].values[0]")) == pytest.approx(loss.item(), rel=1e-9)
    assert text_of_node(page, "x").endswith(f"= {x.grad.item():.4g}")
    assert f"= {page.evaluate('amountText()')}" in page.locator("#step-section .formula").last.inner_text()
    screenshot(page, "stepper-what-if")
    page.locator("text=This run's values again").click()
    page.evaluate(f"select({find(page, 'x')})")
    assert picture(page) == before
    page.locator("#node-section .edit input").fill("1.5")
    press(page, "Tab")  # leaving the field is enough, and the focus stays in the panel
    for name, tensor in again.items():
        assert shown_gradient(page, name) == pytest.approx([tensor.grad.item()], rel=1e-9, abs=0)


def test_what_if_by_keyboard_from_element_to_element(tmp_path: Path, show: Show) -> None:
    x = leaf([1.0, 2.0, 3.0], "x")
    with mg.trace():
        loss = (x * x).sum()
    explain(loss, tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    press(page, "End")
    page.locator("#node-section .edit input").first.focus()
    for number in ("10", "20", "thirty"):
        press(page, "Control+a")
        page.keyboard.type(number)
        press(page, "Tab")
        page.wait_for_timeout(50)
    assert page.locator("#node-section [role=status]").inner_text() == "Please type a number."
    np.testing.assert_array_equal(shown_gradient(page, "x"), [20, 40, 6])


def test_what_if_says_why_it_is_not_possible(tmp_path: Path, show: Show) -> None:
    arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    page.evaluate(f"select({find(page, 'x')})")
    assert "up to 300 can be edited" in page.locator("#node-section").inner_text()
    assert page.locator(".edit").count() == 0


# --- what it is for ---


def test_names_stay_text(tmp_path: Path, show: Show) -> None:
    nasty = "x</script><b>"
    x = leaf(1.5, "x")
    with mg.trace(), scope(object(), nasty):
        loss = x * x
    explain(loss, tmp_path / "explain.html", {nasty: x})
    page = show(tmp_path / "explain.html")
    press(page, "End")
    assert page.locator("b").count() == 0
    assert page.locator("#node-section h2").inner_text() == nasty
    assert nasty in page.locator("#graph svg").text_content()


def check_model(page: Any, model: Any) -> None:
    """Step through the whole page; then every gradient it knows is the parameter's."""
    count = page.evaluate(STEPS)
    for _ in range(count):
        page.keyboard.press("ArrowRight")
    assert page.locator("#count").text_content() == f"{count} / {count}"
    for name, parameter in model.named_parameters():
        about = page.evaluate(f"backward.gradient({find(page, name)}, 0, state.step)")
        grad = parameter.grad.numpy()
        if "values" in about:
            np.testing.assert_allclose(np.reshape(about["values"], grad.shape), grad, rtol=1e-12, atol=0)
        else:
            assert grad.size > 64 and about["norm"] == pytest.approx(np.linalg.norm(grad.astype(float)), rel=1e-12)


def test_the_two_layer_transformer(tmp_path: Path, show: Show, screenshot: Callable[..., None]) -> None:
    rng = np.random.default_rng(0)
    model = TwoLayerTransformer(TwoLayerConfig(3, 4, 2, std=0.5), rng=rng)
    with mg.trace():
        loss = model.loss(rng.normal(size=(2, 3, 3)).astype(np.float32), np.eye(2, dtype=np.float32))
    loss.backward()
    explain(loss, tmp_path / "explain.html", model)
    page = show(tmp_path / "explain.html")
    check_model(page, model)
    screenshot(page, "stepper-two-layer-transformer")


def test_the_classifier_with_its_modules(tmp_path: Path, show: Show, screenshot: Callable[..., None]) -> None:
    rng = np.random.default_rng(0)
    config = ClassifierConfig(vocab_size=20, num_classes=3, d_model=8, num_layers=2, num_heads=2, hidden=16)
    model = TransformerClassifier(config, rng=rng)
    with mg.trace():
        loss = mg.cross_entropy(model(rng.integers(1, 20, (2, 5))), np.array([0, 2]))
    loss.backward()
    explain(loss, tmp_path / "explain.html", model)
    page = show(tmp_path / "explain.html")
    check_model(page, model)
    screenshot(page, "stepper-classifier")
    page.locator("#close-all").click()
    assert page.locator("svg .node").count() == 3
    page.locator("svg .node.module").click()
    assert page.locator("svg .cluster").count() == 1 and page.locator("svg .node").count() == 9
    layer = page.locator("svg .node", has_text="layers.1").first
    layer.click()
    assert page.locator("svg text:text-is('layers.1: TransformerEncoderLayer')").count() == 1
    page.locator(
        "svg .node", has_text="layers.0"
    ).first.click()  # no drawing has just these open: the others are covered
    assert page.evaluate("[...state.open].map((m) => graph.modules[m].name)") == [
        "TransformerClassifier", "layers.1", "layers.0",
    ]  # fmt: skip
    screenshot(page, "stepper-modules")
    press(page, "/")
    page.keyboard.type("layers.0.attention.query.weight")
    press(page, "Enter")  # opens what is around it
    assert page.locator("#node-section h2").inner_text() == "layers.0.attention.query.weight"
    assert page.locator(".node.parameter.selected").count() == 1
    page.locator("#open-all").click()
    assert page.locator("svg .node").count() == page.evaluate("graph.nodes.length")
    assert page.locator(".cover").count() == 0


def test_a_module_closed_by_itself_is_covered_and_opens_again(tmp_path: Path, show: Show) -> None:
    x = leaf(0.5, "x")
    with mg.trace(), scope(object(), "model"):
        h = x
        for name in ("first", "second", "third", "fourth"):
            with scope(object(), name):
                h = np.tanh(h * 2.0)
    explain(h, tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", reduced_motion="reduce")
    before = picture(page)
    page.evaluate("toggleModule(1), toggleModule(3)")  # no drawing was made for two of four: one is a box, one covered
    assert page.locator("svg .node.module:visible").count() == 1 and page.locator(".cover").count() == 1
    assert page.locator(".cover .title").text_content() == "third"
    assert page.locator("svg .edge:visible").count() == 8  # of twelve: two are in the box, two under the cover
    press(page, "ArrowRight", 3)  # the fourth has two operations
    assert page.locator(".cover.applies.receives").count() == 1
    assert page.locator(".cover .gradient").text_content() == page.evaluate("gradientText(drawing.covers.get(3).shown)")
    press(page, "Home")
    page.locator(".cover").click()
    page.locator("svg .node.module:visible").click()
    assert picture(page) == before


def test_five_hundred_nodes_load_in_under_two_seconds(tmp_path: Path, show: Show) -> None:
    rng = np.random.default_rng(0)
    x = leaf(rng.normal(size=(4, 4)), "x")
    with mg.trace():
        h = x
        for i in range(17):
            with scope(object(), f"layers.{i}"):
                for _ in range(10):
                    h = np.tanh(h * leaf(rng.normal(size=4), "w"))
        loss = h.sum()
    explain(loss, tmp_path / "explain.html")
    page = show(tmp_path / "explain.html")
    assert page.evaluate("graph.nodes.length") > 500
    loaded = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert page.evaluate(loaded) < 2000
    time = "() => { const start = performance.now(); %s; return performance.now() - start; }"
    opened = page.evaluate(time % "find('open-all').click()")
    assert page.locator("svg .node").count() > 500
    assert opened < 2000
    stepped = page.evaluate(time % "go(250); go(251)")
    assert stepped < 1000


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (500, 900)])
def test_nothing_is_cut_off_at_any_width(width: int, height: int, tmp_path: Path, show: Show) -> None:
    arrays(tmp_path / "explain.html")
    page = show(tmp_path / "explain.html", width, height)
    press(page, "End")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("find('graph').clientHeight") > 150
    # every label inside its node
    outside = """() => drawing.nodes.filter(({ group, value, gradient }) => {
        const box = group.querySelector("path, polygon, ellipse").getBBox();
        return [value, gradient].some((text) => text && text.getBBox().width > box.width);
    }).map(({ group }) => group.textContent)"""
    assert page.evaluate(outside) == []
