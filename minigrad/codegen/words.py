"""The text of a written program: the lines, and which expressions are put into the line that uses them."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterable, Sequence
from operator import getitem, setitem
from typing import Any

import numpy as np

from .functions import FunctionCall, Key, call_line, key_line
from .loops import Loop, Spread, TextLine, loop_lines, without_repeats
from .names import Constants, GivenNames, quoted
from .simplify import constant, in_order
from .spelling import dtype_name, dtype_text, number_text, transpose_text, without_defaults
from .statements import (
    Augmented,
    Check,
    Expression,
    Memory,
    Method,
    Statement,
    Value,
    in_place,
    owns,
    replaced,
    ufunc_of,
    values_in,
)

# The longest expressions that are put into another line: in the backward pass, and where the user's line has both.
JOINED, JOINED_FORWARD = 48, 64
ATOM = 10  # how tightly an expression binds: a name or a call binds tightest
ADDING: dict[Any, str] = {in_place(np.add): "+", in_place(np.subtract): "-"}
_KEY = re.compile(r"\[[^][]*\"\]")  # the key of a parameter, which is not counted
_TURNS = {np.transpose, np.swapaxes}
SUM = 72  # the longest sum of two expressions that have no other name

# The operators of Python, each with how tightly it binds.
_OPERATORS = {
    np.add: ("+", 5), np.subtract: ("-", 5), np.multiply: ("*", 6), np.divide: ("/", 6), np.floor_divide: ("//", 6),
    np.remainder: ("%", 6), np.matmul: ("@", 6), np.power: ("**", 8), np.greater: (">", 2), np.less: ("<", 2),
    np.equal: ("==", 2), np.greater_equal: (">=", 2), np.less_equal: ("<=", 2), np.not_equal: ("!=", 2),
    np.bitwise_and: ("&", 4), np.bitwise_or: ("|", 3), np.bitwise_xor: ("^", 3.5), np.left_shift: ("<<", 4.5),
    np.right_shift: (">>", 4.5),
}  # fmt: skip
# Functions that are written as methods of a name: z.sum(axis=0).
_METHODS = {
    np.sum, np.mean, np.max, np.min, np.reshape, np.swapaxes, np.transpose, np.squeeze, np.ravel, np.any, np.all, np.prod,
    np.cumsum, np.cumprod, np.argmax, np.argmin, np.argsort, np.repeat, np.take, np.var, np.std,
}  # fmt: skip


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
        if turned or (_picks_part(statement, (int, Expression)) and bool(source.name)):
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
            return near or (_picks_part(statement) and not _named(value))
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


class Text(Joining):
    """Turns statements into lines of Python.

    Attributes:
        constants: the arrays that are no arguments.
        scipy: whether the program calls ``scipy.special``.
        lists: the name of the list that collects a value in a loop.
        counter: the name of the counter of all loops.
        backward: whether all statements are of the backward pass.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        results: Any,
        names: GivenNames,
        constants: Constants,
        backward: bool = False,
    ) -> None:
        super().__init__(statements, results)
        self.statements, self.names = statements, names
        self.constants, self.backward = constants, backward
        self.scipy = False
        self.lists: dict[Value, str] = {}
        self.counter: str | None = None

    # Lines

    def lines(self) -> list[TextLine]:
        """Return the body of the function, without its ``return``."""
        return self.block(self.statements)

    def run_by(self, *leaves: Any) -> list[Statement]:
        """Return the statements that run in a line with the text of these values: those whose text is part of it."""
        found: dict[Any, None] = {}
        waiting = [*values_in(leaves)]
        for statement in (value.statement for value in waiting if value in self._joined):
            waiting += statement.values if statement is not None and statement not in found else ()
            found[statement] = None
        return [*found]

    def block(self, statements: Sequence[Statement]) -> list[TextLine]:
        found: list[TextLine] = []
        backward = self.backward or any(self._loop_of.get(each) and each.backward for each in statements)
        last = None
        for statement in statements:
            if isinstance(statement, Loop):
                written = loop_lines(self, statement)
            else:
                by = [each for each in self.run_by(*statement.values) if each.backward == statement.backward]
                written = [TextLine(line, False, [statement, *by]) for line in self._line(statement)]
            if not written:
                continue
            if statement.backward and not backward:
                found += [TextLine(""), TextLine("# backward")]
            backward, place = statement.backward, statement.place
            last = None if isinstance(statement, Loop) else last
            if place is not None and place.text and (str(place), backward) != last:
                last = str(place), backward
                found.append(TextLine(f"# back through {place.text}" if backward else f"# {place.text}", True))
            found += written
        return without_repeats(found)

    def _line(self, statement: Statement) -> list[str]:
        """Return the lines of one statement; none if it is joined into the line that uses it."""
        if isinstance(statement, Check):
            return self._check(statement)
        if statement.target is not None:
            begun = statement.target in self._joined and statement.call in ADDING
            return self._added(statement, statement.target) if begun else [self._effect(statement)]
        if isinstance(statement, FunctionCall):
            return [call_line(self, statement)]
        text, tightness = self.expression(statement)
        if statement.several:
            names = [self.names.give(value) if value in self.uses else "_" for value in statement.outputs]
            return [f"{', '.join(names)}{',' * (len(names) == 1)} = {text}"]
        (value,) = statement.outputs
        if value not in self.uses:
            return []  # a loop that picks it for what is outside, which picks it there
        if constant(value) is not None and np.ndim(value.data) == 0:
            return []
        if self._begins(statement, value, text) or self._joins(statement, value, text, tightness):
            self._joined[value] = text, tightness
            return []
        return [f"{self.names.give(value)} = {text}"]

    def _check(self, check: Check) -> list[str]:
        (value,) = check.args
        if check.kind == "truth":
            condition = f"not {self.of(value, 8)}" if check.expected else self.of(value)
        elif check.kind == "integer":
            condition = f"{self.of(value, 3)} != {self.of(check.expected)}"
        else:
            condition = f"{self.of(value, ATOM)}.{check.kind} != {self.of(check.expected)}"
        message = f"written where {check.sentence}"
        return [f"if {condition}:  # the program holds for one way only", f"    raise ValueError({message!r})"]

    def _added(self, statement: Statement, target: Value) -> list[str]:
        """Return the lines of ``x += y`` if the line of ``x`` has been put off until now."""
        text, _ = self._joined.pop(target)
        _, other = statement.args
        name, line = self.names.give(target), f"{text} {ADDING[statement.call]} {self.of(other, 6)}"
        return [f"{name} = {line}"] if len(line) <= SUM else [f"{name} = {text}", self._effect(statement)]

    def _effect(self, statement: Statement) -> str:
        args, call = statement.args, statement.call
        if call is setitem or (isinstance(call, Augmented) and call.part):
            sign = f"{_OPERATORS[call.ufunc][0]}=" if isinstance(call, Augmented) else "="
            return f"{self.of(args[0], ATOM)}[{self._index(args[1])}] {sign} {self.of(args[2])}"
        if isinstance(call, Augmented):
            if call.ufunc in _OPERATORS:
                return f"{self.of(args[0], ATOM)} {_OPERATORS[call.ufunc][0]}= {self.of(args[1])}"
            return f"{self._function(call.ufunc)}({', '.join(map(self.of, args))}, out={self.of(args[0])})"
        return f"{self._function(call)}({self._arguments(args, statement.keywords)})"

    # Expressions

    def expression(self, statement: Statement) -> tuple[str, float]:
        """Return the text of a call, and how tightly it binds."""
        call, args, keywords = statement.call, statement.args, statement.keywords
        if isinstance(call, np.ufunc) and not keywords:
            if call in _OPERATORS and len(args) == 2:
                sign, level = _OPERATORS[call]
                left, right = (level + 1, level) if call is np.power else (level, level + 1)
                left += level == 2  # a < b < c would be two comparisons joined by "and"
                return f"{self.of(args[0], left)} {sign} {self.of(args[1], right)}", level
            if call is np.negative:
                return f"-{self.of(args[0], 7)}", 7
            if call is np.square:
                return f"{self.of(args[0], 9)} ** 2", 8
            if call is np.invert:
                return f"~{self.of(args[0], 7)}", 7
        if ufunc_of(call) is not None:
            return f"{self._function(call)}({self._arguments(args, keywords)})", ATOM
        name = getattr(call, "__name__", "")
        if call is getitem:
            return f"{self.of(args[0], ATOM)}[{self._index(args[1])}]", ATOM
        if isinstance(call, Method):
            return f"{self.of(args[0], ATOM)}.{name}({self._arguments(args[1:], keywords)})", ATOM
        if call in (np.transpose, np.swapaxes) and (turned := transpose_text(statement)):
            return f"{self.of(args[0], ATOM)}{turned}", ATOM
        positional, keywords = without_defaults(call, args, keywords)
        if isinstance(axis := keywords.get("axis"), tuple) and len(axis) == 1:
            keywords = keywords | {"axis": axis[0]}
        if call in (np.real, np.imag):
            return f"{self.of(args[0], ATOM)}.{name}", ATOM
        as_user = not statement.backward and f"np.{name}(" in _line_of(statement)
        if call in _METHODS and self._is_name(args[0]) and not as_user:
            if call in (np.reshape, np.ravel) and isinstance(positional[-1], str):
                keywords = {"order": positional.pop(), **keywords}
            if call in (np.reshape, np.transpose) and len(positional) == 2 and isinstance(positional[1], tuple):
                positional = [positional[0], *(positional[1] or [()])]
            return f"{self.of(args[0], ATOM)}.{name}({self._arguments(positional[1:], keywords)})", ATOM
        return f"{self._function(call)}({self._arguments(positional, keywords)})", ATOM

    def of(self, leaf: Any, level: float = 0) -> str:
        """Return the text of an argument, in parentheses if it binds less tightly than ``level``."""
        if type(leaf) is Value:
            if leaf in self._joined:
                text, tightness = self._joined[leaf]
                return f"({text})" if tightness < level else text
            number = constant(leaf) if np.ndim(leaf.data) == 0 else None
            return self.names.of[leaf] if number is None or leaf in self.names.of else self.of(number, level)
        if isinstance(leaf, Expression):
            return f"({leaf.text})" if leaf.tightness < level else leaf.text
        if isinstance(leaf, np.ndarray):
            return self._array(leaf)
        if isinstance(leaf, Spread):
            return f"*{leaf.spelled(self.lists[leaf.source])}"
        if isinstance(leaf, Key):
            return key_line(self, leaf)
        if isinstance(leaf, tuple):
            if len(leaf) == 1 and isinstance(leaf[0], Spread):
                return leaf[0].spelled(self.lists[leaf[0].source])
            return f"({', '.join(map(self.of, leaf))}{',' * (len(leaf) == 1)})"
        if isinstance(leaf, list):
            return f"[{', '.join(map(self.of, leaf))}]"
        if isinstance(leaf, dict):
            return "{" + ", ".join(f"{quoted(key)}: {self.of(item)}" for key, item in leaf.items()) + "}"
        if isinstance(leaf, slice):
            return f"slice({self.of(leaf.start)}, {self.of(leaf.stop)}, {self.of(leaf.step)})"
        if isinstance(leaf, np.generic):
            return f"np.{dtype_name(leaf.dtype)}({number_text(leaf.item())})"
        if isinstance(leaf, np.dtype):
            return dtype_text(leaf)
        if isinstance(leaf, type):
            return f"np.{leaf.__name__}" if issubclass(leaf, np.generic) else leaf.__name__
        if isinstance(leaf, (int, float, complex)) and type(leaf) is not bool:
            text = number_text(leaf)
            tightness = 6 if "/" in text else 7 if text.startswith("-") else ATOM
            return f"({text})" if tightness < level else text
        return "..." if leaf is Ellipsis else self._function(leaf) if callable(leaf) else repr(leaf)

    def _array(self, array: Any) -> str:
        """Return the name of a constant array, or its text if it is short."""
        if array.ndim == 0:
            return self.of(array[()])
        if not array.size:
            return f"np.zeros({array.shape}, {dtype_text(array.dtype)})"
        first = array.flat[0]
        if array.dtype.kind in "iuf" and array.tobytes() == np.full_like(array, first).tobytes():
            shape = array.shape[0] if array.ndim == 1 else array.shape
            dtype = "" if array.dtype == np.dtype(float) else f", {dtype_text(array.dtype)}"
            by_name = {0: "zeros", 1: "ones"}.get(first)
            if by_name and not np.signbit(first):
                return f"np.{by_name}({shape}{dtype})"
            return f"np.full({shape}, {number_text(first.item())}, {dtype_text(array.dtype)})"
        if array.ndim == 1 and array.size <= 6 and array.dtype.kind in "iufb":
            plain = array.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool))
            items = ", ".join(number_text(item) for item in array.tolist())
            return f"np.array([{items}]{'' if plain else ', ' + dtype_text(array.dtype)})"
        return self.constants.name(array)

    def _index(self, index: Any) -> str:
        if isinstance(index, Key):
            return key_line(self, index)
        if isinstance(index, tuple) and index:
            return ", ".join(map(self._part, index)) + "," * (len(index) == 1)
        return self._part(index)

    def _part(self, part: Any) -> str:
        if not isinstance(part, slice):
            return self.of(part)
        ends = ["" if end is None else self.of(end) for end in (part.start, part.stop)]
        return ":".join(ends) + ("" if part.step is None else f":{self.of(part.step)}")

    def _arguments(self, args: Iterable[Any], keywords: dict[str, Any]) -> str:
        return ", ".join([*map(self.of, args), *(f"{name}={self.of(item)}" for name, item in keywords.items())])

    def _function(self, function: Any) -> str:
        ufunc, name = ufunc_of(function), function.__name__
        if ufunc not in (None, function):
            return f"{self._function(ufunc)}.{name}"
        for holder, module in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
            if getattr(holder, name, None) is function:
                return f"{module}.{'abs' if function is np.absolute else name}"
        if getattr(np.lib.stride_tricks, name, None) is function:
            return f"np.lib.stride_tricks.{name}"
        self.scipy = True  # the private ufuncs compute for SciPy's public functions
        special = importlib.import_module("scipy.special")
        return f"special.{name}" if getattr(special, name, None) is function else f"special._ufuncs.{name}"

    def result(self, tree: Any) -> str:
        """Return the text of what the program returns, with a copy of each array whose memory another object has."""
        given: list[Any] = []

        def text(value: Any) -> str:
            if type(value) is not Value:
                return "None" if value is None else self.of(value)
            given.append(value.memory)
            shared = value.memory.caller or given.count(value.memory) > 1 or not owns(value)
            number = constant(value) if np.ndim(value.data) == 0 and value not in self.names.of else None
            name = self.of(value, ATOM) if number is None else self.of(number)
            return f"{name}.copy()" if shared and isinstance(value.data, np.ndarray) else name

        return self.of(replaced(lambda value: _Raw(text(value)), tree))[1:-1]


# --- Facts about values and statements ---


def _scatters(statement: Statement, value: Value) -> bool:
    """Whether a statement writes into a value by a call that has it as an argument once, such as ``np.add.at``."""
    return (
        statement.target is value and not isinstance(statement.call, Augmented) and ufunc_of(statement.call) is not None
    )


def _named(value: Value | None) -> bool:
    """Whether the user's program has a name for a value."""
    return value is not None and bool(value.name or (value.statement is not None and value.statement.name))


def _result_of(statement: Statement) -> Value | None:
    """Return the value whose cotangent a statement computes or adds to."""
    value = statement.target if isinstance(statement.call, Augmented) else next(iter(statement.outputs), None)
    return None if value is None else value.cotangent_of


def _picks_part(statement: Statement, kinds: Any = object) -> bool:
    """Whether a statement picks a part of a value at an index that is known, such as ``z[:, :4]``."""
    if statement.call is not getitem or type(statement.args[0]) is not Value:
        return False
    return isinstance(statement.args[1], kinds) and not any(values_in(statement.args[1]))


class _Raw:
    """A text that :meth:`Text.of` leaves as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _line_of(statement: Statement) -> str:
    return "" if statement.place is None else statement.place.text
