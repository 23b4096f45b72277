"""``draw_dot``: from a Tensor to a drawing of how it was computed, which shows itself as text, picture or page."""

from __future__ import annotations

import html
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.tensor import Tensor
from ..errors import ArgumentError, GraphError, MissingExtraError
from .draw.cells import MOST_NODES
from .draw.depict import depict
from .draw.diff import diff
from .draw.dot import write_dot
from .draw.graphviz import lay_out, responsive, scrolling
from .draw.picture import Picture
from .draw.simplify import simplified
from .draw.text import write_text
from .pages.viewer import write_page
from .record.capture import capture
from .record.derivatives import check_derivatives
from .record.model import Graph

PICTURES = (".svg", ".png", ".pdf")
FORMATS = (*PICTURES, ".html", ".dot", ".gv", ".txt")
DRAWN_COLORS = ("grad", "time", "memory", "check")


@dataclass(slots=True, repr=False)
class Drawing(Graph):
    """A graph, and how it is drawn, as for :func:`draw_dot`.

    Pictures alone are made smaller by that; ``nodes`` and ``edges`` are always the whole graph.

    Attributes:
        rankdir: "LR" (left to right) or "TB" (top to bottom); None lets the size decide.
    """

    rankdir: str | None = None
    depth: int | None = None
    color: str | None = None
    max_nodes: int = 80
    tensors: bool = False
    views: bool = True

    @classmethod
    def of(cls, graph: Graph, **how: Any) -> Drawing:
        """A drawing of a graph, of which it has the nodes, not copies of them; ``how`` are its own fields."""
        return cls(graph.nodes, graph.edges, graph.modules, graph.ends, graph.programs, **how)

    def drawn(self, most: float | None = None) -> Drawing:
        """The graph as it is drawn: with its lanes, without views, with modules as boxes, as far as was asked for.

        With more nodes than ``most`` (by default ``max_nodes``) equal layers, and equal steps of a loop, become one, and then
        modules become boxes.
        """
        most = self.max_nodes if most is None else most
        return simplified(self, most, depth=self.depth, views=self.views)

    def to_dot(self) -> str:
        """The drawing in the DOT language. Needs no program."""
        return self.drawn().dot(explained=True)

    def dot(self, *, explained: bool = False) -> str:
        """The nodes as they are, in the DOT language; with a legend below if ``explained``."""
        return write_dot(self.picture(explained=explained))

    def picture(self, *, explained: bool = False) -> Picture:
        """The nodes as they are, as a picture; with a legend below if ``explained``."""
        return depict(self, rankdir=self.rankdir, color=self.color, tensors=self.tensors, explained=explained)

    def to_text(self, colour: bool | None = None) -> str:
        """The graph as a tree for terminals, the loss first; ``None`` colours where the terminal can. Needs no program."""
        return write_text(self, colour)

    def diff(self, other: Graph) -> Drawing:
        """``other`` as a change of this graph: added, removed and changed operations are marked, and coloured in drawings.

        Raises:
            ArgumentError: ``other`` is no Graph.
        """
        if not isinstance(other, Graph):
            raise ArgumentError(
                f"diff compares with another Graph, got {type(other).__name__}: give it draw_dot(tensor)"
            )
        return diff(self, other if isinstance(other, Drawing) else Drawing.of(other))

    def to_svg(self) -> str:
        """The drawing as SVG text, which scales to the width of its page: laid out by Graphviz where there is one, else by us.

        Raises:
            GraphError: the drawing is too large to be laid out.
        """
        return responsive(self._lay_out("svg").decode())

    def to_html(self, path: str | Path, *, language: str = "en") -> Path:
        """Write a page with the drawing, which tells about a node what the trace knows when it is clicked: one file, offline.

        What is too large to be laid out is shown as DOT text, with a sentence that says so.

        Raises:
            ArgumentError: ``language`` is not "en" or "ja".
        """
        drawn = self.drawn()
        return write_page(drawn, drawn.picture(), Path(path), language)

    def render(self, path: str | Path) -> Path:
        """Write the drawing to ``path``, in the format its suffix names: .svg, .png, .pdf, .html, .dot or .gv, or .txt.

        A .txt file gets the tree of :meth:`to_text`.

        A picture has at most 2,500 nodes, and a PNG or PDF needs Graphviz. Otherwise the DOT text is written beside it, and
        a warning says why.

        Returns:
            The path of what was written.

        Raises:
            ArgumentError: another suffix.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in FORMATS:
            raise ArgumentError(
                f"render({str(path)!r}): the suffix {path.suffix!r} names no format; "
                f"end the path in one of {', '.join(FORMATS)}"
            )
        if suffix == ".html":
            return self.to_html(path)
        if suffix in PICTURES:
            try:
                content = self.to_svg().encode() if suffix == ".svg" else self._lay_out(suffix[1:])
            except (MissingExtraError, GraphError) as error:
                path = path.with_suffix(".dot")
                warnings.warn(f"{error} ({path} has the DOT text instead.)", stacklevel=2)
            else:
                path.write_bytes(content)
                return path
        text = self.to_text(colour=False) if suffix == ".txt" else self.to_dot()
        path.write_text(text, encoding="utf-8")
        return path

    def _lay_out(self, format: str) -> bytes:
        return lay_out(self.drawn().picture(explained=True), format)

    def _repr_html_(self) -> str:
        """For notebooks: as wide as there is room, down to half the size, and beyond that it scrolls."""
        try:
            return scrolling(self.to_svg())
        except GraphError as error:
            return f"<p>{html.escape(str(error))}</p><pre>{html.escape(self.to_dot())}</pre>"


def draw_dot(
    tensor: Tensor | Sequence[Tensor],
    params: Any = None,
    depth: int | None = None,
    color: str = "grad",
    rankdir: str | None = None,
    max_nodes: int = 80,
    *,
    tensors: bool = False,
    views: bool = True,
) -> Drawing:
    """The computation graph of ``tensor``: how it was computed from parameters and inputs. ``make_dot`` is the same.

    A value shows the norm of its ``grad`` ("grad -" while it has none); operations show theirs, and the modules they ran
    in, if they were recorded inside ``with minigrad.trace():``. Call it again after ``backward()`` to see the gradients.
    A backward pass that was recorded in a trace (``create_graph=True``) is a lane of its own, and dotted lines lead from the
    operations of the forward pass to the first ones of their rules: ``draw_dot([y, dy, ddy])``.

    Args:
        tensor: a Tensor, or a list of them, of which the first is the loss.
        params: which tensors are parameters, and their names: a dict from name to Tensor, or anything with
            ``named_parameters()``. Others are parameters if they are of a subclass of Tensor (``nn.Parameter``), else
            inputs, and bear their ``Tensor.name``. A computed tensor in the dict is drawn as one that has a name, and an
            array or Tensor that needs no gradient, which only a trace sees, under its name.
        depth: how many levels of modules are open. Those below are one box each, which shows the gradient of its last
            operation. By default all are open.
        color: what the colours show: "grad" (the norm of the gradient, in bins of its logarithm), "time" (of the operation
            and of its rules), "memory" (bytes kept for backward, of an array that several keep at the first), or "check" (as
            ``check_edges``: which derivatives are right).
        rankdir: "LR" for left to right, "TB" for top to bottom; by default up to 25 nodes lie left to right.
        max_nodes: a drawing of more nodes is made smaller: equal layers that follow each other become one ("x 6"), and the
            equal steps of a loop ("loop x 200"); if that is not enough and ``depth`` is not given, modules become boxes.
        tensors: show the numbers, as cells ``data | grad``, in a drawing of at most 40 nodes. Needs a trace.
        views: whether operations that only reshape are drawn.

    Raises:
        GraphError: ``tensor`` was not recorded, or not in a trace although ``tensors`` or ``color`` need one.
        ArgumentError: an argument is something else; or ``tensors=True`` for more than 40 nodes.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([3.0, 4.0], requires_grad=True, name="x")
        >>> np.sum(x).backward()
        >>> drawing = mg.draw_dot(np.sum(x * 2))  # shows itself in a notebook; render("x.svg") writes a picture
        >>> print(drawing.to_text(colour=False), end="")
        loss: sum  () float64
        └─ multiply 1  (2,) float64
           └─ x  (2,) float64  |grad| 1.41
    """
    if rankdir not in (None, "LR", "TB"):
        raise ArgumentError(f"draw_dot takes rankdir='LR' or 'TB', got {rankdir!r}")
    if color not in DRAWN_COLORS:
        hint = " (Drawing.diff() makes a graph that shows changes)" if color == "change" else ""
        raise ArgumentError(f"draw_dot takes for color one of {', '.join(DRAWN_COLORS)}{hint}, got {color!r}")
    if depth is not None and not (isinstance(depth, int) and depth >= 0):
        raise ArgumentError(f"draw_dot takes for depth the number of levels of modules to open, got {depth!r}")
    if not isinstance(max_nodes, int) or max_nodes < 1:
        raise ArgumentError(f"draw_dot takes for max_nodes a number from 1 on, got {max_nodes!r}")
    checked = color == "check"
    graph = capture(tensor, params, caller="check_edges" if checked else "draw_dot", origins=not checked)
    if checked:
        check_derivatives(graph)
    drawing = Drawing.of(
        graph, rankdir=rankdir, depth=depth, color=color, max_nodes=max_nodes, tensors=tensors, views=views
    )
    if color in ("time", "memory") or tensors:
        _check_trace(drawing, f"color={color!r}" if not tensors else "tensors=True")
    return drawing


make_dot = draw_dot


def _check_trace(drawing: Drawing, argument: str) -> None:
    """Raise unless the operations know what ``argument`` asks for."""
    for node in drawing.operations():
        if node.seconds is None or (drawing.tensors and node.value is None):
            raise GraphError(
                f"draw_dot(..., {argument}) needs a trace, and '{node.operation}' was recorded outside of one: compute the "
                "tensor inside 'with minigrad.trace():'"
            )
    drawn = len(drawing.drawn().nodes) if drawing.tensors else 0
    if drawn > MOST_NODES:
        raise ArgumentError(
            f"tensors=True shows the numbers of up to {MOST_NODES} nodes, and this drawing has {drawn}: open fewer modules, "
            "depth=..., or draw a tensor from further inside; explain() shows the numbers of graphs of any size"
        )
