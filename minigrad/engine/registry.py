"""The registry, which maps a NumPy function to the object that handles its calls with Tensors, and pickles of primitives."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..errors import UnsupportedError

registry: dict[Any, Any] = {}
"""The keys are NumPy functions or ``(ufunc, method)``, the values are of the type Primitive, Composite or PlainFunction."""

operators: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Maps NumPy functions to what Tensors' operators and methods call: the primitive, or a faster form (kernels/operators.py)."""

primitives: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""All primitives by name. If several have the same name, the first one is here."""

when_declared: list[Callable[[Any], None]] = []
"""Functions that are called with each primitive whose rules or kernel have just been declared."""


def is_elementwise(primitive: Any) -> bool:
    """Whether each element of the result depends on one element of each operand: true for ufuncs without a signature."""
    function = getattr(primitive, "function", None)
    return isinstance(function, np.ufunc) and function.signature is None


class ByReference:
    """A base class for objects that are pickled by their name in a module, as functions are. A copy is the same object."""

    name: str
    function: Any
    rules: dict[str, Any]
    rule_for_each: Any
    composition: Any

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> str:
        """Return the name of this object in the module that declared it, which becomes its ``__module__``.

        Raises:
            UnsupportedError: no module that could have declared the object has it as an attribute.
        """
        own_name = self.name.rpartition(".")[2]
        for declared in (*self.rules.values(), self.rule_for_each, self.composition, self.function):
            module = getattr(declared, "__module__", None) or ""
            attributes = vars(sys.modules[module]) if module in sys.modules else {}
            names = [attribute for attribute, other in attributes.items() if other is self]
            if names:
                self.__module__ = module
                return own_name if own_name in names else names[0]
        raise UnsupportedError(
            f"{self!r} cannot be pickled: pickle stores the name under which a module holds it, and none does. "
            f"Assign it at the top of a module, {own_name} = primitive(...)"
        )
