"""What comes of operations with one operand: `python operand_outcomes.py EXPRESSION [MODULE ...]`, in a process of its own.

Prints, as JSON, a table of outcomes for each of four moments: before anything else ran; again, when the plans of the fast
path are there; inside `trace()`, where the fast path is not taken; and after operations with other kinds of operand.
"""

import fractions  # noqa: F401 - for the expression
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import Tensor


class Exported:
    """What gives its memory by DLPack only."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "x * v": lambda x, v: x * v,
    "v - x": lambda x, v: x.__rsub__(v),
    "np.divide": lambda x, v: np.divide(x, v),
    "np.where": lambda x, v: np.where(np.array([True, False, True]), x, v),
    "np.maximum": lambda x, v: np.maximum(x, v),
    "assignment": lambda x, v: x * assigned(v),
}


def assigned(value: Any) -> Tensor:
    t = Tensor(np.zeros(3))
    t[...] = value
    return t


def outcome(call: Callable[[Any, Any], Any], value: Any) -> list[Any]:
    x = Tensor([2.0, 3.0, 4.0], requires_grad=True)
    try:
        y = call(x, value)
        y.sum().backward()
        assert x.grad is not None
        return [type(y._array).__name__, y.numpy().tolist(), x.grad.numpy().tolist()]
    except Exception as error:
        return [type(error).__name__, str(error)]


def main(expression: str, *modules: str) -> None:
    names = {module.partition(".")[0]: importlib.import_module(module.partition(".")[0]) for module in modules}
    for module in modules:
        importlib.import_module(module)
    value = eval(expression, globals() | names)

    def outcomes() -> dict[str, list[Any]]:
        return {name: outcome(call, value) for name, call in CALLS.items()}

    moments = [outcomes(), outcomes()]
    with mg.trace():
        moments.append(outcomes())
    x = Tensor([2.0, 3.0, 4.0], requires_grad=True)
    for other in (2.0, np.ones(3), Tensor(np.ones(3))):
        x * other, other - x, x / other
    moments.append(outcomes())
    print(json.dumps(moments))


main(*sys.argv[1:])
