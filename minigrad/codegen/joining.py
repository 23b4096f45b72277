"""Which expressions are put into the line that uses them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from operator import getitem, setitem
from typing import Any

import numpy as np

from .functions import Key
from .loops import Loop
from .simplify import in_order
from .statements import Expression, InPlace, Memory, Statement, Value, in_place, ufunc_of, values_in

# The longest expressions that are put into another line: in the backward pass, and where the user's line has both.
JOINED, JOINED_FORWARD = 48, 64
ATOM = 10  # how tightly an expression binds: a name or a call binds tightest
ADDING: dict[Any, str] = {in_place(np.add): "+", in_place(np.subtract): "-"}
_KEY = re.compile(r"\[[^][]*\"\]")  # the key of a parameter, which is not counted
_TURNS = {np.transpose, np.swapaxes}


class Joining:
    """Decides which expressions are put into the line that uses them, as a person would."""

    def __init__(self, statements: Sequence[Statement], results: Any) -> None:
        self._joined: dict[Value, tuple[str, float]] = {}  # the text of each expression, and how tightly it binds
        self.uses: dict[Value, list[Statement | None]] = {}
        self._loop_of: dict[Statement | None, Loop] = {}
        self._find_uses(statements)
        for value in values_in(results):
            self.uses.setdefault(value, []).extend([None, None])

    def _find_uses(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            for value in statement.values:
                self.uses.setdefault(value, []).append(statement)
            if statement.target is not None:
                self.uses[statement.target] += [statement]
            if isinstance(statement, Loop):
                self._loop_of.update(dict.fromkeys(statement.body, statement))
                self._find_uses(statement.body)
                for value in values_in([carried.first for carried in statement.carried]):
                    self.uses.setdefault(value, []).extend([statement, statement])
                lasting: list[Any] = [*statement.collected, *(carried.last for carried in statement.carried)]
                lasting += [each.source for each in (*statement.elements, *statement.read_later)]
                for value in values_in(lasting):
                    self.uses.setdefault(value, []).extend([None, None])

    def gives_way(self, value: Value, loop: Loop) -> bool:
        """Whether a loop can use the name of a value for what it carries: nothing reads the value later."""
        uses = self.uses[value]
        if uses.count(loop) > 2 or any(use is None or (use is not loop and use.number >= loop.number) for use in uses):
            return False
        joined = [o for use in uses if use is not None for o in use.outputs if o in self._joined]
        return all(self.gives_way(output, loop) for output in joined)

    def _is_name(self, arg: Any) -> bool:
        return type(arg) is Value and (arg not in self._joined or self._joined[arg][1] == ATOM)

    def _joins(self, statement: Statement, value: Value, text: str, tightness: float) -> bool:
        """Whether an expression is part of the lines that use it."""
        uses = self.uses[value]
        source: Any = next(iter(statement.args), None)
        if self._leaves_loop(statement, value) or None in uses or not self._unwritten(statement, uses):
            return False
        if uses[0] is not None and _scatters(uses[0], value):
            uses = list(dict.fromkeys(uses))  # np.add.at(x.reshape(-1), ...) reads the view once
        turned = statement.call in _TURNS and text.endswith("T") and self._is_name(source)
        if turned or (_is_part(statement, (int, Expression)) and bool(source.name)):
            return True  # x.T and x[3] are short
        user = uses[0]
        stores = user is not None and user.call is setitem and isinstance(user.args[1], Key)  # dp["weight"] = ...
        long = len(_KEY.sub("", text)) > (JOINED if statement.backward else JOINED_FORWARD) and not stores
        if len(uses) > 1 or user is None or long:
            return False
        if self._loop_of.get(user) is not self._loop_of.get(statement) or user.backward != statement.backward:
            return False  # a value outside of a loop is computed once, and not in each turn
        near = str(statement.place) == str(user.place)
        if not statement.backward:
            return near or (_is_part(statement) and not _named(value))
        result = _result_of(user)
        own_line = _named(value.cotangent_of) and result is not value.cotangent_of and not stores
        if own_line and (result or user.call is not np.sum):
            return False  # dh has a line of its own where h has one
        if user.call is np.matmul and tightness <= 6 and statement.call is not np.matmul:
            return False
        return stores or near or statement.call in (*_TURNS, np.reshape, np.sum) or getattr(user.call, "part", False)

    def _begins(self, statement: Statement, value: Value, text: str) -> bool:
        """Whether the next line that uses a value adds to it, in place: then both may be one line, ``dh = a + b``."""
        user = self.uses[value][0]
        if user is None or not statement.backward or user.target is not value or user.call not in ADDING:
            return False
        other = user.args[1]  # a sum of arrays in another order would lie in another order, too
        alike = type(other) is Value and in_order(value) and in_order(other)
        near = str(user.place) == str(statement.place) and self._loop_of.get(user) is self._loop_of.get(statement)
        return alike and near and len(text) <= JOINED and self._unwritten(statement, [user])

    def _leaves_loop(self, statement: Statement, value: Value) -> bool:
        """Whether a value of a loop is used outside of it."""
        loop = self._loop_of.get(statement)
        return loop is not None and any(self._loop_of.get(use) is not loop for use in self.uses[value])

    def _unwritten(self, statement: Statement, uses: Iterable[Statement | None]) -> bool:
        """Whether nothing that the expression reads is written to before its last use."""
        last: float = max(use.number - _scatters(use, statement.outputs[0]) for use in uses if use is not None)
        if any(self._loop_of.get(use) is not self._loop_of.get(statement) for use in uses):
            last = math.inf  # a turn may read after the last turn writes
        read: set[Memory] = set()
        waiting = [statement]
        while waiting:
            for value in waiting.pop().values:
                read.add(value.memory)
                if value in self._joined and value.statement is not None:
                    waiting.append(value.statement)
        return not any(statement.number < write <= last for memory in read for write in memory.writes)


def _scatters(statement: Statement, value: Value) -> bool:
    """Whether a statement writes into a value by a call that has it as an argument once, such as ``np.add.at``."""
    return (
        statement.target is value and not isinstance(statement.call, InPlace) and ufunc_of(statement.call) is not None
    )


def _named(value: Value | None) -> bool:
    """Whether the user's program has a name for a value."""
    return value is not None and bool(value.name or (value.statement is not None and value.statement.name))


def _result_of(statement: Statement) -> Value | None:
    """Return the value whose cotangent a statement computes or adds to."""
    value = statement.target if isinstance(statement.call, InPlace) else next(iter(statement.outputs), None)
    return None if value is None else value.cotangent_of


def _is_part(statement: Statement, kinds: Any = object) -> bool:
    """Whether a statement picks a part of a value at an index that is known, such as ``z[:, :4]``."""
    if statement.call is not getitem or type(statement.args[0]) is not Value:
        return False
    return isinstance(statement.args[1], kinds) and not any(values_in(statement.args[1]))
