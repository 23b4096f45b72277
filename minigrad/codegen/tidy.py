"""Remove from a recording what a person would not write: unused values, copies that change nothing, sums by way of ones.

No step changes a bit of the results. A value whose memory is written to is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import getitem
from typing import Any

import numpy as np

from .additions import Rewriting, alike, key_of_tree, made_by, same_layout, settled
from .statements import Check, InPlace, Memory, Method, Statement, Value, key_of_call, values_in

_BY_ONE = {np.multiply, np.divide}
_SAME_SHAPE = {
    np.broadcast_to, np.reshape, np.transpose, np.swapaxes, np.squeeze, np.ravel, np.expand_dims, np.copy, np.real
}  # fmt: skip


def tidied(
    statements: Sequence[Statement], results: Any, same: dict[Value, Value] | None = None
) -> tuple[list[Statement], Any]:
    """Return the statements that are left, and ``results`` (a tree of values) in terms of them.

    If ``same`` is given, each value that is replaced is noted there, with its replacement.
    """
    work = _Tidying(live(statements, results), results)
    for step in (*[work.simplify] * 3, work.parts, work.signs, work.scatter, work.accumulate):
        step()
        work.finish()
        work.statements = live(work.statements, work.results)
    for statement in work.statements:
        for value in statement.outputs:
            value.cotangent_of = work.current(value.cotangent_of)
    if same is not None:
        same.update(work.same)
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


class _Tidying(Rewriting):
    def simplify(self) -> None:
        seen: dict[Any, Value] = {}
        read = (value for statement in self.statements for value in statement.values)
        views = {_view(value): value for value in read if value.statement is None}
        for statement in self.statements:
            self.rewrite(statement)
            if isinstance(statement.call, InPlace) and statement.target is not None:
                self.literals(statement, statement.target)
            if len(statement.outputs) != 1 or statement.several or isinstance(statement, Check):
                continue
            (value,) = statement.outputs
            scopes = tuple(map(id, statement.scopes))  # calls of modules stay apart: they become calls of functions
            self.literals(statement, value)
            if not settled(value, statement):
                continue
            self.ones(statement, value)
            other = self.unchanged(statement, value)
            if other is None:
                self.merge(statement, value)
                other = self.unchanged(statement, value)
            if other is None and not value.memory.writes:
                known = views.get(_view(value)) or seen.setdefault((scopes, _view(value)), value)
                alone = len(statement.values) == 1  # what an index picks differs with its values
                if known is not value and known.memory is value.memory and alone:
                    other = known
            if other is None and not value.memory.writes and (key := _key(statement)) is not None:
                other = seen.setdefault((scopes, key), value)
            if other is not None and other is not value:
                self.replace(value, other)

    def unchanged(self, statement: Statement, value: Value) -> Value | None:
        """Return the argument that the statement only hands on, to the bit; None if it does more."""
        args, call = statement.args, statement.call
        first = args[0] if args else None
        if call is np.multiply and _is(first, 1) and alike(args[1], value, statement):
            return self.current(args[1])
        if type(first) is not Value or not alike(first, value, statement):
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
        call = statement.call.ufunc if isinstance(statement.call, InPlace) else statement.call
        if not isinstance(call, np.ufunc) or (call.nin, call.nout, call.signature) != (2, 1, None):
            return
        if statement.keywords or len(statement.args) != 2:
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
            elif made_by(arg, np.broadcast_to) and not arg.memory.writes:
                source = self.current(arg.statement.args[0])  # type: ignore[union-attr]
                if type(source) is Value and np.broadcast_shapes(np.shape(source.data), shape) == np.shape(value.data):
                    args[i] = source
        statement.args = tuple(args)

    def merge(self, statement: Statement, value: Value) -> None:
        """Write ``x.sum(axis, keepdims=True).reshape(...)`` as ``x.sum(axis)``, and two reshapes as one."""
        first = statement.args[0] if statement.args else None
        if statement.call is not np.reshape or type(first) is not Value or first.memory.writes or not first.statement:
            return
        before = first.statement
        inner = before.args[0] if before.args else None
        if type(inner) is not Value or not settled(inner, before):
            return
        if [*map(id, before.scopes)] != [*map(id, statement.scopes)]:
            return
        axis = before.keywords.get("axis")
        if before.call is np.sum and before.keywords.get("keepdims") and axis is not None:
            axes = {i % inner.data.ndim for i in (axis if isinstance(axis, tuple) else (axis,))}
            if tuple(n for i, n in enumerate(inner.data.shape) if i not in axes) == np.shape(value.data):
                statement.call, statement.args = np.sum, (inner,)
                only = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
                statement.keywords = {} if len(axes) == inner.data.ndim else {"axis": only}
                value.memory = Memory()  # a sum is new, a reshape is a view
                value.data = np.copy(value.data) if np.ndim(value.data) else value.data
        elif before.call is np.reshape and inner.data.flags.c_contiguous:
            statement.args = (inner, *statement.args[1:])


def _view(value: Value) -> Any:
    """Return a key that two values share if they are the same part of one memory, seen in the same way."""
    data = value.data
    if not isinstance(data, np.ndarray) or not data.size:
        return id(value)
    return data.__array_interface__["data"][0], data.shape, data.strides, data.dtype.str


def in_order(value: Value) -> bool:
    return np.ndim(value.data) == 0 or bool(value.data.flags.c_contiguous)


def _is(arg: Any, wanted: int) -> bool:
    number = arg if type(arg) in (int, float) else constant(arg)
    return number is not None and bool(number == wanted) and not np.signbit(number)


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
    if statement.call is getitem and not isinstance(statement.outputs[0].data, np.ndarray):
        return None  # x[3] is short, and equal turns of loops have it each
    args = statement.args
    if statement.call is np.reshape and len(args) == 2:  # reshape(-1, 8) and reshape(10, 8)
        args = args[0], np.shape(statement.outputs[0].data)
    return key_of_call(statement.call), key_of_tree((args, statement.keywords))
