"""Remove from a recording what a person would not write: unused values, copies that change nothing, sums by way of ones.

No step changes a bit of the results. A value whose memory is written to is left as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .statements import Check, Memory, Method, Statement, Value, in_place, replaced, values_in

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


def tidied(
    statements: Sequence[Statement], results: Any, same: dict[Value, Value] | None = None
) -> tuple[list[Statement], Any]:
    """Return the statements that are left, and ``results`` (a tree of values) in terms of them.

    If ``same`` is given, each value that is replaced is noted there, with its replacement.
    """
    work = _Tidying(live(statements, results), results, {} if same is None else same)
    for _ in range(3):
        work.simplify()
        work.statements = live(work.statements, work.results)
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
    def __init__(self, statements: list[Statement], results: Any, same: dict[Value, Value]) -> None:
        self.statements, self.results = statements, results
        self.same = same  # values that are replaced, each with its replacement

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
                if (
                    known.memory is value.memory and len(statement.values) == 1
                ):  # what an index picks differs with its values
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
        if call is np.multiply and _is_one(first) and _alike(args[1], value, statement):
            return self.current(args[1])
        if type(first) is not Value or not _alike(first, value, statement):
            return None
        hands_on = (
            (isinstance(call, Method) and (call.__name__ == "astype" or (call.__name__ == "copy" and _in_order(first))))
            or call is np.positive
            or (call in _SAME_SHAPE and not (call in (np.transpose, np.swapaxes) and not _same_layout(first, value)))
            or (call is np.real and first.data.dtype.kind != "c")
            or (call in _BY_ONE and len(args) == 2 and _is_one(args[1]))
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
        for i in range(2):
            arg, other = args[i], args[1 - i]
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
        if before.call is np.sum and before.keywords.get("keepdims") and axis is not None and not inner.memory.writes:
            axes = {i % inner.data.ndim for i in (axis if isinstance(axis, tuple) else (axis,))}
            if tuple(n for i, n in enumerate(inner.data.shape) if i not in axes) == np.shape(value.data):
                statement.call, statement.args = np.sum, (inner,)
                only = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
                statement.keywords = {} if len(axes) == inner.data.ndim else {"axis": only}
                value.memory = Memory()  # a sum is new, a reshape is a view
                value.data = np.copy(value.data) if np.ndim(value.data) else value.data
        elif before.call is np.reshape and inner.data.flags.c_contiguous and not inner.memory.writes:
            statement.args = (inner, *statement.args[1:])

    def accumulate(self) -> None:
        """Write ``dh = a + b`` as ``a += b`` in the backward pass, where nothing else reads ``a``."""
        uses = Counter(value for statement in self.statements for value in statement.values)
        uses.update(list(values_in(self.results)) * 2)
        members = Counter(value.memory for statement in self.statements for value in statement.outputs)
        for statement in self.statements:
            self.rewrite(statement)
            if (
                statement.call is not np.add
                or not statement.backward
                or not all(type(a) is Value for a in statement.args)
            ):
                continue
            total, (first, second) = statement.outputs[0], statement.args
            if (
                uses[first] == 1
                and first is not second
                and isinstance(first.data, np.ndarray)  # a number is immutable: a loop would have to carry its name
                and not first.memory.writes
                and _alike(first, total, statement)
                and first.cotangent_of is total.cotangent_of is not None
                and _is_new(first, members)
                and members[total.memory] == 1
            ):
                statement.call, statement.target, statement.outputs = in_place(np.add), first, []
                first.memory.writes += [statement.number, *total.memory.writes]
                uses[first] = uses[total]
                members[first.memory] += members[total.memory] - 1
                self.replace(total, first)
        for statement in self.statements:
            self.rewrite(statement)
        self.results = replaced(self.current, self.results)


def _is_new(value: Value, members: Counter[Any]) -> bool:
    """Whether a value has memory that no other value shares and that its statement allocated."""
    statement, data = value.statement, value.data
    allocated = not isinstance(data, np.ndarray) or (data.base is None and data.flags.writeable)
    elementwise = statement is not None and isinstance(statement.call, np.ufunc)
    return allocated and elementwise and members[value.memory] == 1 and not value.memory.caller


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


def _in_order(value: Value) -> bool:
    return np.ndim(value.data) == 0 or bool(value.data.flags.c_contiguous)


def _is_one(arg: Any) -> bool:
    number = arg if type(arg) in (int, float) else constant(arg)
    return number is not None and bool(number == 1)


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
    parts: list[Any] = []

    def note(leaf: Any) -> None:
        if isinstance(leaf, np.ndarray):
            parts.append((leaf.dtype.str, leaf.shape, leaf.tobytes()))
        elif isinstance(leaf, np.generic):
            parts.append((leaf.dtype.str, leaf.tobytes()))
        else:
            parts.append((type(leaf), id(leaf) if type(leaf) is Value else repr(leaf)))

    def shape(tree: Any) -> Any:
        if isinstance(tree, (tuple, list)):
            return (type(tree), *map(shape, tree))
        if isinstance(tree, dict):
            return tuple((name, shape(item)) for name, item in sorted(tree.items()))
        if isinstance(tree, slice):
            return ("slice", *map(shape, (tree.start, tree.stop, tree.step)))
        note(tree)
        return None

    form = shape((statement.args, statement.keywords))
    call = statement.call
    called = (id(getattr(call, "__self__", None)), call.__name__) if hasattr(call, "__self__") else id(call)
    return called, form, tuple(parts)
