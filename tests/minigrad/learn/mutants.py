"""Every solution of the exercises with one small change, and whether the check refuses what it changes.

``python -m tests.minigrad.learn.mutants`` prints a row for each task. A mutant is *different* if a question of any of the
seeds refuses it: the numbers of the questions come from the seed. It must be refused with the seed that a learner has.
The others are *equivalent*; ``equivalent_mutants.toml`` lists them with the reasons.
"""

from __future__ import annotations

import ast
import copy
import difflib
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from minigrad.learn.checker import Job, check
from minigrad.learn.tasks import Task, tasks

HERE = Path(__file__).parent
USUAL = 7  # the seed of the learner
SEEDS = range(100, 400)  # of the other questions: at least 1,000 for a task
SECONDS = 1.0  # for one mutant

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
FUNCTIONS = {
    "sum": "mean", "mean": "sum", "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum",
    "exp": "expm1", "log": "log1p", "tanh": "sin", "sin": "cos", "cos": "sin", "sqrt": "abs", "zeros": "ones",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "argmax": "argmin", "cumsum": "cumprod", "tril": "triu",
    "append": "insert", "reversed": "list", "left": "right", "right": "left", "ones": "zeros",
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield each change of a program as text, and the changed program."""
    tree = ast.parse(source)
    before, known = ast.unparse(tree), set()
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        names = sorted({n.id for n in _inside(function) if isinstance(n, ast.Name) and n.id not in ("np", "mg")})
        for change in (*_expressions(function, names), *_statements(function)):
            undo = change()
            program = ast.unparse(tree)
            undo()
            if program != before and program not in known:
                known.add(program)
                yield _difference(before, program), program


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those inside, without types and decorators."""
    yield node
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in ("annotation", "returns", "decorator_list"):
                yield from _inside(child)


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return " | ".join(f"{line[0]} {line[1:].strip()}" for line in list(lines)[3:] if line[:2] != "@@")


Change = Callable[[], Callable[[], None]]  # makes a change, and returns what undoes it


def _expressions(function: ast.FunctionDef, names: list[str]) -> Iterator[Change]:
    for parent in _inside(function):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.expr):
                    for new in _variants(child, names):
                        yield _replacing(parent, field, i if isinstance(value, list) else None, new)


def _replacing(parent: ast.AST, field: str, index: int | None, new: ast.expr) -> Change:
    def change() -> Callable[[], None]:
        value = getattr(parent, field)
        if index is None:
            setattr(parent, field, new)
            return lambda: setattr(parent, field, value)
        old, value[index] = value[index], new
        return lambda: value.__setitem__(index, old)

    return change


def _with(node: Any, **fields: Any) -> Any:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _variants(node: ast.expr, names: list[str]) -> Iterator[ast.expr]:
    """Yield an expression with one change at its top."""
    if isinstance(node, ast.BinOp):
        yield from (_with(node, op=other()) for other in OPERATORS.get(type(node.op), ()))
        yield from (node.left, node.right)
        if not isinstance(node.op, ast.Add | ast.Mult):
            yield _with(node, left=node.right, right=node.left)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Compare):
        yield from (_with(node, ops=[other()]) for other in COMPARISONS.get(type(node.ops[0]), ()))
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool, str):
        yield from (ast.Constant(value) for value in _near(node.value))
    elif isinstance(node, ast.Call):
        yield from (_with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :]) for i in range(len(node.keywords)))
        if len(node.args) > 1:
            yield _with(node, args=node.args[:-1])
            yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    elif isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
        yield _with(node, attr=FUNCTIONS[node.attr])
    elif isinstance(node, ast.Slice):
        yield from (_with(node, **{part: None}) for part in ("lower", "upper", "step") if getattr(node, part))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from (ast.Name(other, ast.Load()) for other in names if other != node.id)


def _near(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [FUNCTIONS[value]] if value in FUNCTIONS else []
    return [value + 1, value - 1, -value, 2 * value] if value else [1, -1]


def _statements(function: ast.FunctionDef) -> Iterator[Change]:
    """Yield the changes of statements: one is left out, two change places, ``+=`` becomes ``=`` or ``-=``."""
    for parent in _inside(function):
        for field in ("body", "orelse"):
            body = getattr(parent, field, None)
            if not isinstance(body, list):
                continue
            for i, statement in enumerate(body):
                docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if docstring or isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
                    continue
                yield _replacing(parent, field, i, ast.Pass())  # type: ignore[arg-type]
                if i + 1 < len(body):
                    yield _exchanging(body, i)
                if isinstance(statement, ast.AugAssign):
                    plain = ast.Assign([statement.target], statement.value, lineno=1)
                    yield _replacing(parent, field, i, plain)  # type: ignore[arg-type]
                    for other in OPERATORS.get(type(statement.op), ()):
                        yield _replacing(parent, field, i, _with(statement, op=other()))


def _exchanging(body: list[ast.stmt], i: int) -> Change:
    def exchange() -> None:
        body[i], body[i + 1] = body[i + 1], body[i]

    def change() -> Callable[[], None]:
        exchange()
        return exchange

    return change


def passing(found: list[tuple[Task, str, str]], folder: Path, seed: int) -> list[tuple[Task, str, str]]:
    """Return those of the mutants that the check accepts with a seed."""
    jobs = []
    for i, (task, _, program) in enumerate(found):
        path = folder / f"{i}.py"
        path.write_text(program, encoding="utf-8")
        jobs.append(Job(task, path, seed))
    verdicts = [verdict for i in range(0, len(jobs), 200) for verdict in check(jobs[i : i + 200], seconds=SECONDS)]
    return [one for one, verdict in zip(found, verdicts) if verdict.passed]


def measured(chosen: list[tuple[Task, str, str]], folder: Path) -> tuple[list[Any], list[Any]]:
    """Return the mutants that are accepted although they are different, and those that no question refuses."""
    accepted = passing(chosen, folder, USUAL)
    left = accepted
    for seed in SEEDS:
        left = passing(left, folder, seed) if left else []
    return [one for one in accepted if one not in left], left


def every(labels: set[str] | None = None) -> list[tuple[Task, str, str]]:
    """Return all mutants: the task, the change, and the program."""
    chosen = [task for task in tasks() if labels is None or task.label in labels]
    return [(task, *one) for task in chosen for one in mutants(task.solution.read_text(encoding="utf-8"))]


def equivalent() -> dict[tuple[str, str], str]:
    """Return the reason for each equivalent mutant, by the task and the change."""
    groups = tomllib.loads((HERE / "equivalent_mutants.toml").read_text(encoding="utf-8"))["group"]
    return {(task, change): group["reason"] for group in groups for task, change in group["changes"]}


def main() -> None:
    """Print the table: one row for each task."""
    print("| task | mutants | refused | different and accepted | equivalent |\n|---|---|---|---|---|")
    rows = []
    for task in tasks():
        with tempfile.TemporaryDirectory() as folder:
            found = every({task.label})
            wrong, left = measured(found, Path(folder))
        rows.append((len(found), len(found) - len(wrong) - len(left), len(wrong), len(left)))
        print(f"| {task.label} | {' | '.join(map(str, rows[-1]))} |", flush=True)
        for _, change, _ in wrong:
            print(f"  accepted: {change}")
    print(f"| all | {' | '.join(str(sum(column)) for column in zip(*rows))} |")


if __name__ == "__main__":
    main()
