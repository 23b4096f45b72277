"""The thirty tasks: every stub says how to begin, every solution is right, every planted mistake is noticed."""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.learn import report as report_module
from minigrad.learn.checker import Job, Verdict, check
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, LESSONS, Task, find, lessons, tasks

TASKS = tasks()
SEEDS = (0, 1, 2026)
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.label)
each_language = pytest.mark.parametrize("language", LANGUAGES)
RUNS = {"7.1", "7.2"}  # finished programs with a bug: their stubs run


@pytest.fixture(scope="module")
def stubs() -> dict[str, Verdict]:
    return {v.task.label: v for v in check([Job(task, task.stub, 5) for task in TASKS])}


@pytest.fixture(scope="module")
def solutions() -> dict[tuple[str, int], Verdict]:
    jobs = [Job(task, task.solution, seed) for task in TASKS for seed in SEEDS]
    return {(job.task.label, job.seed): verdict for job, verdict in zip(jobs, check(jobs))}


def test_there_are_thirty_in_the_order_of_twelve_lessons() -> None:
    numbers = [task.number for task in TASKS]
    assert len(numbers) == 30 and numbers == sorted(numbers)
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
    if task.label in RUNS:
        assert ("nothing is mended yet" if language == "en" else "最初のまま") in text
        assert verdict.finding is not None and verdict.finding.kind == "nowhere"
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
    "8.1": [("newton(lambda x: 2 * x - 2, lambda x: 2, 5, 1)", [5, 1])],
    "8.2": [("hvp(A([[1, 2]]), A([0, 0]), A([1, 0]))", [[1, 2], [1, 2]])],
    "9.1": [("momentum(A([0]), [A([1]), A([1])], 0.1, 0.5)", [-0.25])],
    "9.2": [("adam(A([0]), [A([4])], 0.1)", [-0.1])],
    "9.3": [("clip([A([3]), A([4])], 1)[0]", 5), ("clip([A([3]), A([4])], 1)[1]", [[0.6], [0.8]])],
    "10.1": [("attention(A([[0], [0]]), A([[0], [0]]), A([[1], [3]]), True)[0]", [[1], [2]]),
             ("attention(A([[0], [0]]), A([[0], [0]]), A([[1], [3]]))[0]", [[2], [2]])],
    "10.2": [("attention_backward(A([[0]]), A([[0]]), A([[1]]), A([[2]]))", [[[0]], [[0]], [[2]]])],
    "10.3": [("split_heads(A([[[1, 2, 3, 4], [5, 6, 7, 8]]]), 2)", [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])],
    "11.1": [("classifier(A([[1]]), np.zeros((1, 1)), np.zeros((1, 1)), A([[0, 0]]), 0)[0]", 0.6931),
             ("classifier(A([[1]]), np.zeros((1, 1)), np.zeros((1, 1)), A([[0, 0]]), 0)[4]", [[-1, 1]])],
    "12.1": [("step(A([2]), A([[1]]), A([[1]]), A([[1]]), A([[0]]), A([[0]]))[0]", [1.964])],
    "12.2": [("sample(A([0, 0, 0]), 1, 0.5)", 1)],
}  # fmt: skip


@pytest.mark.parametrize("label", EXAMPLES)
def test_the_example_in_the_text_is_what_the_solution_gives(label: str) -> None:
    names: dict[str, Any] = {"np": np, "A": lambda values: np.array(values, float)}
    exec(compile(find(label).solution.read_text(encoding="utf-8"), label, "exec"), names)
    for program, expected in EXAMPLES[label]:
        *first, last = program.split("; ")
        exec("\n".join(first), names)
        np.testing.assert_allclose(np.squeeze(np.asarray(eval(last, names))), np.squeeze(expected), atol=6e-4)


# --- planted mistakes: the solution, with one place of it changed ---

MISTAKES = [
    # the arithmetic
    ("1.1", "(2 * h)", "2 * h", "scalar"),
    ("1.1", "f(x - h)) / (2 * h)", "f(x)) / h", "scalar"),
    ("1.1", "(f(x + h) - f(x - h)) / (2 * h)", "(f(x + 1e-5) - f(x - 1e-5)) / 2e-5", "scalar"),
    ("1.3", "2 * (a - y)", "(a - y)", "scalar"),
    ("1.3", "da * (1 - a**2)", "da", "scalar"),
    ("1.3", "dz * x, dz", "dz, dz * x", "scalar"),
    ("2.1", "b * 2 * x", "2 * x", "scalar"),
    ("2.1", "a * np.cos(x)", "b * np.cos(x)", "scalar"),
    ("3.2", "(1.0, -1.0)", "(1.0, 1.0)", "scalar"),
    ("3.2", "-self.data / other.data**2", "-self.data / other.data", "scalar"),
    ("3.2", "1 - t**2", "1 - t", "scalar"),
    ("4.1", "(1 - y**2) * ", "", "scalar|nowhere"),
    ("4.2", "gz = g * (1 - y**2)", "gz = g", "nowhere|places"),
    ("6.2", "(g * p).sum(axis=-1, keepdims=True)", "g", "nowhere"),
    ("6.4", "s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)",
     "s = np.sqrt(x.var(axis=-1, keepdims=True)) + eps", "nowhere|places"),
    ("6.4", " - n * (gn * n).mean(axis=-1, keepdims=True)", "", "nowhere"),
    ("8.1", "abs(bend(x))", "bend(x)", "places"),
    ("8.2", "(e * (W @ v))", "(W @ v)", "scalar|nowhere"),
    ("9.1", "w = w - rate * v", "w = w - rate * g", "nowhere"),
    ("9.1", "beta * v + g", "beta * v + (1 - beta) * g", "nowhere"),
    ("9.2", "(1 - beta1**t)", "1", "nowhere"),
    ("9.2", "(np.sqrt(v / (1 - beta2**t)) + eps)", "np.sqrt(v / (1 - beta2**t) + eps)", "nowhere|places"),
    ("9.3", " if norm > limit else 1.0", "", "nowhere|places"),
    ("10.1", "scores = q @ k.T / np.sqrt(d)", "scores = q @ k.T", "nowhere|places|scalar"),
    ("10.2", "weights * (g_weights - (g_weights * weights).sum(axis=-1, keepdims=True))",
     "weights * g_weights", "nowhere|scalar"),
    ("11.1", "gx = gh + ", "gx = ", "nowhere"),
    ("11.1", "gh = g_out + gz @ W1.T", "gh = gz @ W1.T", "nowhere"),
    ("11.1", " * (z > 0)", "", "nowhere|places"),
    # sums and means, = and +=, one value used twice
    ("2.2", "if name not in found:", "if True:", "judged"),
    ("3.3", "parent.grad += ", "parent.grad = ", "scalar"),
    ("3.4", "self.grad += 1.0", "self.grad = 0.0", "scalar"),
    ("3.4", "            if value.parents:\n                value.grad = 0.0", "            pass", "scalar"),
    ("3.4", "w.grad = b.grad = 0.0", "pass", "scalar"),
    ("5.2", "(g * x).sum(axis=0)", "(g * x).mean(axis=0)", "nowhere"),
    ("5.2", "g.sum(axis=0)", "g", "shape"),
    ("5.2", "(g * x).sum(axis=0)", "(g * x).sum(axis=1)", "nowhere|shape"),
    ("6.1", "gW.sum(axis=tuple(range(gW.ndim - 2)))", "gW", "shape"),
    ("6.3", "gradient / len(labels)", "gradient", "nowhere|places"),
    ("6.3", ".mean(), gradient", ".sum(), gradient", "scalar"),
    ("9.3", "np.sqrt(sum((g**2).sum() for g in gradients))", "max(np.sqrt((g**2).sum()) for g in gradients)", "scalar"),
    # transposes and shapes
    ("4.2", "np.outer(gz, x)", "np.outer(x, gz)", "shape"),
    ("6.1", "g @ W.T", "g @ W", "raised_at"),
    ("6.1", "np.swapaxes(x, -1, -2)", "x.T", "raised_at|shape"),
    ("10.2", "g_scores.T @ q", "g_scores @ q", "nowhere"),
    ("10.3", "x.reshape(batch, n, heads, d // heads).swapaxes(1, 2)", "x.reshape(batch, heads, n, d // heads)", "places"),
    ("5.1", ", keepdims=True", "", "shape"),
    # masks and caches
    ("10.1", "np.tri(n) == 1", "np.tri(n).T == 1", "places|nowhere"),
    ("10.1", "weights = softmax(scores)",
     "weights = softmax(scores)\n    if causal:\n        weights = weights * np.tri(n)", ""),
    ("10.1", "if causal:\n        scores = np.where(np.tri(n) == 1, scores, -np.inf)\n    weights = softmax(scores)",
     "weights = softmax(scores)\n    if causal:\n        weights = weights * np.tri(n)", "places|nowhere"),
    ("12.1", "[keys, (x @ Wk)[None]]", "[(x @ Wk)[None], keys]", "places|nowhere|scalar"),
    ("12.2", "searchsorted(sums, u", "searchsorted(sums, 1 - u", "places|nowhere"),
    ("12.2", "logits / temperature", "logits * temperature", "nowhere|places"),
    # large numbers and dtypes
    ("6.2", "x - x.max(axis=-1, keepdims=True)", "x", "nan"),
    ("6.3", "logits - logits.max(axis=-1, keepdims=True)", "logits * 1.0", "scalar|nan|nan_scalar"),
    ("12.2", "np.exp(x - x.max())", "np.exp(x)", "nan"),
    ("5.1", "return g.sum", "return 1.0 * g.astype(float).sum", "dtype"),
    # work that is not needed, long programs, arguments changed in place
    ("1.2", "right, left = x.copy(), x.copy()", "f(x)\n        right, left = x.copy(), x.copy()", "many"),
    ("1.2", "right, left = x.copy(), x.copy()", "right, left = x, x.copy()", "changed|nowhere|places"),
    ("4.1", "(1 - y**2) * (W @ v)", "(np.diag(1 - y**2) @ W) @ v", "many"),
    ("4.2", "W.T @ gz", "W.T @ np.diag(1 - y**2) @ g", "many"),
    ("8.2", "W.T @ (e * (W @ v))", "(W.T * e) @ W @ v", "many"),
    ("9.1", "w = w - rate * v", "w -= rate * v", "changed"),
    ("12.1", "scores = keys @ (x @ Wq)", "_ = keys @ Wk\n    scores = keys @ (x @ Wq)", "many"),
    # what is returned
    ("1.1", "return", "pass;", "none"),
    ("1.3", "(a - y) ** 2, dz * x, dz", "dz * x, dz", "count"),
    ("3.1", "(self, other), (other.data, self.data)", "(other, self), (other.data, self.data)", "other"),
    ("2.2", "visit(end)", "[visit(name) for name in parents]", "judged"),
    ("6.2", "def softmax_backward", "def softmax_back", "missing"),
    ("12.2", "return int(np.argmax(logits))", "return str(np.argmax(logits))", "type"),
]  # fmt: skip


def test_each_task_has_a_planted_mistake_but_those_that_are_one() -> None:
    assert {label for label, *_ in MISTAKES} >= {task.label for task in TASKS} - RUNS


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    folder = tmp_path_factory.mktemp("mistakes")
    jobs = []
    for i, (label, old, new, _) in enumerate(MISTAKES):
        source = find(label).solution.read_text(encoding="utf-8")
        assert old in source, (label, old)
        path = folder / f"{i}.py"
        path.write_text(source.replace(old, new), encoding="utf-8")
        jobs.append(Job(find(label), path, 11))
    return check(jobs)


@pytest.mark.parametrize("i", range(len(MISTAKES)), ids=[f"{label}-{new[:20]}" for label, _, new, _ in MISTAKES])
def test_a_mistake_is_noticed(i: int, mistaken: list[Verdict]) -> None:
    finding, kinds = mistaken[i].finding, MISTAKES[i][3]
    if not kinds:  # masked before the softmax and after it once more: no mistake, and none may be found
        assert finding is None
        return
    assert finding is not None
    assert finding.kind in kinds.split("|"), report(mistaken[i], "en")
    for language in LANGUAGES:
        assert report(mistaken[i], language)


# --- right answers of other people: a check that refuses one is worse than one that lets a slip through ---

OTHERS = {
    "1.2": """
def gradient(f, x, h=1e-5):
    x, found = x.copy(), []
    for i in range(x.size):
        old = x.flat[i]
        x.flat[i] = old + h
        right = f(x)
        x.flat[i] = old - h
        found.append((right - f(x)) / (2 * h))
        x.flat[i] = old
    return np.array(found).reshape(x.shape)
""",
    "2.2": """
def order(parents, end):
    wanted = {end}
    while True:
        more = wanted | {p for name in wanted for p in parents[name]}
        if more == wanted:
            break
        wanted = more
    done = []
    while len(done) < len(wanted):
        done += sorted(n for n in wanted if n not in done and all(p in done for p in parents[n]))
    return done
""",
    "4.1": """
def jvp(W, x, v):
    y = np.tanh((W * x).sum(axis=1))
    return y, (1 - y * y) * np.einsum("ij,j->i", W, v)
""",
    "4.2": """
def vjp(W, x, g):
    y = np.tanh(np.dot(W, x))
    gz = g - g * y * y
    return y, gz[:, None] * x[None, :], (W * gz[:, None]).sum(axis=0)
""",
    "5.1": """
def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = np.sum(g, axis=0)
    for i in range(len(shape)):
        if shape[i] == 1:
            g = np.sum(g, axis=i, keepdims=True)
    return g
""",
    "6.1": """
def matmul_backward(x, W, g):
    return np.einsum("...nm,km->...nk", g, W), x.reshape(-1, W.shape[0]).T @ g.reshape(-1, W.shape[1])
""",
    "6.3": """
def cross_entropy(logits, labels):
    e = np.exp(logits - np.max(logits, axis=1)[:, None])
    p = e / np.sum(e, axis=1)[:, None]
    m = np.max(logits, axis=1)
    losses = [np.log(np.sum(e[i])) + m[i] - logits[i][labels[i]] for i in range(len(labels))]
    return float(np.mean(losses)), (p - np.eye(logits.shape[1])[labels]) / logits.shape[0]
""",
    "8.1": """
def newton(slope, bend, x, steps):
    return np.array([x] + (newton(slope, bend, x - slope(x) / np.abs(bend(x)), steps - 1).tolist() if steps else []))
""",
    "8.2": """
def hvp(W, x, v):
    e = np.exp(np.sum(W * x, axis=1))
    return np.sum(W * e[:, None], axis=0), np.sum(W * (e * np.sum(W * v, axis=1))[:, None], axis=0)
""",
    "9.3": """
def clip(gradients, limit):
    norm = float(np.linalg.norm(np.concatenate([g.ravel() for g in gradients])))
    return norm, tuple(g / max(1.0, norm / limit) for g in gradients)
""",
    "10.1": """
def attention(q, k, v, causal=False):
    scores = np.einsum("id,jd->ij", q, k) / q.shape[1] ** 0.5
    if causal:
        scores[np.triu_indices(len(q), 1)] = -1e9
    weights = np.exp(scores) / np.exp(scores).sum(axis=1)[:, None]
    return np.dot(weights, v), weights
""",
    "12.1": """
def step(x, Wq, Wk, Wv, keys, values):
    keys, values = np.vstack((keys, x @ Wk)), np.vstack((values, Wv.T @ x))
    weights = np.exp(np.sum(keys * (x @ Wq), axis=1) / np.sqrt(x.shape[0]))
    return (weights[:, None] * values).sum(axis=0) / weights.sum(), keys, values
""",
    "12.2": """
def probabilities(logits, temperature):
    e = np.exp((logits - logits.max()) / temperature)
    return e / e.sum()

def sample(logits, temperature, u):
    if not temperature:
        return list(logits).index(max(logits))
    total = 0.0
    for i, p in enumerate(probabilities(logits, temperature)):
        total += p
        if u < total:
            return i
    return i
""",
}


def test_right_answers_in_another_style_pass(tmp_path: Path) -> None:
    jobs = []
    for label, source in OTHERS.items():
        path = tmp_path / f"{label}.py"
        path.write_text(f"import numpy as np\n{source}", encoding="utf-8")
        jobs += [Job(find(label), path, seed) for seed in (*SEEDS, 17)]
    refused = [report(verdict, "en") for verdict in check(jobs) if not verdict.passed]
    assert refused == []


# --- words.json ---


def test_both_languages_say_the_same() -> None:
    english, japanese = (report_module.words(language) for language in LANGUAGES)
    assert english.keys() == japanese.keys() and english["about"].keys() == japanese["about"].keys()

    def fields(text: str) -> set[str]:
        return {part.split("}")[0] for part in text.split("{")[1:]}

    for key, text in english.items():
        if isinstance(text, str):
            assert fields(text) == fields(japanese[key]), key


def test_every_reason_that_a_case_gives_has_words_and_no_word_is_idle() -> None:
    used = {case.about for task in TASKS for case in task.questions(0)} - {""} | {"order_missing", "order_wrong"}
    assert used == set(report_module.words("en")["about"])


def test_the_words_are_data() -> None:
    path = Path(report_module.__file__).parent / "words.json"
    assert json.loads(path.read_text(encoding="utf-8")).keys() == set(LANGUAGES)
