"""A recording: the statements of one run of a function on paper, and what cannot be written down."""

from __future__ import annotations

import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any, NoReturn

import numpy as np

from .._source import SourceLine, user_place
from ..engine.observers import Scope, active
from ..engine.tape import Sweep
from ..engine.tensor import Tensor
from ..engine.types import Node
from ..errors import UnsupportedError
from .names import assigned_name, variable_of
from .statements import Check, Memory, Method, Statement, Value, leaves_of, replaced, ufunc_of, values_in

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
    """The statements of one run of a function.

    ``wrap`` is the class of the arrays, :class:`~.paper.Paper`.

    Attributes:
        statements: the statements in the order of execution.
        inputs: the values of the arguments.
        results: the value of the function and the gradients.
        values: the value of each node of the tape.
        variables: constant arrays, each with its name in the user's program.
        scopes: the calls of modules of each entry; with a sweep and a node, those of all contributions to its cotangent.
        backward: whether the backward pass of the whole function is running.
        refusal: the error that ended the writing, even if the function caught it.
        raised: an error that a statement raised, with its line. If the function goes on, the program would not know when to.
        source: the line of the user's program, if it is not the one that is running: a trace is run again.
        result: the name of what the function returns, or of what an operation of a trace returns.
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
        self.result: str | None = "loss"
        self._closed = False
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
                f"the function caught an error ({type(error).__name__}: {error}){named(place)}, and the program would not "
                "know when to: test the values with np.where instead"
            )
        if self.refusal is not None:
            raise self.refusal

    def close(self) -> None:
        """End the recording. A paper that a closure or a cache still holds refuses every further use."""
        self._closed = True

    def write(self, call: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any], target: Any = None) -> Any:
        """Run a call on the values, write it down, and return its results as papers.

        ``target`` is the paper that the call writes to; its result is then None.
        """
        statement = Statement(len(self.statements), call, replaced(self._kept, args), replaced(self._kept, keywords))
        statement.target = None if target is None else target._value
        self._refuse_surroundings()
        if target is not None and target._value.memory.caller:
            self.refuse("a write into an argument or a constant", "write to a copy: x = np.copy(x)", frozen=False)
        depends = any(value.depends for value in statement.values)
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

    def check(self, kind: str, value: Value, expected: Any) -> None:
        """Write a check that ``value`` is as it is now."""
        if not value.depends or ((id(value), kind) in self._checked and not value.memory.writes):
            return
        self._checked.add((id(value), kind))
        check = Check(len(self.statements), kind, value, expected)
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
        why = "would write today's value into the program" if frozen else "cannot be written down"
        error = UnsupportedError(f"{what} {why}{named(next(filter(_of_user, lines), None))}: {remedy}")
        self.refusal = self.refusal or error
        raise error

    def _refuse_surroundings(self) -> None:
        """Refuse what the program would not repeat: other threads, later calls, errors and warnings that f reacts to."""
        if self._closed:
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
        if isinstance(leaf, Tensor):
            return self._kept(leaf._array)
        if callable(leaf) and not isinstance(leaf, (type, np.dtype, np.ufunc)) and leaf is not np._NoValue:
            name = getattr(leaf, "__name__", leaf)
            self.refuse(f"a call of NumPy with the function {name}", "apply it yourself", False)
        return leaf

    def _place(self, statement: Statement) -> None:
        """Note where in the user's program a statement belongs: to its line, or to the line that it goes back through."""
        place = user_place() if self.source is None else None
        statement.place = self.source if place is None else place.source
        statement.name, statement.word = assigned_name(sys._getframe(2), self.result)
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

    def contributed(self, entry: Node, parent: Node) -> None:
        """Note that the running sweep adds to the cotangent of ``parent`` what the rule of ``entry`` returned."""
        sweep, scopes = active.sweeps[-1], self.scopes.get(entry, ())
        self.scopes[sweep, parent] = common_scopes(self.scopes.get((sweep, parent), scopes), scopes)

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
            constants = [leaf for leaf in leaves_of(statement) if isinstance(leaf, np.ndarray) and _shared(leaf, data)]
            memory.caller |= bool(constants)
        value = Value(data, statement, depends, memory, len(statement.outputs) if statement.several else None)
        statement.outputs.append(value)
        return value


def common_scopes(a: Sequence[Scope], b: Sequence[Scope]) -> Sequence[Scope]:
    """Return the calls of modules that two statements are both part of."""
    return [one for one, other in zip(a, b) if one is other]


def named(place: SourceLine | None) -> str:
    """Return how a message names a line of the user's program."""
    return "" if place is None else f' (line {place.line}: "{place.text}")'


def line_of(error: Exception) -> SourceLine | None:
    """Return the innermost line of the user's program that an error passed; None if there is none."""
    passed = [SourceLine(*each) for each in traceback.extract_tb(error.__traceback__)]
    return next(filter(_of_user, reversed(passed)), None)


def _of_user(place: SourceLine) -> bool:
    return not place.file.startswith(_LIBRARIES)


def _shared(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and (a is b or np.may_share_memory(a, b))


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
    reads = any(value.depends for value in values_in((others, statement.keywords)))
    once = call is np.where and not others
    return once or call in _OF_VALUES or (reads and (isinstance(call, Method) or call in _OF_OTHER_VALUES))
