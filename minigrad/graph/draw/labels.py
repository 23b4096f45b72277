"""Labels as blocks: lines of text and tables, measured without a font, and written as SVG or as a label of DOT."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .layered import text_width

FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"  # as wide as was measured, where there is one of the first two
BOLD = 1.13  # as wide as regular letters
LINE = 1.25  # of the size
SLACK = 4.0  # around a text, which it may use up
WIDEST = 0.62  # em, of every letter of a typewriter's font, which stands in for a missing one


SPACING = 2.0  # between the cells of a table, in Graphviz if nothing else is said
SMALL = 9.0  # points, of what stands beside a name or below it


@dataclass(frozen=True)
class Letters:
    """How a piece of text looks."""

    size: float = 11.0
    color: str = "black"
    bold: bool = False


Piece = tuple[str, Letters]


@dataclass
class Lines:
    """Lines of text, centred; each is pieces of it. A piece of several lines stands in a line alone."""

    written: list[list[Piece]]

    @property
    def lines(self) -> Iterator[list[Piece]]:
        """The lines as they are drawn."""
        for line in self.written:
            split = [[(part, letters) for part in text.split("\n")] for text, letters in line]
            yield from ([piece for piece in pieces if piece] for pieces in zip_longest(*split))

    def size(self) -> tuple[float, float]:
        return max(map(_width, self.lines), default=0.0), sum(map(_height, self.lines))

    def dot(self, base: Letters) -> str:
        """The lines as Graphviz' HTML-like label, in which letters differ from ``base``."""
        return "<BR/>".join("".join(_dot_piece(text, letters, base) for text, letters in line) for line in self.written)

    def svg(self, x: float, y: float, width: float, height: float) -> Iterator[str]:
        """The lines in the middle of a rectangle, whose left upper corner is given."""
        y += (height - self.size()[1]) / 2
        for line in self.lines:
            if line:
                yield _line(line, x + width / 2, y + 0.78 * _height(line), width)
            y += _height(line)


@dataclass
class Cell:
    """A cell of a table; ``left`` says that it is not centred."""

    content: Lines | Table
    fill: str | None = None
    outline: str | None = None
    span: int = 1
    left: bool = False

    def dot(self, base: Letters) -> str:
        look = f' COLSPAN="{self.span}"' if self.span > 1 else ""
        look += f' BORDER="1" COLOR="{self.outline}"' if self.outline else ""
        look += f' BGCOLOR="{self.fill}"' if self.fill else ""
        return f"<TD{look}>{self.content.dot(base)}</TD>"


@dataclass
class Table:
    """Rows of cells; a row fills the table's width.

    Attributes:
        spacing: between cells.
        padding: of a cell, around what is in it.
    """

    rows: list[list[Cell]]
    spacing: float = SPACING
    padding: float = 2.0

    def size(self) -> tuple[float, float]:
        widths, heights = self._columns(), self._heights()
        return (
            sum(widths) + self.spacing * (len(widths) + 1),
            sum(heights) + self.spacing * (len(heights) + 1),
        )

    def dot(self, base: Letters) -> str:
        """The table as Graphviz' HTML-like label, in which letters differ from ``base``."""
        rows = "".join(f"<TR>{''.join(cell.dot(base) for cell in row)}</TR>" for row in self.rows)
        spacing = "" if self.spacing == SPACING else f' CELLSPACING="{self.spacing:g}"'
        return f'<TABLE BORDER="0"{spacing} CELLPADDING="{self.padding:g}">{rows}</TABLE>'

    def svg(self, x: float, y: float, width: float, height: float) -> Iterator[str]:
        """The cells, of which the columns share what is left of the width."""
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
        """A cell's, with room between the text and a border or the end of a colour."""
        return self.padding + 2 * bool(cell.outline or cell.fill)

    def _heights(self) -> list[float]:
        return [max(cell.content.size()[1] + 2 * self._padding(cell) for cell in row) for row in self.rows]

    def _columns(self) -> list[float]:
        """As wide as the widest cell in a column; what spans several makes the last of them wider."""
        count = max(sum(cell.span for cell in row) for row in self.rows)
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


Legend = list[list[tuple[str, str | None]]]  # rows of texts, with the colours they stand on


def small(text: str, color: str = "black") -> list[Piece]:
    """A line of small letters; none of no text. Its line breaks stay."""
    return [("\n".join(map(plain, text.split("\n"))), Letters(SMALL, color))] if text else []


def plain(text: str) -> str:
    """Text on one line, without the characters that XML forbids (its production [2])."""
    if text.isprintable():  # the most are
        return text
    text = re.sub(r"[\t\r\n]+", " ", text)
    return re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def escaped(text: str) -> str:
    """Text in a label of DOT. A backslash is doubled, for Graphviz puts the node's name in the place of \\N in any label."""
    return html.escape(text).replace("\\", r"\\")


def table_of(lines: Sequence[list[Piece]], rows: Sequence[Sequence[str]], color: str | None) -> Table:
    """The lines of a label above rows of cells, of which the last is coloured."""
    width = max(map(len, rows))
    outline = "#8a8a8a" if width > 1 else None
    table = Table([[Cell(Lines([line for line in lines if line]), span=width)]], spacing=0.0, padding=1.0)
    for *first, last in rows:
        before = [Cell(Lines([small(text)]), outline=outline) for text in first]
        table.rows.append([*before, Cell(Lines([small(last)]), color, outline)])
    return table


def legend_table(legend: Legend) -> Table:
    """Rows of coloured cells, each as wide as its texts."""
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
    """A line of text; its length is fixed where the letters of a wide font would not have room."""
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
