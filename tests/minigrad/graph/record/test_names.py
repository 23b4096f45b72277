"""What nodes are called: as in the program. The oracle is Python: a label that is an expression has the value of its node."""

import ast
import itertools
import linecache
import re
from collections.abc import Sequence
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

HEAD = "import numpy as np\nimport minigrad as mg\nTensor = mg.Tensor\n"
numbers = itertools.count()


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


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


# --- the rules ---


def test_the_example_of_the_readme() -> None:
    program = "w, b, x = leaf(1.5), leaf(-0.5), leaf(0.8)\nh = np.tanh(w * x + b)\nloss = np.tanh(w * h + b) ** 2\n"
    assert called(program) == [
        *("w", "x", "w * x", "b", "w * x + b", "h"),
        *("w * h", "w * h + b", "np.tanh(w * h + b)", "loss"),
    ]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x = leaf(2.0)\nloss = 3 * x - 1", ["x", "3 * x", "loss"]),
        ("x = leaf(2.0)\nloss = (1 - x) / (2 ** x)", ["x", "1 - x", "2 ** x", "loss"]),
        ("x = leaf(2.0)\nu: object = -x\nloss = abs(u)", ["x", "u", "loss"]),
        ("x = leaf(2.0)\nloss = (u := x.exp()) * u", ["x", "u", "loss"]),
        ("x = leaf(2.0)\nu, v = x * 2, x * 3\nloss = u * v", ["x", "u", "v", "loss"]),
        ("x = leaf(2.0)\n(u, [v, w]) = x * 2, [x * 3, x * 4]\nloss = u * v * w", ["x", "u", "v", "w", "u * v", "loss"]),
        ("x = leaf(2.0)\nu = [x * 2, x * 3]\nloss = u[0] * u[1]", ["x", "u[0]", "u[1]", "loss"]),
        ("x = leaf([2.0, 3.0])\na, b = x\nloss = a * b", ["x", "a", "b", "loss"]),
        ("x = leaf([2.0, 3.0])\na, b = np.split(x, 2)\nloss = (a * b).sum()", ["x", "a, b", "a * b", "loss"]),
        ("x = leaf(2.0)\ny = x * 2 if True else x\nloss = y + 1", ["x", "y", "loss"]),
        ("x = leaf([2.0])\nt = np.ones(1)\nloss = ((x - t) ** 2).mean()", ["x", "t", "x - t", "(x - t) ** 2", "loss"]),
        ("x = leaf([2.0])\nloss = x.reshape(1, 1).T.sum()", ["x", "x.reshape(1, 1)", "x.reshape(1, 1).T", "loss"]),
        ("xs = [leaf(1.0), leaf(2.0)]\nloss = np.stack(xs).sum()", ["xs[0]", "xs[1]", "np.stack(xs)", "loss"]),
        ("x, y = leaf(1.0), leaf(2.0)\nloss = np.stack([x, y]).sum()", ["x", "y", "np.stack([x, y])", "loss"]),
        ("x = leaf([1.0])\nW = np.ones(1)\nloss = np.einsum('i,i->', x, W)", ["x", "W", "loss"]),
        ("x = leaf(1.0)\nloss = np.where(np.array(True), x, x * 2)", ["x", "x * 2", "np.array(True)", "loss"]),
        ("class A:\n    W = leaf(2.0)\nloss = A.W * 2", ["A.W", "loss"]),
        ("xs = {'a': leaf(2.0)}\nloss = xs['a'] * 2", ["xs['a']", "loss"]),
        ("x = leaf(1.0)\nloss = (x\n    * 2  # twice\n    + x)", ["x", "x * 2", "loss"]),
        ("x = leaf([1.0])\nloss = (x * 2\n   ).exp(\n   ).sum()", ["x", "x * 2", "(x * 2).exp()", "loss"]),
        ("é = leaf(1.0); 重み = leaf(2.0)\nloss = é * 重み + 重み * é * 2",
         ["é", "重み", "é * 重み", "重み * é", "重み * é * 2", "loss"]),
        ("x = leaf(2.0)\nloss = f'{x * 2}' and x * 3", ["x", "loss"]),
    ],
)  # fmt: skip
def test_expressions_and_targets(program: str, expected: list[str]) -> None:
    assert called(program) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("h = x = leaf(2.0)\nfor _ in range(3):\n    h = np.tanh(h)\nloss = h * 2", ["h", "h₂", "h₃", "h₄", "loss"]),
        ("x = leaf(2.0)\ns = x * 0\nfor i in (1, 2):\n    s += x * i\nloss = s * 2",
         ["x", "s", "x * i · i=1", "s · i=1", "x * i · i=2", "s · i=2", "loss"]),
        ("x = leaf(2.0)\nhs = [x * i for i in (1, 2)]\nloss = hs[0] * hs[1]",
         ["x", "x * i · i=1", "x * i · i=2", "loss"]),
        ("x = leaf(2.0)\nhs = []\nfor i in (1, 2):\n    hs.append(x.exp() * i)\nloss = hs[0] * hs[1]",
         ["x", "x.exp() · i=1", "x.exp() * i · i=1", "x.exp() · i=2", "x.exp() * i · i=2", "loss"]),
        ("xs = [leaf(1.0), leaf(2.0)]\nu = [x * 2 for x in xs]\nloss = u[0] + u[1]",
         ["x₁", "(x * 2)₁", "x₂", "(x * 2)₂", "loss"]),
        ("x = leaf([1.0, 2.0])\ns = 0\nfor row in x:\n    s = s + row\nloss = s * 2",
         ["x", "row₁", "s₁", "row₂", "s₂", "loss"]),
        ("x = leaf([1.0, 2.0])\nloss = sum(x) * 2", ["x", "x[0]", "Σ sum(x)", "x[1]", "sum(x)", "loss"]),
        ("x, y = leaf(1.0), leaf(2.0)\nloss = sum([x, y]) * 2", ["x", "Σ sum([x, y])", "y", "sum([x, y])", "loss"]),
        ("x = leaf(2.0)\nh = np.tanh(x)\nh = np.exp(h)\nloss = h * h", ["x", "h₁", "h₂", "loss"]),
        ("x = leaf(2.0)\nx = x * 3\nloss = x * x", ["x", "x₂", "loss"]),
        ("x = leaf(2.0)\nloss = x * 1\nfor _ in range(2):\n    loss = loss * x", ["x", "loss₁", "loss₂", "loss"]),
        ("x = leaf(2.0)\nhs = {}\nfor i in (1, 2):\n    hs[i] = x * i\nloss = hs[1] * hs[2]",
         ["x", "hs[1]", "hs[2]", "loss"]),
    ],
)  # fmt: skip
def test_what_is_computed_several_times_is_a_round_or_a_version(program: str, expected: list[str]) -> None:
    assert called(program) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(t):\n    u = t * t\n    return u + 1\nx = leaf(2.0)\nloss = f(f(x))",
         ["x", "u₁", "u + 1", "u₂", "loss"]),
        ("def f(t, n):\n    return t if n == 0 else f(t * 2, n - 1)\nx = leaf(2.0)\nloss = f(x, 2)",
         ["x", "t * 2", "loss"]),
        ("def neuron(x, w, *, b):\n    return np.tanh(w * x + b)\nx, w1, w2, b1 = leaf(1.0), leaf(2.0), leaf(3.0), leaf(4.0)\n"
         "h = neuron(x, w1, b=b1)\nloss = neuron(h, w2, b=b1) * 1",
         ["w1", "x", "(w * x)₁", "b1", "(w * x + b)₁", "h", "w2", "(w * x)₂", "(w * x + b)₂", "np.tanh(w * x + b)",
          "loss"]),
        ("def f(t):\n    return t.exp()\nx = leaf(2.0)\nhs = list(map(f, [x]))\nloss = hs[0] * 3", ["t", "t.exp()", "loss"]),
        ("def f(t):\n    t = t * 2\n    return t.exp()\nx = leaf(2.0)\ny = f(x)\nloss = y * 3", ["t", "t₂", "y", "loss"]),
        ("def f(t):\n    return g(t)\ndef g(u):\n    return u.exp()\nx = leaf(2.0)\ny = f(x)\nloss = y * 3",
         ["x", "y", "loss"]),
        ("class M(nn.Module):\n    def forward(self, t):\n        return t * t\nm, x = M(), leaf(2.0)\ny = m(x)\nloss = y * 3",
         ["x", "y", "loss"]),
        ("import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a) * 2\n    return g\n"
         "@twice\ndef f(t):\n    return t.exp()\nx = leaf(2.0)\nloss = f(x)", ["t", "t.exp()", "loss"]),
        ("f = lambda t: t * 2\nx = leaf(2.0)\nloss = f(x) * f(x)", ["x", "(t * 2)₁", "(t * 2)₂", "loss"]),
        ("class N:\n    def __init__(self):\n        self.w = leaf(2.0)\n    def run(self, x):\n        self.h = self.w * x\n"
         "        return self.h * 3\nn = N()\nloss = n.run(5.0)", ["self.w", "self.h", "loss"]),
        ("def g():\n    for i in (1.0, 2.0):\n        yield x * i\nx = leaf(2.0)\nloss = 0\nfor v in g():\n    loss += v * v",
         ["x", "x * i · i=1.0", "(v * v)₁", "loss₁", "x * i · i=2.0", "(v * v)₂", "loss"]),
    ],
)  # fmt: skip
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


def test_without_the_text_there_are_the_operations_and_their_numbers() -> None:
    x = leaf(2.0)
    space: dict[str, Any] = {"x": x, "np": np, "__name__": "a_program"}
    with mg.trace():
        exec("y = np.exp(x * 2)\nloss = y * y", space)
    assert [n.label for n in draw_dot(space["loss"]).nodes] == ["input 0", "2", "multiply 2", "exp 3", "loss"]
    untraced = x * 2
    assert [n.label for n in draw_dot([untraced * x, untraced]).nodes] == ["input 0", "multiply 1", "loss"]


@pytest.mark.parametrize("text", ["x = (\n", "\0", "(" * 5000, "-" * 5000 + "1", "1" + "+1" * 20000, "%magic\n", ""])
def test_a_text_that_cannot_be_read_gives_no_names(text: str) -> None:
    space = run("x = leaf(2.0)\ny = x * 2\nloss = y * y")
    graph = draw_dot(space["loss"])
    for note in notes(space["loss"]):
        note.program = [*HEAD.splitlines(), "x = leaf(2.0)", "y = x * 2", "loss = y * y", *text.split("\n")]
    labels = [node.label for node in draw_dot(space["loss"]).nodes]
    assert labels in ([n.label for n in graph.nodes], ["input 0", "2", "multiply 2", "loss"])


def test_a_file_that_has_changed_gives_no_wrong_names() -> None:
    space = run("x = leaf(2.0)\ny = x * 2\nloss = y * y")
    for note in notes(space["loss"]):
        note.program = [*HEAD.splitlines(), "x = leaf(2.0)", "z = x * 3", "loss = z + z"]
    assert [node.label for node in draw_dot(space["loss"]).nodes] == ["input 0", "2", "multiply 2", "loss"]


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


def test_ten_thousand_operations_read_the_program_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"v{i} = v{i - 1} * 0.5 + v0" for i in range(1, 2001)]
    space = run("\n".join(["v0 = leaf(1.0)", *lines, "loss = v2000 * 1"]))
    parsed: list[str] = []
    parse = ast.parse

    def parse_and_count(text: str) -> ast.Module:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(ast, "parse", parse_and_count)
    graph = draw_dot(space["loss"])
    check(graph)
    assert len(parsed) == 1
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
