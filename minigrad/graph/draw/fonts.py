"""Finds an installed font for each character. A note says once which fonts to install if there is none."""

from __future__ import annotations

import contextlib
import functools
import html
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from ...errors import MissingExtraError, import_extra

OWN = "DejaVu Sans"  # comes with Matplotlib

# Fonts that are tried first, because of their look. After them, any font with the character is used.
_PREFERRED = (
    "Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic", "Noto Sans CJK SC",
)  # fmt: skip
_UNASSIGNED = 0xEFFFD  # a font with a glyph for it (Last Resort, Adobe Blank) draws boxes or nothing for all characters

# Only one family of Matplotlib's own fonts is used. The others are for formulas, and one draws a box for every character.
_FONTCONFIG = """<fontconfig>
<dir>{fonts}</dir><cachedir>{cache}</cachedir>
<selectfont><acceptfont><glob>*/DejaVuSans*</glob></acceptfont><rejectfont><glob>*</glob></rejectfont></selectfont>
</fontconfig>"""

_noted = False  # whether the note was written


def families(text: str) -> list[str]:
    """Return the font families for a text: Matplotlib's own, then others for the characters that it lacks.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return _search(text)[0]


def lacking(text: str) -> str:
    """Return the characters of a text that no installed font has, each once."""
    return _search(text)[1]


def name_missing(text: str) -> None:
    """Write a note if no font has some characters of the text. One note in a program is enough."""
    global _noted
    missing = lacking(text)
    if missing and not _noted:
        _noted = True
        shown = " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in missing[:5])
        print(
            f"note: no installed font has {shown}, so pictures show boxes; install the Noto fonts "
            "(on Debian: apt install fonts-noto)",
            file=sys.stderr,
        )


@contextlib.contextmanager
def no_remarks() -> Iterator[None]:
    """Silence Matplotlib's remarks that a family lacks the requested weight, or that every family lacks a character."""
    logger = logging.getLogger("matplotlib.font_manager")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
            yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def lent_to_graphviz() -> Iterator[dict[str, str] | None]:
    """Yield an environment where Graphviz finds Matplotlib's font, if the machine has no font; else None."""
    try:
        manager = import_extra("matplotlib.font_manager", "train", "drawing")
    except MissingExtraError:
        manager = None
    if manager is None or manager.findSystemFonts():
        yield None
        return
    own = Path(manager.fontManager.findfont(OWN)).parent
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "fonts.conf")
        text = _FONTCONFIG.format(fonts=html.escape(str(own)), cache=html.escape(folder))
        settings.write_text(text, encoding="utf-8")
        yield os.environ | {"FONTCONFIG_FILE": str(settings)}


def _search(text: str) -> tuple[list[str], str]:
    """Return the families that a text needs, the preferred ones first, and the characters that none has."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    left = set(text) - set("\n\t\r")
    left -= _characters(OWN)
    found = [OWN]
    if left:
        _list_new_fonts()
        for family in dict.fromkeys([*_PREFERRED, *sorted(manager.get_font_names())]):
            if not left.isdisjoint(has := _characters(family)):
                left -= has
                found.append(family)
    return found, "".join(c for c in dict.fromkeys(text) if c in left)


@functools.cache
def _characters(family: str) -> frozenset[str]:
    """Return the characters that a family has; none if it has placeholders for all, or cannot be read."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    ft2font = import_extra("matplotlib.ft2font", "train", "drawing")
    name = manager.FontProperties(family=[family])
    try:
        with no_remarks():
            file = manager.fontManager.findfont(name, fallback_to_default=False, rebuild_if_missing=False)
        face = getattr(file, "face_index", 0)  # in a file of several fonts
        font = ft2font.FT2Font(str(file), **({"face_index": face} if face else {}))
    except (OSError, RuntimeError, ValueError):  # the file was removed, or is no font
        return frozenset()
    characters = font.get_charmap()
    return frozenset() if characters.get(_UNASSIGNED) else frozenset(chr(c) for c, glyph in characters.items() if glyph)


@functools.cache
def _list_new_fonts() -> None:
    """Add to Matplotlib's list the fonts that were installed after it was written."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    for file in sorted(set(manager.findSystemFonts()) - {entry.fname for entry in manager.fontManager.ttflist}):
        with contextlib.suppress(Exception):  # Matplotlib cannot use some fonts, for example those of coloured bitmaps
            manager.fontManager.addfont(file)
