"""The data on the stepper's page: the drawn decision is the program's own for other inputs, also after steps of descent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor, explain
from tests.leaves import leaf

Show = Callable[..., Any]
Screenshot = Callable[[Any, str], None]
X = np.array([[0.0, 0.0], [1.0, 1.0], [0.9, 0.1], [0.0, 1.0], [1.0, 0.2], [0.1, 0.9]])
BITS = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
LABELS = np.array([0, 0, 1, 1, 2, 2])
T = np.linspace(-1, 1, 7)
SIDE, LEFT, RIGHT, TOP, BOTTOM = 26, 42, 332, 8, 218  # of data.js


def two_layers(w: Any, v: Any, x: Any) -> Any:
    return 1 / (1 + np.exp(-(np.tanh(x @ w) @ v)))


def opened(loss: Any, tmp_path: Path, show: Show, shown: Any = None) -> Any:
    return show(explain(loss, tmp_path / "page.html", check=False, show=shown), 1280, 720)


def ground(page: Any) -> dict[tuple[int, int], str]:
    """The class of each cell of the background, by column and row, from below."""
    found = {}
    for name, d in page.locator(".ground").evaluate_all(
        "all => all.map(one => [one.getAttribute('class').replace('ground ', ''), one.getAttribute('d')])"
    ):
        for cell in d.split("M")[1:]:
            left, top = map(float, cell.partition("H")[0].split())
            column = round((left - LEFT) / (RIGHT - LEFT) * SIDE)
            found[column, round((BOTTOM - top) / (BOTTOM - TOP) * SIDE)] = name
    return found


def inputs() -> tuple[Any, list[tuple[int, int]]]:
    """The middles of the cells: the range of each feature with 15 % on both sides."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - 0.15 * (high - low), high + 0.15 * (high - low)
    places = [(column, row) for column in range(SIDE) for row in range(SIDE)]
    return low + (high - low) * (np.array(places) + 0.5) / SIDE, places


@pytest.fixture
def weights() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return leaf(rng.normal(size=(2, 4)), "w"), leaf(rng.normal(size=(4, 1)), "v")


def test_the_background_is_the_decision_before_and_after_descent(weights: Any, tmp_path: Path, show: Show) -> None:
    w, v = weights
    with mg.trace():
        p = two_layers(w, v, X)
        loss = -(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)).mean()
    loss.backward()
    page = opened(loss, tmp_path, show)
    for steps in (0, 10):
        page.evaluate(f"play.descend({steps})")
        for _ in range(steps):
            w, v = (leaf(a.data - 0.1 * a.grad.data) for a in (w, v))
            p = two_layers(w, v, X)
            (-(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)).mean()).backward()
        grid, places = inputs()
        answers = two_layers(w.data, v.data, grid)[:, 0]
        found = ground(page)
        assert len(found) == SIDE**2
        sure = abs(answers - 0.5) > 1e-6
        names = [found[column, row] for column, row in places]
        assert np.array_equal(np.array([name.startswith("k1") for name in names])[sure], (answers > 0.5)[sure])
        depth = 5 * abs(2 * answers - 1)  # how sure the model is, in five steps
        clear = sure & (abs(depth - np.round(depth)) > 1e-6)
        assert np.array_equal(np.array([int(name[-1]) for name in names])[clear], np.ceil(depth)[clear])
        right = np.sum((two_layers(w.data, v.data, X) > 0.5) == BITS)
        assert page.locator("#data-section .legend strong").text_content() == f"{right} of 6 right"
        assert page.locator(".mark.wrong").count() == 6 - right


def test_a_slider_moves_the_decision(weights: Any, tmp_path: Path, show: Show, screenshot: Screenshot) -> None:
    w, v = weights
    with mg.trace():
        scores = np.tanh(X @ w) @ np.concatenate([v, -v, 2 * v], axis=1)
        loss = nn.cross_entropy(scores, LABELS)
    page = opened(loss, tmp_path, show)
    before = ground(page)
    page.evaluate("play.move(graph.nodes.findIndex(({ name }) => name === 'scores'), 4, 2)")  # of one example alone
    assert ground(page) == before and page.locator("#data-section .note").count() == 0
    page.evaluate("editing.reset()")
    slider = page.locator("[data-key^=slider]").first
    slider.fill(str(float(slider.get_attribute("max"))))
    assert ground(page) != before
    screenshot(page, "data-slider")


def test_a_curve_moves_and_the_first_one_stays_as_a_ghost(tmp_path: Path, show: Show, screenshot: Screenshot) -> None:
    a, b = leaf(0.5, "a"), leaf(0.1, "b")
    with mg.trace():
        f = np.tanh(a * T) + b
        loss = ((f - np.sin(3 * T)) ** 2).mean()
    page = opened(loss, tmp_path, show)
    line = page.locator(".curve:not(.ghost-line)")
    assert page.locator(".ghost-line").count() == 0 and page.locator(".data-plot .mark").count() == 7
    before = line.get_attribute("points")
    page.evaluate("play.descend(10)")
    assert page.locator(".ghost-line").get_attribute("points") == before != line.get_attribute("points")
    xs, ys = np.array([pair.split(",") for pair in line.get_attribute("points").split()], float).T
    ticks = [
        float(text)
        for text in page.locator("#data-section .data-plot > text").all_text_contents()
        if text[-1].isdigit()
    ]
    x = ticks[0] + (ticks[1] - ticks[0]) * (xs - LEFT) / (RIGHT - LEFT)
    a, b = (page.evaluate(f"graph.nodes.find(({{ name }}) => name === '{name}').values[0].values[0]") for name in "ab")
    y = ticks[2] + (ticks[3] - ticks[2]) * (BOTTOM - ys) / (BOTTOM - TOP)
    np.testing.assert_allclose(y, np.tanh(a * x) + b, atol=0.02)
    screenshot(page, "data-curve")


def test_the_page_says_why_it_cannot_draw_the_answer(tmp_path: Path, show: Show) -> None:
    w = leaf(0.5, "w")
    with mg.trace():
        f = w * T**2 + T
        loss = ((f - np.sin(T)) ** 2).mean()
    page = opened(loss, tmp_path, show, {"points": (T, np.sin(T))})
    assert "it also reads T ** 2" in page.locator("#data-section .note").text_content()
    assert len(page.locator(".curve").get_attribute("points").split()) == 7  # the answers to the examples, joined

    with mg.trace():
        z = X @ leaf(np.ones((2, 1)), "w")
        p = 1 / (1 + np.exp(-(z - z.mean())))
        loss = -(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)).mean()
    page = opened(loss, tmp_path, show, {"points": (X, BITS)})
    assert "depends on the other examples" in page.locator("#data-section .note").text_content()
    assert page.locator(".ground").count() == 0 and page.locator(".data-plot .mark").count() == 6


def test_a_tensor_with_a_gradient_is_data_too(tmp_path: Path, show: Show) -> None:
    t, w = Tensor(T, requires_grad=True, name="t"), leaf(0.5, "w")
    with mg.trace():
        f = w * t**2 + t
        loss = ((f - np.sin(T)) ** 2).mean()
    page = opened(loss, tmp_path, show, {"points": (T, np.sin(T))})
    assert len(page.locator(".curve").get_attribute("points").split()) == 101
    assert page.locator("#data-section .note").count() == 0


def test_images_have_the_shares_of_the_classes(tmp_path: Path, show: Show, screenshot: Screenshot) -> None:
    rng = np.random.default_rng(0)
    images, w = rng.uniform(size=(4, 16)), leaf(rng.normal(size=(16, 3)), "w")
    with mg.trace():
        scores = images @ w
        loss = nn.cross_entropy(scores, np.array([0, 1, 2, 1]))
    page = opened(loss, tmp_path, show, {"images": (4, 4)})
    shares = mg.softmax(scores).numpy()
    meters = page.locator("#data-section meter").evaluate_all("all => all.map(one => one.value)")
    np.testing.assert_allclose(np.reshape(meters, (4, 3)), shares, atol=1e-6)
    assert page.locator(".bar.target").evaluate_all("all => all.map(one => one.textContent[0])") == list("0121")
    pixels = "(one) => [...one.getContext('2d').getImageData(0, 0, 4, 4).data].filter((_, i) => i % 4 === 0)"
    grey = page.locator("#data-section canvas").nth(2).evaluate(pixels)
    low, high = images.min(), images.max()
    np.testing.assert_allclose(grey, 255 * (images[2] - low) / (high - low), atol=1)
    screenshot(page, "data-images")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_have_ribbons(scheme: str, tmp_path: Path, show: Show, screenshot: Screenshot) -> None:
    rng = np.random.default_rng(0)
    words = ["the", "cat", "sat", "extraordinarily"]
    x, w = rng.normal(size=(4, 6)), leaf(rng.normal(size=(6, 6)), "w")
    with mg.trace():
        loss = (mg.scaled_dot_product_attention(x @ w, x @ w, x @ w, num_heads=2) ** 2).mean()
    name = next(node.label for node in mg.draw_dot(loss).nodes if "attention" in (node.operation or ""))
    page = opened(loss, tmp_path, show, {name: words})
    page.emulate_media(color_scheme=scheme)
    page.evaluate("go(timeline.turn)")
    weights = page.evaluate("graph.nodes.find((node) => node.weights).weights")
    weights = np.reshape(weights["values"], weights["shape"])
    page.locator("[data-key='token 0 1']").hover()
    for head in (0, 1):
        kept = weights[head, 1][weights[head, 1] >= 0.02 * weights.max()]
        assert page.locator(f".ribbon.k{head}").count() == len(kept)
    said = page.locator("[data-key^='token 1']").evaluate_all("(all) => all.map((one) => one.lastChild.textContent)")
    assert [text.split()[-1] for text in said] == [f"{share:.2f}" for share in weights[:, 1].mean(axis=0)]
    cut = said[3].split()[0]
    assert cut.endswith("…") and words[3].startswith(cut.removesuffix("…"))
    assert page.locator("[data-key='token 0 3']").get_attribute("aria-label").startswith("“extraordinarily” looks at: ")
    page.locator("[data-key=head1]").click()
    assert page.locator(".ribbon").first.get_attribute("class") == "ribbon"  # one head alone
    screenshot(page, f"data-words-{scheme}")


@pytest.mark.parametrize("heads", [1, 2])
def test_the_ribbons_of_attention_move_with_the_numbers(heads: int, tmp_path: Path, show: Show) -> None:
    rng = np.random.default_rng(0)
    words, w = ["one", "two", "three"], leaf(rng.normal(size=(4, 4)), "w")
    x = rng.normal(size=(2, 3, 4))  # a batch of two sentences
    with mg.trace():
        z = x @ w
        a = mg.scaled_dot_product_attention(z, z, z, num_heads=heads)
        loss = (a**2).mean()
    page = opened(loss, tmp_path, show, {"a": words})
    page.evaluate("play.move(graph.nodes.findIndex(({ name }) => name === 'w'), 5, 3)")
    w.data[1, 1] = 3.0
    z = (x @ w).numpy()
    q = z.reshape(2, 3, heads, 4 // heads).swapaxes(1, 2)
    weights = np.asarray(mg.softmax(q @ q.swapaxes(-1, -2) / (4 // heads) ** 0.5))[0]
    page.locator("[data-key='token 0 2']").hover()
    said = page.locator("[data-key^='token 1']").evaluate_all("(all) => all.map((one) => one.lastChild.textContent)")
    assert [text.split()[-1] for text in said] == [f"{share:.2f}" for share in weights[:, 2].mean(axis=0)]
