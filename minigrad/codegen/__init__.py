"""Write a function and its gradient as a NumPy program."""

from .program import WrittenProgram
from .writing import write_numpy

__all__ = ["WrittenProgram", "write_numpy"]
