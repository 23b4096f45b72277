"""The kernels of minigrad as functions, which a program written with ``kernels=True`` calls.

``kernels.layer_norm(x, weight, bias)`` returns the answer, and with it what the backward needs, if there is such a value.
``kernels.layer_norm_back(dy, ...)`` returns the gradients. The functions have the names of the primitives.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from .._source import of_library
from ..engine.kernels import Kernel
from ..engine.observers import active
from ..engine.registry import primitives
from ..engine.signatures import parameters_of
from ..engine.sums import MIN_PRODUCT
from ..errors import UnsupportedError
from .paper import Paper
from .spelling import is_default
from .statements import Statement, Unopened

_OWN = __name__.partition(".")[0]
_BACK = "_back"


def __getattr__(name: str) -> Callable[..., Any]:
    """Find a kernel by its name, for ``kernels.layer_norm`` in a program."""
    of = name.removesuffix(_BACK)
    if of not in primitives or _kernel(primitives[of]) is None:
        raise AttributeError(f"minigrad has no kernel {name}", name=name)
    found = globals()[name] = forward_of(of) if of == name else backward_of(of)  # the next look-up is a plain one
    return found


def is_kernel(function: Any) -> bool:
    return isinstance(function, FunctionType) and function.__module__ == __name__


def imports(statements: Sequence[Statement]) -> list[str]:
    """Return the imports of a program that calls kernels, also of the package that declares one; none if it calls none."""
    names = {each.call.__name__.removesuffix(_BACK) for each in statements if is_kernel(each.call)}
    declared = {_package(kernel) for name in names if (kernel := _kernel(primitives[name])) is not None}
    others = [f"import {package}  # declares some of the kernels" for package in sorted(declared - {_OWN})]
    return [*others, f"from {__package__} import kernels"] if names else []


@cache
def forward_of(name: str) -> Callable[..., Any]:
    """Return the forward of a kernel as a function of arrays."""
    kernel: Any = _kernel(primitives[name])

    def forward(*arrays: Any, **keywords: Any) -> Any:
        computed = kernel.forward(*arrays, **keywords)
        if computed is NotImplemented:
            raise ValueError(f"the kernel of {name} does not compute arrays like these, as it did when it was written")
        ans, saved = computed
        return ans if saved is None else (ans, Unopened(saved) if isinstance(saved, tuple) else saved)

    forward.__name__, forward.__signature__ = name, inspect.signature(kernel.forward)  # type: ignore[attr-defined]
    return forward


@cache
def backward_of(name: str) -> Callable[..., Any]:
    """Return the backward of a kernel: a function of the cotangent and of those values by name that the kernel reads.

    ``needs`` has the names of the arguments whose gradients are returned, by default all.
    """
    arguments, kernel = primitives[name].arguments, _kernel(primitives[name])
    assert kernel is not None
    defaults = parameters_of(kernel.forward).defaults

    def backward(g: Any, *values: Any, needs: tuple[str, ...] = arguments, **named: Any) -> Any:
        for key in kernel.names[len(values) :]:
            values += (named[key] if key in named else defaults.get(key),)
        opened = [value.data if type(value) is Unopened else value for value in values]
        needed = [argument in needs for argument in arguments]
        gradients = kernel.backward(g, needed, *opened)
        if len(needs) == 1:
            return gradients[arguments.index(needs[0])]
        return gradients if needs is arguments else tuple([gradients[arguments.index(name)] for name in needs])

    backward.__name__ = name + _BACK
    return backward


def _kernel(primitive: Any) -> Kernel | None:
    """Return minigrad's kernel for NumPy arrays; None if there is none.

    Raises:
        UnsupportedError: the compiled kernels are on.
    """
    kernel = primitive.kernels.get(np.ndarray)
    if kernel is None or not of_library(_package(kernel)):
        return None  # a saved program would not know which module declares it
    if kernel is primitive.kernels.get("compiled"):
        raise UnsupportedError("a program calls the kernels for NumPy: switch the others off, compiled_kernels(False)")
    return kernel if primitives.get(primitive.name) is primitive else None


def _package(kernel: Kernel) -> str:
    return kernel.forward.__module__.partition(".")[0]


class called:
    """Write kernels down as calls inside a ``with`` block."""

    def __enter__(self) -> None:
        for primitive in list(primitives.values()):
            if (kernel := _kernel(primitive)) is not None and Paper not in primitive.kernels:
                primitive.kernels[Paper] = _on_paper(primitive, kernel)
        active.enter(self)

    def __exit__(self, *_: object) -> None:
        active.leave(self)


def _on_paper(primitive: Any, kernel: Kernel) -> Kernel:
    """Return a kernel for paper that writes a call of ``kernel`` down."""
    defaults = parameters_of(kernel.forward).defaults

    def forward(*arrays: Any, **keywords: Any) -> Any:
        if not any(type(context) is called for context in active.contexts):
            return NotImplemented
        if kernel.backward is None and arrays[0].size < MIN_PRODUCT:
            return NotImplemented  # NumPy's function is as fast, and gives the same bits
        recording = arrays[0]._recording
        computed = kernel.forward(*map(recording.data, arrays), **keywords)
        if computed is NotImplemented:
            return NotImplemented
        written = recording.write(forward_of(primitive.name), arrays, keywords)
        if not isinstance(written, tuple):
            return written, None
        written[1]._value.name = "saved"
        return written

    def backward(g: Any, needs: Any, *values: Any) -> Any:
        paper = next((value for value in (g, *values) if type(value) is Paper), None)
        if paper is None:
            return kernel.backward(g, needs, *values)
        given = {name: value for name, value in zip(kernel.names, values) if not is_default(value, defaults.get(name))}
        leading = next((i for i, name in enumerate(kernel.names) if name not in given), len(values))
        named = {name: value for name, value in given.items() if name not in kernel.names[:leading]}
        if not all(needs):
            named["needs"] = tuple([name for name, need in zip(primitive.arguments, needs) if need])
        written = paper._recording.write(backward_of(primitive.name), (g, *values[:leading]), named)
        found = iter(written if isinstance(written, tuple) else [written])
        return tuple([next(found) if need else None for need in needs])

    if kernel.backward is None:
        return Kernel(forward, None, primitive._plans)
    own = Kernel(forward, backward, {}, jointly=kernel.jointly)
    own.names = kernel.names
    return own
