"""The tape as plain data: the trace that writes along, the graph that is copied from it, and both in a file."""

from .capture import capture
from .model import Edge, Graph, ModuleBox, Node
from .trace import trace

__all__ = ["Edge", "Graph", "ModuleBox", "Node", "capture", "trace"]
