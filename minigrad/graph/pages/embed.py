"""Shows a page, given its path, inside another page or in a notebook."""

from __future__ import annotations

import html
from pathlib import Path

MOST_INLINE = 20_000_000  # bytes of the largest page that a notebook shows
HEIGHT = 720
_Path = type(Path())  # before Python 3.12, Path itself cannot be subclassed


class Page(_Path):  # type: ignore[misc, valid-type]
    """The path of a page. Jupyter shows the page itself, and needs no server for it."""

    __slots__ = ()

    def iframe(self, src: str | None = None, *, height: int = HEIGHT) -> str:
        """Return HTML that shows the page inside another page.

        Args:
            src: the address under which the other page finds this page. By default the HTML contains the whole page.
            height: the height in pixels.
        """
        what, text = ("srcdoc", self.read_text(encoding="utf-8")) if src is None else ("src", src)
        return (
            f'<iframe {what}="{html.escape(text)}" title="{html.escape(self.stem)}" width="100%" height="{height}" '
            'sandbox="allow-scripts allow-modals"></iframe>'
        )

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook, or None if there is no page. Then the notebook prints the path."""
        try:
            if self.suffix.lower() not in (".html", ".htm") or not self.is_file():
                return None
            if self.stat().st_size > MOST_INLINE:
                return f"<p>{html.escape(self.name)} is too large to be shown here: open the file in a browser.</p>"
            return self.iframe()
        except OSError:
            return None
