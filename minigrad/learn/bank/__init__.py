"""The bank of mistakes: for each task, wrong programs made from the right one, each with the name of what is wrong."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from minigrad.learn.tasks import Task, find
from minigrad.source.index import index_of_file

from .mutating import slips


@dataclass(frozen=True)
class Mutant:
    """A wrong program. Where two fit and have different names, one that was ``written`` for the task is the closer one."""

    name: str
    of: str
    source: str
    written: bool


@cache
def mutants(label: str) -> tuple[Mutant, ...]:
    """All mutants of a task: those of mutants.toml, and those that a slip anywhere in the solution makes."""
    task = find(label)
    source = task.solution.read_text(encoding="utf-8")
    found = {f"{name}: {text}": Mutant(name, of, text, True) for name, of, text in _written(label, source)}
    for title, text in slips(source, _given(task)):
        name, _, of = title.partition(":")
        found.setdefault(f"{name}: {text}", Mutant(name, of, text, False))
    return tuple(found.values())


def _written(label: str, source: str) -> Iterator[tuple[str, str, str]]:
    for title, *changes in _changes(label):
        name, _, of = title.partition(":")
        text = _changed(source, changes)
        assert text is not None, f"{label}, {name}: the solution has not all of {changes[::2]}"
        yield name, of, text


def _changes(label: str) -> list[list[str]]:
    found: list[list[str]] = _toml("mutants.toml").get(label, {}).get("mutants", [])
    return found


def _changed(text: str, changes: list[str]) -> str | None:
    """The text with another one for each old one, or None where an old one is not in it."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if old not in text:
            return None
        text = text.replace(old, new)
    return text


def pairs(label: str) -> Iterator[tuple[str, str, str]]:
    """The programs with two of the mistakes that were written for a task, at places apart: both titles, and the program."""
    source = find(label).solution.read_text(encoding="utf-8")
    once = [(title, changes, _changed(source, changes) or "") for title, *changes in _changes(label)]
    for (one, first, text), (other, second, another) in combinations(once, 2):
        both = _changed(text, second) if one != other else None
        if both and both == _changed(another, first):
            yield one, other, both


def further(one: Mutant, label: str) -> Iterator[tuple[str, str, str]]:
    """The programs with a slip beside the mistake of a mutant: both titles, and the program."""
    for title, text in slips(one.source, _given(find(label))):
        yield f"{one.name}:{one.of}", title, text


def _given(task: Task) -> set[str]:
    """Return the names of the stub's complete functions, or none if the task is to fix the whole file."""
    functions = index_of_file(task.stub).find(ast.FunctionDef)
    empty = {node.name for node in functions if "NotImplementedError" in ast.unparse(node)}
    return {node.name for node in functions} - empty if empty else set()


def sentence(name: str, of: str, language: str) -> str:
    """What a learner reads of a mistake."""
    words = _toml("mistakes.toml")[name]
    text: str = words[language]
    return text + words["of"][language].format(of=of) if of and "of" in words else text


def place(label: str, name: str, of: str) -> str | None:
    """The step of the task's program (``Case.forward``) to which a mistake belongs, where mutants.toml says one."""
    places: dict[str, list[str]] = _toml("mutants.toml").get(label, {}).get("places", {})
    return next((at for at, titles in places.items() if f"{name}:{of}" in titles or name in titles), None)


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
