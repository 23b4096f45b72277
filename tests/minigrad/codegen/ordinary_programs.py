"""Ordinary programs, in the styles in which people write NumPy: unseen examples for whatever reads or rewrites programs.

Each program returns one real number, and its gradient exists with respect to every argument whose leaves are all floating.
"""

from . import ordinary_networks, ordinary_science, ordinary_statistics  # noqa: F401  (they enter their programs)
from .ordinary import PROGRAMS, Ordinary

__all__ = ["Ordinary", "PROGRAMS"]
