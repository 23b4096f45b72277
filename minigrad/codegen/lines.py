"""Print: lay out the lines of a function: leave out comments that say nothing, indent, and divide long lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from .record import Statement

WIDTH = 100  # characters of a line


class TextLine(NamedTuple):
    """A line of the program: its text, whether it is a comment on where it comes from, and the statements it runs."""

    text: str
    comment: bool = False
    statements: Sequence[Statement] = ()


def laid_out(head: str, opening: Sequence[str], body: Sequence[TextLine], returned: str) -> list[TextLine]:
    """Return the lines of a function, its body indented, and the long ones divided."""
    lines = [*map(TextLine, opening), *without_repeats(body)]
    lines += [TextLine(f"return {returned}")] * bool(returned)
    divided = [line._replace(text=part.rstrip()) for line in lines for part in _wrapped(line.text).splitlines()]
    return [TextLine(f"def {head}:"), *divided]


def without_repeats(lines: Sequence[TextLine]) -> list[TextLine]:
    """Leave out a comment that says only what its one line says."""

    def squeezed(text: str) -> str:
        return "".join(text.split()).replace("(", "").replace(")", "")

    kept = []
    for i, line in enumerate(lines):
        if line.comment and not line.text.startswith("# back through "):
            alone = i + 2 >= len(lines) or lines[i + 2].comment or not lines[i + 2].text
            said, written = squeezed(line.text[2:].partition("  #")[0]), squeezed(lines[i + 1].text)
            if alone and (said == written or said == f"return{written.partition('=')[2]}"):
                continue
        kept.append(line)
    return kept


def _wrapped(line: str) -> str:
    indent, line = " " * (4 + len(line) - len(line.lstrip())), line.lstrip()
    if len(indent + line) <= WIDTH or line.startswith(("#", "raise")):
        return indent + line
    head, right = re.match(r"(\S+(?:, \S+)* \S{0,2}= |return |)(.*)", line).groups()  # type: ignore[union-attr]
    right = f"({right})" if _divisible(right) else right
    if head.endswith("= "):
        targets, sign = head.split(" ")[:-2], head.split(" ")[-2]
        long = len(targets) > 1 and len(indent + head + right.partition(" ")[0]) > WIDTH
        head = (f"({' '.join(targets)})" if long else " ".join(targets)) + f"\0{sign}\0"  # a line cannot end there
    pieces = textwrap.wrap(
        head + right,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(pieces).replace("\0", " ")


def _divisible(text: str) -> bool:
    """Whether a text has a space outside of brackets, where a line cannot end."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return True
    return False
