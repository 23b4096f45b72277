"""Many processes that train one model, on MPI.

Example:
    >>> import nn
    >>> nn.parallel.Ranks()  # of a script that `minigrad launch` did not start
    Ranks(rank 0 of 1)
"""

from .ranks import Ranks

__all__ = ["Ranks"]
