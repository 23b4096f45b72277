"""A loop of a written program: its body is the last turn, with places for what differs from turn to turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .statements import Expression, Length, Statement, Value

_COUNTERS = ("t", "i", "k")


class TextLine(NamedTuple):
    """A line of the program: its text, whether it is a comment on where it comes from, and the statements it runs."""

    text: str
    comment: bool = False
    statements: Sequence[Statement] = ()


class TurnIndex(Expression):
    """An integer that is ``first`` in the first turn, and ``step`` more in each further turn."""

    def __init__(self, first: int | Length, step: int) -> None:
        super().__init__("", 5)
        self.first, self.step = first, step

    def spell(self, name: str, start: int | Length, sign: int) -> None:
        """Write the integer in terms of the counter, which is ``start + sign * turn``.

        Raises:
            TypeError: that is no sum of a size and an integer.
        """
        factor = self.step * sign
        rest = self.first + start if factor == -1 else self.first - (start if factor == 1 else factor * start)  # type: ignore[operator]
        term = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
        if factor < 0:
            self.text = f"{rest} - {term}"
        else:
            self.text = str(Length(term, rest)) if type(rest) is int else f"{term} + {rest}"
        self.tightness = 10 if self.text == name else 5


class Carried(NamedTuple):
    """A value that one turn takes over from the turn before.

    Attributes:
        value: it, as the body reads it.
        first: what it is in the first turn.
        last: the value of the body that it is in the next turn.
        shared: whether both have one name: the body does not read the old one after it has computed the new one.
    """

    value: Value
    first: Any
    last: Value
    shared: bool


class Listed(NamedTuple):
    """A value that a program reads from a list.

    Attributes:
        value: it.
        source: the array or list that has it, or the texts before and after an index.
        at: its position, which may differ from turn to turn.
        collected: whether the list is the one that collects ``source``, a value of another loop.
    """

    value: Value
    source: Value | tuple[str, str]
    at: int | TurnIndex
    collected: bool = False


class Spread:
    """Elements of a list that is part of a tuple or list: ``*hs``, without ``ends`` of them, or in reverse.

    ``source`` is the value of the loop that collects the list.
    """

    def __init__(self, source: Value, ends: tuple[int, int], reverse: bool) -> None:
        self.source, self.ends, self.reverse = source, ends, reverse

    def spelled(self, name: str) -> str:
        low, high = self.ends
        part = f"[{low or ''}:{-high or ''}]" if low or high else ""
        return name + part + "[::-1]" * self.reverse


class Loop(Statement):
    """A loop.

    Attributes:
        turns: the statements of each turn. The last turn is the body.
        count: the number of turns; with free sizes, perhaps an expression.
        carried: what a turn takes over from the turn before.
        collected: the values of the body that lists collect.
        counters: the integers that differ from turn to turn.
        elements: what the body reads from lists, and what the program reads later from the lists of this loop.
    """

    __slots__ = ("carried", "collected", "count", "counters", "elements", "read_later", "turns")

    def __init__(self, turns: Sequence[Sequence[Statement]]) -> None:
        super().__init__(turns[0][0].number, Loop, (), {})
        self.turns = turns
        self.count: int | Length = len(turns)
        self.carried: list[Carried] = []
        self.collected: list[Value] = []
        self.counters: list[TurnIndex] = []
        self.elements: list[Listed] = []
        self.read_later: list[Listed] = []
        self.backward = self.body[0].backward

    @property
    def body(self) -> Sequence[Statement]:
        return self.turns[-1]


def loop_lines(text: Any, loop: Loop) -> list[TextLine]:
    """Return the lines of a loop, with what is before it: the first values and the empty lists.

    ``text`` is the :class:`~.words.Text` of the program, which imports this module.
    """
    names = text.names
    lines: list[TextLine] = []
    for carried in loop.carried:
        lines += _first(text, loop, carried)
    collected = [value for statement in loop.body for value in statement.outputs if value in loop.collected]
    for value in collected:
        wanted = names.wanted(value)
        text.lists[value] = names.take(wanted + ("_list" if wanted.endswith("s") else "s"))
        lines.append(TextLine(f"{text.lists[value]} = []"))
    head = _header(text, loop)
    for element in loop.elements:
        names.of[element.value] = _element(text, element)
    body = text.block(loop.body)
    for statement, *others in zip(*(loop.body, *loop.turns[:-1])):
        for i, value in enumerate(statement.outputs):
            names.of.update({other.outputs[i]: names.of[value] for other in others if value in names.of})
    body += [
        TextLine(f"{text.lists[value]}.append({text.of(value)})", False, text.run_by(value)) for value in collected
    ]
    moved = [c for c in loop.carried if not c.shared]
    body += [TextLine(f"{names.of[c.value]} = {text.of(c.last)}", False, text.run_by(c.last)) for c in moved]
    turns = dict(zip(loop.body, zip(*loop.turns)))
    for element in loop.read_later:
        names.of[element.value] = _element(text, element)
    if not body:
        return []  # it only picks elements, which are picked where they are read
    body = [TextLine("    " + line, comment, [e for s in by for e in turns.get(s, (s,))]) for line, comment, by in body]
    return [*lines, TextLine(head), *body]


def _first(text: Any, loop: Loop, carried: Carried) -> list[TextLine]:
    """Name a carried value. Return the line that gives it its first value, if a new name needs one."""
    names, first = text.names, carried.first
    inherits = carried.shared and type(first) is Value and first in names.of and names.of[first].isidentifier()
    if inherits:
        fits = names.wanted(first) == names.wanted(carried.last) or (
            first.name is None and first.statement.name is None
        )
        inherits = fits and text.gives_way(first, loop)
    wanted = names.wanted(carried.last) + "_before" * (not carried.shared)
    name = names.of[first] if inherits else names.take(wanted)
    names.of[carried.value] = name
    if carried.shared:
        names.of[carried.last] = name
    return [] if inherits else [TextLine(f"{name} = {text.of(first)}", False, text.run_by(first))]


def _header(text: Any, loop: Loop) -> str:
    """Choose the counter so that the first index is the counter itself. Return the line with ``for``."""
    count = loop.count
    if not loop.counters:
        return f"for _ in range({count}):"
    if text.counter is None:
        free = [name for name in _COUNTERS if text.names.is_unused(name)]
        text.counter = text.names.take(free[0] if free else "turn")
    plain = [counter for counter in loop.counters if abs(counter.step) == 1]
    start, sign = (plain[0].first, plain[0].step) if plain else (0, 1)
    try:
        for counter in loop.counters:
            counter.spell(text.counter, start, sign)
        low = start if sign > 0 else start - count + 1  # type: ignore[operator]
        high = low + count  # type: ignore[operator]
    except TypeError:  # sums of two sizes: count from 0 instead
        low, high, sign = 0, count, 1
        for counter in loop.counters:
            counter.spell(text.counter, 0, 1)
    span = f"range({high})" if low == 0 else f"range({low}, {high})"
    return f"for {text.counter} in {span if sign > 0 else f'reversed({span})'}:"


def _element(text: Any, element: Listed) -> str:
    index = element.at.text if isinstance(element.at, TurnIndex) else str(element.at)
    if isinstance(element.source, tuple):
        before, after = element.source
        return f"{before}{index}{after}"
    source = text.lists[element.source] if element.collected else text.names.of[element.source]
    return f"{source}[{index}]"


def without_repeats(lines: Sequence[TextLine]) -> list[TextLine]:
    """Leave out a comment that says only what its one line says."""

    def squeezed(text: str) -> str:
        return "".join(text.split()).replace("(", "").replace(")", "")

    kept = []
    for i, line in enumerate(lines):
        if line.comment and not line.text.startswith("# back through "):
            alone = i + 2 >= len(lines) or lines[i + 2].comment or not lines[i + 2].text
            said, written = squeezed(line.text[2:].partition("  #")[0]), squeezed(lines[i + 1].text)
            if alone and (said == written or said == f"return{written.partition('=')[2]}"):
                continue
        kept.append(line)
    return kept
