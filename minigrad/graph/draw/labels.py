"""Measures labels of text lines and tables without a font, and writes them as SVG or as a DOT label."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .layered import text_width

FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"  # the measured widths are those of the first two
BOLD = 1.13  # the width of bold letters relative to regular ones
LINE = 1.25  # the height of a line relative to the font's size
SLACK = 4.0  # the space around a text, which a wider font may use
WIDEST = 0.62  # the width of a monospace letter in em; such a font may replace a missing one
SPACING = 2.0  # the distance between the cells of a table, which is Graphviz' default
SMALL = 9.0  # the size of the small text next to a name or below it, in points


@dataclass(frozen=True)
class Letters:
    """The look of a piece of text."""

    size: float = 11.0
    color: str = "black"
    bold: bool = False


Piece = tuple[str, Letters]
Size = tuple[float, float]


@dataclass
class Lines:
    """Centred lines of text. Each line is a list of pieces. A piece of several lines has a line to itself."""

    written: list[list[Piece]]

    @property
    def lines(self) -> Iterator[list[Piece]]:
        """Yield the lines as they are drawn."""
        for line in self.written:
            split = [[(part, letters) for part in text.split("\n")] for text, letters in line]
            yield from ([piece for piece in pieces if piece] for pieces in zip_longest(*split))

    def size(self) -> Size:
        return max(map(_width, self.lines), default=0.0), sum(map(_height, self.lines))

    def dot(self, base: Letters) -> str:
        """Return the lines as an HTML-like label of Graphviz, with tags for letters that differ from ``base``."""
        return "<BR/>".join("".join(_dot_piece(text, letters, base) for text, letters in line) for line in self.written)

    def svg(self, x: float, y: float, width: float, height: float) -> Iterator[str]:
        """Yield the lines in the middle of a rectangle with the upper left corner (x, y)."""
        y += (height - self.size()[1]) / 2
        for line in self.lines:
            if line:
                yield _line(line, x + width / 2, y + 0.78 * _height(line), width)
            y += _height(line)


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

    def size(self) -> Size:
        widths, heights = self._columns(), self._heights()
        wide, high = (sum(sizes) + self.spacing * (len(sizes) + 1) for sizes in (widths, heights))
        return wide, high

    def dot(self, base: Letters) -> str:
        """Return the table as an HTML-like label of Graphviz, with tags for letters that differ from ``base``."""
        rows = "".join(f"<TR>{''.join(cell.dot(base) for cell in row)}</TR>" for row in self.rows)
        spacing = "" if self.spacing == SPACING else f' CELLSPACING="{self.spacing:g}"'
        return f'<TABLE BORDER="0"{spacing} CELLPADDING="{self.padding:g}">{rows}</TABLE>'

    def svg(self, x: float, y: float, width: float, height: float) -> Iterator[str]:
        """Yield the cells. The columns share the extra width."""
        widths = self._columns()
        wide, high = self.size()
        more = max(0.0, width - wide) / len(widths) if len(self.rows) > 1 or len(widths) == 1 else 0.0
        y += (height - high) / 2 + self.spacing
        for row, tall in zip(self.rows, self._heights()):
            left, column = x + self.spacing, 0
            for cell in row:
                span = min(cell.span, len(widths) - column)
                room = sum(widths[column : column + span]) + more * span + self.spacing * (span - 1)
                if cell.fill or cell.outline:
                    look = f'fill="{cell.fill or "none"}" stroke="{cell.outline or "none"}"'
                    yield f'<rect {look} x="{left:.2f}" y="{y:.2f}" width="{room:.2f}" height="{tall:.2f}"/>'
                padding = self._padding(cell)
                inner = cell.content.size()[0] if cell.left else room - 2 * padding
                yield from cell.content.svg(left + padding, y, inner, tall)
                left, column = left + room + self.spacing, column + span
            y += tall + self.spacing

    def _padding(self, cell: Cell) -> float:
        """Return a cell's padding, with extra space between the text and a border or the edge of a colour."""
        return self.padding + 2 * bool(cell.outline or cell.fill)

    def _heights(self) -> list[float]:
        return [max(cell.content.size()[1] + 2 * self._padding(cell) for cell in row) for row in self.rows]

    def _columns(self) -> list[float]:
        """Return the width of each column's widest cell. A cell over several columns widens all of them equally."""
        count = max((sum(cell.span for cell in row) for row in self.rows), default=0)
        widths = [0.0] * count
        for spans in (False, True):
            for row in self.rows:
                column = 0
                for cell in row:
                    columns = range(column, min(column + cell.span, count))
                    column += cell.span
                    if (len(columns) > 1) == spans:
                        needed = cell.content.size()[0] + 2 * self._padding(cell) - self.spacing * (len(columns) - 1)
                        more = max(0.0, needed - sum(widths[c] for c in columns)) / len(columns)
                        for c in columns:
                            widths[c] += more
        return widths


Block = Lines | Table
Legend = list[list[tuple[str, str | None]]]  # rows of texts with their background colours


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


def _width(line: list[tuple[str, Letters]]) -> float:
    return sum(text_width(text, letters.size) * (BOLD if letters.bold else 1.0) for text, letters in line)


def _height(line: list[tuple[str, Letters]]) -> float:
    return LINE * max((letters.size for _, letters in line), default=0.0)


def _line(line: list[tuple[str, Letters]], x: float, y: float, room: float) -> str:
    """Return a line of text. Its length is fixed if a wide font would not fit."""
    size = line[0][1].size
    widest = sum(max(WIDEST * letters.size * len(text), text_width(text, letters.size)) for text, letters in line)
    fixed = f' textLength="{_width(line):.2f}" lengthAdjust="spacingAndGlyphs"' if widest > room + SLACK else ""
    parts = []
    for text, letters in line:
        look = f' font-size="{letters.size:g}"' if letters.size != size else ""
        look += ' font-weight="bold"' if letters.bold else ""
        look += f' fill="{html.escape(letters.color)}"' if letters.color != "black" else ""
        written = html.escape(text)
        parts.append(f"<tspan{look}>{written}</tspan>" if look else written)
    where = f'text-anchor="middle" x="{x:.2f}" y="{y:.2f}" font-size="{size:g}"'
    return f'<text xml:space="preserve" {where}{fixed}>{"".join(parts)}</text>'
