"""Pictures and text of a graph: what is drawn of it, where it stands, and how it looks as DOT, SVG or text."""
