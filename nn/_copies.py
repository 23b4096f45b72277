"""Copy a tree of modules, with other objects in some places. :meth:`nn.Module.replaced` describes it to users."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import CellType, FunctionType, MethodType
from typing import Any


class Copies:
    """A copy of some modules in which some objects are replaced, wherever a module holds them.

    A module holds what its attributes are, what stands in lists, tuples and dicts there, in the arguments of partial functions,
    the objects of bound methods, and the modules, parameters and methods that functions close over.
    """

    def __init__(self, modules: Iterable[Any], pairs: Iterable[tuple[Any, Any]]) -> None:
        self.modules, self.pairs = list(modules), list(pairs)  # the modules to copy; each object with its replacement
        self._copied = {id(module) for module in self.modules}
        self._new = {id(old): new for old, new in self.pairs}
        self._made: list[tuple[Any, Any, dict[str, Any]]] = []  # module, copy, and the first attributes of the copy

    def of(self, value: Any) -> Any:
        """Return ``value``, or a copy of it if something in it is replaced."""
        if id(value) in self._new:
            return self._new[id(value)]
        if id(value) in self._copied:
            return self._module(value)
        if isinstance(value, (dict, list, tuple)):
            return self._container(value)
        if isinstance(value, MethodType):
            owner = self.of(value.__self__)
            return value if owner is value.__self__ else MethodType(value.__func__, owner)
        if type(value) is functools.partial:
            parts = (value.func, value.args, value.keywords)
            function, args, keywords = new = tuple(map(self.of, parts))
            return value if _same(new, parts) else functools.partial(function, *args, **keywords)
        return self._function(value) if isinstance(value, FunctionType) and value.__closure__ else value

    def _module(self, module: Any) -> Any:
        copy = object.__new__(type(module))
        self._new[id(module)] = copy
        vars(copy).update({name: self.of(part) for name, part in dict(vars(module)).items()})
        self._made.append((module, copy, dict(vars(copy))))
        return copy

    def _container(self, value: Any) -> Any:
        self._new[id(value)] = value  # the end of the recursion if the container contains itself
        parts = list(value.values() if isinstance(value, dict) else value)
        new = [self.of(part) for part in parts]
        if _same(new, parts):
            del self._new[id(value)]  # the container may be freed during the call, and another object may get its id
            return value
        if isinstance(value, dict):
            copy: Any = value.copy()
            copy.update(zip(value, new))
        elif isinstance(value, list):
            copy = value.copy()
            copy[:] = new
        else:
            copy = type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
        self._new[id(value)] = copy
        return copy

    def _function(self, function: FunctionType) -> Any:
        """Replace the modules, parameters and bound methods that the function closes over, and no other values."""
        cells = function.__closure__ or ()
        held = [_content(cell) for cell in cells]
        new = [self.of(value) if self._is_replaced(value) else value for value in held]
        if _same(new, held):
            return function
        closure = tuple(cell if value is old else CellType(value) for cell, value, old in zip(cells, new, held))
        copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    def _is_replaced(self, value: Any) -> bool:
        return id(value) in self._new or id(value) in self._copied or isinstance(value, MethodType)

    def hand_back(self) -> None:
        """Repeat on the modules the assignments to their copies, with the modules' own objects in place of the new ones."""
        made = [(copy, module) for module, copy, _ in self._made]
        back = Copies((), [*((new, old) for old, new in self.pairs), *made])
        for module, copy, before in self._made:
            now = vars(copy)
            for name in before.keys() - now.keys():
                vars(module).pop(name, None)
            for name, value in now.items():
                if name not in before or before[name] is not value:
                    vars(module)[name] = back.of(value)

    def put(self) -> None:
        """Replace the objects in the modules themselves, which are not copied."""
        new = Copies((), self.pairs)
        found = [(module, {name: new.of(part) for name, part in vars(module).items()}) for module in self.modules]
        for module, parts in found:  # now, so that all that was looked at has been alive until here
            vars(module).update(parts)


def _same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(value is before for value, before in zip(new, old, strict=True))


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable is not assigned yet
        return None
