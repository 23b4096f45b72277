"""The messages of operations that fail. Most have NumPy's message, the arguments by name, and a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device import mixed_devices, out_of_memory
from ..errors import DTypeError, GraphError, LinAlgError, MinigradError, OutOfRangeError, ShapeError, UnsupportedError

_FROM_NUMPY = (ValueError, TypeError, IndexError, np.linalg.LinAlgError)
_PLAIN = (ShapeError, DTypeError, OutOfRangeError, LinAlgError)  # what an operation inside a rule raises in their place


def explained(primitive: Any, error: Exception, arrays: list[Any], keywords: dict[str, Any]) -> Exception:
    """Return an error with NumPy's message, the name, shape and dtype of each argument, and a remedy if there is one."""
    if isinstance(error, MinigradError):
        return error
    unknown = [
        name for name in keywords if not isinstance(primitive.function, np.ufunc) and name not in primitive.parameters
    ]
    if unknown:
        return UnsupportedError(f"{primitive.name}{primitive.__signature__} has no keyword {', '.join(unknown)}")
    names = primitive.arguments or [f"argument {i}" for i in range(len(arrays))]
    if isinstance(error, MemoryError):
        return out_of_memory(error, primitive.name, arrays)
    if mixed := mixed_devices(primitive.name, names, arrays):
        return mixed
    described = ", ".join(f"{name}: {short(array)}" for name, array in zip(names, arrays))
    message = f"{primitive.name}({described}): {str(error).rstrip('. ')}"
    if isinstance(error, (IndexError, TypeError, np.linalg.LinAlgError)):
        return own_error(error, message)
    if primitive.name == "matmul":
        message += ". The last axis of x must be as long as the second-to-last axis of y (or as y, if y is a vector)"
    elif "broadcast" in str(error):
        message += (
            ". Axes are compared from the right and must be equal or 1: reshape, transpose or add an axis with None"
        )
    return ShapeError(message)


def explained_in_rule(error: Exception, entry: Any, arrays: Sequence[Any]) -> Exception:
    """Return the error to raise for an error of a rule: with the name of the operation, and its line if it was traced.

    An error of a class of its own was raised on purpose, by the rule or by minigrad, and is left as it is.
    """
    what = f"the derivative of '{entry.primitive.name}'"
    source = next((note.source for note in entry.notes if getattr(note, "source", None) is not None), None)
    line = "" if source is None else f'\nCalled by\n  File "{source.file}", line {source.line}\n    {source.text}'
    explained: Exception | None = None
    if isinstance(error, MemoryError) and not isinstance(error, MinigradError):
        explained = out_of_memory(error, f"the backward of {entry.primitive.name}", [*arrays, *(entry.kept or ())])
    elif type(error) in _FROM_NUMPY:
        explained = own_error(error, f"{what}: {str(error).rstrip('. ')}{line}")
    elif isinstance(error, _PLAIN) and type(error) in _PLAIN and not error.names_operation:
        explained = type(error)(f"{what}: {error}{line}")
    if explained is None:
        return error
    explained.__cause__ = error
    return explained


def cannot_write(name: str) -> str:
    """Return the message for a call of the function ``name`` with ``out=t``."""
    return (
        f"{name} cannot write into a Tensor (out=t): use t = {name}(...), or pass out=t.data if no backward pass still needs "
        "the old values of t"
    )


def own_error(error: Exception, message: str) -> MinigradError:
    kinds = {IndexError: OutOfRangeError, TypeError: DTypeError, np.linalg.LinAlgError: LinAlgError}
    return next((own for kind, own in kinds.items() if isinstance(error, kind)), ShapeError)(message)


def refuse_results_off_the_tape(primitive: Any, g: Any, pulled: Sequence[Any]) -> None:
    """Raise if ``g``, a Tensor or a dict of Tensors, is on the tape and the result of a rule is not.

    Rules are linear in ``g``, so a result that is not zero depends on ``g`` and must be on the tape too.
    """
    tracked = any(t._node is not None for t in (g.values() if isinstance(g, dict) else (g,)))
    for i, result in enumerate(pulled):
        if tracked and result is not None and getattr(result, "_node", None) is None and np.any(result):
            raise cut_off(primitive, i)


def cut_off(primitive: Any, i: int) -> GraphError:
    """Make the error for a rule of argument ``i`` that computes with the array of a Tensor instead of the Tensor."""
    argument = [*primitive.arguments, *(f"args{k}" for k in range(i + 1))][i]
    return GraphError(
        f"the derivative of '{primitive.name}' with respect to '{argument}' is cut off from the tape, so forward mode and "
        "second derivatives would be wrong. Compute it from the incoming gradient with operations on Tensors, without .data "
        "or .numpy(). First derivatives in reverse mode, by grad() and vjp(), are correct without this change"
    )


def short(value: Any) -> str:
    if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype"):
        return f"shape {value.shape} {value.dtype}"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
