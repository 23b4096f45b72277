"""A kernel is a faster forward and backward of a primitive, chosen by the type of the arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentError
from .observers import reference_mode, reference_modes
from .plan import Plan, picking
from .signatures import parameters_of
from .types import Array, Rule


class Kernel:
    """A forward, and usually a backward, for raw arrays of one library. ``Primitive.kernel`` declares it.

    The backward must return new arrays that nothing else refers to and that share no memory with each other. The sweep may add
    to them in place, and may make them the ``grad`` of a leaf.

    Attributes:
        least: the operator ``x @ y`` (of two matrices) and the method ``x.sum(0)``, which have shorter ways of their own, try
            the kernel only if ``x`` has at least this size. A call of the primitive, ``np.matmul(x, y)``, always tries it.
        jointly: use the backward only if all gradients are needed. Otherwise the plain rules are used, which keep fewer
            values.
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
        self.backward: Any = backward  # if it is None, the rules and plans of the primitive are used
        self.plans = plans
        self.least = least
        self.jointly = jointly
        self.names = () if backward is None else parameters_of(backward).names[2:]

    def plan(self, primitive: Any, needs: Sequence[bool]) -> Plan:
        own = self.backward is not None and (all(needs) or not self.jointly)
        return _KernelPlan(primitive, needs, self) if own else Plan(primitive, needs)


class _KernelPlan(Plan):
    """A plan that also keeps the values that the kernel's backward reads. If the cotangent is a Tensor, the primitive's rules
    run instead."""

    def __init__(self, primitive: Any, needs: Sequence[bool], kernel: Kernel) -> None:
        super().__init__(primitive, needs)
        slots = [self.slot(name) for name in kernel.names]
        self.settle(needs)
        self.owned = True
        backward, needed, pick = kernel.backward, tuple(needs), picking(slots)
        self.pull = lambda entry, g: _all_of(backward(g, needed, *pick(entry.kept)), needed, primitive)


def _all_of(gradients: Any, needed: Sequence[bool], primitive: Any) -> Any:
    """Return the gradients of a kernel's backward. Raise if they are not one for each argument."""
    if type(gradients) not in (tuple, list) or len(gradients) != len(needed):
        got = f"{len(gradients)}" if type(gradients) in (tuple, list) else f"a {type(gradients).__name__}"
        raise ArgumentError(
            f"the kernel's backward of {primitive.name} returned {got} for {len(needed)} argument(s): return a tuple with one "
            "gradient for each, or None where needs is False"
        )
    return gradients


def choose(primitive: Any, arrays: Sequence[Array]) -> Kernel | None:
    """Return the kernel for these arrays, or None: all must be of one library, and the floating ones must share a dtype."""
    first = arrays[0]
    kind = type(first)
    kernel: Kernel | None = primitive.kernels.get(kind)
    if kernel is None or not first.ndim or (reference_modes and reference_mode.active()):
        return None  # kernels work in place; NumPy turns 0-d results into scalars, which are immutable
    dtype = first.dtype
    for array in arrays:
        if array is None or (type(array) is kind and array.dtype is dtype):
            continue
        if type(array) is not kind or (array.dtype != dtype and array.dtype.kind not in "biu"):
            return None
    return kernel if dtype.char in "fdg" and dtype.isnative else None
