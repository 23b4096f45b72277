"""Draws a graph: simplifies it, lays it out, and writes DOT, SVG or text."""
