"""Ordinary programs, in the styles in which people write NumPy: unseen examples for whatever reads or rewrites programs.

Each program returns one real number, and its gradient exists with respect to every argument whose leaves are all floating.
"""

from . import ordinary_networks, ordinary_science, ordinary_statistics
from .ordinary import Ordinary

__all__ = ["Ordinary", "PROGRAMS"]

PROGRAMS: dict[str, Ordinary] = {
    **ordinary_statistics.PROGRAMS,
    **ordinary_networks.PROGRAMS,
    **ordinary_science.PROGRAMS,
}
