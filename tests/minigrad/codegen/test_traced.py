"""A traced run, written out: each line has the numbers of its steps, and the text gives the gradients of the trace."""

import ast
import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Function
from minigrad._tree import map_leaves
from minigrad.codegen.traced import Step, written_trace
from minigrad.engine.tape import sweep
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph
from tests.leaves import leaf
from tests.minigrad.codegen import ordinary_programs
from tests.minigrad.codegen.test_slide import network

PROGRAMS = ordinary_programs.PROGRAMS
SAMPLE = [*PROGRAMS][::6]


def swept(compute: Callable[[], Any]) -> Graph:
    with mg.trace():
        loss = compute()
    sweep({loss._node: np.ones_like(loss._array)}, retain_graph=True)
    return capture(loss)


def tensors(arguments: Any) -> list[Any]:
    def tracked(array: Any) -> Any:
        return leaf(array) if isinstance(array, float) or getattr(array, "dtype", np.dtype(bool)).kind == "f" else array

    return [map_leaves(tracked, argument) for argument in arguments]


def slide() -> Graph:
    random = np.random.default_rng(0)
    x, y, *parameters = [random.normal(size=s) for s in [(16, 3), (16, 1), (3, 8), (8,), (8, 1), (1,)]]
    return swept(lambda: network(x, y, *map(leaf, parameters)))


def label(graph: Graph, step: Step) -> str:
    kind, number = step
    if kind == "forward":
        return graph.nodes[number].label
    edge = graph.edges[number]
    return f"{kind} {graph.nodes[edge.target].label} -> {graph.nodes[edge.source].label}"


def test_the_lines_of_the_slide_name_their_steps() -> None:
    graph = slide()
    _, lines, elsewhere = written_trace(graph)
    found = {text.strip(): list(dict.fromkeys(label(graph, step) for step in steps)) for text, steps in lines if steps}
    assert found == {
        "h = np.tanh(x @ W1 + b1)": ["h", "x @ W1 + b1", "x @ W1"],
        "p = h @ W2 + b2": ["p", "h @ W2"],
        "error = p - y": ["error"],
        "loss = np.mean(error ** 2)": ["loss", "error ** 2"],
        "derror = 0.0625 * (2 * error)": ["product error ** 2 -> error"],
        "db2 = derror.sum(axis=0)": ["sum p -> b2"],
        "dh = derror @ W2.T": ["product h @ W2 -> h"],
        "dW2 = h.T @ derror": ["product h @ W2 -> W2"],
        "dz = dh * (1 - h * h)": ["product h -> x @ W1 + b1"],
        "db1 = dz.sum(axis=0)": ["sum x @ W1 + b1 -> b1"],
        "dW1 = x.T @ dz": ["product x @ W1 -> W1"],
    }
    where = {label(graph, step): lines[line][0].strip() for step, line in elsewhere.items()}
    assert where["product loss -> error ** 2"] == "derror = 0.0625 * (2 * error)"
    assert where["product p -> b2"] == where["product p -> h @ W2"] == "derror = 0.0625 * (2 * error)"


def test_an_element_has_the_name_that_the_program_gives_it() -> None:
    def elements(x: Any) -> Any:
        y = x * x
        first = y[0]
        return np.sum(np.sin(first) * first) + np.sum(np.sin(y[1]) * y[1])

    _, lines, _ = written_trace(swept(lambda: elements(leaf(np.ones((2, 3))))))
    found = [text.strip() for text, _ in lines]
    assert "first = y[0]" in found
    assert "part = y[1]" in found  # y[1] is no name


def ran(source: str, arguments: list[Any]) -> Iterator[tuple[int, str, Any]]:
    """Run the function of a text. Yield the number of the last line of each assignment, its name, and what it assigns."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    (function,) = [s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef) and s.name == "step"]
    namespace |= dict(zip([argument.arg for argument in function.args.args], arguments))
    for statement in function.body[:-1]:
        exec(compile(ast.Module([statement], []), "step", "exec"), namespace)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and not isinstance(statement, ast.For):
            yield (statement.end_lineno or 0) - function.lineno, target.id, np.copy(namespace[target.id])


def numbers_of(graph: Graph, step: Step) -> list[Any]:
    """The numbers that a step computes: a value; or a contribution, before and after it fits, and sums that it is part of."""
    kind, number = step
    if kind == "forward":
        return [graph.nodes[number].value]
    edge = graph.edges[number]
    into = [e for e in graph.contributions if (e.source, e.output) == (edge.source, edge.output)]
    at = next(i for i, each in enumerate(into) if each is edge)
    sums = [sum(each.contribution for each in into[: end + 1]) for end in range(at, len(into))]
    return [edge.raw, edge.contribution, *sums]


def alike(a: Any, b: Any) -> bool:
    """Whether an array has the numbers of another, which may be broadcast: a text leaves that to the line that reads it."""
    a, b = np.ravel(a), np.ravel(b)
    return a.size > 0 and b.size % a.size == 0 and np.allclose(np.resize(a, b.size), b, rtol=1e-4, atol=1e-9)


def share(name: str) -> tuple[int, int]:
    """Return how many of a program's steps have a line that assigns their numbers, and how many have a line at all."""
    program = PROGRAMS[name]
    graph = swept(lambda: program.function(*tensors(program.examples(0))))
    written, lines, elsewhere = written_trace(graph)
    backward = [text.strip() for text, _ in lines].index("# backward")
    places = [(step, i) for i, (_, steps) in enumerate(lines) for step in steps] + [*elsewhere.items()]
    assert all((kind == "forward") == (i < backward) for (kind, _), i in places)
    assigned = {i: value for i, _, value in ran(written.source, [np.array(a) for a in written._arguments.examples])}
    found = {step: False for step, i in places if step not in elsewhere and i in assigned and step[0] != "forward"}
    for step, i in places:
        if step in found and i in assigned:
            found[step] |= any(alike(assigned[i], each) for each in numbers_of(graph, step))
    return sum(found.values()), len(found)


@pytest.mark.parametrize("names", [SAMPLE, pytest.param([*PROGRAMS], marks=pytest.mark.thorough)], ids=["some", "all"])
@np.errstate(all="ignore")
def test_the_lines_of_a_step_compute_its_numbers(names: list[str]) -> None:
    """A few steps have lines with other numbers, where a sign or a factor stands in a later line."""
    right, lines = np.sum([share(name) for name in names], axis=0)
    assert lines > 20 * len(names) and right > 0.75 * lines


def test_a_line_of_a_loop_has_the_steps_of_every_turn() -> None:
    w, state = leaf(np.eye(2) / 2), np.ones(2)

    def recurrent() -> Any:
        h = state
        for _ in range(6):
            h = np.tanh(h @ w)
        return (h * h).sum()

    graph = swept(recurrent)
    _, lines, _ = written_trace(graph)
    texts = [text for text, _ in lines]
    assert any(text.strip().startswith("for ") for text in texts)
    found = [{number for kind, number in steps if kind == "forward"} for text, steps in lines if "np.tanh(" in text]
    tanhs = {node.id for node in graph.operations if node.operation == "tanh"}
    assert len(tanhs) == 6 and set().union(*found) >= tanhs and max(len(each & tanhs) for each in found) >= 5


def test_a_modules_parameters_are_a_dict_and_a_function_of_the_users_is_written() -> None:
    class Cube(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    weight = leaf(2.0)
    with mg.trace():
        loss = Cube.apply(weight) * 2.0
    loss.backward()
    program, lines, _ = written_trace(capture(loss, {"layers.0.weight": weight}))
    assert lines[0][0] == "def step(params):"
    assert program({"layers.0.weight": np.array(3.0)}) == (54.0, {"layers.0.weight": 54.0})


def hooked() -> Any:
    h = leaf([1.0, 2.0]) * 2.0
    h.register_hook(lambda g: g * 10)
    return (h * h).sum()


SHIFT = np.array([3.0, 4.0])


def changed_in_place() -> Any:
    first = leaf([1.0, 2.0]) + SHIFT
    np.add(SHIFT, 1.0, out=SHIFT)
    return (first + SHIFT).sum()


def on_arrays_only() -> Any:
    double = mg.primitive(lambda x, /: np.array([2 * float(v) for v in x]), name="double")
    return double.vjp(x=lambda g: 2 * g)(leaf([1.0, 2.0])).sum()


def by_the_class_of_the_array() -> Any:
    double = mg.primitive(lambda x, /: x * {np.ndarray: 2.0}[type(x)], name="double")
    return double.vjp(x=lambda g: 2 * g)(leaf([1.0, 2.0])).sum()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (by_the_class_of_the_array, "its operations cannot run a second time .KeyError"),
        (hooked, "a hook changes its gradients"),
        (changed_in_place, "an array was changed in place"),
        (on_arrays_only, "float"),
        (lambda: leaf([1.0, 2.0]) * 2.0, "is not one number"),
    ],
)
def test_what_cannot_be_written_is_refused_with_the_reason(program: Callable[[], Any], reason: str) -> None:
    graph = swept(program)
    with pytest.raises(mg.UnsupportedError, match=reason):
        written_trace(graph)


def test_a_program_can_be_written_inside_a_trace() -> None:
    with mg.trace():
        program = mg.write_numpy(lambda x: np.sum(np.sin(x)), np.zeros(3))
        y = leaf(1.0) * 2.0
    assert "dx = np.cos(x)" in program.source
    assert [node.operation for node in capture(y).operations] == ["multiply"]


def test_a_notebook_shows_the_highlighted_text() -> None:
    hostile = "</pre><script>alert('&')</script>"
    program = mg.write_numpy(lambda p: np.sum(p[hostile] * 2), {hostile: np.ones(2)})  # </script> & "quotes"
    found = program._repr_html_()
    assert "<script" not in found and "</script>" not in found and found.count("<pre>") == found.count("</pre>") == 1
    assert '<span style="font-weight: bold">def</span> step(' in found

    assert html.unescape(re.sub(r"</?(span|pre)[^>]*>", "", found)) == str(program)
