"""Each lesson runs, says the numbers that its program prints, says the same in both languages, and writes its pages."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lesson_notebooks
import minigrad
import minigrad as mg
from lesson_notebooks import Cell, cells, lessons, notebook, percent

LESSONS = lessons()
LONG = "10_attention"  # trains 15 models
TO_RUN = [pytest.param(path, id=path.stem, marks=[pytest.mark.thorough] * (path.stem == LONG)) for path in LESSONS]
PAGES = Path(minigrad.__file__).parent / "graph/pages/lessons/course"
DECIMAL = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.]*\d)")
TASK = re.compile(r"\*\*(\d+\.\d+)\*\*|(?:task|tasks|check|and|to|課題|と|から) (\d+\.\d)")
PATTERNS = {
    "number": DECIMAL,
    "task": TASK,
    "code": re.compile(r"`([^`]+)`"),
    "heading": re.compile(r"^(#+) ", re.M),
    "program": re.compile(r"^    .*$", re.M),
    "row": re.compile(r"^\|", re.M),
    "box": re.compile(r"^> \*\*", re.M),
}


def texts(path: Path, language: str) -> dict[str, str]:
    return {cell.name: cell.text for cell in cells(path, language) if cell.name}


def code(path: Path) -> str:
    return "\n".join(cell.text for cell in cells(path) if cell.name is None)


def said_on_pages(path: Path) -> str:
    """What the pages of a lesson say (but for the choices, which may be wrong)."""
    said = []
    for which in ("open", "close"):
        page = json.loads((PAGES / f"{path.name[:2]}_{which}.json").read_text(encoding="utf-8"))
        said += [page["intro"], *(step["text"] for step in page["steps"] if "text" in step)]
    return "\n".join(text for both in said for text in both.values())


def found(pattern: re.Pattern[str], text: str) -> list[str]:
    """What the pattern finds; a line may break anywhere in English, and Japanese speaks to the checker in Japanese."""
    matches = [match[0] for match in pattern.finditer(text.replace("--language ja ", ""))]
    if pattern is TASK:
        matches = [match for each in matches for match in re.findall(r"\d+\.\d+", each)]
    return sorted({" ".join(match.split()) for match in matches})


def test_the_lessons_are_numbered() -> None:
    assert len(LESSONS) == 14
    assert [path.name[:2] for path in LESSONS] == [f"{number:02}" for number in range(1, len(LESSONS) + 1)]
    for number, path in enumerate(LESSONS, 1):
        assert texts(path, "en")["title"].startswith(f"# Lesson {number}: ")
        assert texts(path, "ja")["title"].startswith(f"# レッスン{number}：")


@pytest.mark.sampled(14)
@pytest.mark.parametrize("path", TO_RUN)
def test_it_opens_and_closes_on_a_page_and_draws_pictures(path: Path, run: Any) -> None:
    _, _, folder = run(path)
    number = path.name[:2]
    pages = sorted(file.name for file in folder.glob("*.html"))
    assert pages == [f"{number}_close.html", f"{number}_open.html"]
    for page in pages:
        assert page in code(path)
        assert all(page in text for text in ("\n".join(texts(path, language).values()) for language in ("en", "ja")))
    pictures = list(folder.glob("*.png"))
    assert 2 <= len(pictures) <= 4
    assert all(picture.stat().st_size > 5000 for picture in pictures)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("path", TO_RUN)
def test_a_number_in_the_text_is_in_the_program_or_printed_by_it(path: Path, language: str, run: Any) -> None:
    """A decimal number that changes in the program must change in the text; tasks such as **1.1** are no numbers."""
    printed, _, _ = run(path)
    program, said = code(path), said_on_pages(path)
    there = {number.lstrip("-") for number in re.findall(r"-?\d+\.\d+", printed + program)}
    text = "\n".join([said, *texts(path, language).values()])
    stated = {number.lstrip("-") for number in DECIMAL.findall(TASK.sub("", text))}
    assert len(stated) >= 3
    assert stated - there == set()


STATED = [  # which lesson, what it prints, and the whole number that its text says of it
    ("01", "not set back: Tensor(30.)", "30"),
    ("02", "y, b, a, x: {'x': 39,", "39"),
    ("02", "y, a, b, x: {'x': 21,", "21"),
    ("02", "every way: 131071 steps; in order: 17", "131071"),
    ("02", "every way: 131071 steps; in order: 17", "17"),
    ("02", "\ncleared: [5.0, 5.0, 5.0]", "5"),
    ("02", "not cleared: [5.0, 10.0, 15.0]", "15"),
    ("03", "gradients: [12.0, 8.0, 4.0,", "12"),
    ("03", "twice: [48.0, ", "48"),
    ("04", "'nudging': 54000000", "54000000"),
    ("04", "'forward walks': 27090000", "27090000"),
    ("04", "'one backward walk': 180000", "180000"),
    ("04", "8000 bytes; as a table: 8000000 bytes", "8000000"),
    ("05", "2 rows: {'sum': [4.0, ", "4"),
    ("05", "4 rows: {'sum': [8.0, ", "8"),
    ("05", "y = [[11.0, 22.0, 33.0], [14.0,", "22"),
    ("06", "naive loss of label 1: inf\nright loss: 1000.0", "1000"),
    ("06", "n = [-1. -1.  1.  1.]", "-1, -1, 1, 1"),
    ("07", "gradient of h: [7. 4.]", "7 and 4|7 と 4"),
    ("07", "with the article's rule: [11.  2.]", "11 and 2|11 と 2"),
    ("08", "slope: 48.0  slope of the slope: 24.0", "24"),
    ("08", "not cleared in between: 72.0", "72"),
    ("08", "Newton, 6 steps: [1. 1.]", "6"),
    ("08", "valley: right [22.0, 10.0], hers [12.0, 0.0]", "22 and 10|22 と 10"),
    ("08", "valley: right [22.0, 10.0], hers [12.0, 0.0]", "12 and 0|12 と 0"),
]


@pytest.mark.parametrize(("number", "output", "said"), STATED)
def test_a_whole_number_is_what_the_program_prints(number: str, output: str, said: str, run: Any) -> None:
    (path,) = (path for path in LESSONS if path.name.startswith(number))
    assert output in run(path)[0]
    for language in ("en", "ja"):
        text = "\n".join([said_on_pages(path), *texts(path, language).values()])
        assert re.search(rf"(?<!\d)(?:{said})(?!\d)", text)


def test_the_last_program_of_each_lesson_has_the_gradient_of_its_closed_form(run: Any) -> None:
    one, two, three, four = (run(path)[1] for path in LESSONS[:4])
    a = math.tanh(0.5)
    assert one["w"].grad.item() == pytest.approx(2 * a * (1 - a * a), rel=1e-14)

    def memory(w: float) -> float:
        return math.tanh(w * math.tanh(w * 0.8)) ** 2

    assert two["w"].grad.item() == pytest.approx((memory(1.5 + 1e-6) - memory(1.5 - 1e-6)) / 2e-6, rel=1e-8)
    assert three["w"].grad.item() == 2 * (0.5 - 2) + 4 * (1 - 3)
    slope = 1 - math.tanh(1.25) ** 2
    assert four["W"].grad.data == pytest.approx(np.outer([1, slope], [1, 2]), rel=1e-14)
    assert four["x"].grad.data.ravel() == pytest.approx([0.5 + 0.25 * slope, -0.25 + 0.5 * slope], rel=1e-14)


def test_lesson_05_takes_the_mean_away_and_its_planted_fault_is_the_shape_of_the_loss(run: Any) -> None:
    done = run(LESSONS[4])[1]
    g = done["g"]
    assert done["x"].grad.data == pytest.approx(g - g.mean(axis=1, keepdims=True), rel=1e-14)
    w, b, loss = done["train"](lambda prediction, wanted: np.mean((prediction.reshape(-1) - wanted) ** 2))
    assert np.polyfit(done["xs"], done["ys"], 1) == pytest.approx([w, b], rel=1e-6)
    assert loss < 0.02
    assert done["w"] == pytest.approx(0, abs=1e-9)  # what the lesson says: a flat line at the mean
    assert done["ys"].mean() == pytest.approx(0.98, abs=0.005)


def test_lesson_06_has_the_gradients_of_closed_forms_and_its_planted_fault_loses_them(run: Any) -> None:
    done = run(LESSONS[5])[1]
    x, g = done["x"].data, done["g"]
    n = (x - x.mean()) / x.std()
    assert done["x"].grad.data == pytest.approx((g - g.mean() - n * np.mean(g * n)) / x.std(), abs=1e-14)
    far, near = (
        [done[loss](mg.Tensor([gap, 0.0]), 1).item() for loss in ("right_loss", "friends_loss")] for gap in (50.0, 5.0)
    )
    assert far == pytest.approx([50, -math.log(1e-9)], rel=1e-9)
    assert near == pytest.approx([math.log1p(math.exp(5))] * 2, rel=1e-6)
    printed = run(LESSONS[5])[0]
    assert "right_loss at 50: 50.000, gradient [ 1. -1.]" in printed
    assert "friends_loss at 50: 20.723, gradient [0. 0.]" in printed
    assert "gradient of x: [nan nan nan]" in printed.partition("outside:")[2].partition("\n")[0]
    assert "nan" not in printed.partition("inside:")[2].partition("\n")[0]


def test_lesson_07_plants_what_it_says_and_closes_on_the_right_gradient(run: Any) -> None:
    printed, seven, _ = run(LESSONS[6])
    assert "words alike, wrong are ['scores by h', 'softmax by s']\n" in printed.replace("article_", "")
    assert "different words, wrong are ['scores by h', 'softmax by s', 'mix by h']\n" in printed.replace("article_", "")
    assert "wrong rules: []\n" in printed
    assert seven["losses"][-1] == min(seven["losses"])  # of the right rules, which come last
    table: dict[str, Any] = {  # what should be, by the lesson's table, against minigrad's rules
        "scores": lambda g, answer, h: (g + g.T) @ h,
        "softmax": lambda g, A, s: A * (g - (g * A).sum(axis=-1, keepdims=True)),
        "mix": lambda g, answer, A, h: A.T @ g,
    }
    rng = np.random.default_rng(0)
    for name, rule in seven["right"].items():
        arguments = [rng.normal(size=(3, 3))] * (name != "scores") + [rng.normal(size=(3, 2))] * (name != "softmax")
        answer, pull = mg.vjp(rule, *arguments)
        g = rng.normal(size=answer.shape)
        assert pull(g)[-1] == pytest.approx(table[name](g, answer, *arguments), rel=1e-12), name
    first, second = seven["h"].data.ravel()
    assert seven["h"].grad.data.ravel() == pytest.approx([3 * first**2 + second**2, 2 * first * second], rel=1e-14)


def test_lesson_08_has_the_second_derivatives_of_its_closed_forms(run: Any) -> None:
    eight = run(LESSONS[7])[1]
    x, y = eight["x"], eight["y"]
    assert (x.grad.item(), y.grad.item()) == (2 * y.item() - 2 * x.item(), 2 * x.item())
    assert eight["bend"](3.0) == pytest.approx(0.5 - math.cos(3), rel=1e-14)
    a, b = eight["start"]
    hessian = np.array([[3 * a**2 + 10, -10], [-10, 10]])
    assert eight["hessian"](eight["start"]) == pytest.approx(hessian, rel=1e-14)
    gradient = np.array([a**3 - 1 - 10 * (b - a), 10 * (b - a)])
    assert eight["v"] == pytest.approx(gradient, rel=1e-14)
    assert eight["product"] == pytest.approx(hessian @ gradient, rel=1e-14)
    assert eight["rate"] == pytest.approx(gradient @ gradient / (gradient @ hessian @ gradient), rel=1e-14)
    assert eight["newton"][-1] == pytest.approx([1, 1], abs=1e-4)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_both_languages_say_the_same(path: Path) -> None:
    """The same numbers, tasks, headings, and code, text by text."""
    english, japanese = texts(path, "en"), texts(path, "ja")
    assert list(english) == list(japanese)
    for name in english:
        for what, pattern in PATTERNS.items():
            here, there = (found(pattern, text) for text in (english[name], japanese[name]))
            assert here == there, (name, what)
        assert re.search("[ぁ-ん]", japanese[name])
        assert not re.search("[ぁ-ん]", english[name])


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_it_has_the_parts_of_a_lesson(path: Path) -> None:
    number = int(path.name[:2])
    tasks = {file.name.split("_")[1] for file in (path.parents[2] / "exercises/stubs").glob(f"{number}_*.py")}
    english = "\n".join(texts(path, "en").values())
    for heading in ("Predict", "Implement", "Break", "What people stumble over", "What to remember", "Explain"):
        assert re.search(rf"^## {heading}", english, re.M), heading
    assert {task for task in found(TASK, english) if task.startswith(f"{number}.")} == {
        f"{number}.{task}" for task in tasks
    }
    assert "Model answer" in english
    assert "The planted fault" in english
    assert 900 <= len(english.split()) <= 2600  # 10 to 20 minutes with the code


@pytest.mark.parametrize(("language", "unit", "most"), [("en", r"\S+", 1400), ("ja", r"\S", 4600)])
def test_lesson_06_has_little_text_outside_of_its_boxes_and_programs(language: str, unit: str, most: int) -> None:
    """It derives four backward passes in one sitting: what no task needs stands in a box."""
    lines = "\n".join(texts(lesson("06"), language).values()).splitlines()
    assert sum(line.startswith("> **") for line in lines) == 5
    plain = "\n".join(line for line in lines if not line.startswith((">", "    ")))
    assert most * 0.9 < len(re.findall(unit, plain)) <= most


def lesson(number: str) -> Path:
    return next(path for path in LESSONS if path.name.startswith(number))


def says_what_it_prints(path: Path, printed: str, stated: dict[str, str]) -> None:
    """Each output was printed, and both texts state the whole number that goes with it."""
    for output, number in stated.items():
        assert output in printed
        for language in ("en", "ja"):
            assert re.search(rf"(?<!\d){number}(?!\d)", "\n".join(texts(path, language).values())), number


@pytest.mark.thorough
def test_lesson_09_goes_deep_and_past_two_layers(run: Any) -> None:
    path = lesson("09")
    printed, done, _ = run(path)
    says_what_it_prints(
        path, printed, {"limit inf: w = -482": "482", "gain 3.0: first layer / last layer   1.1e+03": "1000"}
    )
    assert len(set(re.findall(r"broken, \d hidden: loss (\S+),", printed))) == 1
    arriving = {key: lengths[0] / lengths[-1] for key, lengths in done["arriving"].items()}
    assert arriving["plain", 0.5] < 1e-6
    assert 300 < arriving["plain", 3.0] < 3000
    assert 1 / 20 < arriving["ways past", 0.5] < 20
    assert arriving["ways past, normalised", 3.0] < arriving["ways past", 3.0] / 20
    losses = {key: values[-1] for key, values in done["losses"].items()}
    assert losses["plain", 0.5] == pytest.approx(done["losses"]["plain", 0.5][0], rel=0.05)
    assert losses["ways past, normalised", 3.0] < losses["ways past", 3.0]
    assert 35 < 100 * done["right"] < 65  # coin flips cannot be learned
    w, x = 0.5, 1.0
    e = (1 + w) ** 2 * x - 2
    assert done["x"].grad.item() == pytest.approx(2 * e * (1 + w) ** 2, rel=1e-14)
    assert done["w"].grad.item() == pytest.approx(2 * e * 2 * (1 + w) * x, rel=1e-14)


@pytest.mark.thorough
def test_lesson_10_shows_all_variants_and_its_last_program_is_causal(run: Any) -> None:
    path = lesson("10")
    printed, done, _ = run(path)
    says_what_it_prints(path, printed, {f"{heads} heads: 288 numbers": "288" for heads in (1, 2, 8)})
    assert "the same: True\nQ[:, :4] shares the memory of Q: True" in printed
    assert "-inf: [[nan nan]]  -1e9: [[0.5 0.5]]\nminigrad: [[0. 0.]]" in printed
    assert np.array_equal(done["before"].round(2), [0.05, 0.05, 0.9, 0])  # whatever the hidden word is
    assert "shuffled words get the same answers, shuffled: True" in printed
    place, pair = np.indices((40, 8))
    angle = place / 10000 ** (2 * pair / 16)
    assert np.array_equal(done["codes"], np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(40, 16))
    products = done["codes"] @ done["codes"].T  # of a diagonal all are the same, and those of the main one the largest
    assert all(np.ptp(np.diag(products, k)) < 1e-12 for k in range(40))
    assert all(products[t, t] == products[t].max() for t in range(40))
    maps, losses = done["maps"] | done["family"], done["losses"] | done["family_losses"]
    for name, weights in maps.items():
        sums = weights.sum(axis=-1)
        assert sums.min() < 0.95 and sums.max() < 1 + 1e-9 if name == "local, predicted" else sums == pytest.approx(1)
    for name in ("multiplicative", "additive", "self", "key-value"):  # each word looks at the one that it must name
        assert list(maps[name][0].argmax(axis=-1)) == [1, 2, 1, 4, 2], name
    assert max(losses[name] for name in ("multiplicative", "additive", "heads")) < 0.1
    assert losses["dot product"] > losses["divided by √d"] + 0.2 > 0.4
    assert losses["causal mask"] > 0.5
    padded, is_word = done["scaled"], done["is_word"]
    right = padded(done["x"], key_mask=is_word[None]).data[0, :3]
    assert right == pytest.approx(padded(done["one"], key_mask=is_word[None]).data[0, :3], rel=1e-12)
    assert np.array_equal(padded(done["x"], mask=np.tile(is_word[None, :], (5, 1))).data[0, :3], right)
    p = 1 / (1 + math.exp(2))  # softmax of [0, 2]
    slope = p * (1 - p) * (3 - 1)
    assert done["q"].grad.data.ravel() == pytest.approx([0, slope], rel=1e-12)
    assert done["k"].grad.data.ravel() == pytest.approx([-2 * slope, 2 * slope], rel=1e-12)
    assert done["v"].grad.data.ravel() == pytest.approx([1 + p, 1 - p], rel=1e-12)


@pytest.mark.thorough
def test_lesson_13_needs_the_bend_learns_by_heart_and_its_planted_fault_is_the_copies(run: Any) -> None:
    printed, done, _ = run(lesson("13"))
    assert "two layers are one: True\nwith tanh between:   False" in printed
    counts = [int(found) for found in re.findall(r"(\d+) of 60", printed)]
    assert counts[0] < 56 and counts[1] == 60 and counts[2] <= 56  # one neuron; a hidden layer; the same from zeros
    inside, outside, best = done["inside"], done["outside"], done["best"]
    assert inside[-1] < inside[best] / 2 and outside[-1] > 1.3 * outside[best] and 0 < best < 300
    assert done["told"] < done["true"] / 3
    assert done["w"].grad.item() == pytest.approx(2 * (math.tanh(6) + 1) * (1 - math.tanh(6) ** 2) * 3, rel=1e-9)
    assert f"a = {math.tanh(1):.4f}, y = {-math.tanh(1):.4f}" in printed


@pytest.mark.thorough
def test_lesson_14_keeps_the_size_walks_down_a_valley_and_its_planted_fault_forgets(run: Any) -> None:
    printed, done, _ = run(lesson("14"))
    assert printed.count("to [3.7 0.7]") == 2 and "gradient of w 17280" in printed
    for title, level in (("no bend", "1"), ("relu", "√2")):  # c ** 20, or half the mean square in each layer
        share = 1 if title == "no bend" else 0.5
        for name, scale in done["scales"].items():
            assert done["sizes"][title, name][-1] == pytest.approx((scale * share**0.5) ** 20, rel=0.3)
        assert done["sizes"][title, level][-1] == pytest.approx(1, rel=0.2)
    for name, rate in (("rate 0.005", 0.005), ("rate 0.019", 0.019), ("rate 0.0204", 0.0204)):
        factors = np.array([1 - 2 * rate, 1 - 100 * rate])
        assert done["paths"][name][-1] == pytest.approx([4, 1] * factors**30, rel=1e-10)
    losses = done["trained"]
    assert np.argmax(losses["always 0.03"]) == 1 and losses["always 0.03"][0] < 0.7 < 3 < losses["always 0.03"][1]
    assert max(losses["warm-up"]) < 0.7 and max(losses["warm-up and decay"]) < 0.7
    ends = {name: np.mean(values[-30:]) for name, values in losses.items()}
    assert ends["warm-up and decay"] < 0.7 * min(ends["always 0.03"], ends["warm-up"])
    assert printed.count("her a: [4.  3.7 3.4 3.1 2.8], with one Adam: [4.     3.7    3.40") == 2
    assert done["w"].grad.item() == 2 * (3**4 - 1) * 4 * 3**3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_notebooks_hold_the_lessons_in_a_language(language: str, tmp_path: Path) -> None:
    written = lesson_notebooks.write(tmp_path, language)
    assert len(written) == 2 * len(LESSONS)
    for path in LESSONS:
        made = json.loads((tmp_path / f"{path.stem}.ipynb").read_text(encoding="utf-8"))
        sources = [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]]
        assert sources == [("markdown" if cell.name else "code", cell.text) for cell in cells(path, language)]
        assert f'LANGUAGE = "{language}"' in "\n".join(text for kind, text in sources if kind == "code")
        assert cells(tmp_path / path.name) == cells(path, language)  # the .py that was written reads as the same lesson


def test_a_notebook_is_one_to_jupyter() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.from_dict(notebook([Cell("a", "# A\n\ntext"), Cell(None, "x = 1")], "en")))


def test_percent_keeps_empty_lines_of_text() -> None:
    assert percent([Cell("a", "# A\n\ntext")]) == '# %% [markdown] name="a"\n# # A\n#\n# text\n'


@pytest.mark.parametrize(
    ("english", "japanese", "said"),
    [
        ("x = 1\n", "", "must begin with # %%, got 'x = 1'"),
        ("# %% [markdown]\n# text\n", "", "is neither # %% nor"),
        ('# %% [markdown] name="a"\n# text\nx = 1\n', "", "'x = 1' stands in a cell of text and is no comment"),
        ('# %% [markdown] name="a"\n# b\n# %% [markdown] name="a"\n# c\n', "", "two texts have the same name"),
        ('# %% [markdown] name="a"\n# b\n', "<!-- c -->\nd\n", "only one language has a, c"),
    ],
)
def test_what_is_wrong_in_a_lesson_is_named(english: str, japanese: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "ja").mkdir()
    (tmp_path / "x.py").write_text(english, encoding="utf-8")
    (tmp_path / "ja/x.md").write_text(japanese, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)):
        cells(tmp_path / "x.py", "ja")
