"""Pictures of a graph."""
