"""Writes pages, and shows them in notebooks. Each page is one HTML file and needs no network, no server and no library."""

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
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentError

LANGUAGES = ("en", "ja")
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


def check_language(language: str, caller: str = "to_html") -> None:
    """Raise an ArgumentError for a language that the pages do not have."""
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
    more: Sequence[str] = (),
) -> Page:
    """Write the page from the files ``name`` in ``assets/``, with the header of all pages, and return its path.

    Args:
        data: the data for the script. The words of all languages and ``language`` are added to it.
        title: the title of the page until the script sets one; by default its word "title".
        scripts: other scripts that the page's script needs.
        more: the names of more files of words and styles.
    """
    words: dict[str, dict[str, str]] = {each: {} for each in LANGUAGES}
    for each in [name, *more]:
        for spoken, found in json.loads(asset(f"{each}_words.json")).items():
            words[spoken] |= found
    body = asset(f"{name}.html").replace("HEADER\n", asset("header.html"))
    script = "\n".join(asset(f"{each}.js") for each in ["words", "elements", *scripts, name])
    style = "".join(asset(f"{each}.css") for each in ["views", name, *more])
    data = data | {"language": language, "words": words}
    text = page(title or words[language]["title"], body, script, data, style, language=language)
    saved = Page(path)
    saved.write_text(text, encoding="utf-8")
    return saved


# The data of a large page are parsed only once, even if the scripts ask for them often.
_READ = """let parsedData;
const pageData = () => (parsedData ??= JSON.parse(document.getElementById("data").textContent));
"""


def page(
    title: str, body_html: str, script: str, data: Any, style: str = "", *, language: str = "en", framed: str = ""
) -> str:
    """Return a whole page: ``body_html``, then ``data`` as JSON, then ``script``, which reads it as ``pageData()``.

    A content security policy names this script and this style by their hashes. The browser runs no other script, applies no
    other style and loads nothing. So event handlers and ``style=`` attributes in ``body_html`` have no effect (a script may
    still set ``element.style``), and code in a parameter's name is never run.

    Args:
        title: plain text. It is escaped here.
        body_html: HTML. Texts of the user must be escaped already (``html.escape``).
        script: JavaScript. It must show data by ``textContent``, never by ``innerHTML``.
        data: data for :func:`plain`.
        style: CSS.
        language: the first language of the page.
        framed: the text of another page that ``body_html`` shows in a frame: its scripts and styles are allowed too.
    """
    if re.search(r"</script|<!--", script, re.IGNORECASE) or re.search(r"</style", style, re.IGNORECASE):
        raise ValueError(
            "a script must not contain '</script' or '<!--', nor a style '</style': they would end it there"
        )
    script = f'"use strict";\n{_READ}{script}'
    scripts, styles = (re.findall(f"{kind}-src ('[^;]*')", framed)[:1] for kind in ("script", "style"))
    script_src, style_src = " ".join([f"'{_hash(script)}'", *scripts]), " ".join([f"'{_hash(style)}'", *styles])
    allowed = f"script-src {script_src}; style-src {style_src}"
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
    """Return the text of a file in ``assets/``: a script, a style sheet or words."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def escaped_json(data: Any) -> str:
    """Return JSON for a script element. It has no ``<``, which could end the element, and only ASCII."""
    text = json.dumps(plain(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


_PLAIN = {int, str, bool, type(None)}
_NUMBERS = {int, float}


def plain(data: Any) -> Any:
    """Return ``data`` as JSON types. Arrays become lists; NaN and infinities become words that JavaScript's Number() reads.

    Floats are written with enough digits to stay exact. A complex number becomes text.
    """
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if data is None or type(data) in _PLAIN:
        return data
    if isinstance(data, (list, tuple)):
        types = set(map(type, data))  # long lists of plain numbers need no copy
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
