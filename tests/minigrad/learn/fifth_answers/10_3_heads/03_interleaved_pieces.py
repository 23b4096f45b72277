"""Task 10.3: many heads."""

import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(0, 3, 1, 2)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    b, h, n, size = x.shape
    return x.transpose(0, 2, 3, 1).reshape(b, n, h * size)
