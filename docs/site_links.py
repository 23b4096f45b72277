"""Every link inside the built site: its file is there, and so is its place in that file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The places of a page that can be linked to, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value and tag != "use":
                self.links.append(value)


@cache
def _read(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def setup(app: Any) -> None:
    app.connect("build-finished", _finished)


def _finished(app: Any, error: Exception | None) -> None:
    from sphinx.errors import SphinxError

    if error is None and app.builder.name == "html" and (found := list(broken(Path(app.outdir)))):
        raise SphinxError("links that lead nowhere:\n" + "\n".join(found))


def broken(folder: Path) -> Iterator[str]:
    """The links that lead nowhere, each with its page. Links to other sites are not looked at."""
    _read.cache_clear()
    for path in sorted(folder.rglob("*.html")):
        for link in _read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(folder)}: {link}: no such file"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _read(target).places:
                yield f"{path.relative_to(folder)}: {link}: no such place"
