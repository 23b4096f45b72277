"""Copy and pickle primitives by reference, as Python does for functions: by a module and a name in that module."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Any, Self

from ..errors import UnsupportedError


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
