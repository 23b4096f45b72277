"""The derivative rules. Importing this package fills the registry."""

from . import elementwise, indexing, linalg, neural, plain, reductions, shaping, special

__all__ = ["elementwise", "indexing", "linalg", "neural", "plain", "reductions", "shaping", "special"]
