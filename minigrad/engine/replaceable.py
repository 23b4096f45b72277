"""Computations of the rules and of the engine that a kernel may do faster, and the switch that goes back to the plain ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .observers import active

reference_modes: list[reference_mode] = []  # the active ones of all threads


class Replaceable:
    """A function with one plain formula, to which ``minigrad/kernels`` may attach a faster form of the same.

    Use it as a decorator. The faster form takes the same arguments. It returns NotImplemented to leave a case to the formula.

    Example:
        >>> import numpy as np
        >>> from minigrad.engine.replaceable import Replaceable
        >>> @Replaceable
        ... def total(a):
        ...     return np.sum(a)
        >>> total.kernel(lambda a: a.dot(np.ones(a.size)) if a.ndim == 1 else NotImplemented)
        >>> float(total(np.array([1.0, 2.0])))
        3.0
    """

    def __init__(self, formula: Callable[..., Any]) -> None:
        functools.update_wrapper(self, formula)
        self.formula = formula
        self.faster: Callable[..., Any] | None = None

    def kernel(self, faster: Callable[..., Any]) -> None:
        """Declare a faster form."""
        self.faster = faster

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        faster = self.faster
        if faster is not None and not (reference_modes and reference_mode.active()):
            ans = faster(*args, **keywords)
            if ans is not NotImplemented:
                return ans
        return self.formula(*args, **keywords)


class reference_mode:
    """Use the plain rules, and no kernels, inside a ``with`` block. It is slower. Results agree up to rounding.

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
        reference_modes.append(self)

    def __exit__(self, *_: object) -> None:
        active.leave(self)
        reference_modes.remove(self)

    @staticmethod
    def active() -> bool:
        """Whether this thread is inside such a block."""
        return bool(reference_modes) and any(isinstance(context, reference_mode) for context in active.contexts)
