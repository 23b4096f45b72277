"""The slides of a lesson: all of its text, in order, one idea on each, and nothing that is fetched."""

import html
import re
from pathlib import Path

import pytest

import lesson_notebooks
import slides
from lesson_notebooks import cells, lessons
from minigrad.learn.tasks import LANGUAGES
from slides import Slide, blocks, inline
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
print("1 < 2", 40 + 2)

# %%
unseen = 5
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
    assert [(slide.kind, slide.heading, slide.parts) for slide in small] == [
        ("title", "Lesson 99: a title", ["<p>It begins. A page says <code>more * than</code> <em>that</em>.</p>"]),
        ("", "Rows", ["<pre>y = 2 * x</pre>", "<p>This explains the formula.</p>"]),
        ("", "Rows", ["<p>Second idea, which a list follows:</p>", "<ul><li>one item</li><li>two</li></ul>"]),
        ("", "Rows", ['<p class="box"><b>Box: aside.</b> Not needed.</p>']),
        ("", "Rows", ["<table><tr><th>a</th><th>b</th><tr><td>1</td><td>2</td></tr></table>"]),
        ("", "Rows", ['<pre>print("1 &lt; 2", 40 + 2)</pre>', '<pre class="said">1 &lt; 2 42</pre>']),
    ]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a `b*` and **`c`** d", "a <code>b*</code> and <b><code>c</code></b> d"),
        ("**Bold.** x * y * z", "<b>Bold.</b> x * y * z"),
        ("何かを*足します*。", "何かを<em>足します</em>。"),
        ("1 < 2 & *so*", "1 &lt; 2 &amp; <em>so</em>"),
    ],
)
def test_markdown_within_a_line(text: str, made: str) -> None:
    assert inline(text) == made


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_the_slides_have_the_whole_text_of_the_lesson(
    path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its programs are not run here: each prints a line, and draws nothing."""
    outcome = {"printed": "printed", "pictures": [], "pages": []}
    monkeypatch.setattr(lesson_notebooks, "run", lambda *_: [outcome] * 99)
    made = slides.slides(path, language)
    said = iter(squeezed(shown(slide)) for slide in made)
    text = next(said)
    for cell in cells(path, language):
        if cell.name is not None:
            for kind, lines in blocks(cell.text):
                wanted = squeezed(re.sub(r"\]\([^)]*\)|\[(?=[^\]]*\]\()", "", "\n".join(lines)))
                wanted = re.sub(r"^(-|・|\d\.)", "", wanted) if kind == "list" else wanted
                while kind != "heading" and wanted[:20] not in text:
                    text = next(said)
    titles = [slide for slide in made if slide.kind]
    assert len(titles) == 1 and made[0] is titles[0]
    assert all(
        sum(part.startswith("<p") and not part.startswith("<pre") for part in slide.parts) <= 2 for slide in made[1:]
    )
    assert 25 <= len(made) <= 70


@pytest.mark.thorough
def test_a_lesson_becomes_a_page_that_fetches_nothing(tmp_path: Path) -> None:
    ran = command("slides.py", "--lesson", "2", "--language", "ja", "--out", "out/slides.html", cwd=tmp_path)
    page = (tmp_path / "out/slides.html").read_text(encoding="utf-8")
    assert ran.stdout.strip().endswith("slides.html")
    assert '<html lang="ja">' in page and "レッスン2" in page
    assert not re.search(r"https?://|<link|src=\"(?!data:)|url\(|@import", page)
    assert page.count('src="data:image/png;base64,') == 2  # the lesson draws two pictures
    assert "a を 0.5 動かす：二本の帯 6.5000" in page and "plt." not in page
