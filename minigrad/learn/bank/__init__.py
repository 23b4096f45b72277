"""The bank of mistakes: for each task, wrong programs made from the right one, each with the name of what is wrong."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from minigrad.learn.tasks import find


@dataclass(frozen=True)
class Mutant:
    """A wrong program: the name of its mistake, what the message shows of it, and the program."""

    name: str
    of: str
    source: str


@cache
def mutants(label: str) -> tuple[Mutant, ...]:
    """The wrong programs of a task, as mutants.toml makes them from its solution."""
    found: dict[str, Mutant] = {}
    for title, *changes in _toml("mutants.toml").get(label, {}).get("mutants", []):
        name, _, of = title.partition(":")
        text = find(label).solution.read_text(encoding="utf-8")
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in text, f"{label}, {name}: the solution has no {old!r}"
            text = text.replace(old, new)
        found[f"{name}: {text}"] = Mutant(name, of, text)
    return tuple(found.values())


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
