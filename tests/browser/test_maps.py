"""The page of attention maps in a real browser: what a token shows are the model's weights; mouse, keys, languages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad import attention_maps

Show = Callable[..., Any]
Screenshot = Callable[[Any, str], None]

CAT = ["猫", "が", "こたつ", "で", "寝る"]
ENGLISH = ["<s>", "the", "x</script><b>", "sleeps"]


def weights(*shape: int) -> Any:
    logits = np.random.default_rng(shape).normal(size=shape) * 2
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


class Model:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def attention_weights(self, inputs: Any) -> Any:
        return self.answer


@pytest.fixture
def answer() -> dict[str, list[Any]]:
    return {
        "encoder": [weights(1, 2, 5, 5), weights(1, 4, 5, 5)],
        "decoder": [weights(1, 2, 4, 4)],
        "cross": [weights(1, 2, 4, 5)],
    }


@pytest.fixture
def path(answer: Any, tmp_path: Path) -> Path:
    attention_maps(Model(answer), None, ENGLISH, tmp_path / "maps.html", key_tokens=CAT)
    return tmp_path / "maps.html"


def token(page: Any, side: str, place: int) -> Any:
    return page.locator(f"[data-key='token {('query', 'key').index(side)} {place}']")


def choose(page: Any, layer: int, head: int | None = None) -> None:
    """Press a thumbnail, or the button for all heads of a layer."""
    which = ":not([data-head])" if head is None else f"[data-head='{head}']"
    page.locator(f"#thumbnails button[data-layer='{layer}']{which}").click()


def table(page: Any) -> list[tuple[str, int, float]]:
    """The weights at the tokens, the largest first."""
    read = """all => all.map(one => [one.querySelector("title").textContent, Number(one.dataset.key.split(" ")[2]),
                                   Number(one.dataset.weight)])"""
    return sorted(map(tuple, page.locator(".token[data-weight]").evaluate_all(read)), key=lambda row: -row[2])


def expected(row: Any, labels: list[str]) -> list[Any]:
    order = np.argsort(-row, kind="stable")
    return [(labels[i], int(i), pytest.approx(float(row[i]), abs=5e-4)) for i in order]


def test_a_token_shows_where_it_looks_and_who_looks_at_it(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    for layer, part in enumerate(["encoder", "encoder", "decoder", "cross"]):
        number = layer if part == "encoder" else 0
        for head, matrix in enumerate(answer[part][number][0]):
            choose(page, layer, head)
            queries = CAT if part == "encoder" else ENGLISH
            keys = ENGLISH if part == "decoder" else CAT
            token(page, "query", 1).hover()
            assert table(page) == expected(matrix[1], keys)
            token(page, "key", 2).hover()
            assert table(page) == expected(matrix[:, 2], queries)


def test_all_heads_together_show_their_mean(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    assert page.inner_text("#shown") == "encoder: layer 1, all heads, in colours"  # the page begins so
    choose(page, 1)
    token(page, "query", 0).hover()
    assert table(page) == expected(answer["encoder"][1][0, :, 0].mean(axis=0), CAT)


def test_lines_are_in_proportion(path: Path, answer: Any, show: Show, screenshot: Screenshot) -> None:
    page = show(path)
    choose(page, 3, 0)
    token(page, "query", 1).hover()
    screenshot(page, "maps_cross")
    matrix = answer["cross"][0][0, 0]
    said = token(page, "key", 3).evaluate("one => one.lastChild.textContent")
    assert said == f"で {matrix[1, 3]:.2f}"
    widths = "paths => paths.map(path => Number(path.getAttribute('stroke-width')))"
    lines = page.locator("#lines path").evaluate_all(widths)
    seen = matrix[1][matrix[1] >= 0.02 * matrix.max()]
    np.testing.assert_allclose(sorted(lines), sorted(np.maximum(0.7, 0.85 * 24 * seen / matrix.max())), atol=0.01)
    page.mouse.move(5, 5)
    assert page.locator(".token.asked, .token[data-weight]").count() == 0


def test_all_heads_have_ribbons_side_by_side_in_their_colours(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    choose(page, 1)
    token(page, "query", 2).hover()
    assert table(page) == expected(answer["encoder"][1][0, :, 2].mean(axis=0), CAT)
    weights_of_all = answer["encoder"][1]
    weights = weights_of_all[0, :, 2]
    for head, row in enumerate(weights):
        ribbons = page.locator(f"#lines path.k{head}").evaluate_all(
            "paths => paths.map(path => [Number(path.getAttribute('stroke-width')), path.getAttribute('d')])"
        )
        widths = np.maximum(0.7, 0.85 * 24 / 4 * row[row >= 0.02 * weights_of_all.max()] / weights_of_all.max())
        np.testing.assert_allclose(sorted(width for width, _ in ribbons), sorted(widths), atol=0.01)
        begin = 24 * 2.5 + (head - 1.5) * 0.85 * 24 / 4
        assert {float(d.removeprefix("M0 ").partition("C")[0]) for _, d in ribbons} == {round(begin, 1)}
    colours = page.locator("#thumbnails [data-layer='1'][data-head]").evaluate_all(
        "all => all.map(one => one.className)"
    )
    assert colours == ["k0", "k1", "k2", "k3"]


def test_the_heat_map_tells_the_weight_under_the_pointer(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    choose(page, 3, 0)
    cells = page.locator("#map .map")
    box = cells.bounding_box()
    place = (box["x"] + 4.5 / 5 * box["width"], box["y"] + 2.5 / 4 * box["height"])
    page.mouse.move(*place)
    weight = answer["cross"][0][0, 0, 2, 4]
    said = page.locator("#map .readout").inner_text()
    assert said.startswith("[2, 4] x</script><b> → 寝る: ")
    assert float(said.split()[-1]) == pytest.approx(weight, rel=1e-3)
    cell = cells.locator(".cell[d*='M104 52h']")  # of 26 px
    strength = np.ceil(12 * weight / answer["cross"][0][0, 0].max()) / 12
    assert float(cell.get_attribute("fill-opacity")) == pytest.approx(strength)
    assert token(page, "query", 2).get_attribute("class") == "token asked"
    frame = cells.locator(".asked").bounding_box()
    assert (
        frame["width"] == pytest.approx(box["width"], abs=4) and frame["y"] <= place[1] <= frame["y"] + frame["height"]
    )
    labels = [page.locator(f"#map .tokens.{side} span").all_text_contents() for side in ("rows", "columns")]
    assert labels == [ENGLISH, CAT]


def test_a_token_with_the_focus_is_asked(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    choose(page, 0, 0)
    token(page, "query", 1).focus()
    assert table(page) == expected(answer["encoder"][0][0, 0, 1], CAT)
    page.keyboard.press("Tab")
    assert table(page) == expected(answer["encoder"][0][0, 0, 2], CAT)
    assert token(page, "query", 2).evaluate("one => one === document.activeElement")


def test_a_thumbnail_chooses_its_head(path: Path, show: Show) -> None:
    page = show(path)
    thumbnails = page.locator("#thumbnails [data-head]")
    assert thumbnails.count() == 2 + 4 + 2 + 2
    page.get_by_role("button", name="encoder: layer 2, head 4").click()
    assert page.inner_text("#shown") == "encoder: layer 2, head 4"
    assert page.locator('#thumbnails button[aria-pressed="true"]').get_attribute("title") == "encoder: layer 2, head 4"


def test_japanese(path: Path, show: Show, screenshot: Screenshot) -> None:
    page = show(path, width=420, height=900)
    page.select_option("#language", "ja")
    assert page.title() == "どこを見ているか（アテンション）"
    assert page.evaluate("document.documentElement.lang") == "ja"
    token(page, "query", 2).click()
    assert len(table(page)) == len(CAT)
    assert page.locator("#lines .sides").inner_text().split() == ["見る側（クエリ）", "見られる側（キー）"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    screenshot(page, "maps_narrow_japanese")


def test_tokens_stay_text_and_nan_is_told(tmp_path: Path, show: Show) -> None:
    blank = weights(1, 1, 4, 4)
    blank[0, 0, 1] = np.nan
    attention_maps(Model([blank]), None, ENGLISH, tmp_path / "maps.html")
    page = show(tmp_path / "maps.html")
    assert page.locator("#lines b").count() == 0
    assert token(page, "key", 2).evaluate("one => one.lastChild.textContent") == "x</script><b>"
    token(page, "query", 1).hover()
    assert page.locator("#lines path").count() == 0
    assert token(page, "key", 2).evaluate("one => one.lastChild.textContent") == "x</script><b> NaN"


def test_every_word_is_there_in_both_languages(path: Path, show: Show) -> None:
    page = show(path)
    assert page.evaluate("Object.keys(words.all.en).sort().join() === Object.keys(words.all.ja).sort().join()")


def test_a_token_says_its_largest_weights(path: Path, answer: Any, show: Show) -> None:
    page = show(path)
    choose(page, 3)
    means = answer["cross"][0][0].mean(axis=0)

    def largest(row: Any, labels: list[str]) -> str:
        return ", ".join(f"{labels[i]} {row[i]:.2f}" for i in np.argsort(-row)[:3])

    said = token(page, "query", 1).get_attribute("aria-label")
    assert said == f"“the” looks at: {largest(means[1], CAT)}"
    assert (
        token(page, "key", 2).get_attribute("aria-label")
        == f"“こたつ” is looked at by: {largest(means[:, 2], ENGLISH)}"
    )
    page.select_option("#language", "ja")
    assert token(page, "query", 1).get_attribute("aria-label") == f"「the」が見ているもの：{largest(means[1], CAT)}"
    assert page.locator(".token[role=button]").count() == 0  # nothing happens if it is pressed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_long_tokens_are_cut_and_their_weights_are_not(
    size: tuple[int, int], tmp_path: Path, show: Show, screenshot: Screenshot
) -> None:
    texts = ["an", "antidisestablishmentarianism_and_more", "Donaudampfschifffahrtsgesellschaft"]
    attention_maps(Model([weights(1, 2, 3, 3)]), None, texts, tmp_path / "maps.html")
    page = show(tmp_path / "maps.html", *size)
    token(page, "query", 1).hover()
    ends = "all => all.map((one) => one.getBBox()).flatMap(({ x, width }) => [x, x + width])"
    _, _, wide, _ = map(float, str(page.locator(".ribbons").get_attribute("viewBox")).split())
    assert all(0 <= end <= wide for end in page.locator(".token").evaluate_all(ends))
    said = page.locator(".token").evaluate_all("all => all.map((one) => one.lastChild.textContent)")
    assert said[0] == "an" and all(text.split()[0].endswith("…") for text in (*said[1:3], *said[4:]))
    assert all(text.split()[-1].startswith("0.") for text in said[3:])
    assert page.evaluate("find('lines').querySelector('svg').getScreenCTM().a") > 0.9  # the letters are not smaller
    screenshot(page, f"maps_long_{size[0]}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_attention_to_nearly_all_of_128_tokens_draws_the_widest_ribbons(
    size: tuple[int, int], tmp_path: Path, show: Show, screenshot: Screenshot
) -> None:
    logits = 0.3 * np.random.default_rng(0).normal(size=(1, 8, 128, 128))
    even = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    attention_maps(Model([even]), None, [f"token{i}" for i in range(128)], tmp_path / "maps.html")
    page = show(tmp_path / "maps.html", *size)
    widths = page.locator(".ribbon").evaluate_all("all => all.map((one) => Number(one.getAttribute('stroke-width')))")
    expected = np.maximum(0.7, 0.85 * 24 / 8 * np.sort(even.ravel())[::-1][:2000] / even.max())
    np.testing.assert_allclose(widths, expected, atol=0.01)
    screenshot(page, f"maps_128_{size[0]}")
    token(page, "query", 0).hover()
    assert page.locator(".ribbon").count() == 8 * 128  # all that this token has


def test_a_hundred_tokens_and_a_hundred_heads_are_all_there(tmp_path: Path, show: Show) -> None:
    maps = attention_maps(Model([weights(1, 12, 100, 100)] * 8), None)
    maps.to_html(tmp_path / "maps.html")
    page = show(tmp_path / "maps.html")
    assert page.locator("#thumbnails [data-head]").count() == 96
