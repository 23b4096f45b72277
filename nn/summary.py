"""A table of a model: the output of each module, its parameters, its multiplications and the memory that it keeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minigrad import ArgumentError, Tensor, enable_grad
from minigrad.internal import Array, active, array_of, explicit, leaves

from ._tables import html_table
from .module import Module

HEADER = ["path", "module", "output", "parameters", "multiply-adds", "kept"]


class ModuleRow(NamedTuple):
    """The row of a module, with all that is inside it."""

    path: str  # "" for the model
    module: str
    output: str  # the shape, "" if it was not called
    parameters: int
    multiply_adds: int
    kept: int  # bytes

    def cells(self) -> list[str]:
        numbers = [f"{number:,}" for number in (self.parameters, self.multiply_adds)]
        return [self.path or "(all)", self.module, self.output, *numbers, f"{self.kept / 1e3:,.1f} kB"]


class Summary(list[ModuleRow]):
    """The rows of :func:`summary`, which print as a table, also in a notebook."""

    def __repr__(self) -> str:
        rows = [HEADER, *(row.cells() for row in self)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        sides = "<<<>>>"  # the numbers end below each other
        return "\n".join("  ".join(f"{t:{s}{w}}" for t, s, w in zip(row, sides, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        return html_table(f"{self[0].module}", HEADER, [row.cells() for row in self], most=40)


def summary(model: Module, *inputs: Any, **keywords: Any) -> Summary:
    """Run ``model(*inputs, **keywords)`` once and return a table, a row per module with all that is inside it.

    The columns are the shape of the output (of the last call, and how many there were); the number of parameters; the
    multiply-adds of the forward pass; and the bytes of the arrays that the forward pass keeps for the backward pass, each
    once, without the parameters and the inputs. Multiply-adds are those of products (``@``, ``affine``, ``dot``, ``inner``,
    ``tensordot``, ``einsum``), attention, convolutions and the states of GRU and LSTM; operations element by element, sums and
    norms count nothing. A product that the tape does not record, such as one of the inputs with a constant or one under
    ``mg.no_grad()``, counts nothing either. A multiply-add is two FLOPs, and a backward pass needs about twice those of the
    forward pass. The model does not change. Frozen parameters are counted as if they were trained.

    Raises:
        ArgumentError: ``model`` is not a module.
        Exception: what ``model(*inputs, **keywords)`` raises.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rng = np.random.default_rng(0)
        >>> model = nn.Sequential(nn.Affine(3, 8, rng=rng), np.tanh, nn.Affine(8, 2, rng=rng))
        >>> nn.summary(model, np.ones((5, 3), np.float32))
        path      module        output  parameters  multiply-adds    kept
        (all)     Sequential()  (5, 2)          50            200  0.2 kB
        layers.0  Affine(3, 8)  (5, 8)          32            120  0.0 kB
        layers.2  Affine(8, 2)  (5, 2)          18             80  0.0 kB
    """
    if not isinstance(model, Module):
        raise ArgumentError(f"summary takes a Module, got {type(model).__name__}: summary(model, x)")
    given = [*leaves((inputs, keywords)), *model.parameters(), *model.buffers()]
    counter = _Counter([array_of(t) if isinstance(t, Tensor) else t for t in given])
    trained = {  # on the tape, whether they are frozen or not
        path: Tensor(array_of(p), requires_grad=True, copy=False) for path, p in model.named_parameters()
    }
    copy = model._copies(trained).of(model)  # not by replaced(), which may be an attribute of the model
    for path, module in copy.named_modules():
        vars(module)["forward"] = counter.watched(path, module.forward)
    active.enter(counter)
    try:
        with enable_grad():
            copy(*inputs, **keywords)
    finally:
        active.leave(counter)
    return Summary(
        ModuleRow(
            path,
            f"{type(module).__name__}({module.extra_repr()})",
            counter.shapes.get(path, "") + (f" x {n}" if (n := counter.calls[path]) > 1 else ""),
            module.num_parameters,
            counter.multiply_adds[path],
            counter.kept[path],
        )
        for path, module in model.named_modules()
    )


class _Counter:
    """An observer of the tape, which adds what an operation does to all modules whose call is running."""

    def __init__(self, known: list[Any]) -> None:
        self.running: list[str] = []
        self.shapes: dict[str, str] = {}
        self.calls, self.multiply_adds, self.kept = Counter[str](), Counter[str](), Counter[str]()
        self.seen = {id(root): root for root in map(_root, known)}  # arrays that are not counted, or have been

    def watched(self, path: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*args: Any, **keywords: Any) -> Any:
            self.running.append(path)
            try:
                y = forward(*args, **keywords)
            finally:
                self.running.pop()
            self.shapes[path] = ", ".join(str(np.shape(leaf)) for leaf in leaves(y))
            self.calls[path] += 1
            return y

        return watching

    def record(self, entry: Any, arrays: list[Any], answer: Any, seconds: float) -> None:
        count = _COUNTS.get(entry.primitive.name)
        multiply_adds = 0 if count is None else count(answer, *arrays[: len(entry.parents)], **entry.keywords)
        kept = 0
        for value in leaves(list(entry.kept)):
            root = _root(value)
            if hasattr(root, "nbytes") and id(root) not in self.seen:
                self.seen[id(root)] = root
                kept += root.nbytes
        for path in self.running:
            self.multiply_adds[path] += multiply_adds
            self.kept[path] += kept


def _root(value: Any) -> Any:
    """Return the array that owns the memory of a view."""
    while isinstance(getattr(value, "base", None), np.ndarray):
        value = value.base
    return value


def _product(ans: Array, x: Array, *_: Any, **keywords: Any) -> int:
    return int(np.size(ans)) * np.shape(x)[-1]


def _contraction(ans: Array, x: Array, y: Array, **keywords: Any) -> int:
    return math.isqrt(np.size(x) * np.size(y) * np.size(ans))  # the axes of both, of x alone and of y alone, each twice


def _einsum(ans: Array, *operands: Array, subscripts: str, **keywords: Any) -> int:
    sizes: dict[str, int] = {}
    for term, operand in zip(explicit(subscripts, tuple(map(np.ndim, operands)))[0], operands):
        sizes |= {label: max(n, sizes.get(label, 1)) for label, n in zip(term, np.shape(operand))}
    return math.prod(sizes.values())


def _attention(ans: Array, q: Array, k: Array, v: Array, *_: Any, **keywords: Any) -> int:
    return int(ans.size) // v.shape[-1] * k.shape[-2] * (q.shape[-1] + v.shape[-1])


def _states(ans: Array, images: Array, *more: Any, **keywords: Any) -> int:
    return int(images.size) * more[-2].shape[0]  # the weight, and after it the bias


_COUNTS: dict[str, Callable[..., int]] = {
    "matmul": _product, "affine": _product, "dot": _contraction, "inner": _contraction, "tensordot": _contraction,
    "einsum": _einsum, "attention": _attention, "gru_states": _states, "lstm_states": _states,
    "convolution": lambda ans, x, weight, *_, **keywords: ans.size * math.prod(weight.shape[1:]),
    "spread": lambda ans, y, weight, **keywords: y.size * math.prod(weight.shape[1:]),
}  # fmt: skip
