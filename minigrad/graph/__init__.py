"""The tape as a picture: a plain data model of what was recorded, and views of it."""

from .capture import draw_dot, make_dot
from .model import Edge, Graph, ModuleBox, Node

__all__ = ["Edge", "Graph", "ModuleBox", "Node", "draw_dot", "make_dot"]
