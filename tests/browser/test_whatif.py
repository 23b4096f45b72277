"""The what-if engine in JavaScript against minigrad: values, contributions and gradients of graphs with edited leaves."""

import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, primitive
from minigrad.engine.registry import primitives
from minigrad.graph.pages.explain import WHAT_IF, page_data
from minigrad.graph.pages.html import asset, page, plain
from minigrad.graph.pages.replay import _Trees, page_functions
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import CASES, Case
from tests.minigrad.rules.test_cases import all_primitives  # with it the table is full

ENGINE = [f"{name}.js" for name in WHAT_IF]
KNOWN = [  # at least
    "add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal", "square", "power", "float_power",
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "sin", "cos", "tan",
    "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot",
    "deg2rad", "rad2deg", "absolute", "fabs", "sign", "floor", "ceil", "trunc", "rint", "round", "floor_divide",
    "remainder", "fmod", "maximum", "minimum", "fmax", "fmin", "conjugate", "copy", "astype", "erf", "relu", "gelu",
    "sigmoid", "silu", "where", "clip", "sum", "mean", "prod", "max", "min", "var", "std", "logsumexp", "softmax",
    "log_softmax", "cumsum", "sort", "reshape", "squeeze", "expand_dims", "broadcast_to", "transpose",
    "swapaxes", "getitem", "take", "take_along_axis", "scatter_add", "flip", "repeat",
    "concatenate", "stack", "split", "matmul", "dot", "inner", "outer", "vdot", "tensordot", "einsum",
    "affine", "layer_norm", "cross_entropy", "attention", "norm", "copysign", "heaviside", "ldexp", "logaddexp2", "real",
    "interp",
]  # fmt: skip
FORMS = ["'", "[]", "?", "=", ";", "...", ":", "and", "or", "not", "is", "in", "at", "for", "*"]  # of python.js
WHY_NOT = ("numbers; up to 20000", "with where itself", "with initial itself", "with order itself", "with decimals itself",
           "kind of numbers", "with ord itself",
           "compute the operation")  # fmt: skip


@pytest.fixture(scope="module")
def js(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """`js(code, argument)` runs a function of JavaScript in a page that holds nothing but the engine."""
    path = tmp_path_factory.mktemp("whatif") / "engine.html"
    path.write_text(page("engine", "", "\n".join(map(asset, ENGINE)), {}), encoding="utf-8")
    shown = browser.new_page()
    shown.goto(path.as_uri())
    yield lambda code, argument=None: shown.evaluate(code, argument)
    shown.close()


def traced(f: Callable[..., Any], *arrays: Any) -> Graph:
    with mg.trace():
        loss = oracle.project(f(*oracle.inputs_of([np.asarray(a) for a in arrays])), 7)
    loss.backward()
    return capture(loss)


def again(graph: Graph, edits: dict[int, Any]) -> Graph:
    """The operations of a graph run again by minigrad, from edited leaves and the same constants."""
    results: list[Any] = []
    into = graph.edges_into
    with mg.trace():
        for node in graph.nodes:
            if node.operation is None:
                value = np.asarray(edits.get(node.id, node.value))
                results.append(node.value if node.kind == "constant" else Tensor(value, requires_grad=True))
                continue
            operands: dict[str, Any] = {}
            for edge in into[node.id]:
                source = results[edge.source]
                operands[edge.argument] = source if edge.output is None else source[edge.output]
            names = node.primitive.arguments or list(operands)
            results.append(node.primitive(*[operands.get(name) for name in names], **node.keywords))
    loss = results[graph.ends[0][0]]
    loss.backward()
    return capture(loss)


def edited(graph: Graph) -> dict[int, Any]:
    """For each leaf other numbers of its kind: its own in another order, and up to a tenth larger or smaller."""
    rng = np.random.default_rng(3)
    return {
        node.id: node.value.ravel()[rng.permutation(node.value.size)] * rng.uniform(0.9, 1.1, node.value.size)
        for node in graph.nodes
        if node.kind == "input"
    }


def shaped(graph: Graph, edits: dict[int, Any]) -> dict[int, Any]:
    return {number: values.reshape(graph.nodes[number].shape) for number, values in edits.items()}


def assert_same(found: Any, want: Any, what: str) -> None:
    """To 1e-9, relative to the largest number."""
    want = np.asarray(want)
    assert tuple(found["shape"]) == want.shape, what
    got = np.array([float(v) for v in found["values"]]).reshape(want.shape)
    scale = max(1.0, float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want))))
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * scale, err_msg=what)


def assert_agrees(found: Any, want: Graph, before: Graph) -> None:
    assert [node.operation for node in want.nodes] == [node.operation for node in before.nodes]
    for node, values, cotangents in zip(want.nodes, found["values"], found["cotangents"], strict=True):
        several = isinstance(node.value, tuple)
        for i, value in enumerate(node.value if several else (node.value,)):
            assert_same(values[i], value, f"value of {node.operation}")
        for i, g in (node.cotangent or {}).items() if several else [(0, node.cotangent)]:
            if g is not None:
                assert_same(cotangents[i], g, f"gradient of {node.operation or node.kind}")
    for edge, contribution in zip(want.edges, found["contributions"], strict=True):
        if edge.raw is not None:
            operation = want.nodes[edge.target].operation
            assert_same(contribution["raw"], edge.raw, f"d {operation} / {edge.argument}, raw")
            assert_same(contribution["amount"], edge.contribution, f"d {operation} / {edge.argument}")


@functools.cache
def samples(count: int) -> dict[str, list[Case]]:
    """Return for each primitive about ``count`` of its small cases, from the whole of the table."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        if sum(a.size for a in case.arrays()) <= 100 and not case.primitive.startswith("special."):
            found.setdefault(case.primitive, []).append(case)
    return {primitive: cases[:: max(1, len(cases) // count)] for primitive, cases in found.items()}


@pytest.mark.sampled(26)
@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("operation", sorted(samples(4)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # edited leaves may leave the domain
def test_whatif_agrees_with_python(operation: str, count: int, js: Callable[..., Any]) -> None:
    graphs = {case.id: traced(case.f, *case.arrays()) for case in samples(count)[operation]}
    questions = [{"data": plain(page_data(g, False)), "edits": plain(edited(g))} for g in graphs.values()]
    answers = js(
        """(questions) => questions.map(({ data, edits }) => {
          const reason = whatIf.reason(data);
          return { reason, found: reason === null ? whatIf.run(data, edits) : null };
        })""",
        questions,
    )
    for (name, graph), answer in zip(graphs.items(), answers, strict=True):
        if answer["reason"] is None:
            assert_agrees(answer["found"], again(graph, shaped(graph, edited(graph))), graph)
        else:
            assert any(why in said(answer["reason"]) for why in WHY_NOT), (name, answer["reason"])
    assert operation not in KNOWN or any(answer["reason"] is None for answer in answers)


def test_the_list_of_known_operations(js: Callable[..., Any]) -> None:
    """These can be replayed. Any other that can be replayed is tested, too."""
    trees = _Trees()
    found = {name: trees.operation(p) for name, p in all_primitives().items()}
    functions = {*js("() => [...numpy.functions.keys()]"), *FORMS}

    def is_known(tree: Any, seen: set[str]) -> bool:
        """Return whether the page has all functions that a tree calls, and that its helpers call."""
        if isinstance(tree, dict):
            return all(is_known(one, seen) for one in tree.values())
        if not isinstance(tree, list) or tree[0] == "'":
            return True
        return has(tree[0], seen) and all(is_known(one, seen) for one in tree[1:])

    def has(name: str, seen: set[str]) -> bool:
        helper = trees.helpers.get(name)
        if name in seen or helper is None:
            return name in seen or name in functions
        return is_known(helper[2], seen | {name})

    known = [
        name
        for name, about in found.items()
        if about["forward"] and about["vjp"] and all(is_known(rule, set()) for rule in about["vjp"].values())
        if has(about["forward"], set())
    ]
    assert set(KNOWN) <= set(known)
    assert js("(names) => names.every((name) => numpy.functions.has(name))", [*page_functions().values()])
    assert len(page_functions()) > 10


def test_erf_is_accurate(js: Callable[..., Any]) -> None:
    x = np.linspace(-7, 7, 280)
    data = plain(page_data(traced(lambda x: mg.erf(x), x[:40]), False))
    found = js(
        "([data, xs]) => xs.map((x) => whatIf.run(data, { 0: x }).values[1][0].values)",
        [data, x.reshape(7, 40).tolist()],
    )
    np.testing.assert_allclose(np.ravel(found), [math.erf(v) for v in x], rtol=1e-14)


def test_without_edits_it_is_the_run_itself(js: Callable[..., Any]) -> None:
    graph = traced(lambda x, w: np.tanh(x @ w), np.ones((2, 3)) / 3, np.arange(6.0).reshape(3, 2) / 7)
    found = js("(data) => whatIf.run(data)", plain(page_data(graph, False)))
    assert_agrees(found, graph, graph)
    assert [c is not None for c in found["contributions"]] == [edge.raw is not None for edge in graph.edges]


def test_contributions_add_up(js: Callable[..., Any]) -> None:
    graph = traced(lambda x: x * x + np.sin(x), 0.7)
    found = js("(data) => whatIf.run(data, { 0: [1.3] })", plain(page_data(graph, False)))
    sums = [c["sum"]["values"][0] for edge, c in zip(graph.edges, found["contributions"]) if edge.source == 0]
    assert len(sums) == 3 and max(sums, key=abs) == found["cotangents"][0][0]["values"][0]


def test_a_mixed_network(js: Callable[..., Any]) -> None:
    """A small transformer block: everything that networks are made of, in one graph."""
    rng = np.random.default_rng(0)

    def block(x: Any, w: Any, gamma: Any, beta: Any, u: Any, b: Any) -> Any:
        y = mg.layer_norm(x + mg.scaled_dot_product_attention(x @ w, x, x, num_heads=2), gamma, beta)
        logits = mg.affine(mg.gelu(y), u, b)[:, ::-1]
        return mg.cross_entropy(logits, np.array([0, 2, 1])) + 0.1 * np.linalg.norm(w) ** 0.5

    shapes = [(3, 4), (4, 4), (4,), (4,), (4, 3), (3,)]
    arrays = [rng.standard_normal(shape) for shape in shapes]
    with mg.trace():
        loss = block(*oracle.inputs_of(arrays))
    loss.backward()
    graph = capture(loss)
    data = plain(page_data(graph, False))
    assert js("(data) => whatIf.reason(data)", data) is None
    found = js("([data, edits]) => whatIf.run(data, edits)", [data, plain(edited(graph))])
    assert_agrees(found, again(graph, shaped(graph, edited(graph))), graph)


def test_the_cotangent_that_the_run_began_with(js: Callable[..., Any]) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with mg.trace():
        y: Any = np.square(x)
    y.backward(np.array([0.5, -3.0]))
    data = plain(page_data(capture(y)))
    assert js("(data) => whatIf.run(data, { 0: [3, 1] }).cotangents[0][0].values", data) == [3.0, -6.0]


def test_single_precision_is_computed_in_double(js: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in [(4, 3), (3, 2), (2,)]]
    graph = traced(lambda x, w, b: mg.softmax(mg.affine(x, w, b)), *arrays)
    data = plain(page_data(graph, False))
    assert js("(data) => whatIf.reason(data)", data) is None
    found = js("(data) => whatIf.run(data)", data)
    for edge, contribution in zip(graph.edges, found["contributions"], strict=True):
        if edge.raw is not None:
            np.testing.assert_allclose(contribution["raw"]["values"], edge.raw.ravel(), rtol=1e-4, atol=1e-5)


# --- graphs that it refuses, and says why ---


def reason(graph: Graph, js: Callable[..., Any], language: str = "en") -> str:
    return said(js("(data) => whatIf.reason(data)", plain(page_data(graph, False))), language)


def said(reason: dict[str, Any], language: str = "en") -> str:
    """The sentence of the page for a reason of the engine's."""
    return str(json.loads(asset("play_words.json"))[language][reason["word"]].format(**reason["values"]))


def test_it_says_why_not(js: Callable[..., Any]) -> None:
    svd = traced(lambda x: np.linalg.svd(x, compute_uv=False), np.eye(2) + np.arange(4.0).reshape(2, 2))
    assert reason(svd, js) == "The page cannot compute the operation 'svd' itself."
    assert reason(svd, js, "ja") == "演算「svd」は、このページでは計算できません。"
    spectral = traced(lambda x: np.linalg.norm(x, ord=2), np.outer([1.0, 2.0], [3.0, 1.0]))
    assert reason(spectral, js) == "The page cannot compute 'norm' with ord itself."
    large = traced(np.tanh, np.ones((2000, 5)))
    assert reason(large, js) == "The values have 50002 numbers; up to 20000 can be moved."
    some = traced(lambda x: np.sum(x, where=np.array([True, False])), np.ones(2))
    assert reason(some, js) == "The page cannot compute 'sum' with where itself."
    with_complex = traced(lambda x: np.real(x * 1j), np.ones(2))
    assert reason(with_complex, js) == "The page cannot compute with the kind of numbers that '0+1j' gives."


def test_it_refuses_what_the_program_computes_otherwise(js: Callable[..., Any]) -> None:
    hidden = eval("lambda g: 2 * g")  # no source to read
    mine = primitive(lambda x, /: 2 * x, name="mine").vjp(x=hidden)
    assert reason(traced(mine, 0.5), js) == "The page cannot compute the operation 'mine' itself."
    x = Tensor(0.5, requires_grad=True, name="x")
    x.register_hook(lambda g: 2 * g)
    with mg.trace():
        y: Any = np.exp(np.sin(x))
        y.register_hook(lambda g: 3 * g)
        loss = y * 1.0
    loss.backward()
    assert "another result for 'exp'" in reason(capture(loss), js)


def test_a_rule_of_the_users_is_replayed(js: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that no script has heard of, whose rule has a helper, a branch and an assignment; also a replaced rule."""
    monkeypatch.setitem(primitives, "tanh", primitives["tanh"])  # puts it back
    swish = primitive(lambda x, /, beta=1.0: x / (1 + np.exp(-beta * x)), name="swish").vjp(x=swish_rule)
    doubled = primitive(lambda x, /: 2 * x, name="tanh").vjp(x=lambda g: 2 * g)  # a name of ours
    graph = traced(lambda x: swish(x, beta=1.5) * doubled(x) + swish(x), np.linspace(-1, 1, 5))
    data = plain(page_data(graph, False))
    assert js("(data) => whatIf.reason(data)", data) is None
    found = js("([data, edits]) => whatIf.run(data, edits)", [data, plain(edited(graph))])
    assert_agrees(found, again(graph, shaped(graph, edited(graph))), graph)
    sin = all_primitives()["sin"]
    with monkeypatch.context() as patch:
        patch.setitem(sin.rules, "x", lambda g, x: g * np.sin(x))
        sin._plans.clear()
        graph = traced(np.sin, 0.5)
        found = js("(data) => whatIf.run(data)", plain(page_data(graph, False)))
        assert_agrees(found, graph, graph)
    sin._plans.clear()  # which remember the rule


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def swish_rule(g: Any, x: Any, beta: float) -> Any:
    """``g (s + beta x s (1 - s))``, with ``s`` the logistic function of ``beta x``."""
    if beta == 1:
        s = logistic(x)
        return g * (s + x * s * (1 - s))
    s = logistic(beta * x)
    return g * (s + beta * x * s * (1 - s))


def test_it_refuses_a_leaf_that_was_written_to(js: Callable[..., Any]) -> None:
    x = Tensor([0.5, 1.0], requires_grad=True, name="x")
    with mg.trace():
        first = np.sum(x)
        x.data[0] = 4.0
        loss = first + np.sum(x)
    loss.backward()
    assert reason(capture(loss), js) == "'x' was changed in place between two operations."


def test_the_scripts_need_no_eval_and_leave_little_behind(js: Callable[..., Any]) -> None:
    text = "\n".join(map(asset, ENGINE))
    assert not re.search(r"\beval\b|new Function|import\(|innerHTML|document|window|fetch", text)
    declared = re.findall(r"^(?:const|let|var|function|class) (\w+)", text, re.MULTILINE)
    assert declared == ["nd", "numpy", "python", "whatIf"]
