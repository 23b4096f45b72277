"""What is read from a rule, and what stands in for one, against the rule, on all samples of the case table; and what people
read."""

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Primitive, Tensor
from minigrad.engine.primitive import primitive
from minigrad.engine.registry import primitives, registry
from minigrad.graph.pages.formulas import (
    JAPANESE,
    formula,
    formula_values,
    parted,
    rule_behind,
)
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph
from minigrad.rules.about import derivative
from minigrad.source.functions import returned_expression
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import CASES, Case
from tests.minigrad.rules.test_cases import all_primitives, held_by  # with it the table is full

# What is written for the page is for one kind of norm: the tests of the page compare what it gives.
ONLY_ON_THE_PAGE = {"norm"}


def differentiable(p: Primitive) -> list[str]:
    """The arguments that have a derivative."""
    if p.rule_for_each is not None:
        return ["0", "1"]
    if p.composition is not None:
        return [name for name in p.arguments if name not in ("labels", "mask")]
    return list(p.rules)


def of_all_rules() -> list[Primitive]:
    """Every primitive that a file of ``minigrad/rules`` declares, nn's and SciPy's too."""
    names = [path.stem for path in Path(mg.rules.__file__).parent.glob("[!_]*.py")]
    return [*held_by(*[importlib.import_module(f"minigrad.rules.{name}") for name in names]).values()]


def swept(f: Any, *arrays: Any) -> Graph:
    """The graph of ``f`` after a sweep with a random cotangent."""
    with mg.trace():
        loss = oracle.project(f(*oracle.inputs_of(arrays)), 7)
    loss.backward()
    return capture(loss)


def evaluated(primitive: Any, argument: str, values: dict[str, Any]) -> Any:
    """What the page's stand-in for a rule gives, or else the expression that was read from it; None if there is neither."""
    rule = rule_behind(primitive, argument)
    stand_in = derivative(primitive, argument).written
    with np.errstate(all="ignore"):
        if stand_in is not None:
            return stand_in(**{name: values[name] for name in inspect.signature(stand_in).parameters})
        found = None if primitive.composition is not None else returned_expression(rule)
        if found is None:
            return None
        names = {**rule.__globals__, **inspect.getclosurevars(rule).nonlocals}
        return eval(ast.unparse(found), {**names, **values})


def check(graph: Graph) -> None:
    """Compare what the page knows of every rule with what the rule gave."""
    into = graph.edges_into()
    for node in graph.operations():
        for edge in into[node.id]:
            if edge.raw is None:
                continue
            found = formula(node.primitive, edge.argument)
            assert found is not None and found.text
            if not isinstance(node.primitive, Primitive) or node.operation in ONLY_ON_THE_PAGE:
                continue
            value = evaluated(node.primitive, edge.argument, formula_values(node, into[node.id], edge))
            if value is not None:
                value = np.broadcast_to(value, edge.raw.shape) if np.ndim(value) < edge.raw.ndim else np.asarray(value)
                fitted = value.shape != edge.raw.shape  # a kernel leaves a bias of length 1 for the engine to sum
                oracle.assert_close([value], [edge.contribution if fitted else edge.raw], rtol=1e-10, dtypes=False)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_read_computes_what_the_rule_does(case: Case) -> None:
    check(swept(case.f, *case.arrays()))


def test_all_words_are_known_in_japanese() -> None:
    used = {"summed over the stack", "for each matrix of the stack"}  # of some shapes alone
    for p in of_all_rules():
        for argument in differentiable(p):
            found = formula(p, argument)
            assert found is not None
            words = parted(found.text)[1]
            used.add(words)
            if words and f"{p.name}.{argument}" != "layer_norm.x":  # more formulas, and no words
                assert words in JAPANESE
    assert set(JAPANESE) <= used


def text(p: Any, argument: str | int = "x") -> str:
    found = formula(p, argument)
    assert found is not None
    return found.text


# --- what people read ---


@pytest.mark.parametrize(
    ("operation", "argument", "want"),
    [
        (np.tanh, "x", "g * (1 - y^2)"),
        (np.exp, "x", "g * y"),
        (np.subtract, "y", "-g"),
        (np.divide, "y", "-g * out / y"),
        (np.power, "x", "g * y * x^(y - 1)"),
        (np.reciprocal, "x", "-g * y^2"),
        (np.log2, "x", "g / (x * log(2))"),
        (np.hypot, "x", "g * (x / out)"),
        (np.sign, "x", "0"),
        (np.matmul, "y", "x^T @ g"),
        (np.sum, "a", "g, broadcast over the summed axes"),
        (np.stack, "0", "g, the part of this operand"),
        (np.stack, 1, "g, the part of this operand"),
        (mg.erf, "x", "g * (2 / sqrt(pi)) * exp(-x^2)"),
        (mg.softmax, "x", "y * (g - sum(g * y))"),
    ],
)
def test_text(operation: Any, argument: str | int, want: str) -> None:
    assert text(registry.get(operation, operation), argument) == want


# --- primitives of the user's ---


def cubed_rule(g: Any, x: Any) -> Any:
    """Three times the square."""
    return g * 3 * x * x


def longer_rule(g: Any, x: Any) -> Any:
    """``g * 3 * x * x``, in two steps.

    The rest of it is not shown.
    """
    slope = 3 * x * x
    return g * slope


def no_words(g: Any, x: Any) -> Any:
    slope = 3 * x * x
    return g * slope


def test_a_primitive_of_the_users() -> None:
    factor = 3
    two = (lambda g, x: g * factor * x * x, lambda g, x: g * 2 * x)  # in one line, with the same parameters
    for rule, want in [
        (two[0], "g * factor * x^2"), (two[1], "g * 2 * x"), (cubed_rule, "g * 3 * x^2"),
        (longer_rule, "g * 3 * x * x, in two steps"), (eval("lambda g, x: g * 3 * x * x"), None), (no_words, None),
    ]:  # fmt: skip
        cube = primitive(lambda x, /: x * x * x, name="cube").vjp(x=rule)
        found = formula(cube, "x")
        assert (found and found.text) == want
        if (expression := returned_expression(rule)) is not None:
            assert eval(ast.unparse(expression), {"g": 2.0, "x": 5.0, "factor": factor}) == rule(2.0, 5.0)


def test_a_file_that_was_changed_since_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "rules.py"
    path.write_text("rule = lambda g, x: g * 3 * x\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    path.write_text("rule = lambda g, x: g * 4 * x\n")
    assert formula(primitive(lambda x, /: 1.5 * x * x, name="own").vjp(x=names["rule"]), "x") is None


def test_a_primitive_of_the_users_that_has_a_name_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(primitives, "sum", primitives["sum"])  # puts it back
    wrong = primitive(lambda a, /: np.sum(a), name="sum").vjp(a=lambda g, a: g * 2 * np.ones_like(a))
    assert text(wrong, "a") == "g * 2 * ones_like(a)"


def test_a_rule_that_was_replaced_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    tanh = all_primitives()["tanh"]
    assert text(tanh) == "g * (1 - y^2)"
    monkeypatch.setitem(tanh.rules, "x", lambda g, ans: g * (1 - ans))
    assert text(tanh) == "g * (1 - y)"


def test_no_derivative_no_formula() -> None:
    assert formula(mg.cross_entropy, "labels") is None
    assert formula(mg.scaled_dot_product_attention, "mask") is None
    assert formula(all_primitives()["take"], "indices") is None


def test_a_function_class_is_named() -> None:
    class Twice(mg.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = Tensor(1.5, requires_grad=True)
    with mg.trace():
        loss = Twice.apply(x) * 3.0
    loss.backward()
    check(capture(loss))
    assert text(Twice) == "Twice.backward(g)"
