"""Paper: arrays that compute, and write down what is done with them.

A :class:`Paper` lies under a Tensor as the array of a GPU does, so minigrad's rules run on it unchanged. Each operation on it
becomes a :class:`~.statements.Statement` of its :class:`Recording`. A value leaves it in three ways only: as a statement, as a
check in the program, or not at all (then the recording is refused).
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from operator import getitem, setitem
from typing import Any, NoReturn

import numpy as np

from .._source import of_library, user_place
from ..engine.observers import sweeps_under_way
from ..engine.tensor import Tensor
from ..errors import UnsupportedError
from .names import assigned_name
from .statements import Check, Memory, Method, Statement, Value, in_place, is_ufunc_method, method, replaced, values_in

# Functions that answer with plain Python values which depend only on shapes and dtypes.
_OF_SHAPES = {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type}
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
_WRITING = {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis}
_CREATING = {np.zeros_like: np.zeros, np.ones_like: np.ones, np.empty_like: np.zeros}


class Recording:
    """The statements of one run of a function.

    Attributes:
        statements: the statements in the order of execution.
        inputs: the values of the arguments.
        backward: whether the backward pass of the whole function is running.
        refusal: the error that ended the writing, even if the function caught it.
        raised: an error that a statement raised. If the function goes on all the same, the program would not know when.
    """

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.inputs: list[Value] = []
        self.backward = False
        self.refusal: UnsupportedError | None = None
        self.raised: Exception | None = None
        self._closed = False
        self._thread = threading.get_ident()
        self._errors, self._filters = np.geterr(), warnings.filters
        self._checked: set[tuple[int, str]] = set()

    def input(self, array: Any, name: str) -> Paper:
        value = Value(np.array(array), None, True, Memory(caller=True))
        value.name = name
        self.inputs.append(value)
        return Paper(value, self)

    def finish_forward(self) -> None:
        """Raise if the function was refused, or caught an error of its own, and went on all the same.

        Raises:
            UnsupportedError: it did.
        """
        if self.refusal is None and self.raised is not None:
            kind = type(self.raised).__name__
            self.refusal = UnsupportedError(
                f"the function caught an error ({kind}: {self.raised}), and the program would not know when to: test the values "
                "with np.where instead"
            )
        if self.refusal is not None:
            raise self.refusal

    def close(self) -> None:
        """End the recording. A paper that a closure or a cache still holds refuses every further use."""
        self._closed = True

    def write(
        self, call: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any], target: Paper | None = None
    ) -> Any:
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
            result = call(*replaced(_data, args), **replaced(_data, keywords))
        except Exception as error:
            if depends:
                self.raised = self.raised or error
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
        return papers

    def check(self, kind: str, value: Value, expected: Any) -> None:
        """Write a check that ``value`` is as it is now."""
        if not value.depends or (id(value), kind) in self._checked and not value.memory.writes:
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
        where = f' (line {place.source.line}: "{place.source.text}")' if place is not None and place.source.text else ""
        why = "would write today's value into the program" if frozen else "cannot be written down"
        error = UnsupportedError(f"{what} {why}{where}: {remedy}")
        self.refusal = self.refusal or error
        raise error

    def _refuse_surroundings(self) -> None:
        """Refuse what the program would not repeat: other threads, later calls, errors and warnings that f reacts to."""
        if self._closed:
            self.refuse("an array that an earlier call kept", "do not keep arrays in globals, caches or closures", False)
        if threading.get_ident() != self._thread:
            self.refuse("the work of another thread", "compute in the thread that calls the function", False)
        raising = {kind for kind, action in np.geterr().items() if action in ("raise", "call", "log")}
        if any(self._errors[kind] != np.geterr()[kind] for kind in raising):
            self.refuse("np.errstate with 'raise', 'call' or 'log'", "test the values with np.where", False)
        if warnings.filters is not self._filters and any(action[0] != "ignore" for action in warnings.filters[:1]):
            self.refuse("warnings.catch_warnings", "only simplefilter('ignore') can be written down", False)

    def _kept(self, leaf: Any) -> Any:
        """Return what a statement keeps of one argument: a value, or a copy of a constant."""
        if type(leaf) is Paper:
            if leaf._recording is not self:
                self.refuse("an array that an earlier call kept", "do not keep arrays in globals or closures", False)
            return leaf._value
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        if isinstance(leaf, Tensor):
            return self._kept(leaf._array)
        if callable(leaf) and not isinstance(leaf, (type, np.dtype, np.ufunc)) and leaf is not np._NoValue:
            self.refuse(f"a call of NumPy with the function {getattr(leaf, '__name__', leaf)}", "apply it yourself", False)
        return leaf

    def _place(self, statement: Statement) -> None:
        place = user_place()
        statement.place = None if place is None else place.source
        statement.name = assigned_name(sys._getframe(2))
        statement.backward = self.backward
        if self.backward and (sweeps := sweeps_under_way()):
            statement.entry = sweeps[0].pulled

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
                self.check(kind, self._value(statement, result, depends), result)
            return result
        if isinstance(result, (tuple, list)):
            statement.several = True
            return replaced(lambda item: self._paper(statement, item, depends), result)
        return self._paper(statement, result, depends)

    def _paper(self, statement: Statement, item: Any, depends: bool) -> Any:
        if isinstance(item, (np.ndarray, np.generic, float, complex, int)):
            return Paper(self._value(statement, item, depends), self)
        if depends and item is not None:
            self.refuse(f"a result of type {type(item).__name__}", "use functions that return arrays")
        return item

    def _value(self, statement: Statement, data: Any, depends: bool) -> Value:
        memory = Memory()
        if isinstance(data, np.ndarray):
            memory = next((value.memory for value in statement.values if _shared(value.data, data)), memory)
            constants = [leaf for leaf in _leaves(statement) if isinstance(leaf, np.ndarray) and _shared(leaf, data)]
            memory.caller |= bool(constants)
        value = Value(data, statement, depends, memory, len(statement.outputs) if statement.several else None)
        statement.outputs.append(value)
        return value


def _leaves(statement: Statement) -> list[Any]:
    found: list[Any] = []
    replaced(found.append, (statement.args, statement.keywords))
    return found


def _shared(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and (a is b or np.may_share_memory(a, b))


def _data(leaf: Any) -> Any:
    return leaf._value.data if type(leaf) is Paper else leaf._array if isinstance(leaf, Tensor) else leaf


def _shape_depends(statement: Statement) -> bool:
    """Whether the shape of the result may be another for other values of the arguments."""
    call, (first, *others) = statement.call, statement.args
    if call is getitem:
        parts = others[0] if type(others[0]) is tuple else others
        return any(
            bool(values) and (isinstance(part, slice) or any(value.data.dtype.kind == "b" for value in values))
            for part in parts
            if (values := [value for value in values_in(part) if value.depends]) is not None
        )
    if isinstance(call, np.ufunc) or is_ufunc_method(call):
        return False
    reads = any(value.depends for value in values_in((others, statement.keywords)))
    once = call is np.where and not others
    return once or call in _OF_VALUES or (reads and (isinstance(call, Method) or call in _OF_OTHER_VALUES))


class Paper:
    """An array of a recording. It follows NumPy's protocols, and has the attributes of ``numpy.ndarray`` that rules use."""

    __slots__ = ("__weakref__", "_recording", "_value")
    __array_priority__ = 100
    device = "paper"

    def __init__(self, value: Value, recording: Recording) -> None:
        self._value = value
        self._recording = recording

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        """To the user's code, which may ask ``isinstance(x, np.ndarray)``, the class of the array that stood here."""
        module = sys._getframe(1).f_globals.get("__name__", "")
        return Paper if of_library(module) else type(self._value.data)

    shape = property(lambda self: self._value.data.shape)
    dtype = property(lambda self: self._value.data.dtype)
    ndim = property(lambda self: self._value.data.ndim)
    size = property(lambda self: self._value.data.size)
    nbytes = property(lambda self: self._value.data.nbytes)
    itemsize = property(lambda self: self._value.data.itemsize)
    strides = property(lambda self: self._value.data.strides)
    flags = property(lambda self: self._value.data.flags)
    base = property(lambda self: getattr(self._value.data, "base", None))
    T = property(lambda self: np.transpose(self))
    mT = property(lambda self: np.swapaxes(self, -1, -2))
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))

    def get(self) -> Paper:
        """Return this array: the host of this device is paper too."""
        return self

    # What leaves the paper

    def _read(self, what: str, remedy: str) -> Any:
        if self._value.depends:
            self._recording.refuse(what, remedy)
        return self._value.data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        remedy = "use NumPy's functions on x itself (np.take(a, x, axis=0) for a[x])"
        return np.array(self._read("np.asarray(x), or an array that x is an index of,", remedy), dtype)

    def __bool__(self) -> bool:
        truth = bool(self._value.data)
        self._recording.check("truth", self._value, truth)
        return truth

    def __int__(self) -> int:
        if self.dtype.kind not in "biu":
            self._read("int(x)", "use x.astype(int)")
        number = int(self._value.data)
        self._recording.check("integer", self._value, number)
        return number

    def __index__(self) -> int:
        if self.dtype.kind not in "biu" or self.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self)

    def __float__(self) -> float:
        return float(self._read("float(x)", "keep x: NumPy's functions take it as it is, math's do not"))

    def __complex__(self) -> complex:
        return complex(self._read("complex(x)", "keep x as it is"))

    def item(self, *args: Any) -> Any:
        return self._read("x.item()", "keep x as it is, or return it").item(*args)

    def tolist(self) -> Any:
        return self._read("x.tolist()", "compute with x itself, or return it").tolist()

    def tobytes(self) -> bytes:
        found: bytes = self._read("x.tobytes()", "compute with x itself").tobytes()
        return found

    def __repr__(self) -> str:
        return repr(self._read("the text of x", "print the shape, or print the result outside of the function"))

    def __format__(self, spec: str) -> str:
        return format(self._read("the text of x", "print the result outside of the function"), spec)

    def __hash__(self) -> int:
        data = self._value.data
        if of_library(sys._getframe(1).f_globals.get("__name__", "")):
            return id(self._value)
        return hash(data if isinstance(data, np.ndarray) else self._read("hash(x)", "compare values with np.where"))

    def __reduce__(self) -> Any:
        self._recording.refuse("a pickle of x", "compute with x itself")

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name) and name not in ("__array_interface__", "__array_struct__"):
            self._recording.refuse(f"x.{name}", "use NumPy's functions on x itself", frozen=False)
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    # What is written down

    def __len__(self) -> int:
        return len(self._value.data)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __contains__(self, other: Any) -> bool:
        return bool((self == other).any())

    def __getitem__(self, index: Any) -> Any:
        return self._recording.write(getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        self._recording.write(setitem, (self, index, value), {}, self)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, way: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        if any(isinstance(each, Tensor) for each in inputs):
            return NotImplemented
        call = ufunc if way == "__call__" else getattr(ufunc, way)
        target = out[0] if out else None
        if way != "at" and target is None:
            return self._recording.write(call, inputs, keywords)
        written = inputs[0] if way == "at" else target
        if type(written) is not Paper:
            self._recording.refuse(f"a write of np.{ufunc.__name__} into a NumPy array", "make it with np.zeros_like(x)", False)
        if way == "at":
            return self._recording.write(call, inputs, keywords, written)
        if written is inputs[0] and len(inputs) == 2 and not keywords and way == "__call__":
            self._recording.write(in_place(ufunc), inputs, {}, written)
        else:
            written[...] = self._recording.write(call, inputs, keywords)
        return written

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if any(issubclass(kind, Tensor) for kind in types):
            return NotImplemented
        if function in _OF_SHAPES:
            return function(*replaced(_data, args), **replaced(_data, keywords))
        keywords = {name: item for name, item in keywords.items() if name != "like"}
        if function in _WRITING:
            if type(args[0]) is not Paper:
                self._recording.refuse(f"a write of {function.__name__} into a NumPy array", "make it with np.zeros_like(x)", False)
            return self._recording.write(function, args, keywords, args[0])
        if keywords.get("out") is not None or function in (np.may_share_memory, np.shares_memory, np.min_scalar_type):
            self._recording.refuse(f"{function.__name__} with out=, of memory or of the values' dtype", "assign the result", False)
        if function is np.broadcast_arrays:
            shape = np.broadcast_shapes(*map(np.shape, args))
            return tuple([np.broadcast_to(array, shape) for array in args])
        if function in _CREATING and len(args) == 1 and args[0].flags.c_contiguous and keywords.keys() <= {"shape", "dtype", "order"}:
            shape, dtype = keywords.get("shape"), keywords.get("dtype")
            shape, dtype = self.shape if shape is None else shape, np.dtype(dtype or args[0].dtype)
            return self._recording.write(_CREATING[function], (shape, dtype), {})
        return self._recording.write(function, args, keywords)


def _give_operators() -> None:
    """Give :class:`Paper` the operators and methods of an ndarray."""
    binary = dict(
        add=np.add, sub=np.subtract, mul=np.multiply, truediv=np.divide, floordiv=np.floor_divide, mod=np.remainder,
        pow=np.power, matmul=np.matmul, and_=np.bitwise_and, or_=np.bitwise_or, xor=np.bitwise_xor, lshift=np.left_shift,
        rshift=np.right_shift, divmod=np.divmod,
    )  # fmt: skip
    for name, ufunc in binary.items():
        plain = name.rstrip("_")
        setattr(Paper, f"__{plain}__", _operator(ufunc))
        setattr(Paper, f"__r{plain}__", _operator(ufunc, swapped=True))
        if name not in ("matmul", "divmod"):
            setattr(Paper, f"__i{plain}__", _augmented(ufunc))
    compared = dict(lt=np.less, le=np.less_equal, gt=np.greater, ge=np.greater_equal, eq=np.equal, ne=np.not_equal)
    for name, ufunc in compared.items():
        setattr(Paper, f"__{name}__", _operator(ufunc))
    unary = dict(neg=np.negative, pos=np.positive, invert=np.invert, abs=np.absolute)
    for name, ufunc in unary.items():
        setattr(Paper, f"__{name}__", lambda self, ufunc=ufunc: ufunc(self))
    functions = (
        "sum mean max min prod any all cumsum cumprod var std argmax argmin argsort reshape swapaxes transpose squeeze ravel "
        "take clip round nonzero trace diagonal dot searchsorted choose repeat"
    )
    for name in functions.split():
        setattr(Paper, name, _as_function(getattr(np, name)))
    for name in ("astype", "view", "copy", "flatten", "byteswap"):
        setattr(Paper, name, _as_method(name))
    Paper.conj = Paper.conjugate = lambda self: np.conjugate(self)  # type: ignore[attr-defined]
    Paper.compress = lambda self, condition, axis=None: np.compress(condition, self, axis)  # type: ignore[attr-defined]


def _operator(ufunc: Any, swapped: bool = False) -> Callable[[Paper, Any], Any]:
    def operate(self: Paper, other: Any) -> Any:
        if isinstance(other, Tensor):
            return NotImplemented
        if ufunc is np.power and not swapped and type(other) in (int, float) and other == 2 and self.dtype.char in "fdFD":
            return self._recording.write(np.square, (self,), {})  # NumPy's operator does this too
        return self._recording.write(ufunc, (other, self) if swapped else (self, other), {})

    return operate


def _augmented(ufunc: Any) -> Callable[[Paper, Any], Any]:
    def operate(self: Paper, other: Any) -> Any:
        if isinstance(other, Tensor):
            return NotImplemented
        if isinstance(self._value.data, np.generic):  # NumPy's scalars are immutable: x += y makes a new one
            return self._recording.write(ufunc, (self, other), {})
        self._recording.write(in_place(ufunc), (self, other), {}, self)
        return self

    return operate


def _as_function(function: Any) -> Callable[..., Any]:
    def call(self: Paper, *args: Any, **keywords: Any) -> Any:
        if function in (np.reshape, np.transpose) and (len(args) > 1 or (args and type(args[0]) is int)):
            args = (tuple(args),)
        return function(self, *args, **keywords)

    return call


def _as_method(name: str) -> Callable[..., Any]:
    def call(self: Paper, *args: Any, **keywords: Any) -> Any:
        return self._recording.write(method(name), (self, *args), keywords)

    return call


_give_operators()
