"""Finds an installed font for each character. If there is none, a note names the font to install."""

from __future__ import annotations

import contextlib
import functools
import html
import logging
import os
import sys
import tempfile
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, import_extra

OWN = "DejaVu Sans"  # comes with Matplotlib

# Fonts that are tried first, because of their look. After them, any font with the character is used.
_PREFERRED = (
    OWN, "Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic", "Noto Sans CJK SC",
    "Noto Sans CJK KR", "Droid Sans Fallback", "Arial Unicode MS", "Noto Serif CJK JP", "Noto Serif JP",
)  # fmt: skip
_UNASSIGNED = 0xEFFFD  # a font with a glyph for it (Last Resort, Adobe Blank) draws boxes or nothing for all characters
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "HALFWIDTH", "FULLWIDTH")

# Only one family of Matplotlib's own fonts is used. The others are for formulas, and one draws a box for every character.
_FONTCONFIG = """<fontconfig>
<dir>{fonts}</dir><cachedir>{cache}</cachedir>
<selectfont><acceptfont><glob>*/DejaVuSans*</glob></acceptfont><rejectfont><glob>*</glob></rejectfont></selectfont>
</fontconfig>"""

_family_of: dict[str, str | None] = dict.fromkeys("\n\t\r", OWN)  # a character -> the family that draws it, or None
_named: set[str] = set()  # the fonts that a note has named already


def families(text: str) -> list[str]:
    """Return the font families for a text: Matplotlib's own, then others for the characters that it lacks.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    _look_up(text)
    return list(dict.fromkeys([OWN, *filter(None, map(_family_of.get, text))]))


def lacking(text: str) -> str:
    """Return the characters of a text that no installed font has, each once."""
    _look_up(text)
    return "".join(c for c in dict.fromkeys(text) if _family_of[c] is None)


def name_missing(text: str) -> None:
    """Name the font to install for the characters of a text that no font has. Each font is named once."""
    by_font: dict[str, str] = {}
    for character in lacking(text):
        font = _font_for(character)
        by_font[font] = by_font.get(font, "") + character
    for font, characters in by_font.items():
        if font in _named:
            continue
        _named.add(font)
        shown = " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in characters[:5])
        more = f" and {len(characters) - 5} more characters" if len(characters) > 5 else ""
        print(f"note: no installed font has {shown}{more}, so pictures show boxes; install {font}", file=sys.stderr)


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


# The search in the fonts


def _look_up(text: str) -> None:
    """Store the first family that has each character."""
    unknown = {c for c in text if c not in _family_of}
    if unknown:
        with no_remarks():
            unknown = _search(unknown)
            if unknown and _list_new_fonts():
                unknown = _search(unknown)
        _family_of.update(dict.fromkeys(unknown))


def _search(unknown: set[str]) -> set[str]:
    """Look for characters in the families that Matplotlib lists, the preferred ones first. Return those that none has."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    place = {family: i for i, family in enumerate(_PREFERRED)}
    for family in sorted(manager.get_font_names(), key=lambda family: (place.get(family, len(place)), family)):
        with contextlib.suppress(ValueError):  # its file was removed
            wanted = manager.FontProperties(family=[family])
            file = manager.fontManager.findfont(wanted, fallback_to_default=False, rebuild_if_missing=False)
            found = _characters(file, unknown)
            _family_of.update(dict.fromkeys(found, family))
            unknown = unknown - found
        if not unknown:
            break
    return unknown


def _characters(file: Any, wanted: Iterable[str]) -> set[str]:
    """Return the characters that a font has; none if it has placeholders for all, or cannot be read."""
    ft2font = import_extra("matplotlib.ft2font", "train", "drawing")
    face = getattr(file, "face_index", 0)  # in a file of several fonts
    try:
        font = ft2font.FT2Font(str(file), **({"face_index": face} if face else {}))
    except (OSError, RuntimeError):
        return set()
    return set() if font.get_char_index(_UNASSIGNED) else {c for c in wanted if font.get_char_index(ord(c))}


@functools.cache
def _list_new_fonts() -> bool:
    """Add to Matplotlib's list the fonts that were installed after it was written. Return whether there are any."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    new = sorted(set(manager.findSystemFonts()) - {entry.fname for entry in manager.fontManager.ttflist})
    for file in new:
        with contextlib.suppress(Exception):  # Matplotlib cannot use some fonts, for example those of coloured bitmaps
            manager.fontManager.addfont(file)
    return bool(new)


def _font_for(character: str) -> str:
    """Return the name of a font with such characters, in words."""
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    wide_punctuation = category[0] == "P" and unicodedata.east_asian_width(character) == "W"
    if name.startswith(_EAST_ASIAN) or wide_punctuation:
        return "Noto Sans CJK (on Debian: apt install fonts-noto-cjk)"
    if name and category[0] in "LMN":
        return f"Noto Sans {name.split()[0].capitalize()} (on Debian: apt install fonts-noto-core)"
    return "Symbola (on Debian: apt install fonts-symbola)" if name else "a font that has them"
