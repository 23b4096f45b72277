"""The stepper's page as a whole: links, keys, languages, light and dark, print, a phone, hostile names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from benchmarks import looks
from minigrad import Tensor, explain
from tests.browser.stepper_programs import HOSTILE, broadcasting, explained, fan_out, names, node, opened, press
from tests.leaves import leaf

Show = Callable[..., Any]
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


def test_deep_links(tmp_path: Path, show: Show) -> None:
    explained(fan_out, tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    address = (tmp_path / "page.html").as_uri()
    page.goto(address + "#step=12")
    assert page.evaluate("state.step") == 12
    press(page, "ArrowRight")
    assert page.url.endswith("#step=13")
    page.reload()
    assert page.evaluate("state.step") == 13
    page.goto(address + "#step=9999999")
    assert page.evaluate("state.step === timeline.count")
    page.goto(address + "#step=<b>")
    assert page.locator("#title-section b").count() == 0


def test_it_works_in_a_frame_without_an_address(tmp_path: Path, show: Show) -> None:
    explained(fan_out, tmp_path / "page.html")
    host = tmp_path / "host.html"
    host.write_text("<iframe width=900 height=700></iframe>")
    page = show(host)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page.evaluate("(text) => { document.querySelector('iframe').srcdoc = text; }", text)
    frame = page.frame_locator("iframe")
    frame.locator("#next").click()
    assert frame.locator("#count").text_content() == "1 / 17"


def test_keyboard_only(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    press(page, "End")
    assert page.evaluate("state.step === timeline.count") and page.locator("#next").is_disabled()
    press(page, "Home")
    assert page.evaluate("state.step") == 0 and page.locator("#back").is_disabled()
    press(page, " ")
    assert page.locator("#play").get_attribute("aria-pressed") == "true"
    press(page, " ")
    assert page.locator("#play").get_attribute("aria-pressed") == "false"
    press(page, "/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("tanh")
    press(page, "Enter")
    assert page.evaluate("labelOf(state.selected)") == "s"
    press(page, "Escape")
    press(page, "ArrowDown")
    assert page.evaluate("document.activeElement.classList.contains('box')")
    press(page, "ArrowRight", 3)
    assert page.evaluate("find('graph').contains(document.activeElement)")


def test_search_finds_names_and_operations_not_lines(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    for text, count in [("multiply", 3), ("tanh", 1), ("loss", 1), ("mg.trace", 0), ("w * x", 0), ("+ b", 0)]:
        page.locator("#search").fill(text)
        assert page.evaluate("state.matches.size") == count, text


def test_playing_stops_at_the_end(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    page.locator("#speed").select_option("16")
    page.locator("#play").click()
    count = page.evaluate("timeline.count")
    page.locator(f"#count:text-is('{count} / {count}')").wait_for()
    page.locator("#play:has-text('▶')").wait_for()
    assert page.evaluate("state.step === timeline.count && state.playing === null")


def test_both_languages(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    assert page.evaluate("Object.keys(words.all.en).sort().join() === Object.keys(words.all.ja).sort().join()")
    page.locator("#language").select_option("ja")
    for step in (0, 3, 9):
        page.evaluate(f"go({step})")
        text = page.locator("#step-section p").first.text_content()
        assert any("぀" <= letter <= "ヿ" for letter in text), text
    english = page.evaluate(
        """() => [...document.querySelectorAll("[data-word]")].map((one) => [one.textContent, one.dataset.word])
               .filter(([text, name]) => text === words.all.en[name] && text !== words.all.ja[name])"""
    )
    assert english == []
    assert page.evaluate("document.documentElement.lang") == "ja"


def test_light_and_dark(tmp_path: Path, show: Show) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page = opened(fan_out, tmp_path, show, color_scheme="dark")
    dark = page.evaluate(background)
    page.locator("#theme").click()
    light = page.evaluate(background)
    assert light == "rgb(255, 255, 255)" and dark != light
    page.locator("#theme").click()
    assert page.evaluate(background) == dark


@pytest.mark.sampled(3)
@pytest.mark.parametrize("step", [3, 10])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(scheme: str, step: int, tmp_path: Path, show: Show) -> None:
    """WCAG's contrast, 4.5, of each text that is not of a control that does nothing now."""
    page = opened(fan_out, tmp_path, show, color_scheme=scheme)
    page.evaluate(f"go({step})")
    low = page.evaluate(CONTRAST)
    assert low == []


def test_names_stay_text(tmp_path: Path, show: Show) -> None:
    page = opened(names, tmp_path, show)
    for _ in range(page.evaluate("timeline.count")):
        press(page, "ArrowRight")
        assert page.locator("body b").count() == 0
    assert HOSTILE in page.locator("svg.scene").evaluate("svg => svg.textContent")


def test_minus_zero_and_infinity_read_as_0_and_the_sign(tmp_path: Path, show: Show) -> None:
    x = leaf([-0.0, float("inf")])
    with mg.trace():
        loss = (x * Tensor([1.0, 1.0])).max()
    explain(loss, tmp_path / "page.html", {"x": x})
    page = show(tmp_path / "page.html")
    assert page.evaluate(f"valuesText(graph.nodes[{node('x')}].values[0]).replace(/\\s+/g, ' ')") == "[0 ∞]"
    assert page.evaluate("numberText(-0)") == "0" and page.evaluate("numberText('-Infinity', true)") == "-∞"


def test_print_has_the_three_panes_and_no_controls(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show, color_scheme="dark")
    page.evaluate("go(10)")
    page.emulate_media(media="print")
    for name in ("title-section", "code-pane", "graph", "step-section"):
        assert page.locator(f"#{name}").is_visible(), name
    assert not page.locator("#controls").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 28, 32)"


def test_on_a_phone_the_line_of_the_step_is_in_sight(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show, 390, 844)
    for step in (2, 9):
        page.evaluate(f"go({step})")
        box, controls = (page.locator(name).bounding_box() for name in ("#code-pane .line.now", "#controls"))
        assert box["y"] > 0 and box["y"] + box["height"] <= controls["y"]


def test_on_a_phone_the_line_at_work_is_no_pane_of_its_own(tmp_path: Path, show: Show) -> None:
    """The whole program before the first step, then the line at work alone: neither scrolls inside of the page."""
    page = opened(fan_out, tmp_path, show, 390, 844)
    scrolls = "getComputedStyle(find('code-pane')).overflowY === 'auto'"
    assert page.locator("#code-pane .line:visible").count() > 3 and not page.evaluate(scrolls)
    page.evaluate("go(2)")
    assert page.locator("#code-pane .line:visible").count() == 1 and not page.evaluate(scrolls)


def test_on_a_phone_the_controls_stay_in_reach(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show, 390, 844)
    page.evaluate("go(10)")
    page.locator("#code-pane").scroll_into_view_if_needed()
    box = page.locator("#next").bounding_box()
    assert box["y"] + box["height"] <= 844 and box["height"] >= 36
    order = [
        page.locator(f"#{name}").bounding_box()["y"] for name in ("graph-pane", "title-section", "code-pane", "panel")
    ]
    assert order == sorted(order)
    assert page.locator("#graph-pane").bounding_box()["y"] < 200


def test_on_a_phone_a_button_shows_the_settings(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show, 390, 844)
    assert not page.locator("#search").is_visible()
    page.locator("#more").click()
    page.locator("#quiz").check()
    assert page.locator("#search").is_visible() and page.evaluate("quiz.on")
    page.mouse.click(200, 500)
    assert not page.locator("#search").is_visible()


def test_the_text_at_the_pointer_stays_in_the_window(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    for place in ("{ clientX: innerWidth - 2, clientY: innerHeight - 2 }", "{ clientX: 0, clientY: 0 }"):
        page.evaluate(f"showTip('[0, 1] 0.25', {place})")
        box = page.locator("#tip").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1280
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800


def test_every_control_has_a_name(tmp_path: Path, show: Show) -> None:
    for width in (1280, 390):
        page = opened(fan_out, tmp_path, show, width, 844)
        names = page.evaluate(
            """() => {
              const labels = (one) => [...(one.labels ?? [])].map((label) => label.innerText).join("");
              return [...document.querySelectorAll("select, button, input")].filter((one) => one.checkVisibility())
                .map((one) => [one.id, one.getAttribute("aria-label") ?? labels(one) + one.innerText]);
            }"""
        )
        assert len(names) > 8 and [name for name, text in names if text.strip() == ""] == []


def test_a_printed_step_of_arrays_begins_on_the_first_page(tmp_path: Path, show: Show) -> None:
    """The formula, the graph and the explanation are on the first page, however long the explanation is."""
    page = opened(broadcasting, tmp_path, show)
    page.evaluate("go(timeline.turn + 3)")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1047, "height": 718})  # A4, landscape, without the margins
    for name in ("title-section", "graph", "step-section"):
        assert page.locator(f"#{name}").bounding_box()["y"] < 300, name
    assert (
        page.evaluate("getComputedStyle(document.querySelector('main')).display") == "block"
    )  # a row of a grid is not divided


def test_a_vector_is_not_cut_on_a_phone(tmp_path: Path, show: Show) -> None:
    v = leaf([1e-5, 2e-5, -3e-5, 4e-5], "v")
    with mg.trace():
        loss = (v * -1.0675).sum()
    explain(loss, tmp_path / "page.html")
    page = show(tmp_path / "page.html", 390, 844)
    page.evaluate("go(1)")
    wide = "[...document.querySelectorAll('.equation math')].map((one) => [one.scrollWidth, one.clientWidth])"
    assert all(inner <= room + 2 for inner, room in page.evaluate(wide))


def test_a_phone_shows_the_whole_path_and_ends_no_line_with_an_operator(tmp_path: Path, show: Show) -> None:
    broken = 0
    for program in (looks.lstm_loop, looks.lstm_cell, looks.gpt_block):
        with mg.trace():
            loss = program()
        loss.backward(retain_graph=True)
        page = show(explain(loss, tmp_path / "page.html", check=False), 390, 844)
        count = page.evaluate("timeline.count")
        for step in range(1, count + 1, max(1, count // 20)):
            page.evaluate(f"go({step})")
            crumbs = [one.bounding_box() for one in page.locator("#path button").all()]
            assert all(one["x"] >= 0 and one["x"] + one["width"] <= 390 for one in crumbs), step
            lasts = page.locator(".equation .broken > :last-child")
            ends = lasts.evaluate_all(
                "(all) => all.map((one) => one.localName === 'mo' && !'),|'.includes(one.textContent))"
            )
            broken += len(ends)
            assert not any(ends), (step, page.locator(".equation").text_content())
    assert broken > 20


def test_a_narrow_formula_has_letters_for_longer_names_and_says_what_they_are(tmp_path: Path, show: Show) -> None:
    u, weights_of_the_layer = leaf([0.5, -1.0], "u"), leaf([2.0, 0.3], "weights_of_the_layer")
    with mg.trace():
        loss: Any = np.tanh(np.exp(-u) * weights_of_the_layer + 1.0).sum()
    loss.backward()
    page = show(explain(loss, tmp_path / "page.html"))
    formula = "(step, narrow) => equation.math(step, narrow).map((part) => part.textContent)"
    wide, narrow = (page.evaluate(f"({formula})(5, {is_narrow})") for is_narrow in ("false", "true"))
    assert wide[0] == "tanh(np.exp(-u) * weights_of_the_layer + 1.0)" and not any("where" in part for part in wide)
    assert narrow[0] == "tanh(v)"  # u is a name of the program
    assert narrow[-1] == "where v = np.exp(-u) · weights_of_the_layer + 1.0"


def test_a_formula_that_is_too_wide_has_letters_and_maps(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.lstm_cell()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 390, 844)
    page.evaluate(
        "go(nd.range(timeline.count).findIndex((i) => equation.text(i + 1).startsWith('∂loss/∂((1 + np.exp(-z))₃)')) + 1)"
    )
    shown = page.locator("#title-section .equation")
    assert "u = (1 + np.exp(-z))₃" in shown.inner_text() and shown.locator(".matrix").count() == 0
    assert shown.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1")
    page.set_viewport_size({"width": 1280, "height": 800})  # there it fits with its numbers
    page.evaluate("render()")
    assert "u = (1 + np.exp(-z))₃" not in shown.inner_text() and shown.locator(".matrix").count() > 0


def test_no_name_in_a_formula_is_broken_on_a_phone(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.softmax_regression()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 390, 844)
    letters = 0
    for step in range(1, page.evaluate("timeline.count") + 1):
        page.evaluate(f"go({step})")
        names = page.locator(".equation .label-in-math span").all()
        for name in names:
            height, size = name.evaluate("(one) => [one.clientHeight, parseFloat(getComputedStyle(one).fontSize)]")
            assert height < 1.9 * size, (step, name.inner_text())
        letters += "where u = " in page.inner_text(".equation")
    assert letters > 2


def test_an_answer_stands_alone_in_a_line_only_below_large_type(tmp_path: Path, show: Show) -> None:
    w, x = mg.Tensor(0.25, requires_grad=True, name="weight"), mg.Tensor(0.5, requires_grad=True, name="x")
    with mg.trace():
        loss: Any = np.tanh(w * x) * w
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    page.keyboard.press("p")
    placed = """() => {
      const [formula, answer] = [".equation", ".equation .answer"].map((one) => document.querySelector(one));
      return [answer.getBoundingClientRect().left - formula.getBoundingClientRect().left, parseFloat(formula.style.fontSize)];
    }"""
    sizes = set()
    for width in range(940, 1300, 40):
        page.set_viewport_size({"width": width, "height": 720})
        for step in range(1, page.evaluate("timeline.count")):
            page.evaluate(f"go({step})")
            left, size = page.evaluate(placed)
            assert left > 2 or size <= 32, (width, step)
            sizes.add(size)
    assert len(sizes) > 2


def test_a_short_name_of_an_operation_has_all_of_its_operands(tmp_path: Path, show: Show) -> None:
    """A name that has the round of its loop is no end of the short name: h + bias, and not h."""
    x, bias = leaf([0.5, -1.0], "x"), leaf([2.0, 0.3], "bias")

    def shifted(value: Any) -> Any:
        return value + bias

    with mg.trace():
        h: Any = x
        for t in range(2):
            h = np.tanh(h * (t + 1.0))
        loss = (shifted(h) * 2.0).sum()
    page = show(explain(loss, tmp_path / "page.html"))
    names = page.evaluate("graph.nodes.flatMap((one, i) => (one.operation === 'add' ? [nodeTexts(i).names] : []))")
    assert names == [["value + bias", "h + bias", "add"]]
    page.evaluate("go(timeline.computed[graph.nodes.findIndex((one) => one.operation === 'add')])")
    shown = page.evaluate(
        "view.boxes.filter(({ now }) => graph.nodes[now.node]?.operation === 'add').map((b) => b.names)"
    )
    assert shown == names


def test_the_words_about_a_rule_have_a_line_of_their_own_and_say_what_g_is(tmp_path: Path, show: Show) -> None:
    x = leaf(np.eye(3), "x")
    with mg.trace():
        mixed = mg.scaled_dot_product_attention(x, x, 2 * x)
        loss = (mixed**2).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    node = page.evaluate("graph.nodes.findIndex(({ operation }) => operation?.includes('attention'))")
    kinds = page.evaluate("timeline.steps.map((_, i) => [i + 1, timeline.at(i + 1).target, timeline.at(i + 1).kind])")
    steps = [step for step, target, kind in kinds if (target, kind) == (node, "product")]
    for language, weights in (("en", "w are the attention weights"), ("ja", "w はアテンションの重み")):
        page.select_option("#language", language)
        for step in steps:
            page.evaluate(f"go({step})")
            about = page.locator(".equation .about")
            assert weights in about.inner_text() and "^" not in about.inner_text()
            assert ("g = ∂loss/∂mixed" in about.inner_text()) == (" g " in about.inner_text())
            assert about.bounding_box()["y"] > page.locator(".equation math").last.bounding_box()["y"]
            assert "weights" not in "".join(page.locator(".equation math").all_text_contents())
    assert len(steps) == 3


def test_the_first_sight_shows_the_line_of_the_end_and_explains_gradients_when_they_appear(
    tmp_path: Path, show: Show
) -> None:
    with mg.trace():
        loss = looks.gpt_block()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html"), 1280, 720)
    assert page.evaluate("state.step") == 0 and page.locator("#code-pane .line.now").count() == 0
    pane = page.locator("#code-pane").bounding_box()
    line = page.locator("#code-pane .line", has_text="(logits**2).mean()").bounding_box()
    assert pane["y"] <= line["y"] and line["y"] + line["height"] <= pane["y"] + pane["height"]
    assert "∂" not in page.inner_text("#step-section")
    page.evaluate("go(timeline.turn)")
    assert "‖∂‖ is the norm" in page.inner_text("#step-section")
    assert page.locator("#code-pane .line.now").count() == 1
    page.evaluate("go(0)")
    assert page.locator("#code-pane .line.now").count() == 0
