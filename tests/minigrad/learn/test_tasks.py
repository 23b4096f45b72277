"""The tasks: every stub says how to begin, every solution is right, every planted mistake is noticed."""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.learn import report as report_module
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.page import write_page
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, LESSONS, Task, find, lessons, sentences, tasks

TASKS = tasks()
SEEDS = (0, 1, 2026)
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.label)
each_language = pytest.mark.parametrize("language", LANGUAGES)
# From lesson 4 on a task does not print what it asks for. It is in the last hint, without spaces and np.
FORMULAS = {
    "4.1": ["(1-y**2)*"],
    "4.2": ["g*(1-y**2)", "W.T@gz", "outer(gz,x)", "gz[i]*x[j]"],
    "5.1": ["keepdims=True"],
    "5.2": ["g*scale", "(g*x).sum(axis=0)", "g.sum(axis=0)"],
    "6.1": ["g@W.T", "x.T@g"],
    "6.2": ["p[i]*(g[i]-(g[0]*p[0]", "p*(g-(g*p).sum("],
    "6.3": ["exp(log_p)"],
    "6.4": ["(gn-mean(gn)-n*mean(gn*n))/s"],
    "7.3": ["sqrt(where(squares>0,squares,1.0))"],
    "8.1": ["slope(x)/abs(bend(x))"],
    "8.2": ["W.T@(e*(W@v))"],
    "9.1": ["beta*v+g", "w-rate*v"],
    "9.2": ["beta1*m+(1-beta1)*g", "beta2*v+(1-beta2)*g**2", "sqrt(v/(1-beta2**t))"],
    "9.3": ["limit/norm"],
    "10.1": ["q@k.T/sqrt(d)", "weights@v", "tri(n)==1"],
    "10.2": ["g_scores.T@q/sqrt(d)"],
    "10.3": ["swapaxes"],
    "10.4": ["base**(2*(column//2)/d)", "where(column%2==0,sin(angle),cos(angle))"],
    "12.1": ["softmax(keys@q/sqrt(d))@values"],
    "12.2": ["softmax(logits/temperature)"],
    "13.1": ["x.T@gz", "(1-h**2)"],
    "13.2": ["step-best>=patience"],
    "14.1": ["normal/sqrt(len(normal)*keeps)"],
    "14.2": ["peak*(step+1)/warmup", "peak*(1+cos(pi*t))/2"],
    "14.3": ["w-rate*(direction(g)+decay*w)"],
}
# Formulas that only stood in the tasks, or stand in another hint than the last.
FORBIDDEN = {"6.3": ["exp(x[0]-m)"], "8.1": ["/f''(x)"], "8.2": ["e*(the", "W@v"], "10.2": ["q.T@"], "10.1": ["q@k.T"]}
RUNS = {"7.1", "7.2", "7.3"}  # finished programs with a bug: their stubs run


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("label", FORMULAS)
def test_what_is_asked_for_stands_in_the_last_hint_only(label: str, language: str) -> None:
    words = find(label).words(language)
    texts = (words["task"], words["first"], *words["hints"])
    task, first, *hints = ("".join(text.replace("np.", "").split()) for text in texts)
    for formula in FORMULAS[label]:
        assert formula in hints[-1] and formula not in task and formula not in first, formula
    assert [formula for formula in FORBIDDEN.get(label, []) if formula in task] == []


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
    assert {lesson for lesson, _ in numbers} == set(lessons("en")) == set(lessons("ja")) == set(range(1, LESSONS + 1))
    for lesson in range(1, LESSONS + 1):
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
        assert ("nothing is mended yet" if language == "en" else "最初のまま") in text
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

TRAINED = "w = Value(2.0); y = 3 * w; y.backward(); y.backward(); w.grad"
EXAMPLES: dict[str, list[tuple[str, Any]]] = {
    "1.1": [("slope(lambda x: x * x, 3, 0.001)", 6)],
    "1.2": [("gradient(lambda x: x[0] * x[1], np.array([2.0, 5.0]))", [5, 2])],
    "1.3": [("neuron(0.5, 0, 1, 0)", [0.2136, 0.7269, 0.7269])],
    "2.1": [("two_ways(2)", [3.6372, 3.6372, -1.6646]), ("sum(two_ways(2)[1:])", 1.9726)],
    "3.3": [("a = Value(3.0); y = a * a + a; y.backward(); a.grad", 7)],
    "3.4": [(TRAINED, 6)],
    "4.1": [("jvp(A([[1, 2]]), A([0, 0]), A([1, 1]))", [[0], [3]])],
    "4.2": [("np.concatenate([x.ravel() for x in vjp(A([[1, 2]]), A([0, 0]), A([3]))])", [0, 0, 0, 3, 6])],
    "5.1": [
        ("unbroadcast(A([[1, 2, 3], [4, 5, 6]]), (3,))", [5, 7, 9]),
        ("unbroadcast(A([[1, 2, 3], [4, 5, 6]]), (2, 1))", [[6], [15]]),
        ("unbroadcast(A([[1, 2, 3], [4, 5, 6]]), ())", 21),
    ],
    "5.2": [("scale_and_shift(A([[1, 2], [3, 4]]), A([10, 100]), A([0, 0]), np.ones((2, 2)))[0]", [[10, 100]] * 2),
            ("scale_and_shift(A([[1, 2], [3, 4]]), A([10, 100]), A([0, 0]), np.ones((2, 2)))[1:]", [[4, 6], [2, 2]])],
    "6.1": [("matmul_backward(A([[1, 2]]), A([[3], [4]]), A([[1]]))[0]", [[3, 4]]),
            ("matmul_backward(A([[1, 2]]), A([[3], [4]]), A([[1]]))[1]", [[1], [2]])],
    "6.2": [("softmax(A([0, 0]))", [0.5, 0.5]), ("softmax_backward(A([0.5, 0.5]), A([1, 0]))", [0.25, -0.25])],
    "6.3": [("cross_entropy(A([[0, 0]]), np.array([1]))[0]", 0.6931),
            ("cross_entropy(A([[0, 0]]), np.array([1]))[1]", [[0.5, -0.5]])],
    "6.4": [("layer_norm(A([[1, 3]]), A([1, 1]), A([0, 0]), A([[1, 0]]), 0)[:2]", [[[-1, 1]], [[0, 0]]])],
    "7.1": [("network(A([[1]]), A([[1]]), A([[1]]), A([[0]]))[1]", [[8]])],
    "7.2": [("[x.item() for x in layer(A([[1]]), A([1]), A([[1]]))]", [1.7616, 1.42, 1.42])],
    "7.3": [("gradient(A([[3, 4], [0, 0]]), np.eye(2))[0]", 4),
            ("gradient(A([[3, 4], [0, 0]]), np.eye(2))[1]", [[1.8, 2.4], [2.4, 3.2]]),
            ("gradient(A([[3, 4]]), np.eye(2))[1]", [[1.8, 2.4], [2.4, 3.2]])],
    "8.1": [("newton(lambda x: 2 * x - 2, lambda x: 2, 5, 1)", [5, 1])],
    "8.2": [("hvp(A([[1, 2]]), A([0, 0]), A([1, 0]))", [[1, 2], [1, 2]])],
    "9.1": [("momentum(A([0]), [A([1]), A([1])], 0.1, 0.5)", [-0.25])],
    "9.2": [("adam(A([0]), [A([4])], 0.1)", [-0.1])],
    "9.3": [("clip([A([3]), A([4])], 1)[0]", 5), ("clip([A([3]), A([4])], 1)[1]", [[0.6], [0.8]])],
    "10.1": [("attention(A([[0], [0]]), A([[0], [0]]), A([[1], [3]]), True)[0]", [[1], [2]]),
             ("attention(A([[0], [0]]), A([[0], [0]]), A([[1], [3]]))[0]", [[2], [2]])],
    "10.2": [("attention_backward(A([[0]]), A([[0]]), A([[1]]), A([[2]]))", [[[0]], [[0]], [[2]]])],
    "10.3": [("split_heads(A([[[1, 2, 3, 4], [5, 6, 7, 8]]]), 2)", [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])],
    "10.4": [("positions(2, 4, 100)", [[0, 1, 0, 1], [0.8415, 0.5403, 0.0998, 0.995]])],
    "11.1": [("classifier(A([[1]]), np.zeros((1, 1)), np.zeros((1, 1)), A([[0, 0]]), 0)[0]", 0.6931),
             ("classifier(A([[1]]), np.zeros((1, 1)), np.zeros((1, 1)), A([[0, 0]]), 0)[4]", [[-1, 1]])],
    "12.1": [("step(A([2]), A([[1]]), A([[1]]), A([[1]]), A([[0]]), A([[0]]))[0]", [1.964])],
    "12.2": [("sample(A([0, 0, 0]), 1, 0.5)", 1)],
    "14.1": [("start([A([[1], [-1], [1], [-1]]), A([[1]])], 0.25)[0]", [[0.5], [-0.5], [0.5], [-0.5]]),
             ("start([A([[1], [-1], [1], [-1]]), A([[1]])], 0.25)[1]", [[2]])],
    "14.2": [("[rate(step, 1, 2, 10) for step in (0, 1, 2, 4, 6, 8, 10)]", [0.5, 1, 1, 0.8536, 0.5, 0.1464, 0])],
    "14.3": [("adamw(A([1]), [A([4])], np.sign, [0.1], 0.5)", [0.85]),
             ("adamw(A([1]), [A([4]), A([4])], np.sign, [0.1, 0.2], 0.5)", [0.565])],
}  # fmt: skip


@pytest.mark.parametrize("label", EXAMPLES)
def test_the_example_in_the_text_is_what_the_solution_gives(label: str) -> None:
    names: dict[str, Any] = {"np": np, "A": lambda values: np.array(values, float)}
    exec(compile(find(label).solution.read_text(encoding="utf-8"), label, "exec"), names)
    for program, expected in EXAMPLES[label]:
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
