"""Finds an installed font for each character. If there is none, it gives other text and names the font to install."""

from __future__ import annotations

import contextlib
import functools
import html
import logging
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, import_extra

OWN = "DejaVu Sans"  # comes with Matplotlib
LONGEST_NAME = 24  # characters of a label for a token that cannot be drawn; a longer one is replaced by a number

# Fonts that are tried first, because of their look. After them, any font with the character is used.
_PREFERRED = (
    OWN, "Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic", "Noto Sans CJK SC",
    "Noto Sans CJK KR", "Droid Sans Fallback", "Arial Unicode MS", "Noto Serif CJK JP", "Noto Serif JP",
)  # fmt: skip
_UNASSIGNED = 0xEFFFD  # a font with a glyph for it (Last Resort, Adobe Blank) draws boxes or nothing for all characters
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "HALFWIDTH", "FULLWIDTH")
_HEPBURN = {"si": "shi", "ti": "chi", "tu": "tsu", "hu": "fu", "zi": "ji", "di": "ji", "du": "zu"}
_PUNCTUATION = {"、": ",", "。": ".", "・": "·", "ー": "-"}
_BY_CATEGORY = {"Ps": "(", "Pe": ")", "Pi": "“", "Pf": "”", "Pd": "-", "Cf": "", "Mn": "", "Mc": "", "Me": ""}

# Only one family of Matplotlib's own fonts is used. The others are for formulas, and one draws a box for every character.
_FONTCONFIG = """<fontconfig>
<dir>{fonts}</dir><cachedir>{cache}</cachedir>
<selectfont><acceptfont><glob>*/DejaVuSans*</glob></acceptfont><rejectfont><glob>*</glob></rejectfont></selectfont>
</fontconfig>"""

_family_of: dict[str, str | None] = {"\n": OWN}  # a character -> the family that draws it, or None
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


def readable(text: str) -> str:
    """Return the text with a replacement for each character that no font has. A note names the font to install, once.

    Letters become Latin letters, one by one (こたつ: kotatsu). A symbol becomes its name (🚀: [rocket]). Any other character,
    such as a Chinese one, becomes its Unicode number (食: [U+98DF]).
    """
    lacks = lacking(text)
    if not lacks:
        return text
    _say_what_to_install(lacks)
    numbered = ""
    for character in lacks:
        name = _name(character)
        if name is None:
            numbered += character
        else:
            text = text.replace(character, name)
    if not numbered:
        return text
    runs = f"[{re.escape(numbered)}]+"
    return re.sub(runs, lambda run: "[U+" + " ".join(f"{ord(c):04X}" for c in run[0]) + "]", text)


def place_labels(texts: Sequence[str]) -> list[str]:
    """Return a label for each text: the :func:`readable` text, or "#4" for ``texts[4]`` if it has no short replacement."""
    labels = list(map(readable, texts))
    for i, (text, label) in enumerate(zip(texts, labels)):
        if lacking(text) and (not label or "[U+" in label or len(label) > LONGEST_NAME):
            labels[i] = f"#{i}"
    return labels


@contextlib.contextmanager
def no_remarks() -> Iterator[None]:
    """Silence Matplotlib's log messages that a family lacks the requested weight. Matplotlib uses another weight then."""
    logger = logging.getLogger("matplotlib.font_manager")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
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
    if not unknown:
        return
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    with no_remarks():
        unknown = _search(unknown, manager)
        listed = len(manager.fontManager.ttflist)
        if unknown:
            _list_new_fonts()
        if len(manager.fontManager.ttflist) > listed:
            unknown = _search(unknown, manager)
    _family_of.update(dict.fromkeys(unknown))


def _search(unknown: set[str], manager: Any) -> set[str]:
    """Look for characters in each family that Matplotlib lists. Return the characters that no family has."""
    for family, entry in _candidates(manager):
        if not unknown:
            break
        if not _characters(entry.fname, getattr(entry, "index", 0), unknown):
            continue
        try:  # the file that Matplotlib will use; if it was removed, Matplotlib makes a new list
            file = manager.fontManager.findfont(manager.FontProperties(family=[family]), fallback_to_default=False)
        except ValueError:
            continue
        found = _characters(file, getattr(file, "face_index", 0), unknown)
        _family_of.update(dict.fromkeys(found, family))
        unknown = unknown - found
    return unknown


def _candidates(manager: Any) -> list[tuple[str, Any]]:
    """Return each family with its most regular face whose file exists: the preferred ones first, then those without serifs."""
    faces: dict[str, tuple[tuple[bool, int], Any]] = {}
    for entry in manager.fontManager.ttflist:
        weight = manager.weight_dict.get(entry.weight, entry.weight)
        rank = (entry.style != "normal", abs(weight - 400))
        if (entry.name not in faces or rank < faces[entry.name][0]) and os.path.exists(entry.fname):
            faces[entry.name] = rank, entry
    place = {family: i for i, family in enumerate(_PREFERRED)}

    def order(family: str) -> tuple[Any, ...]:
        return place.get(family, len(place)), faces[family][0], not re.search("Sans|Gothic", family), family

    return [(family, faces[family][1]) for family in sorted(faces, key=order)]


def _characters(file: str, face: int, wanted: Iterable[str]) -> set[str]:
    """Return the characters that a font file has; none if it has placeholders for all, or cannot be read."""
    ft2font = import_extra("matplotlib.ft2font", "train", "drawing")
    try:
        font = ft2font.FT2Font(str(file), **({"face_index": face} if face else {}))
    except (OSError, RuntimeError):
        return set()
    return set() if font.get_char_index(_UNASSIGNED) else {c for c in wanted if font.get_char_index(ord(c))}


@functools.cache
def _list_new_fonts() -> None:
    """Add to Matplotlib's list the fonts that were installed after it was written."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    listed = {entry.fname for entry in manager.fontManager.ttflist}
    for file in sorted(set(manager.findSystemFonts()) - listed):
        with contextlib.suppress(Exception):  # Matplotlib cannot use some fonts, for example those of coloured bitmaps
            manager.fontManager.addfont(file)


# Replacements


def _name(character: str) -> str | None:
    """Return a replacement for a character in characters that can be drawn; None if it has only a number."""
    if character.isspace():
        return " "
    if character in _PUNCTUATION:
        return _PUNCTUATION[character]
    plain = unicodedata.normalize("NFKC", character)
    if plain != character:
        parts = [_name(c) if lacking(c) else c for c in plain]
        return None if None in parts else "".join(filter(None, parts))
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    letter = None if category == "Cf" else re.search(r"(?:LETTER|SYLLABLE|VOWEL SIGN) (?:SMALL |CAPITAL )?(\w+)$", name)
    if letter:
        sound = letter[1].lower()
        return _HEPBURN.get(sound, sound) if name.startswith(("HIRAGANA", "KATAKANA")) else sound
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    return f"[{name.lower()}]" if name and category[0] in "SP" else None


def _say_what_to_install(lacks: str) -> None:
    by_font: dict[str, str] = {}
    for character in lacks:
        font = _font_for(character)
        by_font[font] = by_font.get(font, "") + character
    for font, characters in by_font.items():
        if font in _named:
            continue
        _named.add(font)
        shown = " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in characters[:5])
        more = f" and {len(characters) - 5} more characters" if len(characters) > 5 else ""
        print(
            f"note: no installed font has {shown}{more}, so pictures show names or numbers instead; install {font}",
            file=sys.stderr,
        )


def _font_for(character: str) -> str:
    """Return the name of a font with such characters, in words."""
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    wide_punctuation = category[0] == "P" and unicodedata.east_asian_width(character) == "W"
    if name.startswith(_EAST_ASIAN) or wide_punctuation:
        return "Noto Sans CJK (on Debian: apt install fonts-noto-cjk)"
    if name and category[0] in "LMN":
        return f"Noto Sans {name.split()[0].capitalize()} (on Debian: apt install fonts-noto-core)"
    return "Symbola (on Debian: apt install fonts-symbola)" if name else "a font that has them"
