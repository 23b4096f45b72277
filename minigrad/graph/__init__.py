"""Copies the recorded computation into plain data (record/), and shows it in views: pictures, pages and checks."""

from .drawing import Drawing, draw_dot, make_dot
from .record.model import Edge, Graph, ModuleBox, Node

__all__ = ["Drawing", "Edge", "Graph", "ModuleBox", "Node", "draw_dot", "make_dot"]
