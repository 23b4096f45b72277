"""Interactive pages: one HTML file each, which needs no network, no server and no library."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from ...errors import ArgumentError
from .embed import Page

LANGUAGES = ("en", "ja")


def check_language(language: str, caller: str = "to_html") -> None:
    """Raise ArgumentError for a language that the pages do not have."""
    if language not in LANGUAGES:
        raise ArgumentError(f"{caller} takes language='en' or 'ja', got {language!r}")


def save_page(
    path: str | os.PathLike[str],
    name: str,
    data: dict[str, Any],
    language: str,
    *,
    title: str = "",
    scripts: Sequence[str] = (),
    drawing: str = "",
    more: Sequence[str] = (),
) -> Page:
    """Write the page that the files in ``assets/`` called ``name`` make, with the header of all pages; gives its path.

    Args:
        data: for the script, which gets the words of all languages and ``language`` with it.
        title: of the page until the script sets one; by default its word "title".
        scripts: others that the page's own builds on.
        drawing: HTML for the place in the body that is marked DRAWING.
        more: names of further files of words and styles.
    """
    words: dict[str, dict[str, str]] = {each: {} for each in LANGUAGES}
    for each in [name, *more]:
        for spoken, found in json.loads(asset(f"{each}_words.json")).items():
            words[spoken] |= found
    body = asset(f"{name}.html").replace("HEADER\n", asset("header.html")).replace("DRAWING", drawing)
    script = "\n".join(asset(f"{each}.js") for each in ["words", *scripts, name])
    style = "".join(asset(f"{each}.css") for each in ["views", name, *more])
    data = data | {"language": language, "words": words}
    text = page(title or words[language]["title"], body, script, data, style, language=language)
    saved = Page(path)
    saved.write_text(text, encoding="utf-8")
    return saved


# However often the scripts ask, a large page is read once.
_READ = """let parsedData;
const pageData = () => (parsedData ??= JSON.parse(document.getElementById("data").textContent));
"""


def page(title: str, body_html: str, script: str, data: Any, style: str = "", *, language: str = "en") -> str:
    """A whole page: ``body_html``, then ``data`` as JSON, then ``script``, which reads it as ``pageData()``.

    A content security policy lets the browser run and apply exactly this script and this style, named by their hashes, and
    load nothing at all. So event handlers and ``style=`` attributes in ``body_html`` do nothing (a script may still set
    ``element.style``), and what a parameter's name smuggles in is never executed.

    Args:
        title: plain text; it is escaped here.
        body_html: HTML. Text of the user's in it must have been escaped (``html.escape``), a drawing comes from
            :func:`inline`.
        script: JavaScript. Data is to be shown by ``textContent``, never by ``innerHTML``.
        data: what :func:`plain` takes.
        style: CSS.
        language: of the page as it is first shown.
    """
    if re.search(r"</script|<!--", script, re.IGNORECASE) or re.search(r"</style", style, re.IGNORECASE):
        raise ValueError("a script must not hold '</script' or '<!--', nor a style '</style': they would end it there")
    script = f'"use strict";\n{_READ}{script}'
    allowed = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    return f"""<!DOCTYPE html>
<html lang="{html.escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body_html}
<script type="application/json" id="data">{escaped_json(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def asset(name: str) -> str:
    """The text of one of the files in ``assets/``: a script, a style sheet, words."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def inline(svg: str) -> str:
    """An SVG drawing as part of a page: without the prolog, and without a size and style of its own (the page's decide)."""
    start = svg.index("<svg")
    head, rest = svg[start:].split(">", 1)
    return re.sub(r'\s(width|height|style)="[^"]*"', "", head) + ">" + rest


def escaped_json(data: Any) -> str:
    """JSON that may stand in a script element: no ``<``, so that nothing in it can end the element, and ASCII only."""
    text = json.dumps(plain(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


_PLAIN = {int, str, bool, type(None)}
_NUMBERS = {int, float}


def plain(data: Any) -> Any:
    """``data`` as what JSON knows: arrays become lists, and NaN and infinities the words that JavaScript's Number() reads.

    Numbers lose nothing: a float is written with as many digits as tell it from its neighbours. A complex number becomes
    text.
    """
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if data is None or type(data) in _PLAIN:
        return data
    if isinstance(data, (list, tuple)):
        types = set(map(type, data))  # long lists of numbers are left as they are
        if types <= _PLAIN or (types <= _NUMBERS and all(map(math.isfinite, data))):
            return data
        return [plain(value) for value in data]
    if isinstance(data, (np.ndarray, np.generic)):
        return plain(data.tolist())
    if isinstance(data, float) and not np.isfinite(data):
        return "NaN" if data != data else "Infinity" if data > 0 else "-Infinity"
    return f"{data.real!r}{data.imag:+}i" if isinstance(data, complex) else data


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
