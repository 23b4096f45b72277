"""The handouts: every task of a lesson with blanks, its graph, no answers, and code that fits on a page."""

import html
import re
from pathlib import Path

import pytest

import graph_sheet
import handout
import lesson_notebooks
from minigrad.learn.tasks import LANGUAGES, ORDER, Task, tasks
from tests.examples.conftest import Chromium
from tests.examples.processes import command

ROOT = Path(__file__).parents[2]
EVERY = pytest.mark.parametrize("lesson", ORDER)
BOTH = pytest.mark.parametrize("language", LANGUAGES)


def of(lesson: int) -> list[Task]:
    return [one for one in tasks() if one.number[0] == lesson]


def plain(page: str) -> str:
    """What a reader sees, with its lines."""
    return html.unescape(re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]+>", "", page, flags=re.DOTALL))


def squeezed(text: str) -> str:
    """The text without spaces, and without the signs that become type."""
    return re.sub(r"[\s`*]", "", text)


def answer_lines(one: Task) -> set[str]:
    """The lines of a solution that no text gives as a formula, without those too short to tell anything, and first lines."""
    solution = one.solution.read_text(encoding="utf-8").splitlines()[1:]
    given = one.stub.read_text(encoding="utf-8") + "".join(each.words("en")["task"] for each in of(one.number[0]))
    lines = {line.strip() for line in solution if line.strip() not in given and len(line.strip()) >= 20}
    return {line for line in lines if not line.startswith(("def ", '"""'))}


@EVERY
@BOTH
def test_a_handout_has_the_whole_text_of_every_task_in_order(lesson: int, language: str) -> None:
    shown = squeezed(plain(handout.page(lesson, language)))
    at = 0
    for one in of(lesson):
        first, _, body = one.words(language)["task"].strip().partition("\n")
        assert one.label in first  # the first line of a text is its title, and is not repeated
        at = shown.index(squeezed(f"{one.label} {one.words(language)['title']}{body}{one.file}"), at)
        assert all(f"def{name.rpartition('.')[2]}(" in shown[at:] for name, _ in handout.functions(one.text(language)))


@EVERY
@BOTH
def test_no_answer_stands_on_a_handout_but_in_a_file_of_its_own(lesson: int, language: str) -> None:
    """Also not in the file of a later task, as those of lesson 3 begin with the answers to the earlier ones."""
    questions, answers = plain(handout.page(lesson, language)), plain(handout.answers(lesson, language))
    for one in of(lesson):
        lines = answer_lines(one)
        assert lines and [line for line in lines if line in questions] == []
        assert [line for line in lines if line not in answers] == []
        assert one.words(language)["title"] in answers


@EVERY
def test_a_japanese_handout_is_in_japanese(lesson: int) -> None:
    """English stands in programs alone, and there as names: no text of a function, and no comment of ours."""
    for page in (handout.page(lesson, "ja"), handout.answers(lesson, "ja")):
        words = plain(
            re.sub(
                r"<script.*?</script>|<pre.*?</pre>|<p class=\"file\">.*?</p>|<code>.*?</code>|<svg.*?</svg>",
                "",
                page,
                flags=re.DOTALL,
            )
        )
        assert not re.search(r"[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+", words)
        assert '"""' not in page


@EVERY
@BOTH
def test_there_is_room_to_write(lesson: int, language: str) -> None:
    page = handout.page(lesson, language)
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == lesson)
    assert handout.question(path, language)[-1] in "?。"
    sheets = page.split('<section class="sheet">')[1:]
    assert len(sheets) == len(of(lesson)) + 1 + (
        lesson != 7
    )  # the graph, each task, the question: a page and lines for each
    assert all(one.count('<div class="room">') == 1 and one.count("<div></div>") > 30 for one in sheets)
    *_, last = sheets  # 12 lines for the question, and the rest of the page for the last task
    assert last.count("<div></div>") == 12 + 32 and f"<span>{of(lesson)[-1].label} " in last
    assert page.count('class="blank"') >= 2 * (lesson != 7)  # its tasks are whole programs with a mistake


def test_blanks_stand_for_what_is_computed_asked_and_called() -> None:
    source = "def f(x):\n    raise NotImplementedError\n\n\ndef g(x):\n    return x\n"
    solution = (
        'def f(x):\n    """Text."""\n    for i, a in enumerate(x):  # a comment\n        if a > 1:\n'
        "            total += max(a,\n                i)\n    print(total)\n    end()\n    return total, -total\n"
    )
    made = re.sub(f"{handout.BLANK}+", "__", handout.blanked(source, solution))
    assert made == (
        "def f(x):\n    for i, a in __:\n        if __:\n            total += __\n    print(__)\n    __\n"
        "    return __, __\n\n\n"
        "def g(x):\n    return x"
    )


def test_a_blank_is_as_long_as_its_answer() -> None:
    """One of more than 60 letters goes on below."""
    for size, lines, wide in ((8, 1, 14), (20, 1, 20), (60, 1, 60), (61, 2, 60), (130, 3, 60)):
        source = "def f(x):\n    raise NotImplementedError\n"
        solution = f"def f(x):\n    return {'x' * size}\n"
        made = handout.code('"""Text."""\n' + handout.blanked(source, solution))
        assert made.count(f'class="blank" style="width: {wide}ch"') == lines == made.count('class="blank"')
        assert made.count("\n        <span") == lines - 1


@BOTH
@pytest.mark.parametrize("lesson", [2, 5])
def test_the_gradients_start_at_the_end_with_one(lesson: int, language: str) -> None:
    end = {2: "y", 5: "loss"}[lesson]
    for page in (handout.page(lesson, language), handout.answers(lesson, language)):
        assert f"<code>d{end}/d{end} = 1</code>" in page
        assert page.count('marker-end="url(#head)"') == page.count("<path") > 0


@EVERY
@BOTH
def test_the_answers_have_the_question_in_words_and_its_model_answer(lesson: int, language: str) -> None:
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == lesson)
    model = handout.model_answer(path, language)
    assert re.match("<p>(Model answer|模範解答|解答例)", model) and len(model) > 100, model
    answers = handout.answers(lesson, language)
    assert answers.index(handout.prose(handout.question(path, language))) < answers.index(model)
    assert model not in handout.page(lesson, language)


def test_the_graph_is_empty_but_for_what_is_given() -> None:
    """Lesson 2: y = a * b with b = a + 1, and x = 2."""
    empty, full = (re.findall(r">([^<>]+)</text>", page) for page in (handout.page(2, "en"), handout.answers(2, "en")))
    room = ["·"] * 4  # on each arrow there is room for its slope
    twice = ["+", "="]  # a is used by b and by y: two contributions and their sum
    boxes = [["x", "=", "2", "dy/dx"], ["a", "=", "dy/da", *twice], ["b", "=", "dy/db"], ["y", "=", "dy/dy"]]
    assert empty == [*room, *(text for box in boxes for text in box)]
    slopes = ["·", "3", "·", "1", "·", "7", "·", "6"]
    values = [["x", "=", "2", "dy/dx", "39"], ["a", "=", "6", "dy/da", "6", "+", "7", "=", "13"]]
    values += [["b", "=", "7", "dy/db", "6"], ["y", "=", "42", "dy/dy", "1"]]
    assert sorted(full) == sorted([*slopes, *(text for box in values for text in box)])
    assert handout.page(2, "en").count("<path") == 4  # x to a, a to b, and both to y


@EVERY
def test_every_gradient_of_the_graph_is_right(lesson: int) -> None:
    """By nudging the values that are given: also those that an unnamed step lies between. Lesson 7 opens with its bug."""
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == lesson)
    if lesson == 7:
        assert graph_sheet.sheet(path) is None
        return
    _, end, names = graph_sheet.opening(path)
    found, arrows = graph_sheet.boxes(end, names)
    assert all(box.value is not None and box.value.shape == box.shape for box in found.values())
    assert any(box.given and box.gradient is not None for box in found.values())
    assert all(box.gradient is not None for box in found.values() if not box.given)
    assert {b for _, b in arrows} == {i for i, box in found.items() if not box.given}
    graph_sheet.placed(found, arrows)
    sums = [box for box in found.values() if box.adds]
    for box in sums:
        assert sum(box.adds) == pytest.approx(box.gradient)
    assert [box.name for box in sums] == {2: ["a"], 6: ["e"], 9: ["w"]}.get(lesson, [])


def test_what_each_arrow_brings_to_an_array_has_boxes() -> None:
    """Lesson 6: p = e / total, so e gets a contribution through the total, and one on the direct way."""
    (path,) = (one for one in lesson_notebooks.lessons() if int(one.name[:2]) == 6)
    _, end, names = graph_sheet.opening(path)
    found, arrows = graph_sheet.boxes(end, names)
    graph_sheet.placed(found, arrows)
    (box,) = (box for box in found.values() if box.name == "e")
    assert [add.round(9).tolist() for add in box.adds] == [[0.125, 0.125, 0.125], [0, -0.5, 0]]
    assert "a number arrives from each use" in handout.page(6, "en")


def test_a_long_signature_goes_on_deeper() -> None:
    shown = re.sub("<br>", "\n", handout.page(6, "en"))
    assert "\ng: np.ndarray) -&gt; tuple[np.ndarray, np.ndarray]:" in shown and "--deep: 8ch" in shown


def test_a_task_with_little_room_goes_on_on_a_page_of_lines(tmp_path: Path, chromium: Chromium) -> None:
    task = f'<section class="sheet">{{}}{handout._room("")}</section>'
    parts = [task.format(f'<div style="height: {high}mm"></div>') for high in (100, 215, 300, 215, 100)]
    (tmp_path / "page.html").write_text(handout._document(2, "en", "", [*parts, handout.MORE]), encoding="utf-8")
    with chromium() as browser:
        view = browser.new_page()
        view.goto((tmp_path / "page.html").as_uri())
        rooms = view.evaluate(
            "[...document.querySelectorAll('.room .lines')].map((one) => one.clientHeight * 25.4 / 96 / 8)"
        )
    # The second has a page of lines behind it, the third is longer than a page, and the fourth is the last task.
    assert [round(lines) for lines in rooms] == [18, 4, 31, 12, 4, 18]


def test_a_file_of_lesson_3_points_to_the_earlier_task() -> None:
    shown = plain(handout.page(3, "en"))
    assert shown.count("...  # stands in your file (task 3.1)") == 3 + 3 + 1  # of 3.4 only __init__
    assert "...  # stands in your file (task 3.3)" in shown


@EVERY
def test_no_piece_of_code_is_longer_than_a_page(lesson: int) -> None:
    """A page is as high as 54 lines of code and 84 letters wide, so `break-inside: avoid` can be kept."""
    page = handout.answers(lesson, "en")
    pieces = [html.unescape(piece) for piece in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)]
    assert max(sum(1 + len(line) // 84 for line in piece.splitlines()) for piece in pieces) <= 54
    (rule,) = re.findall(r"^pre \{(.*?)\}", page, re.MULTILINE | re.DOTALL)
    assert "break-inside: avoid" in rule and "white-space: pre-wrap" in rule


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["two words,", "and more"], "two words, and more"),
        (["道が二つ", "あります。"], "道が二つあります。"),
        (["その割合が", "keeps です。", "  y を"], "その割合が keeps です。y を"),
        (["補正した", "2乗の平均", "0 です"], "補正した2乗の平均 0 です"),
        (["x と、", "y"], "x と、y"),
    ],
)
def test_lines_are_joined_as_each_language_is_written(lines: list[str], expected: str) -> None:
    assert handout.joined(lines) == expected


def test_a_text_becomes_paragraphs_formulas_items_and_a_box() -> None:
    body = "One\nline.\n\n    a = b < c\n      d\n\n1. First\n   goes on\n2. Second\n\nExample: x = 1:\n    y is `2`\n"
    assert list(handout.text(body)) == [
        "<p>One line.</p>",
        "<pre>a = b &lt; c\n  d</pre>",
        '<p class="item first">1. First goes on</p>',
        '<p class="item first">2. Second</p>',
        '<p class="example">Example: x = 1:<span>y is <code>2</code></span></p>',
    ]


def test_a_stressed_word_is_no_product() -> None:
    assert (
        handout.prose("by *every* input, 分も含めて*すべて* NaN")
        == "by <em>every</em> input, 分も含めて<em>すべて</em> NaN"
    )
    for product in ("w * x * y", "2*w*x", "a**2 + b**2", "(a)*b*(c)", "`the *b* of c`"):
        assert "<em>" not in handout.prose(product)


def test_a_run_writes_pages_that_need_no_other_file(tmp_path: Path) -> None:
    """No lesson, language or answer overwrites another."""
    done = command("handout.py", "--lesson", "2", "--language", "ja", "--answers", cwd=tmp_path)
    files = [Path("out/handout_2_ja.html"), Path("out/handout_2_ja_answers.html")]
    assert (done.returncode, done.stdout.splitlines()) == (0, [*map(str, files)]), done.stderr
    pages = [(tmp_path / file).read_text(encoding="utf-8") for file in files]
    assert pages == [handout.page(2, "ja"), handout.answers(2, "ja")]
    for page in pages:
        assert (
            '<html lang="ja">' in page and "レッスン2" in page and not re.search(r"https?:|src=|href=|url\((?!#)", page)
        )
    assert command("handout.py", "--lesson", "2", "--out", "new/sheet.html", cwd=tmp_path).returncode == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["sheet.html"]


def test_a_lesson_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = command("handout.py", "--lesson", "15", cwd=tmp_path)
    assert done.returncode == 2 and "invalid choice: 15" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("page", ["docs/teaching.md", "docs/ja/teaching.md", "examples/lessons/README.md"])
def test_teachers_are_told(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "examples/handout.py --lesson 2" in text and "--answers" in text


def test_a_sentence_of_an_example_goes_on_in_its_line() -> None:
    """Unless its first line ends, as in ``Example: w = 0.5:``; then the values stand below."""
    (example,) = re.findall(r'<p class="example">(Example: normals.*?)</p>', handout.page(14, "en"))
    assert "weights are 0.5 and -0.5. The second" in example and "<span>" not in example
    assert "y = 0:<span>z = 0.5" in handout.page(1, "en")
