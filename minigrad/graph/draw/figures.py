"""Pictures by matplotlib: into files, without a window, and without a character that is drawn as a box."""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import ArgumentError, import_extra
from . import fonts

SUFFIXES = (".svg", ".png", ".pdf")
POINT = 1 / 72  # inches


@contextlib.contextmanager
def figure(width: float, height: float) -> Iterator[Any]:
    """A new matplotlib Figure, sizes in inches. Draw and :func:`save` it inside the block, in which the font is set.

    It is no figure of pyplot's: nothing stays in memory, and a notebook's settings are left alone.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = import_extra("matplotlib", "train", "drawing")
    figures = import_extra("matplotlib.figure", "train", "drawing")
    with matplotlib.rc_context({"font.family": fonts.OWN, "svg.hashsalt": "minigrad", "pdf.fonttype": 42}):
        yield figures.Figure(figsize=(width, height))


def save(figure: Any, path: str | os.PathLike[str], dpi: int = 120) -> Path:
    """Write a figure in the format that the suffix names; the same figure gives the same SVG.

    Every drawing of the project goes through here: a character that no font has is written in others (:mod:`.fonts`).
    """
    path = check_suffix(path)
    _make_readable(figure)
    with fonts.no_remarks():
        figure.savefig(path, dpi=dpi, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    return path


def _make_readable(figure: Any) -> None:
    """Set what :func:`.fonts.readable` gives, and the fonts that draw it, in every text of a figure."""
    axis_class = import_extra("matplotlib.axis", "train", "drawing").Axis
    text_class = import_extra("matplotlib.text", "train", "drawing").Text
    for axis in figure.findobj(axis_class):
        places = axis.get_majorticklocs()
        labels = list(map(str, axis.get_major_formatter().format_ticks(places)))
        if fonts.lacking("".join(labels)):  # a tick takes its text from the axis whenever it is drawn
            axis.set_ticks(places, fonts.place_labels(labels))
        axis.get_ticklabels()  # makes the ticks, so that they are found
    for text in figure.findobj(text_class):
        words = text.get_text()
        families = fonts.families(words)
        if fonts.lacking(words):
            text.set_text(fonts.readable(words))
        if len(families) > 1:
            text.set_fontfamily(families)


def check_suffix(path: str | os.PathLike[str]) -> Path:
    """
    Raises:
        ArgumentError: the suffix names no format.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"path {str(path)!r} names no format for a picture: end it in one of {', '.join(SUFFIXES)}")
    return Path(path)


def plain_label(text: str, longest: int = 24) -> str:
    """A text as a label: at most so many characters, :func:`.fonts.readable`, and "$" as it is."""
    text = fonts.readable(text)
    return (text if len(text) <= longest else text[: longest - 1] + "…").replace("$", r"\$")


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in inches, in ``size`` points. East Asian characters are wider than Latin ones."""
    ems = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.65 for c in text)
    return ems * size * POINT
