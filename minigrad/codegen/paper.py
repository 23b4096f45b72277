"""Paper: arrays that compute, and write down what is done with them.

A :class:`Paper` lies under a Tensor as the array of a GPU does, so minigrad's rules run on it unchanged. Each operation on it
becomes a :class:`~.record.Statement` of its recording. A value leaves it in three ways only: as a statement, as a check in the
program, or not at all (then the recording is refused).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, getitem, setitem
from typing import Any

import numpy as np

from .._source import of_library
from .._tree import map_leaves
from ..engine.modes import ensure_recording
from ..engine.observers import active, attach
from ..engine.tape import Leaf, sweep
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Array, Node
from ..errors import UnsupportedError
from .program import Arguments, described, is_floating
from .record import Recording, Value, failed_at, in_place, method, named, replaced
from .witness import on_the_tape

# Functions that answer with plain Python values which depend only on shapes and dtypes.
_OF_SHAPES = {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type}
_WRITING = {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis}
_CREATING = {np.zeros_like: np.zeros, np.ones_like: np.ones, np.empty_like: np.zeros}


class Paper(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of a recording. It follows NumPy's protocols, and has the attributes of ``numpy.ndarray`` that rules use.

    Its operators are NumPy's for such classes: each calls a ufunc, and so :meth:`__array_ufunc__`.
    """

    __slots__ = ("__weakref__", "_recording", "_value")
    __array_priority__ = 100
    device = "paper"

    def __init__(self, value: Value, recording: Recording) -> None:
        self._value = value
        self._recording = recording

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """To the user's code, which may ask ``isinstance(x, np.ndarray)``, the class of the array that stood here."""
        module = sys._getframe(1).f_globals.get("__name__", "")
        return Paper if of_library(module) else type(self._value.data)

    shape = property(attrgetter("_value.data.shape"))
    dtype = property(attrgetter("_value.data.dtype"))
    ndim = property(attrgetter("_value.data.ndim"))
    size = property(attrgetter("_value.data.size"))
    nbytes = property(attrgetter("_value.data.nbytes"))
    itemsize = property(attrgetter("_value.data.itemsize"))
    strides = property(lambda self: self._of_memory("strides"))
    flags = property(lambda self: self._of_memory("flags"))
    base = property(lambda self: self._of_memory("base"))
    T = property(np.transpose)
    mT = property(lambda self: np.swapaxes(self, -1, -2))
    real = property(np.real)
    imag = property(np.imag)

    def get(self) -> Paper:
        """Return this array: the host of this device is paper too."""
        return self

    # What leaves the paper

    def _of_memory(self, name: str) -> Any:
        """Return what the array says about its memory. A rule may ask; the user's program would get it for the example only."""
        if not of_library(sys._getframe(2).f_globals.get("__name__", "")):
            self._recording.refuse(f"x.{name}", "a program is not told how arrays lie in memory", frozen=False)
        return getattr(self._value.data, name)

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

    def conjugate(self) -> Any:
        return np.conjugate(self)

    conj = conjugate

    def __pow__(self, other: Any) -> Any:
        if type(other) in (int, float) and other == 2 and self.dtype.char in "fdFD":
            return np.square(self)  # NumPy's operator does this too
        return super().__pow__(other)

    def __array_ufunc__(self, ufunc: Any, way: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        if any(isinstance(each, Tensor) for each in inputs):
            return NotImplemented
        call = ufunc if way == "__call__" else getattr(ufunc, way)
        target: Any = out[0] if out else None
        if way != "at" and target is None:
            return self._recording.write(call, inputs, keywords)
        written = inputs[0] if way == "at" else target
        if type(written) is not Paper:
            what = f"a write of np.{ufunc.__name__} into a NumPy array"
            self._recording.refuse(what, "make it with np.zeros_like(x)", False)
        if way == "at":
            return self._recording.write(call, inputs, keywords, written)
        if isinstance(target._value.data, np.generic):  # NumPy's scalars are immutable: x += y makes a new one
            return self._recording.write(call, inputs, keywords)
        if written is inputs[0] and len(inputs) == 2 and not keywords and way == "__call__":
            self._recording.write(in_place(ufunc), inputs, {}, written)
        else:
            written[...] = self._recording.write(call, inputs, keywords)
        return written

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if any(issubclass(kind, Tensor) for kind in types):
            return NotImplemented
        data, refuse = self._recording.data, self._recording.refuse
        if function in _OF_SHAPES:
            return function(*replaced(data, args), **replaced(data, keywords))
        keywords = {name: item for name, item in keywords.items() if name != "like"}
        if function in _WRITING:
            if type(args[0]) is not Paper:
                refuse(f"a write of np.{function.__name__} into a NumPy array", "make it with np.zeros_like(x)", False)
            return self._recording.write(function, args, keywords, args[0])
        if keywords.get("out") is not None:
            refuse(f"np.{function.__name__} with out=", "assign the result", False)
        if function in (np.may_share_memory, np.shares_memory, np.min_scalar_type):
            refuse(f"the answer of np.{function.__name__}", "ask for shapes and dtypes only", False)
        if function is np.broadcast_arrays:
            shape = np.broadcast_shapes(*map(np.shape, args))
            return tuple([np.broadcast_to(array, shape) for array in args])
        plain = len(args) == 1 and keywords.keys() <= {"shape", "dtype", "order"}
        if function in _CREATING and plain and (args[0].flags.c_contiguous or keywords.get("order") == "C"):
            shape = keywords.get("shape")
            args = self.shape if shape is None else shape, keywords.get("dtype") or args[0].dtype
            function, keywords = _CREATING[function], {}
        if function in _CREATING.values() and not keywords:
            shape, *dtype = args  # np.zeros(4) is np.zeros((4,), np.float64)
            shape = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else shape
            args = (shape, *[each for each in map(np.dtype, dtype) if each != np.dtype(float)])
        return self._recording.write(function, args, keywords)


def _method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **keywords: self._recording.write(method(name), (self, *args), keywords)


def _of_integers(function: Any) -> Callable[..., Any]:
    """Return a method that takes integers in place of a tuple: ``x.reshape(2, 3)``."""

    def call(self: Paper, *args: Any, **keywords: Any) -> Any:
        if len(args) > 1 or (args and type(args[0]) is int):
            args = (tuple(args),)
        return function(self, *args, **keywords)

    return call


# The methods of an array that are NumPy's functions of it, and those that are not.
for _name in (
    "sum", "mean", "max", "min", "prod", "any", "all", "cumsum", "cumprod", "var", "std", "argmax", "argmin", "argsort",
    "swapaxes", "squeeze", "ravel", "take", "clip", "round", "nonzero", "trace", "diagonal", "dot", "searchsorted",
    "choose", "repeat",
):  # fmt: skip
    setattr(Paper, _name, getattr(np, _name))
for _name in ("reshape", "transpose"):
    setattr(Paper, _name, _of_integers(getattr(np, _name)))
for _name in ("astype", "view", "copy", "flatten", "byteswap"):
    setattr(Paper, _name, _method(_name))


# --- Running a function on paper ---


def recorded_or_refused(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int]) -> Recording:
    """Run ``f`` on paper. If only that fails, say so; an error that ``f`` raises on any arrays is its own.

    Raises:
        UnsupportedError: ``f`` fails on paper and not on the tape.
    """
    recording = Recording(Paper)
    try:
        return recorded(f, arguments, chosen, recording)
    except Exception as error:
        if error is recording.refusal or on_the_tape(f, arguments.examples, chosen) is None:
            raise
        raise UnsupportedError(
            f"the function works on arrays, but not on arrays that write down what is done with them{named(failed_at(error))}, "
            f"{type(error).__name__}: {error}. Use NumPy's functions on the arguments themselves"
        ) from error


def recorded(f: Callable[..., Any], arguments: Arguments, chosen: Sequence[int], recording: Recording) -> Recording:
    """Run ``f`` on paper, forward and backward. Return the recording."""
    entering = iter(arguments.leaves)
    starts: list[Tensor] = []

    def enter(leaf: Any, differentiated: bool) -> Any:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return leaf
        argument = next(entering)
        paper = recording.input(leaf, argument.name)
        if not differentiated or not argument.floating:
            return paper
        starts.append(make_tensor(paper, Leaf(None, leaf.shape, leaf.dtype)))
        recording.values[starts[-1]._node] = paper._value
        return starts[-1]

    given = [map_leaves(lambda leaf, i=i: enter(leaf, i in chosen), v) for i, v in enumerate(arguments.examples)]
    with on_paper(recording), Observer(recording), ensure_recording():
        output = f(*given)
        recording.finish()
        real = isinstance(output, Tensor) and output.shape == () and output.dtype.kind == "f"
        if not real or output._node is None:
            raise UnsupportedError(
                "write_numpy needs a function that returns one real number that depends on the arguments, and "
                f"{described(f)} does not: sum() its result"
            )
        wanted = [t._node for t in starts]
        gradients = map(swept_on_paper(recording, output, wanted).get, wanted)
    trees = [
        map_leaves(lambda leaf: next(gradients) if is_floating(leaf) else None, arguments.examples[i]) for i in chosen
    ]
    recording.end(output._array, trees)
    return recording


@contextlib.contextmanager
def on_paper(recording: Recording) -> Iterator[None]:
    """Write down what runs inside the block, and end the recording after it. No trace around it reads what is on paper."""
    contexts = active.contexts
    active.contexts = [context for context in contexts if not hasattr(context, "record")]
    recording.caller = sys._getframe(2)  # the frame of the `with` statement; frame 1 belongs to contextlib
    try:
        yield
    except Exception:
        if recording.refusal is not None:
            raise recording.refusal from None
        raise
    finally:
        active.contexts, recording.closed, recording.caller = contexts, True, None


def swept_on_paper(recording: Recording, output: Tensor, wanted: Sequence[Leaf]) -> dict[Any, Any]:
    """Run the backward pass of a number on paper. Return the gradient of each leaf, zeros where none arrived."""
    recording.backward = True
    zeros = {leaf: np.zeros(leaf.shape, leaf.dtype) for leaf in wanted}
    found = sweep({output._node: np.ones_like(output._array)}, retain_graph=True, wanted=wanted)
    for leaf, g in found.items():
        recording.name(g, leaf)
    return zeros | found


class Observer:
    """While it is entered, it notes the value of each entry of the tape, and which value is whose cotangent.

    The engine calls :meth:`record` and :meth:`backward`, by the protocol of :mod:`~minigrad.engine.observers`.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __enter__(self) -> None:
        active.enter(self)

    def __exit__(self, *error: object) -> None:
        active.leave(self)

    def record(self, entry: Any, arrays: Any, answer: Any, seconds: float) -> None:
        if type(answer) is Paper:
            self.recording.values[entry] = answer._value
        self.recording.scopes[entry] = self.recording.scopes_now()
        attach(entry, self)

    def backward(self, entry: Any, g: Array, contributions: Sequence[Any], seconds: float) -> None:
        for contribution, parent in zip(contributions, entry.parents):
            if parent is not None and contribution is not None:
                self._contributed(entry, parent)
        if self.recording.backward:
            self.recording.name(g, entry)
            for contribution, parent in zip(contributions, entry.parents):
                self.recording.name(contribution, parent)

    def _contributed(self, entry: Node, parent: Node) -> None:
        """Note that the running sweep adds to the cotangent of ``parent`` what the rule of ``entry`` returned."""
        scopes, now = self.recording.scopes, self.recording.scopes.get(entry, ())
        key = active.sweeps[-1], parent
        # what this contribution has in common with those before
        scopes[key] = [one for one, other in zip(scopes.get(key, now), now) if one is other]
