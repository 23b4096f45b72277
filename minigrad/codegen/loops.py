"""Find what a function repeats, equal turns of statements, and write each repeat as one loop again.

Each argument is the same in every turn, or computed in the same turn, or taken over from the turn before, or an element of a
list (:class:`Role`). What is unclear is not repeated. The statements keep their order, and each reads the same values as
before, so that no bit changes. docs/written-out.md shows programs with such loops.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from .record import Check, Memory, Statement, Value, replaced, values_in
from .simplify import identity

FEWEST = 3  # turns
_PATH = re.compile(r"\w+(\[(\d+|\"\w+\")\])*")


@dataclass(eq=False, repr=False)
class Expression:
    """A number that the program computes from sizes. ``text`` is Python, and binds as tightly as ``tightness`` says."""

    text: str
    tightness: float

    def __repr__(self) -> str:
        return self.text


class Length(Expression):
    """A whole number that the program computes from sizes: ``base + plus``, such as ``len(x) - 1``."""

    def __init__(self, base: str, plus: int = 0, tightness: float = 10) -> None:
        sign = "-" if plus < 0 else "+"
        super().__init__(f"{base} {sign} {abs(plus)}" if plus else base, 5 if plus else tightness)
        self.base, self.plus, self._of_base = base, plus, tightness

    def __add__(self, other: int) -> Length:
        return Length(self.base, self.plus + other, self._of_base) if type(other) is int else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Length and other.base == self.base:
            return self.plus - other.plus
        return self + -other if type(other) is int else NotImplemented


class TurnIndex(Expression):
    """An integer that is ``first`` in the first turn, and ``step`` more in each further turn."""

    def __init__(self, first: int | Length, step: int) -> None:
        super().__init__("", 5)
        self.first, self.step = first, step

    def spell(self, name: str, start: int | Length, sign: int) -> None:
        """Write the integer in terms of the loop variable, which is ``start + sign * turn``.

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
    """A value that a program reads from a list or an array.

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
        indices: the integers that differ from turn to turn.
        elements: what the body reads from lists, arrays or arguments: another element in each turn.
        read_later: what the program reads after the loop: items of the lists that the loop fills, and what it picks again.
    """

    __slots__ = ("carried", "collected", "count", "elements", "indices", "read_later", "turns")

    def __init__(self, turns: Sequence[Sequence[Statement]]) -> None:
        super().__init__(turns[0][0].number, Loop, (), {})
        self.turns = turns
        self.count: int | Length = len(turns)
        self.carried: list[Carried] = []
        self.collected: list[Value] = []
        self.indices: list[TurnIndex] = []
        self.elements: list[Listed] = []
        self.read_later: list[Listed] = []
        self.backward = self.body[0].backward

    @property
    def body(self) -> Sequence[Statement]:
        return self.turns[-1]


def folded(
    statements: Sequence[Statement], results: Any, paths: dict[Value, str], every: bool = False
) -> tuple[list[Statement], Any]:
    """Return the statements of a program with its loops folded, and its results in terms of them.

    ``paths`` has the text that takes each value out of its argument, such as ``params[0]``. The loops are those that save
    lines; with ``every``, they are all, because their number of turns is free.
    """
    search = Search(statements, results, paths, every)
    middle = next((i for i, each in enumerate(statements) if each.backward), len(statements))
    search.find(0, middle)
    search.find(middle, len(statements))
    return _Folding(search).done(results)


class Role(NamedTuple):
    """What an argument is from turn to turn. ``kind`` is one of these:

    - "same": what it is in every turn, such as ``W``
    - "turn": what the same turn computes
    - "carried": what the turn before computes, and in the first turn ``leaf``
    - "count": an integer that grows or falls, such as the 3 of ``x[3]``
    - "pick": ``xs[t]``, an element that is picked from one array, ``leaf``
    - "element": an item of the list that another loop fills, such as ``hs[t]``
    - "path": an item of an argument, such as ``params[t]["W"]``, whose index is part ``at`` of its text
    """

    kind: str
    leaf: Any = None  # the argument in the last turn; of a carried value, the one in the first turn
    slot: tuple[int, int] = (0, 0)  # the statement of a turn that computes it, and which of its outputs it is
    loop: Repeat | None = None
    first: int = 0
    step: int = 0
    at: int = 0


class Repeat:
    """Turns of ``period`` statements each, from the statement ``start`` on. ``roles`` has those of each statement."""

    def __init__(self, start: int, period: int, count: int, roles: list[list[Role]]) -> None:
        self.start, self.period, self.count, self.roles = start, period, count, roles
        self.end = start + period * count
        self.loop: Loop | None = None


class Search:
    """Finds the repeats of equal turns: those that save lines, or every one if the number of turns is free."""

    def __init__(self, statements: Sequence[Statement], results: Any, paths: dict[Value, str], every: bool) -> None:
        self.statements, self.every = statements, every
        self.paths = {value: path for value, path in paths.items() if _PATH.fullmatch(path)}
        self.readers: dict[Value, list[int]] = {value: [-1] for value in values_in(results)}  # -1 is the return
        for i, statement in enumerate(statements):
            for value in statement.values:
                self.readers.setdefault(value, []).append(i)
        self.repeats: list[Repeat] = []
        self.leaves = [statement.leaves for statement in statements]
        self.made = {v: (i, o) for i, statement in enumerate(statements) for o, v in enumerate(statement.outputs)}
        self.home: dict[Value, tuple[Repeat, int, tuple[int, int]]] = {}  # the repeat, the turn and the slot of a value
        self.picks = {statement.outputs[0]: _pick(statement) for statement in statements if _pick(statement)}
        forms: dict[Any, int] = {}  # of the statements of a line
        self.forms = np.array([forms.setdefault((s.place, form_of(s)), len(forms)) for s in statements], int)

    def find(self, low: int, high: int) -> None:
        """Find the repeats between two statements."""
        # Loops that save no lines. A turn that is several turns of such a loop saves none either.
        useless: list[tuple[int, int, int]] = []
        for period, start, end in self.candidates(low, high):
            if any(period % p == 0 and first - p <= start and end <= last + p for p, first, last in useless):
                continue
            repeat = self.best(period, start, end)
            if repeat is None:
                continue
            if not self.every and self.lines_saved(repeat) <= 0:
                useless.append((period, start, end))
                continue
            self.add(repeat)
            self.find(low, repeat.start)
            self.find(repeat.end, high)
            return

    def add(self, repeat: Repeat) -> None:
        self.repeats.append(repeat)
        for i in range(repeat.start, repeat.end):
            turn, position = divmod(i - repeat.start, repeat.period)
            for o, value in enumerate(self.statements[i].outputs):
                self.home[value] = repeat, turn, (position, o)

    def candidates(self, low: int, high: int) -> list[tuple[int, int, int]]:
        """Return ``(period, start, end)`` of statements of equal form: those that save most first, or the shortest turns."""
        found = []
        for period in range(1, (high - low) // FEWEST + 1):
            equal = self.forms[low : high - period] == self.forms[low + period : high]
            edges = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
            for first, last in edges.reshape(-1, 2).tolist():
                if last - first >= (FEWEST - 1) * period:
                    saved = ((last - first) // period) * period
                    found.append((0 if self.every else -saved, period, low + first, low + last + period))
        return [(period, start, end) for _, period, start, end in sorted(found)]

    def best(self, period: int, start: int, end: int) -> Repeat | None:
        """Return the repeat of a period that reads best; it may leave out turns at both ends."""
        found: tuple[float, Repeat] | None = None
        for first in range(start, min(start + 3 * period, end - FEWEST * period + 1)):
            most = (end - first) // period  # no score is higher
            if found is not None and most <= found[0]:
                break
            roles = self.roles(first, period, FEWEST)
            if roles is None or (found is not None and self.score(Repeat(first, period, most, roles)) <= found[0]):
                continue
            repeat = self.longest(first, period, end)
            if found is None or self.score(repeat) > found[0]:
                found = self.score(repeat), repeat
        return None if found is None else found[1]

    def longest(self, start: int, period: int, end: int) -> Repeat:
        """Return the repeat with the largest number of equal turns; the statements of an equal loop may follow."""
        numbers = range(FEWEST + 1, (end - start) // period + 1)
        count = FEWEST + bisect(numbers, 0, key=lambda count: self.roles(start, period, count) is None)
        roles = self.roles(start, period, count)
        assert roles is not None
        return Repeat(start, period, count, roles)

    def lines_saved(self, repeat: Repeat) -> int:
        """Return about how many lines of the program a loop saves: a turn has a line for each value that is not read once."""
        saved, collected = 0, 0
        carried = {role.slot for roles in repeat.roles for role in roles if role.kind == "carried"}
        for position in range(repeat.period):
            at = repeat.start + repeat.period + position  # in the second turn
            values = self.statements[at].outputs
            if any(value in self.picks for value in values):
                continue
            readers = [reader for value in values for reader in self.readers.get(value, [])]
            alone = len(readers) != 1 or (position, 0) in carried or not self.close(at, readers[0])
            several = self.statements[at].several  # a call of a function: a long line of its own
            saved += (repeat.count - 1) * (2 if several else alone)
            collected += any(not repeat.start <= reader < repeat.end for reader in readers)
        return saved - 1 - len(carried) - 2 * collected

    def close(self, i: int, reader: int) -> bool:
        """Whether a value that is read once is probably part of the line that reads it."""
        one, other = self.statements[i], self.statements[reader]
        return reader > i and (one.entry is other.entry if one.backward else one.place == other.place)

    def score(self, repeat: Repeat) -> float:
        """Return how well a repeat reads: many turns, few values that are taken over, and those with names of the user."""
        carried = {role.slot for roles in repeat.roles for role in roles if role.kind == "carried"}
        score = float(repeat.count)
        for position, o in carried:
            value = self.statements[repeat.start + position].outputs[o]
            of = value.cotangent_of or value
            score -= 0.1 if of.name or (of.statement is not None and of.statement.name) else 1.5
        before = self.statements[repeat.start - 1].place if repeat.start else None
        return score - 0.2 * (before == self.statements[repeat.start].place)

    def roles(self, start: int, period: int, count: int) -> list[list[Role]] | None:
        """Return the role of each argument in a repeat; None if the turns are not equal."""
        found = []
        for position in range(period):
            numbers = range(start + position, start + period * count, period)
            if not _equal_outputs([self.statements[i] for i in numbers]):
                return None
            roles = []
            for column in zip(*(self.leaves[i] for i in numbers)):
                role = self.role(column, start, period, self.statements[start + position])
                if role is None:
                    return None
                roles.append(role)
            found.append(roles)
        patterns = (self.written(start + turn * period, period) for turn in range(count))
        first = next(patterns)
        return found if all(pattern == first for pattern in patterns) else None

    def written(self, start: int, period: int) -> list[int | None]:
        """Return which arguments of a turn share memory with what the turn writes to: that must not differ."""
        first: dict[Memory, int] = {}  # the first statement that writes to a memory
        for i in range(period):
            if (target := self.statements[start + i].target) is not None:
                first.setdefault(target.memory, i)
        read = [leaf for i in range(period) for leaf in self.leaves[start + i]]
        return [first.get(leaf.memory) if type(leaf) is Value else None for leaf in read] if first else []

    def role(self, column: Sequence[Any], start: int, period: int, statement: Statement) -> Role | None:
        """Return what an argument is in all turns, given what it is in each; None if that is unclear."""
        first, last = column[0], column[-1]
        if all(_same(first, leaf) for leaf in column[1:]):
            before = type(first) is not Value or self.made.get(first, (-1, 0))[0] < start
            return Role("same", last) if before else None
        if all(type(leaf) is int for leaf in column) or _are_whole(column, statement):
            step, first = _step(column), int(first)
            return None if step is None else Role("count", first=first, step=int(step))
        if not all(type(leaf) is Value for leaf in column[1:]):
            return None
        places = [self.made.get(leaf, (-1, 0)) if type(leaf) is Value else (-1, 0) for leaf in column]
        position, output = places[-1][0] - start - (len(column) - 1) * period, places[-1][1]
        if 0 <= position < period:
            equal = all(at == (start + k * period + position, output) for k, at in enumerate(places))
            return Role("turn", last, (position, output)) if equal else None
        if -period <= position < 0 and places[0][0] < start:
            ahead = places[1:]
            equal = all(at == (start + (k + 1) * period + position, output) for k, at in enumerate(ahead))
            return Role("carried", first, (position + period, output)) if equal else None
        return self.listed(column, start) if type(first) is Value else None

    def listed(self, column: Sequence[Value], start: int) -> Role | None:
        """Return the role of elements of a list: of what another loop computed, or of an argument."""
        picks = [pick for value in column if (pick := self.picks.get(value))]
        if len(picks) == len(column) and len({pick[0] for pick in picks}) == 1:
            source, step = picks[0][0], _step([index for _, index in picks])
            if step is not None and self.made.get(source, (-1, 0))[0] < start:
                return Role("pick", source, first=picks[0][1], step=step)
        homes = [self.home.get(value) for value in column]
        if homes[0] is not None:
            repeat, _, slot = homes[0]
            turns = [home[1] for home in homes if home is not None and home[0] is repeat and home[2] == slot]
            step = _step(turns) if len(turns) == len(homes) else None
            return None if step is None else Role("element", column[-1], slot, repeat, turns[0], step)
        if any(value not in self.paths for value in column):
            return None
        parts = [re.split(r"\[(\d+)\]", self.paths[value]) for value in column]
        if len({len(each) for each in parts}) > 1:
            return None
        differing = [i for i, items in enumerate(zip(*parts)) if len(set(items)) > 1]
        if len(differing) != 1 or differing[0] % 2 == 0:
            return None
        (i,) = differing
        step = _step([int(each[i]) for each in parts])
        return None if step is None else Role("path", column[-1], first=int(parts[0][i]), step=step, at=i)


class _Folding:
    """Makes loops of the repeats."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.elements: dict[Value, Value] = {}

    def done(self, results: Any) -> tuple[list[Statement], Any]:
        statements, repeats = self.search.statements, sorted(self.search.repeats, key=lambda repeat: repeat.start)
        for repeat in repeats:
            repeat.loop = self.loop(repeat)
        found, at = list[Statement](), 0
        for repeat in repeats:
            assert repeat.loop is not None
            found += [*statements[at : repeat.start], repeat.loop]
            at = repeat.end
        found += statements[at:]
        for statement in found:
            own = statement if isinstance(statement, Loop) else None
            for each in own.body if own is not None else [statement]:
                each.args = self.spread(each.args)
                _rewrite(each, lambda leaf, own=own: self.outside(leaf, own))  # type: ignore[misc]
            if isinstance(statement, Loop):
                statement.carried = [c._replace(first=self.outside(c.first)) for c in statement.carried]
        return found, replaced(self.outside, results)

    def loop(self, repeat: Repeat) -> Loop:
        """Return the loop of a repeat. Its body is the last turn, with stand-ins for what differs from turn to turn."""
        start, period = repeat.start, repeat.period
        turns = [self.search.statements[i : i + period] for i in range(start, repeat.end, period)]
        loop = Loop(turns)
        carried: dict[Any, Carried] = {}
        for roles, statement in zip(repeat.roles, loop.body):
            leaves = [self.placed(role, leaf, loop, carried, repeat) for role, leaf in zip(roles, statement.leaves)]
            given = iter(leaves)
            _rewrite(statement, lambda _, given=given: next(given))  # type: ignore[misc]
        loop.carried = [*carried.values()]
        return loop

    def placed(self, role: Role, leaf: Any, loop: Loop, carried: dict[Any, Carried], repeat: Repeat) -> Any:
        """Return what stands for an argument in the body."""
        if role.kind in ("same", "turn"):
            return leaf
        if role.kind == "carried":
            key = role.slot, identity(role.leaf)
            if key not in carried:
                carried[key] = self.carry(role, leaf, loop, repeat, role.slot in {slot for slot, _ in carried})
            return carried[key].value
        index = TurnIndex(role.first, role.step)
        loop.indices.append(index)
        if role.kind == "count":
            return index
        value = _stand_in(leaf)
        if role.kind == "pick":
            loop.elements.append(Listed(value, self.outside(role.leaf), index))
        elif role.loop is not None:
            loop.elements.append(Listed(value, self.collected(role.loop, role.slot), index, True))
        else:
            parts = re.split(r"(\[\d+\])", self.search.paths[leaf])
            before, after = "".join(parts[: role.at]), "".join(parts[role.at + 1 :])
            loop.elements.append(Listed(value, (f"{before}[", f"]{after}"), index))
        return value

    def carry(self, role: Role, leaf: Value, loop: Loop, repeat: Repeat, known: bool) -> Carried:
        position, output = role.slot
        last = loop.body[position].outputs[output]
        alike = role.slot, identity(role.leaf)
        readers = [i for i, roles in enumerate(repeat.roles) if alike in [(r.slot, identity(r.leaf)) for r in roles]]
        shared = not known and max(readers) <= position
        value = _stand_in(leaf)
        if shared:  # the new value overwrites the name: to the printer, a write after statement n, and before n + 1
            value.memory = Memory()
            value.memory.writes = [*leaf.memory.writes, loop.body[position].number + 0.5]  # type: ignore[list-item]
        return Carried(value, role.leaf, last, shared)

    def collected(self, repeat: Repeat, slot: tuple[int, int]) -> Value:
        assert repeat.loop is not None
        value = repeat.loop.body[slot[0]].outputs[slot[1]]
        if value not in repeat.loop.collected:
            repeat.loop.collected.append(value)
        return value

    def outside(self, leaf: Any, reader: Loop | None = None) -> Any:
        """Return what stands for a value outside of its loop, or in ``reader``: itself, or an element of a list or array.

        A picked element has no name after the loop, so it is picked again there.
        """
        if type(leaf) is not Value or leaf not in self.search.home:
            return leaf
        repeat, turn, slot = self.search.home[leaf]
        pick = self.search.picks.get(leaf)
        if pick is not None and pick[0] in self.search.home:
            pick = None  # its array is a value of a loop, too
        if turn == repeat.count - 1 and (pick is None or repeat.loop is reader):
            return leaf  # h, which the last turn has left
        if leaf not in self.elements:
            assert repeat.loop is not None
            value = self.elements[leaf] = _stand_in(leaf)
            if pick is None:
                repeat.loop.read_later.append(Listed(value, self.collected(repeat, slot), turn, True))  # hs[3]
            else:
                repeat.loop.read_later.append(Listed(value, *pick))  # xs[9]
        return self.elements[leaf]

    def spread(self, items: Any) -> Any:
        """Return nested arguments with the values of many turns of a loop as elements of its list."""
        if type(items) not in (tuple, list):
            return items
        kept: list[Any] = []
        at = 0
        while at < len(items):
            end = self.stretch(items, at)
            if end - at < FEWEST:
                kept.append(self.spread(items[at]))
                at += 1
                continue
            (repeat, first, slot), (_, last, _) = (self.search.home[items[i]] for i in (at, end - 1))
            ends = min(first, last), repeat.count - 1 - max(first, last)
            kept.append(Spread(self.collected(repeat, slot), ends, last < first))
            at = end
        return type(items)(kept)

    def stretch(self, items: Sequence[Any], at: int) -> int:
        """Return the end of the values from ``at`` on that turn after turn of a loop computes."""
        homes = [self.search.home.get(item) if type(item) is Value else None for item in items[at:]]
        steps = set()
        for i, (one, other) in enumerate(pairwise(homes)):
            if one is None or other is None or one[0] is not other[0] or one[2] != other[2]:
                return at + i
            steps.add(other[1] - one[1])
            if len(steps) > 1 or abs(other[1] - one[1]) != 1:
                return at + i
        return len(items)


# --- What two turns have in common ---


def _pick(statement: Statement) -> tuple[Value, int] | None:
    """Return the array and the index if a statement only picks an element: ``xs[3]``."""
    if statement.call is not getitem or type(statement.args[0]) is not Value:
        return None
    source, index = statement.args
    index = index[0] if type(index) is tuple and len(index) == 1 else index
    return (source, index) if type(index) is int and not source.memory.writes else None


def form_of(statement: Statement) -> Any:
    """Return what the statements of two turns share if only their values and numbers differ."""
    check = (statement.kind, statement.sentence) if isinstance(statement, Check) else None
    outputs = tuple((type(v.data), np.shape(v.data), np.asarray(v.data).dtype.str) for v in statement.outputs)
    nested = identity(replaced(_without_numbers, (statement.args, statement.keywords)))
    return identity(statement.call), check, outputs, statement.target is not None, nested


def _without_numbers(leaf: Any) -> Any:
    number = type(leaf) in (Value, int, float, complex) or isinstance(leaf, (np.ndarray, np.generic))
    return "number" if number else leaf


def _equal_outputs(statements: Sequence[Statement]) -> bool:
    """Whether the outputs that the text of the last turn has as numbers are the same in all turns."""
    for values in zip(*(statement.outputs for statement in statements)):
        if not values[-1].depends and len({np.asarray(value.data).tobytes() for value in values}) > 1:
            return False
    return True


def _are_whole(column: Sequence[Any], statement: Statement) -> bool:
    """Whether floats can be written as integers: the arrays of the statement are floating, as its result is."""
    if not all(type(leaf) is float and leaf.is_integer() and str(leaf) != "-0.0" for leaf in column):
        return False
    dtypes = {np.asarray(value.data).dtype for value in (*statement.values, *statement.outputs)}
    return bool(statement.values) and len(dtypes) == 1


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(identity(a) == identity(b)))


def _step(numbers: Sequence[Any]) -> Any:
    """Return the step by which numbers grow or fall; None if it is not constant."""
    step = numbers[1] - numbers[0]
    return step if step and all(b - a == step for a, b in pairwise(numbers)) else None


def _stand_in(leaf: Value) -> Value:
    return Value(leaf.data, None, True, leaf.memory)


def _rewrite(statement: Statement, function: Callable[[Any], Any]) -> None:
    statement.args, statement.keywords = replaced(function, (statement.args, statement.keywords))
    if statement.target is not None:
        statement.target = function(statement.target)
