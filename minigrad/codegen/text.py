"""Print: the lines of a program, of its functions and loops, and which expressions are part of another line."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import getitem, setitem
from typing import Any

import numpy as np

from .loops import Carried, Expression, Listed, Loop, Spread, TurnIndex
from .modules import Draft, FunctionCall, Key, WrittenFunction, text_of_key
from .names import Constants, GivenNames
from .program import RESERVED, Arguments, TextLine, laid_out, quoted, without_repeats
from .record import Augmented, Check, Memory, Method, Statement, Value, in_place, replaced, ufunc_of, values_in
from .simplify import constant, in_order

# The longest expressions that are put into another line: in the backward pass, and where the user's line has both.
JOINED, JOINED_FORWARD = 48, 64
SUM = 72  # the longest sum of two expressions that have no other name
ADDING: dict[Any, str] = {in_place(np.add): "+", in_place(np.subtract): "-"}
_KEY = re.compile(r"\[[^][]*\"\]")  # the key of a parameter, which is not counted
_VARIABLES = ("t", "i", "k")  # of loops
_TURNS = {np.transpose, np.swapaxes}
ATOM = 10  # how tightly an expression binds: a name or a call binds tightest
# The operators of Python, each with how tightly it binds.
OPERATORS = {
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


def printed(draft: Draft, arguments: Arguments, opening: Sequence[str]) -> tuple[list[TextLine], Constants]:
    """Return the lines of all functions, and the constants that they read. ``step`` begins with the lines of ``opening``."""
    functions = {function.__name__ for function in draft.functions}
    groups = {function.group: GivenNames(functions | RESERVED) for function in draft.functions}
    leaves = zip(draft.run.inputs, arguments.leaves)
    given = {value: leaf.name if leaf.key == leaf.name else leaf.path for value, leaf in leaves}
    given.update({holder: str(holder.name) for holder, _ in draft.dicts.keys.values()})
    names = GivenNames(arguments.taken | functions, given)
    constants = Constants([names, *groups.values()], draft.run.variables)
    found: list[TextLine] = []
    for each in draft.functions:
        text = Text(each.body, each.outputs, groups[each.group], constants, each.is_backward)
        found += [*text.function(each), TextLine(""), TextLine("")]
    text = Text(draft.statements, draft.results, names, constants)
    return [*found, *text.step(arguments.names, opening, draft.copied)], constants


class Text:
    """Turns the statements of a function into lines of Python, and decides which expressions are part of another line.

    Attributes:
        statements: the body of the function. results: what it returns. backward: whether all of it is of the backward pass.
        uses: the statements that read or write a value; twice None for what lasts: a result, or an item of a list. What has
            more than one use gets a name, unless it is as short as ``x.T``; so what must have one is counted twice.
        names: the names in the function.
        constants: the arrays that are no arguments.
        joined: the text of each expression that is part of the line that uses it, and how tightly it binds. Or it is put off
            until the line that adds to it: ``dh = a`` and ``dh += b`` are printed ``dh = a + b``.
        lists: the name of the list that collects a value in a loop.
        variable: the name of the loop variable of all loops; "" before the first loop.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        results: Any,
        names: GivenNames,
        constants: Constants,
        backward: bool = False,
    ) -> None:
        self.statements, self.results, self.backward = statements, results, backward
        self.names, self.constants, self.variable = names, constants, ""
        self.uses: dict[Value, list[Statement | None]] = {}
        self._loop_of: dict[Statement | None, Loop] = {}
        self._find_uses(statements)
        for value in values_in(results):
            self.uses.setdefault(value, []).extend([None, None])
        self.joined: dict[Value, tuple[str, float]] = {}
        self.lists: dict[Value, str] = {}

    def _find_uses(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            for value in statement.values:
                self.uses.setdefault(value, []).append(statement)
            if isinstance(statement, Loop):
                self._loop_of.update(dict.fromkeys(statement.body, statement))
                self._find_uses(statement.body)
                # A first value has its name from before the loop, which may take the name over.
                for value in values_in([carried.first for carried in statement.carried]):
                    self.uses.setdefault(value, []).extend([statement, statement])
                lasting: list[Any] = [*statement.collected, *(carried.last for carried in statement.carried)]
                lasting += [each.source for each in (*statement.elements, *statement.read_later)]
                for value in values_in(lasting):
                    self.uses.setdefault(value, []).extend([None, None])

    # Lines

    def step(self, parameters: Sequence[str], opening: Sequence[str], copied: Sequence[bool]) -> list[TextLine]:
        """Return the lines of the function ``step``, whose body these statements are."""
        body = self.block(self.statements)
        return laid_out(f"step({', '.join(parameters)})", opening, body, self.result(self.results, copied))

    def block(self, statements: Sequence[Statement]) -> list[TextLine]:
        found: list[TextLine] = []
        backward = self.backward or any(self._loop_of.get(each) and each.backward for each in statements)
        last = None
        for statement in statements:
            if isinstance(statement, Loop):
                written = self._loop(statement)
            else:
                by = [each for each in self.run_by(*statement.values) if each.backward == statement.backward]
                written = [*map(TextLine, self._line(statement), repeat(False), repeat([statement, *by]))]
            if not written:
                continue
            if statement.backward and not backward:
                found += [TextLine(""), TextLine("# backward")]
            backward, place = statement.backward, statement.place
            last = None if isinstance(statement, Loop) else last
            if place is not None and place.text and (place, backward) != last:
                last = place, backward
                found.append(TextLine(f"# back through {place.text}" if backward else f"# {place.text}", True))
            found += written
        return found

    def run_by(self, *leaves: Any) -> list[Statement]:
        """Return the statements that run in a line with the text of these values: those whose text is part of it."""
        found: dict[Any, None] = {}
        waiting = [*values_in(leaves)]
        for statement in (value.statement for value in waiting if value in self.joined):
            waiting += statement.values if statement is not None and statement not in found else ()
            found[statement] = None
        return [*found]

    def _line(self, statement: Statement) -> list[str]:
        """Return the lines of one statement; none if it is joined into the line that uses it."""
        if isinstance(statement, Check):
            return self._check(statement)
        if statement.target is not None:
            begun = statement.target in self.joined and statement.call in ADDING
            return self._added(statement, statement.target) if begun else [self._effect(statement)]
        if statement.several or isinstance(statement, FunctionCall):
            names = [self.names.give(value) if value in self.uses else "_" for value in statement.outputs]
            if isinstance(statement, FunctionCall):
                called = f"{statement.call.__name__}({', '.join(map(self.of, statement.args))})"
                return [f"{targets(names)}{' = ' * bool(names)}{called}"]
            return [f"{', '.join(names)}{',' * (len(names) == 1)} = {self.expression(statement)[0]}"]
        text, tightness = self.expression(statement)
        (value,) = statement.outputs
        if value not in self.uses:
            return []  # the loop only picks it for what is outside, which picks it again itself
        if constant(value) is not None and np.ndim(value.data) == 0:
            return []  # a number is written where it is read
        if self._begins(statement, value, text) or self._joins(statement, value, text, tightness):
            self.joined[value] = text, tightness
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
        text, _ = self.joined.pop(target)
        _, other = statement.args
        name, line = self.names.give(target), f"{text} {ADDING[statement.call]} {self.of(other, 6)}"
        return [f"{name} = {line}"] if len(line) <= SUM else [f"{name} = {text}", self._effect(statement)]

    def _effect(self, statement: Statement) -> str:
        args, call = statement.args, statement.call
        if call is setitem or (isinstance(call, Augmented) and call.indexed):
            sign = f"{OPERATORS[call.ufunc][0]}=" if isinstance(call, Augmented) else "="
            return f"{self.of(args[0], ATOM)}[{self._index(args[1])}] {sign} {self.of(args[2])}"
        if isinstance(call, Augmented):
            if call.ufunc in OPERATORS:
                return f"{self.of(args[0], ATOM)} {OPERATORS[call.ufunc][0]}= {self.of(args[1])}"
            return f"{self._function(call.ufunc)}({', '.join(map(self.of, args))}, out={self.of(args[0])})"
        return f"{self._function(call)}({self._arguments(args, statement.keywords)})"

    def function(self, function: WrittenFunction) -> list[TextLine]:
        """Return the lines of a function whose body these statements are. The first one is its head."""
        names, opening, parameters = self.names, [], []
        for given in function.inputs:
            if isinstance(given, tuple):
                parameters.append(names.take("saved"))
                opening.append(f"{targets([*map(names.give, given)])} = {parameters[-1]}")
            else:
                parameters.append(names.give(given))
        for value, (holder, key) in function.keys.items():
            names.given[value] = f"{names.given[holder]}[{self.of(key)}]"
        body = self.block(self.statements)
        returned = ", ".join(
            f"({', '.join(map(self.of, each))})" if isinstance(each, tuple) else self.of(each)
            for each in function.outputs
        )
        return laid_out(f"{function.__name__}({', '.join(parameters)})", opening, body, returned)

    def _loop(self, loop: Loop) -> list[TextLine]:
        """Return the lines of a loop, with what is before it: the first values and the empty lists."""
        names = self.names
        lines: list[TextLine] = []
        for carried in loop.carried:
            lines += self._first(loop, carried)
        collected = [value for statement in loop.body for value in statement.outputs if value in loop.collected]
        for value in collected:
            wanted = names.wanted(value)
            self.lists[value] = names.take(wanted + ("_list" if wanted.endswith("s") else "s"))
            lines.append(TextLine(f"{self.lists[value]} = []"))
        head = self._header(loop)
        for element in loop.elements:
            names.given[element.value] = self._element(element)
        body = without_repeats(self.block(loop.body))
        # The values of other turns get the names of the last: names of cotangents are made of them.
        for statement, *others in zip(*(loop.body, *loop.turns[:-1])):
            for i, value in enumerate(statement.outputs):
                names.given.update({other.outputs[i]: names.given[value] for other in others if value in names.given})
        body += [TextLine(f"{self.lists[v]}.append({self.of(v)})", False, self.run_by(v)) for v in collected]
        moved = [c for c in loop.carried if not c.shared]
        body += [TextLine(f"{names.given[c.value]} = {self.of(c.last)}", False, self.run_by(c.last)) for c in moved]
        turns = dict(zip(loop.body, zip(*loop.turns)))  # a line of the body runs the statements of all turns
        for element in loop.read_later:
            names.given[element.value] = self._element(element)
        if not body:
            return []  # it only picks elements, which are picked where they are read
        body = [
            TextLine("    " + line, comment, [e for s in by for e in turns.get(s, (s,))]) for line, comment, by in body
        ]
        return [*lines, TextLine(head), *body]

    def _first(self, loop: Loop, carried: Carried) -> list[TextLine]:
        """Name a carried value. Return the line that gives it its first value, if a new name needs one."""
        names, first = self.names, carried.first
        inherits = carried.shared and type(first) is Value and names.given.get(first, "").isidentifier()
        if inherits:
            unnamed = first.name is None and first.statement.name is None
            fits = names.wanted(first) == names.wanted(carried.last) or unnamed
            inherits = fits and self.gives_way(first, loop)
        wanted = names.wanted(carried.last) + "_before" * (not carried.shared)
        name = names.given[first] if inherits else names.take(wanted)
        names.given[carried.value] = name
        if carried.shared:
            names.given[carried.last] = name
        return [] if inherits else [TextLine(f"{name} = {self.of(first)}", False, self.run_by(first))]

    def _header(self, loop: Loop) -> str:
        """Choose the range so that the first index is the loop variable itself. Return the line with ``for``."""
        count = loop.count
        if not loop.indices:
            return f"for _ in range({count}):"
        if not self.variable:
            free = [name for name in _VARIABLES if name not in self.names.taken]
            self.variable = self.names.take(free[0] if free else "turn")
        plain = [index for index in loop.indices if abs(index.step) == 1]
        start, sign = (plain[0].first, plain[0].step) if plain else (0, 1)
        try:
            for index in loop.indices:
                index.spell(self.variable, start, sign)
            low = start if sign > 0 else start - count + 1  # type: ignore[operator]
            high = low + count  # type: ignore[operator]
        except TypeError:  # sums of two sizes: count from 0 instead
            low, high, sign = 0, count, 1
            for index in loop.indices:
                index.spell(self.variable, 0, 1)
        span = f"range({high})" if low == 0 else f"range({low}, {high})"
        return f"for {self.variable} in {span if sign > 0 else f'reversed({span})'}:"

    def _element(self, element: Listed) -> str:
        index = element.at.text if isinstance(element.at, TurnIndex) else str(element.at)
        if isinstance(element.source, tuple):
            before, after = element.source
            return f"{before}{index}{after}"
        source = self.lists[element.source] if element.collected else self.names.given[element.source]
        return f"{source}[{index}]"

    # Expressions

    def expression(self, statement: Statement) -> tuple[str, float]:
        """Return the text of a call, and how tightly it binds."""
        call, args, keywords = statement.call, statement.args, statement.keywords
        if isinstance(call, np.ufunc) and not keywords:
            if call in OPERATORS and len(args) == 2:
                sign, level = OPERATORS[call]
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
        if call in (np.real, np.imag):
            return f"{self.of(args[0], ATOM)}.{name}", ATOM
        place = None if statement.backward else statement.place
        as_user = place is not None and f"np.{name}(" in place.text
        if call in _METHODS and self.is_name(args[0]) and not as_user:
            array, *others = args
            if call in (np.reshape, np.ravel) and others and isinstance(others[-1], str):
                keywords = {"order": others.pop(), **keywords}
            if call in (np.reshape, np.transpose) and len(others) == 1 and isinstance(others[0], tuple):
                others = [*(others[0] or [()])]
            return f"{self.of(array, ATOM)}.{name}({self._arguments(others, keywords)})", ATOM
        return f"{self._function(call)}({self._arguments(args, keywords)})", ATOM

    def is_name(self, arg: Any) -> bool:
        return type(arg) is Value and (arg not in self.joined or self.joined[arg][1] == ATOM)

    def of(self, leaf: Any, level: float = 0) -> str:
        """Return the text of an argument, in parentheses if it binds less tightly than ``level``."""
        if type(leaf) is Value:
            if leaf in self.joined:
                text, tightness = self.joined[leaf]
                return f"({text})" if tightness < level else text
            number = constant(leaf) if np.ndim(leaf.data) == 0 else None
            return self.names.given[leaf] if number is None or leaf in self.names.given else self.of(number, level)
        if isinstance(leaf, Expression):
            return f"({leaf.text})" if leaf.tightness < level else leaf.text
        if isinstance(leaf, np.ndarray):
            return self._array(leaf)
        if isinstance(leaf, Spread):
            return f"*{leaf.spelled(self.lists[leaf.source])}"
        if isinstance(leaf, Key):
            return self._key(leaf)
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
            return self._key(index)
        if isinstance(index, tuple) and index:
            return ", ".join(map(self._part, index)) + "," * (len(index) == 1)
        return self._part(index)

    def _part(self, part: Any) -> str:
        if not isinstance(part, slice):
            return self.of(part)
        ends = ["" if end is None else self.of(end) for end in (part.start, part.stop)]
        return ":".join(ends) + ("" if part.step is None else f":{self.of(part.step)}")

    def _key(self, key: Key) -> str:
        """Return the text of a key: a string, ``at + "weight"``, or a formatted string with a loop variable."""
        first, *others = key.parts
        if all(isinstance(part, (str, int)) for part in key.parts):
            return quoted(text_of_key(key))
        if type(first) is Value and all(isinstance(part, (str, int)) for part in others):
            return " + ".join([self.of(first), *[quoted("".join(map(str, others)))] * bool(others)])
        return 'f"' + "".join(part if isinstance(part, str) else f"{{{self.of(part)}}}" for part in key.parts) + '"'

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
        self.constants.scipy = True  # the private ufuncs compute for SciPy's public functions
        special = importlib.import_module("scipy.special")
        return f"special.{name}" if getattr(special, name, None) is function else f"special._ufuncs.{name}"

    def result(self, tree: Any, copied: Sequence[bool]) -> str:
        """Return the text of what the program returns. ``copied`` says of each value in it whether it is copied."""
        copies = iter(copied)

        def text(value: Any) -> str:
            if type(value) is not Value:
                return "None" if value is None else self.of(value)
            number = constant(value) if np.ndim(value.data) == 0 and value not in self.names.given else None
            name = self.of(value, ATOM) if number is None else self.of(number)
            return f"{name}.copy()" if next(copies) and isinstance(value.data, np.ndarray) else name

        return self.of(replaced(lambda value: Expression(text(value), ATOM), tree))[1:-1]

    # Expressions inside of other lines

    def _joins(self, statement: Statement, value: Value, text: str, tightness: float) -> bool:
        """Whether an expression is part of the lines that use it."""
        uses = self.uses[value]
        source: Any = next(iter(statement.args), None)
        if self._leaves_loop(statement, value) or None in uses or not self._unwritten(statement, uses):
            return False
        if uses[0] is not None and _writes_by_call(uses[0], value):
            uses = list(dict.fromkeys(uses))  # np.add.at(x.reshape(-1), ...) reads the view once
        turned = statement.call in _TURNS and text.endswith("T") and self.is_name(source)
        if turned or (_picks_part(statement, (int, Expression)) and bool(source.name)):
            return True  # x.T and x[3] are short
        user = uses[0]
        stores = user is not None and user.call is setitem and isinstance(user.args[1], Key)  # dp["weight"] = ...
        long = len(_KEY.sub("", text)) > (JOINED if statement.backward else JOINED_FORWARD) and not stores
        if len(uses) > 1 or user is None or long:
            return False
        if self._loop_of.get(user) is not self._loop_of.get(statement) or user.backward != statement.backward:
            return False  # a value outside of a loop is computed once, and not in each turn
        near = statement.place == user.place
        if not statement.backward:
            return near or (_picks_part(statement) and not _named(value))
        result = _result_of(user)
        own_line = _named(value.cotangent_of) and result is not value.cotangent_of and not stores
        if own_line and (result or user.call is not np.sum):
            return False  # dh has a line of its own where h has one
        if user.call is np.matmul and tightness <= 6 and statement.call is not np.matmul:
            return False
        return stores or near or statement.call in (*_TURNS, np.reshape, np.sum) or getattr(user.call, "indexed", False)

    def _begins(self, statement: Statement, value: Value, text: str) -> bool:
        """Whether the next line that uses a value adds to it, in place: then both may be one line, ``dh = a + b``."""
        user = self.uses[value][0]
        if user is None or not statement.backward or user.target is not value or user.call not in ADDING:
            return False
        other = user.args[1]  # a sum of arrays in another order would lie in another order, too
        alike = type(other) is Value and in_order(value) and in_order(other)
        near = user.place == statement.place and self._loop_of.get(user) is self._loop_of.get(statement)
        return alike and near and len(text) <= JOINED and self._unwritten(statement, [user])

    def _leaves_loop(self, statement: Statement, value: Value) -> bool:
        """Whether a value of a loop is used outside of it."""
        loop = self._loop_of.get(statement)
        return loop is not None and any(self._loop_of.get(use) is not loop for use in self.uses[value])

    def _unwritten(self, statement: Statement, uses: Iterable[Statement | None]) -> bool:
        """Whether nothing that the expression reads is written to before its last use.

        ``np.add.at`` reads before it writes, so its own write does not count.
        """
        last: float = max(use.number - _writes_by_call(use, statement.outputs[0]) for use in uses if use is not None)
        if any(self._loop_of.get(use) is not self._loop_of.get(statement) for use in uses):
            last = math.inf  # a turn may read after the last turn writes
        read: set[Memory] = set()
        waiting = [statement]
        while waiting:
            for value in waiting.pop().values:
                read.add(value.memory)
                if value in self.joined and value.statement is not None:
                    waiting.append(value.statement)
        return not any(statement.number < write <= last for memory in read for write in memory.writes)

    def gives_way(self, value: Value, loop: Loop) -> bool:
        """Whether a loop can use the name of a value for what it carries: nothing reads the value later."""
        uses = self.uses[value]
        if uses.count(loop) > 2 or any(use is None or (use is not loop and use.number >= loop.number) for use in uses):
            return False
        joined = [o for use in uses if use is not None for o in use.outputs if o in self.joined]
        return all(self.gives_way(output, loop) for output in joined)


def targets(names: Sequence[str]) -> str:
    """Return the left side of an assignment, in parentheses where it may need two lines."""
    text = ", ".join(names)
    return f"({text})" if len(text) > 72 else text


def _writes_by_call(statement: Statement, value: Value) -> bool:
    """Whether a statement writes into a value by a call that has it as an argument once, such as ``np.add.at``."""
    by_call = ufunc_of(statement.call) is not None and not isinstance(statement.call, Augmented)
    return by_call and statement.target is value


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


# --- Spelling ---


def transpose_text(statement: Statement) -> str:
    """Return ".T" or ".mT" if that is what a transpose does, and "" otherwise."""
    source, result = statement.args[0], statement.outputs[0]
    if type(source) is not Value:
        return ""
    data = source.data
    reverse, last_two = tuple(range(data.ndim))[::-1], (*range(data.ndim - 2), data.ndim - 1, data.ndim - 2)
    for text, axes in ((".T", reverse), (".mT", last_two)):
        if data.ndim >= 2 and _axes_of(statement, data.ndim) == axes and np.shape(result.data):
            return text
    return ""


def _axes_of(statement: Statement, ndim: int) -> tuple[int, ...] | None:
    """Return the order of axes that a transpose or swapaxes makes."""
    bound = inspect.signature(statement.call).bind(*statement.args, **statement.keywords).arguments
    order = list(range(ndim))
    if statement.call is np.transpose:
        axes = bound.get("axes")
        return tuple(order[::-1]) if axes is None else tuple(int(axis) % ndim for axis in axes)
    first, second = int(bound["axis1"]) % ndim, int(bound["axis2"]) % ndim
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def dtype_name(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype == np.dtype(bool) else dtype.name


def dtype_text(dtype: np.dtype[Any]) -> str:
    return "bool" if dtype == np.dtype(bool) else f"np.{dtype.name}"


def number_text(number: Any) -> str:
    """Return a Python number as it is written in a program with ``import numpy as np``."""
    if isinstance(number, complex):
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    if isinstance(number, float) and not math.isfinite(number):
        return "np.nan" if math.isnan(number) else "np.inf" if number > 0 else "-np.inf"
    text = repr(number)
    if isinstance(number, float) and 0 < abs(number) < 1:  # 1 / 6, not 0.16666666666666666
        n = round(1 / number) if abs(number) > 1e-9 else 1
        fraction = f"{'-' * (n < 0)}1 / {abs(n)}"
        text = fraction if 1 / n == number and len(fraction) < len(text) else text
    return text
