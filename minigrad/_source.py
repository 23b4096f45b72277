"""Find the line of the user's program that is running."""

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import NamedTuple

from .errors import MARK

LONGEST_LINE = 400  # characters; longer source lines are cut
MOST_CALLERS = 8  # the number of calling functions that a Place stores


class SourceLine(NamedTuple):
    """A line of the user's program and, if Python knows it, the expression on the line.

    Attributes:
        file: the path of the file.
        line: the line number, from 1.
        function: the name of the function.
        text: the stripped line at the time of recording; the file is not read again later. Empty if it cannot be read.
        column: the character, from 0, at which the expression begins.
        end_line, end_column: the line and the character after the last one of the expression. None if Python does not know.
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
    """The instruction that a program is executing.

    Attributes:
        source: the line of the instruction.
        program: the lines of the file at that time; empty if it cannot be read.
        callers: the running calls of the user's functions, innermost first, each with the lines of its file.
        callee: the frame that the instruction called, which distinguishes two calls from one line. None if there is none.
    """

    source: SourceLine
    program: Sequence[str]
    callee: FrameType | None
    callers: tuple[tuple[SourceLine, Sequence[str]], ...] = ()


def of_library(module: str) -> bool:
    """Return whether a module belongs to minigrad or NumPy; an ``nn`` may also be the user's."""
    package = module.partition(".")[0]
    return package in ("minigrad", "numpy") or (package == "nn" and hasattr(sys.modules.get(package), MARK))


def user_place(frames: list[FrameType] | None = None) -> Place | None:
    """Return the instruction that the user's code is executing, with its callers. ``frames`` receives their frames."""
    frames = [] if frames is None else frames
    frame, callee = _user_frame(sys._getframe(1))
    if frame is None:
        return None
    source, program = instruction(frame)
    frames.append(frame)
    if frame.f_code.co_name == "<module>":
        return Place(source, program, callee)
    callers: list[tuple[SourceLine, Sequence[str]]] = []
    outer: FrameType | None = frame
    while len(callers) < MOST_CALLERS and outer is not None and outer.f_code.co_name != "<module>":
        between = outer.f_back
        outer, called = _user_frame(between)
        if outer is None or called not in (None, between):
            break  # the library called the function by more than a module call, so the caller may not see its result
        callers.append(instruction(outer))
        frames.append(outer)
    return Place(source, program, callee, tuple(callers))


def instruction(frame: FrameType) -> tuple[SourceLine, Sequence[str]]:
    """Return the current instruction of a frame and the lines of its file."""
    code = _code_places(frame)
    return code.sources.get(frame.f_lasti) or code.source(frame.f_code, frame.f_lasti, frame.f_lineno), code.lines


def _user_frame(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """Return the innermost frame of user code, from ``frame`` outwards, and the frame that it called."""
    callee = None
    while frame is not None and of_library(frame.f_globals.get("__name__", "")):
        frame, callee = frame.f_back, frame
    return frame, callee


def _code_places(frame: FrameType) -> _CodePlaces:
    """Return the places of a frame's code, whose id may stand for code that died before it."""
    found = _known.get(id(frame.f_code))
    return found if found is not None and found.reference() is frame.f_code else _CodePlaces(frame)


class _CodePlaces:
    """A cache of the source lines of a code object, which every operation of a trace looks up."""

    def __init__(self, frame: FrameType) -> None:
        code: CodeType = frame.f_code
        number = id(code)
        self.reference = weakref.ref(code, lambda _: _known.pop(number, None))  # lost at the recursion limit
        self.lines: Sequence[str] = linecache.getlines(code.co_filename, frame.f_globals) or _timed_cell(frame)
        self.positions = list(code.co_positions())  # one per two bytes of instructions
        self.sources: dict[int, SourceLine] = {}
        _known[number] = self

    def source(self, code: CodeType, instruction: int, line: int) -> SourceLine:
        """Return the place of an instruction of the code, which is on this line."""
        lines = self.lines
        column = end_line = end_column = None
        if 0 <= instruction // 2 < len(self.positions):
            first, last, start, end = self.positions[instruction // 2]
            if first == line and last is not None and start is not None and end is not None and last <= len(lines):
                column, end_line = character(lines[line - 1], start), last
                end_column = character(lines[last - 1], end)
        text = lines[line - 1].strip()[:LONGEST_LINE] if 0 < line <= len(lines) else ""
        place = SourceLine(code.co_filename, line, code.co_name, text, column, end_line, end_column)
        self.sources[instruction] = place
        return place


_known: dict[int, _CodePlaces] = {}


def _timed_cell(frame: FrameType) -> list[str]:
    """Return the lines of the notebook's cell that ``%%time`` is running. IPython compiles it without a file."""
    outer: FrameType | None = frame if frame.f_code.co_filename.startswith("<timed ") else None
    cell = None
    while outer is not None and outer.f_globals.get("__name__") != "IPython.core.magics.execution":
        cell, outer = outer.f_code, outer.f_back
    text = None if outer is None else outer.f_locals.get("expr")
    codes: list[object] = [cell]
    for code in codes:  # the loop appends to codes
        codes += code.co_consts if isinstance(code, CodeType) else ()
    if not isinstance(text, str) or not any(code is frame.f_code for code in codes):
        return []  # for example, a function of an earlier cell
    return text.splitlines(keepends=True)


def character(line: str, byte: int) -> int:
    """Return the character index for a byte index into the UTF-8 form of a line."""
    return byte if line.isascii() else len(line.encode(errors="surrogatepass")[:byte].decode(errors="ignore"))
