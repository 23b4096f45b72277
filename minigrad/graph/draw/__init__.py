"""Pictures and text of a graph: what ``draw_dot`` returns, and what it is made of."""

from .drawing import Drawing, draw_dot, make_dot

__all__ = ["Drawing", "draw_dot", "make_dot"]
