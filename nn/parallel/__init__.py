"""Many processes that train one model, on MPI."""

from .ranks import Ranks

__all__ = ["Ranks"]
