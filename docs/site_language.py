"""The two languages of the site: a page shows the contents of its own language, and one switch leads to the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Any

LANGUAGES = {"en": "English", "ja": "日本語"}
BEGIN = {"en": "index", "ja": "ja/start"}  # where a language begins, for a page that exists in the other alone


def language(page: str) -> str:
    """Return the language of a page, which its folder says: ``ja/start``, ``course/ja/01_nudging``."""
    return "ja" if "ja" in page.split("/")[:-1] else "en"


def other(page: str, pages: Container[str]) -> str:
    """Return the page of the other language: the same one, or where that language begins."""
    *folders, name = page.split("/")
    if language(page) == "ja":
        folders.remove("ja")
        found, begin = "/".join([*folders, name]), BEGIN["en"]
    else:
        found, begin = "/".join([*folders, "ja", name]), BEGIN["ja"]
    return found if found in pages else begin


def without_switch(page: str, text: str) -> str:
    """Return a page's text without its link to the same page in the other language, which the site's switch has."""
    *folders, name = page.split("/")
    link = rf"\[(?:English|日本語版)\]\({'../' if folders else 'ja/'}{re.escape(name)}\.md\)"
    return re.sub(rf" \({link}\)| ?{link}", "", text)


def of_language(contents: str, code: str, captions: Container[str]) -> str:
    """Return the parts of a table of contents, in HTML, of one language. ``captions`` are those of the Japanese parts."""
    parts = re.split(r'(?=<p class="caption")', contents)
    caption = re.compile(r'<span class="caption-text">(.*?)</span>')
    found = [(match[1] if (match := caption.search(part)) else None, part) for part in parts]
    return "".join(part for title, part in found if (title in captions) == (code == "ja"))


def setup(app: Any, captions: Container[str]) -> None:
    def change(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        code = context["language"] = language(page)
        if contents := context.get("toctree"):
            context["toctree"] = _chosen(contents, code, captions)
        for where in ("prev", "next"):  # the order of reading ends with the language
            if context.get(where) and language(_name(page, context[where]["link"])) != code:
                context[where] = None
        pathto = context["pathto"]
        address = pathto(other(page, app.env.found_docs))
        context["languages"] = [(label, each, None if each == code else address) for each, label in LANGUAGES.items()]

    app.connect("html-page-context", change, priority=400)  # before the theme reads the contents


def _chosen(contents: Callable[..., str], code: str, captions: Container[str]) -> Callable[..., str]:
    return lambda **options: of_language(contents(**options), code, captions)


def _name(page: str, link: str) -> str:
    """Return the page to which a relative link of another page leads."""
    folders = page.split("/")[:-1]
    while link.startswith("../"):
        link = link[3:]
        folders = folders[:-1]
    return "/".join([*folders, link.removesuffix(".html")])
