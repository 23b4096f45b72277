"""What an operation says when it cannot be carried out: NumPy's message, the arguments by name, and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device import mixed_devices, out_of_memory
from ..errors import DTypeError, GraphError, LinAlgError, MinigradError, OutOfRangeError, ShapeError, UnsupportedError


def explained(primitive: Any, error: Exception, arrays: list[Any], keywords: dict[str, Any]) -> Exception:
    """NumPy's message, with the name, shape and dtype of each argument and, where it is plain, the way out."""
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
        message += ". The last axis of x must be as long as the second-to-last of y (or y's only) one"
    elif "broadcast" in str(error):
        message += (
            ". Axes are compared from the right and must be equal or 1: reshape, transpose or add an axis with None"
        )
    return ShapeError(message)


def own_error(error: Exception, message: str) -> MinigradError:
    kinds = {IndexError: OutOfRangeError, TypeError: DTypeError, np.linalg.LinAlgError: LinAlgError}
    return next((own for kind, own in kinds.items() if isinstance(error, kind)), ShapeError)(message)


def refuse_cut_off(primitive: Any, g: Any, pulled: Sequence[Any]) -> None:
    """Raise if a rule's answer for ``g``, or several outputs' dict of it, is off the tape that ``g`` is on.

    A rule is linear in ``g``: what is not zero depends on it.
    """
    tracked = any(t._node is not None for t in (g.values() if isinstance(g, dict) else (g,)))
    for i, found in enumerate(pulled):
        if tracked and found is not None and getattr(found, "_node", None) is None and np.any(found):
            raise cut_off(primitive, i)


def cut_off(primitive: Any, i: int) -> GraphError:
    """The rule for argument ``i`` computes with arrays where it was given a Tensor."""
    argument = [*primitive.arguments, *(f"args{k}" for k in range(i + 1))][i]
    return GraphError(
        f"the derivative of '{primitive.name}' with respect to '{argument}' is cut off from the tape, so that forward mode "
        "and second derivatives would be wrong: compute it from the incoming gradient with operations on Tensors, without "
        ".data or .numpy(); first derivatives in reverse, by grad() and vjp(), are right without it"
    )


def short(value: Any) -> str:
    if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype"):
        return f"shape {value.shape} {value.dtype}"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
