"""Writes the labels of a picture as Graphviz reads them, and estimates how large they will be."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

SMALL = 9.0  # the size of the small text next to a name or below it, in points
SPACING = 2.0  # the distance between the cells of a table, which is Graphviz' default

# What Graphviz adds to the texts.
LINE = 1.15  # the height of a line relative to its letters
BOLD = 1.12  # the width of bold letters relative to regular ones
CELL = 6.0, 4.0  # the width and height around the text of a cell, in points

# The widths of the characters of DejaVu Sans and Verdana in 1/100 em. Most fonts are narrower.
_ADVANCES = {
    30: " 'IJijl", 37: ",./:;\\|", 42: "!()-[]ft·", 48: "r", 52: '"*_`', 56: "?cszv", 60: "FLkxy",
    64: "0123456789EPSTYabdeghnopqu${}∂∇", 70: "ABCKRVXZαβγ", 76: "NU", 80: "&DGHOQ", 85: "#+<=>^w~×→←−∞", 90: "M",
    96: "%", 101: "@Wm…",
}  # fmt: skip
_ADVANCE = {character: advance / 100 for advance, characters in _ADVANCES.items() for character in characters}


class Label(NamedTuple):
    """A label, or a part of one.

    Attributes:
        dot: the text in Graphviz's HTML-like language; "" for an empty label.
        width, height: its estimated size in points.
    """

    dot: str = ""
    width: float = 0.0
    height: float = 0.0


def text(words: str, size: float = 11.0, bold: bool = False) -> Label:
    """Return a piece of a line, whose size is that of the box's other letters."""
    written = f"<B>{escaped(words)}</B>" if bold else escaped(words)
    return Label(written, text_width(words, size) * (BOLD if bold else 1.0), LINE * size) if words else Label()


def small(words: str, color: str = "") -> Label:
    """Return small letters. Line breaks stay."""
    lines = stacked(text(plain(line), SMALL) for line in words.split("\n"))
    if not lines.dot:
        return lines
    written = f'<FONT POINT-SIZE="{SMALL:g}">{lines.dot}</FONT>'
    return lines._replace(dot=f'<FONT COLOR="{color}">{written}</FONT>' if color else written)


def beside(pieces: Sequence[Label]) -> Label:
    """Return one line of several pieces."""
    height = max((piece.height for piece in pieces), default=0.0)
    return Label("".join(piece.dot for piece in pieces), sum(piece.width for piece in pieces), height)


def stacked(lines: Iterable[Label]) -> Label:
    """Return lines one below the other, without the empty ones."""
    lines = [line for line in lines if line.dot]
    width = max((line.width for line in lines), default=0.0)
    return Label("<BR/>".join(line.dot for line in lines), width, sum(line.height for line in lines))


def cell(
    content: Label, fill: str | None = None, outline: str | None = None, *, span: int = 1, left: bool = False
) -> Label:
    """Return a cell of a table. ``left`` aligns its content at the left instead of the centre."""
    look = f' COLSPAN="{span}"' if span > 1 else ""
    look += ' ALIGN="LEFT"' if left else ""
    look += f' BORDER="1" COLOR="{outline}"' if outline else ""
    look += f' BGCOLOR="{fill}"' if fill else ""
    return Label(f"<TD{look}>{content.dot}</TD>", content.width + CELL[0], content.height + CELL[1])


def table(rows: Sequence[Sequence[Label]], *, spacing: float = SPACING, padding: float = 2.0) -> Label:
    """Return rows of cells. ``padding`` is the distance between a cell's border and its content."""
    written = "".join(f"<TR>{''.join(each.dot for each in row)}</TR>" for row in rows)
    apart = "" if spacing == SPACING else f' CELLSPACING="{spacing:g}"'
    width = max(sum(each.width for each in row) for row in rows)
    height = sum(max(each.height for each in row) for row in rows)
    return Label(f'<TABLE BORDER="0"{apart} CELLPADDING="{padding:g}">{written}</TABLE>', width, height)


def table_of(lines: Iterable[Label], rows: Sequence[Sequence[str]], color: str | None) -> Label:
    """Return the lines of a label above rows of cells. The last cell of a row is coloured."""
    width = max(map(len, rows))
    outline = "#8a8a8a" if width > 1 else None
    below = [
        [*(cell(small(words), None, outline) for words in row[:-1]), cell(small(row[-1]), color, outline)]
        for row in rows
    ]
    return table([[cell(stacked(lines), span=width)], *below], spacing=0.0, padding=1.0)


def legend_table(legend: Iterable[Iterable[tuple[str, str | None]]]) -> Label:
    """Return rows of coloured cells, each as wide as its text."""
    rows = ([cell(small(words), color) for words, color in row] for row in legend)
    return table([[cell(table([row], padding=3.0), left=True)] for row in rows], spacing=0.0)


# Texts


def text_width(text: str, size: float) -> float:
    """Return an upper estimate of a line's width in a sans font of this size. The reader's font is not known."""
    return size * sum(_ADVANCE.get(c) or (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.9) for c in text)


def cut(text: str, room: float) -> str:
    """Return the beginning of a text that fits into ``room`` em, with an ellipsis, and the round of its loops.

    The round (" · t=3") stays if at least half of the room is left. The page's ``cut`` has the same rule.
    """
    if text_width(text, 1) <= room:
        return text
    at = text.rfind(" · ")
    place = text[at:] if at > 0 and text_width(text[at:], 1) < room / 2 else ""
    count = len(text) - len(place)
    while count and text_width(f"{text[:count]}…{place}", 1) > room:
        count -= 1
    return f"{text[:count].rstrip()}…{place}"


def plain(text: str) -> str:
    """Return the text on one line, without the characters that XML forbids (its production [2])."""
    if text.isprintable():  # the usual case
        return text
    text = re.sub(r"[\t\r\n]+", " ", text)
    return re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def escaped(text: str) -> str:
    """Return text for a DOT label. Backslashes are doubled, because Graphviz replaces \\N by the node's name."""
    return html.escape(text).replace("\\", r"\\")
