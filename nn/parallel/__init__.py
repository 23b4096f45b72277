"""Data-parallel training: several MPI processes train one model.

Example:
    >>> import nn
    >>> nn.parallel.Ranks()  # in a script that was not started by `minigrad launch`
    Ranks(rank 0 of 1)
"""

from .ranks import Ranks

__all__ = ["Ranks"]
