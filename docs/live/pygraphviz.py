"""Graphviz in a web page: the part of pygraphviz that minigrad uses, drawn by Graphviz compiled to WebAssembly (viz-js)."""

from __future__ import annotations

from collections.abc import Callable

from minigrad.errors import GraphError

render: Callable[[str, str], str] | None = None  # the worker puts viz-js here; the page fetches it when a program draws


class AGraph:
    """A graph in the DOT language."""

    def __init__(self, string: str) -> None:
        self.string = string

    def draw(self, format: str, prog: str) -> bytes:
        """Return the drawing as an SVG."""
        if format != "svg":
            raise GraphError(f"a page draws .svg, .dot and .txt, got the format {format!r}")
        if render is None:
            raise ModuleNotFoundError("Graphviz is not in this page yet: run the program again", name="graphviz")
        return render(self.string, prog).encode()
