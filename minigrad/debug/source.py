"""Find the lines of a program that a finding names: where a value was made, and where a call stands."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MOST_LINKS = 6  # assignments that are followed from a name to the value


class ProgramSource:
    """The lines of a Python file and its syntax tree, which is empty if the file cannot be parsed."""

    def __init__(self, file: str, lines: Sequence[str]) -> None:
        self.file, self.lines = file, [line.rstrip("\r\n") for line in lines]
        try:
            self.tree: ast.Module = ast.parse("\n".join(self.lines))
        except (SyntaxError, ValueError):
            self.tree = ast.Module([], [])

    def text(self, line: int) -> str:
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    @functools.cached_property
    def nodes(self) -> list[Any]:
        return list(ast.walk(self.tree))

    def find(self, kind: Any, test: Callable[[Any], bool]) -> list[Any]:
        """Return the nodes of one kind that pass a test, in the order of their lines."""
        return sorted((n for n in self.nodes if isinstance(n, kind) and test(n)), key=lambda n: n.lineno)

    def calls(self, *names: str) -> list[Any]:
        """Return the calls of functions or methods with these names."""
        return self.find(ast.Call, lambda call: called(call) in names)

    def keyword(self, *names: str) -> Any | None:
        """Return the value of the first keyword argument with one of these names; None if there is none."""
        found = self.find(ast.keyword, lambda k: k.arg in names)
        return found[0].value if found else None

    def functions(self, name: str) -> list[Any]:
        return self.find((ast.FunctionDef, ast.ClassDef), lambda f: f.name == name)

    def assignments(self, name: str) -> list[tuple[int, Any]]:
        """Return the line and the value of each assignment to a variable or an attribute of this name."""
        found = []
        for node in self.find(ast.Assign, lambda n: True):
            for target in node.targets:
                if name in names_of_target(target):
                    found.append((node.lineno, node.value))
        return found

    def origin(self, path: str) -> int | None:
        """Return the line at which the value of a variable was made, such as ``W1``, ``net.back`` or ``layers[0]['W']``.

        Names on the right-hand side are followed: a parameter of a function to its default or to the call, and a function of
        the program to the line that returns.
        """
        key = re.findall(r"\['(\w+)'\]", path)[-1:]  # of a dict that is written out
        for made in self.find(ast.Dict, lambda d: bool(key)):
            for name, value in zip(made.keys, made.values):
                if isinstance(name, ast.Constant) and name.value == key[0]:
                    return (isinstance(value, ast.Name) and self._follow(value.id, 0)) or int(value.lineno)
        words = [word for word in _words(path) if word != "self"]
        for name in reversed(words):  # the attribute itself, or else what holds it
            line = self._of_attribute(name) if f".{name}" in path else None
            line = line or self._follow(name, 0)
            if line is not None:
                return line
        return None

    def _follow(self, name: str, links: int) -> int | None:
        made = self.assignments(name)
        if not made or links > MOST_LINKS:
            return self._of_parameter(name, links) if not made else None
        line, value = made[0]
        for later, other in made[1:]:  # p.data[:] = ... replaces the values that the first assignment made
            if not _reads(other, name) and ".data" in self.text(later):
                line, value = later, other
        if isinstance(value, ast.Name):  # self.rate = rate leads to the parameter
            follow = self._of_parameter if value.id == name else self._follow
            return follow(value.id, links + 1) or line
        own = self.functions(called(value)) if isinstance(value, ast.Call) else []
        if own and isinstance(own[0], ast.FunctionDef):
            returns = [n for n in ast.walk(own[0]) if isinstance(n, ast.Return) and n.value is not None]
            if returns and isinstance(returns[-1].value, (ast.ListComp, ast.List)):
                return int(returns[-1].lineno)
        return line

    def _of_attribute(self, name: str) -> int | None:
        """Return the line that gives a value to ``self.name``, if a variable has this name too."""
        made = [line for line, _ in self.assignments(name)]
        own = [line for line in made if f"self.{name}" in self.text(line)]
        return own[0] if own and own != made else None

    def _of_parameter(self, name: str, links: int) -> int | None:
        """Return the line of a parameter's default, or of the first call that gives it."""
        for function in self.find(ast.FunctionDef, lambda f: any(a.arg == name for a in f.args.args)):
            names = [a.arg for a in function.args.args]
            if names.index(name) >= len(names) - len(function.args.defaults):
                return int(function.lineno)
            owner = next((c for c in self.nodes if isinstance(c, ast.ClassDef) and function in c.body), None)
            target = owner.name if owner is not None and function.name == "__init__" else function.name
            calls = self.calls(target)
            if calls:
                return int(calls[0].lineno)
        return None

    def values_of(self, name: str, values: Mapping[str, Any]) -> list[Any]:
        """Return the values of a variable, or those that the calls give to a parameter of this name."""
        found = [values.get(name)]
        for function in self.find(ast.FunctionDef, lambda f: any(a.arg == name for a in f.args.args)):
            place = [a.arg for a in function.args.args].index(name)
            given = [call.args[place] for call in self.calls(function.name) if len(call.args) > place]
            found += [values.get(getattr(argument, "id", "")) for argument in given]
        return found

    def same_function(self, line: int, other: int) -> bool:
        """Return whether the innermost functions around two lines are one, or both lines are outside of functions."""
        functions = self.find(ast.FunctionDef, lambda f: True)
        around = [[f for f in functions if f.lineno <= at <= (f.end_lineno or 0)][-1:] for at in (line, other)]
        return around[0] == around[1]

    def in_loop(self, node: Any) -> bool:
        """Return whether a node runs again and again: inside a loop, a comprehension or a function."""
        loops = (ast.For, ast.While, ast.FunctionDef, ast.ListComp, ast.GeneratorExp)
        return any(isinstance(n, loops) and node is not n and node in ast.walk(n) for n in self.nodes)


def generator_line(source: ProgramSource) -> int:
    """Return the line that makes a random generator inside a loop, a comprehension or a function; 0 if there is none."""
    made = [c for c in source.calls("default_rng", "seed", "RandomState") if source.in_loop(c) and c.args]
    return int(made[0].lineno) if made else 0


def floor_divisions(node: Any) -> list[int]:
    """Return the lines of the divisions by ``//`` in a part of the program."""
    return [n.lineno for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)]


def is_square(node: ast.BinOp) -> bool:
    """Return whether a part of the program is ``x * x`` or ``x ** 2``."""
    if isinstance(node.op, ast.Mult):
        return ast.dump(node.left) == ast.dump(node.right)
    return isinstance(node.op, ast.Pow) and number(node.right) == 2


def called(call: Any) -> str:
    """Return the name of the function that a call calls."""
    function = getattr(call, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def names_of_target(target: Any) -> Iterator[str]:
    """Yield the names that an assignment changes: ``a``, ``b`` in ``a, b.data[:] = ...``."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from names_of_target(part)
    elif isinstance(target, ast.Subscript):
        yield from names_of_target(target.value)
    elif isinstance(target, ast.Attribute):
        if target.attr == "data":
            yield from names_of_target(target.value)
        else:
            yield target.attr
    elif isinstance(target, ast.Name):
        yield target.id


def number(node: Any) -> float | None:
    """Return the value of a literal number; None for other expressions."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return float(value) if isinstance(value, (int, float)) else None


def _reads(value: Any, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))


def _words(path: str) -> list[str]:
    words = "".join(c if c.isidentifier() or c.isdigit() else " " for c in path).split()
    return [word for word in words if word.isidentifier() and word != "data"]
