"""The user's program: what its variables hold, what its calls call, and the line at which a value was made."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from .._source import SourceLine, of_library
from ..engine.tensor import Tensor
from ..source.index import FUNCTIONS, Index, callee, index_of, names_in, value_of, written_by

DEEPEST = 6  # nested containers that are searched for tensors and arrays
MOST_VALUES = 4000  # values that are searched
MOST_LINKS = 6  # assignments that are followed from a name to the value
LIBRARIES = (
    "numpy",
    "builtins",
    "types",
    "minigrad",
    "collections",
    "functools",
)  # modules whose objects are not searched

At = tuple[str, int]  # a line of the program: the file and the number


# --- What the variables hold ---


def frames_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the program's own code, the innermost first. What runs its file, such as IPython, is not one."""
    while frame is not None:
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            yield frame
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


def variables_of(frame: FrameType | None) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the variables of the running functions and of the file, the innermost first, and the function of each.

    A function is given by the line at which it begins, and the file itself by 0.
    """
    found: dict[str, Any] = {}
    scopes: dict[str, int] = {}
    for own in frames_of(frame):
        local = own.f_code.co_name != "<module>"
        for variables, scope in ((own.f_locals, own.f_code.co_firstlineno if local else 0), (own.f_globals, 0)):
            for name, value in variables.items():
                if not name.startswith("__") and name not in found:
                    found[name], scopes[name] = value, scope
    return found, scopes


def reachable(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors, arrays and lists of numbers that variables hold, also inside of containers, each with its path."""
    waiting: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in variables.items()]
    seen: set[int] = set()
    for path, value, depth in waiting:
        if len(waiting) > MOST_VALUES:
            return
        if isinstance(value, (Tensor, np.ndarray)):
            yield path, value
            continue
        if id(value) in seen or depth >= DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            named = [(key, item) for key, item in value.items() if isinstance(key, (str, int))]
            waiting += [(f"{path}[{key!r}]", item, depth + 1) for key, item in named]
        elif isinstance(value, (list, tuple)) and len(value) > 2 and all(type(v) is float for v in value[:3]):
            yield path, value
        elif isinstance(value, (list, tuple)) and len(value) <= 200:
            waiting += [(f"{path}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        elif hasattr(value, "__dict__") and not isinstance(value, type) and not _is_closed(value):
            own = of_library(type(value).__module__)  # not the buffers of an optimizer, whose views parameters are
            names = [name for name in vars(value) if not (own and name.startswith("_"))]
            waiting += [(f"{path}.{name}", vars(value)[name], depth + 1) for name in names]


def _is_closed(value: Any) -> bool:
    """Return whether a value is a function, a module, or an object of a library that holds no variables of the program."""
    return inspect.isroutine(value) or inspect.ismodule(value) or type(value).__module__.partition(".")[0] in LIBRARIES


def address(value: Any) -> int:
    """Return the address of the first element of an array; 0 for other values."""
    array = value._array if isinstance(value, Tensor) else value
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else 0


# --- What the text says ---


class Program:
    """The files of a program, with the values that its variables had at the last full look.

    Attributes:
        names: the variables.
        scopes: the function of each, by its first line.
    """

    def __init__(self, files: Mapping[str, Sequence[str]], names: Mapping[str, Any], scopes: Mapping[str, int]) -> None:
        self.files, self.names, self.scopes = files, names, scopes
        self._values: dict[ast.AST, Any] = {}

    def index(self, file: str) -> Index:
        return index_of(file, self.files.get(file, ()))

    def text(self, at: At) -> str:
        return self.index(at[0]).text(at[1])

    def expression(self, place: SourceLine | None) -> Any:
        """Return the expression at a place; None if it cannot be found."""
        return None if place is None else self.index(place.file).at(place)

    def calls(self, *wanted: Any) -> list[tuple[Index, ast.Call]]:
        """Return the calls of these functions or methods, or of these classes or their subclasses, under any name."""
        return [(index, call) for index, call in self._calls if self.is_one(call.func, *wanted)]

    @functools.cached_property
    def _calls(self) -> list[tuple[Index, ast.Call]]:
        return [(index, call) for index in map(self.index, self.files) for call in index.find(ast.Call)]

    def is_one(self, function: ast.AST, *wanted: Any) -> bool:
        """Return whether a name or an attribute stands for one of these functions, or for a class or a subclass of it."""
        value = self.value(function)
        if isinstance(value, type):
            return any(isinstance(each, type) and issubclass(value, each) for each in wanted)
        return value is not None and any(value is each for each in wanted)

    def methods(self, owner: type) -> list[tuple[Index, ast.Call]]:
        """Return the calls of any method of the objects of a class."""
        return [
            (index, call)
            for index, call in self._calls
            if isinstance(call.func, ast.Attribute) and isinstance(self.value(call.func.value), owner)
        ]

    def value(self, node: ast.AST) -> Any:
        """Return what a name or an attribute stands for; a literal number as itself; None if it is not known."""
        if node not in self._values:
            value = node.value if isinstance(node, ast.Constant) else value_of(node, self.names)
            if value is None and isinstance(node, ast.Name):
                value = getattr(builtins, node.id, None)
            if isinstance(node, ast.Call) and len(node.args) == 1:  # a number such as np.uint8(100)
                kind, held = self.value(node.func), self.value(node.args[0])
                if isinstance(kind, type) and issubclass(kind, np.number) and isinstance(held, int):
                    value = kind(held)
            self._values[node] = getattr(value, "__func__", value)
        return self._values[node]

    def number(self, node: ast.AST | None) -> float | None:
        """Return the number that an expression stands for: a literal, or a variable that holds one."""
        if isinstance(node, ast.Call) and self.value(node.func) is len and len(node.args) == 1:
            held = self.value(node.args[0])
            return float(len(held)) if hasattr(held, "__len__") else None
        sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
        value = None if node is None else self.value(node.operand if isinstance(node, ast.UnaryOp) else node)
        return sign * float(value) if isinstance(value, (int, float, np.number)) else None

    def argument(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """Return the argument of a call by its keyword or its position."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        return call.args[position] if position is not None and position < len(call.args) else None

    # Where values are made

    def made(self, path: str | None, file: str) -> At | None:
        """Return the line at which the value of a variable was made, such as ``W1``, ``net.back`` or ``layers[0]['W']``.

        Names on the right-hand side are followed: a parameter of a function to its default or to the call, and a function of
        the program to the line that returns.
        """
        index = self.index(file)
        keys = re.findall(r"\['(\w+)'\]", path or "")[-1:]  # of a dict that is written out
        for made in index.find(ast.Dict) if keys else ():
            for name, value in zip(made.keys, made.values):
                if isinstance(name, ast.Constant) and name.value == keys[0]:
                    line = self._follow(index, value.id, 0) if isinstance(value, ast.Name) else None
                    return file, line or int(value.lineno)
        words = re.findall(r"[^\W\d]\w*", path or "")
        for name in reversed(words):  # the attribute itself, or else what holds it
            line = self._of_attribute(index, name) if f".{name}" in (path or "") else None
            line = line or self._follow(index, name, 0)
            if line:
                return file, line
        return None

    def assigned(self, index: Index, name: str) -> list[tuple[int, ast.expr, Any]]:
        """Return the line, the value and the target of each assignment to this name, in the function that holds it."""
        every = [(a.line, a.value, a.target) for a in index.assignments if name in names_of_target(a.target)]
        if any(isinstance(target, ast.Attribute) and target.attr == name for _, _, target in every):
            return every
        scope = self.scopes.get(name)
        own = [one for one in every if scope is not None and self._begins(index, one[0]) == scope]
        return own or every

    @staticmethod
    def _begins(index: Index, line: int) -> int:
        function = index.function_at(line)
        return 0 if function is None else min([function.lineno, *(d.lineno for d in function.decorator_list)])

    def _follow(self, index: Index, name: str, links: int) -> int | None:
        made = self.assigned(index, name)
        if not made or links > MOST_LINKS:
            return self._of_parameter(index, name) if not made else None
        line, value, _ = made[0]
        for later, other, target in made[1:]:  # p.data[:] = ... replaces the values that the first assignment made
            if isinstance(target, ast.Attribute) and all(read.id != name for read in names_in(other)):
                line, value = later, other
        if isinstance(value, ast.Name):  # self.rate = rate leads to the parameter
            found = self._of_parameter(index, name) if value.id == name else self._follow(index, value.id, links + 1)
            return found or line
        own = index.definitions(callee(value)) if isinstance(value, ast.Call) else []
        if own and isinstance(own[0], ast.FunctionDef):
            returns = [n for n in ast.walk(own[0]) if isinstance(n, ast.Return) and n.value is not None]
            if returns and isinstance(returns[-1].value, (ast.ListComp, ast.List)):
                return returns[-1].lineno
        return line

    def _of_attribute(self, index: Index, name: str) -> int | None:
        """Return the line that gives a value to an attribute, if a variable has this name too."""
        made = self.assigned(index, name)
        own = [line for line, _, target in made if isinstance(target, ast.Attribute) and target.attr == name]
        return own[0] if own and len(own) < len(made) else None

    def _of_parameter(self, index: Index, name: str) -> int | None:
        """Return the line of a parameter's default, or of the first call that gives it."""
        for function in index.find(FUNCTIONS, lambda f: name in [a.arg for a in f.args.args]):
            arguments = function.args
            place = [a.arg for a in arguments.args].index(name)
            if place >= len(arguments.args) - len(arguments.defaults):
                return int(function.lineno)
            owner: Any = index.parents[function]
            calls = index.calls(owner.name if isinstance(owner, ast.ClassDef) else function.name)
            if calls:
                return calls[0].lineno
        return None

    def source_line(self, index: Index, value: ast.expr | None) -> At | None:
        """Return the line of an argument's value: of a name, the line that made it; of a number, its own."""
        if value is None:
            return None
        if isinstance(value, (ast.Name, ast.Attribute)):
            found = self.made(ast.unparse(value), index.file)
            if found:
                return found
        return index.file, value.lineno

    def repeats(self, index: Index, node: ast.AST, around: int) -> bool:
        """Return whether a node runs again in each turn of the innermost loop around a line, there or in a function called."""
        here = [n for n in index.find(ast.stmt) if n.lineno <= around <= (n.end_lineno or 0)]
        loops = [n for n in here if isinstance(n, (ast.For, ast.While))]
        caller = index.function_at(around)
        if caller is not None and not any(loop.lineno >= caller.lineno for loop in loops):  # a step in its own function
            loops += [loop for call in index.calls(caller.name) for loop in index.loops(call)]
        within: list[Any] = [loops[-1]] if loops else []
        for part in within:
            names = set()
            for each in ast.walk(part):
                if each is node:
                    return True
                names |= {callee(each)} if isinstance(each, ast.Call) else set()
            iterated = getattr(part, "iter", None)
            if iterated is not None and part is within[0] and any(each is node for each in ast.walk(iterated)):
                return False  # the loop computes what it runs over once
            within += [f for name in names for f in index.definitions(name) if f not in within]
        return False


def names_of_target(target: ast.expr) -> list[str]:
    """Return the names that an assignment changes: ``a``, ``b`` in ``a, b.data[:] = ...``."""
    found = []
    for part in written_by(target):
        if isinstance(part, ast.Attribute):
            found += names_of_target(part.value) if part.attr == "data" else [part.attr]
        else:
            found.append(part.id)
    return found


def floor_divisions(node: ast.AST) -> list[int]:
    """Return the lines of the divisions by ``//`` in a part of the program."""
    return [n.lineno for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)]
