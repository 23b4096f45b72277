"""The text of a run that a trace has recorded: its operations run again, on paper, with the operands that the trace noted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any
from unicodedata import normalize

import numpy as np

from .._source import SourceLine
from .._tree import leaves
from ..engine.observers import attach, reference_mode
from ..engine.tape import entry_of
from ..engine.types import Node
from ..errors import MinigradError, UnsupportedError
from ..graph.record.model import Graph
from .lines import TextLine
from .paper import Paper, recorded
from .program import RESERVED, Arguments, WrittenProgram, new_name
from .record import Recording, Statement, Value, assigned_at, live
from .simplify import Became
from .witness import right
from .writing import written_lines

# "forward" and the id of a node; "product" or "sum" and the index of an edge: the rule for an operand, or the addition of its
# result to the operand's gradient
Step = tuple[str, int]


@np.errstate(all="ignore")
def written_trace(graph: Graph) -> tuple[WrittenProgram, list[tuple[str, list[Step]]], dict[Step, int]]:
    """Write the operations of a graph, which has the values of a trace and of a sweep, and their gradients as a program.

    Returns:
        The program, the lines of its function with the steps that each runs, and for each step that runs in no line the line
        that has its value.

    Raises:
        UnsupportedError: the operations cannot run again, or they give other numbers than the trace has.
    """
    again, (end, _) = _SecondRun(graph, Recording(Paper)), graph.ends[0]
    label, expected = graph.nodes[end].label, [graph.nodes[end].value]
    if np.shape(expected[0]) or not np.array_equal(graph.nodes[end].cotangent, 1):
        raise UnsupportedError(f"{label} is not one number whose gradient is 1")
    became = Became({}, {})
    try:
        arguments = Arguments(again, again.examples, whole_dicts=True)
        with reference_mode():
            recording = recorded(again, arguments, again.chosen, again.recording)
        again.finish(None)
        program, lines = written_lines(again, [arguments], [recording], again.chosen, None, became)
        found = leaves(program(*arguments.examples))
    except MinigradError:
        raise
    except Exception as error:  # of an operation of the user's, which works on arrays but not on paper
        raise UnsupportedError(f"its operations cannot run a second time ({type(error).__name__}: {error})") from error
    expected += [node.cotangent for node in again.order if node.kind != "constant"]
    found = [each for each, other in zip(found, expected, strict=True) if other is not None]
    if not right(found, [each for each in expected if each is not None], (), ()):
        raise UnsupportedError(
            "a hook changes its gradients, an array was changed in place, or it draws random numbers"
        )
    again.steps = {became.copies.get(statement, statement): steps for statement, steps in again.steps.items()}
    numbered = [(line.text, [step for s in line.statements for step in again.steps.get(s, ())]) for line in lines]
    return program, numbered, _elsewhere(again, lines, became)


def _elsewhere(again: _SecondRun, lines: Sequence[TextLine], became: Became) -> dict[Step, int]:
    """Return the line that computes the value of each step without a line, or else the first line that reads the value."""

    def copy_of(each: Any) -> Any:
        return became.copies.get(each, each)

    readers = {copy_of(value): copy_of(s) for s in reversed(again.statements) for value in s.values}
    line_with = {s: i for i in reversed(range(len(lines))) for s in lines[i].statements}
    found: dict[Step, int] = {}
    with_a_line = {step for s in line_with for step in again.steps.get(s, ())}
    for step, computed in again.value_of.items():
        value: Value | None = None if step in with_a_line else copy_of(computed)
        while value is not None and step not in found:
            now, reader = became.final(value), readers.get(value)
            for statement in (readers.get(now), reader, now.statement):
                if statement in line_with and statement.backward == (step[0] != "forward"):
                    found[step] = line_with[statement]
            value = reader.outputs[0] if reader is not None and reader.outputs else None
    return found


class _SecondRun:
    """A function that runs the operations of a graph again. As a note on their entries, it learns the steps of statements.

    Attributes:
        order: the nodes of its arguments. Parameters whose names are no identifiers are in a dict, the last argument.
        steps: the steps that each statement is part of.
        value_of: the value that each step computes.
    """

    def __init__(self, graph: Graph, recording: Recording) -> None:
        self.__name__, self.graph, self.recording = "a traced run", graph, recording
        self.statements = recording.statements  # all of them: the recording keeps those that matter
        given = [n for n in graph.nodes if n.operation is None and (n.kind != "constant" or np.ndim(n.value))]
        grouped = [n for n in given if n.kind == "parameter" and not n.label.isidentifier()]
        plain = [n for n in given if n not in grouped]
        self.order = plain + grouped
        self.examples = [n.value for n in plain] + [{n.label: n.value for n in grouped}] * bool(grouped)
        self.chosen = [i for i, n in enumerate(plain) if n.kind != "constant"] + [len(plain)] * bool(grouped)
        self.steps: dict[Statement, list[Step]] = {}
        self.value_of: dict[Step, Value] = {}
        self.operands = {number: list[tuple[int, Any]]() for number in graph.edges_into()}
        for i, edge in enumerate(graph.edges):
            self.operands[edge.target].append((i, edge))
        self.node_of: dict[Any, Node] = {}
        self.entry: Any = None  # the entry whose rules ran last
        self.begin = 0  # the first statement after them
        self.carried: dict[Value, list[int]] = {}  # the edges whose contribution a value is
        self.waiting: list[int] = []  # the edges whose contribution the sweep has yet to fit or to add, in its order
        self.arrived: set[Any] = set()
        labels, taken = [n.label for n in plain] + ["params"] * bool(grouped), {*RESERVED}
        plainly = [normalize("NFKC", label.removeprefix("self.")) for label in labels]  # h₂ becomes h2
        words = [re.sub(r"\W+", "_", label).strip("_") for label in plainly]
        self.__signature__ = Signature(
            [Parameter(new_name(word, taken), Parameter.POSITIONAL_OR_KEYWORD) for word in words]
        )

    def __call__(self, *given: Any) -> Any:
        values: dict[int, Any] = {node.id: value for node, value in zip(self.order, leaves(given))}
        for node in self.graph.operations():
            first, arguments = len(self.statements), dict[str, Any]()
            for _, edge in self.operands[node.id]:
                value = values.get(edge.source, edge.value)
                arguments[edge.argument] = value if edge.output is None else value[edge.output]
            self.recording.source = node.source or SourceLine("", 0, "")
            self.recording.result_name = _name_of(node, self.graph)
            call = getattr(node.primitive, "apply", node.primitive)  # a Function, or a primitive
            names = getattr(node.primitive, "arguments", None) or arguments
            out = values[node.id] = call(*[arguments.get(name) for name in names], **node.keywords)
            made = next(t for t in (out if isinstance(out, (tuple, list)) else [out]) if t._node is not None)
            attach(entry_of(made._node), self)
            self.node_of[entry_of(made._node)] = node
            self.steps.update({s: [("forward", node.id)] for s in self.statements[first:]})
            self.note_value(("forward", node.id), made._array)
        return values[self.graph.ends[0][0]]

    def note_value(self, step: Step, array: Any) -> None:
        if type(array) is Paper:
            self.value_of[step] = array._value

    def backward(self, entry: Any, g: Any, contributions: Sequence[Any], seconds: float) -> None:
        """Note which statements compute each contribution. The sweep calls this after the rules of an entry."""
        rules = self.finish(entry)
        edges = {edge.argument: (number, edge) for number, edge in self.operands[self.node_of[entry].id]}
        names = entry.primitive.arguments or map(str, range(len(contributions)))
        for name, contribution, parent in zip(names, contributions, entry.parents):
            if contribution is None or parent is None:
                continue
            number, slot = edges[name][0], (edges[name][1].source, edges[name][1].output)
            self.note_value(("product", number), contribution)
            if type(contribution) is Paper:
                for statement in live(rules, contribution._value):
                    self.steps.setdefault(statement, []).append(("product", number))
                self.carried.setdefault(contribution._value, []).append(number)
            fits = contribution.shape == parent.shape and contribution.dtype == parent.dtype
            self.waiting += [number] * (not fits or slot in self.arrived)
            self.arrived.add(slot)

    def finish(self, entry: Any) -> list[Statement]:
        """Note which contribution each statement after the last rules adds. Return the statements of the rules of ``entry``."""
        new = self.statements[self.begin :]
        for statement in [s for s in new if s.entry is self.entry is not None]:
            if read := [number for value in statement.values for number in self.carried.get(value, ())]:
                number = next((each for each in self.waiting if each in read), read[-1])
                self.waiting = [each for each in self.waiting if each != number]
                self.steps.setdefault(statement, []).append(("sum", number))
                self.carried |= {value: [number] for value in statement.outputs}
        self.entry, self.begin, self.carried, self.waiting = entry, len(self.statements), {}, []
        return [statement for statement in new if statement.entry is entry]


def _name_of(node: Node, graph: Graph) -> str | None:
    """Return the name that the program gives a result, if the label of its node is that name; None for an expression."""
    found = re.fullmatch(r"(?:.*\.)?([^\W\d]\w*)(\[\d+\])*", node.stem)
    places = [] if node.source is None else [node.source, *node.callers]
    names = [assigned_at(place, graph.programs.get(place.file, ())) for place in places]
    return found[1] if found is not None and found[1] in (node.name, *names) else None
