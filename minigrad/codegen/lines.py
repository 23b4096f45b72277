"""Print: the lines of a program, of its functions and loops, and how long lines are divided."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import repeat
from operator import setitem
from typing import Any, NamedTuple

import numpy as np

from .loops import Carried, Listed, Loop, TurnIndex
from .modules import Dicts, FunctionCall, WrittenFunction
from .program import Arguments
from .record import Augmented, Check, Recording, Statement, Value, values_in
from .simplify import constant
from .text import ADDING, ATOM, OPERATORS, Constants, GivenNames, Text

_VARIABLES = ("t", "i", "k")
WIDTH = 100  # characters of a line
SUM = 72  # the longest sum of two expressions that have no other name


class TextLine(NamedTuple):
    """A line of the program: its text, whether it is a comment on where it comes from, and the statements it runs."""

    text: str
    comment: bool = False
    statements: Sequence[Statement] = ()


class Draft(NamedTuple):
    """A program before it is text.

    Attributes:
        statements: those of ``step``, with their loops folded.
        results: what ``step`` returns.
        run: the recording that they come from.
        flat: the statements of all functions, without loops around them.
        dicts: the arguments that the program reads by key.
        functions: the functions that ``step`` calls.
    """

    statements: Sequence[Statement]
    results: Any
    run: Recording
    flat: Sequence[Statement]
    dicts: Dicts
    functions: Sequence[WrittenFunction]

    def checks(self) -> list[str]:
        """Return the conditions on the values under which the program holds."""
        return [statement.sentence for statement in self.flat if isinstance(statement, Check)]


def printed(draft: Draft, arguments: Arguments, opening: Sequence[str]) -> tuple[list[TextLine], Constants]:
    """Return the lines of all functions, and the constants that they read. ``step`` begins with the lines of ``opening``."""
    functions = {function.__name__ for function in draft.functions}
    groups = {function.group: GivenNames(functions) for function in draft.functions}
    leaves = zip(draft.run.inputs, arguments.leaves)
    given = {value: leaf.name if leaf.key == leaf.name else leaf.path for value, leaf in leaves}
    given.update({holder: str(holder.name) for holder, _ in draft.dicts.keys.values()})
    names = GivenNames(arguments.taken | functions, given)
    constants = Constants([names, *groups.values()], draft.run.variables)
    found: list[TextLine] = []
    for each in draft.functions:
        text = Lines(each.body, each.outputs, groups[each.group], constants, each.is_backward)
        found += [*text.function(each), TextLine(""), TextLine("")]
    text = Lines(draft.statements, draft.results, names, constants)
    return [*found, *text.step(arguments.names, opening)], constants


class Lines(Text):
    """Turns the statements of a function into lines of Python."""

    def step(self, parameters: Sequence[str], opening: Sequence[str]) -> list[TextLine]:
        """Return the lines of the function ``step``, whose body these statements are."""
        lines = [*map(TextLine, opening), *self.block(self.statements)]
        lines.append(TextLine(f"return {self.result(self.results)}"))
        return [TextLine(f"def step({', '.join(parameters)}):"), *_divided(lines)]

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
            if place is not None and place.text and (str(place), backward) != last:
                last = str(place), backward
                found.append(TextLine(f"# back through {place.text}" if backward else f"# {place.text}", True))
            found += written
        return without_repeats(found)

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
        if isinstance(statement, FunctionCall):
            return [self._call(statement)]
        text, tightness = self.expression(statement)
        if statement.several:
            names = [self.names.give(value) if value in self.uses else "_" for value in statement.outputs]
            return [f"{', '.join(names)}{',' * (len(names) == 1)} = {text}"]
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
        lines = [*map(TextLine, opening), *self.block(self.statements)]
        returned = ", ".join(
            f"({', '.join(map(self.of, each))})" if isinstance(each, tuple) else self.of(each)
            for each in function.outputs
        )
        lines += [TextLine(f"return {returned}")] * bool(returned)
        return [TextLine(f"def {function.__name__}({', '.join(parameters)}):"), *_divided(lines)]

    def _call(self, call: FunctionCall) -> str:
        """Return the line that calls a function."""
        names = [self.names.give(value) if value in self.uses else "_" for value in call.outputs]
        return f"{targets(names)}{' = ' * bool(names)}{call.call.__name__}({', '.join(map(self.of, call.args))})"

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
        body = self.block(loop.body)
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


def targets(names: Sequence[str]) -> str:
    """Return the left side of an assignment, in parentheses where it may need two lines."""
    text = ", ".join(names)
    return f"({text})" if len(text) > 72 else text


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


def _divided(body: Sequence[TextLine]) -> list[TextLine]:
    """Return the lines of the body of a function, indented, and the long ones divided."""
    return [line._replace(text=part.rstrip()) for line in body for part in _wrapped(line.text).splitlines()]


def _wrapped(line: str) -> str:
    indent, line = " " * (4 + len(line) - len(line.lstrip())), line.lstrip()
    if len(indent + line) <= WIDTH or line.startswith(("#", "raise")):
        return indent + line
    head, right = re.match(r"(\S+(?:, \S+)* \S{0,2}= |return |)(.*)", line).groups()  # type: ignore[union-attr]
    right = f"({right})" if _divisible(right) else right
    if head.endswith("= "):
        targets, sign = head.split(" ")[:-2], head.split(" ")[-2]
        long = len(targets) > 1 and len(indent + head + right.partition(" ")[0]) > WIDTH
        head = (f"({' '.join(targets)})" if long else " ".join(targets)) + f"\0{sign}\0"  # a line cannot end there
    pieces = textwrap.wrap(
        head + right,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(pieces).replace("\0", " ")


def _divisible(text: str) -> bool:
    """Whether a text has a space outside of brackets, where a line cannot end."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return True
    return False
