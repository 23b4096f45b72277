"""The texts of slides: a lesson's Markdown, cut into slides of one idea each, as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from handout import joined
from slide_code import height, pre
from slide_pictures import Graph

TEXT, LETTERS = 11.5, {"en": 62, "ja": 32}  # lines of text on one slide, and letters of a line
ROWS, CELL = 7.9, {"en": 20, "ja": 11}  # lines of a table on one slide, and letters in a line of a cell
END = {  # of a sentence: what follows it is another one
    "en": re.compile(r"[.!?][\"*)]{0,3}(?=\s+[\"*(`\[]{0,3}[A-Z`(\[])"),
    "ja": re.compile(r"[。！？][）)]*(?![」）)])"),
}
MINUTES = {"en": r"\d minutes", "ja": r"\d分"}
ITEM = re.compile(r"(?:- |・|(\d+)\. )")


@dataclass
class Slide:
    """The heading of a slide, and its parts as HTML. The parts after ``shown`` appear when the teacher goes on."""

    heading: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    shown: int = 99
    graph: Graph | None = None
    picture: bool = False
    asks: bool = False


def texts(text: str, heading: str, language: str, left_out: Sequence[str]) -> Iterator[Slide]:
    """The slides of a cell of text: a few sentences on each, with the formula, list or table that belongs to them.

    A sentence in which one of the patterns is found is left out.
    """
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
        for piece in _pieces(kind, lines, language, TEXT - taken, left_out):
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


def height_of(part: str, language: str, share: float = 1) -> float:
    """The lines that a part takes on a slide, or in a column that is as wide as a share of it."""
    if part.startswith("<pre>") or 'class="said"' in part:
        return 0.8 * height(html.unescape(re.sub(r"<[^>]+>", "", part))) + 0.4
    texts = re.findall(r"<(?:p|li|tr).*?</(?:p|li|tr)>|[^\n]+", part, re.DOTALL)
    return sum(_lines(re.sub(r"<[^>]+>", "", text), language, share) for text in texts)


def is_text(part: str) -> bool:
    return re.match("<p[ >]", part) is not None


def is_words(part: str) -> bool:
    """Whether a part is text, a list or a table, and no program or picture."""
    return re.match("<(p|ul|ol|table)[ >]", part) is not None


def is_formula(parts: Sequence[str]) -> bool:
    return any(part.startswith('<pre class="formula') for part in parts)


def new_idea(parts: Sequence[str]) -> bool:
    """Whether an idea begins: a text that opens with words in bold letters, or stands in a box."""
    return bool(parts) and re.match('<p(?: class=lead)?><b>|<p class="box"', parts[0]) is not None


def _pieces(kind: str, lines: Sequence[str], language: str, room: float, left_out: Sequence[str]) -> list[str]:
    """A block as HTML: in several pieces if it is too much for one slide, with the first in the room of so many lines."""
    if kind == "formula":
        return [pre(lines, "formula")]
    if kind == "list":
        return _list(lines, language)
    if kind == "table":
        return _table(lines, language)
    text = joined([line.lstrip("> ") for line in lines] if kind == "box" else list(lines))
    kept = [one for one in sentences(text, language) if not any(re.search(pattern, one) for pattern in left_out)]
    groups = packed(kept, language, room)
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
    ends = [end + (language == "ja" and _stressed(text[:end]) and text[end : end + 1] == "*") for end in ends]
    for one in filter(None, (text[a:b].strip() for a, b in pairwise(ends))):
        inside = found and (_bold(found[-1]) or _depth(found[-1]) > 0 or found[-1].count("`") % 2)
        inside = inside or (found and language == "ja" and _stressed(found[-1]))
        if inside:
            found[-1] = _together([found[-1], one], language)
        else:
            found.append(one)
    return found


def _bold(text: str) -> bool:
    """Whether bold letters begin and do not end. Within `code` the sign is a power."""
    return re.sub("`[^`]*`", "", text).count("**") % 2 == 1


def _stressed(text: str) -> bool:
    """Whether a stressed text begins and does not end. A sign between spaces multiplies."""
    return len(re.findall(r"(?<!\*)\*(?!\*)", re.sub(r"`[^`]*`| \* ", "", text))) % 2 == 1


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


def _lines(text: str, language: str, share: float = 1) -> float:
    """The lines that a sentence takes on a slide, with the gap below it."""
    return 0.34 + -(-len(text) // int(share * LETTERS[language]))


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
        r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*(])|(?:(?<=[^\x00-\x7f])|^)\*([^\s*]+)\*", r"<em>\1\2</em>", text
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
    for group in packed([joined(item) for item in items], language, TEXT - 1):
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
        if pieces[-1] and taken + size > ROWS:
            pieces.append([])
            taken = 0
        pieces[-1].append([inline(cell.strip()) for cell in row])
        taken += size
    return [f"<table>{html}{_rows(piece)}</table>" for piece in pieces]


def _rows(rows: list[list[str]]) -> str:
    return "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
