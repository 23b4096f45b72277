"""What is read from a rule, and what stands in for one, against the rule, on all samples of the case table; what people read;
and the tree of it that the page draws, evaluated with the numbers of a run."""

import ast
import importlib
import inspect
import math
import operator
from collections.abc import Mapping
from functools import reduce
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
    KINDS,
    equation,
    formula,
    formula_values,
    option_text,
    parted,
    readable,
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


# Words, as their rule needs the normal distribution or two outputs; and points at which the formula has only a limit.
IN_WORDS = {"gelu", "modf"}
AT_A_LIMIT = {"sinc: near 0", "power: 0 ** y, x ** 0", "float_power: 0 ** y, x ** 0", "clip: crossed bounds"}
ALSO = {"matmul", "clip", "where", "transpose", "inv", "dot"}  # that are no ufuncs

Tree = Any


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
    into = graph.edges_into
    for node in graph.operations:
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


# --- what a tree says, as a number ---

_SIGNS: dict[str, Any] = {
    "·": operator.mul,
    "@": operator.matmul,
    "+": operator.add,
    "−": operator.sub,
    "≤": operator.le,
    "<": operator.lt,
    "≥": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
    "≠": operator.ne,
    "∨": operator.or_,
}
_CALLS: dict[str, Any] = {
    "outer": np.multiply.outer,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def value_of(tree: Tree, values: Mapping[str, Any]) -> Any:
    kind, *rest = tree
    match kind:
        case "num":
            return math.pi if rest == ["π"] else float(rest[0].replace("−", "-"))
        case "ref":
            return values[rest[0]]
        case "call":
            return called(rest[0])(*[value_of(tree, values) for tree in rest[1:]])
        case "row":
            return row(rest, values)
    numbers = [value_of(tree, values) for tree in rest]
    if kind == "sup":
        return np.power(*numbers)
    if kind == "frac":
        return numbers[0] / numbers[1]
    others: dict[str, Any] = {
        "paren": lambda x: x,
        "sqrt": np.sqrt,
        "bars": np.abs,
        "T": lambda x: np.swapaxes(x, -1, -2),
    }
    return others[kind](*numbers)


def called(name: str) -> Any:
    special = pytest.importorskip("scipy.special")
    return _CALLS.get(name) or getattr(np, name, None) or getattr(special, name)


def row(parts: list[Tree], values: Mapping[str, Any]) -> Any:
    if parts[0][0] == "op":
        assert parts[0][1] == "−" and len(parts) == 2
        return -value_of(parts[1], values)
    numbers = [value_of(tree, values) for tree in parts[::2]]
    signs = [_SIGNS[sign] for kind, sign in parts[1::2] if kind == "op"]
    if any(sign in (operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne) for sign in signs):
        return reduce(operator.and_, [sign(a, b) for a, sign, b in zip(numbers, signs, numbers[1:])])
    return reduce(lambda a, pair: pair[0](a, pair[1]), zip(signs, numbers[1:]), numbers[0])


def branches(tree: Tree) -> set[str]:
    return {tree[0]}.union(*(branches(part) for part in tree[1:] if isinstance(part, list)))


# --- against the rules ---


def trees(graph: Graph) -> Any:
    into = graph.edges_into
    for node in graph.operations:
        for edge in into[node.id]:
            if edge.raw is not None:
                found = formula(node.primitive, edge.argument)
                assert found is not None
                values = formula_values(node, into[node.id], edge)
                yield node, edge, found, equation(found, readable(found, values), values), values


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_read_and_its_tree_compute_what_the_rule_does(case: Case) -> None:
    graph = swept(case.f, *case.arrays())
    check(graph)
    for node, edge, found, tree, values in trees(graph):
        assert branches(tree) <= KINDS.keys()
        if node.operation != case.primitive or not (found.elementwise or node.operation in ALSO):
            continue
        if "words" in branches(tree):
            assert node.operation in IN_WORDS | ALSO
        elif case.id not in AT_A_LIMIT and not np.iscomplexobj(edge.raw):
            with np.errstate(all="ignore"):
                result = np.asarray(value_of(tree, values))
            result = np.broadcast_to(result, edge.raw.shape) if result.ndim < edge.raw.ndim else result
            fitted = result.shape != edge.raw.shape  # outer products of stacks: what is added is the sum
            want = edge.contribution if fitted else edge.raw
            oracle.assert_close([result], [want], rtol=1e-9, dtypes=False)


def test_all_words_are_known_in_japanese() -> None:
    used = {"summed over the stack", "for each matrix of the stack"}  # of some shapes alone
    for p in of_all_rules():
        for argument in differentiable(p):
            found = formula(p, argument)
            assert found is not None
            words = parted(found.text)[1]
            used.add(words)
            if words and " = " not in words:  # those are more formulas
                assert words in JAPANESE
    assert set(JAPANESE) <= used


def text(p: Any, argument: str = "x") -> str:
    found = formula(p, argument)
    assert found is not None
    return found.text


# --- what people read ---


@pytest.mark.parametrize(
    ("operation", "argument", "want"),
    [
        (np.tanh, "x", "g * (1 - y * y)"),
        (np.exp, "x", "g * y"),
        (np.subtract, "y", "-g"),
        (np.divide, "y", "-g * out / y"),
        (np.power, "x", "g * y * x^(y - 1)"),
        (np.reciprocal, "x", "-g * y * y"),
        (np.log2, "x", "g / (x * log(2))"),
        (np.hypot, "x", "g * (x / out)"),
        (np.sign, "x", "0"),
        (np.matmul, "y", "x^T @ g"),
        (np.sum, "a", "g, broadcast over the summed axes"),
        (np.stack, "0", "g, the part of this operand"),
        (np.stack, "1", "g, the part of this operand"),
        (mg.erf, "x", "g * (2 / sqrt(pi)) * exp(-x * x)"),
        (mg.softmax, "x", "y * (g - sum(g * y))"),
    ],
)
def test_text(operation: Any, argument: str, want: str) -> None:
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
        (two[0], "g * factor * x * x"), (two[1], "g * 2 * x"), (cubed_rule, "g * 3 * x * x"),
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
    assert text(tanh) == "g * (1 - y * y)"
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


# --- the trees that the page draws ---


def test_all_elementwise_rules_and_matmul_are_met() -> None:
    tried = {case.primitive for case in CASES}
    elementwise = {
        name
        for name, p in all_primitives().items()
        for argument in p.rules
        if (found := formula(p, argument)) is not None and found.elementwise
    }
    assert elementwise | {"matmul"} <= tried


def tree_of(f: Any, argument: str, *arrays: Any) -> Tree:
    inputs = [Tensor(array, requires_grad=True) for array in arrays]
    with mg.trace():
        loss = f(*inputs)
    loss = loss if loss.ndim == 0 else loss.sum()
    loss.backward()
    graph = capture(loss)
    return next(tree for node, edge, _, tree, _ in trees(graph) if edge.argument == argument)


G, X, Y, ANS = ["ref", "g"], ["ref", "x"], ["ref", "y"], ["ref", "ans"]
TIMES, AT, MINUS = ["op", "·"], ["op", "@"], ["op", "−"]
IN_RANGE = ["row", ["ref", "a_min"], ["op", "≤"], ["ref", "a"]]
MATRIX = np.ones((2, 2))


@pytest.mark.parametrize(
    ("f", "argument", "arrays", "want"),
    [
        (np.multiply, "x", (2.0, 3.0), ["row", G, TIMES, Y]),
        (np.negative, "x", (2.0,), ["row", MINUS, G]),
        (np.divide, "y", (2.0, 3.0), ["row", MINUS, ["frac", ["row", G, TIMES, ANS], Y]]),
        (np.tanh, "x", (2.0,), ["row", G, TIMES, ["paren", ["row", ["num", "1"], MINUS, ["sup", ANS, ["num", "2"]]]]]),
        (np.matmul, "x", (MATRIX, MATRIX), ["row", G, AT, ["T", Y]]),
        (np.matmul, "y", (MATRIX, MATRIX), ["row", ["T", X], AT, G]),
        (np.matmul, "x", (np.ones(2), np.ones(2)), ["row", G, TIMES, Y]),
        (np.transpose, "a", (np.ones((2, 3)),), ["T", G]),
        (lambda x: np.clip(x, 0, None), "a", (2.0,), ["call", "where", IN_RANGE, G, ["num", "0"]]),
    ],
)  # fmt: skip
def test_what_the_page_draws(f: Any, argument: str, arrays: Any, want: Tree) -> None:
    assert tree_of(f, argument, *arrays) == want


@pytest.mark.parametrize(
    ("subscripts", "argument", "want"),
    [
        ("ij,kj->ik", "0", ["ik,kj->ij", 1]),
        ("ij,kj->ik", "1", ["ik,ij->kj", 0]),
        ("ij, kj", "1", ["ik,ij->kj", 0]),
    ],
)
def test_an_einsum_is_differentiated_by_an_einsum(subscripts: str, argument: str, want: list[Any]) -> None:
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    tree = tree_of(lambda a, b: np.einsum(subscripts, a, b), argument, *arrays)
    assert tree == ["call", "einsum", ["words", {"en": f"'{want[0]}'", "ja": f"'{want[0]}'"}], G, ["ref", str(want[1])]]
    given = np.einsum(want[0], np.ones((2, 4)), arrays[want[1]])
    leaf = Tensor(arrays[int(argument)], requires_grad=True)
    np.einsum(subscripts, *(leaf if i == int(argument) else a for i, a in enumerate(arrays))).sum().backward()
    np.testing.assert_allclose(given, leaf.grad.numpy())


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->i", "...i->...i"])
def test_an_einsum_whose_derivative_is_none_is_told_in_words(subscripts: str) -> None:
    assert tree_of(lambda a: np.einsum(subscripts, a), "0", MATRIX)[0] == "row"


def test_words_are_in_both_languages() -> None:
    tree = tree_of(np.sum, "a", MATRIX)
    assert tree == [
        "row",
        G,
        ["words", {"en": "broadcast over the summed axes", "ja": "和を取った軸に沿ってブロードキャスト"}],
    ]
    assert tree_of(np.mean, "a", MATRIX)[1] == ["frac", G, ["num", "4"]]


def test_the_tree_of_a_rule_of_the_users() -> None:
    def by_loop(g: Any) -> Any:
        """twice the gradient, added up"""
        total = g + g
        return total

    def tree(rule: Any) -> Tree:
        twice = primitive(lambda x, /: 2 * x, name="twice").vjp(x=rule)
        return tree_of(twice, "x", 3.0)

    assert tree(lambda g: 2 * g) == ["row", ["num", "2"], TIMES, G]
    assert tree(lambda g, x: -x * x * x * g) == ["row", MINUS, ["row", ["sup", X, ["num", "3"]], TIMES, G]]
    inner = ["call", "minimum", G, ["call", "maximum", G, G]]  # a comma before nested parentheses begins no words
    assert tree(lambda g: np.minimum(g, np.maximum(g, g))) == inner
    assert tree(by_loop) == ["words", dict.fromkeys(("en", "ja"), "twice the gradient, added up")]
    assert tree(lambda g: g[:] if g.ndim else g + g)[0] == "words"  # Python that is no formula is shown as it is


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((np.arange(6), np.array([0, 0, 1, 1, 2, 2])), "([0, 1, 2, …, 5], [0, 0, 1, …, 2])"),
        ((slice(None), slice(1, None, 2), Ellipsis, None, 3), "(:, 1::2, …, …, 3)"),
        (np.array([[True, False]]), "[[True, False]]"),
        ((2,), "(2,)"),
        ([0.1234567, np.float32(2)], "[0.1235, 2]"),
        ("mean", "'mean'"),
    ],
)
def test_an_option_is_short_and_closes_each_bracket(value: Any, text: str) -> None:
    assert option_text(value) == text
