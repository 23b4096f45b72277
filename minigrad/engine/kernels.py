"""Kernels: a faster forward and backward that hangs on a primitive from outside, chosen by the type of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .observers import active
from .plan import Plan, taking
from .signatures import parameters_of
from .types import Array, Rule

_reference_modes: list[reference_mode] = []  # those active in any thread


class Kernel:
    """A forward, and mostly a backward, for raw arrays of one library; declared by ``Primitive.kernel``.

    Each array that the backward returns is one of its own, that nothing else holds and no two share: the sweep may add into
    it, and at a leaf it becomes the ``grad``.

    Attributes:
        least: an operator such as ``x @ y`` does not ask the kernel about two matrices if the first has fewer numbers.
        jointly: the backward is for all gradients at once. Where only some are asked for, the plain rules follow, which keep
            less.
    """

    def __init__(
        self,
        forward: Callable[..., Any],
        backward: Rule | None,
        plans: dict[int, Plan],
        *,
        least: int = 0,
        jointly: bool = False,
    ) -> None:
        self.forward = forward
        self.backward: Any = backward  # without one the primitive's own rules follow, by its own plans
        self.plans = plans
        self.least = least
        self.jointly = jointly
        self.names = () if backward is None else parameters_of(backward).names[2:]

    def plan(self, primitive: Any, needs: Sequence[bool]) -> Plan:
        own = self.backward is not None and (all(needs) or not self.jointly)
        return _KernelPlan(primitive, needs, self) if own else Plan(primitive, needs)


class _KernelPlan(Plan):
    """Keeps what the kernel's backward asks for, too; Tensors are still pulled back by the primitive's own rules."""

    __slots__ = ()

    def __init__(self, primitive: Any, needs: Sequence[bool], kernel: Kernel) -> None:
        super().__init__(primitive, needs)
        places = [self.place(name) for name in kernel.names]
        self.settle(needs)
        self.fresh = True
        backward, needed, pick = kernel.backward, tuple(needs), taking(places)
        self.pull = lambda entry, g: backward(g, needed, *pick(entry.kept))


def choose(primitive: Any, arrays: Sequence[Array]) -> Kernel | None:
    """The kernel for these arrays: all of one library, the floating ones of one dtype."""
    first = arrays[0]
    kind = type(first)
    kernel: Kernel | None = primitive.kernels.get(kind)
    if kernel is None or not first.ndim or (_reference_modes and reference_mode.active()):
        return None  # kernels work in place, which the scalars that NumPy makes of 0-d arrays do not allow
    dtype = first.dtype
    for array in arrays:
        if array is None or (type(array) is kind and array.dtype is dtype):
            continue
        if type(array) is not kind or (array.dtype != dtype and array.dtype.kind not in "biu"):
            return None
    return kernel if dtype.char in "fdg" and dtype.isnative else None


class reference_mode:
    """``with reference_mode():`` no kernels, only the plain rules: slower, and the same numbers to rounding.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0, 3.0])
        >>> with mg.reference_mode():
        ...     plain = mg.softmax(x)
        >>> np.allclose(mg.softmax(x).numpy(), plain.numpy())
        True
    """

    def __enter__(self) -> None:
        active.enter(self)
        _reference_modes.append(self)

    def __exit__(self, *_: object) -> None:
        active.leave(self)
        _reference_modes.remove(self)

    @staticmethod
    def active() -> bool:
        """Whether such a block is active in this thread."""
        return any(isinstance(context, reference_mode) for context in active.contexts)
