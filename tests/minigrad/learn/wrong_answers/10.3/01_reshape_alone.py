import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    batch, n, d = x.shape
    return x.reshape(batch, heads, n, d // heads)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    batch, heads, n, part = x.shape
    return x.swapaxes(1, 2).reshape(batch, n, heads * part)
