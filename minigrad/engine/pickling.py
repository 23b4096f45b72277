"""Primitives are copied and pickled by reference, as functions are: a module and the name that it holds them by."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Any, Self

from ..errors import UnsupportedError


class ByReference:
    """What can be copied and pickled by the name under which a module holds it."""

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
        """Name the module that declared it, and its name there.

        Raises:
            UnsupportedError: no module holds it.
        """
        declared = [*self.rules.values(), self.rule_for_each, self.composition, self.function]
        modules = [getattr(function, "__module__", None) or "" for function in declared]
        own_name = self.name.rpartition(".")[2]
        found = _where_found(self, modules, own_name)
        if found is None:
            raise UnsupportedError(
                f"{self!r} cannot be pickled: pickle stores the name under which a module holds it, and none does. "
                f"Assign it at the top of a module, {own_name} = primitive(...)"
            )
        return _imported, found


def _where_found(value: Any, modules: Iterable[str], name: str) -> tuple[str, str] | None:
    """A module among those named, and the name of ``value`` there (``name``, if it has several); None if it has none."""
    for module in dict.fromkeys(modules):
        held = vars(sys.modules[module]) if module in sys.modules else {}
        if names := [own for own, other in held.items() if other is value]:
            return module, name if name in names else names[0]
    return None


def _imported(module: str, name: str) -> Any:
    """Return what a module holds under a name: a pickle comes back by this."""
    return getattr(importlib.import_module(module), name)
