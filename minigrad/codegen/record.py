"""Record: a program as data, its statements and values, and what writes down the statements of one run of a function.

In the engine's words, the *tape* has an *entry* for each operation that ran, and a *node* is an entry or a leaf. A *sweep* goes
back through the entries; its ``pulled`` is the entry whose rules are running. A rule may start a sweep of its own. The sweep of
the program is then the outermost, ``active.sweeps[0]``, and the one that calls an observer is the innermost, ``[-1]``.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, getitem
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from .._source import SourceLine, instruction, of_library, user_place
from ..engine.observers import Scope, active
from ..engine.primitive import Primitive
from ..engine.tape import Sweep
from ..engine.tensor import Tensor
from ..engine.types import Node
from ..errors import UnsupportedError
from ..rules.about import known
from ..source.index import index_of


@dataclass(eq=False, slots=True, repr=False)
class Memory:
    """The memory of one array, which the values that are views of it share.

    Attributes:
        caller: the memory belongs to an argument, so the program must not write to it.
        writes: the numbers of the statements that write to it.
    """

    caller: bool = False
    writes: list[int] = field(default_factory=list)


@dataclass(eq=False, slots=True, repr=False)
class Value:
    """An array or a number that the program computes, or one of its arguments.

    Attributes:
        data: its value in the run that was written down.
        statement: the statement that computes it; None for an argument.
        depends: whether it depends on the arguments.
        memory: the memory that it shares with other values.
        name: the name of an argument, of the program or of a written function; that of another value has its statement.
        cotangent_of: the value whose cotangent this is.
    """

    data: Any
    statement: Statement | None
    depends: bool
    memory: Memory
    name: str | None = None
    cotangent_of: Value | None = None


@dataclass(eq=False, slots=True, repr=False)
class Statement:
    """One call: ``outputs = call(*args, **keywords)``. Where an argument is a value of the program, it is a :class:`Value`.

    Attributes:
        number: its position in the order of execution.
        several: whether the call returns a tuple or list, whose items are the outputs.
        target: the value that the call writes to, for a statement without outputs.
        place: the line of the user's program that ran it; in the backward pass, the line that is gone back through.
        name: the name that the user's program, or the rule, assigns the result to.
        word: the word of the operation whose result it computes; "" if that has none.
        entry: the entry of the tape whose rule ran it in the backward pass; None in the forward pass.
        backward: whether it is part of the backward pass.
        scopes: the calls of modules that it is part of; in a backward pass, those whose results it goes back through.
        sweep: the backward pass, here or in the user's function, that it is part of; None in the forward pass.
    """

    number: int
    call: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    outputs: list[Value] = field(default_factory=list)
    several: bool = False
    target: Value | None = None
    place: SourceLine | None = None
    name: str | None = None
    word: str = ""
    entry: Node = None
    backward: bool = False
    scopes: Sequence[Scope] = ()
    sweep: Any = None

    @property
    def leaves(self) -> list[Any]:
        """The leaves of its arguments, in the order of :func:`replaced`, and its target."""
        found = leaves_of((self.args, self.keywords))
        return found if self.target is None else [*found, self.target]

    @property
    def values(self) -> list[Value]:
        """The values that it reads or writes to. A target counts twice, as an argument and as target: ``x`` in ``x += y``."""
        return [leaf for leaf in self.leaves if type(leaf) is Value]


@dataclass(eq=False, slots=True, repr=False)
class Check(Statement):
    """A statement that raises unless ``args[0]`` is as it was in the run that was written down.

    Attributes:
        kind: "truth", "integer", "shape" or "dtype".
        expected: the boolean, the integer, the shape or the dtype.
    """

    kind: str = ""
    expected: Any = None

    @property
    def sentence(self) -> str:
        """What was so in the run that was written down."""
        where = f"line {self.place.line}, {self.place.text!r}," if self.place is not None else "the program"
        found = {"truth": "was", "integer": "read", "shape": "had shape", "dtype": "had dtype"}[self.kind]
        return f"{where} {found} {self.expected}"


class Method:
    """``x.name(...)``, where NumPy has no function that does exactly the same. ``method(name)`` makes each only once."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, array: Any, *args: Any, **keywords: Any) -> Any:
        return getattr(array, self.__name__)(*args, **keywords)


class Augmented:
    """``x += y`` and the like: the ufunc writes into its first argument. If ``indexed``, ``x[i] += y``."""

    __slots__ = ("__name__", "indexed", "ufunc")

    def __init__(self, ufunc: Any, indexed: bool = False) -> None:
        self.ufunc, self.indexed = ufunc, indexed
        self.__name__ = ufunc.__name__

    def __call__(self, array: Any, *args: Any) -> None:
        if self.indexed:
            array[args[0]] = self.ufunc(array[args[0]], args[1])
        else:
            self.ufunc(array, *args, out=array)


method = functools.lru_cache(maxsize=None)(Method)
in_place = functools.lru_cache(maxsize=None)(Augmented)


# --- Values inside arguments ---


def leaves_of(tree: Any) -> list[Any]:
    """Return what is in the tuples, lists, dicts and slices of the arguments of a statement, in order."""
    found: list[Any] = []
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is dict:
            waiting += reversed(item.values())
        elif kind is slice:
            waiting += (item.step, item.stop, item.start)
        elif isinstance(item, (tuple, list)):
            waiting += reversed(item)
        else:
            found.append(item)
    return found


def values_in(tree: Any) -> list[Value]:
    """Return the values in the arguments of a statement, in order."""
    return [leaf for leaf in leaves_of(tree) if type(leaf) is Value]


def replaced(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the arguments of a statement with each leaf replaced by ``function(leaf)``."""
    kind = type(tree)
    if kind is dict:
        return {key: replaced(function, item) for key, item in tree.items()}
    if kind is slice:
        return slice(replaced(function, tree.start), replaced(function, tree.stop), replaced(function, tree.step))
    if isinstance(tree, (tuple, list)):
        items = [replaced(function, item) for item in tree]
        return kind(*items) if hasattr(tree, "_fields") else kind(items)
    return function(tree)


def ufunc_of(call: Any) -> Any:
    """Return the ufunc that is called, also by a method of it such as ``np.add.reduce``; None if the call is none."""
    found = getattr(call, "__self__", call)
    return found if isinstance(found, np.ufunc) else None


def live(statements: Sequence[Statement], results: Any) -> list[Statement]:
    """Return the statements on which the results or a check depend."""
    needed, read = set(values_in(results)), {statement: statement.values for statement in statements}
    while True:
        memories = {value.memory for value in needed}
        before = len(needed)
        kept = []
        for statement in reversed(statements):
            writes = statement.target is not None and statement.target.memory in memories
            if isinstance(statement, Check) or writes or any(value in needed for value in statement.outputs):
                kept.append(statement)
                needed.update(read[statement])
                memories.update(value.memory for value in read[statement])
        if len(needed) == before:
            return kept[::-1]


# --- The recording ---


# Functions whose result has a shape that depends on the values of the first argument, and of any argument but the first.
_OF_VALUES = {
    np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.compress, np.extract, np.bincount, np.trim_zeros, np.setdiff1d,
    np.intersect1d, np.union1d, np.setxor1d, np.histogram, np.unpackbits, np.unique_values, np.unique_counts,
    np.unique_inverse, np.unique_all, np.histogram2d, np.histogramdd, np.histogram_bin_edges, np.linspace, np.geomspace,
    np.logspace,
}  # fmt: skip
_OF_OTHER_VALUES = {
    np.delete, np.insert, np.repeat, np.tile, np.reshape, np.broadcast_to, np.split, np.array_split, np.resize, np.pad,
    np.expand_dims, np.moveaxis, np.swapaxes, np.transpose, np.diff, np.rollaxis, np.squeeze, np.sum, np.mean, np.max, np.min,
    np.prod, np.std, np.var, np.any, np.all, np.full_like, np.zeros_like, np.ones_like, np.empty_like,
}  # fmt: skip
# Functions whose result is real or complex, depending on the values.
_REAL_OR_COMPLEX = {np.linalg.eig, np.linalg.eigvals, np.roots, np.poly, np.real_if_close}
# Folders whose lines are not the user's: those of Python's own library, which a program may call, of NumPy, and of minigrad.
_LIBRARIES = tuple(os.path.join(os.path.dirname(f), "") for f in (os.__file__, np.__file__, os.path.dirname(__file__)))


class Recording:
    """The statements of one run of a function, and what cannot be written down.

    ``wrap`` is the class of the arrays, :class:`~.paper.Paper`.

    Attributes:
        statements: the statements in the order of execution.
        inputs: the values of the arguments.
        results: the value of the function, and for each differentiated argument a tree of values: plain zeros where the result
            does not depend on a leaf, None where it is not differentiated.
        values: the value of each node of the tape.
        variables: constant arrays, each with its name in the user's program.
        scopes: the calls of modules of each entry; with a sweep and a node, those that all contributions to its cotangent
            have in common.
        backward: whether the backward pass of the whole function is running.
        refusal: the error that ended the writing, even if the function caught it.
        raised: an error that a statement raised, with its line. If the function goes on, the program cannot tell for
            which values the error occurs.
        source: the line of the user's program, if it is not the one that is running: a trace is run again.
        result_name: the name of what the function returns, or of what an operation of a trace returns.
        caller: the frame that calls the function, while it runs.
        closed: whether the run is over. A paper that a closure or a cache still holds then refuses every further use.
    """

    def __init__(self, wrap: Callable[[Value, Recording], Any]) -> None:
        self._wrap = wrap
        self.statements: list[Statement] = []
        self.inputs: list[Value] = []
        self.results: Any = None
        self.values: dict[Node, Value] = {}
        self.variables: list[tuple[Any, str]] = []
        self.scopes: dict[Any, Sequence[Scope]] = {}
        self.backward = False
        self.refusal: UnsupportedError | None = None
        self.raised: tuple[Exception, SourceLine | None] | None = None
        self.source: SourceLine | None = None
        self.result_name: str | None = "loss"
        self.caller: FrameType | None = None
        self.closed = False
        self._thread = threading.get_ident()
        self._errors: dict[str, Any] = {**np.geterr()}
        self._filters = warnings.filters
        self._checked: set[tuple[int, str]] = set()

    def input(self, array: Any, name: str) -> Any:
        value = Value(np.array(array), None, True, Memory(caller=True))
        value.name = name
        self.inputs.append(value)
        return self._wrap(value, self)

    def finish(self) -> None:
        """Raise if the function was refused, or caught an error of its own, and went on all the same.

        Raises:
            UnsupportedError: it did.
        """
        if self.refusal is None and self.raised is not None:
            error, place = self.raised
            self.refusal = UnsupportedError(
                f"the function caught an error ({type(error).__name__}: {error}){named(place)}, and the program cannot "
                "tell for which values the error occurs: test the values with np.where instead"
            )
        if self.refusal is not None:
            raise self.refusal

    def write(self, call: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any], target: Any = None) -> Any:
        """Run a call on the values, write it down, and return its results as papers.

        ``target`` is the paper that the call writes to; its result is then None.
        """
        statement = Statement(len(self.statements), call, replaced(self._kept, args), replaced(self._kept, keywords))
        statement.target = None if target is None else target._value
        self._refuse_surroundings()
        if target is not None and target._value.memory.caller:
            self.refuse("a write into an argument", "write to a copy: x = np.copy(x)", frozen=False)
        depends = _depend((statement.args, statement.keywords, statement.target))
        self._place(statement)
        try:
            result = call(*replaced(self.data, args), **replaced(self.data, keywords))
        except Exception as error:
            if depends:
                self.raised = self.raised or (error, statement.place)
            raise
        self.statements.append(statement)
        if target is not None:
            self._written(statement, target._value, depends)
            return None
        papers = self._papers(statement, result, depends)
        if depends and _shape_depends(statement):
            for value in statement.outputs:
                if isinstance(value.data, np.ndarray):
                    self.check("shape", value, value.data.shape)
        if depends and (statement.call in _REAL_OR_COMPLEX or "scimath" in getattr(statement.call, "__module__", "")):
            for value in statement.outputs:
                self.check("dtype", value, value.data.dtype)
        return papers

    def data(self, leaf: Any) -> Any:
        """Return the array or number that stands for an argument in this run."""
        if type(leaf) is self._wrap:
            return leaf._value.data
        return self.data(leaf._array) if isinstance(leaf, Tensor) else leaf

    def name(self, g: Any, node: Node) -> None:
        """Note that ``g`` is the cotangent of the value of a node, unless it is known as another's."""
        value = g._value if type(g) is self._wrap else None
        if (
            value is not None
            and value.cotangent_of is None
            and value.statement is not None
            and value.statement.backward
        ):
            value.cotangent_of = self.values.get(node)

    def end(self, value: Any, gradients: Sequence[Any]) -> None:
        """Set the results, and leave out statements on which neither they nor a check depend. :meth:`finish` may raise."""
        self.finish()
        self.results = replaced(lambda leaf: leaf._value if type(leaf) is self._wrap else leaf, (value, *gradients))
        self.statements = live(self.statements, self.results)

    def check(self, kind: str, value: Value, expected: Any) -> None:
        """Write a check that ``value`` is as it is now."""
        if not value.depends or ((id(value), kind) in self._checked and not value.memory.writes):
            return
        self._checked.add((id(value), kind))
        check = Check(len(self.statements), Check, (value,), {}, kind=kind, expected=expected)
        self._place(check)
        self.statements.append(check)

    def refuse(self, what: str, remedy: str, frozen: bool = True) -> NoReturn:
        """End the writing with an error that names the user's line.

        Raises:
            UnsupportedError: always.
        """
        place = user_place()
        lines = [] if place is None else [place.source, *(line for line, _ in place.callers)]
        lines = lines if self.source is None else [self.source]
        why = "would write the value of this run into the program" if frozen else "cannot be written down"
        error = UnsupportedError(f"{what} {why}{named(next(filter(_of_user, lines), None))}: {remedy}")
        self.refusal = self.refusal or error
        raise error

    def _refuse_surroundings(self) -> None:
        """Refuse what the program would not repeat: other threads, later calls, errors and warnings that f reacts to."""
        if self.closed:
            self.refuse("an array that an earlier call kept", "do not keep arrays in globals and the like", False)
        if threading.get_ident() != self._thread:
            self.refuse("the work of another thread", "compute in the thread that calls the function", False)
        errors: dict[str, Any] = {**np.geterr()}
        if any(action in ("raise", "call", "log") and self._errors[kind] != action for kind, action in errors.items()):
            self.refuse("np.errstate with 'raise', 'call' or 'log'", "test the values with np.where", False)
        if warnings.filters is not self._filters and any(action[0] != "ignore" for action in warnings.filters[:1]):
            self.refuse("warnings.catch_warnings", "only simplefilter('ignore') can be written down", False)

    def _kept(self, leaf: Any) -> Any:
        """Return what a statement keeps of one argument: a value, or a copy of a constant."""
        if type(leaf) is self._wrap:
            if leaf._recording is not self:
                self.refuse("an array that an earlier call kept", "do not keep arrays in globals and the like", False)
            return leaf._value
        if isinstance(leaf, np.ndarray):
            kept, name = leaf.copy(), variable_of(leaf, sys._getframe(1))
            self.variables += [(kept, name)] if name is not None else []
            return kept
        if isinstance(leaf, Tensor):  # one that requires a gradient refuses to become an array, as on the tape
            return self._kept(leaf._array if leaf._node is None else np.asarray(leaf))
        if callable(leaf) and not isinstance(leaf, (type, np.dtype, np.ufunc)) and leaf is not np._NoValue:
            name = getattr(leaf, "__name__", leaf)
            self.refuse(f"a call of NumPy with the function {name}", "apply it yourself", False)
        return leaf

    def _place(self, statement: Statement) -> None:
        """Note where in the user's program a statement belongs: to its line, or to the line that it goes back through."""
        place = user_place() if self.source is None else None
        line = self.source if place is None else place.source
        statement.place = None if line is None else SourceLine(line.file, line.line, "", line.text)
        statement.name, statement.word = assigned_name(sys._getframe(2), self)
        statement.backward = self.backward
        sweeps = active.sweeps
        statement.scopes, statement.sweep = self.scopes_now(), sweeps[0] if sweeps else None
        if self.backward and sweeps:
            statement.entry = sweeps[0].pulled
            origin = self.values.get(statement.entry)
            statement.place = None if origin is None or origin.statement is None else origin.statement.place

    def scopes_now(self) -> Sequence[Scope]:
        """Return the calls of modules that run, or whose results a sweep goes back through."""
        sweeps = active.sweeps
        if not sweeps:
            return tuple(active.scopes)
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals["__name__"].startswith(("minigrad.codegen", "numpy")):
            frame = frame.f_back
        scopes = self.scopes.get(sweeps[0].pulled, ())
        if frame.f_code is Sweep.add.__code__:  # it adds contributions, which may come from several calls
            return self.scopes.get((frame.f_locals["self"], frame.f_locals["node"]), scopes)
        return scopes

    def _written(self, statement: Statement, target: Value, depends: bool) -> None:
        target.memory.writes.append(statement.number)
        if not depends:
            return
        for other in self.statements:
            for value in other.outputs:
                value.depends |= value.memory is target.memory

    def _papers(self, statement: Statement, result: Any, depends: bool) -> Any:
        if type(result) in (bool, int):  # a plain answer, for example of np.allclose: the program checks it at once
            if depends:
                kind = "truth" if type(result) is bool else "integer"
                self.check(kind, self._value(statement, np.asarray(result)[()], depends), result)
            return result
        if isinstance(result, (tuple, list)):
            statement.several = True
            return replaced(lambda item: self._paper(statement, item, depends), result)
        return self._paper(statement, result, depends)

    def _paper(self, statement: Statement, item: Any, depends: bool) -> Any:
        if isinstance(item, (np.ndarray, np.generic, float, complex, int)):
            return self._wrap(self._value(statement, item, depends), self)
        if depends and item is not None:
            self.refuse(f"a result of type {type(item).__name__}", "use functions that return arrays")
        return item

    def _value(self, statement: Statement, data: Any, depends: bool) -> Value:
        memory = Memory()
        if isinstance(data, np.ndarray):
            memory = next((value.memory for value in statement.values if _shared(value.data, data)), memory)
        value = Value(data, statement, depends, memory)
        statement.outputs.append(value)
        return value


def named(place: SourceLine | None) -> str:
    """Return how a message names a line of the user's program."""
    return "" if place is None else f' (line {place.line}: "{place.text}")'


def failed_at(error: Exception) -> SourceLine | None:
    """Return the innermost line of the user's program that an error passed; None if there is none."""
    passed = [SourceLine(*each) for each in traceback.extract_tb(error.__traceback__)]
    return next(filter(_of_user, reversed(passed)), None)


def _of_user(place: SourceLine) -> bool:
    return not place.file.startswith(_LIBRARIES)


def _shared(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and (a is b or np.may_share_memory(a, b))


def _depend(tree: Any) -> bool:
    """Whether a value in the arguments of a statement depends on the arguments of the program."""
    return any(map(attrgetter("depends"), values_in(tree)))


def _shape_depends(statement: Statement) -> bool:
    """Whether the shape of the result may be another for other values of the arguments."""
    call, others = statement.call, statement.args[1:]
    if call is getitem:
        parts = others[0] if type(others[0]) is tuple else others
        return any(
            bool(values) and (isinstance(part, slice) or any(value.data.dtype.kind == "b" for value in values))
            for part in parts
            if (values := [value for value in values_in(part) if value.depends]) is not None
        )
    if ufunc_of(call) is not None:
        return False
    reads = _depend((others, statement.keywords))
    once = call is np.where and not others
    return once or call in _OF_VALUES or (reads and (isinstance(call, Method) or call in _OF_OTHER_VALUES))


# --- Names in the user's program ---


RETURNED = "return"  # no name: it is a keyword


def assigned_name(frame: FrameType | None, recording: Recording) -> tuple[str | None, str]:
    """Return the name that what the frame is computing gets, and the word of the operation that returns it, or "".

    The name comes from an assignment there, or where a ``return`` hands it to.
    """
    word = ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame is recording.caller:
            return recording.result_name, word
        if module.startswith(("minigrad.codegen", "minigrad.transforms")):
            frame = frame.f_back
            continue
        if module.startswith("minigrad.engine"):
            if frame.f_code is Sweep.run.__code__:
                return None, word
            if frame.f_code is Primitive.__call__.__code__:
                primitive = frame.f_locals["self"]
                # a function of NumPy is the call of the statement itself
                if not isinstance(primitive.function, np.ufunc) and not primitive._numpy:
                    word = word or known(primitive).word
            frame = frame.f_back
            continue
        found = assigned_at(*instruction(frame))
        if found is not RETURNED:
            return found, word
        frame = frame.f_back
    return None, word


def variable_of(array: Any, frame: FrameType | None) -> str | None:
    """Return the name of the variable or attribute of the user's program that is an array; None if there is none."""
    while frame is not None:
        if not of_library(frame.f_globals.get("__name__", "")):
            for name, value in _variables(frame):
                if value is array or (isinstance(value, Tensor) and value._array is array):
                    return name
        frame = frame.f_back
    return None


def _variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the variables that a frame can read, and the attributes of its own variables."""
    yield from frame.f_locals.items()
    for value in frame.f_locals.values():
        if type(value).__dictoffset__ and not isinstance(value, (type, ModuleType)):  # no array on paper has a dict
            yield from object.__getattribute__(value, "__dict__").items()
    yield from frame.f_globals.items()


def assigned_at(place: SourceLine, lines: Sequence[str]) -> str | None:
    """Return the name that the expression at a place is assigned to, ``RETURNED`` if it is returned, and None otherwise."""
    index = index_of(place.file, lines)
    node = index.at(place)
    if node is None:
        return None
    return RETURNED if index.returned(node) else _name_of(index.target(node, lists=True))


def _name_of(target: ast.AST | None) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    return _name_of(target.value) if isinstance(target, ast.Subscript) else None
