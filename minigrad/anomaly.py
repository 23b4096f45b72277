"""``with detect_anomaly():`` which operation was the first to make a NaN or an infinity, forward or backward, and why."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ._inplace import Seal, sweeps_under_way
from ._source import Place, SourceLine, user_place
from .device import to_host
from .engine import observers
from .engine.observers import active, attach
from .engine.tape import Entry, Leaf
from .engine.tensor import Tensor
from .errors import AnomalyError

Causes = Sequence[tuple[Callable[..., Any], str]]


class detect_anomaly:
    """Inside the block the first operation that makes a NaN or an infinity raises, and so does the first derivative rule.

    The error names the operation, the file and line that called it, the operand and, where it is known, the cause. An
    infinity that comes from a constant may pass (the ``-inf`` of a mask); a NaN may not. What was recorded inside the block is
    also checked when ``backward()`` comes after it. Every array that the tape keeps is sealed, so that any in-place change
    of one is found (docs/in-place.md). All this takes several times as long; outside the block it costs nothing.

    Operations that are not recorded, under ``no_grad()`` or on tensors that need no gradient, are not looked at.

    Raises:
        AnomalyError: (from the operation, or from ``backward()``) with the explanation.
        GraphError: (from ``backward()``) an array that was kept has been changed in place.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([0.0, 4.0], requires_grad=True)
        >>> with mg.detect_anomaly():
        ...     np.where(x > 0, np.sqrt(x), 0.0).sum().backward()  # the root of 0 is computed all the same
        Traceback (most recent call last):
            ...
        minigrad.errors.AnomalyError: in backward, the derivative of 'sqrt' by x made nan: the square root of 0...
    """

    def __enter__(self) -> detect_anomaly:
        active.enter(self)
        observers.before_sweep.append(self._before_sweep)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        observers.before_sweep.remove(self._before_sweep)
        active.leave(self)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Called by the engine for each entry; ``arrays`` begins with the arguments of the operation."""
        origin = _Origin(user_place())
        for out in answer if isinstance(answer, (tuple, list)) else [answer]:
            if not _finite(out) and not sweeps_under_way():  # in a sweep, what the rule makes of it counts
                operands = dict(zip(_argument_names(entry), arrays))
                if np.isnan(out).any() or not _may_pass(entry, operands):
                    raise AnomalyError(_forward_message(entry, operands, out) + str(origin))
        attach(entry, Seal(entry, range(len(entry.plan.names)), whole=True))
        attach(entry, origin)

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        """Look also at what was recorded before the block."""
        if self in active.contexts:  # of this thread
            for entry in entries:
                if not any(isinstance(note, _Origin) for note in entry.notes):
                    attach(entry, _Origin(None))


class _Origin:
    """Where an operation was called; checks what its derivative rules give."""

    __slots__ = ("called",)

    def __init__(self, place: Place | None) -> None:
        self.called: tuple[SourceLine, Sequence[str], str] | None = None
        if place is not None:
            module = f", in the module '{active.scopes[-1][1]}'" if active.scopes else ""
            self.called = place.source, place.program, module

    def __str__(self) -> str:
        if self.called is None:
            return "\nIt was recorded outside of detect_anomaly(): put the forward pass inside to see where"
        source, program, module = self.called
        text = (
            f'\nCalled{module} by\n  File "{source.file}", line {source.line}, in {source.function}\n    {source.text}'
        )
        if source.column is None or source.end_column is None or source.end_line != source.line:
            return text
        line = program[source.line - 1]
        before = source.column - (len(line) - len(line.lstrip()))
        width = source.end_column - source.column
        return text if width == len(source.text) else f"{text}\n    {' ' * before}{'^' * width}"

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        for name, parent, contribution in zip(_argument_names(entry), entry.parents, contributions):
            if parent is not None and contribution is not None and not _finite(contribution):
                if sweeps_under_way() == 1:  # within another rule's sweep, what that rule makes of it counts
                    raise AnomalyError(_backward_message(entry, name, cotangent, _array(contribution)) + str(self))
                return


# --- What and why ---


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _finite(value: Any) -> bool:
    array = _array(value)
    if isinstance(array, dict):  # the cotangents of several outputs
        return all(map(_finite, array.values()))
    if isinstance(array, (float, complex)):
        return bool(np.isfinite(array))
    return _kind(array) not in ("f", "c") or bool(np.isfinite(array).all())


def _kind(value: Any) -> str:
    """The kind of an array's dtype; "" of other values."""
    return getattr(getattr(value, "dtype", None), "kind", "")


def _may_pass(entry: Entry, operands: Mapping[str, Any]) -> bool:
    """Whether an infinite result only carries on an infinity of a constant, such as ``-inf`` in a mask."""
    infinite = [parent for parent, value in zip(entry.parents, operands.values()) if not _finite(value)]
    return bool(infinite) and not any(isinstance(parent, Leaf) for parent in infinite)


def _argument_names(entry: Entry) -> Sequence[str]:
    return entry.primitive.arguments or [f"argument {i}" for i in range(len(entry.parents))]


def _forward_message(entry: Entry, operands: Mapping[str, Any], out: Any) -> str:
    where, made = _first_bad(out)
    tainted = [name for name, value in operands.items() if not _finite(value)]
    if tainted:
        cause = f"{_called(entry, tainted[0])} already holds {_first_bad(_array(operands[tainted[0]]))[1]}"
    else:
        cause = usual_cause(FORWARD_CAUSES.get(entry.primitive.name, ()), operands) or (
            f"the numbers are too large for {out.dtype}, which ends at {np.finfo(out.dtype).max:.3g}"
            if made != "nan"
            else "it is undefined for these operands"
        )
    return f"'{entry.primitive.name}' made {made}: {cause}.\n{where}{_operands_there(entry, operands, out)}"


def _backward_message(entry: Entry, name: str, cotangent: Any, contribution: Any) -> str:
    where, made = _first_bad(contribution)
    assert entry.kept is not None
    kept = dict(zip(entry.plan.names, entry.kept))
    if not _finite(cotangent):
        cause = "the gradient that arrived there was not finite already"
    else:
        values = kept | {"g": cotangent._array if isinstance(cotangent, Tensor) else cotangent}
        cause = usual_cause(BACKWARD_CAUSES.get(entry.primitive.name, ()), values) or (
            f"its formula is undefined or overflows {contribution.dtype} for these values"
        )
    arrays = {n: value for n, value in kept.items() if n in ("ans", *_argument_names(entry))}
    what = f"in backward, the derivative of '{entry.primitive.name}' by {_called(entry, name)}"
    return f"{what} made {made}: {cause}.\n{where}{_operands_there(entry, arrays, contribution)}"


def _first_bad(array: Any) -> tuple[str, str]:
    """Where the first NaN or infinity of an array is, in words, and which of the two it is."""
    values = to_host(np.asarray(array) if isinstance(array, (float, complex)) else array)
    bad = ~np.isfinite(values)
    index = np.unravel_index(np.argmax(bad), bad.shape)
    value = values[index]
    place = (
        f"{int(bad.sum())} of {bad.size} elements, the first at {list(map(int, index))}" if bad.ndim else "One number"
    )
    made = "nan" if np.isnan(value) else str(value.real if np.isinf(value.real) else value.imag)
    return place, made


def _operands_there(entry: Entry, operands: Mapping[str, Any], out: Any) -> str:
    """The operands of an elementwise operation at the first bad element."""
    if not isinstance(getattr(entry.primitive, "function", None), np.ufunc):
        return ""
    bad = ~np.isfinite(to_host(out))
    index = np.unravel_index(np.argmax(bad), bad.shape)
    parts = []
    for name, value in operands.items():
        values = to_host(_array(value))
        if np.broadcast_shapes(np.shape(values), bad.shape) == bad.shape:
            parts.append(f"{_called(entry, name)} is {np.broadcast_to(values, bad.shape)[index].item()!r}")
    return ", where " + " and ".join(parts) if parts else ""


def _called(entry: Entry, name: str) -> str:
    """An argument's name, and that of its tensor if it has one."""
    names = list(_argument_names(entry))
    leaf = entry.parents[names.index(name)] if name in names else None
    tensor = leaf.tensor if isinstance(leaf, Leaf) else None
    label = "its result" if name == "ans" else name
    return f"{label} (the tensor '{tensor.name}')" if tensor is not None and tensor.name else label


def usual_cause(causes: Causes, values: Mapping[str, Any]) -> str | None:
    """The words of the first test that holds anywhere; a test's parameters say which values it looks at."""
    if any(_kind(value) == "c" for value in values.values()):
        return None  # the tests compare real numbers
    for test, words in causes:
        names = list(inspect.signature(test).parameters)
        if all(name in values for name in names) and bool(np.any(test(*[values[name] for name in names]))):
            return words
    return None


_LOGARITHM: Causes = [
    (lambda x: x == 0, "the logarithm of 0 is -inf"),
    (lambda x: x < 0, "the logarithm of a negative number is not real"),
]
_OVER = "it overflows: from about 710 on in float64, 89 in float32 and 11 in float16"
_OUTSIDE = [(lambda x: abs(x) > 1, "it is defined for -1 <= x <= 1 only")]
FORWARD_CAUSES: dict[str, Causes] = {
    "log": _LOGARITHM,
    "log2": _LOGARITHM,
    "log10": _LOGARITHM,
    "log1p": [
        (lambda x: x == -1, "log1p of -1 is the logarithm of 0, -inf"),
        (lambda x: x < -1, "log1p below -1 is the logarithm of a negative number"),
    ],
    "sqrt": [(lambda x: x < 0, "the square root of a negative number is not real")],
    "divide": [
        (lambda x, y: (x == 0) & (y == 0), "0 / 0 is undefined"),
        (lambda y: y == 0, "it divides by 0"),
    ],
    "remainder": [(lambda y: y == 0, "it divides by 0")],
    "fmod": [(lambda y: y == 0, "it divides by 0")],
    "floor_divide": [(lambda y: y == 0, "it divides by 0")],
    "reciprocal": [(lambda x: x == 0, "it divides by 0")],
    "power": [
        (lambda x, y: (x == 0) & (y < 0), "0 to a negative power divides by 0"),
        (lambda x, y: (x < 0) & (y != np.floor(y)), "a negative number to a fractional power is not real"),
    ],
    "exp": [(lambda x: x > 0, f"exp of a large number: {_OVER}")],
    "expm1": [(lambda x: x > 0, f"expm1 of a large number: {_OVER}")],
    "sinh": [(lambda x: abs(x) > 1, f"sinh of a large number: {_OVER}")],
    "cosh": [(lambda x: abs(x) > 1, f"cosh of a large number: {_OVER}")],
    "exp2": [(lambda x: x > 0, "exp2 overflows: from 1024 on in float64, 128 in float32 and 16 in float16")],
    "arcsin": _OUTSIDE,
    "arccos": _OUTSIDE,
    "arctanh": [(lambda x: abs(x) == 1, "arctanh of 1 is infinite"), *_OUTSIDE],
    "arccosh": [(lambda x: x < 1, "it is defined for x >= 1 only")],
}

_TRAP = (
    "its derivative is infinite there and the gradient that arrives is 0, as behind np.where: 0 * inf is nan. Replace the "
    "operand before the operation, f(np.where(ok, x, 1)), not only the result after it"
)
_EDGE = [(lambda x: abs(x) == 1, "its derivative at -1 and 1 is infinite")]
_SMALL: Causes = [(lambda x: abs(x) < 1, "it divides by x, which is too near to 0")]
BACKWARD_CAUSES: dict[str, Causes] = {
    "sqrt": [
        (lambda g, ans: (g == 0) & (ans == 0), f"the square root of 0: {_TRAP}"),
        (lambda ans: ans == 0, "the derivative of the square root at 0 is infinite"),
    ],
    "power": [
        (lambda x, y: (x == 0) & (y < 1), "the derivative of x**y at x = 0 is infinite for y < 1"),
        (lambda x, y: x < 0, "the derivative of x**y by y needs the logarithm of x, which is negative"),
    ],
    "log": _SMALL,
    "log2": _SMALL,
    "log10": _SMALL,
    "divide": [(lambda y: abs(y) < 1, "it divides by y, which is too near to 0")],
    "arcsin": _EDGE,
    "arccos": _EDGE,
    "arctanh": _EDGE,
    "arccosh": [(lambda x: x == 1, "its derivative at 1 is infinite")],
}
