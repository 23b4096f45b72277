"""A solution of 10.3."""

import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    batch, n, d = x.shape
    return x.reshape(batch, n, heads, d // heads).swapaxes(1, 2)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    batch, heads, n, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, n, heads * size)
