"""Reads a lesson for ``explain(..., lesson=...)``: the texts, stops and questions of the page.

A lesson is a dict, or a JSON file of the same form. Only ``title`` is required. A text is a string, or a dict with one for
each language: ``{"en": "...", "ja": "..."}``. A blank line begins a paragraph. Text between backquotes is shown as code.

    {"title": TEXT,
     "intro": TEXT,                 # the first text
     "program": ["line", ...],      # the program of the lesson; ``lesson_program`` returns it as one text
     "steps": [{"at": PLACE,
                "text": TEXT,       # shown from this step to the next entry; after a question that hides the step's result
                "stop": true,       # "Next stop" and playing stop here; they also stop at every question
                "question": {"kind": "edge"}       # which edge is next? ``at`` is the step that goes along it
                          | {"kind": "value"}      # what is the result of this backward step? The page hides it
                          | {"kind": "choice", "text": TEXT,
                             "hides": true,        # the page hides the step's result, which would answer the question
                             "choices": [{"text": TEXT, "right": true, "feedback": TEXT}, ...]}}]}

The questions "edge" and "value" also take a "text", which replaces the page's words. Two entries at one step are merged.

A PLACE is the number of a step on the page (0 is before the first step), or words with the names on the page. Words are
better, because they stay valid after a change of the program:

    "start", "backward" (all values are known, and only the loss has a gradient), "end"
    "forward of u"        u is computed
    "backward of u"       the rule of the operation that made u is applied, for the first of its operands
    "backward of u to w"  the same for the operand w
    "gradient of w"       the last contribution to the gradient of w arrives
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ...errors import ArgumentError
from .html import LANGUAGES

KINDS = ("edge", "value", "choice")
MOST_ASKED = 300  # elements of an array that a question is about
NAMED = "'forward of NAME', 'backward of NAME', 'backward of NAME to OPERAND', or 'gradient of NAME'"
WHERE = f"a number, 'start', 'backward', 'end', {NAMED}"


def lessons() -> list[str]:
    """Return the names of the lessons in minigrad that have a program.

    (The folder also has the texts for the pages of examples/lessons: ``course/01_open`` and so on.)
    """
    files = _shipped("").iterdir()
    return sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json"))


def _shipped(path: str) -> Any:
    return resources.files(__package__).joinpath("lessons", *path.split("/"))


def lesson_program(name: str) -> str:
    """Return the program of a lesson of minigrad. It defines ``loss``."""
    program = _read(name).get("program")
    if program is None:
        raise ArgumentError(f"lesson {name!r} has no 'program': its program is in examples/lessons")
    return "\n".join(program) + "\n"


def validated(lesson: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lesson in the form of the page: places are numbers of steps, and texts are ``{"en": ..., "ja": ...}``.

    Args:
        lesson: a dict, the path of a JSON file, or the name of a lesson of minigrad.
        data: the data of the page: its ``nodes`` with their names, its ``edges`` and ``steps``.

    Raises:
        ArgumentError: a field is unknown, missing or of a wrong type, or a place does not exist in this program.
    """
    found = _fields(_read(lesson), "lesson", "lesson")
    if found["title"] is None:
        raise ArgumentError("lesson needs a 'title': a text")
    places = _StepNames(data)
    steps = [_step(step, f"lesson.steps[{i}]", places) for i, step in enumerate(found["steps"])]
    return {"title": found["title"], "intro": found["intro"], "steps": _merged(steps)}


def _merged(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps in the order of the page. Entries at the same step ("end", and the last gradient) are merged."""
    found: dict[int, dict[str, Any]] = {}
    for i, step in enumerate(steps):
        before = found.setdefault(step["at"], step)
        if before is step:
            continue
        if before["question"] and step["question"]:
            raise ArgumentError(f"lesson.steps[{i}] asks at step {step['at']}, which has another question")
        texts = [text for text in (before["text"], step["text"]) if text]
        joined = {language: "\n\n".join(text[language] for text in texts) for language in LANGUAGES} if texts else None
        stop, question = before["stop"] or step["stop"], before["question"] or step["question"]
        found[step["at"]] = {"at": step["at"], "text": joined, "stop": stop, "question": question}
    return [found[at] for at in sorted(found)]


# Reading


def _read(lesson: Any) -> Any:
    if isinstance(lesson, Mapping):
        return lesson
    if not isinstance(lesson, str | os.PathLike):
        raise ArgumentError(f"lesson takes a dict, the path of a JSON file, or a name, got {type(lesson).__name__}")
    named = isinstance(lesson, str) and not lesson.endswith(".json")
    file = _shipped(f"{lesson}.json") if named else Path(lesson)
    if named and not file.is_file():
        raise ArgumentError(
            f"lesson={lesson!r} is not a lesson of minigrad{_instead(str(lesson), lessons())}; a file's name ends in .json"
        )
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"lesson={os.fspath(lesson)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"lesson={os.fspath(lesson)!r} is not JSON in UTF-8: {error}") from None


def _instead(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message: the names that were probably meant, or some of the existing names."""
    there = list(dict.fromkeys(names))
    near = difflib.get_close_matches(name, there, 3)
    if near:
        return f": did you mean {' or '.join(map(repr, near))}?"
    some = ", ".join(map(repr, there[:8])) + (", ..." if len(there) > 8 else "")
    return f": there are {some}" if there else ""


# The fields


def _fields(value: Any, where: str, kind: str) -> dict[str, Any]:
    """Return the fields of a dict, read; raise if it is none, or has a field that this kind has not."""
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{where} takes a dict with {_listed(FIELDS[kind])}, got {value!r:.60}")
    for name in value:
        if name not in FIELDS[kind]:
            raise ArgumentError(f"{where} has no field {name!r}{_instead(str(name), FIELDS[kind])}")
    return {name: read(value.get(name), f"{where}.{name}") for name, read in FIELDS[kind].items()}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple | None):
        raise ArgumentError(f"{where} takes a list, got {value!r:.60}")
    return list(value or ())


def _lines(value: Any, where: str) -> list[str]:
    if not isinstance(value, list | tuple | None) or not all(isinstance(line, str) for line in value or ()):
        raise ArgumentError(f"{where} takes a list of lines, got {value!r:.60}")
    return list(value or ())


def _text(value: Any, where: str) -> dict[str, str] | None:
    """Return a text in all languages. A missing language gets the text of another."""
    if value is None:
        return None
    texts = dict.fromkeys(LANGUAGES, value) if isinstance(value, str) else value
    if not isinstance(texts, Mapping) or not texts:
        raise ArgumentError(f"{where} takes a string, or a dict with {_listed(LANGUAGES)}, got {value!r:.60}")
    for language, text in texts.items():
        if language not in LANGUAGES:
            raise ArgumentError(f"{where} has the language {language!r}: the page has {_listed(LANGUAGES)}")
        if not isinstance(text, str) or not text.strip():
            raise ArgumentError(f"{where}.{language} takes a text, got {text!r:.60}")
    any_text = next(iter(texts.values()))
    return {language: texts.get(language, any_text) for language in LANGUAGES}


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool | None):
        raise ArgumentError(f"{where} takes true or false, got {value!r:.60}")
    return bool(value)


def _later(value: Any, _: str) -> Any:  # what depends on the program is read afterwards
    return value


FIELDS: dict[str, dict[str, Callable[[Any, str], Any]]] = {
    "lesson": {"title": _text, "intro": _text, "program": _lines, "steps": _list},
    "step": {"at": _later, "text": _text, "stop": _flag, "question": _later},
    "question": {"kind": _later, "text": _text, "hides": _flag, "choices": _list},
    "choice": {"text": _text, "right": _flag, "feedback": _text},
}


def _step(value: Any, where: str, places: _StepNames) -> dict[str, Any]:
    step = _fields(value, where, "step")
    if "at" not in value:
        raise ArgumentError(f"{where} needs 'at', the step of this entry: {WHERE}")
    if len(value) == 1:
        raise ArgumentError(f"{where} is empty: give it 'text', 'stop': true or a 'question'")
    at = places.step(step["at"], f"{where}.at")
    asked = step["question"]
    question = None if asked is None else _question(asked, f"{where}.question", at, places)
    return step | {"at": at, "question": question}


def _question(value: Any, where: str, at: int, places: _StepNames) -> dict[str, Any]:
    question = _fields(value, where, "question")
    kind = question["kind"]
    if kind not in KINDS:
        raise ArgumentError(f"{where}.kind takes {_listed(KINDS)}, got {kind!r}")
    if kind != "choice" and question["choices"]:
        raise ArgumentError(f"{where}.choices is only for the kind 'choice', got {kind!r}")
    if question["hides"] and (kind != "choice" or not at):
        raise ArgumentError(f"{where}.hides is only for the kind 'choice' at a step, got {kind!r} at {at}")
    if kind == "edge" and not places.is_product(at):
        raise ArgumentError(
            f"{where} asks for the next edge, but step {at} applies no rule: put it at a 'backward of NAME'"
        )
    if kind == "value" and places.asked(at) is None:
        raise ArgumentError(
            f"{where} asks for a value, but step {at} is not a backward step, or its result has too many elements"
        )
    if kind != "choice":
        return question
    if question["text"] is None:
        raise ArgumentError(f"{where} needs a 'text' with the question")
    return question | {"choices": _choices(question["choices"], where)}


def _choices(values: list[Any], where: str) -> list[dict[str, Any]]:
    found = [_fields(value, f"{where}.choices[{i}]", "choice") for i, value in enumerate(values)]
    for i, choice in enumerate(found):
        if choice["text"] is None:
            raise ArgumentError(f"{where}.choices[{i}] needs a 'text'")
    right = sum(choice["right"] for choice in found)
    if len(found) < 2 or right != 1:
        raise ArgumentError(
            f"{where}.choices takes two or more, one of them with 'right': true; got {len(found)}, of which {right} are right"
        )
    return found


class _StepNames:
    """The steps of a program, by the names on its page."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.edges = data["edges"]
        self.nodes = data["nodes"]
        self.steps = [(kind, number) for kind, number in data["steps"]]
        self.names = [str(node["name"]) for node in self.nodes]
        self.numbers: dict[str, int] = {}
        for number, name in enumerate(self.names):
            self.numbers.setdefault(_squeezed(name), number)
        self.numbers.setdefault("loss", data["end"][0])

    def is_product(self, at: int) -> bool:
        return at > 0 and self.steps[at - 1][0] == "product"

    def asked(self, at: int) -> Any:
        """Return the elements of a step's result; None if the page cannot ask for it."""
        kind, number = self.steps[at - 1] if at else ("forward", 0)
        array = None if kind == "forward" else self.edges[number]["raw" if kind == "product" else "amount"]
        values = array.get("values") if array else None
        return None if values is None or len(values) > MOST_ASKED else values

    def step(self, place: Any, where: str) -> int:
        """Return the number of the step at a place."""
        most = len(self.steps)
        if isinstance(place, bool) or not isinstance(place, int | str):
            raise ArgumentError(f"{where} takes {WHERE}, got {place!r:.60}")
        if isinstance(place, int):
            if not 0 <= place <= most:
                raise ArgumentError(f"{where} is {place}: this program's steps go from 0 to {most}")
            return place
        fixed = {"start": 0, "end": most, "backward": sum(kind == "forward" for kind, _ in self.steps)}
        if place in fixed:
            return fixed[place]
        kind, found, name = place.partition(" of ")
        finder = {"forward": self._forward, "backward": self._backward, "gradient": self._gradient}.get(kind)
        if not found or finder is None:
            raise ArgumentError(f"{where} takes {WHERE}, got {place!r:.60}")
        return finder(name, where)

    def _node(self, name: str, where: str) -> int:
        number = self.numbers.get(_squeezed(name))
        if number is None:
            raise ArgumentError(f"{where} names {name!r}, which this program does not have{_instead(name, self.names)}")
        return number

    def _forward(self, name: str, where: str) -> int:
        node = self._node(name, where)
        if ("forward", node) not in self.steps:
            raise ArgumentError(f"{where}: no step computes {name!r}, because it is a leaf: use 'gradient of {name}'")
        return self.steps.index(("forward", node)) + 1

    def _backward(self, name: str, where: str) -> int:
        operand = None
        for cut in [i for i in range(len(name)) if name.startswith(" to ", i)]:
            if _squeezed(name) not in self.numbers and _squeezed(name[:cut]) in self.numbers:
                name, operand = name[:cut], self._node(name[cut + 4 :], where)
                break
        node = self._node(name, where)
        operands = []
        for i, (kind, number) in enumerate(self.steps):
            if kind == "product" and self.edges[number]["target"] == node:
                if operand in (None, self.edges[number]["source"]):
                    return i + 1
                operands.append(self.names[self.edges[number]["source"]])
        if operands and operand is not None:
            raise ArgumentError(
                f"{where}: no step goes from {name!r} to {self.names[operand]!r}{_instead(self.names[operand], operands)}"
            )
        raise ArgumentError(f"{where}: no step applies a rule of {name!r}: it is a leaf, or no gradient arrives at it")

    def _gradient(self, name: str, where: str) -> int:
        node = self._node(name, where)
        for at, (kind, edge) in reversed(list(enumerate(self.steps, 1))):
            if kind != "forward" and self.edges[edge]["source"] == node:
                return at
        raise ArgumentError(f"{where}: no step adds to the gradient of {name!r}")


def _squeezed(name: str) -> str:
    return "".join(name.split())
