"""Defines the labels of a picture, lines of text and tables, and writes them for DOT. Estimates the widths of texts."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

SPACING = 2.0  # the distance between the cells of a table, which is Graphviz' default
SMALL = 9.0  # the size of the small text next to a name or below it, in points

# The widths of the characters of DejaVu Sans and Verdana in 1/100 em. Most fonts are narrower.
_ADVANCES = {
    30: " 'IJijl", 37: ",./:;\\|", 42: "!()-[]ft·", 48: "r", 52: '"*_`', 56: "?cszv", 60: "FLkxy",
    64: "0123456789EPSTYabdeghnopqu${}∂∇", 70: "ABCKRVXZαβγ", 76: "NU", 80: "&DGHOQ", 85: "#+<=>^w~×→←−∞", 90: "M",
    96: "%", 101: "@Wm…",
}  # fmt: skip
_ADVANCE = {character: advance / 100 for advance, characters in _ADVANCES.items() for character in characters}


@dataclass(frozen=True)
class Letters:
    """The look of a piece of text."""

    size: float = 11.0
    color: str = "black"
    bold: bool = False


Piece = tuple[str, Letters]


@dataclass
class Lines:
    """Centred lines of text. Each line is a list of pieces. A piece of several lines has a line to itself."""

    lines: list[list[Piece]]

    def dot(self, base: Letters) -> str:
        """Return the lines as an HTML-like label of Graphviz, with tags for letters that differ from ``base``."""
        return "<BR/>".join("".join(_dot_piece(text, letters, base) for text, letters in line) for line in self.lines)


@dataclass
class Cell:
    """A cell of a table. ``left`` aligns its content at the left instead of the centre."""

    content: Lines | Table
    fill: str | None = None
    outline: str | None = None
    span: int = 1
    left: bool = False

    def dot(self, base: Letters) -> str:
        look = f' COLSPAN="{self.span}"' if self.span > 1 else ""
        look += ' ALIGN="LEFT"' if self.left else ""
        look += f' BORDER="1" COLOR="{self.outline}"' if self.outline else ""
        look += f' BGCOLOR="{self.fill}"' if self.fill else ""
        return f"<TD{look}>{self.content.dot(base)}</TD>"


@dataclass
class Table:
    """Rows of cells. Each row fills the table's width.

    Attributes:
        spacing: the distance between cells.
        padding: the distance between a cell's border and its content.
    """

    rows: list[list[Cell]]
    spacing: float = SPACING
    padding: float = 2.0

    def dot(self, base: Letters) -> str:
        """Return the table as an HTML-like label of Graphviz, with tags for letters that differ from ``base``."""
        rows = "".join(f"<TR>{''.join(cell.dot(base) for cell in row)}</TR>" for row in self.rows)
        spacing = "" if self.spacing == SPACING else f' CELLSPACING="{self.spacing:g}"'
        return f'<TABLE BORDER="0"{spacing} CELLPADDING="{self.padding:g}">{rows}</TABLE>'


Block = Lines | Table
Legend = list[list[tuple[str, str | None]]]  # rows of texts with their background colours


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


def small(text: str, color: str = "black") -> list[Piece]:
    """Return a line of small letters; an empty list for an empty text. Line breaks stay."""
    return [("\n".join(map(plain, text.split("\n"))), Letters(SMALL, color))] if text else []


def plain(text: str) -> str:
    """Return the text on one line, without the characters that XML forbids (its production [2])."""
    if text.isprintable():  # the usual case
        return text
    text = re.sub(r"[\t\r\n]+", " ", text)
    return re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def escaped(text: str) -> str:
    """Return text for a DOT label. Backslashes are doubled, because Graphviz replaces \\N by the node's name."""
    return html.escape(text).replace("\\", r"\\")


def table_of(lines: Sequence[list[Piece]], rows: Sequence[Sequence[str]], color: str | None) -> Table:
    """Return the lines of a label above rows of cells. The last row is coloured."""
    width = max(map(len, rows))
    outline = "#8a8a8a" if width > 1 else None
    table = Table([[Cell(Lines([line for line in lines if line]), span=width)]], spacing=0.0, padding=1.0)
    for *first, last in rows:
        before = [Cell(Lines([small(text)]), outline=outline) for text in first]
        table.rows.append([*before, Cell(Lines([small(last)]), color, outline)])
    return table


def legend_table(legend: Legend) -> Table:
    """Return rows of coloured cells, each as wide as its text."""
    rows = ([Cell(Lines([small(text)]), color) for text, color in row] for row in legend)
    return Table([[Cell(Table([row], padding=3.0), left=True)] for row in rows], spacing=0.0)


def _dot_piece(text: str, letters: Letters, base: Letters) -> str:
    written = "<BR/>".join(map(escaped, text.split("\n")))
    if letters.bold:
        written = f"<B>{written}</B>"
    if letters.size != base.size:
        written = f'<FONT POINT-SIZE="{letters.size:g}">{written}</FONT>'
    return written if letters.color == base.color else f'<FONT COLOR="{letters.color}">{written}</FONT>'
