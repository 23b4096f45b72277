"""Task 10.3: many heads."""

import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    batch, n, d = x.shape
    return x.reshape(batch, heads, n, d // heads)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    batch, heads, n, piece = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, n, heads * piece)
