"""The tasks: every stub says how to begin, every solution is right, every planted mistake is noticed."""

import ast
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.learn import report as report_module
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.page import write_page
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, Task, find, lessons, sentences, tasks

TASKS = tasks()
SEEDS = (0, 1, 2026)
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.label)
each_language = pytest.mark.parametrize("language", LANGUAGES)
TEXTS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))
RUNS = {"7.1", "7.2", "7.3"}  # finished programs with a bug: their stubs run


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("label", TEXTS["formulas"])
def test_what_is_asked_for_stands_in_the_last_hint_only(label: str, language: str) -> None:
    words = find(label).words(language)
    texts = (words["task"], words["first"], *words["hints"])
    task, first, *hints = ("".join(text.replace("np.", "").split()) for text in texts)
    for formula in TEXTS["formulas"][label]:
        assert formula in hints[-1] and formula not in task and formula not in first, formula
    assert [formula for formula in TEXTS["forbidden"].get(label, []) if formula in task] == []


@pytest.fixture(scope="module")
def stubs() -> dict[str, Verdict]:
    return {v.task.label: v for v in check([Job(task, task.stub, 5) for task in TASKS])}


@pytest.fixture(scope="module")
def solutions() -> dict[tuple[str, int], Verdict]:
    jobs = [Job(task, task.solution, seed) for task in TASKS for seed in SEEDS]
    return {(job.task.label, job.seed): verdict for job, verdict in zip(jobs, check(jobs))}


def test_there_are_thirty_seven_in_the_order_of_the_lessons() -> None:
    numbers = [task.number for task in TASKS]
    assert len(numbers) == 37 and [number for number in numbers if number[0] < 13] == sorted(numbers)[:32]
    assert numbers[numbers.index((6, 4)) + 1 :][:3] == [(13, 1), (13, 2), (7, 1)]  # after 6; its number stays
    assert numbers[numbers.index((8, 2)) + 1 :][:4] == [(14, 1), (14, 2), (14, 3), (9, 1)]
    assert {lesson for lesson, _ in numbers} == set(lessons("en")) == set(lessons("ja")) == set(range(1, 15))
    for lesson in range(1, 15):
        parts = [number for place, number in numbers if place == lesson]
        assert parts == list(range(1, len(parts) + 1))


def test_each_task_has_its_files_and_there_are_no_others() -> None:
    names = {task.file for task in TASKS}
    for folder in ("stubs", "solutions"):
        assert {path.name for path in TASKS[0].stub.parents[1].joinpath(folder).glob("*.py")} == names


@each_language
@each_task
def test_each_task_has_words(task: Task, language: str) -> None:
    words = task.words(language)
    assert task.label in words["task"].splitlines()[0]
    assert words["title"] and words["first"] and words["hints"]
    assert ("例" if language == "ja" else "Example") in words["task"]


@each_task
def test_the_japanese_file_is_the_same_program(task: Task) -> None:
    english, japanese = (ast.parse(task.text(language)) for language in LANGUAGES)
    assert ast.get_docstring(english) != ast.get_docstring(japanese)
    assert [ast.dump(node) for node in english.body[1:]] == [ast.dump(node) for node in japanese.body[1:]]


@each_task
def test_the_solution_keeps_the_signatures(task: Task) -> None:
    def signatures(path: Path) -> dict[str, str]:
        nodes = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
        ]
        return {
            node.name: f"{ast.unparse(node.args)} -> {node.returns and ast.unparse(node.returns)}" for node in nodes
        }

    stub = signatures(task.stub)
    assert stub.items() <= signatures(task.solution).items()


@each_language
@each_task
def test_a_stub_says_how_to_begin(task: Task, language: str, stubs: dict[str, Verdict]) -> None:
    verdict = stubs[task.label]
    assert not verdict.passed
    text = report(verdict, language)
    assert task.words(language)["first"] in text and task.words(language)["title"] in text
    assert f"minigrad learn hint {task.label}" in text
    if task.label in RUNS:
        assert ("nothing is fixed yet" if language == "en" else "最初のまま") in text
        assert "Probably" not in text and "考えられる" not in text and write_page(verdict, language) is None
        assert verdict.finding is not None and verdict.finding.kind == ("nan" if task.label == "7.3" else "nowhere")
    else:
        assert f"{task.file} is not begun yet" in text or f"{task.file} はまだ手つかずです" in text


@pytest.mark.parametrize("seed", SEEDS)
@each_task
def test_a_solution_passes(task: Task, seed: int, solutions: dict[tuple[str, int], Verdict]) -> None:
    verdict = solutions[task.label, seed]
    assert verdict.passed, report(verdict, "en")
    assert verdict.right == verdict.total >= 2


def test_a_learner_has_numbers_of_her_own() -> None:
    for task in TASKS:
        one, same, other = (repr([case.inputs for case in task.questions(seed)]) for seed in (1, 1, 2))
        assert one == same
        assert one != other


# --- the examples in the texts ---


@pytest.mark.parametrize("label", TEXTS["examples"])
def test_the_example_in_the_text_is_what_the_solution_gives(label: str) -> None:
    names: dict[str, Any] = {"np": np, "A": lambda values: np.array(values, float)}
    exec(compile(find(label).solution.read_text(encoding="utf-8"), label, "exec"), names)
    for program, expected in TEXTS["examples"][label]:
        *first, last = program.split("; ")
        exec("\n".join(first), names)
        np.testing.assert_allclose(np.squeeze(np.asarray(eval(last, names))), np.squeeze(expected), atol=6e-4)


# --- words.json ---


def test_both_languages_say_the_same() -> None:
    english, japanese = (sentences(language) for language in LANGUAGES)
    assert english.keys() == japanese.keys() and english["about"].keys() == japanese["about"].keys()

    def fields(text: str) -> set[str]:
        return {part.split("}")[0] for part in text.split("{")[1:]}

    for texts, others in ((english, japanese), (english["about"], japanese["about"])):
        for key, text in texts.items():
            assert not isinstance(text, str) or fields(text) == fields(others[key]), key


def test_every_reason_that_a_case_gives_has_words_and_no_word_is_idle() -> None:
    used = {case.about for task in TASKS for case in task.questions(0)} - {""}
    judge = find("2.2").questions(0)[0].judge
    assert judge is not None
    for got in ("y", "zxaby", "xabyx", "xab", "xay", "yabx", "axby", "xaby"):
        used.add((judge(list(got) if got != "y" else got) or {"about": ""})["about"])
    assert used - {""} == set(sentences("en")["about"])


def test_the_words_are_data() -> None:
    path = Path(report_module.__file__).parent / "words.json"
    assert json.loads(path.read_text(encoding="utf-8")).keys() == {*LANGUAGES, "numpy"}
