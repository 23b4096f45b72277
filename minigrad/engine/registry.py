"""The registry, which maps a NumPy function to the object that handles its calls with Tensors, and pickles of primitives."""

from __future__ import annotations

import importlib
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from ..errors import UnsupportedError

registry: dict[Any, Any] = {}
"""The keys are NumPy functions or ``(ufunc, method)``, the values are of the type Primitive, Composite or PlainFunction."""

operators: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Maps ufuncs of one or two arguments, and ``np.sum``, to a faster form of their primitive (operators.py)."""

primitives: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""All primitives by name. If several have the same name, the first one is here."""

when_declared: list[Callable[[Any], None]] = []
"""Functions that are called with each primitive whose rules or kernel have just been declared."""


def is_elementwise(primitive: Any) -> bool:
    """Whether each element of the result depends on one element of each operand: true for ufuncs without a signature."""
    function = getattr(primitive, "function", None)
    return isinstance(function, np.ufunc) and function.signature is None


class ByReference:
    """A base class for objects that are pickled by their name in a module. A copy is the same object."""

    name: str
    function: Any
    rules: dict[str, Any]
    rule_for_each: Any
    composition: Any

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        """Return a function that imports this object, with the module and the name for it.

        Raises:
            UnsupportedError: no module that could have declared the object has it as an attribute.
        """
        declared = [*self.rules.values(), self.rule_for_each, self.composition, self.function]
        modules = [getattr(function, "__module__", None) or "" for function in declared]
        own_name = self.name.rpartition(".")[2]
        location = _module_and_name(self, modules, own_name)
        if location is None:
            raise UnsupportedError(
                f"{self!r} cannot be pickled: pickle stores the name under which a module holds it, and none does. "
                f"Assign it at the top of a module, {own_name} = primitive(...)"
            )
        return _imported, location


def _module_and_name(value: Any, modules: Iterable[str], name: str) -> tuple[str, str] | None:
    """Return the first of ``modules`` with ``value`` as an attribute, and the attribute's name. Prefer the name ``name``."""
    for module in dict.fromkeys(modules):
        attributes = vars(sys.modules[module]) if module in sys.modules else {}
        if names := [attribute for attribute, other in attributes.items() if other is value]:
            return module, name if name in names else names[0]
    return None


def _imported(module: str, name: str) -> Any:
    """Return an attribute of a module. ``pickle.load`` calls this function."""
    return getattr(importlib.import_module(module), name)
