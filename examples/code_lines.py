"""Long lines of programs on slides and sheets: where they go on below, as a person would write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")  # Japanese letters and punctuation marks
TOKEN = re.compile(
    r"""(?P<comment>\#.*)|(?P<kind>(?:\b[rbfu]+)?)(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)"""
    r"""|(?P<comma>,\ )|\ (?=(?:(?P<word>and|or|if|for|else)|(?P<sum>[-+])|(?P<other>[*/@%|&<>]|\*\*|//|[=!<>]=))\ )"""
    r"""|(?P<open>[(\[{])|[)\]}]|\w+|.""",
    re.VERBOSE,
)
KINDS = ("comma", "word", "sum", "other", "open")  # of places, the best first; then come those in a text


def columns(line: str) -> int:
    """The letters of a line of a program; a Japanese one is as wide as two."""
    return len(line) + len(WIDE.findall(line))


def depth_of(line: str) -> int:
    """The letters before the place where a long line goes on: four more than it begins with, or eight if a block follows."""
    return len(line) - len(line.lstrip()) + (8 if line.endswith(":") else 4)


def folds(line: str, width: int, texts: bool = True) -> dict[int, str]:
    """Where a line that is too long goes on below, and what is written there: the signs that end a text and begin it again.

    The best place is in the fewest brackets, but at least in one, as Python asks: behind a comma, before an operator, behind a
    bracket, in a text. Texts stay whole if ``texts`` is false. Where there is no place the browser goes on between two words.
    """
    places = {at: (rank, said) for at, rank, said in _places(line) if texts or not said}
    found: dict[int, str] = {}
    start, room = 0, width
    while columns(line[start:]) > room:
        fits = [at for at in places if at > start + room // 3 and columns(line[start:at].rstrip()) <= room]
        if not fits:
            break
        at = min(fits, key=lambda at: (places[at][0], -at))
        found[at] = places[at][1]
        start, room = at, width - depth_of(line)
    return found


def _places(line: str) -> Iterator[tuple[int, tuple[int, int], str]]:
    """The places where a line may go on: how good each is (less is better), and what is written there."""
    depth = 0
    for token in TOKEN.finditer(line):
        depth += bool(token["open"]) - (token[0] in (")", "]", "}"))
        if token["comment"]:
            yield from ((token.start() + space.end(), (-1, 0), "") for space in re.finditer(r"(?<!#) ", token[0]))
        elif token["text"] and depth:
            said = f"{token['quote']}\n{token['kind']}{token['quote']}"
            for space in re.finditer(r"(?<=([;,.]))? (?=\S)", token["text"]):
                inside = token["text"][: space.start()]
                if "f" not in token["kind"] or inside.count("{") == inside.count("}"):
                    yield token.start("text") + space.end(), (depth, len(KINDS) + (not space[1])), said
        elif depth:
            yield from ((token.end(), (depth, rank), "") for rank, kind in enumerate(KINDS) if token[kind])


def height(line: str, width: int) -> int:
    """The lines that a line takes."""
    ends = [*folds(line, width), len(line)]
    rest = width - depth_of(line)
    first, *others = (columns(line[a:b].rstrip()) for a, b in zip([0, *ends], ends, strict=False))
    return 1 + -(-max(0, first - width) // rest) + sum(max(1, -(-other // rest)) for other in others)


def hung(html: str, source: str, width: int, texts: bool | None = True) -> str:
    """A program as HTML, whose lines go on, where they are too long, deeper than they begin.

    Without ``texts`` (None) the browser alone says where.
    """
    return "".join(
        f'<span class="long" style="--deep: {depth_of(line)}ch">{_folded(part, line, width, texts)}</span>'
        if columns(line) > width - 4
        else part
        for part, line in zip(html.splitlines(keepends=True), source.splitlines(), strict=True)
    )


def _folded(html: str, line: str, width: int, texts: bool | None) -> str:
    letters = re.findall(r"(?:<[^>]+>)*(?:&\w+;|[^<&])|(?:<[^>]+>)+$", html)
    if texts is not None:
        for at, said in folds(line, width, texts).items():
            letters[at] = "<br>".join(said.split("\n")) + letters[at] if said else f"<br>{letters[at]}"
    return "".join(letters)
