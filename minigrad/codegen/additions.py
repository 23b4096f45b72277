"""Write sums and products of the backward pass as a person does: without needless signs, and in place.

No step changes a bit of the results.
"""

from __future__ import annotations

import math
from collections import Counter
from operator import getitem, setitem
from typing import Any

import numpy as np

from .statements import InPlace, Statement, Value, in_place, key_of, replaced, values_in

_AUGMENTED = {np.add, np.subtract, np.multiply, np.divide}


class Rewriting:
    """Statements, in which values are replaced by others."""

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

    def finish(self) -> None:
        """Put the replacements everywhere, and leave out the statements whose call has been taken away."""
        self.statements = [statement for statement in self.statements if statement.call is not None]
        for statement in self.statements:
            self.rewrite(statement)
        self.results = replaced(self.current, self.results)

    def uses(self) -> Counter[Value]:
        """Count the readers of each value; a result has at least two."""
        found = Counter(value for statement in self.statements for value in statement.values)
        found.update(list(values_in(self.results)) * 2)
        return found

    def parts(self) -> None:
        """Write ``p = x[i]``, ``p += y`` and ``x[i] = p``, which Python makes of ``x[i] += y``, as that again."""
        uses = self.uses()
        changes = {each.target: each for each in self.statements if isinstance(each.call, InPlace)}
        for statement in self.statements:
            if statement.call is not setitem or type(part := statement.args[2]) is not Value or part.statement is None:
                continue
            (array, index, _), inside = statement.args, part in changes
            change = changes.get(part, part.statement)
            picked: Any = part if inside else next(iter(change.args), None)
            ufunc = change.call.ufunc if isinstance(change.call, InPlace) else change.call
            if ufunc not in _AUGMENTED or not made_by(picked, getitem):
                continue
            alone = uses[part] == 3 if inside else uses[part] == uses[picked] == 1
            alike = np.shape(part.data) == np.shape(picked.data) and part.data.dtype == array.data.dtype
            between = [n for n in array.memory.writes if picked.statement.number < n < statement.number]
            untouched = between == ([change.number] if inside and picked.memory is array.memory else [])
            if alone and alike and untouched and key_of_tree(picked.statement.args) == key_of_tree((array, index)):
                statement.call, statement.args = in_place(ufunc, True), (array, index, change.args[1])
                change.call = None  # type: ignore[assignment]

    def signs(self) -> None:
        """In the backward pass, write ``-(-x * y / z)`` as ``x * y / z``, and ``x + -y`` as ``x - y``."""
        uses = self.uses()

        def negated(value: Any) -> Any:
            """Return the argument of a negation; None if the value is something else."""
            inner = value.statement.args[0] if made_by(value, np.negative) and not value.memory.writes else None
            return inner if type(inner) is Value and settled(inner, value.statement) else None

        for statement in self.statements:
            self.rewrite(statement)
            args, call = statement.args, statement.call
            if not statement.backward:
                continue
            if call in (np.add, in_place(np.add)) and (inner := negated(args[1])) is not None:
                statement.call = np.subtract if call is np.add else in_place(np.subtract)
                statement.args = args[0], inner
            elif call is np.add and (inner := negated(args[0])) is not None:
                statement.call, statement.args = np.subtract, (args[1], inner)
            product = [args[0]] if call is np.negative else []  # its value, that of its first factor, and so on
            while product and negated(value := product[-1]) is None:
                goes_on = made_by(value, np.multiply) or made_by(value, np.divide)
                if not goes_on or uses[value] > 1 or value.data.dtype.kind != "f":
                    break
                product.append(value.statement.args[0])
            else:
                if len(product) > 1:
                    first = product[-2].statement
                    first.args = negated(product[-1]), *first.args[1:]
                    for value in product[:-1]:
                        value.data = -value.data
                    product[0].cotangent_of = statement.outputs[0].cotangent_of
                    self.replace(statement.outputs[0], product[0])
                    statement.call = None  # type: ignore[assignment]

    def scatter(self) -> None:
        """Write gradients of parts of an array, ``a[i] = x``, ``b[j] = y``, ``a + b``, as ``a[i] += x`` and ``a[j] += y``."""
        uses = self.uses()
        parts: dict[Any, Statement] = {}  # the only statement that writes into a value, which is zero elsewhere
        sums: dict[Any, list[Statement]] = {}  # the statements that add parts, until another one reads the sum
        for statement in self.statements:
            target, args, call = statement.target, statement.args, statement.call
            added = [arg for arg in args if type(arg) is Value and arg in parts and (uses[arg] == 3 or arg is target)]
            if call is setitem and _is_part(statement):
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
        """Let the parts of a sum add to one array. It is 0 where -0 is added, as the sum is except where all parts are -0."""
        if not additions:
            return
        added = [*additions[0].args, *(each.args[1] for each in additions[1:])]
        writing = sorted((parts[value] for value in added), key=lambda each: each.number)
        first, *others = writing
        count, array = np.zeros(np.shape(total.data), int), first.args[0]
        for each in writing:
            count[each.args[1]] += 1
        if (count == len(writing)).any():
            if len({key_of_tree(each.args[1]) for each in writing}) > 1:
                return
        else:
            first.call = in_place(np.add, True)
        for each in others:
            each.call, each.target, each.args = in_place(np.add, True), array, (array, *each.args[1:])
        for each in additions:
            each.call = None  # type: ignore[assignment]
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
                and alike(first, total, statement)
                and same_layout(first, total)
                and total.cotangent_of is not None
                and first.cotangent_of in (None, total.cotangent_of)
                and _is_new(first, members)
                and members[total.memory] == 1
            ):
                statement.call, statement.target, statement.outputs = in_place(statement.call), first, []
                first.memory.writes += [statement.number, *total.memory.writes]
                uses[first] = uses[total]
                members[first.memory] += members[total.memory] - 1
                self.replace(total, first)


def _is_part(statement: Statement) -> bool:
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


def alike(arg: Any, value: Value, statement: Statement) -> bool:
    """Whether an argument has the shape and dtype of the result, and is not written to later."""
    if type(arg) is not Value or not settled(arg, statement):
        return False
    return np.shape(arg.data) == np.shape(value.data) and arg.data.dtype == value.data.dtype


def made_by(value: Any, call: Any) -> bool:
    return type(value) is Value and value.statement is not None and value.statement.call is call


def key_of_tree(tree: Any) -> Any:
    """Return a key that two trees of arguments share if they have the same values and constants."""
    if isinstance(tree, (tuple, list)):
        return (type(tree), *map(key_of_tree, tree))
    if isinstance(tree, dict):
        return tuple((name, key_of_tree(item)) for name, item in sorted(tree.items()))
    if isinstance(tree, slice):
        return slice, key_of_tree((tree.start, tree.stop, tree.step))
    return key_of(tree)
