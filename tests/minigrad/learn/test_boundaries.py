"""Comparisons that are strict or not, and numbers that are off by one, in every solution: what is wrong is refused."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from minigrad.learn.checker import Job, check
from minigrad.learn.report import report
from minigrad.learn.tasks import LANGUAGES, find, tasks

OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SIDES = {"right": "left", "left": "right"}
NO_MISTAKE = {
    ("3.4", "loss = Value(1.0)"): "a constant in the loss has no gradient",
    ("3.4", "loss = Value(-1.0)"): "a constant in the loss has no gradient",
    ("7.1", "gz = gh * (z >= 0)"): "at 0 relu has a kink, where either slope is one",
    ("7.3", "length = np.sqrt(np.where(squares > 1, squares, 1.0))"): "the rows up to 1 cost nothing",
    (
        "7.3",
        "length = np.sqrt(np.where(squares > 0, squares, 0.0))",
    ): "the inner np.where stops the NaN on its way back",
    ("7.3", "return np.sum(np.where(length >= 1, length - 1, 0.0))"): "a length of 1 costs 0 in either case",
    ("11.1", "gz = g_out @ W2.T * (z >= 0)"): "the same",
    ("9.3", "factor = limit / norm if norm >= limit else 1.0"): "where they are equal the factor is 1",
    (
        "12.2",
        "return min(int(np.searchsorted(sums, u, side='right')), len(logits) - 0)",
    ): "rounding: once in 1e16 draws",
}


def slips(source: str) -> Iterator[tuple[str, str]]:
    """Each comparison, number and side of the program turned into its neighbour: the new line, and the whole program."""
    tree = ast.parse(source)
    before = ast.unparse(tree).splitlines()

    def changed() -> tuple[str, str]:
        program = ast.unparse(tree)
        (line,) = (new for old, new in zip(before, program.splitlines()) if old != new)
        return line.strip(), program

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            old = node.ops
            node.ops = [OTHER[type(old[0])]()] if type(old[0]) in OTHER else old
            if node.ops is not old:
                yield changed()
            node.ops = old
        elif isinstance(node, ast.Constant) and (type(node.value) in (int, float, bool) or node.value in SIDES):
            value = node.value
            assert value is not None and not isinstance(value, (bytes, complex)) and value is not ...
            near = (not value,) if isinstance(value, bool) else (SIDES[value],) if isinstance(value, str) else ()
            for node.value in near or (value + 1, value - 1):  # type: ignore[operator]
                yield changed()
            node.value = value


# Slips that a check has let pass, always or with some seeds: the task, and what is changed in its solution.
LET_PASS = [
    ("3.4", "(self, other), (other.data, self.data)", "(self, other), (other.data, other.data)"),
    ("3.4", "return self + other", "return self"),
    ("6.2", "x.max(axis=-1, keepdims=True)", "x.max(keepdims=True)"),
    ("6.3", "logits.max(axis=-1, keepdims=True)", "logits.max(keepdims=True)"),
    ("8.1", "slope(x) / abs(bend(x))", "abs(slope(x)) / bend(x)"),
    ("9.3", "[g * factor for", "[g * factor if np.sqrt((g**2).sum()) > limit else g for"),
]


def test_what_a_check_has_let_pass_is_refused_with_every_seed(tmp_path: Path) -> None:
    jobs: list[Job] = []
    for label, old, new in LET_PASS:
        source = find(label).solution.read_text(encoding="utf-8")
        assert old in source
        path = tmp_path / f"{len(jobs)}.py"
        path.write_text(source.replace(old, new), encoding="utf-8")
        jobs += [Job(find(label), path, seed) for seed in range(20)]
    assert {(v.task.label, job.seed) for job, v in zip(jobs, check(jobs)) if v.passed} == set()


@pytest.mark.parametrize("seed", [7, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(20))])
def test_what_is_off_by_one_or_not_strict_is_refused(seed: int, tmp_path: Path) -> None:
    jobs: list[Job] = []
    lines: list[tuple[str, str]] = []
    for task in tasks():
        for line, program in slips(task.solution.read_text(encoding="utf-8")):
            path = tmp_path / f"{len(jobs)}.py"
            path.write_text(program, encoding="utf-8")
            jobs.append(Job(task, path, seed))
            lines.append((task.label, line))
    assert len(jobs) > 200
    passed = {line for line, verdict in zip(lines, check(jobs)) if verdict.passed}
    assert passed == set(NO_MISTAKE)


REASONS = [
    ("12.2", 'side="right"', 'side="left"', "The first token has probability 0, and u is 0."),
    ("9.2", "eps: float = 1e-8", "eps: float = 1e-6", "An argument that is not given"),
    ("6.4", "eps: float = 1e-5", "eps: float = 1e-6", "An argument that is not given"),
    ("10.1", "causal: bool = False", "causal: bool = True", "An argument that is not given"),
    ("12.2", "temperature == 0", "temperature == 1", "At temperature 0 the most likely token is taken."),
]


@pytest.mark.thorough
def test_the_reason_is_said(tmp_path: Path) -> None:
    jobs = []
    for i, (label, old, new, _) in enumerate(REASONS):
        source = find(label).solution.read_text(encoding="utf-8")
        assert old in source
        path = tmp_path / f"{i}.py"
        path.write_text(source.replace(old, new), encoding="utf-8")
        jobs.append(Job(find(label), path, 11))
    for verdict, (*_, said) in zip(check(jobs), REASONS):
        assert said in report(verdict, "en")
        assert all(report(verdict, language) for language in LANGUAGES)


def test_the_other_ways_to_write_the_comparison_of_12_2(tmp_path: Path) -> None:
    """`>=`, which takes a token of probability 0 at u = 0, in three ways; and `>`, in as many."""
    sums = "np.cumsum(probabilities(logits, temperature))"
    ways = [
        (f"int(np.argmax({sums} >= u))", f"int(np.argmax({sums} > u))"),
        (f"int(np.searchsorted({sums}, u))", f"int(np.searchsorted({sums}, u, 'right'))"),
        (f"sum(s < u for s in {sums})", f"int(sum(s <= u for s in {sums}))"),
    ]
    source = find("12.2").solution.read_text(encoding="utf-8").partition("    sums = ")[0]
    jobs: list[Job] = []
    for i, program in enumerate(way for both in ways for way in both):
        path = tmp_path / f"{i}.py"
        path.write_text(f"{source}    return {program}\n", encoding="utf-8")
        jobs.append(Job(find("12.2"), path, 3))
    assert [verdict.passed for verdict in check(jobs)] == [False, True] * 3
