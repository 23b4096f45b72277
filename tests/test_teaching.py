"""What teachers read: the glossary has the course's own words, and every lesson its advice and its place in the term."""

import re
from pathlib import Path

import pytest

from minigrad.learn.tasks import ORDER, tasks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROWS = re.findall(
    r"^\| (?!English|--)([^|]+) \| ([^|]+) \|([^|]*)\| ([^|]+) \| ([^|]+) \|$",
    (DOCS / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
LABEL = re.compile(r"\b\d+\.\d\b")


def japanese() -> str:
    """All that a Japanese learner reads: lessons, tasks, pages and messages."""
    words = [*(ROOT / "minigrad").rglob("*words.json"), ROOT / "exercises" / "words_ja.toml"]
    return "".join(
        path.read_text(encoding="utf-8") for path in [*words, *(ROOT / "examples" / "lessons" / "ja").glob("*.md")]
    )


def test_every_term_of_the_glossary_occurs_in_the_course() -> None:
    course = japanese()
    assert len(ROWS) >= 60
    assert [term for _, term, *_ in ROWS if term not in course] == []


def test_every_term_stands_once_with_its_reading_and_a_sentence_in_each_language() -> None:
    for one in (0, 1):
        assert len({row[one] for row in ROWS}) == len(ROWS)
    for english, term, reading, *sentences in ROWS:
        kanji = re.search(r"[一-龯]", term)
        assert bool(reading.strip()) == bool(kanji or term.startswith("トポロジカル")), term
        assert re.fullmatch(r"[ぁ-ゖー ]*", reading.strip()), term
        assert sentences[0].endswith(".") and sentences[1].endswith("。"), english


def test_every_lesson_has_its_advice_about_its_tasks() -> None:
    parts = re.split(r"^## ", (DOCS / "teaching-lessons.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [int(part.split()[0]) for part in parts] == [*ORDER]
    for number, part in zip(ORDER, parts, strict=True):
        asked = re.findall(r"^\*\*(.*?)\.\*\*", part, re.MULTILINE)
        assert asked == ["Aim", "Ask aloud", "Where they get stuck", "Time", "Leave out"]
        own = {one.label for one in tasks() if one.number[0] == number}
        (time,) = re.findall(r"^\*\*Time\.\*\* (.*?)\n\n", part, re.MULTILINE | re.DOTALL)
        assert set(LABEL.findall(time)) == own or "four tasks" in time


@pytest.mark.parametrize("page", ["teaching.md", "ja/teaching.md"])
def test_the_term_has_every_task_in_order(page: str) -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    rows = [(number, row) for number, row in rows if row.count("|") == 2]
    assert [int(number) for number, _ in rows] == list(range(1, 17))
    found = list(dict.fromkeys(label for _, row in rows for label in LABEL.findall(row)))
    assert found == [one.label for one in tasks()]


def test_the_plan_is_the_same_in_both_languages() -> None:
    english, ours = ((DOCS / page).read_text(encoding="utf-8") for page in ("teaching.md", "ja/teaching.md"))
    assert re.findall(r"^\| (\d+) \|", english, re.MULTILINE) == re.findall(r"^\| (\d+) \|", ours, re.MULTILINE)
    assert re.findall(r"^    \S.*?(?=  #|$)", ours, re.MULTILINE) == re.findall(
        r"^    \S.*?(?=  #|$)", english.partition("```python")[0], re.MULTILINE
    )
    assert english.count("\n## ") == ours.count("\n## ")
