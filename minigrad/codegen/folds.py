"""Write the equal turns of a loop, which are found in the statements, as one loop again.

The statements keep their order, and each reads the same values as before, so that no bit changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .loops import Carried, Listed, Loop, Spread, Turn
from .statements import Memory, Statement, Value, key_of, leaves_of, replaced
from .turns import FEWEST, Repeat, Role, Search


def folded(
    statements: Sequence[Statement], results: Any, paths: dict[Value, str], every: bool = False
) -> tuple[list[Statement], Any]:
    """Return the statements of a program with its loops folded, and its results in terms of them.

    ``paths`` has the text that takes each value out of its argument, such as ``params[0]``. The loops are those that save
    lines; with ``every``, they are all, because their number of turns is free.
    """
    search = Search(statements, results, paths, every)
    middle = next((i for i, each in enumerate(statements) if each.backward), len(statements))
    search.fold(0, middle)
    search.fold(middle, len(statements))
    return _Folding(search).done(results)


class _Folding:
    """Makes loops of the runs."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.elements: dict[Value, Value] = {}

    def done(self, results: Any) -> tuple[list[Statement], Any]:
        statements, runs = self.search.statements, sorted(self.search.runs, key=lambda run: run.start)
        for run in runs:
            run.loop = self.loop(run)
        found: list[Statement] = []
        at = 0
        for run in runs:
            assert run.loop is not None
            found += [*statements[at : run.start], run.loop]
            at = run.end
        found += statements[at:]
        for statement in found:
            own = statement if isinstance(statement, Loop) else None
            for each in own.body if own is not None else [statement]:
                each.args = self.spread(each.args)
                _rewrite(each, lambda leaf, own=own: self.outside(leaf, own))  # type: ignore[misc]
            if isinstance(statement, Loop):
                statement.carried = [c._replace(first=self.outside(c.first)) for c in statement.carried]
        return found, replaced(self.outside, results)

    def loop(self, run: Repeat) -> Loop:
        """Return the loop of a run. Its body is the last turn, with places for what differs from turn to turn."""
        start, period = run.start, run.period
        turns = [self.search.statements[i : i + period] for i in range(start, run.end, period)]
        loop = Loop(turns)
        carried: dict[Any, Carried] = {}
        for roles, statement in zip(run.roles, loop.body):
            leaves = [self.placed(role, leaf, loop, carried, run) for role, leaf in zip(roles, leaves_of(statement))]
            given = iter(leaves)
            _rewrite(statement, lambda _, given=given: next(given))  # type: ignore[misc]
        loop.carried = [*carried.values()]
        return loop

    def placed(self, role: Role, leaf: Any, loop: Loop, carried: dict[Any, Carried], run: Repeat) -> Any:
        """Return what stands for an argument in the body."""
        if role.kind in ("same", "turn"):
            return leaf
        if role.kind == "carried":
            key = role.place, key_of(role.leaf)
            if key not in carried:
                carried[key] = self.carry(role, leaf, loop, run, role.place in {place for place, _ in carried})
            return carried[key].value
        counter = Turn(role.first, role.step)
        loop.counters.append(counter)
        if role.kind == "count":
            return counter
        value = _stand_in(leaf)
        if role.kind == "pick":
            loop.elements.append(Listed(value, self.outside(role.leaf), counter))
        elif role.loop is not None:
            loop.elements.append(Listed(value, self.collected(role.loop, role.place), counter, True))
        else:
            parts = re.split(r"(\[\d+\])", self.search.paths[leaf])
            before, after = "".join(parts[: role.place[0]]), "".join(parts[role.place[0] + 1 :])
            loop.elements.append(Listed(value, (f"{before}[", f"]{after}"), counter))
        return value

    def carry(self, role: Role, leaf: Value, loop: Loop, run: Repeat, known: bool) -> Carried:
        position, output = role.place
        last = loop.body[position].outputs[output]
        readers = [i for i, roles in enumerate(run.roles) for each in roles if _same_role(each, role)]
        shared = not known and max(readers) <= position
        value = _stand_in(leaf)
        if shared:  # the name gets its new value: an expression with the old one must not move past that
            value.memory = Memory()
            value.memory.writes = [*leaf.memory.writes, loop.body[position].number + 0.5]  # type: ignore[list-item]
        return Carried(value, role.leaf, last, shared)

    def collected(self, run: Repeat, place: tuple[int, int]) -> Value:
        assert run.loop is not None
        value = run.loop.body[place[0]].outputs[place[1]]
        if value not in run.loop.collected:
            run.loop.collected.append(value)
        return value

    def outside(self, leaf: Any, reader: Loop | None = None) -> Any:
        """Return what stands for a value outside of its loop: an element of a list, unless it is of the last turn."""
        if type(leaf) is not Value or leaf not in self.search.home:
            return leaf
        run, turn, place = self.search.home[leaf]
        pick = self.search.picks.get(leaf)
        if pick is not None and pick[0] in self.search.home:
            pick = None
        if turn == run.count - 1 and (pick is None or run.loop is reader):
            return leaf
        if leaf not in self.elements:
            assert run.loop is not None
            value = self.elements[leaf] = _stand_in(leaf)
            if pick is None:
                run.loop.read_later.append(Listed(value, self.collected(run, place), turn, True))
            else:
                run.loop.read_later.append(Listed(value, *pick))
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
            (run, first, place), (_, last, _) = (self.search.home[items[i]] for i in (at, end - 1))
            ends = min(first, last), run.count - 1 - max(first, last)
            kept.append(Spread(self.collected(run, place), ends, last < first))
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


def _stand_in(leaf: Value) -> Value:
    return Value(leaf.data, None, True, leaf.memory)


def _rewrite(statement: Statement, function: Callable[[Any], Any]) -> None:
    statement.args, statement.keywords = replaced(function, (statement.args, statement.keywords))
    if statement.target is not None:
        statement.target = function(statement.target)


def _same_role(a: Role, b: Role) -> bool:
    return a.place == b.place and bool(key_of(a.leaf) == key_of(b.leaf))
