"""What a task is: its place in the lessons, its files, and what is asked of an answer. The questions are in ``lessons/``."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.errors import ArgumentError
from minigrad.source.index import index_of_file

ORDER = (*range(1, 7), 13, 7, 8, 14, *range(9, 13))  # of the lessons: their numbers stay, wherever a later one is put
LANGUAGES = ("en", "ja")


@dataclass(frozen=True)
class AtMost:
    """Instead of a value: a count that may not be larger."""

    limit: int


@dataclass(frozen=True)
class Case:
    """One question: a program that uses the learner's functions and ``inputs``, and what its last line should give.

    ``names`` says what the parts of a tuple are. ``tolerance`` is relative to the largest element of the expected value.
    ``forward`` is the program whose backward pass is asked for: it assigns to its end last, and uses ``leaves``, or else the
    inputs; a gradient "g" of its end is among those. No gradient is asked of what is ``fixed``. ``places`` says at which step
    of that program's page a part of the answer comes out, for parts that are not called so.
    """

    program: str
    inputs: dict[str, Any]
    expected: Any
    names: tuple[str, ...] = ()
    tolerance: float = 1e-7
    about: str = ""  # a key of words.json, under "about": said when the answer is wrong
    judge: Callable[[Any], dict[str, Any] | None] | None = None  # if many are right: a key of "about", and its facts
    forward: str = ""
    leaves: dict[str, Any] | None = None
    fixed: tuple[str, ...] = ("g",)
    places: dict[str, str] = field(default_factory=dict)

    @property
    def end(self) -> str:
        """The name that ``forward`` assigns to last."""
        return self.forward.splitlines()[-1].partition(" = ")[0]

    def place(self, part: str) -> str | None:
        """The step at which a part comes out as a gradient; None for another value. Alone, it is that of the first leaf."""
        if self.forward and not self.names:
            return f"gradient of {next(iter(self.given()))}"
        place = self.places.get(part, part)
        return place if place.startswith(("gradient of ", "backward of ")) else None

    def given(self) -> dict[str, Any]:
        return self.inputs if self.leaves is None else self.leaves


@dataclass(frozen=True)
class Task:
    number: tuple[int, int]
    file: str
    cases: Callable[[np.random.Generator], Iterator[Case]] = field(repr=False)
    by_hand: bool = False  # the learner writes the backward pass of Case.forward, and then sees the solution

    @property
    def label(self) -> str:
        return f"{self.number[0]}.{self.number[1]}"

    @property
    def stub(self) -> Path:
        return folder() / "stubs" / self.file

    @property
    def solution(self) -> Path:
        return folder() / "solutions" / self.file

    def words(self, language: str) -> dict[str, Any]:
        """``title``, ``task`` (the text), ``first`` (how to begin) and ``hints``."""
        found: dict[str, Any] = dict(_words(language)[self.label])
        found.setdefault("task", ast.get_docstring(index_of_file(self.stub).tree))
        return found

    def text(self, language: str) -> str:
        """The stub, as a learner gets it: its docstring in the language asked for."""
        source = self.stub.read_text(encoding="utf-8")
        if language == "en":
            return source
        end = index_of_file(self.stub).tree.body[0].end_lineno
        return f'"""{self.words(language)["task"].strip()}\n"""\n' + "".join(source.splitlines(keepends=True)[end:])

    def needs(self) -> list[str]:
        """The functions and classes of the stub: what the cases use of them, an answer must define."""
        return [
            node.name for node in index_of_file(self.stub).tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]

    def complete(self) -> set[str]:
        """The functions of the stub that are written already; none where the task is to find a mistake in the file."""
        functions = index_of_file(self.stub).find(ast.FunctionDef)
        empty = {node.name for node in functions if "NotImplementedError" in ast.unparse(node)}
        return {node.name for node in functions} - empty if empty else set()

    def questions(self, seed: int) -> list[Case]:
        """The cases, with numbers of a learner's own."""
        return list(self.cases(ShortNumbers(np.random.PCG64([seed, *self.number]))))


class ShortNumbers(np.random.Generator):
    """Numbers of three decimals: what a learner is shown can be typed in and tried."""

    def normal(self, *args: Any, **keywords: Any) -> Any:
        return np.round(super().normal(*args, **keywords), 3)

    def uniform(self, *args: Any, **keywords: Any) -> Any:
        return np.round(super().uniform(*args, **keywords), 3)


_found: dict[tuple[int, int], Task] = {}


def task(file: str, *, by_hand: bool = False) -> Callable[[Callable[[np.random.Generator], Iterator[Case]]], Task]:
    """Makes a task of a function that yields its cases. ``file`` is named ``<lesson>_<number>_<name>.py``."""

    def make(cases: Callable[[np.random.Generator], Iterator[Case]]) -> Task:
        lesson, number, _ = file.split("_", 2)
        made = Task((int(lesson), int(number)), file, cases, by_hand)
        _found[made.number] = made
        return made

    return make


def tasks() -> list[Task]:
    """All tasks, in the order of the lessons."""
    for lesson in ORDER:
        import_module(f"minigrad.learn.lessons.lesson{lesson:02}")
    return [_found[number] for number in sorted(_found, key=lambda number: (ORDER.index(number[0]), number[1]))]


def find(label: str) -> Task:
    """The task called ``5.2``, or by its file."""
    for one in tasks():
        if label in (one.label, one.file, one.file.removesuffix(".py")) or Path(label).name == one.file:
            return one
    raise ArgumentError(f"there is no task '{label}': they are called {', '.join(one.label for one in tasks())}")


def folder() -> Path:
    """The exercises: inside of the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for place in (package / "exercises", package.parent / "exercises"):
        if (place / "stubs").is_dir():
            return place
    raise ArgumentError(f"the exercises are missing: no folder {package / 'exercises'}; install minigrad again")


@cache
def _words(language: str) -> dict[str, Any]:
    return tomllib.loads((folder() / f"words_{language}.toml").read_text(encoding="utf-8"))


@cache
def sentences(language: str) -> dict[str, Any]:
    """What is said of answers; and under "numpy" NumPy's messages about arrays that do not fit each other."""
    texts: dict[str, Any] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
    return texts[language]


def say(language: str, key: str, **facts: Any) -> str:
    text: str = sentences(language)[key]
    return text.format(**facts)


def named(name: str, language: str) -> str:
    """The name of a part of the result, in the learner's language: names of variables stay as they are."""
    start, _, rest = name.partition("gradient of ")
    if rest and not start:
        return say(language, "gradient_of", name=rest)
    first, bracket, index = name.partition("[")
    return sentences(language)["names"].get(first, first) + bracket + index


def lessons(language: str) -> dict[int, str]:
    """The titles of the lessons."""
    return {int(number): title for number, title in _words(language)["lessons"].items()}
