"""All programs made to fool `mg.write_numpy`, by name.

A program that was written for the examples of one seed must give, on those of every other seed, what the tape gives for the
function, or raise. Nothing may be frozen without a word. Before each reference run, call `fresh()`.
"""

from . import hostile_control, hostile_state, hostile_values  # noqa: F401 - each enters its programs in PROGRAMS
from .hostile_kit import PROGRAMS, Hostile

__all__ = ["PROGRAMS", "Hostile"]
