"""Chooses the parts of the user's program that a page shows, and finds each operation in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._source import SourceLine
from ...source.index import index_of

if TYPE_CHECKING:
    from ..record.model import Graph

MOST_LINES = 400  # lines of all parts together
LONGEST = 80  # lines of a function that is shown as a whole
CONTEXT = 4  # lines around an operation outside of such a function
LONGEST_LINE = 10_000  # characters of a line; the page shows four rows of a long one until it is the line of the step

Stretch = tuple[int, int]  # a part of a file: its first line and its last


def program(graph: Graph) -> tuple[list[dict[str, Any]], list[list[int] | None]]:
    """Return the parts, and for each node its span: ``[part, line, column, end line, end column]``, or None."""
    texts, sources = graph.programs, [node.source for node in graph.nodes]
    used: dict[str, dict[int, int]] = {}  # file -> line -> the first operation there
    for number, source in enumerate(sources):
        if source is not None and source.file in texts and 1 <= source.line <= len(texts[source.file]):
            used.setdefault(source.file, {}).setdefault(source.line, number)
    files: list[dict[str, Any]] = []
    place: dict[tuple[str, int], int] = {}  # file, line -> number of the part
    left = MOST_LINES
    for file, lines in used.items():
        for first, last in _stretches(file, texts[file], lines):
            last = min(last, first + left - 1)
            if last < first:
                break
            left -= last - first + 1
            place |= {(file, line): len(files) for line in range(first, last + 1)}
            shown = [line.rstrip("\n")[:LONGEST_LINE] for line in texts[file][first - 1 : last]]
            files.append({"name": os.path.basename(file), "first": first, "lines": shown})
    spans = [None if source is None else _span(source, place, texts) for source in sources]
    return files, spans


def _span(source: SourceLine, place: dict[tuple[str, int], int], texts: dict[str, list[str]]) -> list[int] | None:
    number = place.get((source.file, source.line))
    if number is None:
        return None
    column, last, end = source.column, source.end_line, source.end_column
    if column is None or last is None or end is None or place.get((source.file, last)) != number:
        text = texts[source.file][source.line - 1].rstrip()
        column, last, end = len(text) - len(text.lstrip()), source.line, len(text)
    return [number, source.line, column, last, end]


def _stretches(file: str, text: Sequence[str], used: dict[int, int]) -> list[Stretch]:
    """Return the parts of one file: the functions around the used lines, or some lines around them, in order."""
    functions = [(node.lineno, node.end_lineno) for node in index_of(file, text).functions]
    found = set()
    for line in used:
        around = [(a, b) for a, b in functions if a <= line <= b and b - a < LONGEST]
        found.add(min(around) if around else (max(1, line - CONTEXT), min(len(text), line + CONTEXT)))
    merged: list[Stretch] = []
    for first, last in sorted(found):
        if merged and first <= merged[-1][1] + 2:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return [_without_blank_ends(text, stretch) for stretch in merged]


def _without_blank_ends(text: Sequence[str], stretch: Stretch) -> Stretch:
    first, last = stretch
    while first < last and not text[first - 1].strip():
        first += 1
    while first < last and not text[last - 1].strip():
        last -= 1
    return first, last
