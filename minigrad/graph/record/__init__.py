"""The tape as plain data: the trace that writes along, the graph that is copied from it, and both in a file."""

from .model import Edge, Graph, ModuleBox, Node

__all__ = ["Edge", "Graph", "ModuleBox", "Node"]
