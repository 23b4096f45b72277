"""Pictures and text of a graph: simplification, layout, and output as DOT, SVG or text."""
