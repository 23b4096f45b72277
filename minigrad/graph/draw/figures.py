"""Draws pictures with matplotlib into files, without a window, with a font for every character that one has."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import ArgumentError, import_extra
from . import fonts, labels

SUFFIXES = (".svg", ".png", ".pdf")
POINT = 1 / 72  # inches


@contextlib.contextmanager
def figure(width: float, height: float) -> Iterator[Any]:
    """Yield a new matplotlib Figure, with sizes in inches. Draw and :func:`save` it inside the block, which sets the font.

    pyplot is not used, so the figure is freed afterwards and a notebook's settings do not change.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = import_extra("matplotlib", "train", "drawing")
    figures = import_extra("matplotlib.figure", "train", "drawing")
    with matplotlib.rc_context({"font.family": fonts.OWN, "svg.hashsalt": "minigrad", "pdf.fonttype": 42}):
        yield figures.Figure(figsize=(width, height))


def save(figure: Any, path: str | os.PathLike[str], dpi: int = 120, *, tight: bool = False) -> Path:
    """Write a figure in the format that the suffix names. The same figure gives the same SVG.

    ``tight`` cuts out all that is drawn, on the figure or outside of it. Every matplotlib picture of minigrad is saved
    here. :mod:`.fonts` names the font that a character lacks.
    """
    path = check_suffix(path)
    _choose_fonts(figure)
    with fonts.no_remarks():
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
        figure.savefig(path, dpi=dpi, metadata=metadata, bbox_inches="tight" if tight else None)
    return path


def _choose_fonts(figure: Any) -> None:
    """Set the fonts for its characters in every text of a figure."""
    axis_class = import_extra("matplotlib.axis", "train", "drawing").Axis
    text_class = import_extra("matplotlib.text", "train", "drawing").Text
    for axis in figure.findobj(axis_class):
        axis.get_ticklabels()  # creates the ticks, so that findobj returns them
    for text in figure.findobj(text_class):
        fonts.name_missing(text.get_text())
        families = fonts.families(text.get_text())
        if len(families) > 1:
            text.set_fontfamily(families)


def check_suffix(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise an ArgumentError if its suffix names no format."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"path {str(path)!r} names no format for a picture: end it in one of {', '.join(SUFFIXES)}")
    return Path(path)


def plain_label(text: str, widest: float = 15.0) -> str:
    """Return a label at most ``widest`` em wide. "$" starts no formula in it."""
    return labels.cut(text, widest).replace("$", r"\$")


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in inches, for ``size`` points."""
    return labels.text_width(text, size) * POINT
