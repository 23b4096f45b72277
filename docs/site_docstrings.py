"""The sections of docstrings that napoleon does not know, in reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

SECTIONS = ("Calling it", "Raises (when called)")
_ITEM = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*): (.*)")


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _process, priority=400)  # before napoleon


def _process(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    lines[:] = opened(lines)


def opened(lines: Sequence[str]) -> list[str]:
    """The docstring with each of the sections as a rubric, its items as a list and its sentences as paragraphs."""
    result: list[str] = []
    inside = False
    for line in lines:
        if line and not line.startswith(" "):
            inside = line.removesuffix(":") in SECTIONS and line.endswith(":")
            result += [f".. rubric:: {line.removesuffix(':')}", ""] if inside else [line]
        else:
            result += _shown(line) if inside else [line]
    return result


def _shown(line: str) -> Iterator[str]:
    """A line of such a section: the name of an item stands out, what belongs to it stays under it."""
    text = line[4:]
    if item := _ITEM.fullmatch(text):
        names = ", ".join(f"``{name}``" for name in item[1].split(", "))
        yield from ("", f"* {names}: {item[2]}")
    else:
        yield f"{text[2:]}" if text.startswith("    ") else text
