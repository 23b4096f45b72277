"""A page where it is read: as a file, inside another page, or in a notebook."""

from __future__ import annotations

import html
from pathlib import Path

MOST_INLINE = 20_000_000  # characters that a notebook keeps for one page
HEIGHT = 720
_Path = type(Path())  # before Python 3.12, Path itself cannot be derived from


class Page(_Path):  # type: ignore[misc, valid-type]
    """The path of a page. In Jupyter it shows the page itself, also where no server can be reached."""

    __slots__ = ()

    def iframe(self, src: str | None = None, *, height: int = HEIGHT) -> str:
        """HTML that shows the page inside another.

        Args:
            src: where the page will lie, as the other page names it; without, the page itself is put into the text.
            height: in pixels.
        """
        what, text = ("srcdoc", self.read_text(encoding="utf-8")) if src is None else ("src", src)
        return (
            f'<iframe {what}="{html.escape(text)}" title="{html.escape(self.stem)}" width="100%" height="{height}" '
            'sandbox="allow-scripts allow-modals"></iframe>'
        )

    def _repr_html_(self) -> str | None:
        """None where there is nothing to show: the path then prints as paths do."""
        try:
            if self.suffix.lower() not in (".html", ".htm") or not self.is_file():
                return None
            if self.stat().st_size > MOST_INLINE:
                return f"<p>{html.escape(self.name)} is too large to be shown here: open the file in a browser.</p>"
            return self.iframe()
        except OSError:
            return None
