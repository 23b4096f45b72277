"""Functions of a written program, their calls, and the dicts of parameters that they read by key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from .loops import TextLine
from .names import quoted
from .statements import Memory, Statement, Value


class Key(NamedTuple):
    """A key of a dict of parameters. Its parts are texts, integers, counters of loops and the argument ``at``."""

    parts: tuple[Any, ...]


class WrittenFunction:
    """A function of the written program.

    Attributes:
        name: its name.
        word: the name of its result, if the user's program has none; by default its own name.
        body: its statements.
        inputs: its parameters: values, and tuples of values that the caller kept from another function.
        outputs: what it returns, in the same form.
        keys: the key of each parameter of the model that it reads, with the dict.
        group: the functions of one module, which use the same names for the same values.
    """

    def __init__(self, name: str, group: object) -> None:
        self.__name__ = name
        self.word = ""
        self.group = group
        self.body: list[Statement] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.keys: dict[Value, tuple[Value, Key]] = {}

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError("only the written program calls it")

    @property
    def is_backward(self) -> bool:
        return self.body[0].backward


class FunctionCall(Statement):
    """The call of a :class:`WrittenFunction`, or of one of Python's own."""

    __slots__ = ()


def function_lines(text: Any, function: WrittenFunction) -> list[TextLine]:
    """Return the lines of a function, the first of which is its head.

    ``text`` is the :class:`~.words.Text` of the body, which imports this module.
    """
    names, opening, parameters = text.names, [], []
    for given in function.inputs:
        if isinstance(given, tuple):
            parameters.append(names.take("saved"))
            opening.append(f"{targets([*map(names.give, given)])} = {parameters[-1]}")
        else:
            parameters.append(names.give(given))
    names.of.update({value: f"{names.of[holder]}[{text.of(key)}]" for value, (holder, key) in function.keys.items()})
    lines = text.lines()
    returned = ", ".join(
        f"({', '.join(map(text.of, each))})" if isinstance(each, tuple) else text.of(each) for each in function.outputs
    )
    return [
        TextLine(f"def {function.__name__}({', '.join(parameters)}):"),
        *map(TextLine, opening),
        *lines,
        *[TextLine(f"return {returned}")] * bool(returned),
    ]


def call_line(text: Any, call: FunctionCall) -> str:
    """Return the line that calls a function. ``text`` is as in :func:`function_lines`."""
    names = [text.names.give(value) if value in text.uses else "_" for value in call.outputs]
    return f"{targets(names)}{' = ' * bool(names)}{call.call.__name__}({', '.join(map(text.of, call.args))})"


def key_line(text: Any, key: Key) -> str:
    """Return the text of a key: a string, ``at + "weight"``, or a formatted string with the counter of a loop."""
    first, *others = key.parts
    if all(isinstance(part, (str, int)) for part in key.parts):
        return quoted(text_of_key(key))
    if type(first) is Value and all(isinstance(part, (str, int)) for part in others):
        return " + ".join([text.of(first), *[quoted("".join(map(str, others)))] * bool(others)])
    return 'f"' + "".join(part if isinstance(part, str) else f"{{{text.of(part)}}}" for part in key.parts) + '"'


def targets(names: Sequence[str]) -> str:
    """Return the left side of an assignment, in parentheses where it may need two lines."""
    text = ", ".join(names)
    return f"({text})" if len(text) > 72 else text


class Dicts:
    """The arguments that are large dicts of arrays, and the dicts of their gradients.

    Attributes:
        keys: the dict and the key of each value that is an item of an argument.
        gradients: each gradient, with the dict that gets it and the key.
    """

    def __init__(self) -> None:
        self.keys: dict[Value, tuple[Value, str]] = {}
        self.gradients: list[tuple[Any, Value, str]] = []

    def add(self, name: str, items: Sequence[tuple[Value, str]], gradients: dict[str, Any]) -> Value:
        """Add an argument. Return the value that stands for the dict of its gradients."""
        holder = of_data(name)
        self.keys.update({value: (holder, key) for value, key in items})
        statement = FunctionCall(0, WrittenFunction("dict.fromkeys", None), (holder,), {})
        found = of_data(None, statement)
        found.cotangent_of = holder
        statement.outputs, statement.backward = [found], True
        self.gradients += [(value, found, key) for key, value in gradients.items() if value is not None]
        return found


def of_data(name: str | None = None, statement: Statement | None = None) -> Value:
    """Return a value that is no array: a dict, a key, or what a function keeps."""
    value = Value(None, statement, True, Memory())
    value.name = name
    return value


def key_of_text(text: str) -> Key:
    """Return a key whose integers a loop can count."""
    parts = [part for part in re.split(r"(?<=\.)(0|[1-9]\d*)(?=\.)", text) if part]
    return Key(tuple([int(part) if part.isdigit() else part for part in parts]))


def text_of_key(key: Key) -> str:
    """Return the text of a key without counters."""
    return "".join(map(str, key.parts))
