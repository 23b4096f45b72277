"""What nodes are called: as in the program. The oracle is Python: a label that is an expression has the value of its node."""

import ast
import itertools
import linecache
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import minigrad as mg
import nn
from minigrad import Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph.record.model import Graph
from minigrad.graph.record.names import shortened
from minigrad.graph.record.trace import TraceNote, note_of
from tests.leaves import leaf

HEAD = "import numpy as np\nimport minigrad as mg\nTensor = mg.Tensor\n"
numbers = itertools.count()


def run(program: str, **given: Any) -> dict[str, Any]:
    """The variables of a program that has run in a trace, with its text at hand, as a notebook's cells have theirs."""
    file = f"<cell {next(numbers)}>"
    text = HEAD + program
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "a_program", "leaf": leaf, "nn": nn, **given}
    with mg.trace():
        exec(compile(text, file, "exec"), space)
    return space


def notes(loss: Tensor) -> list[TraceNote]:
    return [note for entry in mg.tape(loss) if (note := note_of(entry)) is not None]


def called(program: str, **given: Any) -> list[str]:
    """The labels of the graph of its ``loss``, without numbers."""
    graph = draw_dot(run(program, **given)["loss"])
    check(graph)
    return [node.label for node in graph.nodes if node.kind != "constant" or not node.details]


def check(graph: Graph) -> None:
    """Nothing is without a label, and no two nodes of different values have the same."""
    labels = [node.label for node in graph.nodes if not (node.kind == "constant" and node.shape == ())]
    assert all(labels) and len(set(labels)) == len(labels)


def labelled(kind: str) -> list[tuple[str, list[str]]]:
    """The programs of a kind in ``names.toml``, and the labels of each."""
    table = tomllib.loads((Path(__file__).parent / "names.toml").read_text(encoding="utf-8"))
    return [(each["program"], each["labels"]) for each in table[kind]]


# --- the rules ---


def test_the_example_of_the_readme() -> None:
    program = "w, b, x = leaf(1.5), leaf(-0.5), leaf(0.8)\nh = np.tanh(w * x + b)\nloss = np.tanh(w * h + b) ** 2\n"
    assert called(program) == [
        *("w", "x", "w * x", "b", "w * x + b", "h"),
        *("w * h", "w * h + b", "np.tanh(w * h + b)", "loss"),
    ]


@pytest.mark.parametrize(("program", "expected"), labelled("expressions"))
def test_expressions_and_targets(program: str, expected: list[str]) -> None:
    assert called(program) == expected


@pytest.mark.parametrize(("program", "expected"), labelled("rounds"))
def test_what_is_computed_several_times_is_a_round_or_a_version(program: str, expected: list[str]) -> None:
    assert called(program) == expected


@pytest.mark.parametrize(("program", "expected"), labelled("functions"))
def test_functions(program: str, expected: list[str]) -> None:
    assert called(program) == expected


def test_names_of_the_users_own_come_first_and_stay_as_they_are() -> None:
    hostile = "w\n</b>\x1b[31m * x"
    space = run("x, y = leaf(1.0, 'x'), leaf(2.0, name)\nw = x * y\nloss = w * x", name=hostile)
    assert [n.label for n in draw_dot(space["loss"]).nodes] == ["x", hostile, "w", "loss"]
    space["loss"].name = "error"
    named = draw_dot(space["loss"], {"X": space["x"], "product": space["w"]})
    assert [n.label for n in named.nodes] == ["X", hostile, "product", "error"]


def test_two_of_the_same_name_are_told_apart() -> None:
    space = run("a, b, c = leaf(1.0, 'x'), leaf(2.0, 'x'), leaf(3.0)\nx = a * b\nloss = x * c")
    assert [n.label for n in draw_dot(space["loss"]).nodes] == ["x", "x₂", "x₃", "c", "loss"]


def test_the_stem_of_a_label_is_what_several_nodes_share_and_a_name_of_the_users_own_is_whole() -> None:
    space = run(
        "x = leaf(1.0, 'x₁ · a')\nh = x\nfor t in range(2):\n    h = h * t\n    k = h + 1\n    h = k * h\nloss = h * 1"
    )
    nodes = draw_dot(space["loss"]).nodes
    apart = [(n.label, n.stem) for n in nodes if n.stem != n.label]
    assert apart == [(f"{name} · t={t}", name[0]) for t in range(2) for name in ("h₁", "k", "h₂")]
    assert nodes[0].label == nodes[0].stem == "x₁ · a"


def test_without_the_text_there_are_the_operations_and_their_numbers() -> None:
    x = leaf(2.0)
    space: dict[str, Any] = {"x": x, "np": np, "__name__": "a_program"}
    with mg.trace():
        exec("y = np.exp(x * 2)\nloss = y * y", space)
    assert [n.label for n in draw_dot(space["loss"]).nodes] == ["input ()", "2", "multiply 2", "exp 3", "loss"]
    untraced = x * 2
    assert [n.label for n in draw_dot([untraced * x, untraced]).nodes] == ["input ()", "multiply 1", "loss"]


@pytest.mark.parametrize("text", ["x = (\n", "\0", "(" * 5000, "-" * 5000 + "1", "1" + "+1" * 20000, "%magic\n", ""])
def test_a_text_that_cannot_be_read_gives_no_names(text: str) -> None:
    space = run("x = leaf(2.0)\ny = x * 2\nloss = y * y")
    graph = draw_dot(space["loss"])
    for note in notes(space["loss"]):
        note.program = [*HEAD.splitlines(), "x = leaf(2.0)", "y = x * 2", "loss = y * y", *text.split("\n")]
    labels = [node.label for node in draw_dot(space["loss"]).nodes]
    assert labels in ([n.label for n in graph.nodes], ["input ()", "2", "multiply 2", "loss"])


def test_a_file_that_has_changed_gives_no_wrong_names() -> None:
    space = run("x = leaf(2.0)\ny = x * 2\nloss = y * y")
    for note in notes(space["loss"]):
        note.program = [*HEAD.splitlines(), "x = leaf(2.0)", "z = x * 3", "loss = z + z"]
    assert [node.label for node in draw_dot(space["loss"]).nodes] == ["input ()", "2", "multiply 2", "loss"]


def test_labels_are_whole_up_to_400_characters() -> None:
    labels = called("x = leaf(2.0)\nloss = (x * 2 + x * 3 + x * 4 + x * 5 + x * 6) * 2")
    assert labels[-2] == "x * 2 + x * 3 + x * 4 + x * 5 + x * 6"
    labels = called(f"x = leaf(2.0)\nloss = ({' + '.join(['x' * 1] * 60)}) * 2")
    assert len(shortened("x" * 500, 400)) == 400 and max(map(len, labels)) <= 400


# --- modules ---


class Square(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * x


def test_the_same_attribute_of_two_modules_has_their_paths() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            self.W = nn.Parameter(np.ones((2, 2)))

        def forward(self, x: Any) -> Any:
            return x @ self.W

    class Both(nn.Module):
        def __init__(self) -> None:
            self.layers = [Own(), Own()]

        def forward(self, x: Any) -> Any:
            return self.layers[1](self.layers[0](x))

    model = Both()
    with mg.trace():
        loss = model(np.ones((1, 2))).sum()
    labels = [node.label for node in mg.draw_dot(loss).nodes if node.kind == "parameter"]
    assert labels == ["layers.0.W", "layers.1.W"]


def test_modules_of_the_library_have_their_paths() -> None:
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Affine(2, 3, rng=rng), Square(), nn.Affine(3, 3, rng=rng))
    labels = called("data = np.ones((1, 2))\nout = model(data)\nloss = out.sum()", model=model)
    assert labels == [
        *("data", "layers.0.weight", "layers.0.bias", "layers.0.affine", "x * x"),
        *("layers.2.weight", "layers.2.bias", "out", "loss"),
    ]


def test_the_same_module_again() -> None:
    model = nn.Sequential(nn.Affine(2, 2, rng=np.random.default_rng(0)), Square())
    labels = called("h = np.ones((1, 2))\nfor _ in range(2):\n    h = model(h) * 1\nloss = h.sum()", model=model)
    assert [label for label in labels if "affine" in label or label.startswith("h")] == [
        *("h", "layers.0.affine₁", "h₂", "layers.0.affine₂", "h₃"),
    ]


def test_one_expression_of_several_operations() -> None:
    x = leaf(np.ones(3))
    with mg.trace():
        with scope(object(), "blocks.1.attention"):
            y = np.exp(x) * 2
        loss = y.sum()
    assert [n.label for n in draw_dot(loss).nodes] == ["x", "np.exp(x)", "2", "y", "loss"]


def test_the_operations_of_a_backward_pass_are_not_called_as_the_call_of_it() -> None:
    space = run("x = leaf(2.0)\ny = x ** 3\ny.backward(create_graph=True)\nloss = x.grad * 1")
    labels = [node.label for node in draw_dot([space["y"], space["loss"]]).nodes if node.lane]
    assert labels == ["∂y: power", "∂y: multiply₁", "∂y: multiply₂", "backward: positive", "loss"]


def test_an_operation_of_a_backward_pass_is_named_after_whose_rule_it_is() -> None:
    space = run(
        "x = leaf(2.0)\ny = x ** 3 * x\n(slope,) = mg.autograd_grad(y, [x], create_graph=True)\nloss = slope * slope"
    )
    labels = {node.label: node.value for node in draw_dot(space["loss"]).nodes if node.operation}
    assert labels["∂(x ** 3): power"] == 4.0 and labels["∂(x ** 3): multiply₁"] == 12.0
    assert labels["slope"] == 32.0 and sum("slope" in label for label in labels) == 1


def test_a_rule_of_a_rule_has_a_sign_for_each() -> None:
    program = "x = leaf(2.0)\ny = x ** 3\n(a,) = mg.autograd_grad(y, [x], create_graph=True)\n"
    space = run(program + "(b,) = mg.autograd_grad(a, [x], create_graph=True)")
    labels = [node.label for node in draw_dot([space["y"], space["a"], space["b"]]).nodes]
    assert {"∂y: power", "a", "∂∂y: power"} <= set(labels)


# --- any program ---

LEAVES = ["a", "b", "c"]
UNARY = ["np.tanh({})", "-{}", "{}.exp()", "np.sin({})", "abs({})", "({} * 0.5)", "f({})"]
BINARY = [
    "{} * {}",
    "({} + {})",
    "{} - ({})",
    "np.maximum({}, {})",
    "(2 * {} - {})",
    "{} / (3 + {} ** 2)",
    "g({}, y={})",
]


@st.composite
def expressions(draw: st.DrawFn, names: Sequence[str], depth: int = 3) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(names))
    form = draw(st.sampled_from(UNARY + BINARY))
    operands = [f"({draw(expressions(names, depth - 1))})" for _ in range(form.count("{}"))]
    return form.format(*operands)


@st.composite
def programs(draw: st.DrawFn) -> str:
    names, lines = list(LEAVES), []
    for i in range(draw(st.integers(1, 5))):
        value = draw(expressions(names))
        form = draw(st.sampled_from(["{0} = {1}", "{0}: object = ({1}\n)", "{0} = w{2} = {1}", "{0}, _ = {1}, 1"]))
        lines.append(form.format(f"v{i}", value, i))
        names.append(f"v{i}")
    return "\n".join([*lines, f"loss = {' + '.join(names)}"])


@settings(max_examples=150, deadline=None)
@given(programs())
def test_a_label_that_is_an_expression_has_the_value_of_its_node(program: str) -> None:
    functions = "def f(t):\n    return t\ndef g(x, y):\n    return x\n"
    space = run(functions + "a, b, c = leaf(0.3), leaf(-0.7), leaf(1.1)\n" + program)
    graph = draw_dot(space["loss"])
    check(graph)
    evaluated = 0
    for node in graph.nodes:
        if "…" in node.label or re.search(r"[₀-₉]$", node.label):
            continue
        ast.parse(node.label)
        value = eval(node.label, space)
        np.testing.assert_allclose(value.data if isinstance(value, Tensor) else value, node.value)
        evaluated += 1
    assert evaluated


@pytest.mark.thorough
def test_ten_thousand_operations_read_the_program_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"v{i} = v{i - 1} * 0.5 + v0" for i in range(1, 2001)]
    text = "\n".join(["v0 = leaf(1.0)", *lines, "loss = v2000 * 1"])
    parsed: list[str] = []
    parse = ast.parse

    def parse_and_count(text: str, *more: Any, **settings: Any) -> Any:
        parsed.append(text)
        return parse(text, *more, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", parse_and_count)
        graph = draw_dot(run(text)["loss"])
    check(graph)
    assert len([each for each in parsed if text in each]) == 1
    assert [n.label for n in graph.nodes if n.operation][-3:] == ["v1999 * 0.5", "v2000", "loss"]


def test_a_sum_of_a_thousand_terms_is_not_written_out_a_thousand_times(monkeypatch: pytest.MonkeyPatch) -> None:
    space = run("x = leaf(1.0)\nloss = 1 * (" + " + ".join(["x"] * 600) + ")")
    sizes: list[int] = []
    unparse = ast.unparse

    def unparse_and_count(node: ast.AST) -> str:
        sizes.append(sum(1 for _ in ast.walk(node)))
        return unparse(node)

    monkeypatch.setattr(ast, "unparse", unparse_and_count)
    check(draw_dot(space["loss"]))
    assert max(sizes) < 300


OBJECTS = """
class Act:
    def __call__(self, z):
        return np.tanh(z)
class Net:
    def __init__(self):
        self.first, self.second = Act(), Act()
    def __call__(self, x):
        u = self.first(x * w)
        u = self.second(u * w)
        return u + 0.0
w, acts = leaf(0.5, "w"), [Act(), Act()]
h = acts[0](w * 3.0)
h = acts[1](h * w)
a, b = Net(), Net()
p, q = a(h), b(h)
for act in acts:
    r = act(p * q)
    p = p + r
loss = p * q
"""


def test_a_label_names_no_object_whose_variable_it_is_not() -> None:
    """``h`` and ``r`` are variables of the program, and ``u`` is one of Net. None is one of Act, which computes them all."""
    graph = draw_dot(run(OBJECTS)["loss"])
    tanh = [node.label for node in graph.nodes if node.operation == "tanh"]
    assert tanh == ["h₁", "h₂", "u₁ · Net 1", "u₂ · Net 1", "u₁ · Net 2", "u₂ · Net 2", "r · Act 1", "r · Act 2"]


def test_what_the_program_reads_where_it_computes_it_is_inline() -> None:
    x = mg.Tensor([1.0, 2.0], requires_grad=True)
    with mg.trace():
        u = x * np.array([3.0, 4.0])
        loss = (u[0] + 1) ** 2
    graph = draw_dot(loss)
    said = {node.label: node.inline for node in graph.operations}
    assert said == {"u": False, "u[0]": True, "u[0] + 1": True, "loss": False}
    assert [node.label for node in graph.nodes if node.expression and not node.numeral] == [
        "np.array([3.0, 4.0])",
        "u[0] + 1",
    ]
    assert [node.label for node in graph.nodes if node.numeral] == ["1", "2"]
