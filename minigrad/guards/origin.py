"""Finds the operation that made the first NaN or infinity of a run, and says why: for live entries and for recorded graphs.

An infinity of a constant, such as the ``-inf`` of a mask, is intended. It may pass from operation to operation, until one of
them makes a NaN of it. In the sweep, a derivative may overflow, its sum over broadcast axes, or the sum of the contributions
to a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import SimpleNamespace as Live
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..device import to_host
from ..engine.primitive import Primitive
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..rules.about import Cause, depends_elementwise, known


class Stopped(BaseException):
    """Stops a program that has used numbers that are not finite. ``except Exception`` does not catch it."""


class ObservedRun(Protocol):
    """A computation. A ``graph.Graph`` is one; ``graph.Node`` and ``graph.Edge`` describe the attributes."""

    @property
    def nodes(self) -> Sequence[Any]:
        """The operations and the given values, in order of execution.

        Each has ``id`` (its place), ``kind``, ``operation``, ``primitive``, ``value``, ``cotangent`` and ``label``.
        """

    @property
    def edges_into(self) -> Mapping[int, Sequence[Any]]:
        """The operands of each operation to search, by its id.

        Each has ``source``, ``target``, ``argument``, ``output``, ``value``, ``raw``, ``contribution`` and ``sum``.
        """

    @property
    def contributions(self) -> Sequence[Any]:
        """The operands with a derivative from a sweep, in the order of the sweep."""


class Origin(NamedTuple):
    """The first NaN or infinity of a run.

    Attributes:
        run: the run.
        node: the operation that made it.
        edge: the operand whose derivative made it; None if the forward pass did.
        made: the array that holds it.
        summed: whether all contributions to a gradient are finite, and their sum is not.
        naming: a function that returns what a node is called; "" or None if that says nothing.
    """

    run: ObservedRun
    node: Any
    edge: Any
    made: Array
    summed: bool = False
    naming: Callable[[Any], str | None] = attrgetter("label")

    @property
    def number(self) -> str:
        """The first one: "nan", "inf" or "-inf"."""
        return worst(self.made[place_of(self.made)])

    @property
    def was_given(self) -> bool:
        """Whether a value with which the computation began already held one, such as a weight after a bad update."""
        operands = self.run.edges_into[self.node.id] if self.edge is None else ()
        return any(self.run.nodes[edge.source].operation is None and is_bad(edge.value) for edge in operands)

    def _values(self) -> dict[str, Any]:
        edges = self.run.edges_into[self.node.id]
        return {edge.argument: edge.value for edge in edges if edge.value is not None}

    def _called(self, name: str) -> str:
        if name == "ans":
            return "its result"
        edge = next(edge for edge in self.run.edges_into[self.node.id] if edge.argument == name)
        return called(edge, self.run, self.naming)

    @property
    def cause(self) -> str:
        """The reason, as the end of a sentence."""
        node, edge, made, values = self.node, self.edge, self.made, self._values()
        if edge is None:
            numbers = numbers_there(node.primitive, made, values)
            for operand in self.run.edges_into[node.id]:
                if is_bad(numbers.get(operand.argument, operand.value)):
                    what = "a NaN" if is_nan(operand.value) else "an infinity"
                    given = self.run.nodes[operand.source].operation is None
                    held = f"already held {what} when this computation began" if given else f"holds {what}"
                    return f"its operand {self._called(operand.argument)} {held}"
            return why_forward(node.primitive, numbers, made)
        if self.summed:
            others = f"the other contributions to the gradient of {self._called(edge.argument)}"
            return f"its numbers are finite, and their sum with {others} is too large for {made.dtype}"
        if is_bad(node.cotangent):
            return "the gradient that arrived there was already not finite"
        if not is_bad(edge.raw):
            return f"its numbers are finite, and their sum over the broadcast axes is too large for {made.dtype}"
        numbers = numbers_there(node.primitive, made, values | {"ans": node.value, "g": node.cotangent})
        return why_backward(node.primitive, edge.argument, numbers, made)

    def sentences(self, title: str | None = None) -> list[str]:
        """Return a sentence about the operation, which is called ``title``, and one about the place in its result."""
        what, made, values = title or f"'{self.node.operation}'", self.made, self._values()
        if self.edge is not None:
            what = f"in the backward pass, the derivative of {what} with respect to {self._called(self.edge.argument)}"
            values = values or ({} if self.node.value is None else {"ans": self.node.value})
            values = values if not self.summed and is_bad(self.edge.raw) else {}  # a sum has other places
        said = [f"{what} made the first {self.number}: {self.cause}."]
        numbers = numbers_there(self.node.primitive, made, values)
        said_of = [f"{self._called(name)} is {number!r}" for name, number in numbers.items()]
        there = f", where {' and '.join(said_of)}" if said_of else ""
        if made.ndim:
            count, first = int((~np.isfinite(made)).sum()), list(place_of(made))
            place = f"is not finite, at {first}" if count == 1 else f"are not finite, the first at {first}"
            said.append(f"{count} of {made.size} elements {place}{there}.")
        elif there:
            said.append(f"It is a single number{there}.")
        return said


def called(edge: Any, run: ObservedRun, naming: Callable[[Any], str | None] = attrgetter("label")) -> str:
    """Return an operand for a sentence, by the rule's name (used in the causes) and by the program's name."""
    name, label = edge.argument, naming(run.nodes[edge.source])
    return name if label in ("", None, name) else f"{name} ('{label}')"


# --- The search ---


def first_nonfinite(run: ObservedRun) -> Origin | None:
    """Return where the first NaN or infinity began, forward or else backward; None if there is none."""
    return first_forward(run) or first_backward(run)


def first_forward(run: ObservedRun) -> Origin | None:
    """Return the first operation whose result is not finite although its operands are, or were given so."""
    marks, into = forward_marks(run), run.edges_into

    def came_from_before(edge: Any) -> bool:
        made_bad = edge.source in marks or run.nodes[edge.source].value is None  # None: it is not known
        return edge.source in into and made_bad and is_bad(edge.value)

    for node in run.nodes:
        if node.id in marks and node.id in into and not any(map(came_from_before, into[node.id])):
            return Origin(run, node, None, first_bad(node.value))
    return None


def first_backward(run: ObservedRun) -> Origin | None:
    """Return the first derivative that is not finite, or whose contribution makes the sum of a gradient overflow."""
    for edge, total in bad_contributions(run):
        made = next(array for array in (total, edge.raw, edge.contribution) if is_bad(array))
        return Origin(run, run.nodes[edge.target], edge, first_bad(made), summed=total is not None)
    return None


def forward_marks(run: ObservedRun) -> dict[int, str]:
    """Return "culprit" or "victim" for the id of each value that is not finite, and not intended.

    A culprit is an operation that made a NaN or an infinity from finite operands, or a given value that already held one. A
    victim has a marked operand.
    """
    into = run.edges_into
    marks: dict[int, str] = {}
    meant: set[int] = set()
    for node in run.nodes:
        if not is_bad(node.value):
            continue
        operands = into.get(node.id, ())
        bad = {edge.source for edge in operands if is_bad(edge.value)}
        unknown = any(edge.value is None and run.nodes[edge.source].kind == "constant" for edge in operands)
        if bad - meant:
            marks[node.id] = "victim"
        elif (bad or unknown or node.kind == "constant") and not is_nan(node.value):
            meant.add(node.id)
        else:
            marks[node.id] = "culprit"
    return marks


def bad_contributions(run: ObservedRun) -> Iterator[tuple[Any, Any]]:
    """Yield each operand whose derivative is not finite, or makes the sum of a gradient overflow, with this sum (or None)."""
    sums: dict[tuple[int, int], Any] = {}
    for edge in run.contributions:
        place = edge.source, edge.output or 0
        if is_bad(edge.contribution):
            yield edge, None
        elif is_bad(edge.sum) and not is_bad(sums.get(place)):
            yield edge, edge.sum
        sums[place] = edge.sum


# --- A single entry of a tape ---


class EntryRun:
    """An entry of a tape as a run. The results of earlier entries count as constants: they have been searched before.

    Args:
        known: the known operands by the names of the arguments, and the result as "ans".
        cotangent, raws: the gradient that arrived at the result, and the results of the rules, in a sweep.
    """

    def __init__(
        self, entry: Entry, known: Mapping[str, Any], cotangent: Any = None, raws: Iterable[Any] | None = None
    ) -> None:
        self.nodes: list[Any] = []
        edges: list[Any] = []
        for name, parent, raw in zip(argument_names(entry), entry.parents, raws or [None] * len(entry.parents)):
            value, leaf = known.get(name), parent if type(parent) is Leaf else None
            if parent is None and value is None:  # not given, or not kept
                continue
            tensor, i = None if leaf is None else leaf.tensor, len(self.nodes)
            node = Live(id=i, kind="constant" if leaf is None else "input", operation=None, value=value, label="")
            node.operation = "earlier" if leaf is None and parent is not None else None
            node.label = "" if tensor is None else tensor.name or ""
            term = None if parent is None else raw
            self.nodes.append(node)
            edge = Live(
                source=i, target=-1, argument=name, output=None, value=value, raw=raw, contribution=term, sum=term
            )
            edges.append(edge)  # -1: the last node, which is the operation
        primitive, made = entry.primitive, known.get("ans")
        node = Live(kind="operation", operation=primitive.name, primitive=primitive, value=made, cotangent=cotangent)
        node.id = len(self.nodes)
        self.nodes.append(node)
        self.edges_into = {node.id: edges}
        self.contributions = [edge for edge in edges if edge.contribution is not None]


def argument_names(entry: Entry) -> Sequence[str]:
    return entry.primitive.arguments or [f"argument {i}" for i in range(len(entry.parents))]


# --- A NaN or an infinity: its kind, its position, and the operands there ---


def arrays(value: Any) -> list[Any]:
    """Return the floating arrays of an operand or a result, which is one array, a sequence or a dict."""
    values = value if isinstance(value, (tuple, list)) else value.values() if isinstance(value, Mapping) else [value]
    found = [np.asarray(to_host(v._array if isinstance(v, Tensor) else v)) for v in values]
    return [array for array in found if array.dtype.kind in "fc"]


def is_bad(value: Any) -> bool:
    """Return whether ``value`` contains a NaN or an infinity."""
    array = value._array if isinstance(value, Tensor) else value
    if hasattr(array, "dtype"):  # where it is, without a copy to the host
        return array.dtype.kind in "fc" and not bool(np.isfinite(array).all())
    return value is not None and any(not np.isfinite(array).all() for array in arrays(value))


def is_nan(value: Any) -> bool:
    return any(np.isnan(array).any() for array in arrays(value))


def worst(value: Any) -> str:
    """Return "nan", "inf" or "-inf": the first of these that ``value`` contains."""
    return "nan" if is_nan(value) else "inf" if any(np.isposinf(a.real).any() for a in arrays(value)) else "-inf"


def first_bad(value: Any) -> Any:
    """Return the first array that contains a NaN or an infinity."""
    return next(array for array in arrays(value) if not np.isfinite(array).all())


def place_of(array: Array) -> tuple[int, ...]:
    """Return the index of the first NaN or infinity of an array."""
    bad = ~np.isfinite(array)
    return tuple(map(int, np.unravel_index(np.argmax(bad), bad.shape)))


def numbers_there(primitive: Primitive, bad: Array, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by name, the operand elements at the first NaN or infinity, or {} if the operation is not elementwise."""
    numbers: dict[str, Any] = {}
    if not depends_elementwise(primitive):
        return numbers
    place = place_of(bad)
    for name, value in values.items():
        array = np.asarray(None if isinstance(value, Mapping) else to_host(value))
        if array.dtype.kind in "fciub" and _broadcasts(array.shape, bad.shape):
            numbers[name] = np.broadcast_to(array, bad.shape)[place].item()
    return numbers


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether ``shape`` broadcasts to the shape ``to``."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))


# --- Why ---


def cause(causes: Sequence[Cause], numbers: Mapping[str, Any]) -> Cause | None:
    """Return the first cause that applies to the numbers; None for complex ones, which the tests cannot compare."""
    if any(isinstance(number, complex) for number in numbers.values()):
        return None
    for found in causes:
        names = found.test.__code__.co_varnames[: found.test.__code__.co_argcount]
        if all(name in numbers for name in names) and found.test(*[numbers[name] for name in names]):
            return found
    return None


def why_forward(primitive: Any, numbers: Mapping[str, Any], bad: Array) -> str:
    """Explain, as the end of a sentence, why an operation made a result that is not finite."""
    facts = known(primitive)
    found = cause(facts.undefined, numbers)
    if found is not None:
        return found.words
    if np.isnan(bad[place_of(bad)]):
        return "it is undefined for these operands, or overflows inside the operation"
    too_large = f"it is too large for {bad.dtype}, whose maximum is {np.finfo(bad.dtype).max:.3g}"
    return too_large if facts.only_overflows else f"{too_large}, or infinite for these operands"


def why_backward(primitive: Any, by: str, numbers: Mapping[str, Any], bad: Array) -> str:
    """Explain, as the end of a sentence, why a derivative is not finite although the incoming gradient is."""
    found = cause(known(primitive).steep, {**numbers, "by": by})
    return f"its formula is undefined or overflows {bad.dtype} for these values" if found is None else found.words
