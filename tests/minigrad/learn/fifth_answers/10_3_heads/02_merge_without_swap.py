"""Task 10.3: many heads."""

import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    batch, n, d = x.shape
    pieces = x.reshape(batch, n, heads, d // heads)
    return np.swapaxes(pieces, 1, 2)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    batch, heads, n, piece = x.shape
    return x.reshape(batch, n, heads * piece)
