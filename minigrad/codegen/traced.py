"""The text of a run that a trace has recorded: its operations run again, on paper, with the operands that the trace noted."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unicodedata import normalize

import numpy as np

from .._source import SourceLine
from ..engine.modes import ensure_recording
from ..engine.tape import Entry, Leaf, entry_of
from ..engine.tensor import first_floating, make_tensor
from ..errors import MinigradError, UnsupportedError
from ..graph.record.model import Edge, Graph, Node
from .paper import Observer, Paper, on_paper, swept_on_paper
from .program import RESERVED, Arguments, TextLine, WrittenProgram, agree, new_name
from .record import Recording, Statement, Value, assigned_at, leaves_of, live
from .simplify import Became
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
    end, became = graph.nodes[graph.ends[0][0]], Became({}, {})
    if getattr(end.value, "shape", None) != () or not np.array_equal(end.cotangent, 1):
        raise UnsupportedError(f"{end.label} is not one number whose gradient is 1")
    again = _SecondRun(graph, end)
    try:
        arguments = Arguments(again.names, again.examples, whole_dicts=True)
        again.run(arguments)
        program, lines = written_lines("a traced run", [arguments], [again.recording], again.chosen, None, became)
        found = leaves_of(program(*arguments.examples))
    except MinigradError:
        raise
    except Exception as error:  # of an operation of the user's, which works on arrays but not on paper
        raise UnsupportedError(f"its operations cannot run a second time ({type(error).__name__}: {error})") from error
    if not agree(found, again.expected):
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
    for step, made in again.made.items():
        value: Value | None = None if step in with_a_line or type(made) is not Paper else copy_of(made._value)
        while value is not None and step not in found:
            now, reader = became.final(value), readers.get(value)
            for statement in (readers.get(now), reader, now.statement):
                if statement in line_with and statement.backward == (step[0] != "forward"):
                    found[step] = line_with[statement]
            value = reader.outputs[0] if reader is not None and reader.outputs else None
    return found


class _SecondRun:
    """The operations of a graph, run again on paper, forward and backward.

    Attributes:
        given: the nodes of the program's arguments. Parameters whose names are no identifiers are in a dict, the last argument.
        names, examples, chosen: of the arguments; ``chosen`` are the positions of those that are differentiated.
        expected: what the program should compute: the value, and the gradients that the trace has.
        recording: what the operations write down. statements: all of it, also what does not matter.
        steps: the steps that each statement is part of.
        made: what each step computes.
    """

    def __init__(self, graph: Graph, end: Node) -> None:
        self.graph, self.end = graph, end
        given = [n for n in graph.nodes if n.operation is None and (n.kind != "constant" or np.ndim(n.value))]
        self.grouped = [n for n in given if n.kind == "parameter" and not n.label.isidentifier()]
        self.plain = [n for n in given if n not in self.grouped]
        self.given, several = self.plain + self.grouped, bool(self.grouped)
        self.examples = [n.value for n in self.plain] + [{n.label: n.value for n in self.grouped}] * several
        self.chosen = [i for i, n in enumerate(self.plain) if n.kind != "constant"] + [len(self.plain)] * several
        self.wanted = [n.id for n in self.plain if n.kind != "constant"]
        self.expected = [end.value] + [n.cotangent for n in self.given if n.kind != "constant"]
        self.operands: dict[int, dict[str, tuple[int, Edge]]] = {number: {} for number in graph.edges_into}
        for i, edge in enumerate(graph.edges):
            self.operands[edge.target][edge.argument] = i, edge
        self.tensors: dict[int, Any] = {}  # the result of each node; constants are plain paper
        self.steps: dict[Statement, list[Step]] = {}
        self.made: dict[Step, Any] = {}
        self.begin = 0  # the first statement after the rules that ran last
        self.carried: dict[Value, list[int]] = {}  # the edges whose contribution a value is
        self.waiting: list[int] = []  # the edges whose contribution the sweep has yet to fit or to add, in its order
        self.arrived: set[Any] = set()
        labels, taken = [n.label for n in self.plain] + ["params"] * several, {*RESERVED}
        words = [normalize("NFKC", label.removeprefix("self.")) for label in labels]  # h₂ becomes h2
        self.names = [new_name(re.sub(r"\W+", "_", word).strip("_"), taken) for word in words]

    def run(self, arguments: Arguments) -> None:
        """Run all operations, and the backward pass."""
        names = {node.id: _name_of(node, self.graph) for node in self.graph.operations}
        recording = self.recording = Recording(Paper)
        self.statements, starts = recording.statements, dict[int, Leaf]()
        for node, argument in zip(self.given, arguments.leaves):
            paper = self.tensors[node.id] = recording.input(argument.array, argument.name)
            if node.kind != "constant" and argument.floating:
                leaf = starts[node.id] = Leaf(None, paper.shape, paper.dtype)
                self.tensors[node.id], recording.values[leaf] = make_tensor(paper, leaf), paper._value
        with on_paper(recording), ensure_recording():
            for node in self.graph.operations:
                recording.result_name, recording.source = names[node.id], node.source or SourceLine("", 0, "")
                self.forward(node)
            self.begin, end = len(self.statements), self.tensors[self.end.id]
            found = swept_on_paper(recording, end, [*starts.values()])
        self.added()
        gradients = dict(zip(starts, map(found.get, starts.values())))
        results = [*map(gradients.get, self.wanted)]
        if self.grouped:
            results.append({node.label: gradients.get(node.id) for node in self.grouped})
        recording.end(end._array, results)

    def forward(self, node: Node) -> None:
        """Run an operation, and let its entry of the tape call :meth:`backward`."""
        given, first = dict[str, Any](), len(self.statements)
        for _, edge in self.operands[node.id].values():
            value = self.tensors.get(edge.source, edge.value)
            given[edge.argument] = value if edge.output is None else value[edge.output]
        call = node.primitive if node.again is None else node.primitive.apply  # of a Function
        names = getattr(node.primitive, "arguments", None) or given
        found = self.tensors[node.id] = call(*map(given.get, names), **node.keywords)
        made = first_floating(found)
        entry = entry_of(made._node)
        entry.plan = copy.copy(entry.plan)
        if made is found:
            self.recording.values[entry] = made._array._value
        entry.plan.pull = partial(self.backward, node, entry.plan.pull)
        for statement in self.statements[first:]:
            self.steps[statement] = [("forward", node.id)]
        self.made["forward", node.id] = made._array

    def backward(self, node: Node, rules: Callable[..., Any], entry: Entry, g: Any) -> Any:
        """Run the rules of an operation, and note which statements compute each contribution."""
        self.added()
        # A Function or a composition may record a tape of its own.
        alone = node.again is None and node.primitive.composition is None
        with contextlib.nullcontext() if alone else Observer(self.recording):
            contributions = rules(entry, g)
        written, self.begin = self.statements[self.begin :], len(self.statements)
        self.recording.name(g, entry)
        names = entry.plan.primitive.arguments or map(str, range(len(contributions)))
        for name, contribution, parent in zip(names, contributions, entry.parents):
            if contribution is None or parent is None:
                continue
            self.recording.name(contribution, parent)
            number, edge = self.operands[node.id][name]
            slot, self.made["product", number] = (edge.source, edge.output), contribution
            if type(contribution) is Paper:
                for statement in live(written, contribution._value):
                    self.steps.setdefault(statement, []).append(("product", number))
                self.carried.setdefault(contribution._value, []).append(number)
            fits = contribution.shape == parent.shape and contribution.dtype == parent.dtype
            self.waiting += [number] * (not fits or slot in self.arrived)
            self.arrived.add(slot)
        return contributions

    def added(self) -> None:
        """Note which contribution each statement of the sweep adds that ran after the last rules."""
        for statement in self.statements[self.begin :]:
            if read := [number for value in statement.values for number in self.carried.get(value, ())]:
                number = next((each for each in self.waiting if each in read), read[-1])
                self.waiting = [each for each in self.waiting if each != number]
                self.steps.setdefault(statement, []).append(("sum", number))
                self.carried |= {value: [number] for value in statement.outputs}
        self.begin, self.carried, self.waiting = len(self.statements), {}, []


def _name_of(node: Node, graph: Graph) -> str | None:
    """Return the name that the program gives a result, if the label of its node is that name; None for an expression."""
    found = re.fullmatch(r"(?:.*\.)?([^\W\d]\w*)(\[\d+\])*", node.stem)
    places = [] if node.source is None else [node.source, *node.callers]
    names = [assigned_at(place, graph.programs.get(place.file, ())) for place in places]
    return found[1] if found is not None and found[1] in (node.name, *names) else None
