"""The texts of slides: a lesson's Markdown, cut into slides of one idea each, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from handout import joined
from slide_code import pre

TEXT, LETTERS = 6.9, {"en": 56, "ja": 29}  # lines of text on one slide, and letters of a line
CELL = {"en": 20, "ja": 11}  # letters in a line of a table's cell
END = {  # of a sentence: what follows it is another one
    "en": re.compile(r"[.!?][\"*)]{0,3}(?=\s+[\"*(`\[]{0,3}[A-Z`(\[])"),
    "ja": re.compile(r"[。！？][）)]*(?![」）)])"),
}
ITEM = re.compile(r"(?:- |・|(\d+)\. )")


@dataclass
class Slide:
    """The heading of a slide, and its parts as HTML. The parts after ``shown`` appear when the teacher goes on."""

    heading: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    shown: int = 99
    graph: str = ""


def texts(text: str, heading: str, language: str) -> Iterator[Slide]:
    """The slides of a cell of text: a few sentences on each, with the formula, list or table that belongs to them."""
    answer = ""
    waiting: list[str] = []  # a formula, for the sentence that explains it, or a sentence that announces something
    for kind, lines in blocks(text):
        if kind == "heading":
            if waiting:
                yield Slide(heading, waiting, answer)
            waiting, heading = [], inline(lines[0].lstrip("# "))
            if lines[0].startswith("# "):
                yield Slide(heading, kind="title")
            continue
        if kind == "rule":
            answer = "answer"
            continue
        taken = sum(height_of(part, language) for part in waiting)
        for piece in _pieces(kind, lines, language, TEXT - taken):
            if waiting and sum(height_of(part, language) for part in [*waiting, piece]) > TEXT + 1.5:
                yield Slide(heading, waiting, answer)
                waiting = []
            goes_on = kind == "formula" and not (waiting and is_text(waiting[-1]))
            waiting.append(piece)
            if not goes_on and not (is_text(piece) and re.search("[:：](</p>)?$", piece)):
                yield Slide(heading, waiting, answer)
                waiting = []
    if waiting:
        yield Slide(heading, waiting, answer)


def height_of(part: str, language: str) -> float:
    """The lines that a part takes on a slide."""
    texts = re.findall(r"<(?:p|li|tr).*?</(?:p|li|tr)>|[^\n]+", part, re.DOTALL)
    return sum(_lines(re.sub(r"<[^>]+>", "", text), language) for text in texts)


def is_text(part: str) -> bool:
    return re.match("<p[ >]", part) is not None


def _pieces(kind: str, lines: Sequence[str], language: str, room: float) -> list[str]:
    """A block as HTML: in several pieces if it is too much for one slide, with the first in the room of so many lines."""
    if kind == "formula":
        return [pre(lines, "formula")]
    if kind == "list":
        return _list(lines, language)
    if kind == "table":
        return _table(lines, language)
    text = joined([line.lstrip("> ") for line in lines] if kind == "box" else list(lines))
    groups = packed(sentences(text, language), language, room)
    if kind == "box":
        return [f'<p class="box">{inline(_together(group, language))}</p>' for group in groups]
    return [
        "".join(f"<p{' class=lead' * (i == 0)}>{inline(one)}</p>" for i, one in enumerate(group)) for group in groups
    ]


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a paragraph; one in bold letters or brackets stays whole."""
    found: list[str] = []
    ends = [0, *(match.end() for match in END[language].finditer(text)), len(text)]
    ends = [end + 2 * bool(_bold(text[:end]) and text.startswith("**", end)) for end in ends]  # with the end of bold
    for one in filter(None, (text[a:b].strip() for a, b in pairwise(ends))):
        inside = found and (_bold(found[-1]) or _depth(found[-1]) > 0 or found[-1].count("`") % 2)
        if inside:
            found[-1] = _together([found[-1], one], language)
        else:
            found.append(one)
    return found


def _bold(text: str) -> bool:
    """Whether bold letters begin and do not end. Within `code` the sign is a power."""
    return re.sub("`[^`]*`", "", text).count("**") % 2 == 1


def _depth(text: str) -> int:
    return sum(text.count(a) - text.count(b) for a, b in ("()", "（）", "「」"))


def _together(parts: Sequence[str], language: str) -> str:
    return ("" if language == "ja" else " ").join(parts)


def packed(parts: Sequence[str], language: str, room: float) -> list[list[str]]:
    """The parts in groups that fit on a slide each, of about the same length; a part that is longer is a group."""
    sizes = [_lines(part, language) for part in parts]
    groups: list[list[str]] = []
    while parts:
        count = -(-sum(sizes) // room) if room >= TEXT else 1
        most, n = min(room, max(sum(sizes) / count + 0.7, sizes[0])), 1
        while n < len(parts) and sum(sizes[: n + 1]) <= most:
            n += 1
        groups.append(list(parts[:n]))
        parts, sizes, room = parts[n:], sizes[n:], max(room, TEXT)
    return groups


def _lines(text: str, language: str) -> float:
    """The lines that a sentence takes on a slide, with the gap below it."""
    return 0.4 + -(-len(text) // LETTERS[language])


# Markdown, as far as the lessons use it


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a text, and what each is. A list goes on as long as its lines are indented or begin an item.

    The answers stand behind a rule.
    """
    for block in re.split(r"\n[ ]*\n", text.strip("\n")):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            yield "heading", lines[:1]
            lines = lines[1:]
        if not lines:
            continue
        starts = {"    ": "formula", "|": "table", ">": "box", "---": "rule"}
        kind = next((kind for start, kind in starts.items() if lines[0].startswith(start)), "")
        yield kind or ("list" if ITEM.match(lines[0]) else "paragraph"), lines


def inline(text: str) -> str:
    """A line as HTML, with `code`, **bold**, *stress*, and the words of links."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        text = match[1].replace(" ", "\u00a0") if len(match[1]) <= 20 else match[1]  # a short one stays in its line
        codes.append(f"<code>{escape(text, quote=False)}</code>")
        return f"\0{len(codes) - 1}\0"

    text = escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(
        r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*(])|(?<=[^\x00-\x7f])\*([^\s*]+)\*", r"<em>\1\2</em>", text
    )
    return re.sub("\0(\\d+)\0", lambda match: codes[int(match[1])], text)


def _list(lines: Sequence[str], language: str) -> list[str]:
    items: list[list[str]] = []
    for line in lines:
        if ITEM.match(line):
            items.append([ITEM.sub("", line, count=1)])
        else:
            items[-1].append(line)
    ordered = lines[0][0].isdigit()
    pieces, number = [], 1
    for group in packed([joined(item) for item in items], language, TEXT + 2):
        tag, start = ("ol", f' start="{number}"' * (number > 1)) if ordered else ("ul", "")
        pieces.append(f"<{tag}{start}>{''.join(f'<li>{inline(item)}</li>' for item in group)}</{tag}>")
        number += len(group)
    return pieces


def _table(lines: Sequence[str], language: str) -> list[str]:
    rows = [line.strip().strip("|").split("|") for line in lines]
    head, _, *body = rows
    html = "<tr>" + "".join(f"<th>{inline(cell.strip())}</th>" for cell in head) if any(map(str.strip, head)) else ""
    wide = CELL[language] * 3 // len(head)
    pieces: list[list[list[str]]] = [[]]
    taken = 0
    for row in body:
        size = max(1 + len(cell.strip()) // wide for cell in row)
        if pieces[-1] and taken + size > TEXT + 1:
            pieces.append([])
            taken = 0
        pieces[-1].append([inline(cell.strip()) for cell in row])
        taken += size
    return [f"<table>{html}{_rows(piece)}</table>" for piece in pieces]


def _rows(rows: list[list[str]]) -> str:
    return "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
