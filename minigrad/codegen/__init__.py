"""Write a function and its gradient as a NumPy program."""

from .program import Program
from .writing import write_numpy

__all__ = ["Program", "write_numpy"]
