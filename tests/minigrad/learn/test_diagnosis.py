"""The diagnosis: each planted mistake is noticed and named, none is invented, and how often it is right is measured."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.learn import bank
from minigrad.learn.bank import mutants, sentence
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.diagnosis import name_of
from minigrad.learn.pattern import pattern
from minigrad.learn.report import DIAGNOSED, report
from minigrad.learn.tasks import LANGUAGES, Case, find, sentences, tasks

from . import measure_diagnosis

MISTAKES = tomllib.loads((Path(bank.__file__).parent / "mistakes.toml").read_text(encoding="utf-8"))
# Two mistakes of different names that give the same numbers: neither may be named.
ALIKE = {
    "2.1": [{"factor", "sum_for_product"}],
    "3.3": [{"factor", "other_value"}],
    "6.3": [{"function", "stale"}],
    "9.3": [{"first_only", "max_for_sum"}],  # where the first array is the longest
    # Both go on for too long, and may find the same later loss; or both end at the same step.
    "13.2": [{"off_by_one", "patience_ignored"}, {"patience_not_renewed", "patience_ignored"}],
}


@pytest.fixture(scope="module", params=[12, pytest.param(1, marks=pytest.mark.thorough)], ids="one in {}".format)
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any, Verdict]]:
    """The task, the mistake and the verdict of one in so many of the bank's mistakes."""
    chosen = measure_diagnosis.of_the_bank()[:: request.param]
    folder = tmp_path_factory.mktemp("planted")
    verdicts = measure_diagnosis.answered(folder, [(label, one.source) for label, one in chosen])
    return [(label, one, verdict) for (label, one), verdict in zip(chosen, verdicts, strict=True)]


def test_every_planted_mistake_is_noticed(planted: list[tuple[str, Any, Verdict]]) -> None:
    assert len(measure_diagnosis.of_the_bank()) > 800
    assert [(label, one.name) for label, one, verdict in planted if verdict.passed] == []


def test_every_planted_mistake_is_named_and_none_is_called_by_another_name(
    planted: list[tuple[str, Any, Verdict]],
) -> None:
    """The first of each name in each task, a third of them: ``measure_diagnosis planted`` does it for all."""
    first = {(label, one.name): verdict for label, one, verdict in reversed(planted)}
    unnamed = {}
    for (label, name), verdict in list(first.items())[::3]:
        if verdict.finding is None or verdict.finding.kind not in DIAGNOSED:
            continue
        found = name_of(verdict)
        assert found.name in (name, None), label
        if found.name is None:
            unnamed[label, name] = {one.name for one in found.fits}
    assert all(names in ALIKE.get(label, []) for (label, _), names in unnamed.items()), unnamed


def test_every_task_has_a_bank_and_every_name_has_words() -> None:
    assert {label for label, _ in measure_diagnosis.of_the_bank()} == {task.label for task in tasks()}
    used = {one.name for task in tasks() for one in mutants(task.label)}
    assert used == set(MISTAKES)
    for name in MISTAKES:
        for language in LANGUAGES:
            assert sentence(name, "", language) and not sentence(name, "", language).endswith((".", "。"))


def test_no_program_of_the_bank_has_two_names() -> None:
    """Else neither would ever be named."""
    names: dict[tuple[str, str], set[str]] = {}
    for label, one in measure_diagnosis.of_the_bank():
        names.setdefault((label, ast.unparse(ast.parse(one.source))), set()).add(one.name)
    assert [
        (label, both) for (label, _), both in names.items() if len(both) > 1 and both not in ALIKE.get(label, [])
    ] == []


def test_what_the_bank_does_not_know_is_not_named(tmp_path: Path) -> None:
    changes = [
        ("6.2", "p * (g - (g * p).sum(axis=-1, keepdims=True))", "p * g + 0.25 * p"),
        ("4.1", "(1 - y**2) * (W @ v)", "(1 - y**2) * (W @ v) + 0.125"),
        ("9.1", "w = w - rate * v", "w = w - 0.37 * rate * v"),
        # one mistake that is known beside one that is not: what fits one part must not be said of the whole
        ("5.2", "g * scale, (g * x).sum(axis=0), g.sum(axis=0)", "g * x, (g * x).sum(axis=0) + 0.3, g.sum(axis=0)"),
    ]
    sources = []
    for label, old, new in changes:
        text = find(label).solution.read_text(encoding="utf-8")
        assert old in text
        sources.append((label, text.replace(old, new)))
    verdicts = measure_diagnosis.answered(tmp_path, sources)
    assert [name_of(one).name for one in verdicts] == [None] * len(changes)
    assert all("Probably" not in report(one, "en") for one in verdicts)


def test_a_right_answer_has_no_mistake() -> None:
    (verdict,) = check([Job(find("6.4"), find("6.4").solution, 3)])
    assert verdict.passed and name_of(verdict).name is None


def test_the_message_says_which_mistake_and_where(tmp_path: Path) -> None:
    text = find("5.2").solution.read_text(encoding="utf-8").replace("(g * x).sum(axis=0)", "g * x")
    (verdict,) = measure_diagnosis.answered(tmp_path, [("5.2", text)])
    english, japanese = (report(verdict, language) for language in LANGUAGES)
    assert "Summed to the shape (2,), the numbers are right." in english
    assert "Probably: the gradient of what was broadcast was not summed back" in english
    assert "考えられる原因：ブロードキャスト" in japanese


# Answers to 2.2, in other words than the bank's: the list that each gives first, what is said of it, and its name.
WALK = "    found, todo = [], [end]\n    while todo:\n        name = todo.pop({})\n        if name not in found:\n"
WALK += "            found.append(name)\n            todo.extend(parents[name])\n    return "
ONCE_EACH = """    need, todo = set(), [end]
    while todo:
        name = todo.pop()
        if name not in need:
            need.add(name)
            todo += parents[name]
    users = {name: sum(parents[user].count(name) for user in need) for name in need}
    found, ready = [], [end]
    while ready:
        found.append(ready.pop())
        for parent in parents[found[-1]]:
            users[parent] -= 1
            ready += [parent] if users[parent] == 0 else []
    return found
"""
ORDERS = [
    (WALK.format("") + "found[::-1]", "a comes too early: it is computed from x", "before_parents"),
    (WALK.format("0") + "list(reversed(found))", "a comes too early: it is computed from x", "levels"),
    ("    found = []\n    for parent in parents[end]:\n        found += order(parents, parent)\n    return [*found, end]",
     "x stands in it 3 times", "visited_again"),
    (ONCE_EACH, "y must stand last, and stands first: the other way around, this list would be right", "turned"),
    ("    return sorted(parents)", "a comes too early: it is computed from x", None),  # two mistakes
    ("    return ['x', 'a', 'y'] if 'a' in parents else [end]", "b is missing: y is computed from it", None),
    ("    return ['x', 'a', 'b'] if end == 'y' else []", "y itself is missing", None),
    ("    return ['x', 'a', 'b', 'y', 'z']", "z does not lead to y", None),
    ("    return {'x', 'a', 'b', 'y'}", "must be a list of names", None),
]  # fmt: skip


def test_a_wrong_order_is_said_on_the_answer_itself(tmp_path: Path) -> None:
    sources = [("2.2", f"def order(parents, end):\n{body}\n") for body, _, _ in ORDERS]
    for verdict, (_, said, name) in zip(measure_diagnosis.answered(tmp_path, sources), ORDERS):
        english, japanese = (report(verdict, language) for language in LANGUAGES)
        found = name_of(verdict)
        assert said in english and (found.name or tuple(one for _, one, _ in found.several) or None) == name
        assert ("Probably" in english) == ("考えられる原因" in japanese) == (name is not None)


X = np.array([[1.0, -2.0, 3.0], [-4.0, 5.0, 6.0]])


def case(expected: Any) -> Case:
    return Case("f(x)", {"x": X}, expected)


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (-X, "Everywhere it has the opposite sign."),
        (2 * X, "Everywhere it is 2 times what it should be."),
        (X * [2, 1, 1], "In column 0 it is 2 times what it should be."),
        (X * [[1], [0]], "In row 1 it is 0."),
        (np.where(X > 0, X, 3 * X), "Where x <= 0 it is 3 times what it should be."),
        (X + 0.5, "Everywhere it is off by 0.5."),
        (X + [[0, 0, 1], [0, 0, 7]], "It is wrong in column 2, and right elsewhere."),
        (X.T, "Transposed, the numbers are right."),
        (X.ravel(), "In the shape (2, 3), the numbers are right."),
        (np.stack([X, 0 * X]), "Summed to the shape (2, 3), the numbers are right."),
        (X**2 + 0.3, None),
        (X, None),
        ("text", None),
    ],
)
def test_where_numbers_are_wrong(got: Any, said: str | None) -> None:
    assert pattern(case(X), got, "en") == said
    assert (pattern(case(X), got, "ja") is None) == (said is None)


def test_patterns_have_words_in_both_languages() -> None:
    assert sentences("en")["pattern"].keys() == sentences("ja")["pattern"].keys()


@pytest.mark.parametrize("which", ["fresh", pytest.param("wrong", marks=pytest.mark.thorough)])
def test_how_often_it_is_right(which: str) -> None:
    """On answers that were written without a look at the bank: four of five named right, one of a hundred named wrong."""
    count, found = measure_diagnosis.main(which), measure_diagnosis.answers(which)
    assert count["right"] >= 0.8 * len(found) and count["WRONG"] <= 0.01 * len(found), count
    assert {name for one in found for name in (*one.right, *one.unclear)} <= set(MISTAKES)


def test_a_value_that_an_earlier_call_left_is_told(tmp_path: Path) -> None:
    """A list in the first line of a function: each call alone is right."""
    path = tmp_path / "order.py"
    path.write_text(
        "def order(parents, end, found=[]):\n"
        "    if end not in found:\n"
        "        for parent in parents[end]:\n"
        "            order(parents, parent, found)\n"
        "        found.append(end)\n"
        "    return found\n"
    )
    (verdict,) = check([Job(find("2.2"), path, 7)])
    assert verdict.right == 1
    assert "Called by itself, this gives the right answer" in report(verdict, "en")


ALIASED = "gx = g_out\n    gW2 = h.T @ g_out\n    gh = g_out @ W2.T\n    gz = gh * (z > 0)\n    gW1 = x.T @ gz\n"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (ALIASED.replace("    gW2 = h.T @ g_out\n", "") + "    gx += gz @ W1.T\n    gW2 = h.T @ g_out\n", True),
        (ALIASED.replace("h.T", "z.T") + "    gx += gz @ W1.T\n", False),
    ],
    ids=["written before it is read", "read before it is written"],
)
def test_two_names_of_an_array_are_told_where_one_spoils_the_other(lines: str, told: bool, tmp_path: Path) -> None:
    task = find("7.1")
    source = task.solution.read_text(encoding="utf-8")
    path = tmp_path / task.file
    path.write_text(source[: source.index("gx = g_out")] + lines + source[source.index("    return loss") :])
    (verdict,) = check([Job(task, path, 7)])
    said = report(verdict, "en")
    assert ("`gx = g_out`, makes no copy" in said) == told
    assert told or "h belongs there" in said


def test_a_step_number_is_no_multiple_of_another(tmp_path: Path) -> None:
    path = tmp_path / "stop.py"
    path.write_text(
        "def best_step(losses, patience):\n    return 2 * min(range(len(losses)), key=losses.__getitem__)\n"
    )
    (verdict,) = check([Job(find("13.2"), path, 7)])
    assert "is 2 and should be 1" in report(verdict, "en") and "times" not in report(verdict, "en")
