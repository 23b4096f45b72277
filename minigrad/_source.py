"""Where in the user's program something happens."""

from __future__ import annotations

import linecache
import sys
from types import FrameType
from typing import NamedTuple

from .errors import MARK

_LONGEST = 400  # characters of a line that are kept


class SourceLine(NamedTuple):
    """A line of the user's program.

    Attributes:
        file: its path.
        line: its number, from 1.
        function: what it is in.
        text: the line itself, stripped, as it was then: nobody opens the file later, least of all one that a saved trace
            names. Empty if it cannot be read.
    """

    file: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def of_library(module: str) -> bool:
    """Whether a module is not the user's, who may have an ``nn`` of their own."""
    package = module.partition(".")[0]
    return package in ("minigrad", "numpy") or (package == "nn" and hasattr(sys.modules.get(package), MARK))


def user_frame() -> FrameType | None:
    """The innermost frame that runs the user's own code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and of_library(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


def user_line() -> SourceLine | None:
    """The line of the user's own code that is being carried out."""
    frame = user_frame()
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).strip()[:_LONGEST]
    return SourceLine(file, line, frame.f_code.co_name, text)
