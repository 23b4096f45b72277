"""Writes the labels of a picture as Graphviz reads them, and estimates how large they will be."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

SMALL = 9  # the size of the small text next to a name or below it, in points
TITLE, LINE = 12.0, 12.0  # about the size of the letters of a title, which are bold, and the height of a line

# The widths of the characters of DejaVu Sans and Verdana in 1/100 em. Most fonts are narrower.
_ADVANCES = {
    30: " 'IJijl", 37: ",./:;\\|", 42: "!()-[]ft·", 48: "r", 52: '"*_`', 56: "?cszv", 60: "FLkxy",
    64: "0123456789EPSTYabdeghnopqu${}∂∇", 70: "ABCKRVXZαβγ", 76: "NU", 80: "&DGHOQ", 85: "#+<=>^w~×→←−∞", 90: "M",
    96: "%", 101: "@Wm…",
}  # fmt: skip
_ADVANCE = {character: advance / 100 for advance, characters in _ADVANCES.items() for character in characters}


def text(words: str, bold: bool = False) -> str:
    """Return a piece of a line, whose size is that of the box's other letters; "" for an empty one."""
    return f"<B>{escaped(words)}</B>" if bold and words else escaped(words)


def small(words: str, color: str = "") -> str:
    """Return small letters. Line breaks stay."""
    lines = stacked(text(plain(line)) for line in words.split("\n"))
    if not lines:
        return ""
    written = f'<FONT POINT-SIZE="{SMALL}">{lines}</FONT>'
    return f'<FONT COLOR="{color}">{written}</FONT>' if color else written


def stacked(lines: Iterable[str]) -> str:
    """Return lines one below the other, without the empty ones."""
    return "<BR/>".join(filter(None, lines))


def cell(content: str, fill: str | None = None, outline: str | None = None, *, span: int = 1) -> str:
    """Return a cell of a table, ``span`` columns wide."""
    look = f' COLSPAN="{span}"' if span > 1 else ""
    look += f' BORDER="1" COLOR="{outline}"' if outline else ""
    look += f' BGCOLOR="{fill}"' if fill else ""
    return f"<TD{look}>{content}</TD>"


def table(rows: Iterable[Iterable[str]], *, spacing: int = 0, padding: int = 2) -> str:
    """Return rows of cells. ``padding`` is the distance between a cell's border and its content."""
    written = "".join(f"<TR>{''.join(row)}</TR>" for row in rows)
    return f'<TABLE BORDER="0" CELLSPACING="{spacing}" CELLPADDING="{padding}">{written}</TABLE>'


def table_of(lines: Iterable[str], rows: Sequence[Sequence[str]], color: str | None) -> str:
    """Return the lines of a label above rows of cells. The last cell of a row is coloured."""
    width = max(map(len, rows))
    outline = "#8a8a8a" if width > 1 else None
    below = [
        [*(cell(small(words), None, outline) for words in row[:-1]), cell(small(row[-1]), color, outline)]
        for row in rows
    ]
    return table([[cell(stacked(lines), span=width)], *below], padding=1)


def legend_table(legend: Iterable[Iterable[tuple[str, str | None]]]) -> str:
    """Return rows of coloured cells."""
    return table(([cell(small(words), color) for words, color in row] for row in legend), spacing=2, padding=3)


def size(label: str) -> tuple[float, float]:
    """Return about the width and the height of a label in points."""
    width = height = 0.0
    for row in label.removesuffix("</TR></TABLE>").split("</TR>"):
        cells = [cell.split("<BR/>") for cell in row.split("</TD>")]
        width = max(width, sum(max(map(_line_width, lines)) for lines in cells))
        height += LINE * max(map(len, cells))
    return width, height


def _line_width(line: str) -> float:
    return text_width(html.unescape(re.sub("<[^>]*>", "", line)), TITLE if "<B>" in line else SMALL)


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
