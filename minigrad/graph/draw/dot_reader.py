"""Reads DOT text as :mod:`.dot` writes it, so that our own pictures need no second description of how a graph looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Attributes = dict[str, str]

_TOKEN = re.compile(
    r'\s*(?:(?P<html><)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<word>[\w.]+)|(?P<mark>->|[{}\[\]=;,]))', re.DOTALL
)


@dataclass
class Frame:
    """What stands in a frame of its own, a ``subgraph cluster_...``; the outermost is the whole picture.

    Attributes:
        nodes: the names of those in it, but not in an inner frame.
        frames: the numbers of the inner frames.
    """

    name: str
    attributes: Attributes = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)


@dataclass
class Picture:
    """The statements of a DOT text. Of what is invisible only the frames are left.

    Attributes:
        frames: the first is the whole.
        nodes: name -> attributes, those of all nodes among them.
        lines: source, target and attributes.
    """

    frames: list[Frame] = field(default_factory=lambda: [Frame("")])
    nodes: dict[str, Attributes] = field(default_factory=dict)
    lines: list[tuple[str, str, Attributes]] = field(default_factory=list)


def read_dot(text: str) -> Picture:
    """The picture that DOT text of ours describes. (It reads what we write, not all that Graphviz does.)"""
    picture = Picture()
    tokens = list(_tokens(text))
    defaults: dict[str, Attributes] = {"node": {}, "edge": {}}
    inside: list[int | None] = []  # the frames around, None for braces that are no frame
    i = 0
    while i < len(tokens):
        token, following = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else ""
        if token in ("digraph", "subgraph"):
            i += 3
            inside.append(
                0 if token == "digraph" else _frame(picture, following, next(f for f in inside[::-1] if f is not None))
            )
        elif token == "{":
            inside.append(None)
            i += 1
        elif token == "}":
            inside.pop()
            i += 1
        elif following == "=":
            if inside[-1] is not None:
                picture.frames[inside[-1]].attributes[token] = tokens[i + 2]
            i += 3
        elif following == "->":
            attributes, end = _attributes(tokens, i + 3)
            if attributes.get("style") != "invis":
                picture.lines.append((token, tokens[i + 2], defaults["edge"] | attributes))
            i = end
        elif token == ";":
            i += 1
        else:
            attributes, end = _attributes(tokens, i + 1)
            if token in defaults:
                defaults[token].update(attributes)
            elif token == "graph" and inside[-1] is not None:
                picture.frames[inside[-1]].attributes.update(attributes)
            elif inside[-1] is not None and attributes.get("style") != "invis":
                picture.nodes[token] = defaults["node"] | attributes
                picture.frames[inside[-1]].nodes.append(token)
            i = end
    return picture


def plain_text(escaped: str, times: int = 1) -> str:
    """Text in which every backslash was doubled, ``times`` over."""
    for _ in range(times):
        escaped = escaped.replace(r"\\", "\\")
    return escaped


def read_places(text: str) -> tuple[Attributes, dict[str, Attributes]]:
    """Of DOT text with places, as Graphviz gives it, the attributes of the whole, and of its nodes and frames by name and of
    its lines by id."""
    tokens = list(_tokens(text.replace("\\\n", "")))
    whole: Attributes = {}
    found: dict[str, Attributes] = {}
    inside: list[str] = []
    for i, token in enumerate(tokens):
        if token == "{":
            inside.append(tokens[i - 1] if tokens[i - 2] in ("digraph", "subgraph") else "")
        elif token == "}":
            inside.pop()
        elif i + 1 < len(tokens) and tokens[i + 1] == "[":
            attributes, _ = _attributes(tokens, i + 1)
            if token == "graph" and len(inside) == 1:
                whole |= attributes
            elif tokens[i - 1] == "->":
                found[attributes.get("id", "invisible")] = attributes
            elif token not in ("node", "edge"):
                name = inside[-1] if token == "graph" else token
                found[name] = found.get(name, {}) | attributes
    return whole, found


def _frame(picture: Picture, name: str, around: int) -> int:
    picture.frames[around].frames.append(len(picture.frames))
    picture.frames.append(Frame(name))
    return len(picture.frames) - 1


def _attributes(tokens: list[str], i: int) -> tuple[Attributes, int]:
    """What stands in brackets from ``i`` on, and where it ends."""
    found: Attributes = {}
    if i < len(tokens) and tokens[i] == "[":
        i += 1
        while tokens[i] != "]":
            if tokens[i] == ",":
                i += 1
                continue
            found[tokens[i]] = tokens[i + 2]
            i += 3
        i += 1
    return found, i


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        if match["html"] is None:
            yield match[match.lastgroup or 0]
            continue
        start, depth = position, 1
        for bracket in re.finditer("[<>]", text[start:]):
            depth += 1 if bracket[0] == "<" else -1
            if not depth:
                position = start + bracket.end()
                break
        yield text[start : position - 1]
