"""``draw_dot`` draws the computation of a Tensor. The drawing becomes text or a picture."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.tensor import Tensor
from ..errors import ArgumentError, GraphError, MissingExtraError
from .draw.drawn import DrawnGraph
from .draw.graphviz import lay_out, scrolling, undrawn
from .draw.picture import Picture
from .draw.simplify import simpler
from .draw.text import write_text
from .record.capture import capture

PICTURES = (".svg", ".png", ".pdf")
FORMATS = (*PICTURES, ".dot", ".gv", ".txt")
MOST = 80  # nodes of a drawing, unless the program asks for more


@dataclass(slots=True, repr=False)
class Drawing(DrawnGraph):
    """A graph with the settings of its pictures.

    The settings simplify only the pictures: ``nodes`` and ``edges`` are the whole graph.

    Attributes:
        rankdir, depth, max_nodes, tensors: the arguments of :func:`draw_dot`. The drawings of checks have a number for
            ``max_nodes``, because the box of a module would hide what is wrong.
    """

    rankdir: str | None = None
    depth: int | None = None
    max_nodes: int | None = MOST
    tensors: bool = False

    def drawn(self) -> Drawing:
        """Return the graph that the pictures show.

        If this one does not fit, equal layers and equal steps of a loop are drawn once. If that is not enough, modules become
        boxes.
        """
        drawn: Drawing | None = None
        for graph in simpler(self, depth=self.depth):
            if drawn is None or len(graph.nodes) < len(drawn.nodes):
                drawn = graph
                if drawn.fits():
                    break
        assert drawn is not None
        return drawn

    def fits(self) -> bool:
        """Return whether the whole graph has at most ``max_nodes`` nodes, or without this number, can be read on a slide."""
        if self.max_nodes is not None:
            return len(self.nodes) <= self.max_nodes
        return len(self.nodes) <= MOST and self.picture().readable()

    def to_dot(self) -> str:
        """Return the drawing in the DOT language. Graphviz is not needed for this."""
        return self.drawn().picture().dot()

    def picture(self) -> Picture:
        """Return all nodes, not simplified, as a picture."""
        return Picture(self, self.rankdir, self.tensors)

    def to_text(self) -> str:
        """Return a tree of text from the loss down."""
        return write_text(self)

    def to_svg(self) -> str:
        """Return the drawing as SVG text, which Graphviz has laid out.

        Raises:
            MissingExtraError: Graphviz is not installed.
            GraphError: the drawing is too large for a layout.
        """
        return self._lay_out("svg").decode()

    def render(self, path: str | Path) -> Path:
        """Write the drawing to ``path``. Its suffix names the format: .svg, .png, .pdf, .dot, .gv or .txt.

        A .txt file holds the tree of :meth:`to_text`. A picture needs Graphviz, and has at most 2,500 nodes. Otherwise a .dot
        file with the DOT text is written instead, and a warning gives the reason.

        Returns:
            The path of the written file.

        Raises:
            ArgumentError: the suffix is not one of these.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in FORMATS:
            raise ArgumentError(
                f"render({str(path)!r}): the suffix {path.suffix!r} names no format; "
                f"end the path in one of {', '.join(FORMATS)}"
            )
        if suffix in PICTURES:
            try:
                path.write_bytes(self._lay_out(suffix[1:]))
                return path
            except (MissingExtraError, GraphError) as error:
                path = path.with_suffix(".dot")
                warnings.warn(f"{error} ({path} has the DOT text instead.)", stacklevel=2)
        text = self.to_text() if suffix == ".txt" else self.to_dot()
        path.write_text(text, encoding="utf-8")
        return path

    def _lay_out(self, format: str) -> bytes:
        return lay_out(self.drawn().picture(), format)

    def _repr_html_(self) -> str:
        """Return HTML for a notebook. The drawing shrinks to the width of the cell, and scrolls if it is much wider."""
        try:
            return scrolling(self.to_svg())
        except (MissingExtraError, GraphError) as error:
            return undrawn(error, self.to_text())


def draw_dot(
    tensor: Tensor | Sequence[Tensor],
    params: Any = None,
    depth: int | None = None,
    rankdir: str | None = None,
    max_nodes: int | None = None,
    *,
    tensors: bool = False,
) -> Drawing:
    """Return a drawing of the computation graph of ``tensor``. ``make_dot`` and ``draw_dot`` are the same function.

    A parameter or an input shows the norm of its ``grad`` ("grad -" while it has none). An operation shows the norm of its
    gradient and the module it ran in if it was recorded inside ``with minigrad.trace():``. The drawing is a snapshot: call
    ``draw_dot`` after ``backward()`` to see the gradients. Pass gradients too, as in ``draw_dot([y, dy, ddy])``, to draw the
    backward passes that a trace recorded (``create_graph=True``). Dotted lines lead from an operation to its derivative rules.

    Args:
        tensor: a Tensor or a list of Tensors. The first one is the loss.
        params: the names of tensors: a dict from name to Tensor, or an object with ``named_parameters()``. A leaf in it is
            drawn as a parameter. Any other leaf is a parameter if its class is a subclass of Tensor (``nn.Parameter``), else
            an input, and shows its ``Tensor.name``. The dict may also name computed tensors. In a trace it may also name
            arrays and Tensors that need no gradient.
        depth: the number of open levels of modules (by default all). A module below them is one box with the gradient of its
            last operation.
        rankdir: "LR" for left to right, "TB" for top to bottom. By default the direction in which the picture fits better on
            a slide.
        max_nodes: a drawing of more nodes is simplified. Three or more equal layers are drawn once ("x 6"), and so are the
            equal steps of a loop ("for t = 0 … 199, 200 steps"; "loop" without a trace or a variable that tells them apart).
            If that is not enough and ``depth`` is None, modules become boxes. By default a drawing is simplified until it
            has at most 80 nodes and can be read on a slide.
        tensors: show the elements, as cells ``data | grad``, as micrograd does. This needs a trace.

    Raises:
        GraphError: ``tensor`` was not recorded, or ``tensors`` needs a trace and there was none.
        ArgumentError: an argument has a wrong type or value.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([3.0, 4.0], requires_grad=True, name="x")
        >>> np.sum(x).backward()
        >>> drawing = mg.draw_dot(np.sum(x * 2))  # shows itself in a notebook; render("x.svg") writes a picture
        >>> print(drawing.to_text(), end="")
        loss: sum  () float64
        └─ multiply 1  (2,) float64
           └─ x  (2,) float64  |.grad| 1.41
    """
    if rankdir not in (None, "LR", "TB"):
        raise ArgumentError(f"draw_dot takes rankdir='LR' or 'TB', got {rankdir!r}")
    if depth is not None and not (isinstance(depth, int) and depth >= 0):
        raise ArgumentError(f"draw_dot takes an integer >= 0 for depth, the open levels of modules, got {depth!r}")
    if max_nodes is not None and not (isinstance(max_nodes, int) and max_nodes >= 1):
        raise ArgumentError(f"draw_dot takes an integer >= 1 for max_nodes, got {max_nodes!r}")
    drawing = Drawing.of(
        capture(tensor, params, caller="draw_dot", origins=True),
        rankdir=rankdir,
        depth=depth,
        max_nodes=max_nodes,
        tensors=tensors,
    )
    unknown = next((node for node in drawing.operations if node.value is None), None) if tensors else None
    if unknown is not None:
        raise GraphError(
            f"draw_dot(..., tensors=True) needs a trace, and '{unknown.operation}' was recorded outside of one: compute the "
            "tensor inside 'with minigrad.trace():'"
        )
    return drawing


make_dot = draw_dot
