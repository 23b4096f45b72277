"""The tape as a picture: a plain data model of what was recorded (record/), and views of it (draw/, pages/, watch/)."""

from .drawing import Drawing, draw_dot, make_dot
from .record.model import Edge, Graph, ModuleBox, Node

__all__ = ["Drawing", "Edge", "Graph", "ModuleBox", "Node", "draw_dot", "make_dot"]
