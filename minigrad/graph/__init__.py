"""The tape as a picture: a plain data model of what was recorded (record/), and views of it (draw/, pages/, watch/)."""

from .draw.drawing import Drawing, draw_dot, make_dot
from .pages.viewer import write_page
from .record.model import Edge, Graph, ModuleBox, Node

Drawing.write_page = write_page  # the one arrow from a drawing up to the pages; as an import it would be a circle

__all__ = ["Drawing", "Edge", "Graph", "ModuleBox", "Node", "draw_dot", "make_dot"]
