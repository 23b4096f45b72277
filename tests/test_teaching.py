"""What teachers read: the glossary has the course's own words, and every lesson its advice and its place in the term."""

import re
from pathlib import Path

import pytest

from docs import site_pages
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


PARTS = {
    "teaching-lessons.md": ["Aim.", "Ask aloud.", "Where they get stuck.", "Time.", "Leave out."],
    "ja/teaching-lessons.md": ["ねらい。", "問いかけ。", "つまずきやすいところ。", "時間。", "省くなら。"],
}
MINUTES = {"ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40}


def advice(page: str) -> list[str]:
    """What a page says of each lesson, its heading first."""
    return re.split(r"^## ", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def time(part: str, name: str) -> str:
    """The paragraph about the time, in the words of its page."""
    (found,) = re.findall(rf"^\*\*{name}\*\* (.*?)\n\n", part, re.MULTILINE | re.DOTALL)
    return str(found)


def minutes(text: str) -> list[int]:
    """The numbers of minutes in a sentence of either language, without the labels of tasks."""
    found = re.findall(rf"\b(?:{'|'.join(MINUTES)})\b|(?<![\d.])\d+(?![\d.])(?=分| to| minutes)", text)
    return [MINUTES.get(one) or int(one) for one in found]


@pytest.mark.parametrize("page", PARTS)
def test_every_lesson_has_its_advice_about_its_tasks(page: str) -> None:
    parts = advice(page)
    assert [int(part.split()[0]) for part in parts] == [*ORDER]
    for number, part in zip(ORDER, parts, strict=True):
        assert re.findall(r"^\*\*(.*?)\*\*", part, re.MULTILINE) == PARTS[page]
        own = {one.label for one in tasks() if one.number[0] == number}
        text = time(part, PARTS[page][3])
        assert set(LABEL.findall(text)) == own or re.search("four tasks|四つの課題", text)


@pytest.mark.parametrize("page", PARTS)
def test_a_lesson_is_called_as_in_the_plan_of_the_term(page: str) -> None:
    plan = (DOCS / page.replace("-lessons", "")).read_text(encoding="utf-8")
    titles = [re.sub(r" ?[(（].*", "", part.splitlines()[0]) for part in advice(page)]
    assert [title for title in titles if f" | {title} | " not in plan] == []


def test_the_advice_is_the_same_in_both_languages() -> None:
    """As many minutes, as many places to get stuck, and the same code in each lesson."""
    for english, ours in zip(*map(advice, PARTS), strict=True):
        texts = [time(part, names[3]) for part, names in zip((english, ours), PARTS.values(), strict=True)]
        assert minutes(texts[0]) == minutes(texts[1]) != [], english.splitlines()[0]
        assert english.count("\n- ") == ours.count("\n- ") >= 4
        assert sorted(re.findall(r"`[^`\n]+`", english)) == sorted(re.findall(r"`[^`\n]+`", ours))


def test_the_two_pages_of_advice_lead_to_each_other() -> None:
    for page, other in zip(PARTS, ("ja/teaching-lessons.md", "../teaching-lessons.md"), strict=True):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert f"]({other})" in text and "](teaching.md)" in text
        assert "](teaching-lessons.md)" in (DOCS / page.replace("-lessons", "")).read_text(encoding="utf-8")
        assert any(page.removesuffix(".md") in names for names in site_pages.parts().values())


@pytest.mark.parametrize("page", ["teaching.md", "ja/teaching.md"])
def test_the_term_has_every_task_in_order(page: str) -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    rows = [(number, row) for number, row in rows if row.count("|") == 2]
    assert [int(number) for number, _ in rows] == list(range(1, 17))
    found = list(dict.fromkeys(label for _, row in rows for label in LABEL.findall(row)))
    assert found == [one.label for one in tasks()]


@pytest.mark.parametrize(("page", "minutes_of"), [("teaching.md", r"(?:^|, )(\d+) "), ("ja/teaching.md", r"(\d+)分")])
def test_the_three_classes_take_ninety_minutes_each_and_have_every_task_once(page: str, minutes_of: str) -> None:
    """A task gets the minutes that the page of advice gives it."""
    rows = re.findall(
        r"^\| \d \| (.*) \| (.*) \| (.*) \| .* \|$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [int(lesson.split()[0]) for lesson, _, _ in rows] == [1, 2, 3]
    assert [sum(map(int, re.findall(minutes_of, inside))) for _, inside, _ in rows] == [90, 90, 90]
    found = [label for _, inside, home in rows for label in LABEL.findall(f"{inside} {home}")]
    assert sorted(found) == [one.label for one in tasks() if one.number[0] <= 3]
    for part, (_, inside, _) in zip(advice("teaching-lessons.md")[:2], rows, strict=False):
        text = time(part, "Time.")
        given = dict(zip(LABEL.findall(text), minutes(text)[1:], strict=True))
        taken = re.findall(r"(\d+) on (\d\.\d)", inside) or [
            pair[::-1] for pair in re.findall(r"(\d\.\d) に(\d+)分", inside)
        ]
        assert taken and all(given[label] == int(count) for count, label in taken)


def test_the_plan_is_the_same_in_both_languages() -> None:
    english, ours = ((DOCS / page).read_text(encoding="utf-8") for page in ("teaching.md", "ja/teaching.md"))
    assert re.findall(r"^\| (\d+) \|", english, re.MULTILINE) == re.findall(r"^\| (\d+) \|", ours, re.MULTILINE)
    assert re.findall(r"^    \S.*?(?=  #|$)", ours, re.MULTILINE) == re.findall(
        r"^    \S.*?(?=  #|$)", english.partition("```python")[0], re.MULTILINE
    )
    assert english.count("\n## ") == ours.count("\n## ")
