"""Write HTML tables, which notebooks show for objects with a ``_repr_html_``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], most: int = 12) -> str:
    """Return a table as HTML, with at most ``most`` rows, the first and the last; the notebook's theme styles it."""
    cut = len(rows) > most
    shown = [*rows[: most // 2], ["…"] * len(header), *rows[-(most // 2) :]] if cut else rows
    lines = [_row("th", header), *(_row("td", row) for row in shown)]
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
