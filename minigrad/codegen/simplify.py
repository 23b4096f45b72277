"""Simplify what was recorded: unused values, copies that change nothing, sums by way of ones, needless signs and sums.

No step changes a bit of the results. A value whose memory is written to is left as it is.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections import Counter
from collections.abc import Callable, Sequence
from operator import getitem, is_, setitem
from typing import Any, NamedTuple

import numpy as np

from .record import Augmented, Check, Memory, Method, Statement, Value, in_place, live, replaced, ufunc_of, values_in

_AUGMENTED = {np.add, np.subtract, np.multiply, np.divide}
_BY_ONE = {np.multiply, np.divide}
_SAME_SHAPE = {
    np.broadcast_to, np.reshape, np.transpose, np.swapaxes, np.squeeze, np.ravel, np.expand_dims, np.copy, np.real
}  # fmt: skip


class Became(NamedTuple):
    """What became of the statements and values of a run: the copy of each, and the value that replaces a copy."""

    copies: dict[Any, Any]
    replacements: dict[Value, Value]

    def final(self, leaf: Any) -> Any:
        """Return what stands for a copy after all replacements."""
        while type(leaf) is Value and leaf in self.replacements:
            leaf = self.replacements[leaf]
        return leaf


def simplified(
    statements: Sequence[Statement], results: Any, became: Became | None = None
) -> tuple[list[Statement], Any]:
    """Return new statements, and ``results`` (a tree of values) in terms of them. ``became`` notes copies and replacements."""
    became = became or Became({}, {})
    work = _Simplifying(*copies_of(live(statements, results), results, became.copies), became)
    work.run(work.simplify)
    while work.changed:  # one simplification makes room for another: (x * 1) * 1
        work.run(work.simplify)
    for step in (
        work.restore_indexed_additions,
        work.signs,
        work.merge_slices,
        work.accumulate,
        work.fill,
        work.defaults,
    ):
        work.run(step)
    for statement in work.statements:
        for value in statement.outputs:
            value.cotangent_of = work.current(value.cotangent_of)
    return work.statements, work.results


def copies_of(statements: Sequence[Statement], results: Any, copies: dict[Any, Any]) -> tuple[list[Statement], Any]:
    """Return copies of statements and of the values that they compute, and ``results`` in terms of them: a pass may change
    these. ``copies`` gets the copy of each statement, value and memory.
    """
    for statement in statements:
        copies[statement] = copy.copy(statement)
        for value in statement.outputs:
            copies[value] = copy.copy(value)
            if not value.memory.caller and value.memory not in copies:
                memory = copies[value.memory] = Memory()
                memory.writes = [*value.memory.writes]

    def current(leaf: Any) -> Any:
        return copies.get(leaf, leaf) if type(leaf) is Value else leaf

    for statement in statements:
        made = copies[statement]
        made.args, made.keywords = replaced(current, (statement.args, statement.keywords))
        made.target, made.outputs = current(statement.target), [*map(current, statement.outputs)]
        for value in made.outputs:
            value.statement, value.cotangent_of = made, current(value.cotangent_of)
            value.memory = copies.get(value.memory, value.memory)
    return [copies[statement] for statement in statements], replaced(current, results)


def constant(value: Any) -> Any:
    """Return the number that every element of a value without dependence has, as a NumPy scalar; None if there is none."""
    if type(value) is not Value or value.depends or value.memory.writes:
        return None
    data = np.asarray(value.data)
    if not data.size or data.dtype.kind not in "fiub":
        return None
    first = data.flat[0]
    return first if data.ndim == 0 or data.tobytes() == np.full_like(data, first).tobytes() else None  # -0.0 is not 0.0


class _Simplifying:
    """Statements that are changed step by step, and the values that are replaced."""

    def __init__(self, statements: list[Statement], results: Any, became: Became) -> None:
        self.statements, self.results = statements, results
        self.replacements, self.current = became.replacements, became.final
        self.gone: set[Statement] = set()
        self.changed = False  # whether the step that ran last changed a statement

    def run(self, step: Callable[[], None]) -> None:
        """Run a step. Put the replacements everywhere, and leave out the statements that are gone or not needed any more."""
        self.changed = False
        step()
        for statement in self.statements:
            self.rewrite(statement)
        self.results = replaced(self.current, self.results)
        self.statements = live([each for each in self.statements if each not in self.gone], self.results)

    def rewrite(self, statement: Statement) -> None:
        """Put the replacements into the arguments of a statement."""
        if not self.replacements.keys().isdisjoint(statement.values):
            statement.args = replaced(self.current, statement.args)
            statement.keywords = replaced(self.current, statement.keywords)
            statement.target = self.current(statement.target)

    def replace(self, value: Value, by: Value) -> None:
        self.replacements[value], self.changed = by, True
        if by.statement is not None and by.statement.backward and by.cotangent_of is None:
            by.cotangent_of = value.cotangent_of
        if value.statement is not None and by.statement is not None and not by.statement.name:
            by.statement.name = value.statement.name

    def uses(self) -> Counter[Value]:
        """Count how often the statements read each value (:attr:`~.record.Statement.values`); a result has at least two."""
        found = Counter(value for statement in self.statements for value in statement.values)
        found.update(values_in(self.results) * 2)
        return found

    def simplify(self) -> None:
        """Simplify each statement, and replace the value of one that computes what another value is."""
        known: dict[Any, Value] = {}
        uses = self.uses()
        read = (value for statement in self.statements for value in statement.values)
        views = {_view(value): value for value in read if value.statement is None}
        for statement in self.statements:
            self.rewrite(statement)
            before = statement.call, *statement.args
            if statement.target is not None and (isinstance(statement.call, Augmented) or statement.call is setitem):
                self.literals(statement, statement.target)
            elif len(statement.outputs) == 1 and not statement.several and not isinstance(statement, Check):
                (value,) = statement.outputs
                self.literals(statement, value)
                self.reshapes(statement, value, uses)
                other = self.equal(statement, value, views, known) if settled(value, statement) else None
                if other is not None and other is not value:
                    self.replace(value, other)
            self.changed |= not all(map(is_, before, (statement.call, *statement.args)))

    def equal(
        self, statement: Statement, value: Value, views: dict[Any, Value], known: dict[Any, Value]
    ) -> Value | None:
        """Return a value that is equal to the bit to what a statement computes; None if there is none."""
        self.ones(statement, value)
        if (first := self.unchanged(statement, value)) is not None or value.memory.writes:
            return first  # a view of what was written to stays in the line that reads it
        scopes = tuple(map(id, statement.scopes))  # calls of modules stay apart: they become calls of functions
        other = views.get(_view(value)) or known.setdefault((scopes, _view(value)), value)
        alone = len(statement.values) == 1  # what an index picks differs with its values
        if other is not value and other.memory is value.memory and alone:
            return other
        key = _identity_of_result(statement)
        return None if key is None else known.setdefault((scopes, key), value)

    def unchanged(self, statement: Statement, value: Value) -> Value | None:
        """Return the argument that the statement only hands on, to the bit; None if it does more."""
        args, call = statement.args, statement.call
        first = args[0] if args else None
        if call is np.multiply and _is(first, 1) and fits(args[1], value, statement):
            return self.current(args[1])
        if type(first) is not Value or not fits(first, value, statement):
            return None
        hands_on = (
            (isinstance(call, Method) and (call.__name__ == "astype" or (call.__name__ == "copy" and in_order(first))))
            or call is np.positive
            or (call in _SAME_SHAPE and not (call in (np.transpose, np.swapaxes) and not same_layout(first, value)))
            or (call in _BY_ONE and len(args) == 2 and _is(args[1], 1))
            or (call is np.subtract and _is(args[1], 0))
            or (call is np.sum and first.data.ndim == 0)
        )
        return self.current(first) if hands_on else None

    def ones(self, statement: Statement, value: Value) -> None:
        """Write ``y`` times an array of ones as ``y``, broadcast, so that the operation that reads it can broadcast it."""
        if statement.call is not np.multiply or len(statement.args) != 2 or value.memory.writes:
            return
        (first, other), shape = statement.args, np.shape(value.data)
        if type(other) is not Value or not _is(first, 1) or not settled(other, statement):
            return
        if other.data.dtype == value.data.dtype and np.shape(other.data) != shape:
            statement.call, statement.args = np.broadcast_to, (other, shape)
            value.data, value.memory = np.broadcast_to(other.data, shape), other.memory

    def literals(self, statement: Statement, value: Value) -> None:
        """In an elementwise operation, write a uniform constant as a number, and an array without its broadcasting."""
        call = statement.call.ufunc if isinstance(statement.call, Augmented) else statement.call
        if call is setitem or (isinstance(statement.call, Augmented) and statement.call.indexed):
            if statement.backward:
                array, index, arg = statement.args
                statement.args = array, index, self.literal(arg, array.data, call is setitem)
            return
        if not isinstance(call, np.ufunc) or (call.nin, call.nout, call.signature) != (2, 1, None):
            return
        if statement.keywords or len(statement.args) != 2:
            return
        args = list(statement.args)
        for i in range(2):
            arg, other = args[i], args[1 - i]
            data = other.data if type(other) is Value else other
            if isinstance(arg, np.generic) and type(other) is Value:
                args[i] = _weak(arg, data)
            if type(arg) is not Value or not isinstance(data, (np.ndarray, np.generic)):
                continue
            varies = type(other) is not Value or other.depends or (data.ndim > 0 and constant(other) is None)
            number = constant(arg) if varies and np.shape(data) == np.shape(value.data) else None
            if number is not None:
                args[i] = _weak(number, data)
            elif made_by(arg, np.broadcast_to) and not arg.memory.writes:
                source = self.current(arg.statement.args[0])  # type: ignore[union-attr]
                both = type(source) is Value and type(other) is Value
                if both and np.broadcast_shapes(np.shape(source.data), np.shape(data)) == np.shape(value.data):
                    args[i] = source
        statement.args = tuple(args)

    def literal(self, arg: Any, array: Any, assigned: bool) -> Any:
        """Return what is written into a part of an array: a number, if all elements of ``arg`` are that."""
        number = arg if isinstance(arg, np.generic) else constant(arg)
        if number is None or array.dtype.kind != "f":
            return arg
        weak = _weak(number, array)
        return number.item() if assigned else arg if weak is number else weak

    def reshapes(self, statement: Statement, value: Value, uses: Counter[Value]) -> None:
        """Write ``x.sum(axis, keepdims=True).reshape(...)`` as ``x.sum(axis)``, and two reshapes as one."""
        first = statement.args[0] if statement.args else None
        if statement.call is not np.reshape or type(first) is not Value or not first.statement:
            return
        before, written = first.statement, bool(first.memory.writes)
        inner = before.args[0] if before.args else None
        if type(inner) is not Value or not settled(inner, before):
            return
        if [*map(id, before.scopes)] != [*map(id, statement.scopes)]:
            return
        axis = before.keywords.get("axis")
        if before.call is np.sum and before.keywords.get("keepdims") and axis is not None:
            axes = {i % inner.data.ndim for i in (axis if isinstance(axis, tuple) else (axis,))}
            rest = tuple(n for i, n in enumerate(inner.data.shape) if i not in axes)
            if rest == np.shape(value.data) and (uses[first] == 1 or not written):
                statement.call, statement.args = np.sum, (inner,)
                only = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
                statement.keywords = {} if len(axes) == inner.data.ndim else {"axis": only}
                value.memory = first.memory if written else Memory()  # a sum is new, a reshape is a view
                value.data = np.copy(value.data) if np.ndim(value.data) else value.data
        elif before.call is np.reshape and inner.data.flags.c_contiguous and not written:
            statement.args = (inner, *statement.args[1:])

    def restore_indexed_additions(self) -> None:
        """Write ``p = x[i]``, ``p += y`` and ``x[i] = p``, which Python makes of ``x[i] += y``, as that again."""
        uses = self.uses()
        changes = {each.target: each for each in self.statements if isinstance(each.call, Augmented)}
        for statement in self.statements:
            if statement.call is not setitem or type(part := statement.args[2]) is not Value or part.statement is None:
                continue
            (array, index, _), inside = statement.args, part in changes
            change = changes.get(part, part.statement)
            picked: Any = part if inside else next(iter(change.args), None)
            ufunc = change.call.ufunc if isinstance(change.call, Augmented) else change.call
            if ufunc not in _AUGMENTED or not made_by(picked, getitem):
                continue
            # only this statement reads the part: p += y counts p twice, and x[i] = p once
            only_read_here = uses[part] == 3 if inside else uses[part] == uses[picked] == 1
            alike = np.shape(part.data) == np.shape(picked.data) and part.data.dtype == array.data.dtype
            between = [n for n in array.memory.writes if picked.statement.number < n < statement.number]
            untouched = between == ([change.number] if inside and picked.memory is array.memory else [])
            if only_read_here and alike and untouched and identity(picked.statement.args) == identity((array, index)):
                statement.call, statement.args = in_place(ufunc, True), (array, index, change.args[1])
                self.gone.add(change)

    def signs(self) -> None:
        """In the backward pass, write ``-(-x * y / z)`` as ``x * y / z``, and ``x + -y`` as ``x - y``."""
        uses = self.uses()
        for statement in self.statements:
            self.rewrite(statement)
            args, call = statement.args, statement.call
            if not statement.backward:
                continue
            if call in (np.add, in_place(np.add)) and (inner := _negated(args[1])) is not None:
                statement.call = np.subtract if call is np.add else in_place(np.subtract)
                statement.args = args[0], inner
            elif call is np.add and (inner := _negated(args[0])) is not None:
                statement.call, statement.args = np.subtract, (args[1], inner)
            chain = _factors_down_to_a_negation(args[0], uses) if call is np.negative else None
            if chain and len(chain) > 1:  # the factors lose their sign, and the first of them is the result
                *products, negation = chain
                last = products[-1].statement
                last.args = _negated(negation), *last.args[1:]
                for value in products:
                    value.data = -value.data
                products[0].cotangent_of = statement.outputs[0].cotangent_of
                self.replace(statement.outputs[0], products[0])
                self.gone.add(statement)
            elif chain and not statement.outputs[0].memory.writes:  # -(-x)
                self.replace(statement.outputs[0], _negated(chain[0]))

    def merge_slices(self) -> None:
        """Write gradients of parts of an array, ``a[i] = x``, ``b[j] = y``, ``a + b``, as ``a[i] += x`` and ``a[j] += y``."""
        uses = self.uses()
        parts: dict[Any, Statement] = {}  # the only statement that writes into a value, which is zero elsewhere
        sums: dict[Any, list[Statement]] = {}  # the statements that add parts, until another one reads the sum
        for statement in self.statements:
            target, args, call = statement.target, statement.args, statement.call
            # the parts that only this statement reads: a[i] = x counts a twice
            added = [arg for arg in args if type(arg) is Value and arg in parts and (uses[arg] == 3 or arg is target)]
            if call is setitem and _starts(statement):
                parts[target] = statement
            elif call is np.add and len(added) == 2:
                sums[statement.outputs[0]] = [statement]
            elif call is in_place(np.add) and len(added) == 2 and target not in sums:
                sums[target] = [statement]
            elif call is in_place(np.add) and target in sums and parts[added[-1]].number > sums[target][-1].number:
                sums[target].append(statement)
            else:
                for value in statement.values:
                    self.add_parts(value, sums.pop(value, []), parts)
                    parts.pop(value, None)
        for value, additions in sums.items():
            self.add_parts(value, additions, parts)

    def add_parts(self, total: Value, additions: list[Statement], parts: dict[Any, Statement]) -> None:
        """Let the parts of a sum add to one array.

        a + b is -0 only where every part writes -0. If some element is written by all parts, the first write must stay an
        assignment, which is right only if all indices are equal. Otherwise, start from zeros and add.
        """
        if not additions:
            return
        added = [*additions[0].args, *(each.args[1] for each in additions[1:])]
        writing = sorted((parts[value] for value in added), key=lambda each: each.number)
        first, *others = writing
        count, array = np.zeros(np.shape(total.data), int), first.args[0]
        for each in writing:
            count[each.args[1]] += 1
        if (count == len(writing)).any():
            if len({identity(each.args[1]) for each in writing}) > 1:
                return
        else:
            first.call = in_place(np.add, True)
        for each in others:
            each.call, each.target, each.args = in_place(np.add, True), array, (array, *each.args[1:])
        self.gone.update(additions)
        array.memory = total.memory
        array.memory.writes += [each.number for each in writing]
        if total is not array:
            self.replace(total, array)

    def accumulate(self) -> None:
        """Write ``dh = a + b`` as ``a += b`` in the backward pass, where nothing else reads ``a``."""
        uses = self.uses()
        members = Counter(value.memory for statement in self.statements for value in statement.outputs)
        for statement in self.statements:
            self.rewrite(statement)
            if statement.call not in (np.add, np.subtract) or not statement.backward:
                continue
            if any(type(arg) is not Value for arg in statement.args):
                continue
            total, (first, second) = statement.outputs[0], statement.args
            if (
                uses[first] == 1
                and first is not second
                and isinstance(first.data, np.ndarray)  # a number is immutable: a loop would have to carry its name
                and not first.memory.writes
                and fits(first, total, statement)
                and same_layout(first, total)
                and total.cotangent_of is not None  # a sum inside of a rule is part of a line
                and first.cotangent_of in (None, total.cotangent_of)
                and _is_new(first, members)
                and members[total.memory] == 1
            ):
                statement.call, statement.target, statement.outputs = in_place(statement.call), first, []
                first.memory.writes += [statement.number, *total.memory.writes]
                uses[first] = uses[total]
                members[first.memory] += members[total.memory] - 1
                self.replace(total, first)

    def fill(self) -> None:
        """Write a result that is one number, broadcast, as ``np.ones(4)``: it is then no view, and needs no copy.

        What another operation reads stays: strides of 0 may choose the layout of its result, and so the order of a later sum.
        """
        read = {value for statement in self.statements for value in statement.values}
        for statement in self.statements:
            value = statement.outputs[0] if statement.call is np.broadcast_to else None
            number = None if value is None or value in read or not np.ndim(value.data) else constant(value)
            if value is None or number is None:
                continue
            shape: Any = value.data.shape if value.data.ndim > 1 else value.data.shape[0]
            dtype = () if number.dtype == np.dtype(float) else (number.dtype,)
            if number == 1:
                statement.call, statement.args = np.ones, (shape, *dtype)
            else:
                statement.call, statement.args = np.full, (shape, number.item(), *dtype)
            value.data, value.memory = np.full(shape, number), Memory()

    def defaults(self) -> None:
        """Leave out the arguments of NumPy's functions that are the default anyway. Write ``axis=(0,)`` as ``axis=0``."""
        for statement in self.statements:
            called = statement.call in (getitem, setitem) or isinstance(statement.call, (Method, Augmented))
            if not (called or isinstance(statement, Check) or ufunc_of(statement.call) or statement.target is not None):
                args, keywords = _without_defaults(statement.call, statement.args, statement.keywords)
                if isinstance(axis := keywords.get("axis"), tuple) and len(axis) == 1:
                    keywords = keywords | {"axis": axis[0]}
                statement.args, statement.keywords = args, keywords


# --- Facts about values and statements ---


def _negated(value: Any) -> Any:
    """Return the argument of a negation; None if the value is something else."""
    inner = value.statement.args[0] if made_by(value, np.negative) and not value.memory.writes else None
    return inner if type(inner) is Value and settled(inner, value.statement) else None


def _factors_down_to_a_negation(value: Any, uses: Counter[Value]) -> list[Any] | None:
    """Return ``-x * y / z``, its first factor ``-x * y``, and so on down to ``-x``; None if there is no negation."""
    found = [value]
    while _negated(value := found[-1]) is None:
        goes_on = made_by(value, np.multiply) or made_by(value, np.divide)
        if not goes_on or uses[value] > 1 or value.data.dtype.kind != "f":
            return None
        found.append(value.statement.args[0])
    return found


def _view(value: Value) -> Any:
    """Return what two values share if they are the same part of one memory, seen in the same way."""
    data = value.data
    if not isinstance(data, np.ndarray) or not data.size:
        return id(value)
    return data.__array_interface__["data"][0], data.shape, data.strides, data.dtype.str


def identity(tree: Any) -> Any:
    """Return what two of these share if they are the same: functions, or trees of values, constants and functions."""
    if isinstance(tree, (tuple, list)):
        return (type(tree), *map(identity, tree))
    if isinstance(tree, dict):
        return tuple((name, identity(item)) for name, item in sorted(tree.items()))
    if isinstance(tree, slice):
        return slice, identity((tree.start, tree.stop, tree.step))
    if isinstance(tree, (np.ndarray, np.generic)):
        return tree.dtype.str, tree.shape, tree.tobytes()
    if callable(tree):  # np.add.reduce is a new object each time
        return (id(tree.__self__), tree.__name__) if hasattr(tree, "__self__") else id(tree)
    return id(tree) if type(tree) is Value else (type(tree), repr(tree))


def _without_defaults(
    call: Any, args: Sequence[Any], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments without those that are the default anyway."""
    no = {name for name, item in keywords.items() if item is np._NoValue or (name == "keepdims" and item is False)}
    keywords = {name: item for name, item in keywords.items() if name not in no}
    try:
        parameters = inspect.signature(call).parameters
    except (ValueError, TypeError):
        return tuple(args), keywords
    kept = {n: v for n, v in keywords.items() if n not in parameters or not _is_default(v, parameters[n].default)}
    positional, named = list(args), list(parameters.values())
    while 1 < len(positional) <= len(named) and _is_default(positional[-1], named[len(positional) - 1].default):
        positional.pop()
    for i in range(1, min(len(positional), len(named))):
        if _is_default(positional[i], named[i].default) and named[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            given = [*zip(named[i:], positional[i:])]  # norm(x, None, 1) is norm(x, axis=1)
            return tuple(positional[:i]), {p.name: item for p, item in given if not _is_default(item, p.default)} | kept
    return tuple(positional), kept


def _is_default(item: Any, default: Any) -> bool:
    """Whether an argument is the default anyway."""
    plain = type(item) in (bool, int, float, str)
    return item is default or (plain and type(item) is type(default) and item == default)


def in_order(value: Value) -> bool:
    return np.ndim(value.data) == 0 or bool(value.data.flags.c_contiguous)


def _is(arg: Any, wanted: int) -> bool:
    number = arg if type(arg) in (int, float) else constant(arg)
    return number is not None and bool(number == wanted) and not np.signbit(number)


def _weak(number: Any, other: Any) -> Any:
    """Return a constant as a Python number if NumPy computes in the same dtype with it, or else as NumPy's scalar."""
    plain = number.item()
    same = type(plain) is float and np.result_type(other, plain) == np.result_type(other, number)
    return plain if same else number


def _identity_of_result(statement: Statement) -> Any:
    """Return what two statements share if they compute the same; None if that cannot be told."""
    if any(value.memory.writes for value in statement.values):
        return None
    if isinstance(statement.call, Method) and statement.call.__name__ in ("copy", "flatten"):
        return None
    if statement.call is getitem and not isinstance(statement.outputs[0].data, np.ndarray):
        return None  # x[3] is short, and equal turns of loops have it each
    args = statement.args
    if statement.call is np.reshape and len(args) == 2:  # reshape(-1, 8) and reshape(10, 8)
        args = args[0], np.shape(statement.outputs[0].data)
    return identity((statement.call, args, statement.keywords))


def _starts(statement: Statement) -> bool:
    """Whether a statement is the first to write into new zeros, and at an index that is known."""
    target, index, _ = statement.args
    first = made_by(target, np.zeros) and target.memory.writes[0] == statement.number
    return first and not any(values_in(index))


def _is_new(value: Value, members: Counter[Any]) -> bool:
    """Whether a value has memory that no other value shares and that its statement allocated."""
    statement, data = value.statement, value.data
    allocated = isinstance(data, np.ndarray) and data.base is None and data.flags.writeable
    new = statement is not None and (isinstance(statement.call, np.ufunc) or statement.call is np.sum)
    return allocated and new and members[value.memory] == 1 and not value.memory.caller


def settled(value: Value, statement: Statement) -> bool:
    """Whether nothing writes to a value after the statement."""
    return not any(write > statement.number for write in value.memory.writes)


def same_layout(arg: Value, value: Value) -> bool:
    """Whether two values have the same order of their elements in memory, in which a sum over them adds."""
    return bool(arg.data.strides == value.data.strides) or math.prod(np.shape(arg.data)) == 1


def fits(arg: Any, value: Value, statement: Statement) -> bool:
    """Whether an argument has the shape and dtype of the result, and is not written to later."""
    if type(arg) is not Value or not settled(arg, statement):
        return False
    return np.shape(arg.data) == np.shape(value.data) and arg.data.dtype == value.data.dtype


def made_by(value: Any, call: Any) -> bool:
    return type(value) is Value and value.statement is not None and value.statement.call is call
