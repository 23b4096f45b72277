"""Holds the tape as plain data: the trace that records it, the graph that is copied from it, and the file of both."""

from .model import Edge, Graph, ModuleBox, Node

__all__ = ["Edge", "Graph", "ModuleBox", "Node"]
