"""Where in the user's program something happens."""

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import NamedTuple

from .errors import MARK

LONGEST_LINE = 400  # characters of a line that are kept
MOST_CALLERS = 4  # of a function, up to the program itself


class SourceLine(NamedTuple):
    """A place in the user's program: a line, and where it is known the very expression on it.

    Attributes:
        file: its path.
        line: its number, from 1.
        function: what it is in.
        text: the line itself, stripped, as it was then: nobody opens the file later, least of all one that a saved trace
            names. Empty if it cannot be read.
        column: the character of the line, from 0, at which the instruction's expression begins.
        end_line, end_column: where it ends: the line, and the character after its last. None where Python does not know.
    """

    file: str
    line: int
    function: str
    text: str = ""
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Place(NamedTuple):
    """What a program is doing.

    Attributes:
        source: the instruction.
        program: the lines of its file, as they were then; none if it cannot be read.
        callers: the calls of functions of the user's own that are under way, innermost first, each with its program.
        callee: what it called, as long as that runs: two calls from one place differ in it. None at the user's own frame.
    """

    source: SourceLine
    program: Sequence[str]
    callee: FrameType | None
    callers: tuple[tuple[SourceLine, Sequence[str]], ...] = ()


def of_library(module: str) -> bool:
    """Whether a module is not the user's, who may have an ``nn`` of their own."""
    package = module.partition(".")[0]
    return package in ("minigrad", "numpy") or (package == "nn" and hasattr(sys.modules.get(package), MARK))


def user_frame() -> FrameType | None:
    """The innermost frame that runs the user's own code."""
    return _user_frame(sys._getframe(1))[0]


def user_place() -> Place | None:
    """What the user's own code is carrying out."""
    frame, callee = _user_frame(sys._getframe(1))
    if frame is None:
        return None
    source, program = _instruction(frame)
    if frame.f_code.co_name == "<module>":
        return Place(source, program, callee)
    callers: list[tuple[SourceLine, Sequence[str]]] = []
    outer: FrameType | None = frame
    while len(callers) < MOST_CALLERS and outer is not None and outer.f_code.co_name != "<module>":
        between = outer.f_back
        outer, called = _user_frame(between)
        if outer is None or called not in (None, between):
            break  # through the library, by more than the call of a module: who knows what it makes of the result
        callers.append(_instruction(outer))
    return Place(source, program, callee, tuple(callers))


def _instruction(frame: FrameType) -> tuple[SourceLine, Sequence[str]]:
    """The instruction that a frame is at, and the lines of its program."""
    code = _known.get(id(frame.f_code)) or _CodePlaces(frame)
    return code.sources.get(frame.f_lasti) or code.source(frame), code.lines


def _user_frame(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """The innermost frame of the user's own, from ``frame`` outwards, and the one that it called."""
    callee = None
    while frame is not None and of_library(frame.f_globals.get("__name__", "")):
        frame, callee = frame.f_back, frame
    return frame, callee


class _CodePlaces:
    """What is known of a code object, as long as there is one: looked up for every operation of a trace."""

    def __init__(self, frame: FrameType) -> None:
        code: CodeType = frame.f_code
        number = id(code)
        self.reference = weakref.ref(code, lambda _: _known.pop(number, None))
        self.lines: Sequence[str] = linecache.getlines(code.co_filename, frame.f_globals)
        self.positions = list(code.co_positions())  # of each two bytes of its instructions
        self.sources: dict[int, SourceLine] = {}
        _known[number] = self

    def source(self, frame: FrameType) -> SourceLine:
        """The instruction that the frame is at."""
        code, lines = frame.f_code, self.lines
        line = frame.f_lineno
        column = end_line = end_column = None
        if 0 <= frame.f_lasti // 2 < len(self.positions):
            first, last, start, end = self.positions[frame.f_lasti // 2]
            if first == line and last is not None and start is not None and end is not None and last <= len(lines):
                column, end_line = _character(lines[line - 1], start), last
                end_column = _character(lines[last - 1], end)
        text = lines[line - 1].strip()[:LONGEST_LINE] if 0 < line <= len(lines) else ""
        place = SourceLine(code.co_filename, line, code.co_name, text, column, end_line, end_column)
        self.sources[frame.f_lasti] = place
        return place


_known: dict[int, _CodePlaces] = {}


def _character(line: str, byte: int) -> int:
    """The character of a line at a byte of its UTF-8."""
    return byte if line.isascii() else len(line.encode(errors="surrogatepass")[:byte].decode(errors="ignore"))
