"""Divides a graph into scenes, which are small drawings. They are laid out here, so the page needs no layout program.

A scene is the program's top level, a module, a loop that shows one step at a time, or a part of a long scene. A node outside
of a scene that is connected with it is an alias at its border, so both ends of each edge are in the scene of its target.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draw.folding import Unit
from ..draw.labels import text_width
from .layout import Laid, layers_of, layouts
from .scene_tree import SceneTree

if TYPE_CHECKING:
    from ..record.model import Graph, Node

TEXT, SMALL, LINE = 13, 11, 18  # px
PADDING = 22
NUMBERS = 132  # the width of "∂ -0.0000e-00 + -0.0000e-00" in px
# Of a map in a box: the size of a cell in px, and the rows for which there is room. There is room for twice as many columns.
CELL, MOST_CELLS = 12, 8
WIDEST = 260
STEP = 16  # px; sizes are multiples of it, so that the boxes of equal layers are equal, even those of layers 9 and 10
HEAD = 66  # the height of the words in the box of a scene, as in places.js
PICTURE = (560, 400)  # the largest picture of a scene in its box, in px
SHRUNK = 0.35  # the largest scale of that picture
# The pane of the graph, in px if the smallest text has 12 px: on a phone, on a page, on a projector with a card and without it,
# and in projector mode on a phone.
PANES = (390, 340), (560, 410), (420, 250), (640, 240), (190, 280)
LARGEST = 1.2  # the largest scale of a scene; with it, a layout needs no more columns
MOST_COLUMNS = 4
TURNED = 0.88  # what a layout is worth for each line that turns into the next column: such a line is harder to follow
GROWN = 1.4  # how much larger the end of the program is, as in parts.js
FAR = 6  # the layers between two readers of a leaf from which on the second one reads an alias
MOST_AROUND = 24  # aliases for values that only closed scenes read, and for readers outside
MOST_READERS = 4  # outside readers of one operation that become aliases; the last one says how many more there are


def scenes(graph: Graph) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the scenes for the page, the program's first, and for each node the number of its scene."""
    sizes = [_size(node) for node in graph.nodes]
    tree = SceneTree(graph)
    order = tree.scenes()
    numbers = {id(unit): i for i, unit in enumerate(order)}
    for end, _ in graph.ends[:1]:
        sizes[end] = round(GROWN * sizes[end][0]), round(GROWN * 1.2 * sizes[end][1])  # so that the value fits, too
    drawn: dict[Hashable, int] = {}
    result: list[dict[str, Any]] = [{} for _ in order]
    pictures: dict[int, tuple[int, int]] = {}
    for number, unit in reversed(list(enumerate(order))):  # a scene before the scene around it, whose box shows it
        scene = _Scene(tree, unit, numbers)
        data = _about(tree, unit, numbers)
        key = scene.look(sizes, pictures)
        like = drawn.setdefault(key, number)
        result[number] = data | (scene.data(key) if like == number else {"like": like, **scene.ids()})
        pictures[id(unit)] = _picture_size(result[like], len(unit.iterations))
    home = [numbers[id(tree.home[node.id].unit)] for node in graph.nodes]
    return result, home


def _about(tree: SceneTree, unit: Unit, numbers: Mapping[int, int]) -> dict[str, Any]:
    parent = tree.stages[id(unit)][0].parent
    module = None if unit.module is None else tree.graph.modules[unit.module]
    rounds = unit.kind == "loop" and (module is None or module.call is not None)  # layers have names of their own
    return {
        "parent": None if parent is None else numbers[id(parent.unit)],
        "kind": unit.kind,
        "title": tree.titles[id(unit)],
        "of": "" if module is None else module.kind,
        "count": len(unit.iterations),
        "rounds": tree.calls.titles(unit.operations) if rounds else [],
    }


# --- sizes ---


def _size(node: Node) -> tuple[int, int]:
    """Return the size of a box with name, operation, value and gradient, the last two as text or as heat cells."""
    lines = 2 if node.kind == "constant" else 3 if node.operation is None else 4
    name = text_width(node.label, TEXT)
    if name > NUMBERS:  # it is broken in two lines, one of which may be longer than the other
        lines, name = lines + 1, 0.65 * name
    width = max(name, text_width(node.operation or "", SMALL), NUMBERS)
    height = LINE * lines + 12
    shape: tuple[int, ...] = np.shape(node.value) if not isinstance(node.value, tuple) else ()
    if math.prod(shape) > 1:
        rows, columns = min(math.prod(shape[:-1]), MOST_CELLS), min(shape[-1], 2 * MOST_CELLS)
        width = max(width, 2 * columns * CELL + 24)
        height += max(rows * CELL - LINE, 0) + 6
    return STEP * math.ceil((min(width, WIDEST) + PADDING) / STEP), int(height)


def _picture_size(scene: Mapping[str, Any], count: int) -> tuple[int, int]:
    """Return the size of the picture of a scene in its box: all of its iterations, in rows."""
    width, height = (scene["forms"][0][size] for size in ("width", "height"))
    columns = math.ceil(math.sqrt(count * height * PICTURE[0] / (width * PICTURE[1])))
    width, height = width * min(columns, count), height * math.ceil(count / columns)
    scale = min(PICTURE[0] / width, PICTURE[1] / height, SHRUNK)
    return round(width * scale), round(height * scale)


def _scene_size(tree: SceneTree, unit: Unit, picture: tuple[int, int]) -> tuple[int, int]:
    kind = "" if unit.module is None else tree.graph.modules[unit.module].kind
    width = max(text_width(tree.titles[id(unit)], TEXT), text_width(kind, SMALL), NUMBERS)
    width, height = max(min(width, WIDEST) + PADDING + 20, picture[0] + 12), HEAD + picture[1] + 8
    return STEP * math.ceil(width / STEP), STEP * math.ceil(height / STEP)


def _forms(sizes: Sequence[tuple[int, int]], lines: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the layouts of a scene that fill panes of different shapes best.

    The lines of each one lead from top to bottom, or from left to right. It is in columns, or in rows, if this makes the
    picture much larger.
    """
    ways = layouts(sizes, lines, MOST_COLUMNS)

    def scale(laid: Laid, pane: tuple[int, int]) -> float:
        return TURNED**laid.turns * min(pane[0] / math.ceil(laid.width), pane[1] / math.ceil(laid.height), LARGEST)

    best = [max(ways, key=lambda laid: scale(laid, pane)) for pane in PANES]
    return [_form(laid) for laid in ways if any(laid is one for one in best)]


def _form(laid: Laid) -> dict[str, Any]:
    """Return where a layout puts the boxes and lines of a scene."""
    return {
        "width": math.ceil(laid.width),
        "height": math.ceil(laid.height),
        "worth": round(TURNED**laid.turns, 3),
        "at": [[round(x), round(y)] for x, y in laid.centres],
        "points": [[[round(x), round(y)] for x, y in route] for route in laid.routes],
    }


# --- one scene ---


class _Scene:
    """The boxes and lines of one scene.

    Attributes:
        boxes: the kind of each box ("node", "scene", "alias"), and its id in each step, or None.
        lines: from (source box, target box) to the ids of the edges in each step.
    """

    def __init__(self, tree: SceneTree, unit: Unit, numbers: Mapping[int, int]) -> None:
        self.tree = tree
        self.unit = unit
        self.steps = len(unit.iterations)
        self.boxes: list[tuple[str, list[int | None]]] = []
        self._scenes: dict[int, Unit] = {}  # box -> its scene in the first step
        self._results: dict[int, list[int | None]] = {}  # the same box -> the result of its scene in each step
        self.lines: dict[tuple[int, int], list[list[int]]] = defaultdict(lambda: [[] for _ in unit.iterations])
        self._aliases: dict[tuple[int | None, ...], int] = {}
        self._more: dict[int, int] = {}  # alias -> the number of other readers that have no alias
        self._nodes: dict[int, int] = {}  # node -> its box
        self._units: dict[int, int] = {}  # id of the unit of a scene -> its box
        self._own_boxes(numbers)
        self._edges = tree.numbers
        self._lines_inside()
        self._readers()
        self._copies()

    def _own_boxes(self, numbers: Mapping[int, int]) -> None:
        for items in zip(*self.unit.iterations):
            if items[0].node is not None:
                self._box("node", [item.node for item in items])
            else:
                self._units |= {id(item): len(self.boxes) for item in items}
                self._scenes[len(self.boxes)] = items[0]
                self._results[len(self.boxes)] = [self.tree.result(item) for item in items]
                self.boxes.append(("scene", [numbers[id(item)] for item in items]))
        for values in zip(*(stage.values for stage in self.tree.stages[id(self.unit)])):
            self._box("node", list(values))

    def _box(self, kind: str, ids: list[int | None]) -> None:
        self._nodes |= {node: len(self.boxes) for node in ids if node is not None}
        self.boxes.append((kind, ids))

    def _where(self, node: int) -> tuple[int, int]:
        """Return the step with a node, and the box that is or holds it; (-1, -1) for a node outside of the scene."""
        path = self.tree.home[node].path()
        for stage, inner in zip(path, [*path[1:], None]):
            if stage.unit is self.unit:
                return stage.step, self._nodes.get(node, -1) if inner is None else self._units[id(inner.unit)]
        return -1, -1

    def _alias(self, ids: tuple[int | None, ...]) -> int:
        if ids not in self._aliases:
            self._aliases[ids] = len(self.boxes)
            self.boxes.append(("alias", list(ids)))
        return self._aliases[ids]

    def _lines_inside(self) -> None:
        """Add a line for each edge into the scene. A source outside is an alias, the same one for all steps."""
        around, nodes = 0, self.tree.graph.nodes
        for column in zip(*(self._edges_into(t) for t in range(self.steps))):
            if all(nodes[edge.source].numeral for _, edge in column):
                continue  # it has no box
            outside: list[int | None] = [None] * self.steps
            for t, (number, edge) in enumerate(column):
                step, box = self._where(edge.source)
                target = self._where(edge.target)[1]
                if box < 0 or step != t:
                    outside[t] = edge.source
                elif box != target:
                    self.lines[box, target][t].append(number)
            if any(source is not None for source in outside):
                ids = tuple(outside)
                if self.boxes[target][0] == "scene" and ids not in self._aliases:
                    around += 1
                    if around > MOST_AROUND:
                        continue
                alias = self._alias(ids)
                for t, (number, _) in enumerate(column):
                    if outside[t] is not None:
                        self.lines[alias, target][t].append(number)

    def _edges_into(self, t: int) -> list[tuple[int, Any]]:
        into = self.tree.graph.edges_into
        return [(self._edges[id(edge)], edge) for o in self.unit.operations[t] for edge in into[o]]

    def _readers(self) -> None:
        """Add aliases for readers outside of the scene. The gradients of its results come from them."""
        left = MOST_AROUND
        for box, (kind, ids) in enumerate(list(self.boxes)):
            if kind != "node":
                continue
            outside = [self._read_outside(node, t) for t, node in enumerate(ids)]
            count = max(map(len, outside))
            for n in range(min(MOST_READERS, count)):
                found = [edges[n] if n < len(edges) else None for edges in outside]
                targets = tuple(None if edge is None else edge.target for edge in found)
                left -= targets not in self._aliases
                if left < 0:
                    return
                alias = self._alias(targets)
                if n == MOST_READERS - 1 and count > MOST_READERS:
                    self._more[alias] = count - MOST_READERS
                for t, edge in enumerate(found):
                    if edge is not None:
                        self.lines[box, alias][t].append(self._edges[id(edge)])

    def _read_outside(self, node: int | None, t: int) -> list[Any]:
        if node is None:
            return []
        edges = {edge.target: edge for edge in self.tree.out_of.get(node, ())}
        return [edge for edge in edges.values() if self._where(edge.target)[0] != t]

    def _copies(self) -> None:
        """Give a leaf an alias near its readers that are far below the first one, so that no line runs past everything."""
        if max(Counter(source for source, _ in self.lines).values(), default=0) < 2:
            return
        layer = layers_of(len(self.boxes), list(self.lines))
        read = {target for _, target in self.lines}
        # leaf -> the box that the next reader uses, and the layer above the first reader of this box
        copies: dict[int, tuple[int, int]] = {}
        lines: dict[tuple[int, int], list[list[int]]] = {}
        for (source, target), edges in sorted(self.lines.items(), key=lambda item: layer[item[0][1]]):
            box = source
            if self.boxes[source][0] == "node" and source not in read:
                box, home = copies.setdefault(source, (source, layer[target] - 1))
                if layer[target] - home > FAR:
                    box, home = len(self.boxes), layer[target] - 1
                    self.boxes.append(("alias", self.boxes[source][1]))
                    copies[source] = box, home
            lines[box, target] = edges
        if copies.keys() != {box for box, _ in copies.values()}:
            self.lines = lines

    # --- as data ---

    def look(self, sizes: Sequence[tuple[int, int]], pictures: Mapping[int, tuple[int, int]]) -> tuple[Any, ...]:
        """Return the sizes of the boxes, and the lines. Scenes with the same look are laid out once."""
        found = []
        for box, (kind, ids) in enumerate(self.boxes):
            if kind == "scene":
                inner = self._scenes[box]
                result = self._results[box][0]
                found.append(_scene_size(self.tree, inner, pictures[id(inner)]) if result is None else sizes[result])
            else:
                several = [sizes[node] for node in ids if node is not None]
                found.append((max(w for w, _ in several), max(h for _, h in several)))
        return tuple(found), tuple(self.lines)

    def data(self, look: tuple[Any, ...]) -> dict[str, Any]:
        sizes, lines = look
        about = self.ids()
        for box, (w, h) in zip(about["boxes"], sizes):
            box |= {"w": w, "h": h}
        for line, (source, target) in zip(about["lines"], lines):
            line |= {"from": source, "to": target}
        return {"forms": _forms(sizes, list(lines)), **about}

    def ids(self) -> dict[str, Any]:
        """Return the contents of the boxes, and the edges of the lines."""
        loop = self.unit.kind == "loop"
        boxes = []
        for box, (kind, ids) in enumerate(self.boxes):
            about: dict[str, Any] = {"scene" if kind == "scene" else "node": ids if loop else ids[0]}
            results = self._results.get(box, [None])
            if results[0] is not None:
                about["result"] = results if loop else results[0]
            more = {"more": self._more[box]} if box in self._more else {}
            boxes.append(about | ({"alias": True} if kind == "alias" else {}) | more)
        return {"boxes": boxes, "lines": [{"edges": e if loop else e[0]} for e in self.lines.values()]}
