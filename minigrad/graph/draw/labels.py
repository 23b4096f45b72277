"""Labels of nodes as blocks: lines of text and tables, measured without a font, and written as SVG."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from .layered import text_width

FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"  # as wide as was measured, where there is one of the first two
BOLD = 1.13  # as wide as regular letters
LINE = 1.25  # of the size
SLACK = 4.0  # around a text, which it may use up
WIDEST = 0.62  # em, of every letter of a typewriter's font, which stands in for a missing one


@dataclass(frozen=True)
class Letters:
    """How a piece of text looks."""

    size: float
    color: str = "black"
    bold: bool = False


@dataclass
class Lines:
    """Lines of text, centred; each is pieces of it."""

    lines: list[list[tuple[str, Letters]]]

    def size(self) -> tuple[float, float]:
        return max(map(_width, self.lines), default=0.0), sum(map(_height, self.lines))

    def svg(self, x: float, y: float, width: float, height: float) -> Iterator[str]:
        """The lines in the middle of a rectangle, whose left upper corner is given."""
        y += (height - self.size()[1]) / 2
        for line in self.lines:
            if line:
                yield _line(line, x + width / 2, y + 0.78 * _height(line), width)
            y += _height(line)


@dataclass
class Cell:
    """A cell of a table."""

    content: Lines | Table
    fill: str | None
    outline: str | None
    span: int
    padding: float
    left: bool


@dataclass
class Table:
    """Rows of cells; a row fills the table's width."""

    rows: list[list[Cell]]
    spacing: float

    def size(self) -> tuple[float, float]:
        widths, heights = self._columns(), self._heights()
        return (
            sum(widths) + self.spacing * (len(widths) + 1),
            sum(heights) + self.spacing * (len(heights) + 1),
        )

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
                inner = cell.content.size()[0] if cell.left else room - 2 * cell.padding
                yield from cell.content.svg(left + cell.padding, y, inner, tall)
                left, column = left + room + self.spacing, column + span
            y += tall + self.spacing

    def _heights(self) -> list[float]:
        return [max(cell.content.size()[1] + 2 * cell.padding for cell in row) for row in self.rows]

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
                        needed = cell.content.size()[0] + 2 * cell.padding - self.spacing * (len(columns) - 1)
                        more = max(0.0, needed - sum(widths[c] for c in columns)) / len(columns)
                        for c in columns:
                            widths[c] += more
        return widths


Block = Lines | Table


def read_label(label: str, letters: Letters) -> Block:
    """The block that Graphviz' HTML-like label describes."""
    return _block(ElementTree.fromstring(f"<LABEL>{label}</LABEL>"), letters)


def _block(element: ElementTree.Element, letters: Letters) -> Block:
    table = element.find("TABLE")
    if table is not None:
        return _table(table, letters)
    lines: list[list[tuple[str, Letters]]] = [[]]
    _read(element, letters, lines)
    return Lines([line for line in lines if line] or [[]])


def _read(element: ElementTree.Element, letters: Letters, lines: list[list[tuple[str, Letters]]]) -> None:
    if element.text:
        lines[-1].append((element.text.replace(r"\\", "\\"), letters))
    for child in element:
        if child.tag == "BR":
            lines.append([])
        elif child.tag == "B":
            _read(child, Letters(letters.size, letters.color, True), lines)
        else:
            size, color = float(child.get("POINT-SIZE", letters.size)), child.get("COLOR", letters.color)
            _read(child, Letters(size, color, letters.bold), lines)
        if child.tail:
            lines[-1].append((child.tail.replace(r"\\", "\\"), letters))


def _table(element: ElementTree.Element, letters: Letters) -> Table:
    rows = [[_cell(cell, element, letters) for cell in row.findall("TD")] for row in element.findall("TR")]
    return Table(rows, float(element.get("CELLSPACING", 2)))


def _cell(cell: ElementTree.Element, table: ElementTree.Element, letters: Letters) -> Cell:
    bordered = int(cell.get("BORDER", table.get("CELLBORDER", table.get("BORDER", 1)))) > 0
    return Cell(
        _block(cell, letters),
        cell.get("BGCOLOR"),
        cell.get("COLOR", "black") if bordered else None,
        int(cell.get("COLSPAN", 1)),
        float(table.get("CELLPADDING", 2)) + 2 * (bordered or cell.get("BGCOLOR") is not None),
        cell.get("ALIGN") == "LEFT",
    )


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
