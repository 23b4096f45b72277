"""Write the calls of modules as calls of functions: one forward and one backward function for all calls that are alike.

The call of a module is one block of statements forward and one backward. Two calls are alike if their blocks are, statement by
statement: the same operations on the same literals, and on values in the same roles. No statement changes its place in the
order of execution, so that no bit changes. docs/written-out.md (*Models*) shows such functions.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import setitem
from typing import Any, NamedTuple

import numpy as np

from ..engine.observers import Scope
from ..rules.about import known
from .loops import form_of
from .program import Arguments, new_name
from .record import Check, Memory, Recording, Statement, Value, method, replaced, values_in
from .simplify import identity

# A function must have so many statements more than calls, or else its text is longer than what it replaces.
_LEAST_SAVED = 4


class Key(NamedTuple):
    """A key of a dict of parameters. Its parts are texts, integers, indices of loops and the argument ``at``."""

    parts: tuple[Any, ...]


class WrittenFunction:
    """A function of the written program.

    Attributes:
        name: its name.
        word: the name of its result, if the user's program has none; by default its own name.
        body: its statements.
        inputs: its parameters: values, and tuples of values that the caller kept from another function.
        outputs: what it returns, in the same form.
        keys: the key of each parameter of the model that it reads, with the dict.
        group: the functions of one module, which use the same names for the same values.
    """

    def __init__(self, name: str, group: object) -> None:
        self.__name__ = name
        self.word = ""
        self.group = group
        self.body: list[Statement] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.keys: dict[Value, tuple[Value, Key]] = {}

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError("only the written program calls it")

    @property
    def is_backward(self) -> bool:
        return self.body[0].backward


class FunctionCall(Statement):
    """The call of a :class:`WrittenFunction`, or of one of Python's own."""

    __slots__ = ()


class Draft(NamedTuple):
    """A program before it is text.

    Attributes:
        statements: those of ``step``, with their loops folded.
        results: what ``step`` returns. copied: of each value in it, whether it is copied.
        run: the recording that they come from.
        flat: the statements of all functions, without loops around them.
        dicts: the arguments that the program reads by key.
        functions: the functions that ``step`` calls.
    """

    statements: Sequence[Statement]
    results: Any
    copied: Sequence[bool]
    run: Recording
    flat: Sequence[Statement]
    dicts: Dicts
    functions: Sequence[WrittenFunction]


class CalledModule:
    """The call of a module: the statements ``first`` to ``last`` in each of its spans, the first of which is forward."""

    def __init__(self, scope: Scope, ancestors: Sequence[Scope]) -> None:
        self.owner, self.number, self.ancestors = scope[0], id(scope), [*map(id, ancestors)]
        self.spans: dict[object, list[int]] = {}
        self.outer: dict[Value, int] = {}  # what the statements read from outside, and the position of each
        self.inner: dict[Value, int] = {}  # what they compute

    def blocks(self, statements: Sequence[Any]) -> Iterator[list[Any]]:
        for first, last in self.spans.values():
            yield [statement for statement in statements[first : last + 1] if statement is not None]

    def signature(self, statements: Sequence[Statement]) -> Any:
        """Return what the calls of a module share if they are alike; None if a block writes to what is not its own."""
        memories: dict[Memory, int] = {}
        written: set[Memory] = set()
        parts: list[Any] = []
        for block in self.blocks(statements):
            parts.append(len(block))
            for statement in block:
                outputs = statement.outputs
                written |= {statement.target.memory} if statement.target is not None else set()
                self.inner.update({value: len(self.inner) + i for i, value in enumerate(outputs)})
                codes = tuple([self.code(leaf) for leaf in statement.leaves])
                literals = tuple([None if v.depends or np.ndim(v.data) else identity(v.data) for v in outputs])
                parts.append((form_of(statement), statement.backward, statement.several, codes, literals))
                parts.append(tuple([memories.setdefault(value.memory, len(memories)) for value in outputs]))
        return None if any(value.memory in written for value in self.outer) else tuple(parts)

    def code(self, leaf: Any) -> Any:
        if type(leaf) is Value and leaf in self.inner:
            return "inner", self.inner[leaf]
        if type(leaf) is Value:
            return "outer", self.outer.setdefault(leaf, len(self.outer))
        return identity(leaf)


def calls_of(statements: Sequence[Statement]) -> list[CalledModule]:
    """Return the calls of modules whose blocks lie inside of those of their callers."""
    found: dict[int, CalledModule] = {}
    for i, statement in enumerate(statements):
        for depth, scope in enumerate(statement.scopes):
            if id(scope) not in found:
                found[id(scope)] = CalledModule(scope, statement.scopes[:depth])
            found[id(scope)].spans.setdefault(statement.sweep, [i, i])[1] = i
    spans = [(first, -last, len(c.ancestors), c) for c in found.values() for first, last in c.spans.values()]
    crossing: set[CalledModule] = set()
    around: list[tuple[int, CalledModule]] = []
    for first, minus, _, call in sorted(spans, key=lambda span: span[:3]):
        around = [each for each in around if each[0] >= first]
        for last, other in around:
            if -minus > last or other.number not in call.ancestors:
                crossing |= {call, other}
        around.append((-minus, call))
    return [call for call in found.values() if call not in crossing]


def sites(calls: Sequence[CalledModule]) -> int:
    """Return about how many lines would call a function: a loop calls one module at equal distances."""
    found = 0
    for owner in {id(call.owner): None for call in calls}:
        starts = [min(first for first, _ in call.spans.values()) for call in calls if id(call.owner) == owner]
        found += len(starts) if len(starts) < 3 else len({b - a for a, b in itertools.pairwise(starts)})
    return found


class Modules:
    """Replaces calls of modules by calls of functions.

    Attributes:
        now: the statements, None where a call took them.
        functions: the functions that were made, those that others call first.
        stored: the gradients that functions put into their dict.
    """

    def __init__(self, statements: Sequence[Statement], results: Any, dicts: Dicts, taken: set[str]) -> None:
        self.statements, self.dicts, self.taken = statements, dicts, {*taken}
        self.now: list[Any] = [*statements]
        self.functions: list[WrittenFunction] = []
        self.stored: set[Value] = set()
        gradients = [each[0] for each in dicts.gradients if type(each[0]) is Value]
        self.results = {*values_in(results), *gradients}
        self.memories = Counter(value.memory for value in (*values_in(results), *gradients))
        for visible, hidden in reversed(self.chosen(calls_of(statements))):  # the inner ones first
            _Extraction(self, visible, hidden).replace()

    def chosen(self, calls: Sequence[CalledModule]) -> list[tuple[list[CalledModule], list[CalledModule]]]:
        """Return the calls that become calls of one function, for each function, the outer functions first.

        The second list has the hidden calls, inside an outer call that itself disappears from the text. They only take part in
        comparing.
        """
        groups: dict[Any, list[CalledModule]] = {}
        for call in calls:
            signature = call.signature(self.statements)
            if signature is not None:
                groups.setdefault((type(call.owner), signature), []).append(call)
        gone: set[int] = set()  # the calls that disappear from the text: all of a function but the first
        found = []
        for group in sorted(groups.values(), key=lambda group: max(len(call.ancestors) for call in group)):
            visible = [call for call in group if not gone & set(call.ancestors)]
            length = sum(last + 1 - first for first, last in group[0].spans.values())
            if sites(visible) > 1 and length >= 2 * len(group[0].spans) + _LEAST_SAVED:
                found.append((visible, [call for call in group if call not in visible]))
                gone |= {call.number for call in visible[1:]}
        return found

    def stores(self, value: Any, gradients: Value, key: str) -> list[Statement]:
        """Return the statements that put a value into a dict of gradients, with a copy if it shares its memory."""
        made = value.statement if type(value) is Value else None
        found: list[Statement] = []
        number = 0 if made is None else made.number
        array = type(value) is Value and np.ndim(value.data)
        if array and (value.memory.caller or self.memories[value.memory] > 1 or not _owns(value)):
            found.append(Statement(number, method("copy"), (value,), {}))
            value = Value(value.data, found[0], True, Memory())
            found[0].outputs.append(value)
        found.append(Statement(number, setitem, (gradients, Key((key,)), value), {}))
        found[-1].target = gradients
        for statement in found:
            statement.backward = True
            if made is not None:
                statement.entry, statement.place = made.entry, made.place
        return found

    def rest(self) -> list[Statement]:
        """Return the statements that are left, with those that fill the dicts of gradients where no function does."""
        first = next((i for i, each in enumerate(self.now) if each is not None and each.backward), len(self.now))
        later: dict[int, list[Statement]] = {}
        for gradients in {each[1]: None for each in self.dicts.gradients}:
            assert gradients.statement is not None
            later.setdefault(first - 1, []).append(gradients.statement)
        for value, gradients, key in self.dicts.gradients:
            if type(value) is not Value or value not in self.stored:
                at = max((i for i, each in enumerate(self.now) if _makes(each, value)), default=len(self.now) - 1)
                later.setdefault(max(at, first - 1), []).extend(self.stores(value, gradients, key))
        found = later.pop(-1, [])
        for i, each in enumerate(self.now):
            found += [each] * (each is not None) + later.get(i, [])
        return found


class _Extraction:
    """Makes the functions of one module of its calls. The bodies are copies of the blocks of the first call."""

    def __init__(self, modules: Modules, visible: Sequence[CalledModule], hidden: Sequence[CalledModule]) -> None:
        self.modules, self.calls, self.first, self.count = modules, [*visible, *hidden], visible[0], len(visible)
        self.blocks = [*self.first.blocks(modules.now)]
        # for each value of the first call, the one in each call
        self.twins = {each[0]: each for each in zip(*([*call.outer, *call.inner] for call in self.calls), strict=True)}
        self.clones: dict[Value, Value] = {}
        self.at = of_data("at")
        self.prefixes: Sequence[str] | None = None  # of the keys, in each call
        # the parameters, each with its dict and its key in the first call
        self.keys: dict[Value, tuple[Value, str]] = {}

    def replace(self) -> None:
        if not self.use_keys():
            return
        for value in [v for block in self.blocks for each in block for v in each.outputs]:
            if value not in self.twins:  # what an inner function keeps
                self.twins[value] = (value, *(of_data(value.name) for _ in self.calls[1:]))
        read = self.read_outside()
        made = [[v for each in block for v in each.outputs] for block in self.blocks]
        kept = [self.kept(i, made[i], read) for i in range(len(made))]
        group, name, modules = object(), _snake(type(self.first.owner).__name__), self.modules
        # of each block that keeps several values, the tuple of them in each call
        bundles = [[of_data("saved") for _ in self.calls] if len(each) > 1 else None for each in kept]
        spans = [[*call.spans.values()] for call in self.calls[: self.count]]
        for i, block in enumerate(self.blocks):
            function = WrittenFunction(new_name(name + "_back" * (i > 0), modules.taken), group)
            function.word = _word_of(type(self.first.owner))
            returned = [v for v in made[i] if v in read] + kept[i] * (bundles[i] is None)
            given = [v for v in self.outer(block) if v not in self.keys and v not in self.surroundings(block)]
            opened = [j for j, bundle in enumerate(bundles) if bundle and j != i and set(given) & set(kept[j])]
            given = [v for v in given if not any(v in kept[j] for j in opened)]
            around = self.surroundings(block)
            function.body = self.body(block, function)
            function.inputs = [
                *map(self.clone, given), *(tuple(map(self.clone, kept[j])) for j in opened), *map(self.clone, around)
            ]  # fmt: skip
            function.outputs = [*map(self.clone, returned), *([tuple(map(self.clone, kept[i]))] if bundles[i] else [])]
            modules.functions.append(function)
            for n, (first, last) in enumerate([each[i] for each in spans]):
                args = [self.in_call(v, n) for v in given] + [bundles[j][n] for j in opened]  # type: ignore[index]
                args += [self.in_call(v, n) for v in around]
                outputs = [self.twins[v][n] for v in returned] + ([bundles[i][n]] if bundles[i] else [])  # type: ignore[index]
                call = _called(function, args, outputs, modules.statements[first : last + 1])
                modules.now[first : last + 1] = [call, *[None] * (last - first)]

    # Keys

    def use_keys(self) -> bool:
        """Find the parameters and gradients that are items of dicts. Return False if the calls cannot share a function."""
        keys = self.modules.dicts.keys
        parameters = [v for v in self.twins if v in self.first.outer and all(each in keys for each in self.twins[v])]
        columns = [tuple([keys[each] for each in self.twins[v]]) for v in parameters]
        gradients = {each[0]: each[1:] for each in self.modules.dicts.gradients if type(each[0]) is Value}
        many = Counter(each[0] for each in self.modules.dicts.gradients if type(each[0]) is Value)
        stored = [
            v
            for v in self.first.inner
            if all(many[each] == 1 and self.is_settled(each, n) for n, each in enumerate(self.twins[v]))
        ]
        results = [tuple([gradients[each] for each in self.twins[v]]) for v in stored]
        self.prefixes, fits = _prefixes([tuple([key for _, key in column]) for column in (*columns, *results)])
        fits &= all(len({holder for holder, _ in column}) == 1 for column in (*columns, *results))
        fits &= all(len({key for _, key in column}) > 1 for column in results)
        dicts = {holder for holder, _ in (*keys.values(), *gradients.values())}
        if not fits:
            self.prefixes = None
            return not any(v in dicts for block in self.blocks for v in self.outer(block))
        self.keys = {v: keys[v] for v in parameters}
        for v in stored:
            if v not in self.modules.stored:
                i = next(i for i, block in enumerate(self.blocks) if any(v in each.outputs for each in block))
                at = max(j for j, each in enumerate(self.blocks[i]) if _makes(each, v))
                self.blocks[i][at + 1 : at + 1] = self.modules.stores(v, *gradients[v])
            self.modules.stored.update(self.twins[v])
        return True

    def is_settled(self, value: Value, n: int) -> bool:
        """Whether nothing writes to a value after the block that computes it."""
        ends = [self.modules.statements[last].number for first, last in self.calls[n].spans.values()]
        number = value.statement.number if value.statement is not None else 0
        end = min(end for end in ends if end >= number)
        return max(value.memory.writes, default=0) <= end

    def relative(self, key: str) -> Key:
        """Return a key of the first call in terms of ``at``, if it is another in each call."""
        if self.prefixes is None or not key.startswith(self.prefixes[0]):
            return key_of_text(key)
        rest = key[len(self.prefixes[0]) :]
        return Key((self.at, *[rest] * bool(rest)))

    def surroundings(self, block: Sequence[Statement]) -> list[Any]:
        """Return the dicts that a block uses, and ``at``."""
        dicts = {holder: None for holder, _ in self.keys.values()}
        dicts |= {each[1]: None for each in self.modules.dicts.gradients}
        read = self.outer(block)
        used = {self.keys[v][0] for v in read if v in self.keys} | set(read)
        texts = [self.keys[v][1] for v in read if v in self.keys]
        texts += [text_of_key(arg) for each in block for arg in each.args if type(arg) is Key]
        relative = self.prefixes is not None and any(text.startswith(self.prefixes[0]) for text in texts)
        return [holder for holder in dicts if holder in used] + [self.at] * relative

    # Values

    def outer(self, block: Sequence[Statement]) -> list[Any]:
        """Return what a block reads from outside, in the order of reading."""
        made = {v for each in block for v in each.outputs}
        leaves = [leaf for each in block for leaf in each.leaves]
        return [*dict.fromkeys(leaf for leaf in leaves if type(leaf) is Value and leaf not in made)]

    def read_outside(self) -> set[Value]:
        """Return the values of the first call that something outside reads, in this or another call."""
        readers: dict[Value, list[int]] = {}
        for i, statement in enumerate(self.modules.now):
            for value in statement.values if statement is not None else ():
                readers.setdefault(value, []).append(i)
        found = set()
        for value, each in self.twins.items():
            for n, other in enumerate(each):
                spans = self.calls[n].spans.values()
                outside = any(not any(a <= i <= b for a, b in spans) for i in readers.get(other, ()))
                if outside or (other in self.modules.results and other not in self.modules.stored):
                    found.add(value)
        return found

    def kept(self, i: int, made: Sequence[Value], read: set[Value]) -> list[Any]:
        """Return what the block keeps for the other blocks of its call alone, with those of its inputs that they read."""
        elsewhere = {v for j, block in enumerate(self.blocks) if j != i for v in self.outer(block)}
        found: list[Any] = [v for v in made if v in elsewhere and v not in read]
        if found and i == 0:
            given = [v for v in self.outer(self.blocks[0]) if v in self.twins and v not in self.keys and v in elsewhere]
            found = [v for v in given if len(set(self.twins[v])) > 1] + found
        return found

    def in_call(self, leaf: Any, n: int) -> Any:
        """Return what stands for an input of the first call in the n-th call."""
        if leaf is self.at:
            return key_of_text(self.prefixes[n]) if self.prefixes else leaf
        return self.twins[leaf][n] if leaf in self.twins else leaf

    # The body

    def body(self, block: Sequence[Statement], function: WrittenFunction) -> list[Statement]:
        """Return copies of the statements of a block, which read the inputs of the function."""
        places = {each.place for each in block}
        found = []
        for statement in block:
            clone = copy.copy(statement)
            args = [
                self.relative(text_of_key(a)) if type(a) is Key else replaced(self.clone, a) for a in statement.args
            ]
            clone.args, clone.keywords = tuple(args), replaced(self.clone, statement.keywords)
            clone.target = self.clone(statement.target)
            clone.outputs = [self.clone(value) for value in statement.outputs]
            for value, output in zip(statement.outputs, clone.outputs):
                output.statement, output.name, clone.name = clone, None, self.common_name(value)
                if isinstance(clone, FunctionCall):
                    output.name = clone.name or value.name or "z"
            clone.place = None if len(places) == 1 and not isinstance(statement, Check) else statement.place
            found.append(clone)
        for value in self.outer(block):
            if value in self.keys:
                holder, key = self.keys[value]
                function.keys[self.clone(value)] = self.clone(holder), self.relative(key)
        return found

    def clone(self, leaf: Any) -> Any:
        """Return what stands for a value of the first call in the functions."""
        if type(leaf) is not Value or leaf is self.at:
            return leaf
        if leaf not in self.clones:
            holders = {holder for holder, _ in self.modules.dicts.keys.values()}
            if leaf in holders or any(leaf is each[1] for each in self.modules.dicts.gradients):
                self.clones[leaf] = of_data("p" if leaf in holders else "dp")
            else:
                clone = self.clones[leaf] = copy.copy(leaf)
                clone.name, clone.statement = self.common_name(leaf) or "x", None
                of = leaf.cotangent_of
                if of is not None:
                    clone.cotangent_of = self.clone(of) if of in self.twins else of_data(self.common_name(of))
        return self.clones[leaf]

    def common_name(self, value: Any) -> str | None:
        """Return the name that a value has in all calls, or the words with which all the names end."""
        names = []
        for each in self.twins.get(value, (value,)):
            statement = each.statement
            names.append((each.name or (statement is not None and statement.name) or "").split("_")[::-1])
        common = [words[0] for words in itertools.takewhile(lambda words: len(set(words)) == 1, zip(*names))]
        return "_".join(common[::-1]) or None


def _called(
    function: WrittenFunction, args: Sequence[Any], outputs: Sequence[Value], block: Sequence[Statement]
) -> FunctionCall:
    call = FunctionCall(block[0].number, function, tuple(args), {})
    call.outputs, call.several, call.backward = [*outputs], True, block[0].backward
    call.sweep = block[0].sweep
    call.place = block[0].place if len({each.place for each in block}) == 1 else None
    return call


def _makes(statement: Any, value: Any) -> bool:
    """Whether a statement computes a value or writes to it."""
    if statement is None or type(value) is not Value:
        return False
    written = statement.target is not None and statement.target.memory is value.memory
    return written or value in statement.outputs


def _prefixes(columns: Sequence[tuple[str, ...]]) -> tuple[list[str] | None, bool]:
    """Return what the keys of each call begin with, where they differ, and whether they are alike otherwise."""
    differing = [column for column in columns if len(set(column)) > 1]
    if not differing:
        return None, True
    found = [_common([key.split(".")[:-1] for key in keys]) for keys in zip(*differing)]
    rests = [{key[len(prefix) :] for key, prefix in zip(column, found)} for column in differing]
    same = [column[0] for column in columns if len(set(column)) == 1]
    fits = all(len(rest) == 1 for rest in rests) and not any(key.startswith(found[0]) for key in same)
    return found, fits and all(len(prefix) > 1 for prefix in found)


def _common(paths: Sequence[Sequence[str]]) -> str:
    """Return the parts with which all paths begin, each with a point after it."""
    return "".join(f"{parts[0]}." for parts in itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*paths)))


def _word_of(module: Any) -> str:
    """Return the word of the operation that the forward of a module calls; "" unless there is one such word."""
    forward = inspect.unwrap(module.forward)
    words = {known(forward.__globals__.get(name)).word for name in forward.__code__.co_names} - {""}
    return words.pop() if len(words) == 1 else ""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# --- Dicts of parameters ---


class Dicts:
    """The arguments that are large dicts of arrays, and the dicts of their gradients.

    Attributes:
        keys: the dict and the key of each value that is an item of an argument.
        gradients: each gradient, with the dict that gets it and the key.
    """

    def __init__(self) -> None:
        self.keys: dict[Value, tuple[Value, str]] = {}
        self.gradients: list[tuple[Any, Value, str]] = []

    def add(self, name: str, items: Sequence[tuple[Value, str]], gradients: dict[str, Any]) -> Value:
        """Add an argument. Return the value that stands for the dict of its gradients."""
        holder = of_data(name)
        self.keys.update({value: (holder, key) for value, key in items})
        statement = FunctionCall(0, WrittenFunction("dict.fromkeys", None), (holder,), {})
        found = of_data(None, statement)
        found.cotangent_of = holder
        statement.outputs, statement.backward = [found], True
        self.gradients += [(value, found, key) for key, value in gradients.items() if value is not None]
        return found


def large_dicts(arguments: Arguments, leaves: Any, results: Any, chosen: Sequence[int]) -> tuple[Dicts, Any]:
    """Return the large dicts among the arguments, and the results with dicts for their gradients."""
    dicts, results = Dicts(), list(results)
    for name in arguments.dicts:
        at = arguments.names.index(name)
        gradients = results[1 + chosen.index(at)] if at in chosen else {}
        items = [(value, leaf.key) for value, leaf in leaves if leaf.path.startswith(f"{name}[")]
        found = dicts.add(name, items, gradients)
        if at in chosen:
            results[1 + chosen.index(at)] = found
    return dicts, tuple(results)


def _owns(value: Value) -> bool:
    """Whether a value has memory of its own, or needs none."""
    data = value.data
    return not isinstance(data, np.ndarray) or (data.base is None and data.flags.writeable) or not data.ndim


def copied(results: Any) -> list[bool]:
    """Return for each value in the results whether the program copies it: another object has its memory."""
    values = values_in(results)
    memories = [value.memory for value in values]
    return [v.memory.caller or v.memory in memories[:i] or not _owns(v) for i, v in enumerate(values)]


def of_data(name: str | None = None, statement: Statement | None = None) -> Value:
    """Return a value that is no array: a dict, a key, or what a function keeps."""
    value = Value(None, statement, True, Memory())
    value.name = name
    return value


def key_of_text(text: str) -> Key:
    """Return a key whose integers a loop can count."""
    parts = [part for part in re.split(r"(?<=\.)(0|[1-9]\d*)(?=\.)", text) if part]
    return Key(tuple([int(part) if part.isdigit() else part for part in parts]))


def text_of_key(key: Key) -> str:
    """Return the text of a key without loop indices."""
    return "".join(map(str, key.parts))
