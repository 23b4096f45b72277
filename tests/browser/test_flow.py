"""The page of `grad_flow` in a real browser: the slider shows the norms of its step, in numbers, cells and the graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import nn
from minigrad import Tensor, grad_flow
from minigrad.graph.draw.looks import RAMP

Show = Callable[..., Any]
Screenshot = Callable[[Any, str], None]

X = np.random.default_rng(0).normal(size=(24, 3))


class Net(nn.Module):
    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.layers = [nn.Affine(a, b, rng=rng, dtype=np.float64) for a, b in ((3, 4), (4, 4), (4, 1))]
        self.unused = nn.Affine(2, 2, rng=rng)

    def forward(self, x: Any) -> Tensor:
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)


def loss(model: Net) -> Tensor:
    return ((model(X) - X[:, :1] * 2) ** 2).mean()


@pytest.fixture
def flow() -> grad_flow:
    return trained()[0]


def trained() -> tuple[grad_flow, Net]:
    model = Net()
    flow = grad_flow(model, every=2)
    optimizer = nn.SGD(model.parameters(), lr=0.2)
    for _ in range(24):
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
        flow.step()
    return flow, model


@pytest.fixture
def path(tmp_path: Path) -> Path:
    flow, model = trained()
    with minigrad.trace():
        traced = loss(model)
    return flow.to_html(tmp_path / "flow.html", traced)


def goto(page: Any, place: int) -> None:
    page.locator("#step").evaluate(
        f"s => {{ s.value = {place}; s.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
    )


def numbers(page: Any) -> list[float | str]:
    texts = page.locator("#values div").all_text_contents()
    return [text if text in ("–", "0", "NaN/∞") else float(text) for text in texts]


def test_the_numbers_are_the_norms_of_the_step(path: Path, flow: grad_flow, show: Show) -> None:
    page = show(path)
    for place in (0, 3, len(flow.steps) - 1):
        goto(page, place)
        assert page.locator("#number").text_content() == str(flow.steps[place])
        for what in ("gradient", "parameter", "update"):
            page.select_option("#what", what)
            norms = flow.norms(what)
            expected = [float(row[place]) for row in list(norms.values())[:3]]
            assert numbers(page)[:3] == [pytest.approx(value, rel=0.006) for value in expected]
        page.select_option("#what", "ratio")
        ratios = [float(row[place]) for row in list(flow.ratios().values())[:3]]
        assert numbers(page)[:3] == [pytest.approx(value, rel=0.006) for value in ratios]
    page.select_option("#what", "gradient")
    assert numbers(page)[3] == "–"


@pytest.mark.parametrize(
    ("number", "name"), [(0, "layers.0.weight"), (5, "layers.2.bias")]
)  # a matrix, a single number
def test_the_slider_recolours_the_graph(
    path: Path, flow: grad_flow, show: Show, screenshot: Screenshot, number: int, name: str
) -> None:
    page = show(path)
    screenshot(page, "flow")
    norms = flow.norms("gradient", "parameter")
    weight = f'#graph [id="{element(page, number)}"]'
    colors = []
    for place in (0, len(flow.steps) - 1):
        goto(page, place)
        value = float(norms[name][place])
        texts = page.locator(f"{weight} text").all_text_contents()
        assert [float(text) for text in texts if "e+" in text or "e-" in text] == [pytest.approx(value, rel=0.006)]
        colors.append(page.locator(f"{weight} :is(path, polygon)").first.evaluate("b => getComputedStyle(b).fill"))
        assert colors[-1] == page.evaluate(f"color({value!r})")
    assert colors[0] != colors[1]


def element(page: Any, place: int) -> Any:
    return page.evaluate(
        f"Object.entries(data.elements).find(([id, p]) => id.startsWith('node') && p.join() === '{place}')[0]"
    )


def test_colours_follow_the_ramp(path: Path, flow: grad_flow, show: Show) -> None:
    page = show(path)
    for what, norms in (("ratio", flow.ratios()), ("gradient", flow.norms())):
        page.select_option("#what", what)
        known = np.stack(list(norms.values()))
        low, high = page.evaluate("range")
        assert [10**low, 10**high] == pytest.approx([np.nanmin(known[known > 0]), np.nanmax(known)])
    rgb = lambda hex: f"rgb({int(hex[1:3], 16)}, {int(hex[3:5], 16)}, {int(hex[5:], 16)})"
    for i, color in enumerate(RAMP):
        value = 10 ** (low + (high - low) * i / (len(RAMP) - 1))
        assert page.evaluate(f"color({value!r})") == rgb(color)
    assert page.evaluate("[color(0), color(null), color(Infinity)]") == ["#ffffff", "#d8d8d8", "#c62828"]


def test_a_click_in_the_heat_map_and_the_keyboard_choose_a_step(path: Path, flow: grad_flow, show: Show) -> None:
    page = show(path)
    box = page.locator("#cells").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 3.5 / len(flow.steps), box["y"] + 5)
    assert page.locator("#number").text_content() == str(flow.steps[3])
    page.locator("#step").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#number").text_content() == str(flow.steps[4])
    page.keyboard.press("Home")
    assert page.locator("#number").text_content() == "0"


@pytest.mark.thorough
def test_play_goes_to_the_end_and_stops(path: Path, flow: grad_flow, show: Show) -> None:
    page = show(path)
    page.click("#play")
    assert page.locator("#number").text_content() != str(flow.steps[-1])
    page.locator("#play[aria-pressed=false]").wait_for()
    assert page.locator("#number").text_content() == str(flow.steps[-1])
    assert page.locator("#play").text_content() == "Play"


def test_a_layer_is_found_in_the_graph(path: Path, show: Show) -> None:
    page = show(path)
    page.locator("#names div").nth(1).hover()
    marked = page.locator("#graph .marked").evaluate_all("groups => groups.map(g => g.id)")
    assert element(page, 2) in marked
    assert element(page, 0) not in marked
    page.mouse.move(2, 2)
    assert page.locator("#graph .marked").count() == 0


def test_flags_in_both_languages(path: Path, show: Show, screenshot: Screenshot) -> None:
    page = show(path, width=420, height=900)
    items = page.locator("#flags li").all_text_contents()
    assert items[0].startswith("dead unused never got a gradient: the loss does not depend on it ")
    page.select_option("#language", "ja")
    assert page.locator("#flags li").first.text_content().startswith("停止 unused：勾配が一度も届いていません")
    assert page.title() == "訓練中の勾配の流れ"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    screenshot(page, "flow_narrow_japanese")


def test_names_stay_text_and_bad_numbers_are_shown(tmp_path: Path, show: Show) -> None:
    name = "x</script><b>"
    w = Tensor([1.0], requires_grad=True)
    flow = grad_flow({name: w, "zero": Tensor([0.0], requires_grad=True)})
    for value in (2.0, np.nan):
        w.data = np.array([value])
        flow.step()
    page = show(flow.to_html(tmp_path / "flow.html"))
    assert page.locator("#names div").all_text_contents() == [name, "zero"]
    assert page.locator("#names b, #flags b").count() == 0
    page.select_option("#what", "parameter")
    assert numbers(page) == ["NaN/∞", "0"]
    assert page.locator("#graph-section").is_hidden()


def test_every_word_is_there_in_both_languages(path: Path, show: Show) -> None:
    page = show(path)
    assert page.evaluate("Object.keys(words.all.en).sort().join() === Object.keys(words.all.ja).sort().join()")
