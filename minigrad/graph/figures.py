"""Pictures by matplotlib: into files, without a window, and in fonts that know Chinese, Japanese and Korean characters."""

from __future__ import annotations

import contextlib
import functools
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, import_extra

SUFFIXES = (".svg", ".png", ".pdf")
POINT = 1 / 72  # inches
_FAMILIES = (
    "Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic", "Noto Sans CJK SC",
    "Noto Sans CJK KR", "Droid Sans Fallback", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Thai",
    "Noto Sans Devanagari", "Arial Unicode MS",
)  # fmt: skip


@contextlib.contextmanager
def figure(width: float, height: float) -> Iterator[Any]:
    """A new matplotlib Figure, sizes in inches. Draw and save it inside the block, in which the fonts are set.

    It is no figure of pyplot's: nothing stays in memory, and a notebook's settings are left alone.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = import_extra("matplotlib", "train", "drawing")
    figures = import_extra("matplotlib.figure", "train", "drawing")
    with matplotlib.rc_context({"font.family": fonts(), "svg.hashsalt": "minigrad", "pdf.fonttype": 42}):
        yield figures.Figure(figsize=(width, height))


def save(figure: Any, path: str | os.PathLike[str], dpi: int = 120) -> Path:
    """Write a figure in the format that the suffix names; the same figure gives the same SVG."""
    path = check_suffix(path)
    figure.savefig(path, dpi=dpi, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    return path


def check_suffix(path: str | os.PathLike[str]) -> Path:
    """
    Raises:
        ArgumentError: the suffix names no format.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"path {str(path)!r} names no format for a picture: end it in one of {', '.join(SUFFIXES)}")
    return Path(path)


@functools.cache
def fonts() -> list[str]:
    """Matplotlib's own font, then the installed ones that have the characters it lacks."""
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    installed = {font.name for font in manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in _FAMILIES if name in installed)]


def drawable(text: str) -> bool:
    """Whether the installed fonts have every character of ``text``."""
    return all(ord(character) in _characters() for character in text)


@functools.cache
def _characters() -> set[int]:
    manager = import_extra("matplotlib.font_manager", "train", "drawing")
    ft2font = import_extra("matplotlib.ft2font", "train", "drawing")
    return set().union(*(ft2font.FT2Font(manager.findfont(name)).get_charmap() for name in fonts()))


def plain_label(text: str, longest: int = 24) -> str:
    """A text as a label: at most so many characters, "�" for those that no font has, and "$" as it is."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(c if ord(c) in _characters() else "�" for c in short).replace("$", r"\$")


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in inches, in ``size`` points. East Asian characters are wider than Latin ones."""
    ems = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.65 for c in text)
    return ems * size * POINT
