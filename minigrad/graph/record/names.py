"""Labels the nodes of a graph with names and expressions from the text of the user's program.

A value that has a name keeps it. Otherwise the label is the operand's expression (``w``, ``self.W``), the name that the
result is assigned to (``h``, ``hs[3]``), or the expression that computed it (``w * x``). In the frame that recorded the value,
Python evaluates the label to that value. If several nodes would share a label, the round of the loops in which the name had the
value follows it, ``h · t=20``, or the object whose method ran, ``z · Neuron 2``. Values that this does not tell apart get
versions, in order of execution: ``h₁``, ``h₂``. Such labels are not Python, so they cannot be mistaken for an expression.
Without the program's text, the label of an operation is its primitive and the number of its node: ``multiply 12``. A value is
then called by its kind and its shape: ``constant (12,)``.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from ..._source import SourceLine
from ...source.index import Index, callee, element, index_of, is_starred, operands, printable, text_of
from .model import Edge, Graph, Node
from .numerals import number_text
from .rounds import Callee, Rounds, Texts, told_apart

LONGEST_LABEL = 400  # characters of a label; views cut it where they draw it
PLACE = " · "  # between the name of a value and the round of the loops in which the name had the value
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Subscript, ast.Attribute, ast.AugAssign)


class Wanted(NamedTuple):
    """The label of a node before it is told apart from others.

    Attributes:
        simple: whether no operator is outside of parentheses.
        at: the operation in whose frames Python can evaluate the text.
        level: the number of the frame in which it can; the innermost is 0.
        given, expression, inline: the facts of a node with this label, as in :class:`.Node`.
    """

    text: str
    simple: bool
    at: Node | None = None
    level: int = 0
    given: bool = False
    expression: bool = False
    inline: bool = False


def labels_of(graph: Graph, paths: Mapping[int, str], texts: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield the facts of each node that its label decides: its ``label``, ``stem``, ``numeral`` ...

    A label is never empty, and unique, except that constants of equal value share one.

    Args:
        paths: the attribute paths of nodes that are attributes of modules.
        texts: the lines of other files that have called functions of the program.
    """
    names = _Names(graph, paths, texts)
    names.run()
    for node in graph.nodes:
        label, wanted = names.labels[node.id], names.wanted.get(node.id, Wanted("", True))
        facts = {name: getattr(wanted, name) for name in ("given", "expression", "inline")}
        numeral = node.kind == "constant" and label != "" and label == node.details
        yield facts | {"label": label, "stem": names.stems.get(node.id, label), "numeral": numeral}


def shortened(text: str, longest: int) -> str:
    """Return a text without its middle if it is longer than ``longest``."""
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[-(longest - longest // 2 - 1) :]}"


class _Names:
    def __init__(self, graph: Graph, paths: Mapping[int, str], texts: Mapping[str, Sequence[str]]) -> None:
        self.graph = graph
        self.paths, self.texts = paths, texts
        self.into = graph.edges_into
        self.end = graph.ends[0][0]
        self.ends = {number for number, _ in graph.ends}
        self.groups: dict[tuple[object, int | None], list[Node]] = defaultdict(list)
        for node in graph.operations:
            if node.source is not None and node.source.end_line is not None:
                self.groups[node.source, node.call].append(node)
        self.readers: dict[int, list[Node]] = defaultdict(list)
        for edge in graph.edges:
            self.readers[edge.source].append(graph.nodes[edge.target])
        self.wanted: dict[int, Wanted] = {}
        self.labels: dict[int, str] = {}
        self.stems: dict[int, str] = {}  # the labels of nodes that were told apart, without what tells them apart
        self.summands: dict[ast.Call, int] = {}  # the terms that each running sum() has added so far

    @cached_property
    def rounds(self) -> Rounds:
        return Rounds(self.graph.operations)

    def run(self) -> None:
        for group in self.groups.values():
            self.group(group)
        taken: dict[str, int] = {}
        nodes = self.graph.nodes
        for node in nodes:
            if node.name:
                self.labels[node.id], self.stems[node.id] = _free(node.name, taken), node.name
            elif node.kind == "constant" and node.details:  # its value, without a version
                self.labels[node.id] = node.details
        for values in (True, False):
            found = [node for node in nodes if node.id not in self.labels and (node.operation is None) == values]
            self.index([node for node in found if not self.derived(node)], taken)
        left = [node for node in nodes if node.id not in self.labels]
        for node in left:
            self.rule(node)
        self.index(left, taken)

    def derived(self, node: Node) -> bool:
        """Return whether a node is an operation of a backward pass that has no text in the program."""
        return node.lane > 0 and node.source is not None and node.id not in self.wanted and node.id != self.end

    def rule(self, node: Node) -> None:
        """Derive the label of a rule's operation from the forward operation, which has its label already."""
        nodes, origin, order = self.graph.nodes, node, ""
        while origin.origin is not None:
            origin, order = nodes[origin.origin], order + "∂"
        label = self.labels.get(origin.id, "") if order else ""
        of = f"{order}{label if label.isidentifier() else f'({label})'}" if label else "backward"
        self.wanted[node.id] = Wanted(f"{of}: {node.operation}", True)  # "∂(w * x): multiply"

    def index(self, nodes: Iterable[Node], taken: dict[str, int]) -> None:
        """Give the wanted labels to nodes. Nodes that want the same label are told apart, in order of execution."""
        counts: dict[str, list[Node]] = defaultdict(list)
        for node in nodes:
            wanted = self.wanted.get(node.id)
            if wanted is None and node.id in self.paths:
                wanted = Wanted(self.paths[node.id], True)
            if wanted is None and node.id == self.end:
                wanted = Wanted("loss", True)
            if wanted is None or not wanted.text:
                if node.kind == "constant" and node.shape == () and node.value is not None:
                    self.labels[node.id] = number_text(node.value)
                else:
                    self.labels[node.id], self.stems[node.id] = _free(self.plain(node), taken), ""
            else:
                counts[wanted.text].append(node)
        for text, alike in counts.items():
            if len(alike) > 1 and len({self.paths.get(node.id, "") for node in alike}) == len(alike):
                for node in alike:  # self.W in several modules
                    self.stems[node.id] = self.paths.get(node.id, text)
                    self.labels[node.id] = _free(self.stems[node.id], taken)
                continue
            self.tell_apart(shortened(text, LONGEST_LABEL), alike, taken)

    def tell_apart(self, text: str, alike: Sequence[Node], taken: dict[str, int]) -> None:
        """Give nodes that want the same label the round of their loops, and a version if several are in the same round."""
        chosen = told_apart([self.variables(node) for node in alike]) if len(alike) > 1 else [""] * len(alike)
        together, versions = Counter(chosen), Counter[str]({"": int(text in taken)})
        for node, place in zip(alike, chosen):
            self.stems[node.id] = text
            wanted, after = self.wanted.get(node.id), place and PLACE + place
            label, name = text + after, text if wanted is None or wanted.simple else f"({text})"
            if node.id == self.end:
                label = text
            elif together[place] > 1 or label in taken:
                numbers = count(versions[place] + 1)
                versions[place] = next(n for n in numbers if f"{name}{_small(n)}{after}" not in taken)
                label = f"{name}{_small(versions[place])}{after}"
            self.labels[node.id] = _free(label, taken)

    def variables(self, node: Node) -> Texts:
        """Return the variables of the frame in which the label of a node was found, and of the frames around it."""
        wanted = self.wanted.get(node.id)
        return self.rounds.of(node) if wanted is None else self.rounds.of(wanted.at or node, wanted.level)

    def plain(self, node: Node) -> str:
        """Return what a node without a name is called: an operation with its number, or a value with its shape."""
        if node.operation is not None:
            return f"{node.operation} {node.id}"
        path = "" if node.module is None else f"{_path(self.graph.modules[node.module].name)}."
        return f"{path}{node.kind} {node.shape}"

    # What the program says

    def program(self, source: SourceLine) -> Index:
        lines = self.graph.programs.get(source.file)
        return index_of(source.file, self.texts.get(source.file, ()) if lines is None else lines)

    def calls(self, node: Node) -> Iterator[tuple[Index, ast.Call, int]]:
        """Yield the calls of the program's functions that led to an operation, innermost first, with their numbers."""
        for number, place in enumerate(node.callers, 1):
            program = self.program(place)
            call = program.at(place)
            called = node.called[number]
            if not isinstance(call, ast.Call) or (called is not None and called.compiled):
                return  # the value of map(f, xs) is not the value that f returns
            yield program, call, number

    def group(self, nodes: Sequence[Node]) -> None:
        """Label the operations of one evaluation of an expression."""
        source = nodes[0].source
        assert source is not None
        program = self.program(source)
        here = program.at(source)
        if here is None:
            self.inner(nodes, "")
            return
        given, target, returned = operands(here), program.target(here), program.returned(here)
        if self.handed_over(nodes, program, here):
            self.inner(nodes, "")
            return
        result = self.result(nodes)
        if result is None or len(nodes) > 1:
            self.inner([node for node in nodes if node is not result], callee(here))
        if result is not None:
            self.operation(result, program, here, target, returned)
        if _pythons(nodes[0]) == "sum" and isinstance(here, ast.Call) and here.args:
            self.summed(nodes, program, here)
            return
        values = [
            edge for node in nodes for edge in self.into[node.id] if self.graph.nodes[edge.source].operation is None
        ]
        if values and len(nodes) == 1:
            (node,) = nodes
            names = list(getattr(node.primitive, "arguments", None) or ())
            for edge in values:
                position = names.index(edge.argument) if edge.argument in names else -1
                position = int(edge.argument) if edge.argument.isdigit() else position
                if position >= 0:
                    called, operation = _called(node), str(node.operation)
                    self.value(edge, program, _operand(here, given, called, operation, edge.argument, position))
        if any(edge.source not in self.wanted for edge in values):
            self.only_value(nodes, program, here, given)

    def handed_over(self, nodes: Sequence[Node], program: Index, here: ast.AST) -> bool:
        """Return whether the program takes elements of a value here: ``for x in xs``, ``a, b = xs``, ``sum(xs)``."""
        if isinstance(here, ast.Subscript) or any(node.operation != "getitem" for node in nodes):
            return not isinstance(here, OPERATIONS)
        target, whole = _taker(program, here, _pythons(nodes[0]))
        for node in nodes:
            index = node.keywords.get("index")
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(index, int) and index < len(target.elts):
                self.wanted[node.id] = Wanted(text_of(program, target.elts[index], self.values(node)), True)
            elif isinstance(target, ast.Name):
                self.wanted[node.id] = Wanted(target.id, True)
            elif whole is not None:
                self.wanted[node.id] = Wanted(f"{text_of(program, whole)}[{index}]", True)
            for edge in self.into[node.id]:
                self.value(edge, program, whole)
        return True

    def result(self, nodes: Sequence[Node]) -> Node | None:
        """Return the operation that computed the expression's result: the only one that is read outside of it."""
        last, called = nodes[-1], self.called(nodes[-1])

        def outside(reader: Node) -> bool:
            if reader.id <= last.id or called is None or reader.source is None or last.source is None:
                return reader.id > last.id
            place = reader.source.file, reader.source.function  # the library may call a module of the user
            return place == (last.source.file, last.source.function) or called not in self.graph.around(reader.module)

        needed = [node for node in nodes if node.id in self.ends or any(map(outside, self.readers[node.id]))]
        return needed[0] if len(needed) == 1 else None

    def called(self, node: Node) -> int | None:
        """Return the module that the program called and that ran this operation."""
        if node.depth is None:
            return None
        around = self.graph.around(node.module)
        return around[node.depth] if node.depth < len(around) else None

    def operation(self, node: Node, program: Index, here: ast.AST, target: ast.expr | None, returned: bool) -> None:
        """Label an operation whose result has this ``target``, or is the value that a function returns."""
        called = _called(node)
        if node.lane and isinstance(here, ast.Call) and (called is None or called.name != node.operation):
            parts = _targets(program, here)  # in a backward pass the expression is grad(y, x) or backward()
            needed = node.id in self.ends or any(reader.source != node.source for reader in self.readers[node.id])
            if len(parts) == 1 and needed:
                self.wanted[node.id] = Wanted(text_of(program, parts[0]), True)
            return
        level = 0
        for outer, call, number in self.calls(node) if returned else ():
            target = outer.target(call)  # in h = f(x), f returns this value
            if target is not None:
                program, level = outer, number
            if target is not None or not outer.returned(call):
                break
        if isinstance(here, ast.Subscript) and isinstance(here.ctx, ast.Store):
            target = here.value  # x[3] = 0 makes a new version of x
        values = self.values(node, level)
        if self.is_partial(node, here):
            whole = here if target is None else target
            self.wanted[node.id] = Wanted(f"Σ {text_of(program, whole, values)}", True, None, level)
        elif target is not None:
            self.wanted[node.id] = Wanted(text_of(program, target, values), True, None, level)
        elif isinstance(node.value, tuple) and (parts := _targets(program, here)):
            self.wanted[node.id] = Wanted(", ".join(text_of(program, part) for part in parts), False)
        elif node.id != self.end:
            simple, named = isinstance(here, (ast.Call, ast.Subscript, ast.Attribute)), bool(node.name)
            expression = not named and not isinstance(here, (ast.Subscript, ast.Attribute))
            text = text_of(program, here, self.values(node))
            self.wanted[node.id] = Wanted(text, simple, expression=expression, inline=not named)

    def values(self, node: Node, level: int = 0) -> dict[str, Any]:
        """Return the loop variables of an operation in one of its frames, with their values."""
        return {name: value for _, name, value in node.rounds[level]}

    def is_partial(self, node: Node, here: ast.AST) -> bool:
        """Return whether the operation is an addition of Python's ``sum`` before the last one."""
        if not isinstance(here, ast.Call) or _pythons(node) != "sum":
            return False
        same = (reader for reader in self.readers[node.id] if reader.source == node.source and reader.call != node.call)
        return any(reader.rounds == node.rounds and reader.callers == node.callers for reader in same)

    def inner(self, nodes: Iterable[Node], callee: str) -> None:
        """Label the operations that the program does not show: those inside a module or a library function."""
        for node in nodes:
            path = _path(self.graph.modules[node.module].name) if node.module is not None else callee
            if path and not node.lane and node.id != self.end:
                self.wanted[node.id] = Wanted(printable(f"{path}.{node.operation}"), True)

    def value(self, edge: Edge, program: Index, operand: ast.expr | None) -> None:
        """Label a leaf with its expression in the program where an operation reads it. A plain name is preferred."""
        node = self.graph.nodes[edge.source]
        if operand is None or node.operation is not None:
            return
        reader, level = self.graph.nodes[edge.target], 0
        for outer, call, number in self.calls(reader) if isinstance(operand, ast.Name) else ():
            given = program.given(operand, call)  # in a call f(x), x is the operand that f calls t
            if given is None:
                break
            program, operand, level = outer, given, number
        if isinstance(operand, ast.NamedExpr):
            operand = operand.target
        simple = isinstance(operand, (ast.Name, ast.Attribute))
        known = self.wanted.get(node.id)
        if known is None or (simple and not known.simple):
            text = text_of(program, operand, self.values(reader, level))
            handed = level > 0 or (isinstance(operand, ast.Name) and operand.id in program.parameters(operand))
            expression = not simple and not isinstance(operand, ast.Subscript)
            self.wanted[node.id] = Wanted(text, simple, reader, level, handed, expression)

    def summed(self, nodes: Sequence[Node], program: Index, call: ast.Call) -> None:
        """Label the additions of Python's ``sum``. Each one adds one element; the first one adds to 0."""
        for node in nodes:
            total, *added = self.into[node.id]
            first = self.graph.nodes[total.source]
            if first.operation is None and first.id not in self.wanted:
                self.summands[call] = 0
                self.value(total, program, call.args[1] if len(call.args) > 1 else None)
            if call in self.summands and added:
                self.value(added[0], program, element(call.args[:1], self.summands[call]))
                self.summands[call] += 1

    def only_value(self, nodes: Sequence[Node], program: Index, here: ast.AST, given: Sequence[ast.expr]) -> None:
        """Label the input of a function of unknown content, if the expression has only one possible input."""
        inside = {node.id for node in nodes}
        edges = [edge for node in nodes for edge in self.into[node.id] if edge.source not in inside]
        read = [self.graph.nodes[edge.source] for edge in edges]
        sources = {n.id for n in read if (n.id < nodes[0].id if n.operation else not n.details)} - self.paths.keys()
        if len(sources) == 1:
            (source,) = sources
            if source not in self.wanted:
                edge = next(edge for edge in edges if edge.source == source)
                operand = _only_operand(here, given, _called(nodes[0]), nodes[0].module is not None)
                self.value(edge, program, operand)


def _called(node: Node) -> Callee | None:
    """Return what the program calls where it carries out an operation."""
    return node.called[0] if node.called else None


def _pythons(node: Node) -> str:
    """Return the name of the function of Python itself that the program calls at an operation; "" if it calls none."""
    called = _called(node)
    return called.name if called is not None and called.compiled else ""


# Operands in the text of an expression


def _operand(
    node: ast.AST, given: Sequence[ast.expr], called: Callee | None, operation: str, argument: str, position: int
) -> ast.expr | None:
    """Return the expression of one argument, among what the expression is ``given``. The operation must be all of it."""
    if isinstance(node, ast.Call):
        if called is None or called.name != operation:
            return None
        for keyword in node.keywords:
            if keyword.arg == argument:
                return keyword.value
        given = _with_object(node, given, called)
        if argument.isdigit():  # one of a variable number of operands, in a list or after a text (einsum)
            return element(given, position)
    return given[position] if position < len(given) else None


def _only_operand(node: ast.AST, given: Sequence[ast.expr], called: Callee | None, module: bool) -> ast.expr | None:
    """Return the only operand of a call that is not a literal; else None. ``module``: whether a module may be called."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    given = node.args if module and not any(map(is_starred, node.args)) else _with_object(node, given, called)
    found = [each for each in given if not isinstance(each, ast.Constant)]
    return found[0] if len(found) == 1 else None


def _with_object(call: ast.Call, given: Sequence[ast.expr], called: Callee | None) -> list[ast.expr]:
    """Return the arguments by position. For a method of a value, the value comes first."""
    of_value = called is not None and called.of_value
    return [call.func.value, *given] if isinstance(call.func, ast.Attribute) and of_value else [*given]


def _taker(index: Index, node: ast.AST, called: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the target that takes elements one by one, and their container: ``x`` and ``xs`` in ``for x in xs``.

    Args:
        called: the name of Python's function that is called there, if one is.
    """
    parent = index.parents.get(node)
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):  # a, b = xs
        return node, parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None
    if isinstance(node, ast.For):  # the position is the loop's in Python 3.11, the iterable's in later versions
        parent, node = node, node.iter
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
        parent, node = node.generators[0], node.generators[0].iter
    if not isinstance(node, ast.expr):
        return None, None
    whole, target = node, None
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        target = parent.target
    if isinstance(node, ast.Call):
        if not node.args or isinstance(node.func, ast.Attribute):
            return None, None
        whole = node.args[0]
        if target is not None and called == "enumerate" and isinstance(target, ast.Tuple):
            target = target.elts[-1]
        elif called not in ("sum", "list", "tuple", "reversed"):
            return None, None
    return target if isinstance(target, ast.Name) else None, whole


def _targets(index: Index, node: ast.AST) -> list[ast.expr]:
    """Return the targets of an expression with several results: ``a, b = expression``."""
    parent = index.parents.get(node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, (ast.Tuple, ast.List)) or not all(isinstance(each, ast.Name) for each in target.elts):
        return []
    return target.elts


# Labels


def _path(name: str) -> str:
    """Return the end of a module's path, from its last name on: ``attention``, ``layers.0``."""
    parts = name.split(".")
    first = len(parts) - 1
    while first > 0 and parts[first].isdigit():
        first -= 1
    return ".".join(parts[first:])


def _small(number: int) -> str:
    return "".join(chr(ord("₀") + int(digit)) for digit in str(number))


def _free(label: str, taken: dict[str, int]) -> str:
    """Return the label, as a further version if another node has it, and mark the result as taken."""
    free, number = label, taken.get(label, 0)
    name, separator, place = label.partition(PLACE)
    while free in taken:
        number += 1
        free = f"{name}{_small(number)}{separator}{place}"
    taken[label] = max(number, 1)
    taken.setdefault(free, 1)
    return free
