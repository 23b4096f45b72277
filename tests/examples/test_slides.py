"""The slides of a lesson: all of its text, in order, one idea on each, answers later, and nothing that is fetched."""

import html
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import code_lines
import lesson_notebooks
import minigrad as mg
import slide_code
import slide_pictures
import slide_texts
import slides
from lesson_notebooks import cells, lessons
from minigrad.learn.tasks import LANGUAGES
from slide_texts import Slide, blocks, inline, sentences
from tests.examples.conftest import Chromium
from tests.examples.processes import command

SMALL = """# %% [markdown] name="title"
# # Lesson 99: a title
#
# It begins. [A page](page.md) says `more * than` *that*.
#
# ## Rows
#
#     y = 2 * x
#
# This explains the formula.
#
# Second idea, which a list follows:
#
# - one
#   item
# - two
#
# > **Box: aside.** Not needed.

# %%
LANGUAGE = "en"

# %% [markdown] name="table"
# | a | b |
# |---|---|
# | 1 | 2 |

# %%
import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2)
left.plot([1, 2])
print("1 < 2", 40 + 2)


def twice(x):
    return 2 * x

# %% [markdown] name="end"
# ## Explain
#
# One question?
#
# ---
#
# **Model answer.** The answer.
"""


@pytest.fixture(autouse=True)
def _needs_matplotlib() -> None:
    pytest.importorskip("matplotlib", exc_type=ImportError)


def squeezed(text: str) -> str:
    """The text without spaces, and without the signs that become type."""
    return re.sub(r"[\s`*|>#]|^-+$|---", "", text, flags=re.MULTILINE)


def shown(slide: Slide) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", " ".join(slide.parts)))


@pytest.fixture
def small(tmp_path: Path) -> list[Slide]:
    path = tmp_path / "99_small.py"
    path.write_text(SMALL, encoding="utf-8")
    return slides.slides(path, "en")


def test_a_slide_holds_one_idea_with_what_belongs_to_it(small: list[Slide]) -> None:
    program = (
        '<pre>print(<span class="s">"1 &lt; 2"</span>, 40 + 2)\n\n'
        '<span class="k">def</span> twice(x):\n    <span class="k">return</span> 2 * x</pre>'
    )
    table = "<table><tr><th>a</th><th>b</th><tr><td>1</td><td>2</td></tr></table>"
    listed = "<ul><li>one item</li><li>two</li></ul>"
    assert [(slide.kind, slide.heading, slide.parts, slide.shown) for slide in small] == [
        ("title", "Lesson 99: a title", [], 99),
        ("", "Lesson 99: a title",
         ["<p class=lead>It begins.</p><p>A page says <code>more\u00a0*\u00a0than</code> <em>that</em>.</p>"], 99),
        ("", "Rows", ['<pre class="formula">y = 2 * x</pre>', "<p class=lead>This explains the formula.</p>"], 99),
        ("", "Rows", ["<p class=lead>Second idea, which a list follows:</p>", listed], 99),
        ("", "Rows", ['<p class="box"><b>Box: aside.</b> Not needed.</p>'], 99),
        ("", "Rows", [table], 99),
        # What a program prints appears when the class has guessed.
        ("", "Rows", [program, '<pre class="said">1 &lt; 2 42</pre>'], 1),
        ("", "Explain", ["<p class=lead>One question?</p>"], 99),
        ("answer", "Explain", ["<p class=lead><b>Model answer.</b></p><p>The answer.</p>"], 99),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a `b*` and **`c`** d", "a <code>b*</code> and <b><code>c</code></b> d"),
        ("**Bold.** x * y * z", "<b>Bold.</b> x * y * z"),
        ("何かを*足します*。", "何かを<em>足します</em>。"),
        ("*順番*が", "<em>順番</em>が"),
        ("1 < 2 & *so*", "1 &lt; 2 &amp; <em>so</em>"),
    ],
)
def test_markdown_within_a_line(text: str, made: str) -> None:
    assert inline(text) == made


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("One. Two? 3.5 is no end. (Four. Still four.) Five", "en",
         ["One.", "Two? 3.5 is no end.", "(Four. Still four.)", "Five"]),
        ("So: **one rule. All of it.** Then `a. B` goes on.", "en", ["So: **one rule. All of it.**", "Then `a. B` goes on."]),
        ("`b ** 2` first. Then more.", "en", ["`b ** 2` first.", "Then more."]),
        ("一つ。**二つ。三つ。**四つ（五つ。六つ。）「七。」と。", "ja",
         ["一つ。", "**二つ。三つ。**", "四つ（五つ。六つ。）", "「七。」と。"]),
        ("書いて。*なぜですか。何を。* 比べて。", "ja", ["書いて。", "*なぜですか。何を。*", "比べて。"]),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_stops(text: str, language: str, found: list[str]) -> None:
    assert sentences(text, language) == found


def test_a_long_program_goes_on_on_the_next_slide() -> None:
    source = "def f(x):\n" + "\n".join(
        f"    x{i} = x  # and so on, until the line is so long that it takes two" for i in range(9)
    )
    pieces = slide_code.programs(
        f"{source}\n    return x\n\n\nvery_long = '{'a' * 2000}'\nprint(f(1))\n", ["", "", "1\n"]
    )
    # What is too long for a slide is left out.
    assert "\n".join(piece.text for piece in pieces) == f"{source}\n    return x\n\nprint(f(1))"
    assert len(pieces) == 2 and all(slide_code.height(piece.text) <= slide_code.LINES for piece in pieces)
    assert [piece.said for piece in pieces] == ["", "1\n"]


def test_a_program_ends_where_it_prints_and_shows_that() -> None:
    """Each part of a program that is too long for a slide stands with what it prints itself."""
    first, second = (f"{name} = 0\n" * 7 + f"print({name})" for name in "ab")
    pieces = slide_code.programs(f"{first}\n{second}", [*[""] * 7, "0\n", *[""] * 7, "0\n"])
    assert [(piece.text, piece.said) for piece in pieces] == [(first, "0\n"), (second, "0\n")]


def test_what_serves_a_drawing_alone_is_left_out() -> None:
    """The first width is drawn, and the second one is the loop's."""
    code = (
        "height, width = 2, 3\nplt.plot(height, width)\nfor width in (1, 2):\n    print(width)\nsize = 1\nprint(size)"
    )
    (piece,) = slide_code.programs(code, ["", "", "1\n2\n", "", "1\n"])
    assert piece.text == "for width in (1, 2):\n    print(width)\nsize = 1\nprint(size)"
    assert piece.said == "1\n2\n1\n"


def test_a_picture_stands_beside_the_text_that_speaks_of_it() -> None:
    """If a text is too long for that, its sentences next to the picture stand beside it."""
    text, long = "<p>A short text.</p>", f"<p>{'long ' * 60}</p>"
    for parts, heading, slides_made in (([text], "A", 2), ([long + text], "A", 3), ([text], "C", 3)):
        made = [Slide(heading, parts), Slide("A", ["<img>"], picture=True), Slide("B", [text])]
        slides._with_picture(made, "en")
        assert len(made) == slides_made
        beside = [part for slide in made for part in slide.parts if "beside" in part]
        assert beside == [f'<div class="beside"><div>{text}</div><img></div>'] * (heading == "A")
        assert "".join(part for slide in made for part in slide.parts).count("long") == parts[0].count("long")


def test_an_answer_is_a_sentence_and_then_its_reason() -> None:
    def words(text: str) -> dict[str, str]:
        return {"en": text}

    choices = [
        {"text": words("one"), "right": False},
        {"text": words("two"), "right": True, "feedback": words("Right: so it is.")},
    ]
    stop = {"text": words("Count."), "question": {"choices": choices}}
    assert slides._answer(stop, "", "en") == "<b>Answer: two.</b> So it is."
    assert slides._answer({**stop, "question": {"choices": []}}, "39", "en") == "<b>Answer: 39.</b> Count."
    arrow = slides._answer({**stop, "question": {"choices": []}}, "`b → a`", "en")
    assert arrow == "<b>Answer: <code>b\u00a0→\u00a0a</code>.</b> Count."


def test_sentences_for_readers_of_the_text_are_left_out() -> None:
    text = "One. The page `out/a.html` asks. Two.\n\nOpen `out/a.html`.\n\nTime: 15 minutes. Three."
    made = slide_texts.texts(text, "A", "en", ["out/a.html", slide_texts.MINUTES["en"]])
    assert [slide.parts for slide in made] == [["<p class=lead>One.</p><p>Two.</p>"], ["<p class=lead>Three.</p>"]]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("x, y = first(argument, other), second(argument)", ["x, y = first(argument, ", "other), second(argument)"]),
        ("total = (one(argument, a) - two(argument * b)) / 2", ["total = (one(argument, a) ", "- two(argument * b)) / 2"]),
        ('print(f"one, two: {number + 1:.4f}; three and four", end="")',
         ['print(f"one, two: {number + 1:.4f}; "', 'f"three and four", end="")']),
        ('x = {("a", "b"): 1, ("c", "d"): 2, ("e", "f"): 3}', ['x = {("a", "b"): 1, ("c", "d"): 2, ', '("e", "f"): 3}']),
        ("for name in order:  # its turn: it gives what comes", ["for name in order:  # its turn: it gives ", "what comes"]),
        ("def function(first: float, other: int) -> set[int]:", ["def function(first: float, ", "other: int) -> set[int]:"]),
    ],
)  # fmt: skip
def test_a_long_line_goes_on_where_a_person_would_break_it(line: str, parts: list[str]) -> None:
    made = code_lines.hung(html.escape(line, quote=False), line, 40)
    assert html.unescape(re.sub(r"<span.*?>|</span>", "", made)).split("<br>") == parts
    assert code_lines.height(line, 40) == len(parts)
    if "#" not in line:
        compile("\n    ".join(parts) + " pass" * line.endswith(":"), "line", "exec")  # it is Python, broken or not


def test_a_long_line_goes_on_deeper_than_it_begins() -> None:
    """Also one of a text that has several lines; a Japanese letter is as wide as two."""
    source = 'def f(x):\n    """One & ' + "more " * 12 + 'end,\n    two."""\n    return x  # ' + "長" * 30
    made = slide_code.highlighted(source)
    assert html.unescape(re.sub(r"<[^>]+>", "", made)) == source
    long = re.findall(r'<span class="long" style="--deep: 8ch">(.*?\n|.*?</pre>)', made)
    assert len(long) == made.count("long") == 2 and "One &amp; more" in long[0] and "長" in long[1]
    assert slide_code.height(source) == 4 + 2 and slide_code.height("x" * 64) == 1
    assert [slide_code.height(" " * 20 + "x" * size) for size in (44, 84, 85)] == [1, 2, 3]


def test_a_wide_formula_has_letters_that_fit() -> None:
    assert slide_code.pre(["    y = x", "    z = y"], "formula") == '<pre class="formula">y = x\nz = y</pre>'
    assert 'class="formula wide" style="--columns: 60">' in slide_code.pre(["    " + "x" * 60], "formula")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_the_slides_have_the_whole_text_of_the_lesson(
    path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its programs are not run here: each prints a line, and draws nothing."""
    outcome: dict[str, Any] = {
        "printed": "printed",
        "pictures": [],
        "pages": [],
        "steps": [{"printed": "printed", "pictures": []}],
    }
    monkeypatch.setattr(lesson_notebooks, "run", lambda *_: [outcome] * 99)
    made = slides.slides(path, language)
    said = squeezed("\n".join(re.sub(r"<t[hd]>", " ", shown(slide)) for slide in made))
    at = 0
    for cell in cells(path, language):
        if cell.name is not None:
            for kind, lines in blocks(cell.text):
                text = re.sub(r"\]\([^)]*\)|\[(?=[^\]]*\]\()", "", "\n".join(lines))
                if cell.name == "title":  # but for the time of reading
                    text = re.sub(r"Time:[^.]*\.|所要時間[^。]*。", "", text)
                wanted = squeezed(re.sub(r"^\s*(-|・|\d\.) ", "", text, flags=re.MULTILINE) if kind == "list" else text)
                if kind not in ("heading", "table", "rule"):
                    at = said.index(wanted, at)
    titles = [slide for slide in made if slide.kind == "title"]
    assert len(titles) == 1 and made[0] is titles[0]
    assert 15 <= len(made) <= 90
    for slide in made:
        height = sum(slide_texts.height_of(part, language) for part in slide.parts if slide_texts.is_text(part))
        assert height <= slide_texts.TEXT + 2, slide  # no wall of text


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_becomes_a_page_that_fetches_nothing(language: str, tmp_path: Path) -> None:
    ran = command("slides.py", "--lesson", "2", "--language", language, "--out", "out/slides.html", cwd=tmp_path)
    page = (tmp_path / "out/slides.html").read_text(encoding="utf-8")
    assert ran.stdout.strip().endswith("slides.html")
    slide_pages = re.sub(r'data-page=".*?"', "", page, flags=re.DOTALL)
    assert (
        f'<html lang="{language}">' in page and page.count("data-page=") == 2
    )  # the pages of the lesson, to step through
    assert not re.search(r"https?://|<link|src=\"(?!data:)|url\(|@import", slide_pages)
    assert ("少し動かすと 39.000" in page) == (language == "ja") and "plt." not in slide_pages
    # Two pictures of the lesson, one of them twice; with a browser, also its graphs: on the first slide, beside two programs,
    # at six questions, and at the answers to an arrow and three numbers.
    browser = next(filter(None, map(shutil.which, slide_pictures.BROWSERS)), None)
    graphs = 13 if browser and pytest.importorskip("playwright") else 0
    assert slide_pages.count('src="data:image/png;base64,') == 3 + graphs
    # A number that is asked for is "?" in its equation, beside the numbers that give it; the answer has the number.
    assert slide_pages.count("<mn>?</mn>") == 3 * bool(graphs) == 3 * slide_pages.count("<mn>39</mn>")
    assert ("<code>b\u00a0→\u00a0a</code>" in slide_pages) == bool(graphs)
    assert "out/lessons" not in slide_pages
    assert ("<mn>13</mn><mo>·</mo><mn>3</mn>" in slide_pages) == bool(graphs)


@pytest.mark.thorough
def test_a_picture_of_the_graph_has_no_card_over_a_box(tmp_path: Path, chromium: Chromium) -> None:
    """The box at work says itself what its card said: here y = 8, with x = 2."""
    x = mg.Tensor(2.0, requires_grad=True, name="x")
    with mg.trace():
        a = 3 * x
        y = a + x
    mg.explain(y, tmp_path / "page.html")
    with chromium() as browser:
        view = browser.new_page(viewport={"width": 960, "height": 240}, bypass_csp=True)
        view.goto((tmp_path / "page.html").as_uri() + "#step=1")
        view.add_style_tag(content=slide_pictures.ALONE)
        view.keyboard.press("p")
        view.wait_for_timeout(900)
        cards = view.evaluate(
            "[...document.querySelectorAll('.card rect')].map((part) => part.getBoundingClientRect().width)"
        )
        texts = view.evaluate(
            "[...document.querySelectorAll('.box .label')].map((part) => getComputedStyle(part).visibility)"
        )
    assert max(cards, default=0) == 0 and set(texts) == {"visible"}


@pytest.mark.thorough
def test_no_arrow_stands_out_where_one_is_asked_for(tmp_path: Path, chromium: Chromium) -> None:
    x = mg.Tensor(2.0, requires_grad=True, name="x")
    with mg.trace():
        a = 3 * x
        y = a * x
    mg.explain(y, tmp_path / "page.html")
    with chromium() as browser:
        view = browser.new_page(viewport={"width": 960, "height": 310}, bypass_csp=True, reduced_motion="reduce")
        view.goto((tmp_path / "page.html").as_uri() + "#step=3")  # back along the arrow from a to y
        view.add_style_tag(content=slide_pictures.ALONE)
        looks = []
        for asks in (False, True):
            view.evaluate(slide_pictures.ASKING, asks)
            style = "((part) => [part.strokeWidth, part.strokeDasharray].join())(getComputedStyle(line))"
            lines = "[...document.querySelectorAll('svg.scene .edge.known .line, svg.scene .edge.now-backward .line')]"
            looks.append(set(view.evaluate(f"{lines}.map((line) => {style})")))
    assert len(looks[0]) == 2 and len(looks[1]) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_small_or_cut_on_the_screen(language: str, tmp_path: Path, chromium: Chromium) -> None:
    """Letters have 28 pixels or more on 1280 x 720, and all of a slide is in sight."""
    (path,) = (one for one in lessons() if one.stem == "02_used_twice")
    (tmp_path / "slides.html").write_text(slides.page(path, language), encoding="utf-8")
    with chromium() as browser:
        view = browser.new_page(viewport={"width": 1280, "height": 720})
        errors: list[str] = []
        view.on("pageerror", lambda error: errors.append(str(error)))
        view.goto((tmp_path / "slides.html").as_uri())
        view.wait_for_timeout(500)
        small = view.evaluate(
            "[...document.querySelectorAll('section :is(p, li, pre, code, td, th, h1, h2, nav, button)')]"
            ".filter((part) => parseFloat(getComputedStyle(part).fontSize) < 28).map((part) => part.textContent)"
        )
        cut = view.evaluate(
            "[...document.querySelectorAll('.on')].filter((on) => on.scrollHeight > on.clientHeight + 1 ||"
            " on.scrollWidth > on.clientWidth + 1).map((on) => on.textContent)"
        )
        view.keyboard.press("End")
        for _ in range(3):
            view.keyboard.press("ArrowLeft")
    assert (small, cut, errors) == ([], [], [])
