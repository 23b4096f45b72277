"""Remove from a recording what a person would not write: unused values, copies that change nothing, sums by way of ones.

No step changes a bit of the results. A value whose memory is written to is left as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from operator import getitem, setitem
from typing import Any

import numpy as np

from .statements import Check, InPlace, Memory, Method, Statement, Value, in_place, replaced, values_in

_AUGMENTED = {np.add, np.subtract, np.multiply, np.divide}
_BY_ONE = {np.multiply, np.divide}
_SAME_SHAPE = {
    np.broadcast_to,
    np.reshape,
    np.transpose,
    np.swapaxes,
    np.squeeze,
    np.ravel,
    np.expand_dims,
    np.copy,
    np.real,
}


def tidied(statements: Sequence[Statement], results: Any) -> tuple[list[Statement], Any]:
    """Return the statements that are left, and ``results`` (a tree of values) in terms of them."""
    work = _Tidying(live(statements, results), results)
    for _ in range(3):
        work.simplify()
        work.statements = live(work.statements, work.results)
    work.parts()
    work.signs()
    work.scatter()
    work.accumulate()
    for statement in work.statements:
        for value in statement.outputs:
            value.cotangent_of = work.current(value.cotangent_of)
    return work.statements, work.results


def live(statements: Sequence[Statement], results: Any) -> list[Statement]:
    """Return the statements on which the results or a check depend."""
    needed = set(values_in(results))
    while True:
        memories = {value.memory for value in needed}
        before = len(needed)
        kept = []
        for statement in reversed(statements):
            writes = statement.target is not None and statement.target.memory in memories
            if isinstance(statement, Check) or writes or any(value in needed for value in statement.outputs):
                kept.append(statement)
                needed.update(statement.values)
                memories.update(value.memory for value in statement.values)
        if len(needed) == before:
            return kept[::-1]


def constant(value: Any) -> Any:
    """Return the number that every element of a value without dependence has, as a NumPy scalar; None if there is none."""
    if type(value) is not Value or value.depends or value.memory.writes or value.statement is None:
        return None
    data = np.asarray(value.data)
    if not data.size or data.dtype.kind not in "fiub":
        return None
    first = data.flat[0]
    return first if data.ndim == 0 or bool((data == first).all()) else None


class _Tidying:
    def __init__(self, statements: list[Statement], results: Any) -> None:
        self.statements, self.results = statements, results
        self.same: dict[Value, Value] = {}  # values that are replaced, each with its replacement

    def current(self, leaf: Any) -> Any:
        while type(leaf) is Value and leaf in self.same:
            leaf = self.same[leaf]
        return leaf

    def rewrite(self, statement: Statement) -> None:
        """Put the replacements into the arguments of a statement."""
        statement.args = replaced(self.current, statement.args)
        statement.keywords = replaced(self.current, statement.keywords)
        statement.target = self.current(statement.target)

    def replace(self, value: Value, by: Value) -> None:
        self.same[value] = by
        if by.statement is not None and by.statement.backward and by.cotangent_of is None:
            by.cotangent_of = value.cotangent_of
        if value.statement is not None and by.statement is not None and not by.statement.name:
            by.statement.name = value.statement.name

    def simplify(self) -> None:
        seen: dict[Any, Value] = {}
        views = {_view(value): value for value in self.inputs()}
        for statement in self.statements:
            self.rewrite(statement)
            if len(statement.outputs) != 1 or statement.several or isinstance(statement, Check):
                continue
            (value,) = statement.outputs
            if not _settled(value, statement):
                continue
            other = self.unchanged(statement, value)
            if other is None:
                self.literals(statement, value)
                self.merge(statement, value)
                other = self.unchanged(statement, value)
            if other is None and not value.memory.writes:
                known = views.setdefault(_view(value), value)
                alone = len(statement.values) == 1  # what an index picks differs with its values
                if known is not value and known.memory is value.memory and alone:
                    other = known
            if other is None and not value.memory.writes and (key := _key(statement)) is not None:
                other = seen.setdefault(key, value)
            if other is not None and other is not value:
                self.replace(value, other)
        self.results = replaced(self.current, self.results)
        self.statements = [
            s for s in self.statements if not s.outputs or not all(value in self.same for value in s.outputs)
        ]

    def inputs(self) -> set[Value]:
        return {value for statement in self.statements for value in statement.values if value.statement is None}

    def unchanged(self, statement: Statement, value: Value) -> Value | None:
        """Return the argument that the statement only hands on, to the bit; None if it does more."""
        args, call = statement.args, statement.call
        first = args[0] if args else None
        if call is np.multiply and _is(first, 1) and _alike(args[1], value, statement):
            return self.current(args[1])
        if type(first) is not Value or not _alike(first, value, statement):
            return None
        hands_on = (
            (isinstance(call, Method) and (call.__name__ == "astype" or (call.__name__ == "copy" and in_order(first))))
            or call is np.positive
            or (call in _SAME_SHAPE and not (call in (np.transpose, np.swapaxes) and not _same_layout(first, value)))
            or (call is np.real and first.data.dtype.kind != "c")
            or (call in _BY_ONE and len(args) == 2 and _is(args[1], 1))
            or (call is np.subtract and _is(args[1], 0))
            or (call is np.sum and first.data.ndim == 0)
        )
        return self.current(first) if hands_on else None

    def literals(self, statement: Statement, value: Value) -> None:
        """In an elementwise operation, write a uniform constant as a number, and an array without its broadcasting."""
        ufunc = statement.call
        if (
            not isinstance(ufunc, np.ufunc)
            or ufunc.nin != 2
            or ufunc.nout != 1
            or ufunc.signature
            or statement.keywords
        ):
            return
        args = list(statement.args)
        for i, (arg, other) in enumerate(((args[0], args[1]), (args[1], args[0]))):
            if isinstance(arg, np.generic) and type(other) is Value:
                args[i] = _weak(arg, other, value)
            if type(arg) is not Value or type(other) is not Value:
                continue
            shape = np.shape(other.data)
            number = constant(arg)
            if number is not None and other.depends and shape == np.shape(value.data):
                args[i] = _weak(number, other, value)
            elif _made_by(arg, np.broadcast_to) and not arg.memory.writes:
                source = self.current(arg.statement.args[0])  # type: ignore[union-attr]
                if type(source) is Value and np.broadcast_shapes(np.shape(source.data), shape) == np.shape(value.data):
                    args[i] = source
        statement.args = tuple(args)

    def merge(self, statement: Statement, value: Value) -> None:
        """Write ``x.sum(axis, keepdims=True).reshape(...)`` as ``x.sum(axis)``, and two reshapes as one."""
        first = statement.args[0] if statement.args else None
        if (
            statement.call is not np.reshape
            or type(first) is not Value
            or first.statement is None
            or first.memory.writes
        ):
            return
        before = first.statement
        inner = before.args[0] if before.args else None
        if type(inner) is not Value:
            return
        axis = before.keywords.get("axis")
        if before.call is np.sum and before.keywords.get("keepdims") and axis is not None and _settled(inner, before):
            axes = {i % inner.data.ndim for i in (axis if isinstance(axis, tuple) else (axis,))}
            if tuple(n for i, n in enumerate(inner.data.shape) if i not in axes) == np.shape(value.data):
                statement.call, statement.args = np.sum, (inner,)
                only = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
                statement.keywords = {} if len(axes) == inner.data.ndim else {"axis": only}
                value.memory = Memory()  # a sum is new, a reshape is a view
                value.data = np.copy(value.data) if np.ndim(value.data) else value.data
        elif before.call is np.reshape and inner.data.flags.c_contiguous and _settled(inner, before):
            statement.args = (inner, *statement.args[1:])

    def uses(self) -> Counter[Value]:
        """Count the readers of each value; a result has at least two."""
        found = Counter(value for statement in self.statements for value in statement.values)
        found.update(list(values_in(self.results)) * 2)
        return found

    def signs(self) -> None:
        """Write ``-(-x * y / z)`` as ``x * y / z``, and ``x + -y`` as ``x - y``."""
        uses = self.uses()

        def negated(value: Any) -> Any:
            """Return the only argument of a negation that is read once; None if the value is something else."""
            alone = type(value) is Value and uses[value] == 1 and _made_by(value, np.negative)
            inner = value.statement.args[0] if alone else None
            return inner if type(inner) is Value and not inner.memory.writes and not value.memory.writes else None

        for statement in self.statements:
            self.rewrite(statement)
            args = statement.args
            if statement.call in (np.add, in_place(np.add)) and (inner := negated(args[1])) is not None:
                statement.call = np.subtract if statement.call is np.add else in_place(np.subtract)
                statement.args = args[0], inner
            elif statement.call is np.add and (inner := negated(args[0])) is not None:
                statement.call, statement.args = np.subtract, (args[1], inner)
            chain = [args[0]] if statement.call is np.negative else []
            while chain and negated(chain[-1]) is None:
                value = chain[-1]
                product = type(value) is Value and (_made_by(value, np.multiply) or _made_by(value, np.divide))
                if product and uses[value] == 1 and not value.memory.writes and value.data.dtype.kind == "f":
                    chain.append(value.statement.args[0])
                else:
                    chain = []
            if len(chain) > 1:
                before = chain[-2].statement
                before.args = negated(chain[-1]), *before.args[1:]
                for value in chain[:-1]:
                    value.data = -value.data
                chain[0].cotangent_of = statement.outputs[0].cotangent_of
                self.replace(statement.outputs[0], chain[0])
        self.results = replaced(self.current, self.results)
        self.statements = live(self.statements, self.results)

    def parts(self) -> None:
        """Write ``p = x[i]``, ``p += y`` and ``x[i] = p``, which Python makes of ``x[i] += y``, as that again."""
        uses = self.uses()
        changing = {each.target: each for each in self.statements if isinstance(each.call, InPlace)}
        for statement in self.statements:
            if statement.call is not setitem or type(part := statement.args[2]) is not Value or part.statement is None:
                continue
            array, index, _ = statement.args
            change, inside = changing.get(part, part.statement), part in changing
            picked = part if inside else change.args[0] if change.args else None
            ufunc = change.call.ufunc if isinstance(change.call, InPlace) else change.call
            if ufunc not in _AUGMENTED or type(picked) is not Value or not _made_by(picked, getitem):
                continue
            alone = uses[part] == 3 if inside else uses[part] == uses[picked] == 1
            alike = np.shape(part.data) == np.shape(picked.data) and part.data.dtype == array.data.dtype
            between = [n for n in array.memory.writes if _number(picked) < n < statement.number]
            untouched = between == ([change.number] if inside and picked.memory is array.memory else [])
            if alone and alike and untouched and _form(picked.statement.args) == _form((array, index)):
                statement.call, statement.args = in_place(ufunc, True), (array, index, change.args[1])
                array.memory.writes = [n for n in array.memory.writes if n not in between]
                change.call = None
        self.statements = live([each for each in self.statements if each.call is not None], self.results)

    def scatter(self) -> None:
        """Write gradients of parts of one array, ``a[i] = x``, ``b[j] = y`` and ``a + b``, as ``a[i] += x`` and ``a[j] += y``."""
        uses = self.uses()
        parts: dict[Value, Statement] = {}  # the first statement that writes into a value, which is zero elsewhere
        sums: set[Value] = set()  # those that several write to
        read: dict[Memory, int] = {}
        for statement in self.statements:
            self.rewrite(statement)
            target, args = statement.target, statement.args
            if statement.call is setitem and target is not None and uses[target] == 3 and _is_part(statement):
                parts[target] = statement
            elif statement.call in (np.add, in_place(np.add)) and all(type(a) is Value and a in parts for a in args):
                first, second = args if target is not None else sorted(args, key=_number)
                part = parts[second]
                unread = max(_number(first), read.get(first.memory, 0)) < part.number
                if second not in sums and unread and (first in sums if target else _are_exact(parts[first], part)):
                    sums.add(first)
                    self.add_part(statement, first, part)
                    continue
            read.update({value.memory: statement.number for value in statement.values})
        self.statements = [each for each in self.statements if each.call is not None]

    def add_part(self, total: Statement, first: Value, part: Statement) -> None:
        """Let ``part`` add to ``first``, and drop the statement that adds the two arrays."""
        part.call, part.target, part.args = in_place(np.add, True), first, (first, *part.args[1:])
        first.memory.writes.append(part.number)
        for value in total.outputs:
            first.memory.writes += value.memory.writes
            for other in [other for each in self.statements for other in each.outputs if other.memory is value.memory]:
                other.memory = first.memory
            self.replace(value, first)
        total.call = None  # type: ignore[assignment]

    def accumulate(self) -> None:
        """Write ``dh = a + b`` as ``a += b`` in the backward pass, where nothing else reads ``a``."""
        uses = self.uses()
        members = Counter(value.memory for statement in self.statements for value in statement.outputs)
        for statement in self.statements:
            self.rewrite(statement)
            if (
                statement.call not in (np.add, np.subtract)
                or not statement.backward
                or not all(type(a) is Value for a in statement.args)
            ):
                continue
            total, (first, second) = statement.outputs[0], statement.args
            if (
                uses[first] == 1
                and first is not second
                and not first.memory.writes
                and _alike(first, total, statement)
                and first.cotangent_of is total.cotangent_of is not None
                and _is_new(first, members)
                and members[total.memory] == 1
            ):
                statement.call, statement.target, statement.outputs = in_place(statement.call), first, []
                first.memory.writes += [statement.number, *total.memory.writes]
                uses[first] = uses[total]
                members[first.memory] += members[total.memory] - 1
                self.replace(total, first)
        for statement in self.statements:
            self.rewrite(statement)
        self.results = replaced(self.current, self.results)


def _number(value: Value) -> int:
    return -1 if value.statement is None else value.statement.number


def _is_part(statement: Statement) -> bool:
    """Whether a statement of the backward pass writes an array into a part of new zeros, at an index that is known."""
    target, index, part = statement.args
    known = statement.backward and not any(values_in(index)) and _made_by(target, np.zeros)
    return known and type(part) is Value and part.data.dtype == target.data.dtype


def _are_exact(first: Statement, second: Statement) -> bool:
    """Whether two parts of zeros can be added in place: the sum has 0 for -0 except where both are -0.

    Adding to zeros does so for parts that do not overlap. For the same part, the first is assigned. Parts that overlap in
    other ways are left as they are.
    """
    if _form(first.args[1]) == _form(second.args[1]):
        return True
    filled = np.zeros(np.shape(first.args[0].data), bool)
    filled[first.args[1]] = True
    first.call = setitem if filled[second.args[1]].any() else in_place(np.add, True)
    return first.call is not setitem


def _is_new(value: Value, members: Counter[Any]) -> bool:
    """Whether a value has memory that no other value shares and that its statement allocated."""
    statement, data = value.statement, value.data
    allocated = not isinstance(data, np.ndarray) or (data.base is None and data.flags.writeable)
    new = statement is not None and (isinstance(statement.call, np.ufunc) or statement.call is np.sum)
    return allocated and new and members[value.memory] == 1 and not value.memory.caller


def _settled(value: Value, statement: Statement) -> bool:
    """Whether nothing writes to a value after the statement."""
    return not any(write > statement.number for write in value.memory.writes)


def _view(value: Value) -> Any:
    """Return a key that two values share if they are the same part of one memory, seen in the same way."""
    data = value.data
    if not isinstance(data, np.ndarray) or not data.size:
        return id(value)
    return data.__array_interface__["data"][0], data.shape, data.strides, data.dtype.str


def _alike(arg: Any, value: Value, statement: Statement) -> bool:
    """Whether an argument has the shape and dtype of the result, and is not written to later."""
    if type(arg) is not Value or not _settled(arg, statement):
        return False
    return np.shape(arg.data) == np.shape(value.data) and arg.data.dtype == value.data.dtype


def _same_layout(arg: Value, value: Value) -> bool:
    return bool(arg.data.strides == value.data.strides) or math.prod(np.shape(arg.data)) == 1


def in_order(value: Value) -> bool:
    return np.ndim(value.data) == 0 or bool(value.data.flags.c_contiguous)


def _is(arg: Any, wanted: int) -> bool:
    number = arg if type(arg) in (int, float) else constant(arg)
    return number is not None and bool(number == wanted) and not np.signbit(number)


def _made_by(value: Value, call: Any) -> bool:
    return value.statement is not None and value.statement.call is call


def _weak(number: Any, other: Value, value: Value) -> Any:
    """Return a constant as a Python number if that gives the same dtype, or else as NumPy's scalar."""
    plain = number.item()
    if type(plain) is float and other.data.dtype.kind == "f" and np.result_type(other.data, plain) == value.data.dtype:
        return plain
    return number


def _key(statement: Statement) -> Any:
    """Return a key that two statements share if they compute the same; None if that cannot be told."""
    if any(value.memory.writes for value in statement.values):
        return None
    if isinstance(statement.call, Method) and statement.call.__name__ in ("copy", "flatten"):
        return None
    call = statement.call
    called = (id(getattr(call, "__self__", None)), call.__name__) if hasattr(call, "__self__") else id(call)
    return called, _form((statement.args, statement.keywords))


def _form(tree: Any) -> Any:
    """Return a key that two trees of arguments share if they have the same values and constants."""
    if isinstance(tree, (tuple, list)):
        return (type(tree), *map(_form, tree))
    if isinstance(tree, dict):
        return tuple((name, _form(item)) for name, item in sorted(tree.items()))
    if isinstance(tree, slice):
        return slice, _form((tree.start, tree.stop, tree.step))
    if isinstance(tree, (np.ndarray, np.generic)):
        return tree.dtype.str, tree.shape, tree.tobytes()
    return type(tree), id(tree) if type(tree) is Value else repr(tree)
